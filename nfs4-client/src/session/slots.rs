//! The fore channel's slots (RFC 8881 §2.10.6).

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// A slot that is taken. It goes back by [`Slots::give_back`].
#[derive(Debug)]
pub(crate) struct Slot {
    number: u32,
    /// The last sequence id that the server took.
    seqid: u32,
}

impl Slot {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// What the next request says; wraps through 0.
    pub(crate) fn next_seqid(&self) -> u32 {
        self.seqid.wrapping_add(1)
    }

    /// The server took the request.
    pub(crate) fn used(&mut self) {
        self.seqid = self.seqid.wrapping_add(1);
    }
}

#[derive(Debug)]
struct Inner {
    /// By number: the last sequence id taken.
    seqids: Vec<u32>,
    free: BTreeSet<u32>,
    busy: BTreeSet<u32>,
    poisoned: u32,
    /// Numbers above it are not used.
    target: u32,
}

/// All slots of a session.
#[derive(Debug)]
pub(crate) struct Slots {
    inner: Mutex<Inner>,
    freed: Notify,
}

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        let count = count.clamp(1, 4096);
        let inner = Inner {
            seqids: (0..count).map(|_| 0).collect(),
            free: (0..count).collect(),
            busy: BTreeSet::new(),
            poisoned: 0,
            target: count - 1,
        };
        Self { inner: Mutex::new(inner), freed: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_take(&self) -> Option<Slot> {
        let mut inner = self.lock();
        let number = *inner.free.first()?;
        if number > inner.target {
            return None;
        }
        inner.free.remove(&number);
        inner.busy.insert(number);
        let seqid = usize::try_from(number).ok().and_then(|i| inner.seqids.get(i)).copied()?;
        Some(Slot { number, seqid })
    }

    /// The lowest free slot; waits for one. `None`: all are lost.
    pub(crate) async fn take(&self) -> Option<Slot> {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            // Registered before the look, so that no wake-up is missed.
            freed.as_mut().enable();
            if let Some(slot) = self.try_take() {
                return Some(slot);
            }
            {
                let inner = self.lock();
                if inner.free.is_empty() && inner.busy.is_empty() {
                    return None;
                }
            }
            freed.await;
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is the taker's no more")]
    pub(crate) fn give_back(&self, slot: Slot) {
        let mut inner = self.lock();
        if let Some(seqid) = usize::try_from(slot.number).ok().and_then(|i| inner.seqids.get_mut(i)) {
            *seqid = slot.seqid;
        }
        inner.busy.remove(&slot.number);
        inner.free.insert(slot.number);
        drop(inner);
        self.freed.notify_one();
    }

    /// What became of its request is unknown: it is never used again.
    #[expect(clippy::needless_pass_by_value, reason = "it is nobody's any more")]
    pub(crate) fn poison(&self, slot: Slot) {
        let mut inner = self.lock();
        inner.busy.remove(&slot.number);
        inner.poisoned = inner.poisoned.saturating_add(1);
        drop(inner);
        self.freed.notify_waiters();
    }

    /// The highest slot in use, as SEQUENCE tells it.
    pub(crate) fn highest_used(&self) -> u32 {
        self.lock().busy.last().copied().unwrap_or(0)
    }

    /// The server's wish; it may give more slots than there were at first.
    pub(crate) fn target(&self, target: u32) {
        let mut inner = self.lock();
        let target = target.min(4095);
        inner.target = target;
        let have = u32::try_from(inner.seqids.len()).unwrap_or(u32::MAX);
        for number in have..=target {
            inner.seqids.push(0);
            inner.free.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_lowest_free_slot_is_taken_and_its_number_goes_up_by_one() {
        let slots = Slots::new(2);
        let mut a = slots.take().await.unwrap();
        let b = slots.take().await.unwrap();
        assert_eq!((a.number(), b.number()), (0, 1));
        assert!(slots.try_take().is_none());
        assert_eq!(a.next_seqid(), 1, "the first is 1");
        a.used();
        slots.give_back(a);
        let a = slots.take().await.unwrap();
        assert_eq!((a.number(), a.next_seqid()), (0, 2));
    }

    #[tokio::test]
    async fn a_request_that_sequence_refused_leaves_the_slot_where_it_was() {
        let slots = Slots::new(1);
        let a = slots.take().await.unwrap();
        slots.give_back(a);
        assert_eq!(slots.take().await.unwrap().next_seqid(), 1);
    }

    #[tokio::test]
    async fn a_poisoned_slot_is_not_used_again() {
        let slots = Slots::new(2);
        let a = slots.take().await.unwrap();
        slots.poison(a);
        let b = slots.take().await.unwrap();
        assert_eq!(b.number(), 1);
        slots.poison(b);
        assert!(slots.take().await.is_none(), "all are lost");
    }

    #[tokio::test]
    async fn slots_above_the_target_are_not_used_and_more_may_come() {
        let slots = Slots::new(2);
        slots.target(0);
        let a = slots.take().await.unwrap();
        assert!(slots.try_take().is_none());
        slots.target(3);
        let numbers: Vec<u32> = std::iter::from_fn(|| slots.try_take()).map(|s| s.number()).collect();
        assert_eq!(numbers, [1, 2, 3]);
        slots.give_back(a);
    }
}
