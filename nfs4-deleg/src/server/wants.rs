//! Wants that were registered: CB_PUSH_DELEG, CB_RECALLABLE_OBJ_AVAIL (RFC 8881 §18.49.3, §20.5, §20.7, §20.10).

use alloc::collections::{BTreeMap, BTreeSet};

use super::action::{Action, CbOutcome};
use super::deadlines::Timer;
use super::object::State;
use super::recall::Cb;
use super::{CbId, Claim, DelegId, Delegations, Fault, Kind, Refusal, Want, Wanted};
use crate::{ClientKey, Now, Oid};

/// What was promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    Push,
    Signal,
}

#[derive(Clone, Copy, Debug)]
struct Registered {
    want: Want,
    kind: Kind,
    promise: Promise,
    order: u64,
}

/// All wants, by file and by client; those for room in their order.
#[derive(Debug, Default)]
pub(super) struct Wants {
    by_file: BTreeMap<(Oid, ClientKey), Registered>,
    by_client: BTreeSet<(ClientKey, Oid)>,
    for_room: BTreeMap<u64, (Oid, ClientKey)>,
    next: u64,
}

impl Wants {
    pub(super) fn any(&self, oid: Oid) -> bool {
        self.by_file.range((oid, ClientKey(0))..=(oid, ClientKey(u64::MAX))).next().is_some()
    }

    pub(super) fn of(&self, client: ClientKey) -> usize {
        self.by_client.range((client, Oid(0))..=(client, Oid(u128::MAX))).count()
    }

    pub(super) fn len(&self) -> usize {
        self.by_file.len()
    }

    pub(super) fn consistent(&self) -> bool {
        let for_room = self.by_file.values().filter(|r| r.promise == Promise::Signal).count();
        self.by_file.len() == self.by_client.len() && self.for_room.len() == for_room
    }

    fn remove(&mut self, client: ClientKey, oid: Oid) -> Option<Registered> {
        let known = self.by_file.remove(&(oid, client))?;
        self.by_client.remove(&(client, oid));
        self.for_room.remove(&known.order);
        Some(known)
    }
}

impl Delegations {
    /// Whether the client has a want on the file: a second one is NFS4ERR_DELEG_ALREADY_WANTED.
    #[must_use]
    pub fn already_wanted(&self, client: ClientKey, oid: Oid) -> bool {
        self.wants.by_file.contains_key(&(oid, client))
    }

    pub(super) fn drop_want(&mut self, client: ClientKey, oid: Oid) {
        self.wants.remove(client, oid);
    }

    /// Keeps a want that was refused, where it asks for that, and promises to meet it.
    pub(super) fn register(&mut self, want: &Want, why: Refusal) -> Refusal {
        if want.wanted == Wanted::Cancel && !self.fault(Fault::CancelKeepsWant) {
            self.drop_want(want.client, want.oid);
        }
        let explicit = matches!(want.wanted, Wanted::Read | Wanted::Write | Wanted::Any);
        if want.claim != Claim::Fresh || !explicit {
            return why;
        }
        let promise = match why {
            Refusal::Contention { .. } if want.push => Promise::Push,
            Refusal::Resource { .. } if want.signal => Promise::Signal,
            Refusal::Contention { .. }
            | Refusal::Resource { .. }
            | Refusal::NotWanted
            | Refusal::Cancelled
            | Refusal::NotSuppFtype
            | Refusal::WriteNotSuppFtype
            | Refusal::IsDir
            | Refusal::NotSuppUpgrade
            | Refusal::NotSuppDowngrade
            | Refusal::AlreadyWanted => return why,
        };
        if self.already_wanted(want.client, want.oid) {
            return Refusal::AlreadyWanted;
        }
        // What is held in another kind changes by asking again, not by a push.
        let holds = self.held.mine(want.client, want.oid).is_some();
        let full = self.wants.by_file.len() >= self.config.wants
            || self.wants.of(want.client) >= self.config.wants_per_client;
        let deaf = self.clients.get(&want.client).is_none_or(|c| !c.back_channel);
        if holds || full || deaf {
            return why;
        }
        let write = want.wanted == Wanted::Write || (want.wanted == Wanted::Any && want.share.write);
        let kind = if write { Kind::Write } else { Kind::Read };
        if !self.enabled(kind) {
            return why;
        }
        self.wants.next = self.wants.next.saturating_add(1);
        let order = self.wants.next;
        self.wants.by_file.insert((want.oid, want.client), Registered { want: *want, kind, promise, order });
        self.wants.by_client.insert((want.client, want.oid));
        match promise {
            Promise::Push => {
                self.dirty.insert(want.oid);
                Refusal::Contention { will_push: true }
            }
            Promise::Signal => {
                self.wants.for_room.insert(order, (want.oid, want.client));
                Refusal::Resource { will_signal: true }
            }
        }
    }

