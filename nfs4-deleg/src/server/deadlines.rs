//! What happens by itself.

use alloc::vec::Vec;

use super::action::CbOutcome;
use super::object::State;
use super::{Cause, DelegId, Delegations, Fault, WaitId};
use crate::{Now, Oid};

/// What is due. Of the same time, in this order: whoever is set free at the last moment does not give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// It was not returned.
    Revoke(DelegId),
    /// Send the recall again.
    Recall(DelegId),
    /// CB_GETATTR takes too long.
    Ask(DelegId),
    /// Try to meet the wants on a file.
    Push(Oid),
    /// It has waited long enough.
    Patience(WaitId),
}

impl Delegations {
    /// When something happens by itself next.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Now> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        let mut due = Vec::new();
        while let Some((at, timer)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, timer));
            due.push(timer);
        }
        due.sort_unstable();
        let mut over = Vec::new();
        for timer in due {
            match timer {
                Timer::Revoke(id) => {
                    if self.held.get(id).is_some_and(|d| matches!(d.state, State::Recalling(_))) {
                        self.take(id, Cause::Late);
                    }
                }
                Timer::Recall(id) => {
                    if let Some(State::Recalling(recall)) = self.held.get(id).map(|d| &d.state)
                        && recall.again.is_some_and(|again| again <= now)
                    {
                        self.send_recall(id);
                    }
                }
                Timer::Ask(id) => self.ask_done(now, id, CbOutcome::Lost),
                Timer::Push(oid) => {
                    self.dirty.insert(oid);
                }
                Timer::Patience(id) => over.push(id),
            }
        }
        self.quiet.clean(now);
        self.settle(now);
        for id in over {
            if self.waiting.get(&id).is_some_and(|w| !w.resumed) && !self.fault(Fault::NoPatience) {
                self.give_up(id);
            }
        }
        self.settle(now);
    }
}
