//! OPEN, OPEN_DOWNGRADE, CLOSE on the tables, and the end of a client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nfs4_proto::{ClientId, StateId, Status};
use smallvec::{SmallVec, smallvec};

use super::files::{Files, ObjectKey, Open, Pending, SHARDS, Shard, Shares};
use super::stateids::{Kind, Place, check_seqid, next_seqid};
use crate::backend::Opened;

/// The answer to [`Files::reserve`].
pub enum Reserve<'a> {
    /// The share is reserved.
    Ok(Reserved<'a>),
    /// These clients' opens are in the way.
    Conflict(Vec<ClientId>),
}

/// A share reservation for an open that is on its way: check and reservation are one step, so that two racing opens
/// cannot both pass. Dropped without [`commit`](Self::commit) it is gone.
pub struct Reserved<'a> {
    files: &'a Files,
    shard: u32,
    key: ObjectKey,
    id: u64,
    done: bool,
}

/// What an OPEN became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its stateid.
    pub stateid: StateId,
    /// For an upgrade: whether it was open for writing, or denied reading, before.
    pub was_write: Option<bool>,
    /// Whether it is so now.
    pub write: bool,
}

/// What a CLOSE or the end of a client leaves to be done.
#[derive(Debug)]
pub struct Closed {
    /// The file.
    pub key: ObjectKey,
    /// The client.
    pub client: ClientId,
    /// It was open for writing, or denied others to read.
    pub write: bool,
    /// To be dropped, outside of any lock.
    pub opened: SmallVec<[Opened; 2]>,
}

/// What an OPEN_DOWNGRADE changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Downgraded {
    /// Its stateid.
    pub stateid: StateId,
    /// Whether it was open for writing, or denied reading, before.
    pub was_write: bool,
    /// Whether it is so now.
    pub write: bool,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

fn find_open(shard: &Shard, key: ObjectKey, client: ClientId, owner: &[u8]) -> Option<Place> {
    let file = shard.files.get(&key)?;
    file.opens.iter().copied().find(|place| {
        shard.opens.get(place.0, place.1).is_some_and(|open| open.client == client && *open.owner == *owner)
    })
}

impl Files {
    /// Checks and reserves a share for an owner (RFC 8881 §9.7). The owner's own open of the file is no conflict.
    pub fn reserve(
        &self,
        client: ClientId,
        owner: &[u8],
        key: ObjectKey,
        shares: Shares,
    ) -> Result<Reserve<'_>, Status> {
        let number = self.shard_of(&key);
        let mut shard = self.lock(number)?;
        let mut against = Vec::new();
        if let Some(file) = shard.files.get(&key) {
            for open in file.opens.iter().filter_map(|p| shard.opens.get(p.0, p.1)) {
                let own = open.client == client && *open.owner == *owner;
                if !own && open.shares().conflict(shares) {
                    against.push(open.client);
                }
            }
            for coming in &file.pending {
                let own = coming.client == client && *coming.owner == *owner;
                if !own && coming.shares.conflict(shares) {
                    against.push(coming.client);
                }
            }
        }
        if !against.is_empty() {
            return Ok(Reserve::Conflict(against));
        }
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        shard.files.entry(key).or_default().pending.push(Pending { id, client, owner: owner.into(), shares });
        drop(shard);
        Ok(Reserve::Ok(Reserved { files: self, shard: number, key, id, done: false }))
    }

    /// OPEN_DOWNGRADE (§18.18): to the union of some of the combinations that were opened, else INVAL.
    pub fn downgrade(
        &self,
        client: ClientId,
        stateid: StateId,
        key: ObjectKey,
        to: Shares,
    ) -> Result<Downgraded, Status> {
        let (number, kind, place) = self.find(client, stateid)?;
        if kind != Kind::Open {
            return Err(Status::BadStateId);
        }
        let mut shard = self.lock(number)?;
        let open = shard.opens.get_mut(place.0, place.1).ok_or(Status::BadStateId)?;
        if open.client != client || open.key != key {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, open.seqid)?;
        let inside = |one: &Shares| one.union(to) == to;
        let union = open
            .combinations
            .iter()
            .filter(|one| inside(one))
            .fold(Shares::default(), |all, one| all.union(*one));
        if union != to {
            return Err(Status::Inval);
        }
        let was_write = open.shares().stops_readers();
        open.combinations.retain(|one| inside(one));
        open.seqid = next_seqid(open.seqid);
        let seqid = open.seqid;
        // Descriptors with access that is no more wanted stay until CLOSE: what is allowed is decided by the shares.
        Ok(Downgraded {
            stateid: self.stateid(Kind::Open, number, place, seqid),
            was_write,
            write: to.stops_readers(),
        })
    }

    /// CLOSE (§18.2). Locks that came by this open are freed with it: the one policy of this server.
    pub fn close(&self, client: ClientId, stateid: StateId, key: ObjectKey) -> Result<Closed, Status> {
        let (number, kind, place) = self.find(client, stateid)?;
        if kind != Kind::Open {
            return Err(Status::BadStateId);
        }
        let mut shard = self.lock(number)?;
        let open = shard.opens.get(place.0, place.1).ok_or(Status::BadStateId)?;
        if open.client != client || open.key != key {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, open.seqid)?;
        self.remove_open(&mut shard, number, place).ok_or(Status::BadStateId)
    }

    pub(super) fn remove_open(&self, shard: &mut Shard, number: u32, place: Place) -> Option<Closed> {
        let open = shard.opens.remove(place.0, place.1)?;
        let key = open.key;
        self.waits_end_with(shard, key, place);
        self.holdings.remove(open.client, number, Kind::Open, place, 0);
        if let Some(file) = shard.files.get_mut(&key) {
            file.opens.retain(|p| *p != place);
            let (locks, held) = (&mut shard.locks, &mut file.locks);
            file.lockers.retain(|locker| {
                if locks.get(locker.0, locker.1).is_some_and(|l| l.open != place) {
                    return true;
                }
                let ranges = held.count(*locker);
                held.clear_all(*locker);
                locks.remove(locker.0, locker.1);
                self.holdings.remove(open.client, number, Kind::Lock, *locker, ranges);
                false
            });
        }
        self.wake(shard, key);
        shard.tidy(key);
        Some(Closed { key, client: open.client, write: open.shares().stops_readers(), opened: open.opened })
    }

    /// Whether the client has the file open, whoever its owner.
    #[must_use]
    pub fn client_has_open(&self, client: ClientId, key: ObjectKey) -> bool {
        let Ok(shard) = self.lock(self.shard_of(&key)) else { return false };
        shard.files.get(&key).is_some_and(|file| {
            let mut opens = file.opens.iter().filter_map(|place| shard.opens.get(place.0, place.1));
            opens.any(|open| open.client == client)
        })
    }

    /// Whether the client holds an open or a lock owner's state.
    #[must_use]
    pub fn client_has_state(&self, client: ClientId) -> bool {
        self.holdings.any(client)
    }

    /// Frees all that is held on an export.
    #[must_use]
    pub fn drop_export(&self, export: u32) -> Vec<Closed> {
        let mut closed = Vec::new();
        for number in 0..SHARDS {
            let Ok(mut shard) = self.lock(number) else { continue };
            let on_it: Vec<Place> = shard
                .opens
                .iter()
                .filter(|(_, open)| open.key.export == export)
                .map(|(place, _)| place)
                .collect();
            closed.extend(on_it.into_iter().filter_map(|place| self.remove_open(&mut shard, number, place)));
        }
        closed
    }

    /// Frees all that a client holds.
    #[must_use]
    pub fn drop_client(&self, client: ClientId) -> Vec<Closed> {
        let mut closed = Vec::new();
        self.copies.drop_client(client);
        self.revoked.drop_client(client);
        for (number, kind, place) in self.holdings.take(client) {
            if kind == Kind::Open
                && let Ok(mut shard) = self.lock(number)
            {
                // Locks go with the open that they came by.
                closed.extend(self.remove_open(&mut shard, number, place));
            }
        }
        closed
    }
}

