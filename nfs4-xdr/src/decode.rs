//! Decoding: one trait, and the primitives of RFC 4506.

use alloc::boxed::Box;
use bytes::Bytes;

use crate::{DecodeError, DecodeKind, Input};

/// What a decoder returns: the input behind the value, and the value.
pub type Parsed<'a, T> = nom::IResult<Input<'a>, T, DecodeError>;

/// A type with an XDR encoding.
pub trait Decode: Sized {
    /// Fewest bytes that any value of this type takes on the wire. A counted list refuses a count that cannot fit
    /// into what is left *before* it allocates.
    const MIN_WIRE: usize;

    /// Takes one value from the front of `input`. The record is whole, so `Incomplete` never comes back.
    fn decode(input: Input<'_>) -> Parsed<'_, Self>;
}

/// What a decoder fails with.
pub type ParseError = nom::Err<DecodeError>;

/// The error of a decoder that failed, without nom's wrapping.
#[must_use]
pub fn into_error(error: ParseError) -> DecodeError {
    match error {
        nom::Err::Error(e) | nom::Err::Failure(e) => e,
        // Complete parsers never ask for more.
        nom::Err::Incomplete(_) => {
            let nothing = Bytes::new();
            DecodeError::new(Input::new(&nothing), DecodeKind::Short { need: 1, left: 0 })
        }
    }
}

/// The whole record is one `T`: bytes behind it are an error.
pub fn from_record<T: Decode>(record: &Bytes) -> Result<T, DecodeError> {
    match T::decode(Input::new(record)) {
        Ok((rest, value)) => match rest.remaining() {
            0 => Ok(value),
            n => Err(DecodeError::new(rest, DecodeKind::Trailing(n))),
        },
        Err(e) => Err(into_error(e)),
    }
}

#[cold]
fn short(input: Input<'_>, need: usize) -> nom::Err<DecodeError> {
    DecodeError::fail(input, DecodeKind::Short { need, left: input.remaining() })
}

/// Takes `n` bytes by reference, without padding.
#[inline]
pub fn take_slice(input: Input<'_>, n: usize) -> Parsed<'_, &[u8]> {
    let (rest, head) = input.split(n).ok_or_else(|| short(input, n))?;
    Ok((rest, head.as_slice()))
}

/// Takes `n` bytes as a shared slice of the record, without padding.
pub fn take_bytes(input: Input<'_>, n: usize) -> Parsed<'_, Bytes> {
    input.split_bytes(n).ok_or_else(|| short(input, n))
}

#[inline]
fn take_array<const N: usize>(input: Input<'_>) -> Parsed<'_, [u8; N]> {
    match input.as_slice().first_chunk::<N>() {
        Some(bytes) => match input.split(N) {
            Some((rest, _)) => Ok((rest, *bytes)),
            None => Err(short(input, N)),
        },
        None => Err(short(input, N)),
    }
}

/// Checks the zero bytes that fill up to a multiple of four.
#[inline]
pub(crate) fn skip_padding(input: Input<'_>, len: usize) -> Parsed<'_, ()> {
    let n = len.wrapping_neg() % 4;
    let (rest, pad) = take_slice(input, n)?;
    if pad.iter().any(|b| *b != 0) {
        return Err(DecodeError::fail(input, DecodeKind::Padding));
    }
    Ok((rest, ()))
}

/// Takes a counted opaque of at most `max` bytes with its padding, as a sub-input: what is decoded from it must
/// consume it exactly, and offsets in errors stay those of the record.
pub fn take_opaque(input: Input<'_>, max: usize) -> Parsed<'_, Input<'_>> {
    let (after, len) = u32::decode(input)?;
    let n = usize::try_from(len).unwrap_or(usize::MAX);
    if n > max {
        return Err(DecodeError::fail(input, DecodeKind::TooLong { len, max }));
    }
    let (rest, body) = after.split(n).ok_or_else(|| short(after, n))?;
    let (rest, ()) = skip_padding(rest, n)?;
    Ok((rest, body))
}

impl Decode for u32 {
    const MIN_WIRE: usize = 4;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = take_array(input)?;
        Ok((rest, Self::from_be_bytes(bytes)))
    }
}

impl Decode for i32 {
    const MIN_WIRE: usize = 4;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = take_array(input)?;
        Ok((rest, Self::from_be_bytes(bytes)))
    }
}

impl Decode for u64 {
    const MIN_WIRE: usize = 8;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = take_array(input)?;
        Ok((rest, Self::from_be_bytes(bytes)))
    }
}

impl Decode for i64 {
    const MIN_WIRE: usize = 8;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = take_array(input)?;
        Ok((rest, Self::from_be_bytes(bytes)))
    }
}

impl Decode for bool {
    const MIN_WIRE: usize = 4;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        match u32::decode(input)? {
            (rest, 0) => Ok((rest, false)),
            (rest, 1) => Ok((rest, true)),
            (_, n) => Err(DecodeError::fail(input, DecodeKind::BadBool(n))),
        }
    }
}

impl Decode for () {
    const MIN_WIRE: usize = 0;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        Ok((input, ()))
    }
}

/// `opaque name[N]`: fixed length, padded.
impl<const N: usize> Decode for [u8; N] {
    const MIN_WIRE: usize = N;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bytes) = take_array(input)?;
        let (rest, ()) = skip_padding(rest, N)?;
        Ok((rest, bytes))
    }
}

/// `T *name`, and `T name<1>`, which is the same on the wire.
impl<T: Decode> Decode for Option<T> {
    const MIN_WIRE: usize = 4;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        match bool::decode(input)? {
            (rest, true) => {
                let (rest, value) = T::decode(rest)?;
                Ok((rest, Some(value)))
            }
            (rest, false) => Ok((rest, None)),
        }
    }
}

impl<T: Decode> Decode for Box<T> {
    const MIN_WIRE: usize = T::MIN_WIRE;
    #[inline]
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, value) = T::decode(input)?;
        Ok((rest, Self::new(value)))
    }
}
