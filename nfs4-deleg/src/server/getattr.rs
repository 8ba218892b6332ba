//! CB_GETATTR (RFC 8881 §10.4.3, RFC 9754): what others see of a file that somebody may be writing.

use alloc::vec::Vec;

use super::action::{Action, CbOutcome, Stamp};
use super::deadlines::Timer;
use super::recall::Cb;
use super::wait::{Waiting, Waits};
use super::{CbId, DelegId, Delegations, Fault, Party, WaitId};
use crate::{Now, Oid};

/// A CB_GETATTR that is out: one, however many ask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) cb: CbId,
    until: Now,
}

/// What a holder said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    holder: DelegId,
    change: u64,
    size: u64,
    access: Option<Stamp>,
    modify: Option<Stamp>,
}

/// The file's own attributes, as the backend has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnAttrs {
    /// `change`
    pub change: u64,
    /// `size`
    pub size: u64,
}

/// What others are told instead of the file's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// `change`
    pub change: u64,
    /// `size`
    pub size: u64,
    /// time_modify and time_metadata are now, where no delegated time is given.
    pub touched: bool,
    /// The holder's time_deleg_access, to be vetted by [`vet_time`].
    pub access: Option<Stamp>,
    /// The holder's time_deleg_modify, to be vetted by [`vet_time`].
    pub modify: Option<Stamp>,
}

/// Where attributes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrsFrom {
    /// The file.
    Backend,
    /// The holder.
    Overlay(Overlay),
    /// Wait, under this number; then [`attrs_again`](Delegations::attrs_again).
    Ask(WaitId),
    /// NFS4ERR_DELAY: too many wait.
    Delay,
}

/// A time that a holder gave for one of the file's (RFC 9754 §5): the file's own where it is not later, now where it is
/// in the future.
#[must_use]
pub fn vet_time(given: Stamp, own: Stamp, now: Stamp) -> Stamp {
    if given <= own { own } else { given.min(now.max(own)) }
}

impl Delegations {
    /// Somebody asks for size, change or times of a file. The holder itself is never asked.
    pub fn attrs_of(&mut self, now: Now, asker: Party, oid: Oid) -> AttrsFrom {
        let Some(holder) = self.writer(asker, oid) else { return AttrsFrom::Backend };
        if self.fault(Fault::GetAttrIgnoresWriter) {
            return AttrsFrom::Backend;
        }
        // Its lease has passed: nobody is there to ask.
        let dead = self.held.get(holder).and_then(|d| self.clients.get(&d.client)).is_some_and(|c| c.expired);
        if dead {
            self.call_back(now, holder, false);
            if self.writer(asker, oid).is_none() {
                self.settle(now);
                return AttrsFrom::Backend;
            }
        }
        if self.waiting.len() >= self.config.waiters
            || self.waiters_on(oid).take(self.config.waiters_per_object).count()
                >= self.config.waiters_per_object
        {
            return AttrsFrom::Delay;
        }
        let waiting = Waiting { party: asker, what: Waits::Attrs(oid, None), since: now, resumed: false };
        let id = self.wait(None, waiting);
        if !self.questions.contains_key(&holder) {
            self.ask(now, holder);
        }
        AttrsFrom::Ask(id)
    }

    fn ask(&mut self, now: Now, holder: DelegId) {
        let cb = self.new_cb(Cb::Ask(holder));
        let Some(deleg) = self.held.get(holder) else { return };
        let until = now.plus(self.config.cb_timeout);
        self.questions.insert(holder, Question { cb, until });
        self.timers.insert((until, Timer::Ask(holder)));
        self.actions.push_back(Action::GetAttr {
            cb,
            client: deleg.client,
            oid: deleg.oid,
            times: deleg.times,
            referring: deleg.unseen.filter(|_| !self.fault(Fault::ReferringOmitted)),
        });
    }

    /// It need not be answered any more.
    pub(super) fn unask(&mut self, holder: DelegId) -> Option<Question> {
        let question = self.questions.remove(&holder)?;
        self.timers.remove(&(question.until, Timer::Ask(holder)));
        self.cbs.remove(&question.cb);
        Some(question)
    }

    /// The holder answered; or not, and is called back: the file's own attributes would be stale.
    pub(super) fn ask_done(&mut self, now: Now, holder: DelegId, outcome: CbOutcome) {
        if self.unask(holder).is_none() {
            return;
        }
        let Some(oid) = self.held.get(holder).map(|d| d.oid) else { return };
        let CbOutcome::Attrs { change, size, access, modify } = outcome else {
            if !self.fault(Fault::SilentHolderKept) {
                self.call_back(now, holder, false);
            }
            self.dirty.insert(oid);
            return;
        };
        let answer = Answer { holder, change, size, access, modify };
        let ids: Vec<WaitId> = self.waiters_on(oid).collect();
        for id in ids {
            if let Some(Waiting { what: Waits::Attrs(_, slot), resumed: false, .. }) =
                self.waiting.get_mut(&id)
            {
                *slot = Some(answer);
                self.resume(id);
            }
        }
    }

    /// An asker that was told to go on; `own` is what the file has now.
    pub fn attrs_again(&mut self, now: Now, id: WaitId, own: OwnAttrs) -> AttrsFrom {
        let Some(Waiting { what: Waits::Attrs(_, answer), resumed: true, .. }) =
            self.waiting.get(&id).copied()
        else {
            return AttrsFrom::Backend;
        };
        self.unwait(id);
        let attrs = answer.map_or(AttrsFrom::Backend, |answer| self.overlay(&answer, own));
        self.settle(now);
        attrs
    }

    /// What others were told outlives the delegation.
    pub(super) fn advance(&mut self, holder: DelegId) {
        if let Some(deleg) = self.held.get(holder).filter(|d| d.lives() && d.told > d.sc) {
            self.actions.push_back(Action::Advance { id: holder, oid: deleg.oid, change: deleg.told });
        }
    }

    fn overlay(&mut self, answer: &Answer, own: OwnAttrs) -> AttrsFrom {
        let still = self.fault(Fault::ChangeStandsStill);
        let forever = self.fault(Fault::ModifiedForEver);
        let back = self.fault(Fault::ChangeGoesBack);
        let own_size = self.fault(Fault::OwnSizeWhileModified);
        let Some(deleg) = self.held.get_mut(answer.holder).filter(|d| d.lives() && d.writes()) else {
            return AttrsFrom::Backend;
        };
        let (access, modify) = if deleg.times { (answer.access, answer.modify) } else { (None, None) };
        // Judged anew for each answer: after a flush the holder says what it said at first.
        let touched =
            answer.change != deleg.sc || answer.size != own.size || (forever && deleg.told > deleg.sc);
        if back {
            deleg.told = own.change;
        }
        deleg.told = deleg.told.max(own.change);
        if touched && !still {
            deleg.told = deleg.told.saturating_add(1);
        }
        let size = if touched && !own_size { answer.size } else { own.size };
        AttrsFrom::Overlay(Overlay { change: deleg.told, size, touched, access, modify })
    }
}