impl Reserved<'_> {
    /// The open is done: it becomes, or is added to, the owner's open of this file.
    pub fn commit(mut self, opened: Opened) -> Result<Committed, Status> {
        let files = self.files;
        let mut shard = files.lock(self.shard)?;
        self.done = true;
        let file = shard.files.entry(self.key).or_default();
        let at = file.pending.iter().position(|p| p.id == self.id).ok_or(Status::ServerFault)?;
        let Pending { client, owner, shares, .. } = file.pending.swap_remove(at);
        if let Some(place) = find_open(&shard, self.key, client, &owner)
            && let Some(open) = shard.opens.get_mut(place.0, place.1)
        {
            let before = open.shares();
            open.seqid = next_seqid(open.seqid);
            if !open.combinations.contains(&shares) {
                open.combinations.push(shares);
            }
            let served = |o: &Opened| {
                (o.access.read || !opened.access.read) && (o.access.write || !opened.access.write)
            };
            if !open.opened.iter().any(served) {
                open.opened.push(opened);
            }
            let (seqid, write) = (open.seqid, open.shares().stops_readers());
            let stateid = files.stateid(Kind::Open, self.shard, place, seqid);
            return Ok(Committed { stateid, was_write: Some(before.stops_readers()), write });
        }
        let key = self.key;
        let open =
            Open { client, owner, key, seqid: 1, combinations: smallvec![shares], opened: smallvec![opened] };
        let Some(place) = shard.opens.insert(open) else {
            shard.tidy(key);
            return Err(Status::ServerFault);
        };
        if let Err(status) = files.holdings.add(client, self.shard, Kind::Open, place) {
            let refused = shard.opens.remove(place.0, place.1);
            shard.tidy(key);
            drop(shard);
            drop(refused);
            return Err(status);
        }
        shard.files.entry(key).or_default().opens.push(place);
        let stateid = files.stateid(Kind::Open, self.shard, place, 1);
        Ok(Committed { stateid, was_write: None, write: shares.stops_readers() })
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        if let Ok(mut shard) = self.files.lock(self.shard) {
            if let Some(file) = shard.files.get_mut(&self.key) {
                file.pending.retain(|p| p.id != self.id);
            }
            shard.tidy(self.key);
        }
    }
}

/// For those who keep owners beyond a request.
pub(super) fn owned(bytes: &[u8]) -> Arc<[u8]> {
    bytes.into()
}
