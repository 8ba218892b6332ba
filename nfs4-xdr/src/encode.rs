//! Encoding: one trait, and the primitives of RFC 4506.

use alloc::boxed::Box;

use crate::{EncodeError, Writer};

/// `len` rounded up to a multiple of four, as XDR pads.
#[must_use]
pub const fn padded(len: usize) -> usize {
    len.saturating_add(len.wrapping_neg() % 4)
}

/// A type with an XDR encoding.
pub trait Encode {
    /// Bytes that [`encode`](Self::encode) adds.
    fn encoded_len(&self) -> usize;

    /// Adds the value to `w`. After an error `w` may hold a part of it: take a [`mark`](Writer::mark) before.
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError>;
}

impl Encode for u32 {
    #[inline]
    fn encoded_len(&self) -> usize {
        4
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_raw(&self.to_be_bytes())
    }
}

impl Encode for i32 {
    #[inline]
    fn encoded_len(&self) -> usize {
        4
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_raw(&self.to_be_bytes())
    }
}

impl Encode for u64 {
    #[inline]
    fn encoded_len(&self) -> usize {
        8
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_raw(&self.to_be_bytes())
    }
}

impl Encode for i64 {
    #[inline]
    fn encoded_len(&self) -> usize {
        8
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_raw(&self.to_be_bytes())
    }
}

impl Encode for bool {
    #[inline]
    fn encoded_len(&self) -> usize {
        4
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        u32::from(*self).encode(w)
    }
}

impl Encode for () {
    #[inline]
    fn encoded_len(&self) -> usize {
        0
    }
    fn encode(&self, _: &mut Writer) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<const N: usize> Encode for [u8; N] {
    #[inline]
    fn encoded_len(&self) -> usize {
        padded(N)
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_fixed(self)
    }
}

impl<T: Encode> Encode for Option<T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        self.as_ref().map_or(0, T::encoded_len).saturating_add(4)
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.is_some().encode(w)?;
        self.as_ref().map_or(Ok(()), |value| value.encode(w))
    }
}

impl<T: Encode + ?Sized> Encode for Box<T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        (**self).encoded_len()
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        (**self).encode(w)
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    #[inline]
    fn encoded_len(&self) -> usize {
        (**self).encoded_len()
    }
    #[inline]
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        (**self).encode(w)
    }
}
