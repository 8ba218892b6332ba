//! Stateids: twelve bytes that lead to a state by an index.
//!
//! `other` = boot epoch 32 · kind 4 · generation 32 · index 28 bits. A stale boot is recognised, kinds cannot be
//! mistaken, and an `other` does not come back within a boot: freed indices are used again in the order in which they
//! were freed, with the next generation, and one whose generations are used up is retired (RFC 8881 §8.2.4).

use std::collections::VecDeque;

use nfs4_proto::Status;

/// What kind of state a stateid names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// An open.
    Open,
    /// The locks of one owner on one file.
    Lock,
}

impl Kind {
    fn bits(self) -> u64 {
        match self {
            Self::Open => 1,
            Self::Lock => 2,
        }
    }

    fn from_bits(bits: u64) -> Option<Self> {
        match bits {
            1 => Some(Self::Open),
            2 => Some(Self::Lock),
            _ => None,
        }
    }
}

/// The bits of a copy's stateid, which is of no use where those of opens and locks are.
pub(crate) const COPY: u64 = 3;

const INDEX_BITS: u32 = 28;

/// `other` from kind and place, in this boot.
pub(crate) fn pack(kind: u64, (index, generation): Place, epoch: u32) -> [u8; 12] {
    let mut other = [0; 12];
    let low = kind << 60 | u64::from(generation) << INDEX_BITS | u64::from(index);
    let (front, back) = other.split_at_mut(4);
    front.copy_from_slice(&epoch.to_be_bytes());
    back.copy_from_slice(&low.to_be_bytes());
    other
}

/// Kind and place; BAD_STATEID for those of another boot.
pub(crate) fn unpack(other: [u8; 12], epoch: u32) -> Result<(u64, Place), Status> {
    let (front, back) = other.split_first_chunk::<4>().ok_or(Status::BadStateId)?;
    let back = back.first_chunk::<8>().ok_or(Status::BadStateId)?;
    if u32::from_be_bytes(*front) != epoch {
        return Err(Status::BadStateId);
    }
    let low = u64::from_be_bytes(*back);
    let generation = u32::try_from(low >> INDEX_BITS & 0xffff_ffff).map_err(|_| Status::BadStateId)?;
    let index = u32::try_from(low & ((1 << INDEX_BITS) - 1)).map_err(|_| Status::BadStateId)?;
    Ok((low >> 60, (index, generation)))
}

/// `other`, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    /// Kind.
    pub(crate) kind: Kind,
    /// Which use of the index.
    pub(crate) generation: u32,
    /// Place in the table.
    pub(crate) index: u32,
}

impl Name {
    /// The bytes, in this boot.
    #[must_use]
    pub(crate) fn to_other(self, epoch: u32) -> [u8; 12] {
        pack(self.kind.bits(), (self.index, self.generation), epoch)
    }

    /// From bytes; BAD_STATEID for those of another boot or of no form of ours.
    pub(crate) fn from_other(other: [u8; 12], epoch: u32) -> Result<Self, Status> {
        let (bits, (index, generation)) = unpack(other, epoch)?;
        let kind = Kind::from_bits(bits).ok_or(Status::BadStateId)?;
        Ok(Self { kind, generation, index })
    }
}

/// How a stateid's seqid stands to the state's: 0 means the current one; with wrap from 2³²−1 to 1 (§8.2.2).
pub(crate) fn check_seqid(given: u32, current: u32) -> Result<(), Status> {
    if given == 0 || given == current {
        return Ok(());
    }
    // Half of the numbers lie behind the current one.
    let ahead = given.wrapping_sub(current);
    if ahead < 1 << 31 { Err(Status::BadStateId) } else { Err(Status::OldStateId) }
}

/// The next seqid.
pub(crate) fn next_seqid(seqid: u32) -> u32 {
    seqid.wrapping_add(1).max(1)
}

/// Index and generation in a table.
pub(crate) type Place = (u32, u32);

struct Cell<T> {
    generation: u32,
    value: Option<T>,
}

/// A table of states by index and generation.
pub(crate) struct Table<T> {
    places: Vec<Cell<T>>,
    free: VecDeque<u32>,
    used: usize,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: VecDeque::new(), used: 0 }
    }
}

