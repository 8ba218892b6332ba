//! State that an administrator took away: its client is told ADMIN_REVOKED until it says FREE_STATEID.
//! RFC 8881 §8.4.2.4, §18.38, §18.46.3.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nfs4_proto::{ClientId, StateId, Status};

use super::Closed;
use super::files::Files;
use super::stateids::{Kind, Place};

/// Stateids, and whose they were. Each was a state, so there are no more than the limits of those allow one after the
/// other, and they go with their client. Taken while a shard is locked, never the other way round.
#[derive(Debug, Default)]
pub(super) struct Revoked {
    stateids: Mutex<HashMap<[u8; 12], ClientId>>,
    /// As many; read without the lock, as it is 0 nearly always.
    count: AtomicUsize,
}

impl Revoked {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 12], ClientId>> {
        self.stateids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, other: [u8; 12], client: ClientId) {
        let mut stateids = self.lock();
        stateids.insert(other, client);
        self.count.store(stateids.len(), Ordering::Release);
    }

    /// NFS4ERR_ADMIN_REVOKED for the client that had it.
    pub(super) fn check(&self, client: ClientId, stateid: StateId) -> Result<(), Status> {
        if self.count.load(Ordering::Acquire) > 0 && self.lock().get(&stateid.other) == Some(&client) {
            return Err(Status::AdminRevoked);
        }
        Ok(())
    }

    /// The client knows. `None`: it was not revoked; else whether it was the client's last one.
    pub(super) fn free(&self, client: ClientId, stateid: StateId) -> Option<bool> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut stateids = self.lock();
        if stateids.get(&stateid.other) != Some(&client) {
            return None;
        }
        stateids.remove(&stateid.other);
        self.count.store(stateids.len(), Ordering::Release);
        Some(!stateids.values().any(|whose| *whose == client))
    }

    /// The client is gone.
    pub(super) fn drop_client(&self, client: ClientId) {
        if self.count.load(Ordering::Acquire) > 0 {
            let mut stateids = self.lock();
            stateids.retain(|_, whose| *whose != client);
            self.count.store(stateids.len(), Ordering::Release);
        }
    }
}

impl Files {
    /// Takes an open (and the locks that came by it) or the locks of one owner on one file away. Whose it was, and what
    /// is to be closed; `None` where there is none.
    pub fn revoke(&self, other: [u8; 12]) -> Option<(ClientId, Option<Closed>)> {
        let (number, kind, place) = self.place_of(StateId { seqid: 0, other }).ok()?;
        let mut shard = self.lock(number).ok()?;
        match kind {
            Kind::Open => {
                let open = shard.opens.get(place.0, place.1)?;
                let (client, key) = (open.client, open.key);
                // Told before they are gone, so that nobody finds nothing.
                self.revoked.add(other, client);
                let lockers: Vec<Place> =
                    shard.files.get(&key).map(|file| file.lockers.to_vec()).unwrap_or_default();
                for locker in lockers {
                    if shard.locks.get(locker.0, locker.1).is_some_and(|l| l.open == place) {
                        self.revoked.add(self.stateid(Kind::Lock, number, locker, 0).other, client);
                    }
                }
                Some((client, self.remove_open(&mut shard, number, place)))
            }
            Kind::Lock => {
                let locks = shard.locks.get(place.0, place.1)?;
                let (client, key) = (locks.client, locks.key);
                self.revoked.add(other, client);
                shard.locks.remove(place.0, place.1);
                let mut ranges = 0;
                if let Some(file) = shard.files.get_mut(&key) {
                    ranges = file.locks.count(place);
                    file.locks.clear_all(place);
                    file.lockers.retain(|p| *p != place);
                }
                self.holdings.remove(client, number, Kind::Lock, place, ranges);
                self.wake(&mut shard, key);
                shard.tidy(key);
                Some((client, None))
            }
        }
    }
}
