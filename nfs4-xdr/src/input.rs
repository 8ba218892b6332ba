//! A cursor over one received record.

use bytes::Bytes;
use core::fmt;
use core::iter::{Copied, Enumerate};
use core::slice::Iter;

/// A position in one received record.
///
/// It is a `Copy` cursor and no [`Bytes`]: cloning a `Bytes` for each `u32` would cost an atomic addition for each
/// field, so only opaque data touch the reference count. Offsets in errors count from the record's first byte.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    record: &'a Bytes,
    at: usize,
    end: usize,
}

impl<'a> Input<'a> {
    /// The whole record.
    #[must_use]
    #[inline]
    pub fn new(record: &'a Bytes) -> Self {
        Self { record, at: 0, end: record.len() }
    }

    /// Bytes from the record's start to this position.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Bytes left.
    #[must_use]
    #[inline]
    pub fn remaining(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// The bytes left.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &'a [u8] {
        self.record.get(self.at..self.end).unwrap_or_default()
    }

    /// The first `n` bytes as a slice of the record, shared and not copied, and what follows. `None` where fewer are left.
    #[must_use]
    #[inline]
    pub fn split_bytes(self, n: usize) -> Option<(Self, Bytes)> {
        let (rest, head) = self.split(n)?;
        Some((rest, self.record.slice(head.at..head.end)))
    }

    /// The rest after `n` bytes, and those bytes as an input of their own. `None` where fewer are left.
    #[must_use]
    #[inline]
    pub fn split(self, n: usize) -> Option<(Self, Self)> {
        if n > self.remaining() {
            return None;
        }
        let middle = self.at.checked_add(n)?;
        Some((Self { at: middle, ..self }, Self { end: middle, ..self }))
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({}..{})", self.at, self.end)
    }
}

impl<'a> nom::Input for Input<'a> {
    type Item = u8;
    type Iter = Copied<Iter<'a, u8>>;
    type IterIndices = Enumerate<Self::Iter>;

    fn input_len(&self) -> usize {
        self.remaining()
    }

    fn take(&self, index: usize) -> Self {
        Self { end: self.at.saturating_add(index).min(self.end), ..*self }
    }

    fn take_from(&self, index: usize) -> Self {
        Self { at: self.at.saturating_add(index).min(self.end), ..*self }
    }

    fn take_split(&self, index: usize) -> (Self, Self) {
        (self.take_from(index), nom::Input::take(self, index))
    }

    fn position<P: Fn(Self::Item) -> bool>(&self, predicate: P) -> Option<usize> {
        self.as_slice().iter().position(|b| predicate(*b))
    }

    fn iter_elements(&self) -> Self::Iter {
        self.as_slice().iter().copied()
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.iter_elements().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, nom::Needed> {
        if count <= self.remaining() {
            Ok(count)
        } else {
            Err(nom::Needed::new(count.saturating_sub(self.remaining())))
        }
    }
}
