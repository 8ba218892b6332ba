//! Calling back, coming back, being taken.

use alloc::vec::Vec;

use nfs4_proto::Status;

use super::{Model, Out, Sid, State, older};
use crate::{ClientKey, Now, Oid};

/// Why a delegation was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Not returned in time.
    Late,
    /// The lease had passed.
    Expired,
    /// By the administrator.
    Admin,
}

impl Cause {
    /// What using it answers.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::Late => Status::DelegRevoked,
            Self::Expired => Status::Expired,
            Self::Admin => Status::AdminRevoked,
        }
    }
}

/// How a CB_RECALL ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbOutcome {
    /// NFS4_OK
    Ok,
    /// NFS4ERR_DELAY
    Delay,
    /// NFS4ERR_BADHANDLE, NFS4ERR_BAD_STATEID: the client says that it has none.
    Unknown,
    /// No answer.
    Lost,
}

impl Model {
    /// Begins to call a delegation back; takes it where its client's lease has passed. Nothing where that is under way.
    pub(super) fn call_back(&mut self, now: Now, at: usize, truncate: bool) {
        let Some(deleg) = self.delegs.get_mut(at) else { return };
        if !deleg.lives() {
            return;
        }
        let client = deleg.client;
        if self.clients.iter().any(|c| c.key == client && c.expired) {
            self.take(now, at, Cause::Expired);
            return;
        }
        let Some(deleg) = self.delegs.get_mut(at) else { return };
        if deleg.state != State::Held {
            return;
        }
        deleg.state = State::Recalling { since: now, again: None, truncate };
        let oid = deleg.oid;
        self.recalled.push((oid, now));
        self.send_recall(at);
    }

    fn send_recall(&mut self, at: usize) {
        let Some(deleg) = self.delegs.get(at) else { return };
        let State::Recalling { truncate, .. } = deleg.state else { return };
        self.out.push(Out::Recall {
            client: deleg.client,
            sid: Sid { seqid: 0, ..deleg.sid },
            oid: deleg.oid,
            truncate,
            referring: deleg.unseen,
        });
    }

    /// A CB_RECALL ended.
    pub fn recall_answered(&mut self, now: Now, client: ClientKey, other: u64, outcome: CbOutcome) {
        let retry = now.plus(self.config.retry);
        let Some(at) = self.delegs.iter().position(|d| d.client == client && d.sid.other == other) else {
            return;
        };
        let Some(deleg) = self.delegs.get_mut(at) else { return };
        let State::Recalling { again, .. } = &mut deleg.state else { return };
        match outcome {
            CbOutcome::Ok => *again = None,
            CbOutcome::Delay | CbOutcome::Lost => *again = Some(retry),
            // To be believed only once it has seen what it got.
            CbOutcome::Unknown if deleg.unseen.is_some() => *again = Some(retry),
            CbOutcome::Unknown => {
                self.delegs.remove(at);
                self.forget_questions();
                self.wake(now);
            }
        }
    }

    /// DELEGRETURN (RFC 8881 §18.6).
    pub fn give_back(&mut self, now: Now, client: ClientKey, oid: Oid, sid: Sid) -> Status {
        let known =
            self.delegs.iter().position(|d| d.client == client && d.oid == oid && d.sid.other == sid.other);
        let Some(at) = known else { return Status::BadStateId };
        let Some(deleg) = self.delegs.get(at) else { return Status::BadStateId };
        if let State::Revoked(cause) = deleg.state {
            return cause.status();
        }
        if sid.seqid != 0 && sid.seqid != deleg.sid.seqid {
            return if older(sid.seqid, deleg.sid.seqid) { Status::OldStateId } else { Status::BadStateId };
        }
        self.delegs.remove(at);
        self.forget_questions();
        self.wake(now);
        Status::Ok
    }

    /// FREE_STATEID (RFC 8881 §18.38).
    pub fn free(&mut self, client: ClientKey, other: u64) -> Status {
        let known = self.delegs.iter().position(|d| d.client == client && d.sid.other == other);
        let Some(at) = known else { return Status::BadStateId };
        if self.delegs.get(at).is_some_and(super::Deleg::lives) {
            return Status::LocksHeld;
        }
        self.delegs.remove(at);
        Status::Ok
    }

