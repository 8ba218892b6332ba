//! Callbacks before the replies that they refer to; replies after returns (RFC 8881 §2.10.6.3, §20.9).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use nfs4_proto::{StateId, Status};

use super::actions::{ClientAction, Step};
use super::facts::{
    Advice, CallId, CbAnswer, CbKey, CbMask, CbOp, CbSequence, Grant, Kind, Opened, OwnOp, OwnReply, StepKey,
    Triple,
};
use super::holding::{Fate, Holding, Stage, State, newer};
use super::{Holdings, Timer};
use crate::{Millis, Now, Oid};

/// An own call in flight.
#[derive(Clone, Copy, Debug)]
struct Call {
    op: OwnOp,
    /// The delegation whose stateid it carries.
    under: Option<[u8; 12]>,
    sent: Now,
    /// The order of sending.
    order: u64,
}

/// Own calls in flight. Their number is bounded by the session's slots.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: BTreeMap<CallId, Call>,
    order: u64,
}

impl Calls {
    /// Operations in flight under a delegation.
    pub(super) fn uses(&self, other: [u8; 12]) -> u32 {
        u32::try_from(self.calls.values().filter(|call| call.under == Some(other)).count())
            .unwrap_or(u32::MAX)
    }

    /// Whether a reply may still bring a delegation on this file.
    pub(super) fn may_grant(&self, file: Option<Oid>) -> bool {
        self.calls.values().any(|call| match call.op {
            OwnOp::Open { oid, .. } => oid.is_none() || oid == file,
            OwnOp::Io { .. } => false,
        })
    }

    fn referred(&self, referring: &[Triple]) -> Vec<CallId> {
        self.calls
            .iter()
            .filter(|(_, call)| match call.op {
                OwnOp::Open { triple, .. } => referring.contains(&triple),
                OwnOp::Io { .. } => false,
            })
            .map(|(id, _)| *id)
            .collect()
    }
}

/// A callback that waits for replies.
#[derive(Debug)]
pub(super) struct Parked {
    cb: CbOp,
    waits_for: Vec<CallId>,
    until: Now,
}

/// A delegation that is no more; replies sent for before that may still speak of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tombstone {
    other: [u8; 12],
    /// Calls up to this one may.
    order: u64,
}

/// A delegation that should not have been granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surplus {
    oid: Oid,
    stateid: StateId,
    refused: u32,
}

impl Holdings {
    /// An own operation is about to go out.
    pub fn sending(&mut self, now: Now, call: CallId, op: &OwnOp) {
        let mut under = None;
        if let OwnOp::Io { oid, delegated, changes } = *op
            && let Some(hold) = self.hold_mut(oid)
            && !hold.return_sent()
        {
            if delegated {
                hold.uses = hold.uses.saturating_add(1);
                under = Some(hold.stateid.other);
            }
            hold.changing = hold.changing.saturating_add(u32::from(changes));
        }
        self.calls.order = self.calls.order.saturating_add(1);
        let entry = Call { op: *op, under, sent: now, order: self.calls.order };
        self.calls.calls.insert(call, entry);
    }

    /// Its reply came, or is known never to come.
    pub fn replied(&mut self, now: Now, call: CallId, reply: &OwnReply) -> Advice {
        let Some(known) = self.calls.calls.remove(&call) else { return Advice::Done };
        self.measure(now.since(known.sent));
        match reply {
            OwnReply::Opened { oid, open, grant } => {
                self.opened(now, *oid, *open, grant.clone(), known.order);
            }
            OwnReply::Locked { oid, lock } => {
                self.files.entry(*oid).or_default().locals.add_lock(*lock, true);
                self.settle(*oid);
            }
            OwnReply::Failed(_) | OwnReply::Done => {}
        }
        let advice = match known.op {
            OwnOp::Io { oid, changes, .. } => self.io_over(now, oid, changes, known.under, reply),
            OwnOp::Open { .. } => Advice::Done,
        };
        if matches!(known.op, OwnOp::Open { .. }) {
            self.grant_over();
        }
        self.unpark(call);
        let oldest = self.calls.calls.values().map(|c| c.order).min();
        self.tombstones.retain(|t| oldest.is_some_and(|oldest| oldest <= t.order));
        advice
    }

