//! Calling back, and taking what does not come.

use alloc::boxed::Box;

use super::action::{Action, CbOutcome};
use super::deadlines::Timer;
use super::object::{Recalling, State};
use super::{Cause, CbId, DelegId, DelegRef, Delegations, Fault};
use crate::{Millis, Now};

/// What a callback was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cb {
    Recall(DelegId),
    Ask(DelegId),
    Push(DelegId),
}

impl Delegations {
    pub(super) fn new_cb(&mut self, what: Cb) -> CbId {
        self.next_cb = self.next_cb.saturating_add(1);
        let cb = CbId(self.next_cb);
        self.cbs.insert(cb, what);
        cb
    }

    /// Begins to call a delegation back; takes it where its client's lease has passed. Nothing where that is under way.
    pub(super) fn call_back(&mut self, now: Now, id: DelegId, truncate: bool) {
        let Some(deleg) = self.held.get(id) else { return };
        if self.clients.get(&deleg.client).is_some_and(|c| c.expired) && !self.fault(Fault::CourtesyWaits) {
            self.take(id, Cause::Expired);
            return;
        }
        let Some(deleg) = self.held.get_mut(id) else { return };
        if deleg.state != State::Held {
            return;
        }
        let recall = Recalling { since: now, again: None, cb: None, truncate, tries: 0 };
        deleg.state = State::Recalling(Box::new(recall));
        let (oid, pushed) = (deleg.oid, deleg.pushed);
        let quiet = now.plus(self.config.quiet);
        self.quiet.add(oid, quiet, self.config.quiet_files);
        if !self.fault(Fault::NeverRevoked) {
            self.timers.insert((now.plus(self.config.lease), Timer::Revoke(id)));
        }
        // One that is being pushed is not known to its client yet: its answer decides.
        if !pushed {
            self.send_recall(id);
        }
    }

    pub(super) fn send_recall(&mut self, id: DelegId) {
        if self.fault(Fault::RecallNotSent) {
            return;
        }
        let cb = self.new_cb(Cb::Recall(id));
        let (always, never) = (self.fault(Fault::SeqidInRecall), self.fault(Fault::ReferringOmitted));
        let flush = self.fault(Fault::TruncateAlways);
        let Some(deleg) = self.held.get_mut(id) else { return };
        let State::Recalling(recall) = &mut deleg.state else { return };
        recall.cb = Some(cb);
        recall.again = None;
        recall.tries = recall.tries.saturating_add(1);
        self.actions.push_back(Action::Recall {
            cb,
            client: deleg.client,
            deleg: DelegRef { id, seqid: if always { deleg.seqid } else { 0 } },
            oid: deleg.oid,
            truncate: recall.truncate || flush,
            referring: deleg.unseen.filter(|_| !never),
        });
    }

    pub(super) fn recall_done(&mut self, now: Now, cb: CbId, id: DelegId, outcome: CbOutcome) {
        let (retry, most) = (self.config.retry, self.config.retry_most);
        let distrust = !self.fault(Fault::UnknownBelievedUnseen);
        let never = self.fault(Fault::NoRetry);
        let gone = self.fault(Fault::RecallOkIsReturn) && outcome == CbOutcome::Ok;
        let reset = self.fault(Fault::DeadlineMoved);
        let Some(deleg) = self.held.get_mut(id) else { return };
        let unseen = deleg.unseen.is_some() && distrust;
        let State::Recalling(recall) = &mut deleg.state else { return };
        if recall.cb != Some(cb) {
            return;
        }
        recall.cb = None;
        let since = recall.since;
        match outcome {
            CbOutcome::Ok | CbOutcome::Attrs { .. } if gone => self.drop_deleg(id),
            CbOutcome::Ok | CbOutcome::Attrs { .. } => {}
            // To be believed only once the client has seen what it got.
            CbOutcome::Unknown if !unseen => self.drop_deleg(id),
            CbOutcome::Delay
            | CbOutcome::Unknown
            | CbOutcome::Rejected
            | CbOutcome::Refused
            | CbOutcome::Lost => {
                if never {
                    return;
                }
                let shift = u32::from(recall.tries.saturating_sub(1)).min(16);
                let span = Millis(retry.0.saturating_mul(1 << shift).min(most.0.max(retry.0)));
                let again = now.plus(span);
                recall.again = Some(again);
                self.timers.insert((again, Timer::Recall(id)));
                if reset {
                    recall.since = now;
                    self.timers.remove(&(since.plus(self.config.lease), Timer::Revoke(id)));
                    self.timers.insert((now.plus(self.config.lease), Timer::Revoke(id)));
                }
            }
        }
    }

    /// Nothing is to happen to it by itself any more.
    fn unschedule(&mut self, id: DelegId) {
        self.unask(id);
        let Some(deleg) = self.held.get(id) else { return };
        if let State::Recalling(recall) = &deleg.state {
            self.timers.remove(&(recall.since.plus(self.config.lease), Timer::Revoke(id)));
            if let Some(again) = recall.again {
                self.timers.remove(&(again, Timer::Recall(id)));
            }
            if let Some(cb) = recall.cb {
                self.cbs.remove(&cb);
            }
        }
    }

    /// It is taken, and waits for FREE_STATEID.
    pub(super) fn take(&mut self, id: DelegId, cause: Cause) {
        self.unschedule(id);
        if self.fault(Fault::RevokedForgotten) {
            self.drop_deleg(id);
            return;
        }
        self.advance(id);
        let Some(deleg) = self.held.get_mut(id).filter(|d| d.lives()) else { return };
        deleg.state = State::Revoked(cause);
        deleg.pushed = false;
        let (client, oid) = (deleg.client, deleg.oid);
        self.dirty.insert(oid);
        if let Some(client) = self.clients.get_mut(&client) {
            let count = client.count(cause);
            *count = count.saturating_add(1);
        }
        self.actions.push_back(Action::Revoked { client, id, cause });
    }

    /// It is no more.
    pub(super) fn drop_deleg(&mut self, id: DelegId) {
        self.unschedule(id);
        self.advance(id);
        let Some(deleg) = self.held.remove(id) else { return };
        self.dirty.insert(deleg.oid);
        let Some(client) = self.clients.get_mut(&deleg.client) else { return };
        client.held = client.held.saturating_sub(1);
        if let Some(cause) = deleg.revoked() {
            let count = client.count(cause);
            *count = count.saturating_sub(1);
        }
    }
}
