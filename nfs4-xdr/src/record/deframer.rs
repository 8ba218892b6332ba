//! From a stream's bytes to records, without I/O.

use bytes::{Buf, Bytes, BytesMut};

use super::LAST_FRAGMENT;

/// Bounds of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLimits {
    /// Most bytes of a record.
    pub bytes: usize,
    /// Most fragments of a record; those without bytes count too, so they cannot go on for ever.
    pub fragments: u32,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self { bytes: (1 << 20) + (64 << 10), fragments: 1024 }
    }
}

/// Why a stream cannot go on: RPC has no answer to it, the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A record would be too large.
    #[error("a record of {len} bytes or more exceeds {max}")]
    TooLong {
        /// Bytes announced.
        len: usize,
        /// The bound.
        max: usize,
    },
    /// A record has too many fragments.
    #[error("a record of more than {max} fragments")]
    TooManyFragments {
        /// The bound.
        max: u32,
    },
}

/// Takes a stream's bytes and yields whole records. A record that came in one fragment is a slice of what was read.
///
/// ```
/// use nfs4_xdr::record::{Deframer, RecordLimits};
/// let mut deframer = Deframer::new(RecordLimits::default());
/// deframer.buffer().extend_from_slice(&[0x80, 0, 0, 3, 1, 2, 3, 0x80]);
/// assert_eq!(&deframer.next().unwrap().unwrap()[..], [1, 2, 3]);
/// assert_eq!(deframer.next(), Ok(None));
/// ```
#[derive(Debug)]
pub struct Deframer {
    limits: RecordLimits,
    buf: BytesMut,
    /// Earlier fragments of the record, joined.
    joined: BytesMut,
    fragments: u32,
}

/// The least that is reserved for reading.
const CHUNK: usize = 64 << 10;
/// The whole of a record is reserved only when this part of it has come: a liar gets eight times what it sent.
const EARNED: usize = 8;

impl Deframer {
    /// Nothing read yet.
    #[must_use]
    pub fn new(limits: RecordLimits) -> Self {
        Self { limits, buf: BytesMut::new(), joined: BytesMut::new(), fragments: 0 }
    }

