//! One export's machine, behind its mutex.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nfs4_deleg::server::{
    Action, Admit, AttrsFrom, CbId, CbOutcome, Config, Covers, DelegId, DelegRef, Delegations, Effect, Event,
    Grant, Intent, Listed, OwnAttrs, Party, Permit, Refusal, WaitId, Want,
};
use nfs4_deleg::{ClientKey, Now, Oid};
use nfs4_proto::{StateId, Status};
use tokio::sync::{Notify, oneshot};

use super::held::{AllHeld, Ended};
use super::{Go, Held, Parked, Times, name};
use crate::backend::Opened;
use crate::core::now_since;

/// Makes the machines of a server's exports.
#[derive(Debug)]
pub(crate) struct Machines {
    epoch: u32,
    started: Instant,
    wake: Arc<Notify>,
    next: AtomicU32,
}

impl Machines {
    /// For one boot; `started` is where its time begins.
    #[must_use]
    pub(crate) fn new(epoch: u32, started: Instant) -> Self {
        Self { epoch, started, wake: Arc::default(), next: AtomicU32::new(0) }
    }

    /// Where its time begins.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// A machine of its own; none where 256 were made: stateids cannot name more.
    pub(crate) fn make(&self, config: Config) -> Option<Arc<Machine>> {
        let number = u8::try_from(self.next.fetch_add(1, Ordering::Relaxed)).ok()?;
        Some(Arc::new(Machine {
            number,
            epoch: self.epoch,
            started: self.started,
            wake: Arc::clone(&self.wake),
            floors: AtomicUsize::new(0),
            inner: Mutex::new(Inner {
                machine: Delegations::new(config),
                waiting: HashMap::new(),
                todo: VecDeque::new(),
                writing: false,
                held: AllHeld::default(),
                floors: HashMap::new(),
                deadline: None,
            }),
        }))
    }

    /// Something is to be carried out, or is due earlier.
    pub(super) async fn woken(&self) {
        self.wake.notified().await;
    }
}

/// The machine of an export, who waits for it, and what is to be done.
pub(crate) struct Machine {
    number: u8,
    epoch: u32,
    started: Instant,
    wake: Arc<Notify>,
    /// How many change numbers others were told that the backend does not know yet.
    floors: AtomicUsize,
    inner: Mutex<Inner>,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Machine({})", self.number)
    }
}

struct Inner {
    machine: Delegations,
    waiting: HashMap<WaitId, oneshot::Sender<Go>>,
    /// What [`carry_out`](super::carry_out) is to do, in order.
    todo: VecDeque<(Action, Option<Box<[u8]>>)>,
    /// A revocation is being written down: whoever may go on because of it goes on after that.
    writing: bool,
    held: AllHeld,
    floors: HashMap<Oid, u64>,
    /// When the machine wants to be looked at next, as the task that does so knows it.
    deadline: Option<Now>,
}

/// The answer to a request to begin.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Go on.
    Permit(Permit),
    /// Wait for this.
    Wait(Parked),
    /// NFS4ERR_DELAY.
    Delay,
}

/// Where the attributes of a file come from.
#[derive(Debug)]
pub(crate) enum Look {
    /// Where the machine says.
    From(AttrsFrom),
    /// Wait for this.
    Wait(Parked),
}

impl Inner {
    /// Takes what the machine wants: whoever waits is told at once, the rest is for the task. To be called before what
    /// is kept for a delegation that ended is thrown away: its handle may be needed.
    fn drain(&mut self, now: Now) {
        while let Some(action) = self.machine.poll_action() {
            let handle = match action {
                Action::Resume(id) if !self.writing => {
                    self.tell(id, Go::On);
                    continue;
                }
                Action::GiveUp(id) => {
                    self.tell(id, Go::Away);
                    continue;
                }
                Action::Advance { id, oid, change } => {
                    let floor = self.floors.entry(oid).or_default();
                    *floor = change.max(*floor);
                    self.held.handle(id)
                }
                Action::Recall { deleg, .. } => {
                    self.held.recalled(deleg.id, now);
                    self.held.handle(deleg.id)
                }
                Action::Push { oid, grant, .. } => {
                    let handle = self.held.promised(oid);
                    if let Some(handle) = handle.clone() {
                        self.held.insert(grant.deleg.id, Held { handle, opened: None, times: None });
                    }
                    handle
                }
                Action::GetAttr { client, oid, .. } => {
                    let held = self.machine.held_by(client, oid);
                    held.and_then(|held| self.held.handle(held.deleg.id))
                }
                Action::Revoked { .. } => {
                    self.writing = true;
                    None
                }
                Action::Resume(_)
                | Action::RecallAny { .. }
                | Action::Available { .. }
                | Action::WantsCancelled { .. } => None,
            };
            self.todo.push_back((action, handle));
        }
    }

