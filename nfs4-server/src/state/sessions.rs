//! Sessions: which there are, and what each is bound to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, RwLock};

use nfs4_proto::{SessionId, Status};

use super::channels::Back;
use super::conns::Bound;
use super::slots::Slots;
use super::{
    CallbackCred, CallbackFate, CallbackTurn, ChannelAttrs, ChannelDir, Client, ConnId, State, ids, lock,
    read, write,
};

const SHARDS: usize = 16;

/// All sessions, by ID.
#[derive(Debug, Default)]
pub(super) struct Sessions([RwLock<HashMap<SessionId, Arc<Session>>>; SHARDS]);

impl Sessions {
    fn shard(&self, id: &SessionId) -> Option<&RwLock<HashMap<SessionId, Arc<Session>>>> {
        self.0.get(ids::shard(id, SHARDS))
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.shard(id).and_then(|shard| read(shard).get(id).cloned())
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|shard| read(shard).len()).sum()
    }

    pub(super) fn insert(&self, session: Arc<Session>) {
        if let Some(shard) = self.shard(&session.id) {
            write(shard).insert(session.id, session);
        }
    }

    pub(super) fn remove(&self, id: &SessionId) {
        if let Some(shard) = self.shard(id) {
            write(shard).remove(id);
        }
    }
}

/// A request that waits, counted until this is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Waiting<'a>(&'a Session);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Set in `Session::running` when the session is closed; the rest counts requests in progress.
const CLOSED: u32 = 1 << 31;