    fn measure(&mut self, took: Millis) {
        // An eighth of each new measurement, as TCP does (RFC 6298).
        let average = self.round_trip >> 3;
        self.round_trip = self.round_trip.saturating_sub(average).saturating_add(took.0.max(1)).max(8);
    }

    fn io_over(
        &mut self,
        now: Now,
        oid: Oid,
        changes: bool,
        under: Option<[u8; 12]>,
        reply: &OwnReply,
    ) -> Advice {
        let may_grant = self.calls.may_grant(Some(oid));
        let Some(hold) = self.hold_mut(oid) else {
            return if under.is_some() && matches!(reply, OwnReply::Failed(_)) {
                Advice::Lost
            } else {
                Advice::Done
            };
        };
        if changes {
            hold.changing = hold.changing.saturating_sub(1);
            hold.touched = hold.touched.max(now);
        }
        if under != Some(hold.stateid.other) {
            return Advice::Done;
        }
        hold.uses = hold.uses.saturating_sub(1);
        let fate = if let OwnReply::Failed(status) = reply { Fate::of(*status) } else { Fate::Fine };
        let advice = match fate {
            Fate::Old => Advice::Again,
            // An upgrade or a return in flight may explain it: once more, with the newest. Else it is gone, and there
            // is nothing to free.
            Fate::Unknown if !hold.suspect && (may_grant || !hold.held()) => {
                hold.suspect = true;
                Advice::Again
            }
            Fate::Unknown | Fate::Revoked => {
                self.lose(oid, fate == Fate::Revoked);
                Advice::Lost
            }
            Fate::Fine | Fate::Later | Fate::Error => {
                hold.suspect = false;
                Advice::Done
            }
        };
        self.advance(oid);
        advice
    }

    fn opened(&mut self, now: Now, oid: Oid, open: Option<Opened>, grant: Option<Grant>, order: u64) {
        if let Some(open) = open {
            self.files.entry(oid).or_default().locals.add_open(open);
            self.settle(oid);
        }
        if let Some(grant) = grant {
            self.adopt(now, oid, grant, order);
        }
        let Some(open) = open.filter(|open| !open.on_server) else { return };
        // An open that only a delegation stands for (OPEN_XOR_DELEGATION).
        let Some(file) = self.files.get_mut(&oid) else { return };
        let writes = open.share.write || open.share.deny_read || open.share.deny_write;
        match file.hold.as_mut() {
            // It came with a write delegation that has become less since.
            Some(hold) if !hold.return_sent() && writes && !hold.writes() => self.downgraded(oid),
            Some(hold) if !hold.return_sent() => {
                // A return that has made opens real already has one more to go.
                if let Some(returning) = hold.returning() {
                    returning.stage = returning.stage.min(Stage::Opens);
                }
                self.advance(oid);
            }
            // The delegation went back before the reply came.
            Some(_) | None => {
                file.locals.opens.retain(|o| o.open.on_server);
                self.actions.push_back(ClientAction::OpenLost { oid, open, status: Status::BadStateId });
            }
        }
        self.settle(oid);
    }

    /// A reply brought a delegation.
    pub(super) fn adopt(&mut self, now: Now, oid: Oid, grant: Grant, order: u64) {
        if self.tombstones.iter().any(|t| t.other == grant.stateid.other && order <= t.order) {
            self.counts.stale = self.counts.stale.saturating_add(1);
            return;
        }
        let Some(hold) = self.files.get_mut(&oid).and_then(|file| file.hold.as_mut()) else {
            self.install(now, oid, grant);
            return;
        };
        if hold.stateid.other == grant.stateid.other {
            self.change_in_place(now, oid, grant);
        } else if hold.return_sent() {
            // The return was executed before the OPEN, and its reply was overtaken.
            let late = hold.successor.replace(grant);
            if let Some(late) = late {
                self.return_surplus(oid, late.stateid);
            }
        } else {
            self.counts.duplicates = self.counts.duplicates.saturating_add(1);
            if grant.kind == Kind::Write && !hold.writes() && hold.held() && hold.uses == 0 {
                let (old, recall) = (hold.stateid, grant.recall);
                let next = self.fresh(now, oid, grant);
                self.set_hold(oid, Some(next));
                self.return_surplus(oid, old);
                if recall {
                    self.give_back(oid, false);
                }
            } else {
                self.return_surplus(oid, grant.stateid);
            }
        }
    }

