//! Counted strings: bytes that should be UTF-8.

use bytes::Bytes;
use core::fmt;
use core::ops::Deref;

use crate::opaque::{decode_counted, encode_counted};
use crate::{Decode, Encode, EncodeError, Input, Parsed, Writer, padded};

/// `string name<MAX>` and the `utf8str_*` types: bytes as they came, never changed and never replaced. Whether they
/// are UTF-8 is asked for where the protocol does ([`as_str`](Self::as_str)).
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<const MAX: usize>(Bytes);

impl<const MAX: usize> Text<MAX> {
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

    /// The text, where it is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(&self.0).ok()
    }

    /// A copy of its own, which keeps no record alive.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }
}

impl<const MAX: usize> Deref for Text<MAX> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl<const MAX: usize> fmt::Debug for Text<MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl<const MAX: usize> fmt::Display for Text<MAX> {
    /// In quotes, with all but printable characters escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => write!(f, "{text:?}"),
            None => write!(f, "\"{}\"", self.0.escape_ascii()),
        }
    }
}

impl<const MAX: usize> Decode for Text<MAX> {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = decode_counted(input, MAX)?;
        Ok((rest, Self(bytes)))
    }
}

impl<const MAX: usize> Encode for Text<MAX> {
    fn encoded_len(&self) -> usize {
        padded(self.0.len()).saturating_add(4)
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        encode_counted(&self.0, MAX, w)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a, const MAX: usize> arbitrary::Arbitrary<'a> for Text<MAX> {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let bytes: &[u8] = u.arbitrary()?;
        Ok(Self(Bytes::copy_from_slice(bytes.get(..MAX).unwrap_or(bytes))))
    }
}
