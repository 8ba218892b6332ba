//! Counted arrays and chains.

use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use crate::{Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, Parsed, Step, Writer};

/// Elements that are reserved before any was decoded: a peer's count alone never allocates more.
const RESERVE: usize = 64;

/// `T name<MAX>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> List<T, MAX> {
    /// An array; `None` if there are more than `MAX`.
    #[must_use]
    pub fn new(items: Vec<T>) -> Option<Self> {
        (items.len() <= MAX).then_some(Self(items))
    }

    /// The elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T, const MAX: usize> DerefMut for List<T, MAX> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, const MAX: usize> IntoIterator for List<T, MAX> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T, const MAX: usize> IntoIterator for &'a List<T, MAX> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

fn at_index(e: nom::Err<DecodeError>, index: u32) -> nom::Err<DecodeError> {
    e.map(|e| e.within(Step::Index(index)))
}

impl<T: Decode, const MAX: usize> Decode for List<T, MAX> {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (mut rest, count) = u32::decode(input)?;
        let n = usize::try_from(count).unwrap_or(usize::MAX);
        if n > MAX {
            return Err(DecodeError::fail(input, DecodeKind::TooLong { len: count, max: MAX }));
        }
        // An element of no bytes could be had for nothing; count it as four.
        let least = if T::MIN_WIRE == 0 { 4 } else { T::MIN_WIRE };
        if n > rest.remaining() / least {
            return Err(DecodeError::fail(input, DecodeKind::Count { count, left: rest.remaining() }));
        }
        let mut items = Vec::with_capacity(n.min(RESERVE));
        for index in 0..count {
            let (next, item) = T::decode(rest).map_err(|e| at_index(e, index))?;
            items.push(item);
            rest = next;
        }
        Ok((rest, Self(items)))
    }
}

impl<T: Encode, const MAX: usize> Encode for List<T, MAX> {
    fn encoded_len(&self) -> usize {
        self.0.iter().fold(4, |sum, item| sum.saturating_add(item.encoded_len()))
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let bound = EncodeError::Bound { len: self.0.len(), max: MAX };
        if self.0.len() > MAX {
            return Err(bound);
        }
        u32::try_from(self.0.len()).map_err(|_| bound)?.encode(w)?;
        self.0.iter().try_for_each(|item| item.encode(w))
    }
}

/// A linked list of XDR (`entry4 *nextentry` and its like): before each element a TRUE, behind the last a FALSE. It
/// is as long as its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain<T>(pub Vec<T>);

impl<T> Default for Chain<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Decode> Decode for Chain<T> {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let mut items = Vec::new();
        let mut rest = input;
        let mut index = 0;
        loop {
            let (next, more) = bool::decode(rest)?;
            if !more {
                return Ok((next, Self(items)));
            }
            let (next, item) = T::decode(next).map_err(|e| at_index(e, index))?;
            items.push(item);
            rest = next;
            index = index.saturating_add(1);
        }
    }
}

impl<T: Encode> Encode for Chain<T> {
    fn encoded_len(&self) -> usize {
        self.0.iter().fold(4, |sum, item| sum.saturating_add(item.encoded_len()).saturating_add(4))
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        for item in &self.0 {
            true.encode(w)?;
            item.encode(w)?;
        }
        false.encode(w)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, T: arbitrary::Arbitrary<'a>, const MAX: usize> arbitrary::Arbitrary<'a> for List<T, MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut items: Vec<T> = u.arbitrary()?;
        items.truncate(MAX);
        Ok(Self(items))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, T: arbitrary::Arbitrary<'a>> arbitrary::Arbitrary<'a> for Chain<T> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self(u.arbitrary()?))
    }
}
