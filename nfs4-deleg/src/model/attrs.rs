//! CB_GETATTR (RFC 8881 §10.4.3): what others see of a file that somebody may be writing.

use alloc::vec::Vec;

use super::{Kind, Model, Out, Waiting, Waits};
use crate::server::Party;
use crate::{ClientKey, Now, Oid};

/// A question that is out, or answered and not yet fetched by all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) oid: Oid,
    pub(super) holder: ClientKey,
    pub(super) askers: Vec<u64>,
    pub(super) answer: Option<(u64, u64)>,
}

/// What others are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// `change`
    pub change: u64,
    /// `size`
    pub size: u64,
    /// Times are now.
    pub touched: bool,
}

/// Where attributes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrsFrom {
    /// The file.
    Backend,
    /// From the holder.
    Overlay(Overlay),
    /// Wait, under this number.
    Ask(u64),
    /// NFS4ERR_DELAY
    Delay,
}

impl Model {
    /// Another client asks for size or change.
    pub fn attrs_of(&mut self, now: Now, asker: Party, oid: Oid) -> AttrsFrom {
        // A client whose lease has passed is not there to ask: it is taken, like at any other conflict.
        for at in self.writers(asker, oid) {
            let holder = self.delegs.get(at).map(|d| d.client);
            if self.clients.iter().any(|c| c.expired && Some(c.key) == holder) {
                self.call_back(now, at, false);
                self.wake(now);
            }
        }
        let writers = self.writers(asker, oid);
        let Some(deleg) = writers.first().and_then(|at| self.delegs.get(*at)).copied() else {
            return AttrsFrom::Backend;
        };
        if self.waiting.len() >= self.config.waiters {
            return AttrsFrom::Delay;
        }
        let id = self.number();
        self.waiting.push(Waiting { id, party: asker, what: Waits::Attrs(oid), since: now, resumed: false });
        if let Some(question) =
            self.questions.iter_mut().find(|q| q.oid == oid && q.holder == deleg.client && q.answer.is_none())
        {
            question.askers.push(id);
            return AttrsFrom::Ask(id);
        }
        self.questions.push(Question { oid, holder: deleg.client, askers: alloc::vec![id], answer: None });
        self.out.push(Out::GetAttr { client: deleg.client, oid, referring: deleg.unseen });
        AttrsFrom::Ask(id)
    }

    /// The holder answered, with its change and size; or not at all, and is called back.
    pub fn attrs_answered(&mut self, now: Now, holder: ClientKey, oid: Oid, answer: Option<(u64, u64)>) {
        let open =
            self.questions.iter().position(|q| q.oid == oid && q.holder == holder && q.answer.is_none());
        let Some(open) = open else { return };
        let Some(answer) = answer else {
            self.questions.remove(open);
            let held = self.delegs.iter().position(|d| d.client == holder && d.oid == oid && d.lives());
            if let Some(at) = held {
                self.call_back(now, at, false);
            }
            self.wake(now);
            return;
        };
        // Whoever waits for this file's attributes is told, also those that asked before an answer was lost.
        let askers: Vec<u64> = self
            .waiting
            .iter()
            .filter(|w| matches!(w.what, Waits::Attrs(of) if of == oid) && !w.resumed)
            .map(|w| w.id)
            .collect();
        let Some(question) = self.questions.get_mut(open) else { return };
        question.answer = Some(answer);
        question.askers.clone_from(&askers);
        if askers.is_empty() {
            self.questions.remove(open);
        }
        for id in askers {
            for waiting in self.waiting.iter_mut().filter(|w| w.id == id && !w.resumed) {
                waiting.resumed = true;
                self.out.push(Out::Resume(id));
            }
        }
    }

    /// What is asked of a delegation that is no more, or does not write any more, will not be answered: a later one of the
    /// same client is another one.
    pub(super) fn forget_questions(&mut self) {
        let delegs = &self.delegs;
        let lives = |q: &Question| {
            delegs
                .iter()
                .any(|d| d.client == q.holder && d.oid == q.oid && d.lives() && d.kind == Kind::Write)
        };
        self.questions.retain(|q| q.answer.is_some() || lives(q));
    }

    /// A resumed asker fetches its answer; `change` and `size` are the file's own.
    pub fn attrs_again(&mut self, id: u64, change: u64, size: u64) -> AttrsFrom {
        let Some(at) = self.waiting.iter().position(|w| w.id == id && w.resumed) else {
            return AttrsFrom::Backend;
        };
        self.waiting.remove(at);
        let known = self.questions.iter().position(|q| q.askers.contains(&id));
        let Some(known) = known else { return AttrsFrom::Backend };
        let Some(question) = self.questions.get_mut(known) else { return AttrsFrom::Backend };
        question.askers.retain(|asker| *asker != id);
        let (oid, holder, answer) = (question.oid, question.holder, question.answer);
        if question.askers.is_empty() {
            self.questions.remove(known);
        }
        let Some((cc, own_size)) = answer else { return AttrsFrom::Backend };
        let Some(deleg) = self.delegs.iter_mut().find(|d| d.client == holder && d.oid == oid && d.lives())
        else {
            return AttrsFrom::Backend;
        };
        // Judged anew for each answer: after a flush the holder says what it said at first.
        if cc == deleg.sc && own_size == size {
            deleg.told = deleg.told.max(change);
            return AttrsFrom::Overlay(Overlay { change: deleg.told, size, touched: false });
        }
        deleg.told = deleg.told.max(change).saturating_add(1);
        AttrsFrom::Overlay(Overlay { change: deleg.told, size: own_size, touched: true })
    }
}
