//! Opens, share reservations and byte-range locks, by file.
//!
//! The tables are split into shards by object; all states of one file lie in one shard, and the top bits of a
//! stateid's index say which. Nothing here waits or calls a backend: open files are handed in, and handed out to be
//! dropped by the caller, outside of any lock.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nfs4_proto::{ClientId, StateId, Status};
use smallvec::SmallVec;

use super::copies::Copies;
use super::holdings::Holdings;
use super::lock_waits::LockCalls;
use super::ranges::LockSet;
use super::revoked::Revoked;
use super::stateids::{Kind, Name, Place, Table, check_seqid};
use super::waiters::Waiters;
use crate::backend::{Oid, OpenAccess, Opened};
use crate::config::Limits;

/// An object as the tables know it: by export and identity, never by name or handle bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// The export's number.
    pub export: u32,
    /// The object.
    pub oid: Oid,
}

/// Access and deny bits of an OPEN (RFC 8881 §9.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four independent bits of the protocol")]
pub struct Shares {
    /// OPEN4_SHARE_ACCESS_READ
    pub read: bool,
    /// OPEN4_SHARE_ACCESS_WRITE
    pub write: bool,
    /// OPEN4_SHARE_DENY_READ
    pub deny_read: bool,
    /// OPEN4_SHARE_DENY_WRITE
    pub deny_write: bool,
}

impl Shares {
    /// Two opens that cannot both be.
    #[must_use]
    pub fn conflict(self, other: Self) -> bool {
        self.deny_read && other.read
            || self.deny_write && other.write
            || other.deny_read && self.read
            || other.deny_write && self.write
    }

    /// What no reader's delegation stands beside (RFC 8881 §10.4).
    #[must_use]
    pub fn stops_readers(self) -> bool {
        self.write || self.deny_read
    }

    /// All bits of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            read: self.read || other.read,
            write: self.write || other.write,
            deny_read: self.deny_read || other.deny_read,
            deny_write: self.deny_write || other.deny_write,
        }
    }

    pub(super) fn covers(self, access: OpenAccess) -> bool {
        (self.read || !access.read) && (self.write || !access.write)
    }
}

/// One open: all that one owner has open on one file.
pub(super) struct Open {
    pub(super) client: ClientId,
    pub(super) owner: Arc<[u8]>,
    pub(super) key: ObjectKey,
    pub(super) seqid: u32,
    /// Each combination that was opened: OPEN_DOWNGRADE may go to the union of some of them (§18.18.3).
    pub(super) combinations: SmallVec<[Shares; 2]>,
    pub(super) opened: SmallVec<[Opened; 2]>,
}

impl Open {
    pub(super) fn shares(&self) -> Shares {
        self.combinations.iter().fold(Shares::default(), |all, one| all.union(*one))
    }
}

/// The locks of one lock owner on one file.
pub(super) struct Locks {
    pub(super) client: ClientId,
    pub(super) owner: Arc<[u8]>,
    pub(super) key: ObjectKey,
    pub(super) seqid: u32,
    /// The open that they came by.
    pub(super) open: Place,
}

/// An open that is on its way: its share counts already.
pub(super) struct Pending {
    pub(super) id: u64,
    pub(super) client: ClientId,
    pub(super) owner: Arc<[u8]>,
    pub(super) shares: Shares,
}

/// What is held on one file.
#[derive(Default)]
pub(super) struct File {
    pub(super) opens: SmallVec<[Place; 2]>,
    pub(super) pending: Vec<Pending>,
    pub(super) locks: LockSet<Place>,
    pub(super) lockers: SmallVec<[Place; 1]>,
    pub(super) waiters: Waiters,
}

impl File {
    fn is_empty(&self) -> bool {
        self.opens.is_empty() && self.pending.is_empty() && self.lockers.is_empty() && self.waiters.is_empty()
    }
}

#[derive(Default)]
pub(super) struct Shard {
    pub(super) opens: Table<Open>,
    pub(super) locks: Table<Locks>,
    pub(super) files: HashMap<ObjectKey, File>,
    /// Files that somebody waits for a lock of.
    pub(super) waited: BTreeSet<ObjectKey>,
}

impl Shard {
    /// Forgets a file that nothing is held on.
    pub(super) fn tidy(&mut self, key: ObjectKey) {
        if self.files.get(&key).is_some_and(File::is_empty) {
            self.files.remove(&key);
        }
    }
}

