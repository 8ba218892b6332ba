//! `bitmap4` (RFC 8881 §3.3.7).

use core::fmt;
use smallvec::SmallVec;

use crate::{Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, Parsed, Writer};

/// Most words that are decoded: 2,048 bits, far above any attribute number.
const MAX_WORDS: u32 = 64;

/// A set of small numbers as 32-bit words, lowest first. Words of zeros at the end are legal input and never output;
/// two bitmaps with the same bits are equal.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Bitmap(SmallVec<[u32; 3]>);

impl Bitmap {
    /// No bit.
    #[must_use]
    pub fn new() -> Self {
        Self(SmallVec::new())
    }

    /// From words, lowest first.
    #[must_use]
    pub fn from_words(words: &[u32]) -> Self {
        let mut map = Self(SmallVec::from_slice(words));
        map.trim();
        map
    }

    /// Words, lowest first, without zeros at the end.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.0
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// Whether there is no bit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether bit `n` is set.
    #[must_use]
    #[inline]
    pub fn contains(&self, n: u32) -> bool {
        let word = usize::try_from(n / 32).ok().and_then(|i| self.0.get(i));
        word.is_some_and(|word| word >> (n % 32) & 1 == 1)
    }

    /// Sets bit `n`. Numbers above 2,047 are ignored.
    #[inline]
    pub fn insert(&mut self, n: u32) {
        let Ok(word) = usize::try_from(n / 32) else { return };
        if n / 32 >= MAX_WORDS {
            return;
        }
        if word >= self.0.len() {
            self.0.resize(word.saturating_add(1), 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (n % 32);
        }
    }

    /// Clears bit `n`.
    pub fn remove(&mut self, n: u32) {
        if let Some(word) = usize::try_from(n / 32).ok().and_then(|i| self.0.get_mut(i)) {
            *word &= !(1 << (n % 32));
        }
        self.trim();
    }

    /// The bits set, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).step_by(32).zip(self.0.iter()).flat_map(|(base, word)| {
            let mut left = *word;
            core::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                Some(base.saturating_add(bit))
            })
        })
    }

    fn zip(&self, other: &Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let n = self.0.len().max(other.0.len());
        let word = |map: &Self, i: usize| map.0.get(i).copied().unwrap_or(0);
        let mut map = Self((0..n).map(|i| f(word(self, i), word(other, i))).collect());
        map.trim();
        map
    }

    /// Bits in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Bits in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// Bits of this one that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }
}

impl FromIterator<u32> for Bitmap {
    fn from_iter<I: IntoIterator<Item = u32>>(bits: I) -> Self {
        let mut map = Self::new();
        bits.into_iter().for_each(|bit| map.insert(bit));
        map
    }
}

impl fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Decode for Bitmap {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (mut rest, count) = u32::decode(input)?;
        if count > MAX_WORDS {
            return Err(DecodeError::fail(input, DecodeKind::TooLong { len: count, max: 64 }));
        }
        let mut words = SmallVec::new();
        for _ in 0..count {
            let (next, word) = u32::decode(rest)?;
            words.push(word);
            rest = next;
        }
        let mut map = Self(words);
        map.trim();
        Ok((rest, map))
    }
}

impl Encode for Bitmap {
    fn encoded_len(&self) -> usize {
        self.0.len().saturating_mul(4).saturating_add(4)
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        // At most 64 words.
        u32::try_from(self.0.len()).unwrap_or(MAX_WORDS).encode(w)?;
        self.0.iter().try_for_each(|word| word.encode(w))
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Bitmap {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let words: [u32; 4] = u.arbitrary()?;
        let n = u.int_in_range(0..=4)?;
        Ok(Self::from_words(words.get(..n).unwrap_or_default()))
    }
}
