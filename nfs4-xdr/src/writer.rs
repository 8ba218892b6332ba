//! Where values are encoded to.

use bytes::{BufMut, Bytes, BytesMut};
use smallvec::SmallVec;

use crate::{Encode, EncodeError, Segments, padded};

/// Opaque data of at least this many bytes become a segment of their own; shorter ones are copied, which costs less
/// than one more entry of a `writev`.
pub const SHARE_MIN: usize = 1024;

/// Collects one message: small values in one buffer, large opaque data beside it, shared and not copied.
///
/// `limit` is the most bytes that the message may have. What does not fit is refused with [`EncodeError::TooBig`];
/// [`mark`](Self::mark) and [`rewind`](Self::rewind) take back a part, so that it leaves no trace.
#[derive(Debug)]
pub struct Writer {
    inline: BytesMut,
    /// Shared data and the length of `inline` where each belongs.
    shared: SmallVec<[(usize, Bytes); 2]>,
    shared_len: usize,
    limit: usize,
}

/// A place to come back to. Belongs to the writer that made it.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    inline: usize,
    shared: usize,
    shared_len: usize,
}

/// A `u32` whose value is given later. Belongs to the writer that made it.
#[derive(Clone, Copy, Debug)]
#[must_use = "a place that is never filled stays zero"]
pub struct Patch {
    at: usize,
    len_after: usize,
}

impl Writer {
    /// A writer of at most `limit` bytes into `buf`, which is cleared.
    #[must_use]
    pub fn with_limit(mut buf: BytesMut, limit: usize) -> Self {
        buf.clear();
        Self { inline: buf, shared: SmallVec::new(), shared_len: 0, limit }
    }

    /// A writer without a limit, for messages of our own.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::with_limit(BytesMut::new(), usize::MAX)
    }

    /// Bytes written so far.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.inline.len().saturating_add(self.shared_len)
    }

    /// Whether nothing was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Sets another limit; what is written already stays, even above it.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Bytes that still fit.
    #[must_use]
    #[inline]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }

    #[inline]
    fn claim(&self, need: usize) -> Result<(), EncodeError> {
        if need > self.room() {
            return Err(EncodeError::TooBig { need, limit: self.limit });
        }
        Ok(())
    }

    /// Adds a value.
    #[inline]
    pub fn put<T: Encode + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        value.encode(self)
    }

    /// Adds bytes as they are, without length or padding.
    #[inline]
    pub fn put_raw(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.claim(bytes.len())?;
        self.inline.put_slice(bytes);
        Ok(())
    }

    /// Adds `opaque name[N]`: bytes and padding.
    #[inline]
    pub fn put_fixed(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.claim(padded(bytes.len()))?;
        self.inline.put_slice(bytes);
        self.inline.put_bytes(0, padding(bytes.len()));
        Ok(())
    }

    /// Adds `opaque name<>`: length, bytes, padding. The bytes are copied.
    #[inline]
    pub fn put_opaque(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        let len = wire_len(bytes.len())?;
        self.claim(padded(bytes.len()).saturating_add(4))?;
        self.inline.put_u32(len);
        self.inline.put_slice(bytes);
        self.inline.put_bytes(0, padding(bytes.len()));
        Ok(())
    }

    /// Adds `opaque name<>`; from [`SHARE_MIN`] bytes on the data are shared and not copied.
    pub fn put_shared(&mut self, data: &Bytes) -> Result<(), EncodeError> {
        if data.len() < SHARE_MIN {
            return self.put_opaque(data);
        }
        let len = wire_len(data.len())?;
        self.claim(padded(data.len()).saturating_add(4))?;
        self.inline.put_u32(len);
        self.share(data.clone());
        self.inline.put_bytes(0, padding(data.len()));
        Ok(())
    }

    /// Adds what another writer encoded; from [`SHARE_MIN`] bytes on it is shared and not copied.
    pub fn put_encoded(&mut self, bytes: Bytes) -> Result<(), EncodeError> {
        if bytes.len() < SHARE_MIN {
            return self.put_raw(&bytes);
        }
        self.claim(bytes.len())?;
        self.share(bytes);
        Ok(())
    }

    /// Adds `opaque name<>` that lies in several pieces (what a backend read), in order.
    pub fn put_pieces(&mut self, pieces: &[Bytes]) -> Result<(), EncodeError> {
        let total = pieces.iter().fold(0_usize, |sum, piece| sum.saturating_add(piece.len()));
        let len = wire_len(total)?;
        self.claim(padded(total).saturating_add(4))?;
        self.inline.put_u32(len);
        for piece in pieces {
            if piece.len() < SHARE_MIN {
                self.inline.put_slice(piece);
            } else {
                self.share(piece.clone());
            }
        }
        self.inline.put_bytes(0, padding(total));
        Ok(())
    }

    fn share(&mut self, data: Bytes) {
        self.shared_len = self.shared_len.saturating_add(data.len());
        self.shared.push((self.inline.len(), data));
    }

    /// Leaves room for a `u32` that [`fill`](Self::fill) gives: a count, a length, a status known only afterwards.
    pub fn later_u32(&mut self) -> Result<Patch, EncodeError> {
        self.claim(4)?;
        let at = self.inline.len();
        self.inline.put_u32(0);
        Ok(Patch { at, len_after: self.len() })
    }

    /// Gives a value to a place that was left open. Nothing happens where the place was rewound.
    pub fn fill(&mut self, patch: Patch, value: u32) {
        let end = patch.at.saturating_add(4);
        if let Some(place) = self.inline.get_mut(patch.at..end) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    /// Bytes written after the place.
    #[must_use]
    pub fn since(&self, patch: Patch) -> usize {
        self.len().saturating_sub(patch.len_after)
    }

    /// Fills `patch` with the length of all that came after it, and pads: a counted opaque whose body was encoded in
    /// place.
    pub fn close_opaque(&mut self, patch: Patch) -> Result<(), EncodeError> {
        let n = self.since(patch);
        let len = wire_len(n)?;
        self.claim(padding(n))?;
        self.inline.put_bytes(0, padding(n));
        self.fill(patch, len);
        Ok(())
    }

    /// This place, to come back to.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { inline: self.inline.len(), shared: self.shared.len(), shared_len: self.shared_len }
    }

    /// Takes back all that was written since `mark`.
    pub fn rewind(&mut self, mark: Mark) {
        self.inline.truncate(mark.inline);
        self.shared.truncate(mark.shared);
        self.shared_len = mark.shared_len;
    }

    /// Bytes written since `mark`.
    #[must_use]
    pub fn written_since(&self, mark: Mark) -> usize {
        self.len().saturating_sub(mark.inline.saturating_add(mark.shared_len))
    }

    /// The message, in pieces for one `writev`.
    #[must_use]
    pub fn finish(self) -> Segments {
        let mut segments = Segments::new();
        let mut inline = self.inline;
        let mut cut = 0;
        for (at, data) in self.shared {
            let n = at.saturating_sub(cut).min(inline.len());
            cut = at;
            segments.push(inline.split_to(n).freeze());
            segments.push(data);
        }
        segments.push(inline.freeze());
        segments
    }
}

#[inline]
fn padding(len: usize) -> usize {
    len.wrapping_neg() % 4
}

fn wire_len(len: usize) -> Result<u32, EncodeError> {
    u32::try_from(len).map_err(|_| EncodeError::Bound { len, max: 0xffff_ffff })
}
