//! Returns: voluntary ones, and the driver of all.

use alloc::vec::Vec;

use nfs4_proto::{StateId, Status};

use super::actions::{ClientAction, Step};
use super::facts::{Kind, OwnerKey, StepKey};
use super::holding::{Fate, Stage, State};
use super::{Holdings, Timer};
use crate::{Now, Oid};

/// RCA4_TYPE_MASK_RDATA_DLG
const RDATA: u32 = 1;
/// RCA4_TYPE_MASK_WDATA_DLG
const WDATA: u32 = 1 << 1;
/// All types that are defined: delegations and layouts (RFC 8881 §20.6.1), flexible files' (RFC 8435).
const DEFINED: u32 = 0x0003_f31f;

impl Holdings {
    /// Begins the return of a delegation; nothing where it is under way, but that a truncation may come to be known.
    pub(super) fn give_back(&mut self, oid: Oid, truncate: bool) {
        let Some(hold) = self.hold_mut(oid) else { return };
        if hold.begin_return(truncate) {
            self.settle(oid);
        }
        self.advance(oid);
    }

    /// The same at the client's own wish, with what was granted while an earlier one was on its way back.
    pub(super) fn give_back_wholly(&mut self, oid: Oid) {
        if let Some(next) = self.hold_mut(oid).and_then(|hold| hold.successor.as_mut()) {
            next.recall = true;
        }
        self.give_back(oid, false);
    }

    /// Gives out the next steps of a return, as far as nothing is out.
    pub(super) fn advance(&mut self, oid: Oid) {
        loop {
            let Some(file) = self.files.get_mut(&oid) else { return };
            let Some(hold) = &mut file.hold else { return };
            let State::Returning(returning) = &hold.state else { return };
            if !returning.out.is_empty() || !returning.again.is_empty() {
                return;
            }
            if returning.truncate && returning.stage <= Stage::Flush && hold.modified() {
                hold.dirty = 0;
                hold.truncate = None;
                self.actions.push_back(ClientAction::Discard { oid });
            }
            let Some(steps) = hold.next_steps(&mut file.locals) else { return };
            for step in steps {
                self.give_out(oid, step);
            }
        }
    }

    fn give_out(&mut self, oid: Oid, step: Step) {
        let key = StepKey(self.key());
        let Some(hold) = self.hold_mut(oid) else { return };
        let mut stateid = StateId { seqid: 0, ..hold.stateid };
        let newest = hold.stateid;
        let Some(returning) = hold.returning() else { return };
        returning.out.push((key, step));
        if step == Step::DelegReturn && !returning.any_seqid {
            stateid = newest;
        }
        self.steps.insert(key, oid);
        self.actions.push_back(ClientAction::Step { key, oid, stateid, step });
    }

    pub(super) fn give_out_again(&mut self, oid: Oid) {
        let Some(returning) = self.hold_mut(oid).and_then(super::Holding::returning) else { return };
        for step in core::mem::take(&mut returning.again) {
            self.give_out(oid, step);
        }
    }

    /// A step ended. An error of it is its user's; it is never a reason to keep the delegation.
    pub(super) fn step_done(&mut self, now: Now, key: StepKey, status: Status) {
        if self.surplus_done(now, key, status) {
            return;
        }
        let Some(oid) = self.steps.remove(&key) else { return };
        let Some(file) = self.files.get_mut(&oid) else { return };
        let Some(hold) = &mut file.hold else { return };
        let Some(returning) = hold.returning() else { return };
        let Some(at) = returning.out.iter().position(|(k, _)| *k == key) else { return };
        let (_, step) = returning.out.swap_remove(at);
        let fate = Fate::of(status);
        if step == Step::DelegReturn && fate != Fate::Later {
            self.return_done(now, oid, fate);
            return;
        }
        // CLOSE, OPEN_DOWNGRADE and LOCK carry another stateid: their errors say nothing about the delegation.
        let delegated = !matches!(step, Step::Close { .. } | Step::Downgrade { .. } | Step::Lock(_));
        match fate {
            Fate::Later => {
                returning.again.push(step);
                self.timers.insert((now.plus(self.config.retry), Timer::Retry(oid)));
                return;
            }
            Fate::Old if delegated => {
                returning.again.push(step);
                self.timers.insert((now.plus(self.config.retry), Timer::Retry(oid)));
                return;
            }
            Fate::Revoked | Fate::Unknown if delegated => {
                self.lose(oid, fate == Fate::Revoked);
                return;
            }
            Fate::Fine | Fate::Old | Fate::Revoked | Fate::Unknown | Fate::Error => {}
        }
        match step {
            // The size or the data that could not be written is lost, and its writer was told.
            Step::Truncate { .. }
            | Step::Times { .. }
            | Step::Close { .. }
            | Step::Downgrade { .. }
            | Step::DelegReturn => {}
            Step::Flush => hold.dirty = 0,
            Step::Open(open) => {
                let record = file
                    .locals
                    .opens
                    .iter_mut()
                    .find(|o| o.open.owner == open.owner && o.open.share == open.share);
                if status == Status::Ok {
                    if let Some(record) = record {
                        record.open.on_server = true;
                    }
                } else {
                    file.locals.opens.retain(|o| {
                        o.open.on_server || o.open.owner != open.owner || o.open.share != open.share
                    });
                    self.actions.push_back(ClientAction::OpenLost { oid, open, status });
                }
            }
            Step::Lock(lock) => {
                if status == Status::Ok {
                    // It may have been unlocked or split meanwhile.
                    for held in file.locals.locks.iter_mut().filter(|held| {
                        held.lock.owner == lock.owner
                            && held.lock.start >= lock.start
                            && held.lock.last <= lock.last
                    }) {
                        held.on_server = true;
                    }
                } else {
                    file.locals.locks.retain(|held| held.on_server || held.lock != lock);
                    self.actions.push_back(ClientAction::LockLost { oid, lock, status });
                }
            }
        }
        self.advance(oid);
    }

