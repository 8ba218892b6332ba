//! Objects that are at hand: an `O_PATH` descriptor each, found by kernel handle.
//!
//! An object is in the cache as long as anybody holds it, so there is never a second one for the same inode, and
//! what hangs on it (the mutex of its changes, its descriptor for data, its change number) is shared. What nobody
//! holds goes by the clock when the limit is reached.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::change::Change;
use super::data::Descriptors;
use super::listing::Listing;
use super::pool::Pool;
use super::sync::Lane;
use crate::backend::{FileKind, Oid, RawHandle};

const SHARDS: usize = 16;
/// Change numbers of evicted objects that ran ahead of their ctime, kept per shard.
const AHEAD: usize = 1024;
/// How many entries one insertion looks at to find some that can go.
const STEPS: usize = 8;

/// A file, directory, or whatever else: what a [`Node`](crate::backend::Node) of this backend holds.
pub(super) struct Object {
    /// The kernel's handle: type and bytes.
    pub(super) key: RawHandle,
    pub(super) oid: Oid,
    pub(super) kind: FileKind,
    /// Which [`Local`](super::Local) made it.
    pub(super) instance: u64,
    fd: Option<OwnedFd>,
    /// The ctime at which it had no ACL.
    pub(super) plain_at: AtomicU64,
    /// One change of names or attributes at a time, so that change numbers form a chain. Taken in pool jobs only.
    pub(super) turn: Mutex<()>,
    pub(super) change: Change,
    /// The last name is gone and no open is left.
    pub(super) gone: AtomicBool,
    /// It was large then.
    pub(super) large: AtomicBool,
    pub(super) data: Mutex<Descriptors>,
    /// The names in it.
    pub(super) listing: Mutex<Listing>,
    /// Who waits for an fsync (0: of data only, 1: of everything).
    pub(super) lanes: [Mutex<Lane>; 2],
    reaper: Weak<Pool>,
}

impl Object {
    /// An object around its `O_PATH` descriptor.
    pub(super) fn new(
        key: RawHandle,
        oid: Oid,
        kind: FileKind,
        instance: u64,
        fd: OwnedFd,
        reaper: Weak<Pool>,
    ) -> Self {
        Self {
            key,
            oid,
            kind,
            instance,
            fd: Some(fd),
            plain_at: AtomicU64::new(0),
            turn: Mutex::default(),
            change: Change::default(),
            gone: AtomicBool::new(false),
            large: AtomicBool::new(false),
            data: Mutex::default(),
            listing: Mutex::default(),
            lanes: [Mutex::default(), Mutex::default()],
            reaper,
        }
    }

    /// The `O_PATH` descriptor.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // Only `drop` takes it; ABS is no descriptor, so every call on it would be EBADF.
        self.fd.as_ref().map_or(rustix::fs::ABS, AsFd::as_fd)
    }

    /// The turn of one change.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The descriptors for data.
    pub(super) fn data(&self) -> MutexGuard<'_, Descriptors> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // The last descriptor of a removed file frees its blocks, which can take long: not on a thread that serves.
        if self.large.load(Ordering::Relaxed)
            && let (Some(pool), Some(fd)) = (self.reaper.upgrade(), self.fd.take())
        {
            pool.run_unbounded(move || drop(fd));
        }
    }
}

/// The objects at hand.
pub(super) struct Cache {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    per_shard: usize,
    /// No change number is below this: stands in for numbers that could not be kept one by one.
    pub(super) floor: AtomicU64,
}

#[derive(Default)]
struct Shard {
    map: HashMap<RawHandle, Entry>,
    clock: VecDeque<RawHandle>,
    ahead: HashMap<RawHandle, u64>,
}

struct Entry {
    object: Arc<Object>,
    used: bool,
}

