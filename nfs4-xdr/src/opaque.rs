//! Counted opaque data, shared with the record they came in.

use bytes::Bytes;
use core::fmt;
use core::ops::Deref;

use crate::decode::skip_padding;
use crate::{
    Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, Parsed, Writer, padded, take_bytes,
};

/// `opaque name<MAX>`: a slice of the received record, not a copy.
///
/// It keeps the whole record alive: [`detach`](Self::detach) what outlives the request.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Opaque<const MAX: usize>(Bytes);

impl<const MAX: usize> Opaque<MAX> {
    /// Wraps bytes; `None` if there are more than `MAX`.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> Option<Self> {
        let bytes = bytes.into();
        (bytes.len() <= MAX).then_some(Self(bytes))
    }

    /// The bytes, shared.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The bytes, shared.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0
    }

    /// A copy of its own, which keeps no record alive.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }
}

impl<const MAX: usize> Deref for Opaque<MAX> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<const MAX: usize> fmt::Debug for Opaque<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x")?;
        for b in self.0.iter().take(16) {
            write!(f, "{b:02x}")?;
        }
        if self.0.len() > 16 {
            write!(f, "…({})", self.0.len())?;
        }
        Ok(())
    }
}

pub(crate) fn decode_counted(input: Input<'_>, max: usize) -> Parsed<'_, Bytes> {
    let (after, len) = u32::decode(input)?;
    let n = usize::try_from(len).unwrap_or(usize::MAX);
    if n > max {
        return Err(DecodeError::fail(input, DecodeKind::TooLong { len, max }));
    }
    let (rest, bytes) = take_bytes(after, n)?;
    let (rest, ()) = skip_padding(rest, n)?;
    Ok((rest, bytes))
}

pub(crate) fn encode_counted(bytes: &Bytes, max: usize, w: &mut Writer) -> Result<(), EncodeError> {
    if bytes.len() > max {
        return Err(EncodeError::Bound { len: bytes.len(), max });
    }
    w.put_shared(bytes)
}

impl<const MAX: usize> Decode for Opaque<MAX> {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = decode_counted(input, MAX)?;
        Ok((rest, Self(bytes)))
    }
}

impl<const MAX: usize> Encode for Opaque<MAX> {
    fn encoded_len(&self) -> usize {
        padded(self.0.len()).saturating_add(4)
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        encode_counted(&self.0, MAX, w)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, const MAX: usize> arbitrary::Arbitrary<'a> for Opaque<MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let bytes: &[u8] = u.arbitrary()?;
        Ok(Self(Bytes::copy_from_slice(bytes.get(..MAX).unwrap_or(bytes))))
    }
}