/// Indices that must be free before one is used again: keeps generations from being used up by one busy index.
const REST: usize = 1024;

impl<T> Table<T> {
    /// Keeps a value; `None` where all 2²⁸ indices are in use.
    pub(crate) fn insert(&mut self, value: T) -> Option<Place> {
        if self.free.len() >= REST || self.places.len() >= 1 << INDEX_BITS {
            let index = self.free.pop_front()?;
            let place = self.places.get_mut(usize::try_from(index).ok()?)?;
            place.generation = place.generation.wrapping_add(1);
            place.value = Some(value);
            self.used += 1;
            return Some((index, place.generation));
        }
        let index = u32::try_from(self.places.len()).ok()?;
        self.places.push(Cell { generation: 0, value: Some(value) });
        self.used += 1;
        Some((index, 0))
    }

    fn place(&self, index: u32, generation: u32) -> Option<&Cell<T>> {
        self.places.get(usize::try_from(index).ok()?).filter(|place| place.generation == generation)
    }

    pub(crate) fn get(&self, index: u32, generation: u32) -> Option<&T> {
        self.place(index, generation)?.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self, index: u32, generation: u32) -> Option<&mut T> {
        let place = self.places.get_mut(usize::try_from(index).ok()?)?;
        if place.generation == generation { place.value.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, index: u32, generation: u32) -> Option<T> {
        let place = self.places.get_mut(usize::try_from(index).ok()?)?;
        if place.generation != generation {
            return None;
        }
        let value = place.value.take()?;
        self.used -= 1;
        if generation < u32::MAX {
            self.free.push_back(index);
        }
        Some(value)
    }

    /// All of them, by place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Place, &T)> {
        (0_u32..)
            .zip(&self.places)
            .filter_map(|(index, cell)| cell.value.as_ref().map(|value| ((index, cell.generation), value)))
    }

    /// The same from an index on.
    pub(crate) fn iter_from(&self, index: u32) -> impl Iterator<Item = (Place, &T)> {
        let from = usize::try_from(index).unwrap_or(usize::MAX).min(self.places.len());
        (index..)
            .zip(self.places.get(from..).unwrap_or_default())
            .filter_map(|(index, cell)| cell.value.as_ref().map(|value| ((index, cell.generation), value)))
    }

    pub(crate) fn len(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_comes_apart_as_it_was_put_together() {
        for kind in [Kind::Open, Kind::Lock] {
            for (generation, index) in [(0, 0), (u32::MAX, (1 << 28) - 1), (77, 1234)] {
                let name = Name { kind, generation, index };
                assert_eq!(Name::from_other(name.to_other(9), 9), Ok(name));
                assert_eq!(Name::from_other(name.to_other(9), 10), Err(Status::BadStateId), "another boot");
            }
        }
        assert_eq!(Name::from_other([0; 12], 0), Err(Status::BadStateId));
    }

    #[test]
    fn seqids_compare_with_wrap() {
        assert_eq!(check_seqid(0, 5), Ok(()));
        assert_eq!(check_seqid(5, 5), Ok(()));
        assert_eq!(check_seqid(4, 5), Err(Status::OldStateId));
        assert_eq!(check_seqid(6, 5), Err(Status::BadStateId));
        assert_eq!(check_seqid(u32::MAX, 1), Err(Status::OldStateId));
        assert_eq!(check_seqid(1, u32::MAX), Err(Status::BadStateId));
        assert_eq!(next_seqid(u32::MAX), 1, "0 has a meaning of its own");
    }

    #[test]
    fn a_name_does_not_come_back() {
        let mut table = Table::default();
        let mut seen = std::collections::HashSet::new();
        for n in 0..10_000 {
            let name = table.insert(n).unwrap();
            assert!(seen.insert(name), "{name:?} again");
            assert_eq!(table.remove(name.0, name.1), Some(n));
            assert_eq!(table.get(name.0, name.1), None);
        }
        assert!(table.places.len() <= REST + 1, "freed places are used again");
        assert_eq!(table.len(), 0);
    }
}
