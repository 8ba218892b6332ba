//! Clients, sessions, slots, leases, grace: what the server knows about its clients.
//!
//! Nothing here waits or looks at a clock: time is an argument ([`Now`], monotonic, so that a jump of the wall clock
//! moves no lease), and the only future is that of a retry that waits for the request it repeats.
//!
//! Calls that may write a record, and so wait for the medium, say so; where [`State::durable`] is true they belong on a
//! thread that may block.
//!
//! Lock order: clients → client → file shard → delegations → slot. The client table's lock is held while
//! [`StateHolder::client_has_state`] is called; none is held while [`StateHolder::drop_client`] is.

mod channels;
mod client;
mod clients;
mod conns;
mod copies;
mod create;
mod exchange;
mod files;
mod grace;
mod holdings;
mod ids;
mod leases;
mod lock_waits;
mod locks;
mod opens;
mod ranges;
mod records;
mod revoked;
mod rows;
mod sequence;
mod sessions;
mod slots;
mod stateids;
mod waiters;

pub use channels::{CallbackCred, CallbackFate, CallbackTurn, ChannelAttrs, ChannelDir};
pub use client::{Client, Principal, seq4};
pub use conns::ConnId;
pub use copies::{Copies, Progress};
pub use create::{CreateSession, CreatedSession, create_flags};
pub use exchange::{ExchangeId, ExchangedId, Protect, exchgid};
pub use files::{Files, ObjectKey, Shares};
pub use ids::Ids;
pub use leases::Expired;
pub use lock_waits::{LockCall, Wait};
pub use locks::{Denied, LockAnswer, LockAsk, LockFor};
pub use nfs4_deleg::{Millis, Now};
pub use opens::{Closed, Committed, Downgraded, Reserve, Reserved};
pub use ranges::{Lock, LockSet, Range};
pub use records::{FileRecords, MemRecords, Record, Records, StateDir, StateDirError};
pub(crate) use rows::{client_text, hex};
pub use sequence::{Reply, Sequence, SequenceOk, SlotGuard, Turn};
pub use sessions::Session;
pub(crate) use sessions::Waiting;
pub(crate) use stateids::{pack, unpack};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use arc_swap::ArcSwap;
use nfs4_proto::ClientId;

use crate::config::Limits;

/// The server's identity: `so_major_id` and `server_scope`. Random, never a host name or an address: two servers with
/// equal ones look like one to a client, which then trunks them. RFC 8881 §2.10.4, §2.10.5.
pub type ServerIdentity = [u8; 16];

/// Slots that a session starts with, where the client asks for as many.
pub const SLOTS_START: u32 = 64;

/// What the state is run with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The lease.
    pub lease: Millis,
    /// Most time of grace; zero: none.
    pub grace: Millis,
    /// Who this server is.
    pub identity: ServerIdentity,
    /// Client records. At the limit: NFS4ERR_DELAY, after the oldest client with an expired lease has gone.
    pub clients: usize,
    /// Sessions of one client. At the limit: NFS4ERR_NOSPC.
    pub sessions_per_client: usize,
    /// Slots at the start; fewer where the client asks for fewer.
    pub slots_start: u32,
    /// Slots at most.
    pub slots_most: u32,
    /// Operations of one compound.
    pub operations: u32,
    /// Bytes of a request or reply.
    pub record_bytes: u32,
    /// Bytes of a reply that is kept.
    pub reply_cached_bytes: u32,
}

impl Settings {
    /// From the configuration; `lease` and `grace` in seconds.
    #[must_use]
    pub fn new(limits: &Limits, lease: u32, grace: u32, identity: ServerIdentity) -> Self {
        Self {
            lease: Millis::from_secs(lease.into()),
            grace: Millis::from_secs(grace.into()),
            identity,
            clients: limits.clients as usize,
            sessions_per_client: limits.sessions_per_client as usize,
            slots_start: SLOTS_START.min(limits.slots_per_session),
            slots_most: limits.slots_per_session,
            operations: limits.operations,
            record_bytes: limits.record_bytes,
            reply_cached_bytes: limits.reply_cached_bytes,
        }
    }
}

/// Why a client's state goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A new incarnation of the client was confirmed. RFC 8881 §18.35.4 case 5.
    Restarted,
    /// Another client took the name, and there was nothing that its lease protected. §18.35.4 case 3.
    Replaced,
    /// DESTROY_CLIENTID.
    Destroyed,
    /// The lease ran out, and somebody needed what it held, or it held nothing. §8.4.3.
    Expired,
    /// An administrator wanted it.
    Evicted,
}

/// Who keeps opens, locks and delegations.
pub trait StateHolder: Send + Sync {
    /// Whether the client holds any open, lock or delegation. Called with the client table locked.
    fn client_has_state(&self, client: ClientId) -> bool;
    /// Frees all of it. The client ID is gone already: [`Client::is_gone`] is true for compounds that still run.
    fn drop_client(&self, client: ClientId, why: Why);
}

/// Clients, sessions, leases and grace of one server.
pub struct State {
    settings: ArcSwap<Settings>,
    ids: Ids,
    clients: Mutex<clients::Table>,
    sessions: sessions::Sessions,
    conns: conns::Conns,
    grace: grace::Grace,
    records: Box<dyn Records>,
    holder: Arc<dyn StateHolder>,
}

impl State {
    /// The state of a new boot. `seed` must be random. Grace begins now if clients are on record; those that may not
    /// reclaim are forgotten before this returns (RFC 8881 §8.4.3). Fails where the records cannot be written.
    pub fn new(
        now: Now,
        settings: Settings,
        seed: u64,
        records: Box<dyn Records>,
        holder: Arc<dyn StateHolder>,
    ) -> std::io::Result<Self> {
        let (grace, forgotten) = grace::Grace::new(now, settings.grace, records.load());
        if !forgotten.is_empty() {
            records.forget(&forgotten)?;
        }
        Ok(Self {
            settings: ArcSwap::from_pointee(settings),
            ids: Ids::new(records.epoch(), seed),
            clients: Mutex::default(),
            sessions: sessions::Sessions::default(),
            conns: conns::Conns::default(),
            grace,
            records,
            holder,
        })
    }

    /// `so_major_id` and the server scope; `so_minor_id` is 0.
    #[must_use]
    pub fn identity(&self) -> ServerIdentity {
        self.settings().identity
    }

    /// The boot epoch, for stateids.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.ids.epoch()
    }

    /// What it is run with.
    #[must_use]
    pub fn settings(&self) -> Settings {
        **self.settings.load()
    }

    /// Other limits from now on, for what is made from now on.
    pub fn set_limits(&self, limits: &Limits) {
        let now = self.settings();
        self.settings.store(Arc::new(Settings {
            lease: now.lease,
            grace: now.grace,
            ..Settings::new(limits, 0, 0, now.identity)
        }));
    }

    /// Whether calls that write records wait for a medium.
    #[must_use]
    pub fn durable(&self) -> bool {
        self.records.durable()
    }
}

/// Locks; a panic elsewhere leaves data that is still consistent, as no update spans a call that could panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod lock_waits_tests;
#[cfg(test)]
mod tests;
