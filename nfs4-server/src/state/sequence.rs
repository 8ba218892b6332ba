//! SEQUENCE: exactly once. RFC 8881 §18.46, §2.10.6.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{BufMut, Bytes, BytesMut};
use nfs4_proto::{SessionId, Status};
use nfs4_xdr::Segments;
use tokio::sync::oneshot;

use super::slots::{Kept, Look};
use super::{Client, ConnId, Now, Session, State, lock, seq4};

/// SEQUENCE's arguments, and what else is known of the request before it is executed.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// `sa_sessionid`.
    pub session: SessionId,
    /// `sa_sequenceid`.
    pub seqid: u32,
    /// `sa_slotid`.
    pub slot: u32,
    /// `sa_highest_slotid`.
    pub highest: u32,
    /// Operations of the compound, SEQUENCE included.
    pub operations: u32,
    /// Bytes of the request, RPC header included.
    pub bytes: u32,
    /// `sa_cachethis`.
    pub cachethis: bool,
}

/// SEQUENCE's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceOk {
    /// `sr_sessionid`.
    pub session: SessionId,
    /// `sr_sequenceid`.
    pub seqid: u32,
    /// `sr_slotid`.
    pub slot: u32,
    /// `sr_highest_slotid`.
    pub highest: u32,
    /// `sr_target_highest_slotid`.
    pub target: u32,
    /// `sr_status_flags`, see [`seq4`].
    pub flags: u32,
}

/// What to do with a compound.
#[derive(Debug)]
pub enum Turn {
    /// Execute it.
    New(SlotGuard),
    /// It was executed: answer this.
    Replay(Reply),
    /// It is being executed: answer what comes; where the sender goes, NFS4ERR_DELAY on SEQUENCE.
    Wait(oneshot::Receiver<Bytes>),
}

/// The answer to a retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The reply, as it was given to [`SlotGuard::finish`].
    Kept(Bytes),
    /// Not kept: this result of SEQUENCE, and NFS4ERR_RETRY_UNCACHED_REP for the second operation if there is one.
    /// RFC 8881 §2.10.6.1.3.
    NotKept(SequenceOk),
}

/// A slot in use by a compound. Dropped without [`finish`](Self::finish), the slot is as it was, except that the reply
/// before is gone: the same request runs when it comes again.
#[derive(Debug)]
pub struct SlotGuard {
    session: Arc<Session>,
    ok: SequenceOk,
    seen: bool,
    finished: bool,
}

impl SlotGuard {
    /// SEQUENCE's result.
    #[must_use]
    pub fn ok(&self) -> &SequenceOk {
        &self.ok
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Whether the slot's reply before brought a delegation: that was seen, as the slot is used again
    /// (RFC 8881 §2.10.6.3).
    #[must_use]
    pub fn grant_seen(&self) -> bool {
        self.seen
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &Arc<Client> {
        self.session.client()
    }

    /// Ends the request: keeps the encoded reply if asked for (and small enough: what is larger was to be answered with
    /// NFS4ERR_REP_TOO_BIG_TO_CACHE), hands it to a waiting retry, and starts the lease anew (§8.3).
    pub fn finish(mut self, now: Now, reply: &Segments, keep: bool) {
        self.finished = true;
        let keep = keep && reply.len() <= self.session.fore().maxresponsesize_cached as usize;
        if let Some(slot) = self.session.slots.at(self.ok.slot) {
            lock(slot).finish(keep, || compact(reply));
        }
        self.client().touch(now);
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        if !self.finished
            && let Some(slot) = self.session.slots.at(self.ok.slot)
        {
            lock(slot).abandon();
        }
        self.session.leave();
    }
}

/// One piece that holds on to nothing but its own bytes, as it may be kept for long.
fn compact(reply: &Segments) -> Bytes {
    let mut all = BytesMut::with_capacity(reply.len());
    for part in reply.parts() {
        all.put_slice(part);
    }
    all.freeze()
}

/// Counts a request in progress until it is dropped or becomes a [`SlotGuard`].
struct Entered<'a>(Option<&'a Session>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.leave();
        }
    }
}

impl State {
    /// SEQUENCE. `print` is a fingerprint of principal and request: a retry that differs is not one.
    ///
    /// On an error nothing has changed, neither slot nor lease. NFS4ERR_BADSESSION, TOO_MANY_OPS, REQ_TOO_BIG,
    /// REP_TOO_BIG_TO_CACHE, BADSLOT, BAD_HIGH_SLOT, SEQ_MISORDERED, SEQ_FALSE_RETRY.
    pub fn sequence(&self, now: Now, conn: ConnId, args: &Sequence, print: u64) -> Result<Turn, Status> {
        let session = self.sessions.get(&args.session).ok_or(Status::BadSession)?;
        if args.operations > session.fore().maxoperations {
            return Err(Status::TooManyOps);
        }
        if args.bytes > session.fore().maxrequestsize {
            return Err(Status::ReqTooBig);
        }
        if args.cachethis && !session.fore().keeps_replies() {
            return Err(Status::RepTooBigToCache);
        }
        let slot = session.slots.get(args.slot, args.highest)?;
        // From here on the client cannot be removed for an expired lease, and the session not be destroyed.
        if !session.enter() {
            return Err(Status::BadSession);
        }
        let mut entered = Entered(Some(&session));
        let mut slot = lock(slot);
        let look = slot.look(args.seqid, print)?;
        if !session.client().touch(now) {
            return Err(Status::BadSession);
        }
        let turn = match look {
            Look::New => {
                let seen = slot.start(args.seqid, print);
                drop(slot);
                session.slots.adjust(now, args.slot, args.seqid, args.highest);
                self.bind_implicitly(&session, conn);
                let ok = self.sequence_ok(&session, args);
                entered.0 = None;
                Turn::New(SlotGuard { session: Arc::clone(&session), ok, seen, finished: false })
            }
            Look::Retry(kept) => {
                drop(slot);
                self.bind_implicitly(&session, conn);
                Turn::Replay(match kept {
                    Kept::Reply(reply) => Reply::Kept(reply),
                    Kept::Nothing => Reply::NotKept(self.sequence_ok(&session, args)),
                })
            }
            Look::Wait(reply) => {
                drop(slot);
                self.bind_implicitly(&session, conn);
                Turn::Wait(reply)
            }
        };
        drop(entered);
        Ok(turn)
    }

    fn sequence_ok(&self, session: &Session, args: &Sequence) -> SequenceOk {
        let (highest, target) = session.slots.highest();
        SequenceOk {
            session: args.session,
            seqid: args.seqid,
            slot: args.slot,
            highest,
            target,
            flags: self.status_flags(session),
        }
    }

    /// `sr_status_flags` now: levels, computed from what is.
    #[must_use]
    pub fn status_flags(&self, session: &Session) -> u32 {
        let client = session.client();
        let mut flags = client.flags();
        if client.back_wanted.load(Ordering::Relaxed) && client.backs.load(Ordering::Relaxed) == 0 {
            flags |= seq4::CB_PATH_DOWN;
        }
        if session.back_down() {
            flags |= seq4::CB_PATH_DOWN_SESSION;
        }
        if session.back_faulty() {
            flags |= seq4::BACKCHANNEL_FAULT;
        }
        if self.grace.on() && client.on_record.load(Ordering::Relaxed) && !client.reclaim_complete() {
            flags |= seq4::RESTART_RECLAIM_NEEDED;
        }
        flags
    }
}
