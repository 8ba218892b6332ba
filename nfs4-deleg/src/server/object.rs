//! What is held: delegations, found by their name, their object and their client.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use nfs4_proto::Status;
use slab::Slab;

use super::CbId;
use crate::{ClientKey, Now, Oid};

/// The name of a delegation: what the server puts into `stateid4.other`. Not used again within a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelegId(pub u64);

/// A delegation as a stateid names it. With `seqid` 0 it is the one of today (RFC 8881 §8.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DelegRef {
    /// Which.
    pub id: DelegId,
    /// `stateid4.seqid`
    pub seqid: u32,
}

/// What a file delegation allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// OPEN_DELEGATE_READ
    Read,
    /// OPEN_DELEGATE_WRITE
    Write,
}

/// A call of a client: what a referring call names (RFC 8881 §2.10.6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Triple {
    /// `sessionid4`
    pub session: [u8; 16],
    /// `slotid4`
    pub slot: u32,
    /// `sequenceid4`
    pub seq: u32,
}

/// Why a delegation was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Not returned within a lease period.
    Late,
    /// Its client's lease had passed when somebody needed the file.
    Expired,
    /// By the administrator.
    Admin,
}

impl Cause {
    /// What using its stateid answers (RFC 8881 §8.2.4).
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Self::Late => Status::DelegRevoked,
            Self::Expired => Status::Expired,
            Self::Admin => Status::AdminRevoked,
        }
    }
}

/// A recall under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recalling {
    /// First at this time: the deadline counts from here and is never moved.
    pub(super) since: Now,
    /// When to call again; `None` while an answer is awaited or the client has said OK.
    pub(super) again: Option<Now>,
    /// The callback that is out.
    pub(super) cb: Option<CbId>,
    pub(super) truncate: bool,
    /// Calls so far.
    pub(super) tries: u8,
}

/// How a delegation stands. A recall is rare, and most delegations are to be small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Held,
    Recalling(Box<Recalling>),
    Revoked(Cause),
}

#[derive(Clone, Debug)]
pub(super) struct Deleg {
    pub(super) id: DelegId,
    pub(super) seqid: u32,
    pub(super) client: ClientKey,
    pub(super) oid: Oid,
    pub(super) kind: Kind,
    pub(super) times: bool,
    /// CB_PUSH_DELEG is out: the client may not know that it has it.
    pub(super) pushed: bool,
    pub(super) state: State,
    /// The call whose reply brings it, until the client is known to have seen that.
    pub(super) unseen: Option<Triple>,
    /// The change number at the grant.
    pub(super) sc: u64,
    /// The highest change number that others were told.
    pub(super) told: u64,
}

impl Deleg {
    /// It stands in others' way.
    pub(super) fn lives(&self) -> bool {
        self.revoked().is_none()
    }

    /// Why it was taken; `None`: it was not.
    pub(super) fn revoked(&self) -> Option<Cause> {
        match self.state {
            State::Revoked(cause) => Some(cause),
            State::Held | State::Recalling(_) => None,
        }
    }

    pub(super) fn writes(&self) -> bool {
        self.kind == Kind::Write
    }

    pub(super) fn named(&self) -> DelegRef {
        DelegRef { id: self.id, seqid: self.seqid }
    }

    /// Whether a stateid's seqid is the one of today (RFC 8881 §8.2.2).
    pub(super) fn seqid_fits(&self, seqid: u32) -> Result<(), Status> {
        if seqid == 0 || seqid == self.seqid {
            Ok(())
        } else if self.seqid.wrapping_sub(seqid) < 0x8000_0000 {
            Err(Status::OldStateId)
        } else {
            Err(Status::BadStateId)
        }
    }

    /// After a change in place: 1 follows on the last.
    pub(super) fn next_seqid(&mut self) {
        self.seqid = if self.seqid == u32::MAX { 1 } else { self.seqid.saturating_add(1) };
    }
}

/// All delegations. Ordered sets beside a slab: no order depends on a hash.
#[derive(Debug, Default)]
pub(super) struct Held {
    slab: Slab<Deleg>,
    by_object: BTreeSet<(Oid, u32)>,
    by_client: BTreeSet<(ClientKey, u32)>,
    unseen: BTreeSet<(ClientKey, Triple, u32)>,
    /// Write delegations, revoked ones too: in all, and by client.
    writes: usize,
    writers: BTreeMap<ClientKey, usize>,
    generation: u32,
}

fn place(key: u32) -> usize {
    usize::try_from(key).unwrap_or(usize::MAX)
}

impl Held {
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    fn key_of(id: DelegId) -> u32 {
        u32::try_from(id.0 & 0xFFFF_FFFF).unwrap_or(0)
    }

    pub(super) fn get(&self, id: DelegId) -> Option<&Deleg> {
        self.slab.get(place(Self::key_of(id))).filter(|deleg| deleg.id == id)
    }

    pub(super) fn get_mut(&mut self, id: DelegId) -> Option<&mut Deleg> {
        self.slab.get_mut(place(Self::key_of(id))).filter(|deleg| deleg.id == id)
    }

    pub(super) fn insert(&mut self, mut deleg: Deleg) -> DelegId {
        let entry = self.slab.vacant_entry();
        let key = u32::try_from(entry.key()).unwrap_or(u32::MAX);
        self.generation = self.generation.checked_add(1).unwrap_or(1);
        deleg.id = DelegId(u64::from(self.generation) << 32 | u64::from(key));
        self.by_object.insert((deleg.oid, key));
        self.by_client.insert((deleg.client, key));
        if let Some(triple) = deleg.unseen {
            self.unseen.insert((deleg.client, triple, key));
        }
        let (id, client, writes) = (deleg.id, deleg.client, deleg.writes());
        entry.insert(deleg);
        if writes {
            self.one_more_writer(client);
        }
        id
    }