    /// One of TEST_STATEID (RFC 8881 §18.48): what using it would answer.
    #[must_use]
    pub fn test(&self, client: ClientKey, sid: Sid) -> Status {
        match self.delegs.iter().find(|d| d.client == client && d.sid.other == sid.other) {
            Some(deleg) => self.check(client, sid, deleg.oid, false),
            None => Status::BadStateId,
        }
    }

    /// The causes for which a client's SEQUENCE carries a flag: each until its last delegation is freed.
    #[must_use]
    pub fn flags(&self, client: ClientKey) -> Vec<Cause> {
        let mut all: Vec<Cause> = Vec::new();
        for deleg in self.delegs.iter().filter(|d| d.client == client) {
            if let State::Revoked(cause) = deleg.state {
                all.push(cause);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The administrator takes one.
    pub fn admin_revoke(&mut self, now: Now, client: ClientKey, other: u64) {
        let known = self.delegs.iter().position(|d| d.client == client && d.sid.other == other && d.lives());
        if let Some(at) = known {
            self.take(now, at, Cause::Admin);
            self.wake(now);
        }
    }

    pub(super) fn take(&mut self, _now: Now, at: usize, cause: Cause) {
        let Some(deleg) = self.delegs.get_mut(at) else { return };
        deleg.state = State::Revoked(cause);
        self.out.push(Out::Revoked { client: deleg.client, other: deleg.sid.other, cause });
        self.forget_questions();
    }

    /// A client's lease passed: all is kept until somebody needs it; what is being called back or asked about
    /// is needed now.
    pub fn expired(&mut self, now: Now, key: ClientKey) {
        for client in self.clients.iter_mut().filter(|c| c.key == key) {
            client.expired = true;
        }
        for at in 0..self.delegs.len() {
            let Some(deleg) = self.delegs.get(at).filter(|d| d.client == key) else { continue };
            let asked = self
                .questions
                .iter()
                .any(|q| q.holder == key && q.oid == deleg.oid && q.answer.is_none() && !q.askers.is_empty());
            let called = matches!(deleg.state, State::Recalling { .. }) || (deleg.lives() && asked);
            if called {
                self.take(now, at, Cause::Expired);
            }
        }
        self.wake(now);
    }

    /// A client whose lease had passed came back in time.
    pub fn renewed(&mut self, key: ClientKey) {
        for client in self.clients.iter_mut().filter(|c| c.key == key) {
            client.expired = false;
        }
    }

    /// A client and all that it has is gone.
    pub fn gone(&mut self, now: Now, key: ClientKey) {
        self.clients.retain(|c| c.key != key);
        self.delegs.retain(|d| d.client != key);
        self.forget_questions();
        self.opens.retain(|o| o.client != key);
        self.wake(now);
    }

    /// Time has passed.
    pub fn timeout(&mut self, now: Now) {
        for at in 0..self.delegs.len() {
            let Some(deleg) = self.delegs.get_mut(at) else { continue };
            let State::Recalling { since, again, .. } = &mut deleg.state else { continue };
            if since.plus(self.config.lease) <= now {
                self.take(now, at, Cause::Late);
            } else if again.is_some_and(|again| again <= now) {
                *again = None;
                self.send_recall(at);
            }
        }
        self.wake(now);
        let patience = self.config.patience;
        let over: Vec<u64> = self
            .waiting
            .iter()
            .filter(|w| !w.resumed && w.since.plus(patience) <= now)
            .map(|w| w.id)
            .collect();
        for id in over {
            self.forget_waiter(id);
            self.out.push(Out::GiveUp(id));
        }
    }

    /// Whoever waits for nobody any more may come, in the order in which they came first.
    pub(super) fn wake(&mut self, _now: Now) {
        let mut free = Vec::new();
        for waiting in self.waiting.iter().filter(|w| !w.resumed) {
            if self.stands_against(waiting).is_empty() {
                free.push(waiting.id);
            }
        }
        for id in free {
            for waiting in self.waiting.iter_mut().filter(|w| w.id == id) {
                waiting.resumed = true;
            }
            self.out.push(Out::Resume(id));
        }
    }
}
