//! The client's half: what may be served without the server, and what is owed before a delegation goes back.
//!
//! [`Holdings`] knows what may be *answered*; caches, and what is in them, are the client's. It is told what is asked
//! ([`may_serve`](Holdings::may_serve)), what goes out and comes in ([`sending`](Holdings::sending),
//! [`replied`](Holdings::replied)), what the server calls for ([`callback`](Holdings::callback)) and what else happened
//! ([`handle_event`](Holdings::handle_event)); it says what to do ([`poll_action`](Holdings::poll_action)).

mod actions;
mod authority;
mod facts;
mod holding;
mod keep;
mod local;
mod races;
mod recovery;

pub use actions::{ClientAction, ClientEvent, Step};
pub use facts::{
    Ace, Advice, CallId, CbAnswer, CbAttrs, CbKey, CbMask, CbOp, CbSequence, Copy, Facts, Grant, Kind, Lock,
    Opened, OwnOp, OwnReply, OwnerKey, Query, Serve, SpaceLimit, StepKey, Triple, WhyNot,
};

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;

use nfs4_proto::StateId;

use crate::{Millis, Now, Oid};
use holding::{File, Holding};
use races::{Calls, Parked, Surplus, Tombstone};
use recovery::Recovery;

/// Bounds and spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Most delegations held; beyond it the least recently used go back.
    pub holdings: usize,
    /// A delegation that nobody has open goes back when it has served nothing for so long.
    pub idle: Millis,
    /// Most opens of one file that the server does not know; beyond it the server is asked.
    pub opens: usize,
    /// Most locks of one file that the server does not know; beyond it the server is asked.
    pub locks: usize,
    /// Most callbacks that wait for a reply; beyond it NFS4ERR_DELAY.
    pub parked: usize,
    /// The lease (`lease_time`).
    pub lease: Millis,
    /// Nothing is served this long before the lease's end, for clocks that drift.
    pub margin: Millis,
    /// What a round trip is taken for until one was measured.
    pub round_trip: Millis,
    /// How long until a step that was answered NFS4ERR_DELAY or NFS4ERR_GRACE is tried again.
    pub retry: Millis,
    /// How often a DELEGRETURN that is refused for no known reason is tried.
    pub refusals: u32,
    /// Most stateids in one TEST_STATEID.
    pub batch: usize,
    /// How often the delegations are tested while the server keeps saying that state was lost.
    pub retest: Millis,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            holdings: 5_000,
            idle: Millis::from_secs(90),
            opens: 1_024,
            locks: 1_024,
            parked: 64,
            lease: Millis::from_secs(90),
            margin: Millis::from_secs(1),
            round_trip: Millis(500),
            retry: Millis(100),
            refusals: 10,
            batch: 64,
            retest: Millis::from_secs(5),
        }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Delegations that came.
    pub granted: u64,
    /// Upgrades and downgrades in place.
    pub changed: u64,
    /// Second delegations on one file: a server's mistake.
    pub duplicates: u64,
    /// Grants older than what was known.
    pub stale: u64,
    /// Recalled.
    pub recalled: u64,
    /// Went back.
    pub returned: u64,
    /// Lost.
    pub lost: u64,
    /// Callbacks that came before the reply that they refer to.
    pub raced: u64,
}

/// What is to happen later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// Give out steps again.
    Retry(Oid),
    /// Give out a surplus DELEGRETURN again.
    Surplus(StepKey),
    /// Answer a parked callback.
    Parked(CbKey),
    /// The back channel has been down too long for write delegations.
    PathDownWrite,
    /// … and for read delegations.
    PathDownRead,
    /// Test again.
    Retest,
}

/// The file delegations of one client ID at one server.
#[derive(Debug)]
pub struct Holdings {
    config: Config,
    files: BTreeMap<Oid, File>,
    /// Delegations that are held and not open, by their last use.
    idle: BTreeSet<(Now, Oid)>,
    held: usize,
    timers: BTreeSet<(Now, Timer)>,
    /// Where each step given out belongs.
    steps: BTreeMap<StepKey, Oid>,
    surplus: BTreeMap<StepKey, Surplus>,
    calls: Calls,
    parked: BTreeMap<CbKey, Parked>,
    tombstones: VecDeque<Tombstone>,
    /// Returns that wait for the replies of calls up to that one.
    awaiting: BTreeMap<Oid, u64>,
    recovery: Recovery,
    lease_end: Option<Now>,
    /// The average round trip, in eighths of a millisecond.
    round_trip: u64,
    actions: VecDeque<ClientAction>,
    counts: Counts,
    next_key: u64,
}

