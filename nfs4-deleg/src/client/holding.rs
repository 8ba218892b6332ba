//! One delegation: what it is, what was done under it, and how far its return has come.

use alloc::vec::Vec;

use nfs4_proto::{NfsTime, StateId, Status};

use super::actions::Step;
use super::facts::{Ace, CbAttrs, CbMask, Copy, Facts, Grant, Kind, SpaceLimit, StepKey};
use super::local::Locals;
use crate::Now;

/// Whether stateid seqid `a` is younger than `b`: they wrap from 0xFFFFFFFF to 1 (RFC 8881 §8.2.2).
pub(super) fn newer(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 0x8000_0000
}

/// What a status says about the delegation's stateid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Fine,
    /// Try again later.
    Later,
    /// There is a younger seqid.
    Old,
    /// The server does not know it.
    Unknown,
    /// The server took it, and waits for FREE_STATEID.
    Revoked,
    /// Something else went wrong.
    Error,
}

impl Fate {
    pub(super) fn of(status: Status) -> Self {
        if status.is_ok() {
            Self::Fine
        } else if matches!(status, Status::Delay | Status::Grace) {
            Self::Later
        } else if status == Status::OldStateId {
            Self::Old
        } else if status == Status::BadStateId {
            Self::Unknown
        } else if matches!(status, Status::DelegRevoked | Status::AdminRevoked | Status::Expired) {
            Self::Revoked
        } else {
            Self::Error
        }
    }
}

/// How far a return has come: the order of RFC 8881 §10.4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Truncate,
    Flush,
    Extend,
    Opens,
    Locks,
    Times,
    Closes,
    Return,
    Sent,
}

/// A return under way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Returning {
    /// What comes next once nothing is out.
    pub(super) stage: Stage,
    /// Steps given out and not yet reported.
    pub(super) out: Vec<(StepKey, Step)>,
    /// Steps to be given out again later.
    pub(super) again: Vec<Step>,
    /// The recall said that the file will be cut to nothing.
    pub(super) truncate: bool,
    /// A truncation was made: the size may have to be set once more behind the data.
    pub(super) cut: bool,
    /// DELEGRETURNs refused so far.
    pub(super) refused: u32,
    /// DELEGRETURN goes out with seqid 0.
    pub(super) any_seqid: bool,
    /// It waits for the reply of an upgrade.
    pub(super) awaits_grant: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Held,
    Returning(Returning),
    /// The server restarted.
    Reclaiming {
        /// To be returned when it is reclaimed.
        then_return: bool,
    },
}

/// One file, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) locals: Locals,
    pub(super) hold: Option<Holding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) stateid: StateId,
    pub(super) kind: Kind,
    pub(super) times: bool,
    pub(super) limit: SpaceLimit,
    pub(super) ace: Option<Ace>,
    /// `change` as at the grant: what CB_GETATTR answers while nothing is dirty.
    pub(super) change: u64,
    /// The size as applications see it.
    pub(super) size: u64,
    /// When its reply was applied.
    pub(super) granted: Now,
    /// When the last own change was answered: attributes fetched before are old.
    pub(super) touched: Now,
    /// When it last served.
    pub(super) used: Now,
    pub(super) dirty: u64,
    pub(super) dirty_end: u64,
    pub(super) truncate: Option<u64>,
    pub(super) access: Option<NfsTime>,
    pub(super) modify: Option<NfsTime>,
    /// Own operations in flight that carry its stateid.
    pub(super) uses: u32,
    /// Own changes in flight.
    pub(super) changing: u32,
    /// The server lost something; not known whether this.
    pub(super) doubt: bool,
    /// An operation was answered BAD_STATEID and is being sent again.
    pub(super) suspect: bool,
    /// A grant that overtook the reply to this one's return.
    pub(super) successor: Option<Grant>,
    pub(super) state: State,
}

impl Holding {
    pub(super) fn new(now: Now, grant: Grant) -> Self {
        Self {
            stateid: grant.stateid,
            kind: grant.kind,
            times: grant.times,
            limit: grant.limit,
            ace: grant.ace,
            change: grant.change,
            size: grant.size,
            granted: now,
            touched: now,
            used: now,
            dirty: 0,
            dirty_end: 0,
            truncate: None,
            access: None,
            modify: None,
            uses: 0,
            changing: 0,
            doubt: false,
            suspect: false,
            successor: None,
            state: State::Held,
        }
    }

    pub(super) fn facts(&self) -> Facts {
        Facts { kind: self.kind, change: self.change, size: self.size }
    }

    pub(super) fn writes(&self) -> bool {
        self.kind == Kind::Write
    }

    pub(super) fn held(&self) -> bool {
        matches!(self.state, State::Held)
    }

    pub(super) fn returning(&mut self) -> Option<&mut Returning> {
        if let State::Returning(returning) = &mut self.state { Some(returning) } else { None }
    }

    /// Its DELEGRETURN is under way.
    pub(super) fn return_sent(&self) -> bool {
        matches!(&self.state, State::Returning(r) if r.stage == Stage::Sent)
    }