    fn install(&mut self, now: Now, oid: Oid, grant: Grant) {
        self.counts.granted = self.counts.granted.saturating_add(1);
        let recall = grant.recall;
        let hold = self.fresh(now, oid, grant);
        self.set_hold(oid, Some(hold));
        if recall {
            self.give_back(oid, false);
        } else {
            self.keep_limit();
        }
    }

    /// With the own operations that are out already.
    fn fresh(&self, now: Now, file: Oid, grant: Grant) -> Holding {
        let changing = |call: &&Call| matches!(call.op, OwnOp::Io { oid, changes: true, .. } if oid == file);
        let mut hold = Holding::new(now, grant);
        hold.changing = u32::try_from(self.calls.calls.values().filter(changing).count()).unwrap_or(u32::MAX);
        hold.uses = self.calls.uses(hold.stateid.other);
        hold
    }

    /// The same delegation, seen again: only a younger seqid says anything (RFC 8881 §8.2.2).
    fn change_in_place(&mut self, now: Now, oid: Oid, grant: Grant) {
        let Some(file) = self.files.get_mut(&oid) else { return };
        let Some(hold) = &mut file.hold else { return };
        if !newer(grant.stateid.seqid, hold.stateid.seqid) {
            self.counts.stale = self.counts.stale.saturating_add(1);
            return;
        }
        self.counts.changed = self.counts.changed.saturating_add(1);
        hold.stateid = grant.stateid;
        if hold.kind != grant.kind {
            hold.kind = grant.kind;
            hold.limit = grant.limit;
            hold.ace = grant.ace;
            if hold.writes() {
                // What was seen under the read delegation stays as valid as it was.
                if hold.change != grant.change {
                    hold.granted = now;
                    hold.touched = now;
                }
                hold.change = grant.change;
                hold.size = grant.size;
            } else {
                self.downgraded(oid);
            }
        }
        if grant.recall {
            self.give_back(oid, false);
        }
    }

    fn return_surplus(&mut self, oid: Oid, stateid: StateId) {
        let key = StepKey(self.key());
        self.surplus.insert(key, Surplus { oid, stateid, refused: 0 });
        self.actions.push_back(ClientAction::Step { key, oid, stateid, step: Step::DelegReturn });
    }

    pub(super) fn surplus_done(&mut self, now: Now, key: StepKey, status: Status) -> bool {
        let (refusals, retry) = (self.config.refusals, self.config.retry);
        let Some(surplus) = self.surplus.get_mut(&key) else { return false };
        let (fate, stateid) = (Fate::of(status), surplus.stateid);
        let over = matches!(fate, Fate::Fine | Fate::Unknown | Fate::Revoked) || surplus.refused >= refusals;
        if over {
            self.surplus.remove(&key);
            self.bury(stateid.other);
        } else {
            surplus.refused = surplus.refused.saturating_add(u32::from(fate != Fate::Later));
            self.timers.insert((now.plus(retry), Timer::Surplus(key)));
        }
        if fate == Fate::Revoked {
            self.free(stateid);
        }
        true
    }

    pub(super) fn surplus_again(&mut self, key: StepKey) {
        if let Some(Surplus { oid, stateid, .. }) = self.surplus.get(&key).copied() {
            self.actions.push_back(ClientAction::Step { key, oid, stateid, step: Step::DelegReturn });
        }
    }

    /// Replies to calls that are out now may still speak of it.
    pub(super) fn bury(&mut self, other: [u8; 12]) {
        if self.calls.may_grant_any() {
            self.tombstones.push_back(Tombstone { other, order: self.calls.order });
        }
    }

    /// A DELEGRETURN was answered OLD_STATEID: an upgrade's reply is on its way, if any call out now can bring one.
    /// Whether it is worth waiting for.
    pub(super) fn await_grant(&mut self, oid: Oid) -> bool {
        let may = self.calls.may_grant(Some(oid));
        if may {
            self.awaiting.insert(oid, self.calls.order);
        }
        may
    }

    /// An OPEN is over: DELEGRETURNs that waited for it may go. Calls sent after the refusal don't count, or a busy
    /// client would never return anything.
    fn grant_over(&mut self) {
        let calls = &self.calls;
        let over: Vec<Oid> = self
            .awaiting
            .iter()
            .filter(|(oid, order)| !calls.may_grant_before(**oid, **order))
            .map(|(oid, _)| *oid)
            .collect();
        for oid in over {
            self.awaiting.remove(&oid);
            if let Some(returning) = self.hold_mut(oid).and_then(Holding::returning) {
                returning.awaits_grant = false;
                self.advance(oid);
            }
        }
    }