const SHARD_BITS: u32 = 6;
pub(super) const SHARDS: u32 = 1 << SHARD_BITS;
const INDEX_BITS: u32 = 28 - SHARD_BITS;

/// All opens and locks of a server.
pub struct Files {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    pub(super) holdings: Holdings,
    pub(super) revoked: Revoked,
    /// Copies that go on.
    pub copies: Copies,
    pub(super) calls: LockCalls,
    pub(super) waiters_per_file: usize,
    epoch: u32,
}

/// What a state was checked to be.
pub(super) enum Found<'a> {
    Open(&'a mut Open),
    Locks(&'a mut Locks),
}

impl Files {
    /// Empty tables of one boot.
    #[must_use]
    pub fn new(epoch: u32, limits: &Limits) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            holdings: Holdings::new(limits),
            revoked: Revoked::default(),
            copies: Copies::new(epoch, limits.copies),
            calls: LockCalls::default(),
            waiters_per_file: limits.lock_waiters_per_file as usize,
            epoch,
        }
    }

    /// Other limits from now on; who holds more keeps it.
    pub fn set_limits(&self, limits: &Limits) {
        self.holdings.set_limits(limits);
    }

    pub(super) fn shard_of(&self, key: &ObjectKey) -> u32 {
        u32::try_from(self.hasher.hash_one(key) % u64::from(SHARDS)).unwrap_or(0)
    }

    pub(super) fn lock(&self, shard: u32) -> Result<MutexGuard<'_, Shard>, Status> {
        let shard = usize::try_from(shard).ok().and_then(|i| self.shards.get(i)).ok_or(Status::BadStateId)?;
        Ok(shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn stateid(&self, kind: Kind, shard: u32, place: Place, seqid: u32) -> StateId {
        let (index, generation) = place;
        let name = Name { kind, generation, index: shard << INDEX_BITS | index };
        StateId { seqid, other: name.to_other(self.epoch) }
    }

    /// Shard, kind and place of a client's stateid; NFS4ERR_ADMIN_REVOKED where an administrator took it away.
    pub(super) fn find(&self, client: ClientId, stateid: StateId) -> Result<(u32, Kind, Place), Status> {
        self.revoked.check(client, stateid)?;
        self.place_of(stateid)
    }

    /// Shard, kind and place that a stateid tells.
    pub(super) fn place_of(&self, stateid: StateId) -> Result<(u32, Kind, Place), Status> {
        if stateid.is_special() {
            return Err(Status::BadStateId);
        }
        let name = Name::from_other(stateid.other, self.epoch)?;
        let index = name.index & ((1 << INDEX_BITS) - 1);
        Ok((name.index >> INDEX_BITS, name.kind, (index, name.generation)))
    }

    /// The open file behind a stateid, for an access: of an open, or of locks through their open.
    pub fn check(
        &self,
        client: ClientId,
        stateid: StateId,
        key: ObjectKey,
        access: OpenAccess,
    ) -> Result<Opened, Status> {
        let (number, kind, place) = self.find(client, stateid)?;
        let shard = self.lock(number)?;
        let place = match kind {
            Kind::Open => place,
            Kind::Lock => {
                let locks = shard.locks.get(place.0, place.1).ok_or(Status::BadStateId)?;
                if locks.client != client || locks.key != key {
                    return Err(Status::BadStateId);
                }
                check_seqid(stateid.seqid, locks.seqid)?;
                locks.open
            }
        };
        let open = shard.opens.get(place.0, place.1).ok_or(Status::BadStateId)?;
        if open.client != client || open.key != key {
            return Err(Status::BadStateId);
        }
        if kind == Kind::Open {
            check_seqid(stateid.seqid, open.seqid)?;
        }
        if !open.shares().covers(access) {
            return Err(Status::OpenMode);
        }
        let fits =
            |opened: &&Opened| (opened.access.read || !access.read) && (opened.access.write || !access.write);
        open.opened.iter().find(fits).cloned().ok_or(Status::OpenMode)
    }

    /// Whether a stateid names a state of the client on the object, whatever its access.
    pub fn check_any(&self, client: ClientId, stateid: StateId, key: ObjectKey) -> Result<(), Status> {
        self.with(client, stateid, |found| {
            let its = match found {
                Found::Open(open) => open.key,
                Found::Locks(locks) => locks.key,
            };
            if its == key { Ok(()) } else { Err(Status::BadStateId) }
        })
    }

    fn with<R>(
        &self,
        client: ClientId,
        stateid: StateId,
        f: impl FnOnce(Found<'_>) -> Result<R, Status>,
    ) -> Result<R, Status> {
        let (number, kind, place) = self.find(client, stateid)?;
        let mut shard = self.lock(number)?;
        match kind {
            Kind::Open => {
                let open = shard.opens.get_mut(place.0, place.1).ok_or(Status::BadStateId)?;
                if open.client != client {
                    return Err(Status::BadStateId);
                }
                check_seqid(stateid.seqid, open.seqid)?;
                f(Found::Open(open))
            }
            Kind::Lock => {
                let locks = shard.locks.get_mut(place.0, place.1).ok_or(Status::BadStateId)?;
                if locks.client != client {
                    return Err(Status::BadStateId);
                }
                check_seqid(stateid.seqid, locks.seqid)?;
                f(Found::Locks(locks))
            }
        }
    }

    /// What TEST_STATEID says of one (RFC 8881 §18.48).
    #[must_use]
    pub fn test(&self, client: ClientId, stateid: StateId) -> Status {
        match self.with(client, stateid, |_| Ok(())) {
            Ok(()) => Status::Ok,
            Err(status) => status,
        }
    }

    /// FREE_STATEID (§18.38): a state that was revoked, or a lock owner's without locks goes; an open's is ended by
    /// CLOSE. True where that was the last one of the client's that was revoked.
    pub fn free(&self, client: ClientId, stateid: StateId) -> Result<bool, Status> {
        if let Some(last) = self.revoked.free(client, stateid) {
            return Ok(last);
        }
        let (number, kind, place) = self.find(client, stateid)?;
        let mut shard = self.lock(number)?;
        if kind == Kind::Open {
            let open = shard.opens.get(place.0, place.1).ok_or(Status::BadStateId)?;
            if open.client != client {
                return Err(Status::BadStateId);
            }
            check_seqid(stateid.seqid, open.seqid)?;
            return Err(Status::LocksHeld);
        }
        let locks = shard.locks.get(place.0, place.1).ok_or(Status::BadStateId)?;
        if locks.client != client {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, locks.seqid)?;
        let key = locks.key;
        if shard.files.get(&key).is_some_and(|file| file.locks.count(place) > 0) {
            return Err(Status::LocksHeld);
        }
        shard.locks.remove(place.0, place.1);
        if let Some(file) = shard.files.get_mut(&key) {
            file.lockers.retain(|p| *p != place);
        }
        self.holdings.remove(client, number, Kind::Lock, place, 0);
        shard.tidy(key);
        Ok(false)
    }

    /// READ and WRITE with a special stateid against the deny bits of all opens: LOCKED (§8.2.3, §9.7).
    pub fn check_anonymous(&self, key: ObjectKey, access: OpenAccess) -> Result<(), Status> {
        let shard = self.lock(self.shard_of(&key))?;
        let Some(file) = shard.files.get(&key) else { return Ok(()) };
        let wanted = Shares { read: access.read, write: access.write, ..Shares::default() };
        let held = file.opens.iter().filter_map(|p| shard.opens.get(p.0, p.1)).map(Open::shares);
        let coming = file.pending.iter().map(|p| p.shares);
        if held.chain(coming).any(|shares| shares.conflict(wanted)) { Err(Status::Locked) } else { Ok(()) }
    }

    /// Whether anybody has a lock on the object, or had one and keeps its state.
    pub fn locked(&self, key: ObjectKey) -> Result<bool, Status> {
        Ok(self.lock(self.shard_of(&key))?.files.get(&key).is_some_and(|file| !file.lockers.is_empty()))
    }

    /// Opens and locked ranges of one client.
    #[must_use]
    pub fn counts_of(&self, client: ClientId) -> (usize, usize) {
        self.holdings.counts(client)
    }

    /// Opens and lock owners in all.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (0..SHARDS)
            .filter_map(|n| self.lock(n).ok())
            .fold((0, 0), |(opens, locks), shard| (opens + shard.opens.len(), locks + shard.locks.len()))
    }
}
