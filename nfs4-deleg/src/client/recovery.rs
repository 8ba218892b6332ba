//! Lease, loss and reclaim (RFC 8881 §8.3, §8.4, §10.2.1, §10.5).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use nfs4_proto::{SeqStatusFlags, StateId, Status};

use super::actions::ClientAction;
use super::facts::{Grant, Kind};
use super::holding::{Fate, State};
use super::{Holdings, Timer};
use crate::{Millis, Now, Oid};

/// What the server says about lost state, and what was done about it.
#[derive(Debug, Default)]
pub(super) struct Recovery {
    /// The flags that the last round was about.
    cause: SeqStatusFlags,
    /// Stateids being tested.
    testing: Vec<(Oid, StateId)>,
    /// Stateids being freed.
    freeing: Vec<StateId>,
    /// A round ended then; a SEQUENCE sent before says nothing new.
    done: Option<Now>,
    /// When to test again, should the flags stay.
    retest: Option<Now>,
    /// Being reclaimed.
    reclaiming: BTreeSet<Oid>,
    /// Since when the back channel is down.
    down: Option<Now>,
    /// The server's flags said so.
    down_by_flags: bool,
}

fn some_lost() -> SeqStatusFlags {
    SeqStatusFlags::EXPIRED_SOME_STATE_REVOKED
        | SeqStatusFlags::ADMIN_STATE_REVOKED
        | SeqStatusFlags::RECALLABLE_STATE_REVOKED
}

impl Holdings {
    /// A SEQUENCE succeeded. The lease counts from when it was sent: the server renewed it no earlier.
    pub(super) fn sequence(&mut self, now: Now, sent: Now, flags: SeqStatusFlags) {
        let span = Millis(self.config.lease.0.saturating_sub(self.config.margin.0));
        self.lease_end = self.lease_end.max(Some(sent.plus(span)));
        let path = SeqStatusFlags::CB_PATH_DOWN | SeqStatusFlags::CB_PATH_DOWN_SESSION;
        self.back_channel(now, !flags.intersects(path), true);
        if flags.contains(SeqStatusFlags::EXPIRED_ALL_STATE_REVOKED) {
            self.all_lost(true);
            return;
        }
        let lost = flags & some_lost();
        if lost.is_empty() {
            // Only one sent after the round says that the cause is gone.
            if self.recovery.done.is_none_or(|done| sent >= done) && !self.round_open() {
                self.recovery.cause = SeqStatusFlags::empty();
                self.stop_retest();
            }
            return;
        }
        if self.recovery.cause.contains(lost) {
            let old = self.round_open() || self.recovery.done.is_some_and(|done| sent < done);
            if !old && self.recovery.retest.is_none() {
                let at = now.plus(self.config.retest);
                self.recovery.retest = Some(at);
                self.timers.insert((at, Timer::Retest));
            }
            return;
        }
        self.recovery.cause |= lost;
        self.test_all();
    }

    fn round_open(&self) -> bool {
        !self.recovery.testing.is_empty() || !self.recovery.freeing.is_empty()
    }

    fn stop_retest(&mut self) {
        if let Some(at) = self.recovery.retest.take() {
            self.timers.remove(&(at, Timer::Retest));
        }
    }

    /// The server still says so: perhaps it means something newer.
    pub(super) fn retest(&mut self, _now: Now) {
        self.recovery.retest = None;
        if !self.recovery.cause.is_empty() {
            self.test_all();
        }
    }

    /// Nothing is served until the server has said which are lost (RFC 8881 §18.46.3, §18.48).
    fn test_all(&mut self) {
        self.stop_retest();
        let mut all = Vec::new();
        for (oid, file) in &mut self.files {
            if let Some(hold) = &mut file.hold
                && !matches!(hold.state, State::Reclaiming { .. })
            {
                hold.doubt = true;
                all.push((*oid, StateId { seqid: 0, ..hold.stateid }));
            }
        }
        self.recovery.testing.clone_from(&all);
        for stateids in all.chunks(self.config.batch.max(1)) {
            self.actions.push_back(ClientAction::Test { stateids: stateids.to_vec() });
        }
    }

