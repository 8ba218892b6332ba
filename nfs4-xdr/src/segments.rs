//! A message in pieces.

use bytes::{Buf, Bytes, BytesMut};
use smallvec::SmallVec;

/// What a [`Writer`](crate::Writer) yields: pieces in order, none of them empty, for one `writev`. A [`Buf`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    parts: SmallVec<[Bytes; 3]>,
    /// Parts before this one are used up.
    first: usize,
}

impl Segments {
    /// No bytes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece at the end; an empty one is dropped.
    pub fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.parts.push(piece);
        }
    }

    /// The pieces.
    #[must_use]
    pub fn parts(&self) -> &[Bytes] {
        self.parts.get(self.first..).unwrap_or_default()
    }

    /// Bytes in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts().iter().fold(0, |sum, part| sum.saturating_add(part.len()))
    }

    /// Whether there is no byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }

    /// All in one piece: copies unless there is one piece only. For messages that are kept, as it holds on to nothing
    /// but its own bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        if let [only] = self.parts() {
            return only.clone();
        }
        let mut all = BytesMut::with_capacity(self.len());
        for part in self.parts() {
            all.extend_from_slice(part);
        }
        all.freeze()
    }
}

impl IntoIterator for Segments {
    type Item = Bytes;
    type IntoIter = core::iter::Skip<smallvec::IntoIter<[Bytes; 3]>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter().skip(self.first)
    }
}

impl Buf for Segments {
    fn remaining(&self) -> usize {
        self.len()
    }

    fn chunk(&self) -> &[u8] {
        self.parts().first().map_or(&[], |part| part)
    }

    fn advance(&mut self, mut n: usize) {
        while let Some(part) = self.parts.get_mut(self.first) {
            if n < part.len() {
                part.advance(n);
                return;
            }
            n = n.saturating_sub(part.len());
            part.clear();
            self.first = self.first.saturating_add(1);
        }
    }

    #[cfg(feature = "std")]
    fn chunks_vectored<'a>(&'a self, out: &mut [std::io::IoSlice<'a>]) -> usize {
        let mut n = 0;
        for (slot, part) in out.iter_mut().zip(self.parts()) {
            *slot = std::io::IoSlice::new(part);
            n += 1;
        }
        n
    }
}