    /// A callback came.
    pub fn callback(&mut self, now: Now, cb: &CbOp, sequence: &CbSequence<'_>) -> CbAnswer {
        match *cb {
            CbOp::RecallAny { keep, mask, beyond } => CbAnswer::Status(self.recall_any(keep, mask, beyond)),
            CbOp::Recall { .. } | CbOp::GetAttr { .. } => {
                let waits_for = self.calls.referred(sequence.referring);
                if waits_for.is_empty() {
                    return self.answer(cb);
                }
                self.counts.raced = self.counts.raced.saturating_add(1);
                if self.parked.len() >= self.config.parked {
                    return CbAnswer::Status(Status::Delay);
                }
                let key = CbKey(self.key());
                let until = now.plus(Millis((self.round_trip >> 3).max(1)));
                self.parked.insert(key, Parked { cb: *cb, waits_for, until });
                self.timers.insert((until, Timer::Parked(key)));
                CbAnswer::Later(key)
            }
        }
    }

    fn unpark(&mut self, call: CallId) {
        let mut ready = Vec::new();
        for (key, parked) in &mut self.parked {
            parked.waits_for.retain(|id| *id != call);
            if parked.waits_for.is_empty() {
                ready.push(*key);
            }
        }
        for key in ready {
            if let Some(parked) = self.parked.remove(&key) {
                self.timers.remove(&(parked.until, Timer::Parked(key)));
                let answer = self.answer(&parked.cb);
                self.actions.push_back(ClientAction::Answer { key, answer });
            }
        }
    }

    /// The reply did not come in time: the server will call again.
    pub(super) fn park_over(&mut self, key: CbKey) {
        if self.parked.remove(&key).is_some() {
            self.actions.push_back(ClientAction::Answer { key, answer: CbAnswer::Status(Status::Delay) });
        }
    }

    fn answer(&mut self, cb: &CbOp) -> CbAnswer {
        match *cb {
            CbOp::Recall { oid, stateid, truncate } => CbAnswer::Status(self.recall(oid, stateid, truncate)),
            CbOp::GetAttr { oid, mask } => self.get_attr(oid, mask),
            CbOp::RecallAny { keep, mask, beyond } => CbAnswer::Status(self.recall_any(keep, mask, beyond)),
        }
    }

    fn recall(&mut self, file: Option<Oid>, stateid: StateId, truncate: bool) -> Status {
        if self.surplus.values().any(|s| s.stateid.other == stateid.other && Some(s.oid) == file) {
            return Status::Ok;
        }
        let may_grant = self.calls.may_grant(file);
        let Some((oid, hold)) = file.and_then(|oid| Some((oid, self.hold_mut(oid)?))) else {
            return if may_grant { Status::Delay } else { Status::BadHandle };
        };
        if hold.stateid.other == stateid.other {
            self.counts.recalled = self.counts.recalled.saturating_add(1);
            self.give_back(oid, truncate);
            return Status::Ok;
        }
        if let Some(next) = hold.successor.as_mut().filter(|next| next.stateid.other == stateid.other) {
            next.recall = true;
            return Status::Ok;
        }
        if may_grant { Status::Delay } else { Status::BadStateId }
    }

    fn get_attr(&mut self, file: Option<Oid>, mask: CbMask) -> CbAnswer {
        let may_grant = self.calls.may_grant(file);
        let hold = file.and_then(|oid| self.hold_mut(oid));
        match hold {
            Some(hold) if hold.writes() && !matches!(hold.state, State::Reclaiming { .. }) => {
                CbAnswer::Attrs(hold.attrs(mask))
            }
            Some(_) | None => CbAnswer::Status(if may_grant { Status::Delay } else { Status::BadHandle }),
        }
    }
}

impl Calls {
    fn may_grant_before(&self, file: Oid, order: u64) -> bool {
        self.calls.values().any(|call| match call.op {
            OwnOp::Open { oid, .. } => call.order <= order && oid.is_none_or(|oid| oid == file),
            OwnOp::Io { .. } => false,
        })
    }

    fn may_grant_any(&self) -> bool {
        self.calls.values().any(|call| matches!(call.op, OwnOp::Open { .. }))
    }
}
