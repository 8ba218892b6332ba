//! The server's rules once more, as plainly as they can be written: lists of facts, and loops over them. For tests only:
//! another implementation is driven with the same events, and its answers are compared with these.
//!
//! Written from RFC 8881 §10.2–10.5, §18.16, §18.49 and RFC 9754, not from the machine.

mod attrs;
mod grants;
mod recalls;
mod rules;

pub use attrs::{AttrsFrom, Overlay};
pub use grants::{Claim, Granted, Want, Wanted, Why};
pub use recalls::{Cause, CbOutcome};
pub use rules::Conflict;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use nfs4_proto::Status;

use crate::server::{Intent, Party, Share};
use crate::{ClientKey, Millis, Now, Oid};

/// What a file delegation allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Others may read.
    Read,
    /// Nobody else may.
    Write,
}

/// A stateid of a delegation: its name and its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sid {
    /// Which.
    pub other: u64,
    /// 0 means "the current one".
    pub seqid: u32,
}

/// A call of a client: session and slot in one, and the slot's sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Session and slot.
    pub slot: u32,
    /// Its number there.
    pub seq: u32,
}

/// Spans, bounds and switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `lease_time`
    pub lease: Millis,
    /// How long an operation waits before NFS4ERR_DELAY.
    pub patience: Millis,
    /// How long until a recall is sent again.
    pub retry: Millis,
    /// How long a file is left alone after a recall.
    pub quiet: Millis,
    /// Most delegations.
    pub delegations: usize,
    /// Most operations that wait.
    pub waiters: usize,
    /// A read delegation may become a write delegation.
    pub upgrade: bool,
    /// A write delegation may become a read delegation.
    pub downgrade: bool,
    /// An OPEN for writing upgrades without being asked to (D-4).
    pub eager_upgrade: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lease: Millis::from_secs(90),
            patience: Millis::from_secs(20),
            retry: Millis::from_secs(2),
            quiet: Millis::from_secs(30),
            delegations: 1_000,
            waiters: 1_000,
            upgrade: true,
            downgrade: true,
            eager_upgrade: true,
        }
    }
}

/// How a delegation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is held.
    Held,
    /// It was called back.
    Recalling {
        /// First at this time: the deadline counts from here and is never moved.
        since: Now,
        /// When to call again; `None` while an answer is awaited or the client has said OK.
        again: Option<Now>,
        /// The file will be cut to nothing.
        truncate: bool,
    },
    /// It was taken, and waits for FREE_STATEID.
    Revoked(Cause),
}

/// One delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleg {
    /// Whose.
    pub client: ClientKey,
    /// On what.
    pub oid: Oid,
    /// Its stateid.
    pub sid: Sid,
    /// Read or write.
    pub kind: Kind,
    /// With times (RFC 9754).
    pub times: bool,
    /// How it stands.
    pub state: State,
    /// The call whose reply brings it, until the client is known to have seen that.
    pub unseen: Option<Call>,
    /// The change number at the grant.
    pub sc: u64,
    /// The highest change number that others were told.
    pub told: u64,
}