    fn one_more_writer(&mut self, client: ClientKey) {
        self.writes = self.writes.saturating_add(1);
        let mine = self.writers.entry(client).or_default();
        *mine = mine.saturating_add(1);
    }

    fn one_writer_less(&mut self, client: ClientKey) {
        self.writes = self.writes.saturating_sub(1);
        if let Some(mine) = self.writers.get_mut(&client) {
            *mine = mine.saturating_sub(1);
            if *mine == 0 {
                self.writers.remove(&client);
            }
        }
    }

    /// It is of another kind from now on.
    pub(super) fn set_kind(&mut self, id: DelegId, kind: Kind) {
        let Some(deleg) = self.get_mut(id) else { return };
        let (client, was) = (deleg.client, core::mem::replace(&mut deleg.kind, kind));
        match (was, kind) {
            (Kind::Read, Kind::Write) => self.one_more_writer(client),
            (Kind::Write, Kind::Read) => self.one_writer_less(client),
            (Kind::Read, Kind::Read) | (Kind::Write, Kind::Write) => {}
        }
    }

    /// Write delegations, revoked ones too, of clients other than this.
    pub(super) fn writes_but_of(&self, client: ClientKey) -> usize {
        self.writes.saturating_sub(self.writers.get(&client).copied().unwrap_or(0))
    }

    pub(super) fn remove(&mut self, id: DelegId) -> Option<Deleg> {
        self.get(id)?;
        let key = Self::key_of(id);
        let deleg = self.slab.try_remove(place(key))?;
        self.by_object.remove(&(deleg.oid, key));
        self.by_client.remove(&(deleg.client, key));
        if let Some(triple) = deleg.unseen {
            self.unseen.remove(&(deleg.client, triple, key));
        }
        if deleg.writes() {
            self.one_writer_less(deleg.client);
        }
        if self.slab.len().saturating_mul(4) < self.slab.capacity() && self.slab.capacity() > 1_024 {
            self.slab.shrink_to_fit();
        }
        Some(deleg)
    }

    /// It changed in place, by that call.
    pub(super) fn refer(&mut self, id: DelegId, triple: Option<Triple>) {
        let key = Self::key_of(id);
        let Some(deleg) = self.get_mut(id) else { return };
        let client = deleg.client;
        let old = core::mem::replace(&mut deleg.unseen, triple);
        if let Some(old) = old {
            self.unseen.remove(&(client, old, key));
        }
        if let Some(new) = triple {
            self.unseen.insert((client, new, key));
        }
    }

    /// The client is known to have the reply of this call.
    pub(super) fn seen(&mut self, client: ClientKey, triple: Triple) {
        let range = (client, triple, 0)..=(client, triple, u32::MAX);
        let keys: Vec<u32> = self.unseen.range(range).map(|(_, _, key)| *key).collect();
        for key in keys {
            self.unseen.remove(&(client, triple, key));
            if let Some(deleg) = self.slab.get_mut(place(key)) {
                deleg.unseen = None;
            }
        }
    }

    pub(super) fn on(&self, oid: Oid) -> impl Iterator<Item = &Deleg> {
        self.by_object.range((oid, 0)..=(oid, u32::MAX)).filter_map(|(_, key)| self.slab.get(place(*key)))
    }

    pub(super) fn of(&self, client: ClientKey) -> impl Iterator<Item = &Deleg> {
        let range = (client, 0)..=(client, u32::MAX);
        self.by_client.range(range).filter_map(|(_, key)| self.slab.get(place(*key)))
    }

    pub(super) fn mine(&self, client: ClientKey, oid: Oid) -> Option<&Deleg> {
        self.on(oid).find(|deleg| deleg.client == client && deleg.lives())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Deleg> {
        self.slab.iter().map(|(_, deleg)| deleg)
    }

    /// Whether every index names what it stands for (invariant 16).
    pub(super) fn consistent(&self) -> bool {
        let unseen = self.slab.iter().filter(|(_, deleg)| deleg.unseen.is_some()).count();
        self.by_object.len() == self.slab.len()
            && self.by_client.len() == self.slab.len()
            && self.unseen.len() == unseen
            && self.writes == self.slab.iter().filter(|(_, deleg)| deleg.writes()).count()
            && self.writes == self.writers.values().sum::<usize>()
            && self.slab.iter().all(|(key, deleg)| {
                let key = u32::try_from(key).unwrap_or(u32::MAX);
                self.by_object.contains(&(deleg.oid, key)) && self.by_client.contains(&(deleg.client, key))
            })
    }
}

/// What is known of a client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) back_channel: bool,
    /// Its lease has passed; all is kept until somebody needs it.
    pub(super) expired: bool,
    pub(super) reclaim_complete: bool,
    pub(super) held: usize,
    pub(super) late: usize,
    pub(super) lapsed: usize,
    pub(super) admin: usize,
    /// CB_RECALL_ANY was sent.
    pub(super) asked_back: Option<Now>,
}

impl Client {
    pub(super) fn revoked(&self) -> usize {
        self.late.saturating_add(self.lapsed).saturating_add(self.admin)
    }

    pub(super) fn count(&mut self, cause: Cause) -> &mut usize {
        match cause {
            Cause::Late => &mut self.late,
            Cause::Expired => &mut self.lapsed,
            Cause::Admin => &mut self.admin,
        }
    }
}

pub(super) type Clients = BTreeMap<ClientKey, Client>;
