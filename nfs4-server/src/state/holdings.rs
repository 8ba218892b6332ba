//! What each client holds, for its limits and its end.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nfs4_proto::{ClientId, Status};

use super::stateids::{Kind, Place};
use crate::config::Limits;

#[derive(Debug, Default)]
struct Held {
    states: HashSet<(u32, Kind, Place)>,
    opens: usize,
    ranges: usize,
    waiters: u32,
}

/// By client. Taken while a shard is locked, never the other way round.
#[derive(Debug)]
pub(super) struct Holdings {
    clients: Mutex<HashMap<ClientId, Held>>,
    most_opens: AtomicUsize,
    most_ranges: AtomicUsize,
    most_waiters: AtomicU32,
}

impl Holdings {
    pub(super) fn new(limits: &Limits) -> Self {
        let new = Self {
            clients: Mutex::default(),
            most_opens: AtomicUsize::default(),
            most_ranges: AtomicUsize::default(),
            most_waiters: AtomicU32::default(),
        };
        new.set_limits(limits);
        new
    }

    /// Other limits from now on; who holds more keeps it.
    pub(super) fn set_limits(&self, limits: &Limits) {
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        self.most_opens.store(size(limits.opens_per_client), Ordering::Relaxed);
        self.most_ranges.store(size(limits.locks_per_client), Ordering::Relaxed);
        self.most_waiters.store(limits.lock_waiters_per_client, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClientId, Held>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more state. At the limit of opens SERVERFAULT: nothing of this client will end by itself, so DELAY would
    /// only make it come again.
    pub(super) fn add(&self, client: ClientId, shard: u32, kind: Kind, place: Place) -> Result<(), Status> {
        let mut clients = self.lock();
        let held = clients.entry(client).or_default();
        if kind == Kind::Open {
            if held.opens >= self.most_opens.load(Ordering::Relaxed) {
                return Err(Status::ServerFault);
            }
            held.opens += 1;
        }
        held.states.insert((shard, kind, place));
        Ok(())
    }

    /// A state less, and the ranges that it had.
    pub(super) fn remove(&self, client: ClientId, shard: u32, kind: Kind, place: Place, ranges: usize) {
        let mut clients = self.lock();
        let Some(held) = clients.get_mut(&client) else { return };
        if held.states.remove(&(shard, kind, place)) && kind == Kind::Open {
            held.opens = held.opens.saturating_sub(1);
        }
        held.ranges = held.ranges.saturating_sub(ranges);
        if held.states.is_empty() {
            clients.remove(&client);
        }
    }

    /// Whether there is room for more locked ranges. One call adds two at the most (a split).
    pub(super) fn room_for_ranges(&self, client: ClientId) -> Result<(), Status> {
        let clients = self.lock();
        let ranges = clients.get(&client).map_or(0, |held| held.ranges);
        if ranges.saturating_add(2) > self.most_ranges.load(Ordering::Relaxed) {
            Err(Status::ServerFault)
        } else {
            Ok(())
        }
    }

    /// Ranges that came and went.
    pub(super) fn ranges_changed(&self, client: ClientId, before: usize, after: usize) {
        let mut clients = self.lock();
        let held = clients.entry(client).or_default();
        held.ranges = held.ranges.saturating_add(after).saturating_sub(before);
    }

    /// Counts one more that waits for a lock, if there is room.
    pub(super) fn one_more_waiter(&self, client: ClientId) -> bool {
        let mut clients = self.lock();
        // Who waits has an open.
        let Some(held) =
            clients.get_mut(&client).filter(|held| held.waiters < self.most_waiters.load(Ordering::Relaxed))
        else {
            return false;
        };
        held.waiters += 1;
        true
    }

    pub(super) fn one_waiter_less(&self, client: ClientId) {
        if let Some(held) = self.lock().get_mut(&client) {
            held.waiters = held.waiters.saturating_sub(1);
        }
    }

    /// Whether the client holds anything.
    pub(super) fn any(&self, client: ClientId) -> bool {
        self.lock().contains_key(&client)
    }

    /// Opens and ranges that a client holds.
    pub(super) fn counts(&self, client: ClientId) -> (usize, usize) {
        self.lock().get(&client).map_or((0, 0), |held| (held.opens, held.ranges))
    }

    /// All that a client holds; it holds nothing afterwards.
    pub(super) fn take(&self, client: ClientId) -> Vec<(u32, Kind, Place)> {
        self.lock().remove(&client).map(|held| held.states.into_iter().collect()).unwrap_or_default()
    }
}