    /// Meets the wants on a file that nothing stands against any more.
    pub(super) fn offer(&mut self, now: Now, oid: Oid) {
        if self.awaited(oid) || self.fault(Fault::PushForgotten) {
            return;
        }
        let range = (oid, ClientKey(0))..=(oid, ClientKey(u64::MAX));
        let mut wants: alloc::vec::Vec<Registered> =
            self.wants.by_file.range(range).map(|(_, r)| *r).filter(|r| r.promise == Promise::Push).collect();
        wants.sort_by_key(|r| r.order);
        if let Some(until) = self.quiet.until(now, oid).filter(|_| !wants.is_empty()) {
            self.timers.insert((until, Timer::Push(oid)));
            return;
        }
        for Registered { want, kind, .. } in wants {
            if self.held.mine(want.client, oid).is_some()
                || self.disturbed(None, want.client, oid, kind)
                || !self.may_hold(want.client)
                || !self.room(want.client)
            {
                continue;
            }
            let grant = self.enter(now, &want, kind);
            let id = grant.deleg.id;
            // No call's reply brings it: the push does.
            self.held.refer(id, None);
            if let Some(deleg) = self.held.get_mut(id) {
                deleg.pushed = true;
            }
            let cb = self.new_cb(Cb::Push(id));
            self.actions.push_back(Action::Push { cb, client: want.client, oid, grant });
        }
    }

    /// The client took what was pushed; or not yet; or does not want it.
    pub(super) fn push_done(&mut self, now: Now, _cb: CbId, id: DelegId, outcome: CbOutcome) {
        let keep_rejected = self.fault(Fault::RejectedKept);
        let Some(deleg) = self.held.get_mut(id).filter(|d| d.pushed) else { return };
        let (client, oid) = (deleg.client, deleg.oid);
        match outcome {
            CbOutcome::Ok | CbOutcome::Attrs { .. } => {
                deleg.pushed = false;
                let recalled = matches!(deleg.state, State::Recalling(_));
                self.drop_want(client, oid);
                // Somebody needed it meanwhile.
                if recalled {
                    self.send_recall(id);
                }
            }
            CbOutcome::Rejected if keep_rejected => deleg.pushed = false,
            CbOutcome::Rejected => {
                self.drop_deleg(id);
                self.drop_want(client, oid);
            }
            // Without an answer the client may have it: then it stands until it comes back.
            CbOutcome::Lost => {
                deleg.pushed = false;
                let recalling = matches!(deleg.state, State::Recalling(_));
                if recalling {
                    self.send_recall(id);
                } else {
                    self.call_back(now, id, false);
                }
            }
            CbOutcome::Delay | CbOutcome::Unknown | CbOutcome::Refused => {
                self.drop_deleg(id);
                let again = now.plus(self.config.retry);
                self.quiet.add(oid, again, self.config.quiet_files);
                self.timers.insert((again, Timer::Push(oid)));
            }
        }
    }

    /// There is room: who waited for it first is told, and may ask again.
    pub(super) fn signal(&mut self) {
        let mut left = self.budget.saturating_sub(self.held.len());
        while left > 0 && !self.fault(Fault::SignalForgotten) {
            left = left.saturating_sub(1);
            let Some((_, &(oid, client))) = self.wants.for_room.first_key_value() else { return };
            let Some(known) = self.wants.remove(client, oid) else { return };
            if self.may_hold(client) {
                self.actions.push_back(Action::Available { client, kind: known.kind });
            }
        }
    }

    /// All wants of a client are dropped; with `tell` it is told.
    pub(super) fn drop_wants(&mut self, client: ClientKey, tell: bool) {
        let oids: alloc::vec::Vec<Oid> = self
            .wants
            .by_client
            .range((client, Oid(0))..=(client, Oid(u128::MAX)))
            .map(|(_, oid)| *oid)
            .collect();
        let (mut contended, mut resourced) = (false, false);
        for oid in oids {
            match self.wants.remove(client, oid).map(|r| r.promise) {
                Some(Promise::Push) => contended = true,
                Some(Promise::Signal) => resourced = true,
                None => {}
            }
        }
        if tell && (contended || resourced) {
            self.actions.push_back(Action::WantsCancelled { client, contended, resourced });
        }
    }
}