impl Cache {
    /// A cache that keeps about `limit` objects, and all that are held.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            per_shard: (limit / SHARDS).max(2),
            floor: AtomicU64::new(0),
        }
    }

    fn shard(&self, key: &[u8]) -> MutexGuard<'_, Shard> {
        let index = usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0);
        // `index` is below SHARDS.
        let [first, ..] = &self.shards;
        self.shards.get(index).unwrap_or(first).lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object of a handle, if it is at hand.
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<Object>> {
        let mut shard = self.shard(key);
        let entry = shard.map.get_mut(key)?;
        entry.used = true;
        Some(Arc::clone(&entry.object))
    }

    /// Adds an object; the one that is already there wins.
    pub(super) fn insert(&self, object: Object) -> Arc<Object> {
        let key = object.key.clone();
        let mut shard = self.shard(&key);
        if let Some(entry) = shard.map.get_mut(&key) {
            entry.used = true;
            return Arc::clone(&entry.object);
        }
        if let Some(ahead) = shard.ahead.remove(&key) {
            object.change.remember(ahead);
        }
        let object = Arc::new(object);
        let evicted =
            if shard.map.len() >= self.per_shard { self.evict(&mut shard, STEPS) } else { Vec::new() };
        shard.map.insert(key.clone(), Entry { object: Arc::clone(&object), used: false });
        shard.clock.push_back(key);
        drop(shard);
        drop(evicted);
        object
    }

    /// Adds an object that somebody holds.
    pub(super) fn keep(&self, object: &Arc<Object>) {
        let mut shard = self.shard(&object.key);
        shard.clock.push_back(object.key.clone());
        shard.map.insert(object.key.clone(), Entry { object: Arc::clone(object), used: true });
    }

    /// Turns the clock by at most `steps`; the caller drops (closes) what comes back without the lock.
    fn evict(&self, shard: &mut Shard, steps: usize) -> Vec<Arc<Object>> {
        let mut evicted = Vec::new();
        for _ in 0..steps {
            let Some(key) = shard.clock.pop_front() else { break };
            let Some(entry) = shard.map.get_mut(&key) else { continue };
            // Whoever holds it got it from here, under this lock, or from another holder.
            if Arc::strong_count(&entry.object) > 1 || std::mem::take(&mut entry.used) {
                shard.clock.push_back(key);
                continue;
            }
            if let Some(entry) = shard.map.remove(&key) {
                self.keep_ahead(shard, key, &entry.object);
                evicted.push(entry.object);
            }
        }
        evicted
    }

    /// A number that ran ahead of the ctime must be known when the object comes back.
    fn keep_ahead(&self, shard: &mut Shard, key: RawHandle, object: &Object) {
        let Some(ahead) = object.change.ahead(object.fd()) else { return };
        if shard.ahead.len() >= AHEAD {
            let highest = shard.ahead.drain().map(|(_, change)| change).max().unwrap_or(0);
            self.floor.fetch_max(highest, Ordering::Relaxed);
        }
        shard.ahead.insert(key, ahead);
    }

    /// Forgets an object that is gone. Holders keep what they have.
    pub(super) fn forget(&self, object: &Object) {
        let mut shard = self.shard(&object.key);
        let entry = shard.map.remove(&object.key);
        // Its place on the clock is passed over; places without an object don't pile up.
        if shard.clock.len() > 2 * shard.map.len() + 64 {
            let Shard { map, clock, .. } = &mut *shard;
            clock.retain(|key| map.contains_key(key));
        }
        shard.ahead.remove(&object.key);
        drop(shard);
        drop(entry);
    }

    /// Makes room when descriptors run out.
    pub(super) fn shrink(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let steps = shard.clock.len();
            let evicted = self.evict(&mut shard, steps);
            drop(shard);
            drop(evicted);
        }
    }

    /// Lets go of what somebody else has removed (a descriptor here keeps its blocks in use). One shard per call.
    pub(super) fn sweep(&self, turn: usize) {
        let Some(shard) = self.shards.get(turn % SHARDS) else { return };
        let objects: Vec<_> = {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.map.values().map(|entry| Arc::clone(&entry.object)).collect()
        };
        for object in objects {
            let removed = super::attr::stat(object.fd()).is_ok_and(|stat| stat.stx_nlink == 0);
            if removed && object.data().opens == 0 {
                object.gone.store(true, Ordering::Relaxed);
                self.forget(&object);
            }
        }
    }

    /// How many objects are at hand.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).map.len()).sum()
    }
}
