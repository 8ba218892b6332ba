//! A session's slots: exactly-once by slot and sequence ID. RFC 8881 §2.10.6.1, §18.46.3.
//!
//! Sequence IDs wrap from 2³²−1 to 0; the first use of a slot is 1. Only `seqid + 1` runs; the same one is a retry, and
//! a retry that is not the same request is told so. The rule is never relaxed to accept a jump. One thing looks like it:
//! a slot that was taken back from the client and given again is used again with `seqid + 1` by some clients and, as if
//! it were new, with 1 by others (Linux frees such slots); both are right.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use bytes::Bytes;
use nfs4_deleg::{Millis, Now};
use nfs4_proto::Status;
use tokio::sync::oneshot;

use super::lock;

/// What is answered to a retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The whole encoded reply.
    Reply(Bytes),
    /// Only that the request was executed.
    Nothing,
}

#[derive(Debug, Default)]
enum Phase {
    /// Nothing was executed that could be retried.
    #[default]
    Empty,
    /// `seqid` is being executed; the newest retry waits.
    Running { print: u64, waiter: Option<oneshot::Sender<Bytes>> },
    /// `seqid` was executed.
    Done { print: u64, kept: Kept },
}

/// One slot.
#[derive(Debug, Default)]
pub(super) struct Slot {
    seqid: u32,
    /// Was taken back: the next first use may say 1.
    reused: bool,
    /// The last request's reply brought a delegation.
    pub(super) granted: bool,
    phase: Phase,
}

/// What a request on a slot is.
#[derive(Debug)]
pub(super) enum Look {
    /// A new one; nothing has changed yet: [`Slot::start`] does.
    New,
    /// A retry of what was executed.
    Retry(Kept),
    /// A retry of what runs; the answer comes, or the sender goes.
    Wait(oneshot::Receiver<Bytes>),
}

impl Slot {
    /// What a request with this sequence ID and fingerprint is. Changes nothing but who waits.
    pub(super) fn look(&mut self, seqid: u32, print: u64) -> Result<Look, Status> {
        if let Phase::Running { print: running, waiter } = &mut self.phase {
            if seqid != self.seqid {
                return Err(Status::SeqMisordered);
            }
            if *running != print {
                return Err(Status::SeqFalseRetry);
            }
            let (tx, rx) = oneshot::channel();
            // An older waiter sees its sender go.
            *waiter = Some(tx);
            return Ok(Look::Wait(rx));
        }
        if seqid == self.seqid.wrapping_add(1) || (self.reused && seqid == 1) {
            return Ok(Look::New);
        }
        match &self.phase {
            Phase::Done { print: done, kept } if seqid == self.seqid => {
                if *done == print {
                    Ok(Look::Retry(kept.clone()))
                } else {
                    Err(Status::SeqFalseRetry)
                }
            }
            Phase::Done { .. } | Phase::Empty | Phase::Running { .. } => Err(Status::SeqMisordered),
        }
    }

    /// Begins a request that [`Slot::look`] called new. True where the reply before brought a delegation: it was seen.
    pub(super) fn start(&mut self, seqid: u32, print: u64) -> bool {
        self.seqid = seqid;
        self.reused = false;
        self.phase = Phase::Running { print, waiter: None };
        std::mem::take(&mut self.granted)
    }

    /// Ends the running request. `reply` is asked for where it is kept or somebody waits for it.
    pub(super) fn finish(&mut self, keep: bool, reply: impl FnOnce() -> Bytes) {
        let Phase::Running { print, waiter } = std::mem::take(&mut self.phase) else { return };
        let kept = if keep || waiter.is_some() {
            let reply = reply();
            if let Some(waiter) = waiter {
                // Nobody listens any more: the retry's connection went too.
                let _ = waiter.send(reply.clone());
            }
            if keep { Kept::Reply(reply) } else { Kept::Nothing }
        } else {
            Kept::Nothing
        };
        self.phase = Phase::Done { print, kept };
    }

    /// The running request ended without a reply: as if it had not come.
    pub(super) fn abandon(&mut self) {
        if let Phase::Running { .. } = self.phase {
            self.seqid = self.seqid.wrapping_sub(1);
            self.phase = Phase::Empty;
        }
    }

    /// Takes the slot back: its reply goes, its sequence ID stays. False where a request runs.
    fn retire(&mut self) -> bool {
        match self.phase {
            Phase::Running { .. } => false,
            Phase::Empty | Phase::Done { .. } => {
                if self.seqid != 0 {
                    self.reused = true;
                }
                self.phase = Phase::Empty;
                true
            }
        }
    }
}