/// One session.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    client: Arc<Client>,
    minor: u32,
    fore: ChannelAttrs,
    back: Back,
    pub(super) slots: Slots,
    running: AtomicU32,
    /// Requests that wait for others.
    waiting: AtomicU32,
    /// Its connections. Locked before [`super::conns::Conns`].
    pub(super) bound: RwLock<Vec<Bound>>,
    /// It was given a back channel once.
    back_wanted: AtomicBool,
    /// A connection carries its back channel, and no probe of it has failed.
    back_up: AtomicBool,
    /// A probe or callback was answered.
    back_proven: AtomicBool,
    /// It was asked at the first request that depends on it.
    back_asked: AtomicBool,
    /// The last probe or callback got no answer.
    back_failed: AtomicBool,
    /// The back channel's slots can no longer be trusted.
    back_fault: AtomicBool,
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        client: Arc<Client>,
        minor: u32,
        fore: ChannelAttrs,
        back: Back,
        slots: Slots,
    ) -> Self {
        Self {
            id,
            client,
            minor,
            fore,
            back,
            slots,
            running: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            bound: RwLock::default(),
            back_wanted: AtomicBool::new(false),
            back_up: AtomicBool::new(false),
            back_proven: AtomicBool::new(false),
            back_asked: AtomicBool::new(false),
            back_failed: AtomicBool::new(false),
            back_fault: AtomicBool::new(false),
        }
    }

    /// Its ID.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its client.
    #[must_use]
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// The minor version that created it: callbacks use the same.
    #[must_use]
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// Attributes of the fore channel, as granted.
    #[must_use]
    pub fn fore(&self) -> &ChannelAttrs {
        &self.fore
    }

    /// Attributes of the back channel, as granted.
    #[must_use]
    pub fn back(&self) -> &ChannelAttrs {
        &self.back.attrs
    }

    /// Counts a request in; false where the session is closed.
    pub(super) fn enter(&self) -> bool {
        self.running
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n & CLOSED == 0).then_some(n + 1))
            .is_ok()
    }

    pub(super) fn leave(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a request is in progress.
    pub(super) fn busy(&self) -> bool {
        self.running.load(Ordering::SeqCst) & !CLOSED != 0
    }

    /// Leave to wait for others. At most half of the slots do: the rest are for what ends the waiting. Else
    /// NFS4ERR_DELAY.
    pub(crate) fn wait(&self) -> Result<Waiting<'_>, Status> {
        let most = self.slots.highest().0.saturating_add(1) / 2;
        if self.waiting.fetch_add(1, Ordering::Relaxed) < most {
            return Ok(Waiting(self));
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Err(Status::Delay)
    }

    /// The reply to the request on this slot brings a delegation.
    pub(crate) fn grants(&self, slot: u32) {
        if let Some(slot) = self.slots.at(slot) {
            lock(slot).granted = true;
        }
    }

    /// Lets no further request in.
    pub(super) fn close(&self) {
        self.running.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// Closes unless more than `own` requests are in progress.
    fn close_if(&self, own: u32) -> bool {
        self.running.compare_exchange(own, own | CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn is_bound(&self, conn: ConnId) -> bool {
        read(&self.bound).iter().any(|b| b.conn == conn)
    }

    /// Recomputes whether the back channel works, with the bindings locked for writing.
    pub(super) fn back_changed(&self, bound: &[Bound]) {
        let has = bound.iter().any(|b| b.back);
        if has {
            self.back_wanted.store(true, Ordering::Relaxed);
            self.client.back_wanted.store(true, Ordering::Relaxed);
        }
        let up = has && !self.back_failed.load(Ordering::Relaxed);
        match (self.back_up.swap(up, Ordering::Relaxed), up) {
            (false, true) => self.client.backs.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.client.backs.fetch_sub(1, Ordering::Relaxed),
            (true, true) | (false, false) => 0,
        };
    }

    /// Whether the back channel was found to work, and has not failed since.
    #[must_use]
    pub fn back_proven(&self) -> bool {
        self.back_up() && self.back_proven.load(Ordering::Relaxed)
    }

    /// Whether the back channel is to be asked whether it works: there is one, of which nothing is known, and this is the
    /// first time that it matters.
    pub(crate) fn first_question(&self) -> bool {
        self.back_up() && !self.back_asked.swap(true, Ordering::Relaxed)
    }

    /// Whether a connection carries the back channel and the last probe or callback on it did not fail.
    #[must_use]
    pub fn back_up(&self) -> bool {
        self.back_up.load(Ordering::Relaxed)
    }

    pub(super) fn back_down(&self) -> bool {
        self.back_wanted.load(Ordering::Relaxed) && !self.back_up()
    }

    pub(super) fn back_usable(&self) -> bool {
        self.back.usable()
    }

    pub(super) fn back_faulty(&self) -> bool {
        self.back_fault.load(Ordering::Relaxed)
    }

    /// Connections that carry the back channel, the newest last.
    #[must_use]
    pub fn back_connections(&self) -> Vec<ConnId> {
        read(&self.bound).iter().filter(|b| b.back).map(|b| b.conn).collect()
    }

    /// What came of a probe (CB_NULL) or callback: sets and clears `SEQ4_STATUS_CB_PATH_DOWN(_SESSION)`.
    pub fn probed(&self, works: bool) {
        let bound = write(&self.bound);
        self.back_proven.store(works, Ordering::Relaxed);
        self.back_failed.store(!works, Ordering::Relaxed);
        self.back_changed(&bound);
    }

    /// The client and we do not agree on a callback slot: only a new session helps. RFC 8881 §18.46.3.
    pub fn back_channel_fault(&self) {
        self.back_fault.store(true, Ordering::Relaxed);
    }

    /// `csa_cb_program` and a credential of `csa_sec_parms` for the next callback.
    #[must_use]
    pub fn callback(&self) -> Option<(u32, CallbackCred)> {
        self.back.how()
    }

    /// A free callback slot; none where all are in use.
    #[must_use]
    pub fn callback_turn(&self) -> Option<CallbackTurn> {
        self.back.take()
    }

    /// A slot whose last callback was lost, to be settled by a CB_SEQUENCE of its own.
    #[must_use]
    pub fn callback_lost_turn(&self) -> Option<CallbackTurn> {
        self.back.take_lost()
    }

    /// Ends a turn.
    pub fn callback_done(&self, turn: CallbackTurn, fate: CallbackFate) {
        self.back.put(turn, fate);
    }

    /// Waits until a callback slot may have come free.
    pub async fn callback_freed(&self) {
        self.back.freed.notified().await;
    }

    /// BACKCHANNEL_CTL: program and credential for later calls. NFS4ERR_NOENT where all credentials are GSS contexts,
    /// as we have none. RFC 8881 §18.33.3.
    pub fn backchannel_ctl(&self, program: u32, creds: Vec<CallbackCred>) -> Result<(), Status> {
        self.back.control(program, super::channels::usable(creds)?);
        Ok(())
    }
}

impl State {
    /// A session.
    #[must_use]
    pub fn session(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id)
    }

    /// Binds the connection to the fore channel, unless it is bound already: SEQUENCE alone does that where state is
    /// not protected. Never to the back channel. RFC 8881 §18.34.3.
    pub(super) fn bind_implicitly(&self, session: &Session, conn: ConnId) {
        if session.is_bound(conn) {
            return;
        }
        let mut bound = write(&session.bound);
        if session.is_open() && !bound.iter().any(|b| b.conn == conn) && self.conns.add(conn, session.id) {
            bound.push(Bound { conn, fore: true, back: false, fore_only: false });
        }
    }

    /// Binds the connection of a CREATE_SESSION; true where it carries the back channel now.
    pub(super) fn bind_creator(&self, session: &Session, conn: ConnId, back: bool) -> bool {
        let mut bound = write(&session.bound);
        let known = self.conns.add(conn, session.id);
        if known {
            bound.push(Bound { conn, fore: true, back, fore_only: false });
            session.back_changed(&bound);
        }
        known && back
    }

    /// BIND_CONN_TO_SESSION. RFC 8881 §18.34.3.
    ///
    /// Asking for what the connection has is OK. A connection that came to the fore channel by SEQUENCE or
    /// CREATE_SESSION may be given the back channel too by the `_OR_BOTH` forms: no choice of the client's is changed by
    /// that, and it is how clients repair a lost back channel. Any other change is NFS4ERR_INVAL.
    pub fn bind_conn_to_session(
        &self,
        conn: ConnId,
        id: &SessionId,
        dir: ChannelDir,
    ) -> Result<ChannelDir, Status> {
        let session = self.sessions.get(id).ok_or(Status::BadSession)?;
        let can = session.back.usable();
        let (fore, back) = match dir {
            ChannelDir::Fore => (true, false),
            ChannelDir::Back => (false, true),
            ChannelDir::ForeOrBoth => (true, can),
            ChannelDir::BackOrBoth => (true, true),
        };
        if back && !can {
            return Err(Status::Inval);
        }
        let either = matches!(dir, ChannelDir::ForeOrBoth | ChannelDir::BackOrBoth);
        let mut bound = write(&session.bound);
        if !session.is_open() {
            return Err(Status::BadSession);
        }
        if let Some(b) = bound.iter_mut().find(|b| b.conn == conn) {
            let fits = (b.fore, b.back) == (fore, back)
                || (dir == ChannelDir::ForeOrBoth && b.fore)
                || (dir == ChannelDir::BackOrBoth && (b.back || !b.fore_only));
            if !fits {
                return Err(Status::Inval);
            }
            if either && b.fore && back && !b.fore_only {
                b.back = true;
            }
            if dir == ChannelDir::Fore {
                b.fore_only = true;
            }
        } else {
            if !self.conns.add(conn, session.id) {
                // It is closing; nobody will read the answer.
                return Err(Status::BadSession);
            }
            bound.push(Bound { conn, fore, back, fore_only: dir == ChannelDir::Fore });
        }
        let now = bound.iter().find(|b| b.conn == conn).map_or((fore, back), |b| (b.fore, b.back));
        if now.1 {
            // A new path: the old failure says nothing about it.
            session.back_failed.store(false, Ordering::Relaxed);
        }
        session.back_changed(&bound);
        Ok(match now {
            (true, true) => ChannelDir::ForeOrBoth,
            (false, true) => ChannelDir::Back,
            (true | false, false) => ChannelDir::Fore,
        })
    }

    /// DESTROY_SESSION. `own`: the session of the compound that it is in. The client's state and lease stay.
    /// RFC 8881 §18.37.3.
    ///
    /// NFS4ERR_BADSESSION; NFS4ERR_CONN_NOT_BOUND_TO_SESSION where the connection is not the session's;
    /// NFS4ERR_DELAY while another request is in progress on it.
    pub fn destroy_session(
        &self,
        conn: ConnId,
        id: &SessionId,
        own: Option<&SessionId>,
    ) -> Result<(), Status> {
        let session = self.sessions.get(id).ok_or(Status::BadSession)?;
        if !session.is_bound(conn) {
            return Err(Status::ConnNotBoundToSession);
        }
        let mut table = lock(&self.clients);
        if !session.close_if(u32::from(own == Some(id))) {
            return Err(if session.is_open() { Status::Delay } else { Status::BadSession });
        }
        if let Some(entry) = table.entry_mut(session.client.id) {
            entry.sessions.retain(|s| s.id != *id);
        }
        drop(table);
        self.remove_session(&session);
        Ok(())
    }
}

impl Session {
    fn is_open(&self) -> bool {
        self.running.load(Ordering::SeqCst) & CLOSED == 0
    }
}