impl Deleg {
    /// It still stands in others' way.
    #[must_use]
    pub fn lives(&self) -> bool {
        !matches!(self.state, State::Revoked(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenFact {
    client: ClientKey,
    oid: Oid,
    share: Share,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Running {
    id: u64,
    party: Party,
    intent: Intent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    id: u64,
    party: Party,
    what: Waits,
    since: Now,
    /// It was told to go on, and has not come yet.
    resumed: bool,
}

/// What an operation waits to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Do(Intent),
    Attrs(Oid),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "facts of their own")]
struct Client {
    key: ClientKey,
    back_channel: bool,
    /// Its lease has passed; all is kept until somebody needs it.
    expired: bool,
    reclaim_complete: bool,
}

/// The answer to [`Model::admit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Go on, under this number.
    Go(u64),
    /// Wait, under this number.
    Wait(u64),
    /// NFS4ERR_DELAY
    Delay,
}

/// What the server must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Out {
    /// CB_RECALL.
    Recall {
        /// To whom.
        client: ClientKey,
        /// What; with seqid 0.
        sid: Sid,
        /// The file.
        oid: Oid,
        /// Dirty data needs no flush.
        truncate: bool,
        /// The referring call.
        referring: Option<Call>,
    },
    /// CB_GETATTR.
    GetAttr {
        /// To whom.
        client: ClientKey,
        /// The file.
        oid: Oid,
        /// The referring call.
        referring: Option<Call>,
    },
    /// The waiting operation may come again.
    Resume(u64),
    /// The waiting operation answers NFS4ERR_DELAY.
    GiveUp(u64),
    /// A SEQ4 flag is to be set.
    Revoked {
        /// For whom.
        client: ClientKey,
        /// What.
        other: u64,
        /// Which flag.
        cause: Cause,
    },
}

/// The facts.
#[derive(Debug)]
pub struct Model {
    config: Config,
    delegs: Vec<Deleg>,
    opens: Vec<OpenFact>,
    running: Vec<Running>,
    waiting: Vec<Waiting>,
    clients: Vec<Client>,
    questions: Vec<attrs::Question>,
    /// When a file was last called back.
    recalled: Vec<(Oid, Now)>,
    grace: bool,
    next: u64,
    out: Vec<Out>,
}

impl Model {
    /// No facts.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            delegs: Vec::new(),
            opens: Vec::new(),
            running: Vec::new(),
            waiting: Vec::new(),
            clients: Vec::new(),
            questions: Vec::new(),
            recalled: Vec::new(),
            grace: false,
            next: 0,
            out: Vec::new(),
        }
    }

    /// What is to be done since the last call.
    pub fn take_out(&mut self) -> Vec<Out> {
        core::mem::take(&mut self.out)
    }

    /// All delegations, revoked ones too.
    #[must_use]
    pub fn delegations(&self) -> &[Deleg] {
        &self.delegs
    }

    /// A client came.
    pub fn client(&mut self, key: ClientKey) {
        if !self.clients.iter().any(|c| c.key == key) {
            self.clients.push(Client { key, back_channel: false, expired: false, reclaim_complete: false });
        }
    }

    /// Its back channel was proven, or lost.
    pub fn back_channel(&mut self, key: ClientKey, up: bool) {
        for client in self.clients.iter_mut().filter(|c| c.key == key) {
            client.back_channel = up;
        }
    }

    /// Grace began, or is over.
    pub fn set_grace(&mut self, grace: bool) {
        self.grace = grace;
    }

    /// RECLAIM_COMPLETE.
    pub fn reclaim_complete(&mut self, key: ClientKey) {
        for client in self.clients.iter_mut().filter(|c| c.key == key) {
            client.reclaim_complete = true;
        }
    }

    /// The client used the slot again: it has seen the reply.
    pub fn reply_seen(&mut self, key: ClientKey, call: Call) {
        for deleg in self.delegs.iter_mut().filter(|d| d.client == key && d.unseen == Some(call)) {
            deleg.unseen = None;
        }
    }

    /// Asks to begin an operation.
    pub fn admit(&mut self, now: Now, party: Party, intent: &Intent) -> Admit {
        let id = self.number();
        self.try_admit(now, id, party, intent, now, true)
    }

    /// A waiting operation comes again.
    pub fn admit_again(&mut self, now: Now, id: u64) -> Admit {
        let Some(at) = self.waiting.iter().position(|w| w.id == id && w.resumed) else { return Admit::Delay };
        let waiting = self.waiting.remove(at);
        let Waits::Do(intent) = waiting.what else { return Admit::Delay };
        self.try_admit(now, id, waiting.party, &intent, waiting.since, false)
    }

    fn try_admit(
        &mut self,
        now: Now,
        id: u64,
        party: Party,
        intent: &Intent,
        since: Now,
        first: bool,
    ) -> Admit {
        let against = self.against(party, intent);
        if against.is_empty() {
            self.running.push(Running { id, party, intent: *intent });
            return Admit::Go(id);
        }
        for at in against {
            self.call_back(now, at, matches!(intent, Intent::Open { truncate: true, .. }));
        }
        // Those whose lease has passed were taken at once: there may be nobody left.
        if self.against(party, intent).is_empty() {
            self.running.push(Running { id, party, intent: *intent });
            self.wake(now);
            return Admit::Go(id);
        }
        if first && self.waiting.len() >= self.config.waiters {
            return Admit::Delay;
        }
        if since.plus(self.config.patience) <= now {
            return Admit::Delay;
        }
        self.waiting.push(Waiting { id, party, what: Waits::Do(*intent), since, resumed: false });
        self.waiting.sort_by_key(|w| w.id);
        Admit::Wait(id)
    }

    /// The operation is over, done or not.
    pub fn finish(&mut self, id: u64) {
        self.running.retain(|r| r.id != id);
    }

    /// A waiting operation will not come again: its client is gone.
    pub fn forget_waiter(&mut self, id: u64) {
        self.waiting.retain(|w| w.id != id);
        self.questions.iter_mut().for_each(|q| q.askers.retain(|a| *a != id));
    }

    /// OPEN was done.
    pub fn opened(&mut self, client: ClientKey, oid: Oid, share: Share) {
        self.opens.push(OpenFact { client, oid, share });
    }

    /// An open was closed.
    pub fn closed(&mut self, client: ClientKey, oid: Oid, share: Share) {
        if let Some(at) = self.opens.iter().position(|o| *o == (OpenFact { client, oid, share })) {
            self.opens.remove(at);
        }
    }

    /// Whether a stateid covers an access (RFC 8881 §8.2.4, §9.1.2).
    #[must_use]
    pub fn check(&self, client: ClientKey, sid: Sid, oid: Oid, write: bool) -> Status {
        let known =
            self.delegs.iter().find(|d| d.sid.other == sid.other && d.client == client && d.oid == oid);
        let Some(deleg) = known else { return Status::BadStateId };
        if let State::Revoked(cause) = deleg.state {
            return cause.status();
        }
        if sid.seqid != 0 && sid.seqid != deleg.sid.seqid {
            return if older(sid.seqid, deleg.sid.seqid) { Status::OldStateId } else { Status::BadStateId };
        }
        if write && deleg.kind == Kind::Read { Status::OpenMode } else { Status::Ok }
    }

    /// When something happens by itself.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Now> {
        let mut all = Vec::new();
        for deleg in &self.delegs {
            if let State::Recalling { since, again, .. } = deleg.state {
                all.push(since.plus(self.config.lease));
                all.extend(again);
            }
        }
        all.extend(self.waiting.iter().filter(|w| !w.resumed).map(|w| w.since.plus(self.config.patience)));
        all.into_iter().min()
    }

    fn number(&mut self) -> u64 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    /// What must hold of the facts themselves.
    ///
    /// # Errors
    /// What does not.
    pub fn check_facts(&self) -> Result<(), String> {
        for a in self.delegs.iter().filter(|d| d.lives()) {
            for b in self.delegs.iter().filter(|d| d.lives() && d.oid == a.oid && d.client != a.client) {
                if a.kind == Kind::Write || b.kind == Kind::Write {
                    return Err(format!("{a:?} beside {b:?}"));
                }
            }
            let twice =
                self.delegs.iter().filter(|d| d.lives() && d.oid == a.oid && d.client == a.client).count();
            if twice > 1 {
                return Err(format!("{a:?} is held {twice} times"));
            }
            for open in self.opens.iter().filter(|o| o.oid == a.oid && o.client != a.client) {
                let intent = Intent::Open { oid: a.oid, share: open.share, truncate: false };
                if rules::conflict(&intent, a.oid, a.kind) != Conflict::None {
                    return Err(format!("{a:?} beside {open:?}"));
                }
            }
            for running in &self.running {
                if running.party != Party::Client(a.client)
                    && rules::conflict(&running.intent, a.oid, a.kind) != Conflict::None
                {
                    return Err(format!("{a:?} beside {running:?}"));
                }
            }
        }
        for waiting in self.waiting.iter().filter(|w| !w.resumed) {
            if self.stands_against(waiting).is_empty() {
                return Err(format!("{waiting:?} waits for nobody"));
            }
        }
        Ok(())
    }
}

/// Whether stateid seqid `a` is older than `b`, wrapping from 0xFFFFFFFF to 1 (RFC 8881 §8.2.2).
fn older(a: u32, b: u32) -> bool {
    a != b && b.wrapping_sub(a) < 0x8000_0000
}

#[cfg(test)]
mod tests;