/// Slots are allocated in blocks of this many, when first used.
const BLOCK: usize = 64;

type Block = Box<[Mutex<Slot>]>;

/// The slots of a session, and how many of them the client may use.
///
/// The target doubles while the highest slot is in use and halves after each idle period in which the upper half was
/// not; it never goes below what CREATE_SESSION gave nor above what it was asked for. What is enforced follows a lowered
/// target only when the client is known to have seen it (it used the slot of the reply that told it again) and has
/// nothing in flight above (§2.10.6.1).
#[derive(Debug)]
pub(super) struct Slots {
    blocks: Box<[OnceLock<Block>]>,
    /// Slots at the start: the target does not go below.
    start: u32,
    /// Slots at most.
    most: u32,
    enforced: AtomicU32,
    target: AtomicU32,
    /// When the upper half was last in use, ms.
    busy: AtomicU64,
    /// Held while the numbers above change. Where a lowered target was first told: slot and sequence ID.
    told: Mutex<Option<(u32, u32)>>,
    idle: Millis,
}

impl Slots {
    /// `start` slots that may become `most`, both at least 1.
    pub(super) fn new(now: Now, start: u32, most: u32, idle: Millis) -> Self {
        let start = start.max(1);
        let most = most.max(start);
        let blocks = (most as usize).div_ceil(BLOCK);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
            start,
            most,
            enforced: AtomicU32::new(start - 1),
            target: AtomicU32::new(start - 1),
            busy: AtomicU64::new(now.as_millis()),
            told: Mutex::new(None),
            idle,
        }
    }

    /// The slot of a request, after the checks on its number and on the highest one. §18.46.3.
    pub(super) fn get(&self, slot: u32, highest: u32) -> Result<&Mutex<Slot>, Status> {
        let enforced = self.enforced.load(Ordering::Acquire);
        if slot > enforced {
            return Err(Status::BadSlot);
        }
        if highest > enforced {
            return Err(Status::BadHighSlot);
        }
        self.at(slot).ok_or(Status::BadSlot)
    }

    /// The slot with this number, made where it is the first of its block.
    pub(super) fn at(&self, slot: u32) -> Option<&Mutex<Slot>> {
        if slot >= self.most {
            return None;
        }
        let slot = slot as usize;
        let block = self.blocks.get(slot / BLOCK)?;
        block.get_or_init(|| (0..BLOCK).map(|_| Mutex::default()).collect()).get(slot % BLOCK)
    }

    /// `sr_highest_slotid` and `sr_target_highest_slotid`.
    pub(super) fn highest(&self) -> (u32, u32) {
        (self.enforced.load(Ordering::Relaxed), self.target.load(Ordering::Relaxed))
    }

    /// Moves the target after a new request. The caller holds no slot.
    pub(super) fn adjust(&self, now: Now, slot: u32, seqid: u32, highest: u32) {
        let used = highest.max(slot);
        let (enforced, target) = self.highest();
        let grow = used >= target && target + 1 < self.most;
        let half = used.saturating_mul(2) >= target;
        let idle = !half
            && target + 1 > self.start
            && now.since(Now::from_millis(self.busy.load(Ordering::Relaxed))) > self.idle;
        if half || idle {
            self.busy.store(now.as_millis(), Ordering::Relaxed);
        }
        if grow || idle || target < enforced {
            self.resize(slot, seqid, used, idle);
        }
    }

    fn resize(&self, slot: u32, seqid: u32, used: u32, idle: bool) {
        let mut told = lock(&self.told);
        let (enforced, target) = self.highest();
        if used >= target && target + 1 < self.most {
            let target = (target + 1).saturating_mul(2).min(self.most) - 1;
            self.target.store(target, Ordering::Release);
            self.enforced.store(enforced.max(target), Ordering::Release);
            *told = None;
        } else if idle && target + 1 > self.start {
            self.target.store((target + 1).div_ceil(2).max(self.start) - 1, Ordering::Release);
            *told = Some((slot, seqid));
        } else if target < enforced {
            // Nothing above the target is in use, or the first branch were taken.
            match *told {
                None => *told = Some((slot, seqid)),
                Some((s, q)) if s == slot && q != seqid => {
                    let free = (target + 1..=enforced).all(|n| self.take_back(n));
                    if free {
                        self.enforced.store(target, Ordering::Release);
                        *told = None;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Retires a slot, if it was ever used.
    fn take_back(&self, slot: u32) -> bool {
        let block = self.blocks.get(slot as usize / BLOCK).and_then(OnceLock::get);
        block.and_then(|b| b.get(slot as usize % BLOCK)).is_none_or(|slot| lock(slot).retire())
    }
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