    /// Whether there is anything that the server does not have.
    pub(super) fn modified(&self) -> bool {
        self.dirty > 0 || self.truncate.is_some()
    }

    /// Whether a close must flush first (RFC 8881 §10.4.1).
    pub(super) fn over_limit(&self) -> bool {
        self.dirty > 0
            && match self.limit {
                SpaceLimit::Size(size) => self.dirty_end > size,
                SpaceLimit::Blocks { blocks, bytes_per_block } => {
                    self.dirty > u64::from(blocks).saturating_mul(u64::from(bytes_per_block))
                }
            }
    }

    /// Whether cached data belongs to what the delegation guarantees: a grant does not validate older copies.
    pub(super) fn data_valid(&self, copy: Copy) -> bool {
        match copy {
            Copy::None => false,
            Copy::Own => true,
            Copy::Sent(at) => at >= self.granted,
            Copy::Change(change) => change == self.change,
        }
    }

    /// Whether cached attributes are those of now.
    pub(super) fn attrs_valid(&self, copy: Copy) -> bool {
        match copy {
            Copy::None => false,
            Copy::Own => self.writes(),
            Copy::Sent(at) => at >= self.touched,
            Copy::Change(change) => change == self.change && self.touched == self.granted,
        }
    }

    pub(super) fn wrote(&mut self, end: u64, bytes: u64) {
        self.dirty = self.dirty.saturating_add(bytes);
        self.dirty_end = self.dirty_end.max(end);
        self.size = self.size.max(end);
    }

    pub(super) fn cut(&mut self, size: u64) {
        self.truncate = Some(self.truncate.map_or(size, |earlier| earlier.min(size)));
        self.dirty_end = self.dirty_end.min(size);
        if size == 0 {
            self.dirty = 0;
        }
        self.size = size;
    }

    /// The answer to CB_GETATTR: `c`, or `c + 1` while modified; never a newer base (RFC 8881 §10.4.3).
    pub(super) fn attrs(&self, mask: CbMask) -> CbAttrs {
        CbAttrs {
            change: mask.change.then(|| self.change.wrapping_add(u64::from(self.modified()))),
            size: mask.size.then_some(self.size),
            access: self.access.filter(|_| mask.access && self.times),
            modify: self.modify.filter(|_| mask.modify && self.times),
        }
    }

    /// Begins a return; whether it was not under way already.
    pub(super) fn begin_return(&mut self, truncate: bool) -> bool {
        match &mut self.state {
            State::Held => {
                self.state = State::Returning(Returning {
                    stage: Stage::Truncate,
                    out: Vec::new(),
                    again: Vec::new(),
                    truncate,
                    cut: false,
                    refused: 0,
                    any_seqid: false,
                    awaits_grant: false,
                });
                true
            }
            State::Returning(returning) => {
                returning.truncate |= truncate;
                false
            }
            State::Reclaiming { then_return } => {
                *then_return = true;
                false
            }
        }
    }

    /// The steps of the next stage: RFC 8881 §10.4.4 in one place. `Some(empty)` where a stage has nothing to do,
    /// `None` where the return can't go on by itself.
    pub(super) fn next_steps(&mut self, locals: &mut Locals) -> Option<Vec<Step>> {
        let State::Returning(returning) = &mut self.state else { return None };
        let mut steps = Vec::new();
        returning.stage = match returning.stage {
            Stage::Truncate => {
                if let Some(size) = self.truncate.filter(|_| self.kind == Kind::Write) {
                    steps.push(Step::Truncate { size });
                    returning.cut = true;
                }
                Stage::Flush
            }
            Stage::Flush => {
                if self.dirty > 0 && self.kind == Kind::Write {
                    steps.push(Step::Flush);
                }
                Stage::Extend
            }
            Stage::Extend => {
                if returning.cut
                    && self.truncate.is_some_and(|cut| self.size > cut)
                    && self.size > self.dirty_end
                {
                    steps.push(Step::Truncate { size: self.size });
                }
                Stage::Opens
            }
            Stage::Opens => {
                self.truncate = None;
                locals.sweep();
                steps.extend(locals.unreal_opens().into_iter().map(Step::Open));
                Stage::Locks
            }
            Stage::Locks => {
                steps.extend(locals.unreal_locks().into_iter().map(Step::Lock));
                Stage::Times
            }
            Stage::Times => {
                if self.times && (self.access.is_some() || self.modify.is_some()) {
                    steps.push(Step::Times { access: self.access, modify: self.modify });
                }
                Stage::Closes
            }
            Stage::Closes => {
                steps.extend(locals.surplus().into_iter().map(|(owner, share)| {
                    if share == crate::server::Share::default() {
                        Step::Close { owner }
                    } else {
                        Step::Downgrade { owner, share }
                    }
                }));
                locals.drop_unused();
                Stage::Return
            }
            Stage::Return if self.uses > 0 || returning.awaits_grant => return None,
            Stage::Return => {
                steps.push(Step::DelegReturn);
                Stage::Sent
            }
            Stage::Sent => return None,
        };
        Some(steps)
    }
}