    /// Where the stream's bytes are to be added at the end.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buf
    }

    /// Makes room for the next read: 64 KiB, twice what has come of a larger record, and all of it once an eighth has.
    pub fn reserve(&mut self) {
        let have = self.buf.len();
        let announced = self.announced().unwrap_or(0).min(self.limits.bytes);
        let want = if have.saturating_mul(EARNED) >= announced { announced } else { have.saturating_mul(2) };
        let more = want.saturating_sub(have).max(4096);
        if self.buf.capacity().saturating_sub(have) < more {
            self.buf.reserve(more.max(CHUNK.saturating_sub(have)));
        }
    }

    /// Bytes of the fragment at hand with its header, where the header is there.
    fn announced(&self) -> Option<usize> {
        let word = u32::from_be_bytes(*self.buf.first_chunk()?);
        Some(usize::try_from(word & !LAST_FRAGMENT).unwrap_or(usize::MAX).saturating_add(4))
    }

    /// Bytes that wait for the rest of their record.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.buf.len().saturating_add(self.joined.len())
    }

    /// The next whole record, without its marks; `None` where more must be read first.
    #[expect(clippy::should_implement_trait, reason = "a fallible step, no iterator")]
    pub fn next(&mut self) -> Result<Option<Bytes>, RecordError> {
        loop {
            let Some(header) = self.buf.first_chunk::<4>() else { return Ok(None) };
            let word = u32::from_be_bytes(*header);
            let len = usize::try_from(word & !LAST_FRAGMENT).unwrap_or(usize::MAX);
            let total = self.joined.len().saturating_add(len);
            if total > self.limits.bytes {
                return Err(RecordError::TooLong { len: total, max: self.limits.bytes });
            }
            if self.fragments >= self.limits.fragments {
                return Err(RecordError::TooManyFragments { max: self.limits.fragments });
            }
            if self.buf.len().saturating_sub(4) < len {
                return Ok(None);
            }
            self.buf.advance(4);
            let fragment = self.buf.split_to(len);
            self.fragments = self.fragments.saturating_add(1);
            let last = word & LAST_FRAGMENT != 0;
            if last && self.joined.is_empty() {
                self.fragments = 0;
                return Ok(Some(fragment.freeze()));
            }
            self.joined.extend_from_slice(&fragment);
            if last {
                self.fragments = 0;
                return Ok(Some(core::mem::take(&mut self.joined).freeze()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn stream(parts: &[(&[u8], bool)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (part, last) in parts {
            let mark = u32::try_from(part.len()).unwrap() | if *last { LAST_FRAGMENT } else { 0 };
            bytes.extend(mark.to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    fn all(deframer: &mut Deframer) -> Vec<Bytes> {
        core::iter::from_fn(|| deframer.next().unwrap()).collect()
    }

    #[test]
    fn records_come_out_whole_however_the_stream_is_cut() {
        let bytes = stream(&[
            (b"one", true),
            (b"t", false),
            (b"", false),
            (b"wo", true),
            (b"", true),
            (b"three", true),
        ]);
        for chunk in 1..=bytes.len() {
            let mut deframer = Deframer::new(RecordLimits::default());
            let mut records = Vec::new();
            for piece in bytes.chunks(chunk) {
                deframer.reserve();
                deframer.buffer().extend_from_slice(piece);
                records.extend(all(&mut deframer));
            }
            assert_eq!(records, [&b"one"[..], b"two", b"", b"three"], "chunks of {chunk}");
            assert_eq!(deframer.pending(), 0);
        }
    }

    #[test]
    fn a_record_in_one_fragment_is_not_copied() {
        let mut deframer = Deframer::new(RecordLimits::default());
        deframer.buffer().extend_from_slice(&stream(&[(&[7; 5000], true)]));
        let at = deframer.buffer().as_ptr().wrapping_add(4);
        assert_eq!(deframer.next().unwrap().unwrap().as_ptr(), at);
    }

    #[test]
    fn a_record_over_the_limit_ends_the_stream_before_its_bytes_come() {
        let limits = RecordLimits { bytes: 10, fragments: 4 };
        let mut deframer = Deframer::new(limits);
        deframer.buffer().extend_from_slice(&(0xb | LAST_FRAGMENT).to_be_bytes());
        assert_eq!(deframer.next(), Err(RecordError::TooLong { len: 11, max: 10 }));
        let mut deframer = Deframer::new(limits);
        deframer.buffer().extend_from_slice(&stream(&[(&[1; 6], false), (&[1; 5], true)]));
        assert_eq!(deframer.next(), Err(RecordError::TooLong { len: 11, max: 10 }));
        let mut deframer = Deframer::new(limits);
        deframer.buffer().extend_from_slice(&stream(&[(&[1; 10], true)]));
        assert!(deframer.next().unwrap().is_some());
    }

    #[test]
    fn empty_fragments_cannot_go_on_for_ever() {
        let mut deframer = Deframer::new(RecordLimits { bytes: 10, fragments: 4 });
        deframer.buffer().extend_from_slice(&[0; 16]);
        assert_eq!(deframer.next(), Ok(None));
        deframer.buffer().extend_from_slice(&[0; 4]);
        assert_eq!(deframer.next(), Err(RecordError::TooManyFragments { max: 4 }));
    }

    #[test]
    fn what_a_header_claims_is_reserved_only_when_an_eighth_has_come() {
        let mut deframer = Deframer::new(RecordLimits::default());
        deframer.buffer().extend_from_slice(&((1 << 20) | LAST_FRAGMENT).to_be_bytes());
        deframer.reserve();
        assert!(deframer.buffer().capacity() <= CHUNK + 4096, "{}", deframer.buffer().capacity());
        let part = vec![1; 140 << 10];
        deframer.buffer().extend_from_slice(&part);
        deframer.reserve();
        assert!(deframer.buffer().capacity() >= 1 << 20);
    }
}
