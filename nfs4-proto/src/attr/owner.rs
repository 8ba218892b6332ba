//! Owners as strings that are often numbers. RFC 8881 §5.9.

use core::fmt;

use bytes::Bytes;
use nfs4_xdr::{Decode, Encode, EncodeError, Input, Parsed, Text, Writer, padded};

use crate::Utf8Str;

/// `utf8str_mixed` of an owner, a group, or an entry's `who`: `user@domain`, or a plain decimal number.
///
/// A number in its shortest form is kept as a number, which costs no memory; all else is kept as it came. So two
/// owners are equal exactly if their strings are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Owner(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Number(u32),
    /// Never a number in its shortest form.
    Name(Utf8Str),
}

/// Digits of `number` at the end of the array, and where they begin.
fn digits(mut number: u32) -> ([u8; 10], usize) {
    let mut text = [b'0'; 10];
    let mut len = 0_usize;
    for place in text.iter_mut().rev() {
        *place = b'0'.saturating_add(u8::try_from(number % 10).unwrap_or(0));
        number /= 10;
        len = len.saturating_add(1);
        if number == 0 {
            break;
        }
    }
    (text, 10_usize.saturating_sub(len))
}

fn shortest_number(text: &[u8]) -> Option<u32> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] if text.len() <= 10 => text.iter().try_fold(0_u32, |sum, b| {
            let digit = b.is_ascii_digit().then(|| u32::from(b.saturating_sub(b'0')))?;
            sum.checked_mul(10)?.checked_add(digit)
        }),
        _ => None,
    }
}

impl Owner {
    /// A user or group by number, as `AUTH_SYS` has them. RFC 8881 §5.9.
    #[must_use]
    pub const fn number(id: u32) -> Self {
        Self(Repr::Number(id))
    }

    /// An owner by its string; `None` above 4,096 bytes.
    #[must_use]
    pub fn new(text: impl Into<Bytes>) -> Option<Self> {
        Text::new(text).map(Self::from)
    }

    /// The number, where the string is one in its shortest form. One with a sign or leading zeros is none: it is
    /// `NFS4ERR_BADOWNER`.
    #[must_use]
    pub const fn as_number(&self) -> Option<u32> {
        match &self.0 {
            Repr::Number(id) => Some(*id),
            Repr::Name(_) => None,
        }
    }

    /// The string, where it is no number.
    #[must_use]
    pub const fn as_name(&self) -> Option<&Utf8Str> {
        match &self.0 {
            Repr::Number(_) => None,
            Repr::Name(name) => Some(name),
        }
    }
}

impl From<Utf8Str> for Owner {
    fn from(text: Utf8Str) -> Self {
        match shortest_number(&text) {
            Some(id) => Self::number(id),
            None => Self(Repr::Name(text)),
        }
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Owner {
    /// The number, or the name in quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Number(id) => write!(f, "{id}"),
            Repr::Name(name) => write!(f, "{name}"),
        }
    }
}

impl Decode for Owner {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, text) = Utf8Str::decode(input)?;
        Ok((rest, Self::from(text)))
    }
}

impl Encode for Owner {
    fn encoded_len(&self) -> usize {
        match &self.0 {
            Repr::Number(id) => {
                let (_, start) = digits(*id);
                padded(10_usize.saturating_sub(start)).saturating_add(4)
            }
            Repr::Name(name) => name.encoded_len(),
        }
    }

    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        match &self.0 {
            Repr::Number(id) => {
                let (text, start) = digits(*id);
                w.put_opaque(text.get(start..).unwrap_or_default())
            }
            Repr::Name(name) => name.encode(w),
        }
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Owner {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        if u.arbitrary()? { Ok(Self::number(u.arbitrary()?)) } else { Ok(Self::from(Utf8Str::arbitrary(u)?)) }
    }
}
