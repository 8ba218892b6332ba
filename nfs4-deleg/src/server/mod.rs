//! The server's half: what stands around every operation that may conflict with a delegation.
//!
//! # The contract
//!
//! - [`admit`](Delegations::admit) before, [`commit`](Delegations::commit) or [`abandon`](Delegations::abandon) after
//!   every operation of [`Intent`]. While its permit stands, nothing is granted that contradicts it.
//! - [`Admit::Wait`]: wait for exactly one of [`Action::Resume`] (then call
//!   [`admit_again`](Delegations::admit_again)) and [`Action::GiveUp`] (answer NFS4ERR_DELAY). If the waiting call ends
//!   otherwise, say so by [`forget`](Delegations::forget).
//! - [`grant`](Delegations::grant) under the permit of an OPEN or WANT_DELEGATION, before its commit.
//! - After each call, take the [actions](Delegations::poll_action) until there is none, and call
//!   [`handle_timeout`](Delegations::handle_timeout) at [`poll_timeout`](Delegations::poll_timeout).
//! - Every [`CbId`] ends in one [`Event::CbDone`]; one that comes too late does nothing.

mod action;
mod check;
mod config;
mod deadlines;
mod faults;
mod getattr;
mod grant;
mod intent;
mod object;
mod opens;
mod permit;
mod policy;
mod questions;
mod recall;
mod recovery;
mod stateid;
#[cfg(test)]
mod tests;
mod wait;
mod wants;

pub use action::{Action, CbOutcome, Event, Stamp};
pub use check::Broken;
pub use config::Config;
pub use faults::{Fault, SEEDABLE};
pub use getattr::{AttrsFrom, Overlay, OwnAttrs, vet_time};
pub use grant::{Claim, FileType, Grant, Refusal, Want, Wanted};
pub use intent::{Effect, Intent, Need, Party, RULES, Row, Rule, Share};
pub use object::{Cause, DelegId, DelegRef, Kind, Triple};
pub use permit::Permit;
pub use questions::Listed;
pub use stateid::Covers;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{ClientKey, Now, Oid};
use deadlines::Timer;
use getattr::Question;
use object::{Clients, Held};
use opens::Opens;
use permit::Permits;
use policy::Quiet;
use recall::Cb;
use wait::Waiting;
use wants::Wants;

/// Names an operation that waits. Smaller is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitId(pub u64);

/// Names a callback. Not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CbId(pub u64);

/// The answer to [`Delegations::admit`].
#[derive(Debug)]
#[must_use = "a permit that is not given back stands for ever"]
pub enum Admit {
    /// Go on; give the permit back by [`commit`](Delegations::commit) or [`abandon`](Delegations::abandon).
    Permit(Permit),
    /// Somebody must return a delegation first: wait for [`Action::Resume`] or [`Action::GiveUp`].
    Wait(WaitId),
    /// Too many operations are running or waiting, or it has waited long enough: NFS4ERR_DELAY.
    Delay,
}

/// The delegations of one export.
#[derive(Debug)]
pub struct Delegations {
    config: Config,
    /// Most delegations now: the configured number, or less under pressure.
    budget: usize,
    permits: Permits,
    opens: Opens,
    held: Held,
    clients: Clients,
    grace: bool,
    waiting: BTreeMap<WaitId, Waiting>,
    waiting_on: BTreeSet<(Oid, WaitId)>,
    next_wait: u64,
    cbs: BTreeMap<CbId, Cb>,
    next_cb: u64,
    questions: BTreeMap<DelegId, Question>,
    wants: Wants,
    quiet: Quiet,
    timers: BTreeSet<(Now, Timer)>,
    /// Objects on which something ended in this step.
    dirty: BTreeSet<Oid>,
    actions: VecDeque<Action>,
    #[cfg(feature = "faults")]
    seeded: Option<Fault>,
}

impl Delegations {
    /// An empty machine.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            budget: config.delegations,
            permits: Permits::default(),
            opens: Opens::default(),
            held: Held::default(),
            clients: Clients::new(),
            grace: false,
            waiting: BTreeMap::new(),
            waiting_on: BTreeSet::new(),
            next_wait: 0,
            cbs: BTreeMap::new(),
            next_cb: 0,
            questions: BTreeMap::new(),
            wants: Wants::default(),
            quiet: Quiet::default(),
            timers: BTreeSet::new(),
            dirty: BTreeSet::new(),
            actions: VecDeque::new(),
            #[cfg(feature = "faults")]
            seeded: faults::of_this_run(),
        }
    }

    /// The operation was done, with these effects.
    pub fn commit(&mut self, now: Now, permit: Permit, effects: &[Effect]) {
        for effect in effects {
            self.apply(*effect);
        }
        self.end(permit);
        self.settle(now);
    }

    /// The operation was not done.
    pub fn abandon(&mut self, now: Now, permit: Permit) {
        self.end(permit);
        self.settle(now);
    }

    fn end(&mut self, permit: Permit) {
        if let Some(intent) = self.permits.end(permit) {
            self.dirty.extend(intent.touches().into_iter().flatten().map(|(oid, _)| oid));
        }
    }

    /// Something that needs no permit: a close.
    ///
    /// What this sets free is looked at in the next call that brings the time.
    pub fn effect(&mut self, effect: Effect) {
        self.apply(effect);
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Opened { oid, client, write } => self.opens.add(oid, client, write),
            Effect::Closed { oid, client, write } => {
                self.opens.remove(oid, client, write);
                if self.wants.any(oid) {
                    self.dirty.insert(oid);
                }
            }
            Effect::Changed { .. } | Effect::Entry { .. } => {}
        }
    }

    /// What is to be done, in order.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Permits that stand: the number of running operations that were admitted.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.permits.len()
    }

    /// Delegations, revoked ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.len() == 0
    }

    /// Delegations of one client, revoked ones too, and its wants: with any, DESTROY_CLIENTID is NFS4ERR_CLIENTID_BUSY
    /// (RFC 8881 §18.50.3).
    #[must_use]
    pub fn state_of(&self, client: ClientKey) -> (usize, usize) {
        (self.clients.get(&client).map_or(0, |c| c.held), self.wants.of(client))
    }

    /// Whether a client other than `client` has the object open.
    #[must_use]
    pub fn open_elsewhere(&self, oid: Oid, client: ClientKey) -> bool {
        self.opens.elsewhere(oid, client, false)
    }

    /// Whether a client other than `client` has the object open for writing, or denies reading.
    #[must_use]
    pub fn written_elsewhere(&self, oid: Oid, client: ClientKey) -> bool {
        self.opens.elsewhere(oid, client, true)
    }

    /// At the end of each step: whoever can go on is told, wants are met.
    fn settle(&mut self, now: Now) {
        let dirty = core::mem::take(&mut self.dirty);
        self.wake(&dirty);
        for oid in dirty {
            self.offer(now, oid);
        }
        self.signal();
    }
}
