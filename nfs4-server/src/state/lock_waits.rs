//! Blocking locks: who is told when a lock may be had. RFC 8881 §9.6, §18.10, §20.11.
//!
//! A READW or WRITEW that conflicts is denied and its owner noted. When nothing is in the way any more, the first in
//! order is told by CB_NOTIFY_LOCK, and for a short while nobody else gets what it asked for: without that, whoever polls
//! fastest wins. A client that cannot be told is forgotten, and polls.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nfs4_proto::{ClientId, Fh};
use tokio::sync::Notify;

use super::files::{Files, ObjectKey, SHARDS, Shard};
use super::locks::{Denied, NOBODY, find_locks};
use super::stateids::Place;
use super::waiters::{Asker, Told, Waiter, Wanted};
use super::{Millis, Now};

/// Of a LOCK that waits: READW_LT, WRITEW_LT.
#[derive(Clone, Debug)]
pub struct Wait {
    /// What CB_NOTIFY_LOCK is to call the file.
    pub fh: Fh,
    /// Forgotten then, unless it asks again.
    pub until: Now,
}

/// A CB_NOTIFY_LOCK that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockCall {
    /// Whom to tell.
    pub client: ClientId,
    /// The lock owner's bytes.
    pub owner: Arc<[u8]>,
    /// The file.
    pub fh: Fh,
    key: ObjectKey,
    id: u64,
}

/// Callbacks that are due. Taken while a shard is locked, never the other way round. Bounded by the waiters.
#[derive(Debug, Default)]
pub(super) struct LockCalls {
    due: Mutex<VecDeque<(ObjectKey, u64)>>,
    some: Notify,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Files {
    /// A lock was denied. Who waits is noted, if there is room; who does not wait (any more) is forgotten (§9.6).
    pub(super) fn lock_denied(
        &self,
        shard: &mut Shard,
        key: ObjectKey,
        who: Asker,
        open: Place,
        wanted: Wanted,
        wait: Option<Wait>,
    ) {
        let Some(file) = shard.files.get_mut(&key) else { return };
        let Some(Wait { fh, until }) = wait else {
            let gone = file.waiters.forget(|w| w.who == who && w.wanted == wanted);
            self.waiters_gone(shard, key, &gone);
            return;
        };
        if file.waiters.again(&who, wanted, until) {
            // What was held for it, and could not be had, may be another's.
            self.wake(shard, key);
            return;
        }
        if file.waiters.len() < self.waiters_per_file && self.holdings.one_more_waiter(who.client) {
            let id = NEXT.fetch_add(1, Ordering::Relaxed);
            file.waiters.push(Waiter { id, who, open, wanted, fh, until, told: Told::No });
            shard.waited.insert(key);
        }
    }

    /// A lock was granted: its owner waits no more.
    pub(super) fn lock_granted(&self, shard: &mut Shard, key: ObjectKey, who: &Asker, got: Wanted) {
        let Some(file) = shard.files.get_mut(&key).filter(|file| !file.waiters.is_empty()) else { return };
        let gone = file.waiters.granted(who, got);
        self.waiters_gone(shard, key, &gone);
    }

    /// An open ends, and who waited by it.
    pub(super) fn waits_end_with(&self, shard: &mut Shard, key: ObjectKey, open: Place) {
        let Some(file) = shard.files.get_mut(&key).filter(|file| !file.waiters.is_empty()) else { return };
        let gone = file.waiters.forget(|w| w.open == open);
        self.waiters_gone(shard, key, &gone);
    }

    fn waiters_gone(&self, shard: &mut Shard, key: ObjectKey, gone: &[Waiter]) {
        for waiter in gone {
            self.holdings.one_waiter_less(waiter.who.client);
        }
        self.wake(shard, key);
    }

    /// After anything that may have freed a range: who can be told now.
    pub(super) fn wake(&self, shard: &mut Shard, key: ObjectKey) {
        let Shard { files, locks, waited, .. } = shard;
        let Some(file) = files.get_mut(&key) else { return };
        if file.waiters.is_empty() {
            waited.remove(&key);
            return;
        }
        let (held, lockers) = (&file.locks, &file.lockers);
        let free = |waiter: &Waiter| {
            let me = find_locks(lockers, locks, waiter.who.client, &waiter.who.owner).unwrap_or(NOBODY);
            held.conflict(me, waiter.wanted.range, waiter.wanted.write).is_none()
        };
        while let Some(id) = file.waiters.next(free) {
            self.calls.due.lock().unwrap_or_else(PoisonError::into_inner).push_back((key, id));
            self.calls.some.notify_one();
        }
    }

    /// Waits until [`take_lock_calls`](Self::take_lock_calls) may have something.
    pub async fn lock_calls_due(&self) {
        self.calls.some.notified().await;
    }

    /// The callbacks that are due. What each one's owner asked for is held for it from `now` on for `hold`.
    #[must_use]
    pub fn take_lock_calls(&self, now: Now, hold: Millis) -> Vec<LockCall> {
        let due = std::mem::take(&mut *self.calls.due.lock().unwrap_or_else(PoisonError::into_inner));
        let begin = |(key, id): (ObjectKey, u64)| {
            let mut shard = self.lock(self.shard_of(&key)).ok()?;
            let waiter = shard.files.get_mut(&key)?.waiters.get_mut(id)?;
            if waiter.told != Told::Soon {
                return None;
            }
            waiter.told = Told::Until(now.plus(hold));
            let Asker { client, owner } = waiter.who.clone();
            Some(LockCall { client, owner, fh: waiter.fh.clone(), key, id })
        };
        due.into_iter().filter_map(begin).collect()
    }

    /// The client could not be told: it waits no more, and the next one is told.
    pub fn lock_call_failed(&self, call: &LockCall) {
        let Ok(mut shard) = self.lock(self.shard_of(&call.key)) else { return };
        let Some(file) = shard.files.get_mut(&call.key) else { return };
        let gone = file.waiters.forget(|w| w.id == call.id);
        self.waiters_gone(&mut shard, call.key, &gone);
    }

    /// How many wait.
    #[must_use]
    pub fn waiters(&self) -> usize {
        let in_shard = |shard: &Shard| -> usize {
            shard.waited.iter().filter_map(|key| shard.files.get(key)).map(|file| file.waiters.len()).sum()
        };
        (0..SHARDS).filter_map(|number| self.lock(number).ok()).map(|shard| in_shard(&shard)).sum()
    }

    /// Forgets those who were told and did not come, and those who have not asked again in time.
    pub fn forget_waiters(&self, now: Now) {
        for number in 0..SHARDS {
            let Ok(mut shard) = self.lock(number) else { continue };
            let keys: Vec<ObjectKey> = shard.waited.iter().copied().collect();
            for key in keys {
                let gone =
                    shard.files.get_mut(&key).map(|file| file.waiters.overdue(now)).unwrap_or_default();
                if !gone.is_empty() {
                    self.waiters_gone(&mut shard, key, &gone);
                }
            }
        }
    }
}

/// What is told to one whose lock another waits for: that one, as if it had it.
pub(super) fn held_against(shard: &Shard, key: ObjectKey, who: &Asker, wanted: Wanted) -> Option<Denied> {
    let waiter = shard.files.get(&key)?.waiters.held_against(who, wanted)?;
    Some(Denied {
        range: waiter.wanted.range,
        write: waiter.wanted.write,
        client: waiter.who.client,
        owner: waiter.who.owner.to_vec(),
    })
}