    pub(super) fn tested(&mut self, now: Now, results: &[(Oid, StateId, Status)]) {
        if results.is_empty() && !self.recovery.testing.is_empty() {
            // The call failed: again, with what is still unknown.
            let rest = self.recovery.testing.clone();
            for stateids in rest.chunks(self.config.batch.max(1)) {
                self.actions.push_back(ClientAction::Test { stateids: stateids.to_vec() });
            }
            return;
        }
        for (oid, stateid, status) in results {
            self.recovery.testing.retain(|(o, s)| o != oid || s.other != stateid.other);
            let Some(hold) = self.hold_mut(*oid).filter(|h| h.stateid.other == stateid.other) else {
                continue;
            };
            match Fate::of(*status) {
                Fate::Fine | Fate::Old => hold.doubt = false,
                Fate::Unknown => self.lose(*oid, false),
                Fate::Revoked => self.lose(*oid, true),
                // Nothing was said about it: ask again.
                Fate::Later | Fate::Error => {
                    let again = (*oid, StateId { seqid: 0, ..*stateid });
                    self.recovery.testing.push(again);
                    self.actions.push_back(ClientAction::Test { stateids: alloc::vec![again] });
                }
            }
        }
        self.end_round(now);
    }

    pub(super) fn freed(&mut self, now: Now, stateid: StateId) {
        self.recovery.freeing.retain(|s| s.other != stateid.other);
        self.end_round(now);
    }

    fn end_round(&mut self, now: Now) {
        if !self.round_open() {
            self.recovery.done = Some(now);
        }
    }

    pub(super) fn free(&mut self, stateid: StateId) {
        let stateid = StateId { seqid: 0, ..stateid };
        self.recovery.freeing.push(stateid);
        self.actions.push_back(ClientAction::Free { stateid });
    }

    /// A delegation is lost.
    pub(super) fn lose(&mut self, oid: Oid, free: bool) {
        let Some(hold) = self.set_hold(oid, None) else { return };
        self.counts.lost = self.counts.lost.saturating_add(1);
        self.forget_steps(&hold);
        self.bury(hold.stateid.other);
        self.recovery.testing.retain(|(o, _)| *o != oid);
        self.recovery.reclaiming.remove(&oid);
        let (opens, locks) = self.files.get_mut(&oid).map_or_else(Default::default, |file| {
            let lost = (file.locals.used_opens(), file.locals.unreal_locks());
            // Those that only the delegation stood for are made anew, and entered again by their replies.
            file.locals.opens.retain(|o| o.open.on_server);
            file.locals.locks.retain(|l| l.on_server);
            lost
        });
        self.settle(oid);
        self.actions.push_back(ClientAction::Lost { oid, dirty: hold.modified(), opens, locks });
        if free {
            self.free(hold.stateid);
        }
    }

    pub(super) fn all_lost(&mut self, free: bool) {
        for oid in self.holders() {
            self.lose(oid, free);
        }
        self.recovery.reclaiming.clear();
        // The opens that the server knew are gone with them.
        self.files.clear();
    }

    /// There is more than the delegation covers now: the client makes it real by ordinary operations.
    pub(super) fn downgraded(&mut self, oid: Oid) {
        let Some(file) = self.files.get_mut(&oid) else { return };
        let (opens, locks) = (file.locals.unreal_opens(), file.locals.unreal_locks());
        let (mut dirty, mut truncate) = (false, None);
        if let Some(hold) = &mut file.hold {
            dirty = core::mem::take(&mut hold.dirty) > 0;
            truncate = hold.truncate.take();
            hold.dirty_end = 0;
        }
        if !dirty && truncate.is_none() && opens.is_empty() && locks.is_empty() {
            return;
        }
        for open in &mut file.locals.opens {
            open.open.on_server = true;
        }
        for lock in &mut file.locals.locks {
            lock.on_server = true;
        }
        self.actions.push_back(ClientAction::Downgraded { oid, dirty, truncate, opens, locks });
    }

