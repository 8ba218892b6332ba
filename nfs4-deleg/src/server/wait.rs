//! Being let in, and waiting for it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::deadlines::Timer;
use super::getattr::Answer;
use super::{Action, Admit, DelegId, Delegations, Fault, Intent, Need, Party, WaitId};
use crate::{Now, Oid};

/// What waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waits {
    Do(Intent),
    /// For what a holder says.
    Attrs(Oid, Option<Answer>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) party: Party,
    pub(super) what: Waits,
    pub(super) since: Now,
    /// It was told to go on, and has not come yet.
    pub(super) resumed: bool,
}

impl Waits {
    fn oids(&self) -> [Option<Oid>; 2] {
        match self {
            Self::Do(intent) => intent.touches().map(|touch| touch.map(|(oid, _)| oid)),
            Self::Attrs(oid, _) => [Some(*oid), None],
        }
    }
}

impl Delegations {
    /// Asks to begin an operation. All or nothing: whoever waits holds no permit. From the permit to commit or abandon
    /// the operation's needs stand on its objects, so that no grant can contradict it. All holders that stand in its
    /// way are called at once.
    pub fn admit(&mut self, now: Now, party: Party, intent: &Intent) -> Admit {
        let answer = self.try_admit(now, None, party, intent, now);
        self.settle(now);
        answer
    }

    /// An operation that was told to go on comes again; it keeps its place. May have to wait once more.
    pub fn admit_again(&mut self, now: Now, id: WaitId) -> Admit {
        let Some(Waiting { party, what: Waits::Do(intent), since, resumed: true }) =
            self.waiting.get(&id).copied()
        else {
            return Admit::Delay;
        };
        self.unwait(id);
        let answer = self.try_admit(now, Some(id), party, &intent, since);
        self.settle(now);
        answer
    }

    fn try_admit(
        &mut self,
        now: Now,
        again: Option<WaitId>,
        party: Party,
        intent: &Intent,
        since: Now,
    ) -> Admit {
        if self.permits.len() >= self.config.permits {
            return Admit::Delay;
        }
        let mut against = self.against(party, intent);
        if self.fault(Fault::OnlyFirstHolderRecalled) {
            against.truncate(1);
        }
        let blocked = !against.is_empty();
        for id in against {
            self.call_back(now, id, intent.truncates());
        }
        // Those whose lease has passed were taken at once: there may be nobody left.
        if self.fault(Fault::AdmittedWhileRecalling) || !blocked || self.against(party, intent).is_empty() {
            return Admit::Permit(self.permits.begin(party, intent));
        }
        if (again.is_none() && self.full(intent)) || since.plus(self.config.patience()) <= now {
            return Admit::Delay;
        }
        Admit::Wait(self.wait(again, Waiting { party, what: Waits::Do(*intent), since, resumed: false }))
    }

    fn full(&self, intent: &Intent) -> bool {
        self.waiting.len() >= self.config.waiters
            || intent.touches().into_iter().flatten().any(|(oid, _)| {
                self.waiters_on(oid).take(self.config.waiters_per_object).count()
                    >= self.config.waiters_per_object
            })
    }

    pub(super) fn waiters_on(&self, oid: Oid) -> impl Iterator<Item = WaitId> {
        self.waiting_on.range((oid, WaitId(0))..=(oid, WaitId(u64::MAX))).map(|(_, id)| *id)
    }

    pub(super) fn wait(&mut self, again: Option<WaitId>, waiting: Waiting) -> WaitId {
        let id = again.unwrap_or_else(|| {
            self.next_wait = self.next_wait.saturating_add(1);
            WaitId(self.next_wait)
        });
        for oid in waiting.what.oids().into_iter().flatten() {
            self.waiting_on.insert((oid, id));
        }
        self.timers.insert((waiting.since.plus(self.config.patience()), Timer::Patience(id)));
        self.waiting.insert(id, waiting);
        id
    }

    pub(super) fn unwait(&mut self, id: WaitId) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        for oid in waiting.what.oids().into_iter().flatten() {
            self.waiting_on.remove(&(oid, id));
            self.dirty.insert(oid);
        }
        self.timers.remove(&(waiting.since.plus(self.config.patience()), Timer::Patience(id)));
        Some(waiting)
    }

    /// A waiting operation will not come again: its caller is gone.
    pub fn forget(&mut self, now: Now, id: WaitId) {
        self.unwait(id);
        self.settle(now);
    }

    /// The delegations of others that stand in an operation's way, each once.
    pub(super) fn against(&self, party: Party, intent: &Intent) -> Vec<DelegId> {
        let mut all = Vec::new();
        for (oid, row) in intent.touches().into_iter().flatten() {
            if self.fault(Fault::row(row)) {
                continue;
            }
            for deleg in self.held.on(oid) {
                let own = party == Party::Client(deleg.client) && !self.fault(Fault::OwnDelegationRecalled);
                if deleg.lives() && !own && row.need(deleg.writes()) != Need::Nothing {
                    all.push(deleg.id);
                }
            }
        }
        all
    }

    /// Whether a write delegation of another stands on the file.
    pub(super) fn writer(&self, party: Party, oid: Oid) -> Option<DelegId> {
        let other = |client| party != Party::Client(client) || self.fault(Fault::AskerAsked);
        self.held.on(oid).find(|d| d.lives() && d.writes() && other(d.client)).map(|d| d.id)
    }

    pub(super) fn blocked(&self, waiting: &Waiting) -> bool {
        match waiting.what {
            Waits::Do(intent) => !self.against(waiting.party, &intent).is_empty(),
            Waits::Attrs(oid, _) => self.writer(waiting.party, oid).is_some(),
        }
    }

    /// Whether somebody waits for the file: then nobody gets a delegation on it, so that nobody starves.
    pub(super) fn awaited(&self, oid: Oid) -> bool {
        !self.fault(Fault::GrantBeforeWaiter) && self.waiters_on(oid).next().is_some()
    }

    /// Whoever waits for nobody any more may come, in the order in which they came first.
    pub(super) fn wake(&mut self, oids: &BTreeSet<Oid>) {
        let ids: BTreeSet<WaitId> = oids.iter().flat_map(|oid| self.waiters_on(*oid)).collect();
        for id in ids {
            let free = self.waiting.get(&id).is_some_and(|w| !w.resumed && !self.blocked(w));
            if free && !self.fault(Fault::WaiterForgotten) {
                self.resume(id);
            }
        }
    }

    pub(super) fn resume(&mut self, id: WaitId) {
        let patience = self.config.patience();
        if let Some(waiting) = self.waiting.get_mut(&id).filter(|w| !w.resumed) {
            waiting.resumed = true;
            self.timers.remove(&(waiting.since.plus(patience), Timer::Patience(id)));
            self.actions.push_back(Action::Resume(id));
        }
    }

    pub(super) fn give_up(&mut self, id: WaitId) {
        self.unwait(id);
        self.actions.push_back(Action::GiveUp(id));
    }
}
