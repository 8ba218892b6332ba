//! Byte ranges and the locks on one file: pure.

use nfs4_proto::Status;

/// A range of bytes, first and last inclusive; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    first: u64,
    last: u64,
}

impl Range {
    /// From offset and length: 0 is INVAL, all ones reaches to the end, a sum above the largest number of 64 bits is
    /// INVAL (RFC 8881 §18.10.3).
    pub fn new(offset: u64, length: u64) -> Result<Self, Status> {
        match length {
            0 => Err(Status::Inval),
            u64::MAX => Ok(Self { first: offset, last: u64::MAX }),
            _ => {
                let end = offset.checked_add(length).ok_or(Status::Inval)?;
                Ok(Self { first: offset, last: end - 1 })
            }
        }
    }

    /// Its first byte.
    #[must_use]
    pub fn offset(self) -> u64 {
        self.first
    }

    /// Its length; all ones where it reaches to the end.
    #[must_use]
    pub fn length(self) -> u64 {
        if self.last == u64::MAX { u64::MAX } else { self.last - self.first + 1 }
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// All of the other lies in it.
    pub(super) fn holds(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// Lies right before or behind.
    fn touches(self, other: Self) -> bool {
        self.last.checked_add(1) == Some(other.first) || other.last.checked_add(1) == Some(self.first)
    }
}

/// A lock on a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock<O> {
    /// Whose.
    pub owner: O,
    /// Exclusive.
    pub write: bool,
    /// Where.
    pub range: Range,
}

/// All locks on one file, by owner: those of one owner never overlap, and touching ones of one kind are one.
#[derive(Clone, Debug)]
pub struct LockSet<O>(Vec<Lock<O>>);

impl<O> Default for LockSet<O> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<O: Copy + PartialEq> LockSet<O> {
    /// The lock of another owner that is in the way.
    pub fn conflict(&self, owner: O, range: Range, write: bool) -> Option<&Lock<O>> {
        self.0.iter().find(|held| held.owner != owner && held.range.meets(range) && (write || held.write))
    }

    /// Sets a lock: replaces what the owner held there (upgrade, downgrade), splits and merges. Conflicts are the
    /// caller's to ask about first.
    pub fn set(&mut self, owner: O, range: Range, write: bool) {
        self.clear(owner, range);
        let mut whole = range;
        self.0.retain(|held| {
            let merges = held.owner == owner && held.write == write && held.range.touches(whole);
            if merges {
                whole.first = whole.first.min(held.range.first);
                whole.last = whole.last.max(held.range.last);
            }
            !merges
        });
        // One that touched the range only after the first merge (before and behind) was seen in any order: both ends
        // of `range` are fixed, and a lock that touches the grown range touched its old neighbour, with which it would
        // have been one.
        self.0.push(Lock { owner, write, range: whole });
    }

    /// Frees the owner's locks in a range; what lies outside stays.
    pub fn clear(&mut self, owner: O, range: Range) {
        let mut rest = Vec::new();
        self.0.retain(|held| {
            if held.owner != owner || !held.range.meets(range) {
                return true;
            }
            if held.range.first < range.first {
                rest.push(Lock { range: Range { first: held.range.first, last: range.first - 1 }, ..*held });
            }
            if held.range.last > range.last {
                rest.push(Lock { range: Range { first: range.last + 1, last: held.range.last }, ..*held });
            }
            false
        });
        self.0.append(&mut rest);
    }

    /// Frees all of an owner's locks.
    pub fn clear_all(&mut self, owner: O) {
        self.0.retain(|held| held.owner != owner);
    }

    /// An owner's locks.
    pub fn of(&self, owner: O) -> impl Iterator<Item = &Lock<O>> {
        self.0.iter().filter(move |held| held.owner == owner)
    }

    /// How many locks an owner has.
    #[must_use]
    pub fn count(&self, owner: O) -> usize {
        self.0.iter().filter(|held| held.owner == owner).count()
    }

    /// Whether nobody has a lock.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_is_not_empty_and_does_not_overflow() {
        assert_eq!(Range::new(5, 0), Err(Status::Inval));
        assert_eq!(Range::new(u64::MAX, 2), Err(Status::Inval));
        assert_eq!(Range::new(u64::MAX, 1), Err(Status::Inval));
        assert_eq!(Range::new(2, u64::MAX - 1), Err(Status::Inval));
        assert!(Range::new(1, u64::MAX - 1).is_ok());
        assert_eq!(Range::new(7, u64::MAX).map(|r| (r.offset(), r.length())), Ok((7, u64::MAX)));
        assert_eq!(Range::new(7, 3).map(|r| (r.offset(), r.length())), Ok((7, 3)));
    }

    #[test]
    fn unlocking_the_middle_splits_and_locking_it_again_merges() {
        let mut set = LockSet::default();
        let range = |a, n| Range::new(a, n).unwrap();
        set.set(1, range(0, 30), true);
        set.clear(1, range(10, 10));
        assert_eq!(set.count(1), 2);
        assert!(set.conflict(2, range(10, 10), true).is_none());
        assert!(set.conflict(2, range(19, 2), false).is_some());
        set.set(1, range(10, 10), true);
        assert_eq!(set.count(1), 1);
        set.set(1, range(10, 10), false);
        assert_eq!(set.count(1), 3, "a downgrade of the middle");
    }

    const BYTES: u8 = 16;

    /// The same, byte by byte: for each owner 0 no, 1 shared, 2 exclusive lock.
    #[derive(Default)]
    struct Model([[u8; BYTES as usize]; 3]);

    proptest! {
        #[test]
        fn lock_sets_agree_with_a_model_of_single_bytes(
            steps in prop::collection::vec((0..3_usize, 0..BYTES, 1..=BYTES, 0..3_u8), 1..60)
        ) {
            let (mut set, mut model) = (LockSet::default(), Model::default());
            for (owner, first, len, what) in steps {
                let len = len.min(BYTES - first);
                let range = Range::new(first.into(), len.into()).unwrap();
                let bytes = usize::from(first)..usize::from(first + len);
                if what == 0 {
                    set.clear(owner, range);
                    model.0[owner][bytes].fill(0);
                    continue;
                }
                let write = what == 2;
                let blocked = (0..3).any(|o| o != owner
                    && model.0[o][bytes.clone()].iter().any(|held| *held == 2 || *held == 1 && write));
                prop_assert_eq!(set.conflict(owner, range, write).is_some(), blocked);
                if !blocked {
                    set.set(owner, range, write);
                    model.0[owner][bytes].fill(what);
                }
                for o in 0..3 {
                    for byte in 0..BYTES {
                        let here = Range::new(byte.into(), 1).unwrap();
                        let held = set.0.iter().filter(|l| l.owner == o && l.range.meets(here)).collect::<Vec<_>>();
                        prop_assert!(held.len() <= 1, "locks of one owner overlap");
                        let kind = held.first().map_or(0, |l| if l.write { 2 } else { 1 });
                        prop_assert_eq!(kind, model.0[o][usize::from(byte)]);
                    }
                    for lock in set.0.iter().filter(|l| l.owner == o) {
                        let touching = set.0.iter().any(|l| l.owner == o && l.write == lock.write && l.range.touches(lock.range));
                        prop_assert!(!touching, "two locks that should be one");
                    }
                }
            }
        }
    }
}