    /// A delegation ended: what was kept for it, to be dropped outside of the lock.
    fn end(&mut self, id: DelegId, now: Now) -> Ended {
        self.drain(now);
        self.held.remove(id)
    }

    fn tell(&mut self, id: WaitId, go: Go) {
        if let Some(waiting) = self.waiting.remove(&id) {
            // Where nobody listens any more, the place is given up as it is dropped.
            let _ = waiting.send(go);
        }
    }
}

impl Machine {
    /// Its number in stateids.
    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    fn now(&self) -> Now {
        now_since(self.started)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One step of the machine, and what comes of it.
    fn step<R>(&self, step: impl FnOnce(&mut Inner, Now) -> R) -> R {
        let now = self.now();
        let mut inner = self.lock();
        let result = step(&mut inner, now);
        inner.drain(now);
        self.floors.store(inner.floors.len(), Ordering::Relaxed);
        let next = inner.machine.poll_timeout();
        let sooner = next.is_some_and(|next| inner.deadline.is_none_or(|known| next < known));
        if sooner {
            inner.deadline = next;
        }
        let wake = sooner || !inner.todo.is_empty();
        drop(inner);
        if wake {
            self.wake.notify_one();
        }
        result
    }

    fn asked(self: &Arc<Self>, inner: &mut Inner, admit: Admit) -> Asked {
        match admit {
            Admit::Permit(permit) => Asked::Permit(permit),
            Admit::Wait(id) => Asked::Wait(self.park(inner, id)),
            Admit::Delay => Asked::Delay,
        }
    }

    fn look(self: &Arc<Self>, inner: &mut Inner, from: AttrsFrom) -> Look {
        match from {
            AttrsFrom::Ask(id) => Look::Wait(self.park(inner, id)),
            AttrsFrom::Backend | AttrsFrom::Overlay(_) | AttrsFrom::Delay => Look::From(from),
        }
    }

    fn park(self: &Arc<Self>, inner: &mut Inner, id: WaitId) -> Parked {
        let (tell, told) = oneshot::channel();
        inner.waiting.insert(id, tell);
        Parked::new(Arc::clone(self), id, told)
    }

    /// Asks to begin an operation.
    pub(crate) fn admit(self: &Arc<Self>, party: Party, intent: &Intent) -> Asked {
        self.step(|inner, now| {
            let admit = inner.machine.admit(now, party, intent);
            self.asked(inner, admit)
        })
    }

    /// The same, for one that was told to go on.
    pub(crate) fn admit_again(self: &Arc<Self>, id: WaitId) -> Asked {
        self.step(|inner, now| {
            let admit = inner.machine.admit_again(now, id);
            self.asked(inner, admit)
        })
    }

    /// Clients whose delegations an operation would have to wait for.
    pub(crate) fn in_the_way(&self, party: Party, intent: &Intent) -> Vec<ClientKey> {
        self.lock().machine.in_the_way(party, intent)
    }

    pub(super) fn forget(&self, id: WaitId) {
        self.step(|inner, now| {
            inner.waiting.remove(&id);
            inner.machine.forget(now, id);
        });
    }

    /// The operation was done.
    pub(crate) fn commit(&self, permit: Permit, effects: &[Effect]) {
        self.step(|inner, now| inner.machine.commit(now, permit, effects));
    }

    /// It was not.
    pub(crate) fn abandon(&self, permit: Permit) {
        self.step(|inner, now| inner.machine.abandon(now, permit));
    }

    /// Gives a delegation, or says why not. What is held for it stays as it was where only its kind changed.
    pub(crate) fn grant(&self, permit: &Permit, want: &Want, held: Held) -> Result<Grant, Refusal> {
        self.step(|inner, now| {
            let answer = inner.machine.grant(now, permit, want);
            match &answer {
                Ok(grant) if grant.changed => {}
                Ok(grant) => inner.held.insert(grant.deleg.id, held),
                Err(Refusal::Contention { will_push: true } | Refusal::Resource { will_signal: true }) => {
                    let machine = &inner.machine;
                    inner.held.promise(want.oid, held.handle, machine.wants(), |oid| machine.concerns(oid));
                }
                Err(_) => {}
            }
            answer
        })
    }

    /// Something that needs no permit.
    pub(crate) fn effect(&self, effect: Effect) {
        self.step(|inner, now| {
            inner.machine.effect(effect);
            // What this sets free is looked at when time is told.
            inner.machine.handle_timeout(now);
        });
    }

    /// Something happened to a client, or to all of them.
    pub(crate) fn event(&self, event: Event) {
        self.step(|inner, now| inner.machine.handle_event(now, event));
    }

    /// A client may be given delegations, or not: whether it can be called back.
    pub(crate) fn know(&self, client: ClientKey, back_channel: bool) {
        self.step(|inner, now| {
            inner.machine.handle_event(now, Event::Client(client));
            inner.machine.handle_event(now, Event::BackChannel { client, up: back_channel });
        });
    }

    /// A client is gone, with all that it held.
    pub(crate) fn gone(&self, client: ClientKey) {
        let ended: Vec<_> = self.step(|inner, now| {
            let ids: Vec<DelegId> = inner.machine.of(client).map(|held| held.deleg.id).collect();
            inner.machine.handle_event(now, Event::Gone(client));
            ids.into_iter().map(|id| inner.end(id, now)).collect()
        });
        drop(ended);
    }

    /// A callback ended. `about`: the delegation that its end may end.
    pub(crate) fn called(&self, cb: CbId, about: Option<DelegId>, outcome: CbOutcome) {
        let ended = self.step(|inner, now| {
            inner.machine.handle_event(now, Event::CbDone { cb, outcome });
            about.filter(|id| !inner.machine.knows(*id)).map(|id| inner.end(id, now))
        });
        drop(ended);
    }

    /// Where the attributes of a file come from.
    pub(crate) fn attrs_of(self: &Arc<Self>, party: Party, oid: Oid) -> Look {
        self.step(|inner, now| {
            let from = inner.machine.attrs_of(now, party, oid);
            self.look(inner, from)
        })
    }

    /// The same, for one that was told to go on; `own` is what the file has now.
    pub(crate) fn attrs_again(self: &Arc<Self>, id: WaitId, own: OwnAttrs) -> Look {
        self.step(|inner, now| {
            let from = inner.machine.attrs_again(now, id, own);
            self.look(inner, from)
        })
    }

    /// Whether a client other than this may be writing something of the export where nobody sees it.
    pub(crate) fn others_write(&self, client: ClientKey) -> bool {
        self.floors.load(Ordering::Relaxed) > 0 || self.lock().machine.others_write(client)
    }

    /// What a file's change number must not be below.
    pub(crate) fn floor(&self, oid: Oid) -> u64 {
        if self.floors.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        self.lock().floors.get(&oid).copied().unwrap_or(0)
    }

    /// The backend knows it now.
    pub(super) fn advanced(&self, oid: Oid, change: u64) {
        self.step(|inner, _| {
            if inner.floors.get(&oid).is_some_and(|floor| *floor <= change) {
                inner.floors.remove(&oid);
            }
        });
    }

    /// What a delegation's stateid covers, for READ, or with `write` for WRITE and SETATTR of the size.
    pub(crate) fn check(
        &self,
        client: ClientKey,
        deleg: DelegRef,
        oid: Oid,
        write: bool,
    ) -> Result<Covers, Status> {
        self.lock().machine.check(client, deleg, oid, write)
    }

    /// The file that is open for a delegation.
    pub(crate) fn opened(&self, id: DelegId) -> Option<Opened> {
        self.lock().held.opened(id)
    }

    /// The times of a delegation's file, as its holder's are measured.
    pub(crate) fn times(&self, id: DelegId) -> Option<Times> {
        self.lock().held.times(id)
    }

    /// The holder set them.
    pub(crate) fn set_times(&self, id: DelegId, times: Times) {
        self.lock().held.set_times(id, times);
    }

    /// The times of a file that somebody holds for writing.
    pub(crate) fn times_of_writer(&self, oid: Oid) -> Option<Times> {
        let inner = self.lock();
        inner.held.times(inner.machine.writer_of(oid)?)
    }

    /// Keeps a file open for a delegation.
    pub(crate) fn keep_open(&self, id: DelegId, opened: Opened) {
        let closed = self.lock().held.keep_open(id, opened);
        drop(closed);
    }

    /// DELEGRETURN. When it was called back, if it was.
    pub(crate) fn give_back(
        &self,
        client: ClientKey,
        oid: Oid,
        deleg: DelegRef,
    ) -> Result<Option<Now>, Status> {
        let (recalled, open, opened) = self.step(|inner, now| {
            inner.machine.give_back(now, client, oid, deleg)?;
            Ok::<_, Status>(inner.end(deleg.id, now))
        })?;
        drop((open, opened));
        Ok(recalled)
    }

    /// FREE_STATEID.
    pub(crate) fn free(&self, client: ClientKey, deleg: DelegRef) -> Result<(), Status> {
        let ended = self.step(|inner, now| {
            inner.machine.free(now, client, deleg.id)?;
            Ok::<_, Status>(inner.end(deleg.id, now))
        })?;
        drop(ended);
        Ok(())
    }

    /// TEST_STATEID.
    pub(crate) fn test(&self, client: ClientKey, deleg: DelegRef) -> Result<(), Status> {
        self.lock().machine.test(client, deleg)
    }

    /// Whether the client has a want on the file already.
    pub(crate) fn already_wanted(&self, client: ClientKey, oid: Oid) -> bool {
        self.lock().machine.already_wanted(client, oid)
    }

    /// What SEQUENCE says of revoked delegations.
    pub(crate) fn flags(&self, client: ClientKey) -> u32 {
        self.lock().machine.flags(client).bits()
    }

    /// Whether a client has delegations or wants.
    pub(crate) fn client_has_state(&self, client: ClientKey) -> bool {
        self.lock().machine.state_of(client) != (0, 0)
    }

    /// Whether somebody waits for the client.
    pub(crate) fn is_waited_for(&self, client: ClientKey) -> bool {
        self.lock().machine.is_waited_for(client)
    }

    /// All delegations, by name.
    pub(crate) fn rows(&self) -> Vec<(StateId, Listed)> {
        let inner = self.lock();
        inner.machine.iter().map(|held| (name::stateid(self.number, held.deleg, self.epoch), held)).collect()
    }

    /// Delegations of both kinds, wants, and who waits.
    pub(crate) fn used(&self) -> (usize, usize, usize) {
        let inner = self.lock();
        debug_assert_eq!(
            inner.held.len(),
            inner.machine.len(),
            "what is kept for delegations ends with them"
        );
        (inner.machine.len(), inner.machine.wants(), inner.machine.waiting())
    }

    /// Its stateid.
    pub(crate) fn stateid(&self, deleg: DelegRef) -> StateId {
        name::stateid(self.number, deleg, self.epoch)
    }

    /// When something happens by itself next.
    pub(super) fn deadline(&self) -> Option<Now> {
        let mut inner = self.lock();
        inner.deadline = inner.machine.poll_timeout();
        inner.deadline
    }

    /// Lets happen what is due.
    pub(super) fn turn(&self) {
        self.step(|inner, now| {
            if inner.machine.poll_timeout().is_some_and(|at| at <= now) {
                inner.machine.handle_timeout(now);
            }
        });
    }

    /// What is to be done next, with the handle of the file that it is about.
    pub(super) fn next(&self) -> Option<(Action, Option<Box<[u8]>>)> {
        let mut inner = self.lock();
        let next = inner.todo.pop_front();
        if next.is_none() {
            inner.writing = false;
        }
        next
    }

    /// Whoever waited for what has now been done.
    pub(super) fn resume(&self, id: WaitId) {
        self.lock().tell(id, Go::On);
    }

    /// A revocation is on record; what its client held open for it is closed.
    pub(super) fn revoked(&self, id: DelegId) {
        let closed = self.lock().held.close(id);
        drop(closed);
    }

    /// Everybody who waits goes away: the export is no more.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        let ids: Vec<WaitId> = inner.waiting.keys().copied().collect();
        for id in ids {
            inner.tell(id, Go::Away);
        }
    }
}
