//! The client table, and how clients leave it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use nfs4_proto::{ClientId, Status};

use super::create::{CreateSlot, CreatedSession};
use super::{Client, Now, Session, State, Why, lock};

/// A client record: RFC 8881 §18.35.4.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) client: Arc<Client>,
    pub(super) confirmed: bool,
    pub(super) create: CreateSlot,
    pub(super) sessions: Vec<Arc<Session>>,
}

impl Entry {
    pub(super) fn new(client: Arc<Client>, first: u32) -> Self {
        let slot = CreateSlot::new(first);
        Self { client, confirmed: false, create: slot, sessions: Vec::new() }
    }

    /// Whether a request of the client is in progress.
    pub(super) fn busy(&self) -> bool {
        self.create.running || self.sessions.iter().any(|s| s.busy())
    }

    /// Whether the lease ran out: the lease's time is over and nothing is in progress (§8.3).
    pub(super) fn expired(&self, now: Now, lease: super::Millis) -> bool {
        self.client.lease_over(now, lease) && !self.busy()
    }
}

/// The records of one owner: at most one of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owner {
    pub(super) confirmed: Option<ClientId>,
    pub(super) unconfirmed: Option<ClientId>,
}

/// All client records.
#[derive(Debug, Default)]
pub(super) struct Table {
    by_id: HashMap<ClientId, Entry>,
    by_owner: HashMap<Bytes, Owner>,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn entry(&self, id: ClientId) -> Option<&Entry> {
        self.by_id.get(&id)
    }

    pub(super) fn entry_mut(&mut self, id: ClientId) -> Option<&mut Entry> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.by_id.values()
    }

    pub(super) fn owner(&self, owner: &[u8]) -> Owner {
        self.by_owner.get(owner).copied().unwrap_or_default()
    }

    /// Adds an unconfirmed record; the owner has none.
    pub(super) fn add(&mut self, entry: Entry) {
        let (id, owner) = (entry.client.id, entry.client.owner.clone());
        self.by_owner.entry(owner).or_default().unconfirmed = Some(id);
        self.by_id.insert(id, entry);
    }

    /// Confirms a record and takes the one out that was confirmed before. RFC 8881 §18.36.4 phase 3.
    pub(super) fn confirm(&mut self, id: ClientId) -> Option<Entry> {
        let entry = self.by_id.get_mut(&id)?;
        entry.confirmed = true;
        let owner = self.by_owner.entry(entry.client.owner.clone()).or_default();
        owner.unconfirmed = None;
        let old = owner.confirmed.replace(id).filter(|old| *old != id)?;
        self.by_id.remove(&old)
    }

    pub(super) fn remove(&mut self, id: ClientId) -> Option<Entry> {
        let entry = self.by_id.remove(&id)?;
        if let Some(owner) = self.by_owner.get_mut(&entry.client.owner) {
            for of in [&mut owner.confirmed, &mut owner.unconfirmed] {
                if *of == Some(id) {
                    *of = None;
                }
            }
            if owner.confirmed.is_none() && owner.unconfirmed.is_none() {
                self.by_owner.remove(&entry.client.owner);
            }
        }
        Some(entry)
    }
}

/// What became of an attempt to remove a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// It and its state are gone.
    Gone,
    /// The condition did not hold (any more).
    Kept,
}

impl State {
    /// A client, by ID; also an unconfirmed one.
    #[must_use]
    pub fn client(&self, id: ClientId) -> Option<Arc<Client>> {
        lock(&self.clients).entry(id).map(|e| Arc::clone(&e.client))
    }

    /// Where the client's last EXCHANGE_ID created it from, for messages.
    #[must_use]
    pub fn peer(&self, id: ClientId) -> Option<std::net::SocketAddr> {
        lock(&self.clients).entry(id).and_then(|e| e.client.peer)
    }

    /// Client records now, for the gauge of the limit.
    #[must_use]
    pub fn clients_used(&self) -> usize {
        lock(&self.clients).len()
    }

