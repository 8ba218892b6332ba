//! Who waits for locks on one file, in the order of asking: pure. RFC 8881 §9.6, §20.11.

use std::sync::Arc;

use nfs4_proto::{ClientId, Fh};

use super::Now;
use super::ranges::Range;
use super::stateids::Place;

/// A lock owner of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub(super) client: ClientId,
    pub(super) owner: Arc<[u8]>,
}

/// A lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) range: Range,
    pub(super) write: bool,
}

impl Wanted {
    fn conflict(self, other: Self) -> bool {
        self.range.meets(other.range) && (self.write || other.write)
    }

    fn covers(self, other: Self) -> bool {
        self.range.holds(other.range) && (self.write || !other.write)
    }
}

/// How far the telling is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Something is in the way.
    No,
    /// The callback is about to leave.
    Soon,
    /// The range is held for the waiter until then.
    Until(Now),
}

/// One lock that was denied and is still wanted.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub(super) id: u64,
    pub(super) who: Asker,
    /// The open by which it asked.
    pub(super) open: Place,
    pub(super) wanted: Wanted,
    /// The file, as the client called it.
    pub(super) fh: Fh,
    /// Forgotten then, unless it asks again.
    pub(super) until: Now,
    pub(super) told: Told,
}

/// All that wait for one file.
#[derive(Debug, Default)]
pub(super) struct Waiters(Vec<Waiter>);

impl Waiters {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Waiter> {
        self.0.iter_mut().find(|waiter| waiter.id == id)
    }

    /// Asked again: the place in the order stays. False where it did not wait yet.
    pub(super) fn again(&mut self, who: &Asker, wanted: Wanted, until: Now) -> bool {
        let Some(waiter) = self.0.iter_mut().find(|w| w.who == *who && w.wanted == wanted) else {
            return false;
        };
        waiter.until = until;
        // It came, and something else had been faster.
        waiter.told = Told::No;
        true
    }

    pub(super) fn push(&mut self, waiter: Waiter) {
        self.0.push(waiter);
    }

    /// The lock that is held for somebody else and in the way.
    pub(super) fn held_against(&self, who: &Asker, wanted: Wanted) -> Option<&Waiter> {
        self.0.iter().find(|w| w.told != Told::No && w.who != *who && w.wanted.conflict(wanted))
    }

    /// Forgets some; those that went.
    pub(super) fn forget(&mut self, mut which: impl FnMut(&Waiter) -> bool) -> Vec<Waiter> {
        self.0.extract_if(.., |waiter| which(waiter)).collect()
    }

    /// Forgets what a granted lock has given.
    pub(super) fn granted(&mut self, who: &Asker, got: Wanted) -> Vec<Waiter> {
        self.forget(|w| w.who == *who && got.covers(w.wanted))
    }

    /// Those whose time is over: not asked again, or told and not come.
    pub(super) fn overdue(&mut self, now: Now) -> Vec<Waiter> {
        self.forget(|w| w.until <= now || matches!(w.told, Told::Until(end) if end <= now))
    }

    /// The next one that nothing is in the way of, now to be told; its lock is held for it from here on. `free` says
    /// whether no lock is in the way.
    pub(super) fn next(&mut self, free: impl Fn(&Waiter) -> bool) -> Option<u64> {
        let may =
            |w: &&Waiter| w.told == Told::No && self.held_against(&w.who, w.wanted).is_none() && free(w);
        let id = self.0.iter().find(may)?.id;
        self.get_mut(id)?.told = Told::Soon;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(n: u64) -> Asker {
        Asker { client: ClientId(n), owner: Arc::from(&b"o"[..]) }
    }

    fn wanted(offset: u64, length: u64, write: bool) -> Wanted {
        Wanted { range: Range::new(offset, length).unwrap(), write }
    }

    fn wait(waiters: &mut Waiters, id: u64, wanted: Wanted) {
        waiters.push(Waiter {
            id,
            who: who(id),
            open: (0, 0),
            wanted,
            fh: Fh::default(),
            until: Now::from_millis(1000),
            told: Told::No,
        });
    }

    #[test]
    fn the_first_is_told_first_and_readers_together() {
        let mut waiters = Waiters::default();
        wait(&mut waiters, 1, wanted(0, 10, false));
        wait(&mut waiters, 2, wanted(0, 10, true));
        wait(&mut waiters, 3, wanted(5, 10, false));
        assert_eq!(waiters.next(|_| true), Some(1));
        assert_eq!(waiters.next(|_| true), Some(3), "beside the reader");
        assert_eq!(waiters.next(|_| true), None);
        assert_eq!(waiters.granted(&who(1), wanted(0, 10, false)).len(), 1);
        assert_eq!(waiters.granted(&who(3), wanted(0, 20, true)).len(), 1);
        assert_eq!(waiters.next(|_| true), Some(2));
    }

    #[test]
    fn one_that_a_lock_stands_against_does_not_stop_another() {
        let mut waiters = Waiters::default();
        wait(&mut waiters, 1, wanted(0, 10, true));
        wait(&mut waiters, 2, wanted(5, 1, true));
        assert_eq!(waiters.next(|w| w.id == 2), Some(2));
        assert!(waiters.held_against(&who(1), wanted(0, 10, true)).is_some());
        assert!(waiters.held_against(&who(1), wanted(0, 5, true)).is_none());
        assert!(waiters.held_against(&who(2), wanted(0, 10, true)).is_none(), "one's own");
    }

    #[test]
    fn who_was_told_and_does_not_come_or_does_not_ask_again_is_forgotten() {
        let mut waiters = Waiters::default();
        wait(&mut waiters, 1, wanted(0, 1, true));
        wait(&mut waiters, 2, wanted(5, 1, true));
        waiters.get_mut(1).unwrap().told = Told::Until(Now::from_millis(50));
        assert!(waiters.overdue(Now::from_millis(49)).is_empty());
        assert_eq!(waiters.overdue(Now::from_millis(50)).len(), 1);
        assert!(waiters.again(&who(2), wanted(5, 1, true), Now::from_millis(2000)));
        assert!(!waiters.again(&who(2), wanted(5, 2, true), Now::from_millis(2000)), "another lock");
        assert!(waiters.overdue(Now::from_millis(1999)).is_empty());
        assert_eq!(waiters.overdue(Now::from_millis(2000)).len(), 1);
        assert!(waiters.is_empty());
    }
}
