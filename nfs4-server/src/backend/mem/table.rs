//! From handles to objects: a slab in shards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::inode::Inode;

const SHARDS: u64 = 64;

/// An object's place; with its generation it is never given out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) index: u64,
    pub(super) generation: u32,
}

struct Slot {
    generation: u32,
    inode: Option<Arc<Inode>>,
}

#[derive(Default)]
struct Shard {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

/// All objects that have a name or are open.
pub(super) struct Table {
    shards: Vec<RwLock<Shard>>,
    turn: AtomicU64,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), turn: AtomicU64::new(0) }
    }

    fn shard(&self, number: u64) -> Option<(&RwLock<Shard>, u64)> {
        let shard = usize::try_from(number % SHARDS).ok()?;
        self.shards.get(shard).map(|lock| (lock, number % SHARDS))
    }

    /// Gives `build` a place and keeps what it makes. `None` only where a shard is full beyond `usize`.
    pub(super) fn insert(&self, build: impl FnOnce(Place) -> Arc<Inode>) -> Option<Arc<Inode>> {
        let (lock, number) = self.shard(self.turn.fetch_add(1, Ordering::Relaxed))?;
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        let slot = shard.free.pop().unwrap_or_else(|| {
            shard.slots.push(Slot { generation: 1, inode: None });
            shard.slots.len() - 1
        });
        let entry = shard.slots.get_mut(slot)?;
        let index = u64::try_from(slot).ok()? * SHARDS + number;
        let inode = build(Place { index, generation: entry.generation });
        entry.inode = Some(Arc::clone(&inode));
        Some(inode)
    }

    pub(super) fn get(&self, place: Place) -> Option<Arc<Inode>> {
        let (lock, _) = self.shard(place.index)?;
        let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
        let slot = shard.slots.get(usize::try_from(place.index / SHARDS).ok()?)?;
        if slot.generation != place.generation {
            return None;
        }
        slot.inode.clone()
    }

    /// Forgets the object. The slot is used again under the next generation, or never when those are used up.
    pub(super) fn remove(&self, place: Place) {
        let Some((lock, _)) = self.shard(place.index) else { return };
        let Ok(number) = usize::try_from(place.index / SHARDS) else { return };
        let mut shard = lock.write().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = shard.slots.get_mut(number).filter(|slot| slot.generation == place.generation)
        else {
            return;
        };
        let gone = slot.inode.take();
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            shard.free.push(number);
        }
        drop(shard);
        drop(gone);
    }

    /// Every object, for taking the tree apart.
    pub(super) fn for_each(&self, mut visit: impl FnMut(&Inode)) {
        for lock in &self.shards {
            let shard = lock.read().unwrap_or_else(PoisonError::into_inner);
            shard.slots.iter().filter_map(|slot| slot.inode.as_ref()).for_each(|inode| visit(inode));
        }
    }
}