    fn return_done(&mut self, now: Now, oid: Oid, fate: Fate) {
        let awaits = fate == Fate::Old && self.await_grant(oid);
        let (refusals, retry) = (self.config.refusals, self.config.retry);
        let Some(hold) = self.hold_mut(oid) else { return };
        let stateid = hold.stateid;
        let Some(returning) = hold.returning() else { return };
        match fate {
            Fate::Old => {
                // An upgrade's reply is on its way, or was lost: the newest seqid, or any.
                returning.stage = Stage::Return;
                returning.any_seqid = !awaits;
                returning.awaits_grant = awaits;
                self.advance(oid);
            }
            Fate::Revoked => {
                self.gone(now, oid);
                self.free(stateid);
            }
            Fate::Fine | Fate::Unknown => self.gone(now, oid),
            // Nothing that the protocol allows here. The server will revoke what it wants back.
            Fate::Error | Fate::Later if returning.refused >= refusals => self.gone(now, oid),
            Fate::Error | Fate::Later => {
                returning.refused = returning.refused.saturating_add(1);
                returning.again.push(Step::DelegReturn);
                self.timers.insert((now.plus(retry), Timer::Retry(oid)));
            }
        }
    }

    /// It went back.
    fn gone(&mut self, now: Now, oid: Oid) {
        let Some(hold) = self.set_hold(oid, None) else { return };
        self.counts.returned = self.counts.returned.saturating_add(1);
        self.forget_steps(&hold);
        self.bury(hold.stateid.other);
        self.actions.push_back(ClientAction::Forget { oid });
        if let Some(next) = hold.successor {
            self.adopt(now, oid, next, u64::MAX);
        }
    }

    pub(super) fn forget_steps(&mut self, hold: &super::Holding) {
        if let State::Returning(returning) = &hold.state {
            for (key, _) in &returning.out {
                self.steps.remove(key);
            }
        }
    }

    /// Those not on their way back, by who goes first: not open before open, long unused before used.
    fn by_use(&self, wanted: impl Fn(Kind) -> bool) -> Vec<Oid> {
        let mut all: Vec<(bool, Now, Oid)> = self
            .files
            .iter()
            .filter_map(|(oid, file)| {
                let hold = file.hold.as_ref().filter(|h| h.held() && wanted(h.kind))?;
                Some((file.locals.in_use(), hold.used, *oid))
            })
            .collect();
        all.sort_unstable();
        all.into_iter().map(|(_, _, oid)| oid).collect()
    }

    /// CB_RECALL_ANY (RFC 8881 §20.6): the returns begin at once, so that a later, milder one takes nothing back.
    pub(super) fn recall_any(&mut self, keep: u32, mask: u32, beyond: bool) -> Status {
        if beyond || mask & !DEFINED != 0 {
            return Status::Inval;
        }
        let wanted = |kind: Kind| match kind {
            Kind::Read => mask & RDATA != 0,
            Kind::Write => mask & WDATA != 0,
        };
        let all = self.by_use(wanted);
        let excess = all.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        for oid in all.into_iter().take(excess) {
            self.give_back(oid, false);
        }
        Status::Ok
    }

    /// After a grant: not more than the limit.
    pub(super) fn keep_limit(&mut self) {
        if self.held <= self.config.holdings {
            return;
        }
        // Those that nobody has open are in order already; only when there is none, look at all.
        let oldest = self.idle.first().map(|(_, oid)| *oid);
        if let Some(oid) = oldest.or_else(|| self.by_use(|_| true).first().copied()) {
            self.give_back(oid, false);
        }
    }

    /// What nobody has used for long.
    pub(super) fn return_idle(&mut self, now: Now) {
        while let Some((used, oid)) = self.idle.first().copied() {
            if used.plus(self.config.idle) > now {
                return;
            }
            self.give_back(oid, false);
        }
    }

    /// The back channel has been down for too long: what the server can't recall it will revoke.
    pub(super) fn path_down(&mut self, kind: Option<Kind>) {
        for oid in self.by_use(|k| kind.is_none_or(|kind| k == kind)) {
            self.give_back(oid, false);
        }
    }

    /// An owner's open was closed by the client itself: nothing of it is known any more.
    pub fn closed(&mut self, oid: Oid, owner: OwnerKey) {
        if let Some(file) = self.files.get_mut(&oid) {
            file.locals.opens.retain(|o| o.open.owner != owner);
            self.settle(oid);
        }
    }
}