    /// The server restarted. What was on its way back with DELEGRETURN sent may be back already: another client may
    /// have come since, so it is not claimed (RFC 8881 §8.4.3).
    pub(super) fn restarted(&mut self) {
        self.recovery.testing.clear();
        self.recovery.freeing.clear();
        self.recovery.cause = SeqStatusFlags::empty();
        self.stop_retest();
        self.surplus.clear();
        for oid in self.holders() {
            let Some(file) = self.files.get_mut(&oid) else { continue };
            let opens = file.locals.used_opens();
            let Some(hold) = &mut file.hold else { continue };
            if hold.return_sent() {
                if let Some(hold) = self.set_hold(oid, None) {
                    self.forget_steps(&hold);
                    self.bury(hold.stateid.other);
                }
                self.actions.push_back(ClientAction::Forget { oid });
                continue;
            }
            let then_return = !hold.held();
            let kind = hold.kind;
            let was = hold.clone();
            hold.state = State::Reclaiming { then_return };
            hold.doubt = false;
            self.forget_steps(&was);
            self.settle(oid);
            self.recovery.reclaiming.insert(oid);
            self.actions.push_back(ClientAction::Reclaim { oid, kind, opens });
        }
        self.reclaim_over();
    }

    pub(super) fn reclaimed(&mut self, now: Now, oid: Oid, result: Result<Option<Grant>, Status>) {
        if !self.recovery.reclaiming.remove(&oid) {
            return;
        }
        match result {
            Ok(Some(grant)) => self.take_up(now, oid, grant),
            Ok(None) => {
                // The opens stand, and nobody else could come in grace: what is dirty may still be written.
                self.downgraded(oid);
                if let Some(hold) = self.set_hold(oid, None) {
                    self.bury(hold.stateid.other);
                }
                self.actions.push_back(ClientAction::Forget { oid });
            }
            Err(_) => self.lose(oid, false),
        }
        self.reclaim_over();
    }

    /// The same delegation in the server's new life: another stateid, perhaps another kind.
    fn take_up(&mut self, now: Now, oid: Oid, grant: Grant) {
        let Some(file) = self.files.get_mut(&oid) else { return };
        let Some(hold) = &mut file.hold else { return };
        let then_return = matches!(hold.state, State::Reclaiming { then_return: true }) || grant.recall;
        for open in &mut file.locals.opens {
            open.open.on_server |= open.users > 0;
        }
        file.locals.drop_unused();
        hold.stateid = grant.stateid;
        hold.times &= grant.times;
        hold.limit = grant.limit;
        hold.ace = grant.ace;
        if !hold.modified() {
            if hold.change != grant.change {
                hold.granted = now;
                hold.touched = now;
            }
            hold.size = grant.size;
        }
        hold.change = grant.change;
        hold.state = State::Held;
        // Operations sent to the old server are over, one way or the other.
        hold.uses = self.calls.uses(grant.stateid.other);
        let lesser = hold.kind == Kind::Write && grant.kind == Kind::Read;
        hold.kind = grant.kind;
        if lesser {
            self.downgraded(oid);
        }
        self.settle(oid);
        if then_return {
            self.give_back(oid, false);
        }
    }

    fn reclaim_over(&mut self) {
        if self.recovery.reclaiming.is_empty() {
            self.actions.push_back(ClientAction::ReclaimDone);
        }
    }

    /// What can't be recalled is revoked after a lease: return it before, write delegations first (RFC 8881 §10.4.5).
    /// What the server's flags said, only they take back.
    pub(super) fn back_channel(&mut self, now: Now, up: bool, flags: bool) {
        let spans = [(Timer::PathDownWrite, 4_u64), (Timer::PathDownRead, 2)];
        let lease = self.config.lease.0;
        let at = |since: Now, part: u64| since.plus(Millis(lease.checked_div(part).unwrap_or(lease)));
        match (up, self.recovery.down) {
            (true, Some(_)) if flags != self.recovery.down_by_flags => {}
            (true, Some(since)) => {
                self.recovery.down = None;
                for (timer, part) in spans {
                    self.timers.remove(&(at(since, part), timer));
                }
            }
            (false, None) => {
                self.recovery.down = Some(now);
                self.recovery.down_by_flags = flags;
                for (timer, part) in spans {
                    self.timers.insert((at(now, part), timer));
                }
            }
            (true, None) | (false, Some(_)) => {}
        }
    }
}