impl Holdings {
    /// Nothing held.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            files: BTreeMap::new(),
            idle: BTreeSet::new(),
            held: 0,
            timers: BTreeSet::new(),
            steps: BTreeMap::new(),
            surplus: BTreeMap::new(),
            calls: Calls::default(),
            parked: BTreeMap::new(),
            tombstones: VecDeque::new(),
            awaiting: BTreeMap::new(),
            recovery: Recovery::default(),
            lease_end: None,
            round_trip: config.round_trip.0.saturating_mul(8),
            actions: VecDeque::new(),
            counts: Counts::default(),
            next_key: 0,
        }
    }

    /// What happened.
    pub fn handle_event(&mut self, now: Now, event: ClientEvent) {
        match event {
            ClientEvent::Sequence { sent, flags } => self.sequence(now, sent, flags),
            ClientEvent::Flushed { oid, left } => {
                if let Some(hold) = self.hold_mut(oid) {
                    hold.dirty = left.min(hold.dirty);
                    if hold.dirty == 0 {
                        hold.dirty_end = 0;
                    }
                }
            }
            ClientEvent::SizeSet { oid } => {
                if let Some(hold) = self.hold_mut(oid) {
                    hold.truncate = None;
                }
            }
            ClientEvent::Times { oid, access, modify } => {
                if let Some(hold) = self.hold_mut(oid).filter(|h| h.times) {
                    hold.access = access.or(hold.access);
                    hold.modify = modify.filter(|_| hold.writes()).or(hold.modify);
                }
            }
            ClientEvent::StepDone { key, status } => self.step_done(now, key, status),
            ClientEvent::Tested { results } => self.tested(now, &results),
            ClientEvent::Freed { stateid } => self.freed(now, stateid),
            ClientEvent::Restarted => self.restarted(),
            ClientEvent::Reclaimed { oid, result } => self.reclaimed(now, oid, result),
            ClientEvent::AllLost => self.all_lost(false),
            ClientEvent::BackChannel { up } => self.back_channel(now, up, false),
            ClientEvent::Return { oid } => self.give_back_wholly(oid),
            ClientEvent::ReturnAll => {
                for oid in self.holders() {
                    self.give_back_wholly(oid);
                }
            }
        }
    }

    /// What to do next, in order.
    pub fn poll_action(&mut self) -> Option<ClientAction> {
        self.actions.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Now> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let idle = self.idle.first().map(|(used, _)| used.plus(self.config.idle));
        match (timer, idle) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Now) {
        while let Some((at, timer)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, timer));
            match timer {
                Timer::Retry(oid) => self.give_out_again(oid),
                Timer::Surplus(key) => self.surplus_again(key),
                Timer::Parked(key) => self.park_over(key),
                Timer::PathDownWrite => self.path_down(Some(Kind::Write)),
                Timer::PathDownRead => self.path_down(None),
                Timer::Retest => self.retest(now),
            }
        }
        self.return_idle(now);
    }

    /// The stateid to read with, and to write with where `write`: with seqid 0, so that an upgrade does not make it old
    /// (RFC 8881 §8.2.2). `None` where no delegation covers that. Usable while the delegation is on its way back, until
    /// DELEGRETURN is sent.
    #[must_use]
    pub fn stateid(&self, oid: Oid, write: bool) -> Option<StateId> {
        let hold = self.files.get(&oid)?.hold.as_ref()?;
        let usable = !hold.return_sent()
            && !matches!(hold.state, holding::State::Reclaiming { .. })
            && (!write || hold.writes());
        usable.then_some(StateId { seqid: 0, ..hold.stateid })
    }

    /// What is held on a file, and its newest stateid.
    #[must_use]
    pub fn held(&self, oid: Oid) -> Option<(Kind, StateId)> {
        self.files.get(&oid)?.hold.as_ref().map(|hold| (hold.kind, hold.stateid))
    }

    /// Delegations held, those on their way back too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn hold_mut(&mut self, oid: Oid) -> Option<&mut Holding> {
        self.files.get_mut(&oid)?.hold.as_mut()
    }

    fn holders(&self) -> alloc::vec::Vec<Oid> {
        self.files.iter().filter(|(_, file)| file.hold.is_some()).map(|(oid, _)| *oid).collect()
    }

    fn key(&mut self) -> u64 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }

    /// Enters a holding, or takes it out; keeps all indexes.
    fn set_hold(&mut self, oid: Oid, hold: Option<Holding>) -> Option<Holding> {
        let old = self.files.get_mut(&oid).and_then(|file| file.hold.take());
        if let Some(old) = &old {
            self.idle.remove(&(old.used, oid));
            self.held = self.held.saturating_sub(1);
        }
        if hold.is_some() {
            self.files.entry(oid).or_default().hold = hold;
            self.held = self.held.saturating_add(1);
        }
        self.settle(oid);
        old
    }

    /// After a change of a file's opens or its holding's state: the index of idle ones, and files of which nothing is
    /// known any more.
    fn settle(&mut self, oid: Oid) {
        let Some(file) = self.files.get(&oid) else { return };
        match &file.hold {
            Some(hold) if hold.held() && !file.locals.in_use() => {
                self.idle.insert((hold.used, oid));
            }
            Some(hold) => {
                self.idle.remove(&(hold.used, oid));
            }
            None if file.locals.is_empty() => {
                self.files.remove(&oid);
            }
            None => {}
        }
    }

    /// It served just now.
    fn touch(&mut self, now: Now, oid: Oid) {
        if let Some(hold) = self.files.get_mut(&oid).and_then(|file| file.hold.as_mut()) {
            self.idle.remove(&(hold.used, oid));
            hold.used = hold.used.max(now);
        }
        self.settle(oid);
    }

    /// Whether all that must hold does: for tests and for servers of tests.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        let mut held = 0_usize;
        let mut others = BTreeSet::new();
        for (oid, file) in &self.files {
            let idle = file.hold.as_ref().is_some_and(|h| h.held() && !file.locals.in_use());
            let used = file.hold.as_ref().map_or(Now::default(), |h| h.used);
            if idle != self.idle.contains(&(used, *oid)) {
                return Err(format!("{oid:?}: idle is {idle}, its index says otherwise"));
            }
            let Some(hold) = &file.hold else {
                if file.locals.is_empty() {
                    return Err(format!("{oid:?}: nothing is known, but it is kept"));
                }
                continue;
            };
            held = held.saturating_add(1);
            if hold.stateid.seqid == 0 {
                return Err(format!("{oid:?}: a delegation with seqid 0"));
            }
            if !others.insert(hold.stateid.other) {
                return Err(format!("{oid:?}: two delegations with one stateid"));
            }
            if self.calls.uses(hold.stateid.other) != hold.uses {
                return Err(format!("{oid:?}: operations under it are miscounted"));
            }
            if hold.held() && !hold.writes() {
                let write = |o: &local::OpenRecord| {
                    o.users > 0 && !o.open.on_server && (o.open.share.write || o.open.share.deny_read)
                };
                if hold.modified()
                    || file.locals.opens.iter().any(write)
                    || !file.locals.unreal_locks().is_empty()
                {
                    return Err(format!(
                        "{oid:?}: a read delegation with what only a write delegation covers"
                    ));
                }
            }
            if hold.return_sent() && hold.uses > 0 {
                return Err(format!("{oid:?}: returned with operations under it in flight"));
            }
            if hold.return_sent() && (hold.modified() || !file.locals.unreal_opens().is_empty()) {
                return Err(format!("{oid:?}: returned before what it covers was made real"));
            }
        }
        if held != self.held {
            return Err(format!("{held} delegations, counted as {}", self.held));
        }
        for (used, oid) in &self.idle {
            if self.files.get(oid).and_then(|f| f.hold.as_ref()).is_none_or(|h| h.used != *used) {
                return Err(format!("{oid:?}: idle, but not held"));
            }
        }
        if self.parked.len() > self.config.parked {
            return Err(String::from("too many callbacks wait"));
        }
        for (key, oid) in &self.steps {
            let known = self.files.get(oid).and_then(|f| f.hold.as_ref()).is_some_and(
                |h| matches!(&h.state, holding::State::Returning(r) if r.out.iter().any(|(k, _)| k == key)),
            );
            if !known {
                return Err(format!("{oid:?}: a step that is not its own"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
