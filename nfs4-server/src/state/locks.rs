//! LOCK, LOCKT, LOCKU on the tables.

use std::sync::Arc;

use nfs4_proto::{ClientId, StateId, Status};

use super::files::{Files, Locks, ObjectKey, Shard};
use super::lock_waits::{Wait, held_against};
use super::opens::owned;
use super::ranges::Range;
use super::stateids::{Kind, Place, Table, check_seqid, next_seqid};
use super::waiters::{Asker, Wanted};
use crate::backend::OpenAccess;

/// Who locks.
#[derive(Clone, Copy, Debug)]
pub enum LockFor<'a> {
    /// A lock owner that comes by an open: the stateid is the open's.
    NewOwner(&'a [u8]),
    /// A lock owner that has locks or had: the stateid is its own.
    Existing,
}

/// The answer to [`Files::lock_range`].
#[derive(Debug)]
pub enum LockAnswer {
    /// Held.
    Granted(StateId),
    /// Somebody else's lock is in the way, or is held for somebody else who waited longer.
    Denied(Denied),
}

/// What a LOCK asks for.
#[derive(Clone, Debug)]
pub struct LockAsk {
    /// Where.
    pub range: Range,
    /// Exclusive.
    pub write: bool,
    /// To be told where it is denied.
    pub wait: Option<Wait>,
}

/// A lock that is in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// Where.
    pub range: Range,
    /// Exclusive.
    pub write: bool,
    /// Whose.
    pub client: ClientId,
    /// Its owner's bytes.
    pub owner: Vec<u8>,
}

/// Not in any table: for an owner that has no state yet.
pub(super) const NOBODY: Place = (u32::MAX, u32::MAX);

/// An owner's locks among those of one file.
pub(super) fn find_locks(
    lockers: &[Place],
    locks: &Table<Locks>,
    client: ClientId,
    owner: &[u8],
) -> Option<Place> {
    let its = |l: &Locks| l.client == client && *l.owner == *owner;
    lockers.iter().copied().find(|place| locks.get(place.0, place.1).is_some_and(its))
}

fn find(shard: &Shard, key: ObjectKey, client: ClientId, owner: &[u8]) -> Option<Place> {
    find_locks(&shard.files.get(&key)?.lockers, &shard.locks, client, owner)
}

fn conflict(shard: &Shard, key: ObjectKey, me: Place, range: Range, write: bool) -> Option<Denied> {
    let held = shard.files.get(&key)?.locks.conflict(me, range, write)?;
    let holder = shard.locks.get(held.owner.0, held.owner.1)?;
    Some(Denied { range: held.range, write: held.write, client: holder.client, owner: holder.owner.to_vec() })
}

impl Files {
    /// LOCK (RFC 8881 §18.10). The open must allow the kind of lock: OPENMODE.
    pub fn lock_range(
        &self,
        client: ClientId,
        stateid: StateId,
        locker: LockFor<'_>,
        key: ObjectKey,
        ask: LockAsk,
    ) -> Result<LockAnswer, Status> {
        let LockAsk { range, write, wait } = ask;
        let (number, kind, place) = self.find(client, stateid)?;
        let mut shard = self.lock(number)?;
        let (open_place, known) = match (locker, kind) {
            (LockFor::NewOwner(owner), Kind::Open) => (place, find(&shard, key, client, owner)),
            (LockFor::Existing, Kind::Lock) => {
                let locks = shard.locks.get(place.0, place.1).ok_or(Status::BadStateId)?;
                if locks.client != client || locks.key != key {
                    return Err(Status::BadStateId);
                }
                check_seqid(stateid.seqid, locks.seqid)?;
                (locks.open, Some(place))
            }
            (LockFor::NewOwner(_), Kind::Lock) | (LockFor::Existing, Kind::Open) => {
                return Err(Status::BadStateId);
            }
        };
        let open = shard.opens.get(open_place.0, open_place.1).ok_or(Status::BadStateId)?;
        if open.client != client || open.key != key {
            return Err(Status::BadStateId);
        }
        if kind == Kind::Open {
            check_seqid(stateid.seqid, open.seqid)?;
        }
        if !open.shares().covers(OpenAccess { read: !write, write }) {
            return Err(Status::OpenMode);
        }
        let owner = match (known, locker) {
            (Some(place), _) => {
                Arc::clone(&shard.locks.get(place.0, place.1).ok_or(Status::BadStateId)?.owner)
            }
            (None, LockFor::NewOwner(owner)) => owned(owner),
            (None, LockFor::Existing) => return Err(Status::BadStateId),
        };
        let (who, wanted) = (Asker { client, owner }, Wanted { range, write });
        let denied = conflict(&shard, key, known.unwrap_or(NOBODY), range, write)
            .or_else(|| held_against(&shard, key, &who, wanted));
        if let Some(denied) = denied {
            self.lock_denied(&mut shard, key, who, open_place, wanted, wait);
            return Ok(LockAnswer::Denied(denied));
        }
        self.holdings.room_for_ranges(client)?;
        let me = if let Some(place) = known {
            place
        } else {
            let state = Locks { client, owner: who.owner.clone(), key, seqid: 0, open: open_place };
            let place = shard.locks.insert(state).ok_or(Status::ServerFault)?;
            self.holdings.add(client, number, Kind::Lock, place)?;
            shard.files.entry(key).or_default().lockers.push(place);
            place
        };
        let file = shard.files.entry(key).or_default();
        let before = file.locks.count(me);
        file.locks.set(me, range, write);
        self.holdings.ranges_changed(client, before, file.locks.count(me));
        self.lock_granted(&mut shard, key, &who, wanted);
        Ok(LockAnswer::Granted(self.step(&mut shard, number, me)?))
    }

    fn step(&self, shard: &mut Shard, number: u32, place: Place) -> Result<StateId, Status> {
        let locks = shard.locks.get_mut(place.0, place.1).ok_or(Status::BadStateId)?;
        locks.seqid = next_seqid(locks.seqid);
        Ok(self.stateid(Kind::Lock, number, place, locks.seqid))
    }

    /// LOCKT (§18.11): the lock that would be in the way.
    #[must_use]
    pub fn lock_test(
        &self,
        client: ClientId,
        owner: &[u8],
        key: ObjectKey,
        range: Range,
        write: bool,
    ) -> Option<Denied> {
        let shard = self.lock(self.shard_of(&key)).ok()?;
        let me = find(&shard, key, client, owner).unwrap_or(NOBODY);
        conflict(&shard, key, me, range, write)
    }

    /// LOCKU (§18.12). Freeing what is not held is no error.
    pub fn unlock_range(
        &self,
        client: ClientId,
        stateid: StateId,
        key: ObjectKey,
        range: Range,
    ) -> Result<StateId, Status> {
        let (number, kind, place) = self.find(client, stateid)?;
        if kind != Kind::Lock {
            return Err(Status::BadStateId);
        }
        let mut shard = self.lock(number)?;
        let locks = shard.locks.get(place.0, place.1).ok_or(Status::BadStateId)?;
        if locks.client != client || locks.key != key {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, locks.seqid)?;
        if let Some(file) = shard.files.get_mut(&key) {
            let before = file.locks.count(place);
            file.locks.clear(place, range);
            self.holdings.ranges_changed(client, before, file.locks.count(place));
        }
        self.wake(&mut shard, key);
        self.step(&mut shard, number, place)
    }
}