    /// Sessions now.
    #[must_use]
    pub fn sessions_used(&self) -> usize {
        self.sessions.len()
    }

    /// A client's sessions.
    #[must_use]
    pub fn sessions_of(&self, id: ClientId) -> Vec<Arc<Session>> {
        lock(&self.clients).entry(id).map(|e| e.sessions.clone()).unwrap_or_default()
    }

    /// Removes a client for which `may` holds, with all that it has. Its record goes first: once somebody else can take
    /// what it held, no restart may let it reclaim that (first edge condition of RFC 8881 §8.4.3). If it renews its
    /// lease meanwhile it stays, and so does its record.
    pub(super) fn remove_if(
        &self,
        id: ClientId,
        why: Why,
        may: impl Fn(&Entry) -> bool,
    ) -> std::io::Result<Removal> {
        let owner = {
            let table = lock(&self.clients);
            match table.entry(id) {
                Some(entry) if may(entry) => entry.confirmed.then(|| entry.client.owner.clone()),
                Some(_) | None => return Ok(Removal::Kept),
            }
        };
        if let Some(owner) = &owner {
            self.records.forget(std::slice::from_ref(owner))?;
        }
        let entry = {
            let mut table = lock(&self.clients);
            let killed = table.entry(id).is_some_and(|entry| {
                let seen = entry.client.renewed();
                may(entry) && entry.client.kill(seen)
            });
            if killed { table.remove(id) } else { None }
        };
        if let Some(entry) = entry {
            if owner.is_some() {
                self.grace.forget(&entry.client.owner);
            }
            self.buried(&entry, why);
            return Ok(Removal::Gone);
        }
        if let Some(owner) = owner {
            self.restore_record(id, &owner)?;
        }
        Ok(Removal::Kept)
    }

    /// Puts back the record of a client that came back while it was being removed.
    fn restore_record(&self, id: ClientId, owner: &Bytes) -> std::io::Result<()> {
        let Some(client) = self.client(id) else { return Ok(()) };
        if client.reclaim_complete() || self.grace.may_reclaim(owner) {
            self.records.reclaimed(owner)
        } else {
            self.records.confirm(owner, false)
        }
    }

    /// The rest of a removal, with no lock held: sessions, then what others keep for it.
    pub(super) fn buried(&self, entry: &Entry, why: Why) {
        entry.client.kill_now();
        for session in &entry.sessions {
            self.remove_session(session);
        }
        if entry.confirmed {
            tracing::info!(client = ?entry.client, ?why, "client removed");
            self.holder.drop_client(entry.client.id, why);
        }
    }

    /// DESTROY_CLIENTID: RFC 8881 §18.50. NFS4ERR_STALE_CLIENTID; NFS4ERR_CLIENTID_BUSY while it has sessions or state
    /// under an unexpired lease (so also for the client of the compound's own SEQUENCE). Writes a record.
    pub fn destroy_clientid(&self, now: Now, id: ClientId) -> Result<(), Status> {
        let lease = self.settings().lease;
        if lock(&self.clients).entry(id).is_none() {
            return Err(Status::StaleClientId);
        }
        let unused = |e: &Entry| {
            !e.busy()
                && (e.expired(now, lease)
                    || (e.sessions.is_empty() && !self.holder.client_has_state(e.client.id)))
        };
        match self.remove_if(id, Why::Destroyed, unused) {
            Ok(Removal::Gone) => Ok(()),
            Ok(Removal::Kept) => Err(Status::ClientIdBusy),
            Err(error) => Err(record_failed(&error)),
        }
    }
}

/// A record could not be written: said in the log and answered with NFS4ERR_SERVERFAULT.
pub(super) fn record_failed(error: &std::io::Error) -> Status {
    tracing::error!(%error, "client record not written");
    Status::ServerFault
}

/// The cached result of a CREATE_SESSION.
pub(super) type Created = Result<CreatedSession, Status>;
