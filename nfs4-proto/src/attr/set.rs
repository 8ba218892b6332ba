//! Sets of attributes: `bitmap4` with names.

use core::fmt;

use nfs4_xdr::{Bitmap, Decode, Encode, EncodeError, Input, Parsed, Writer};

use super::{Attr, AttrAccess, AttrGroup};
use crate::Status;

/// A set of attributes, as in GETATTR's request. Bits that have no name here are kept. Three words (the numbers to 95)
/// lie in place.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AttrSet(Bitmap);

/// A set in the form that a constant can have, for [`AttrSet::from_words`].
pub type AttrWords = [u32; 3];

/// A constant set of these attributes.
///
/// ```
/// use nfs4_proto::{Attr, AttrSet, AttrWords, attr_words};
/// const WANTED: AttrWords = attr_words(&[Attr::Type, Attr::Change, Attr::Size]);
/// assert_eq!(AttrSet::from_words(&WANTED).to_string(), "[type,change,size]");
/// ```
#[must_use]
pub const fn attr_words(attrs: &[Attr]) -> AttrWords {
    let mut words = [0; 3];
    let mut rest = attrs;
    while let [attr, tail @ ..] = rest {
        add(&mut words, *attr);
        rest = tail;
    }
    words
}

const fn add(words: &mut AttrWords, attr: Attr) {
    let [first, second, third] = words;
    let bit = 1 << (attr.number() % 32);
    match attr.number() / 32 {
        0 => *first |= bit,
        1 => *second |= bit,
        _ => *third |= bit,
    }
}

const fn with_access(read: bool, write: bool) -> AttrWords {
    let mut words = [0; 3];
    let mut rest = Attr::ALL;
    while let [attr, tail @ ..] = rest {
        if attr.access().may_get() == read && attr.access().may_set() == write {
            add(&mut words, *attr);
        }
        rest = tail;
    }
    words
}

const GET_ONLY: AttrWords = with_access(true, false);
const SET_ONLY: AttrWords = with_access(false, true);
const ALL: AttrWords = attr_words(Attr::ALL);
/// A GETATTR may name these, and they are left out of its answer.
const LEFT_OUT: AttrWords = attr_words(&[Attr::TimeDelegAccess, Attr::TimeDelegModify]);
const REQUIRED: AttrWords = attr_words(&[
    Attr::SupportedAttrs,
    Attr::Type,
    Attr::FhExpireType,
    Attr::Change,
    Attr::Size,
    Attr::LinkSupport,
    Attr::SymlinkSupport,
    Attr::NamedAttr,
    Attr::Fsid,
    Attr::UniqueHandles,
    Attr::LeaseTime,
    Attr::RdattrError,
    Attr::Filehandle,
    Attr::SuppattrExclcreat,
]);

impl AttrSet {
    /// No attribute.
    #[must_use]
    pub fn new() -> Self {
        Self(Bitmap::new())
    }

    /// These attributes.
    #[must_use]
    pub fn of(attrs: &[Attr]) -> Self {
        Self::from_words(&attr_words(attrs))
    }

    /// From words, lowest first.
    #[must_use]
    pub fn from_words(words: &[u32]) -> Self {
        Self(Bitmap::from_words(words))
    }

    /// All that this crate has a type for.
    #[must_use]
    pub fn all() -> Self {
        Self::from_words(&ALL)
    }

    /// What every server must have. RFC 8881 §5.6.
    #[must_use]
    pub fn required() -> Self {
        Self::from_words(&REQUIRED)
    }

    /// What can be read and not written. RFC 8881 §5.5.
    #[must_use]
    pub fn get_only() -> Self {
        Self::from_words(&GET_ONLY)
    }

    /// What can be written and not read. RFC 8881 §5.5.
    #[must_use]
    pub fn set_only() -> Self {
        Self::from_words(&SET_ONLY)
    }

    /// What belongs with `group`.
    #[must_use]
    pub fn of_group(group: AttrGroup) -> Self {
        Attr::ALL.iter().copied().filter(|attr| attr.group() == group).collect()
    }

    /// The bits.
    #[must_use]
    pub fn bits(&self) -> &Bitmap {
        &self.0
    }

    /// The words, lowest first, without zeros at the end.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        self.0.words()
    }

    /// Whether there is no attribute.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many attributes there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.words().iter().fold(0, |sum, word| sum.saturating_add(word.count_ones()))
    }

    /// Whether `attr` is there.
    #[must_use]
    pub fn contains(&self, attr: Attr) -> bool {
        self.0.contains(attr.number())
    }

    /// Adds `attr`.
    pub fn insert(&mut self, attr: Attr) -> &mut Self {
        self.0.insert(attr.number());
        self
    }

    /// Takes `attr` out.
    pub fn remove(&mut self, attr: Attr) -> &mut Self {
        self.0.remove(attr.number());
        self
    }

    /// With `attr`.
    #[must_use]
    pub fn with(mut self, attr: Attr) -> Self {
        self.insert(attr);
        self
    }

    /// The attributes, ascending; bits without a name are passed over.
    pub fn iter(&self) -> impl Iterator<Item = Attr> + '_ {
        self.0.iter().filter_map(Attr::from_number)
    }

    /// Numbers that this crate has no type for, ascending.
    pub fn unknown(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().filter(|number| Attr::from_number(*number).is_none())
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.and(&other.0))
    }

    /// What is in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self(self.0.or(&other.0))
    }

    /// What is in this one and not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.without(&other.0))
    }

    /// Whether all of `other` is in this one.
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        let mut mine = self.words().iter().copied();
        other.words().iter().all(|word| word & !mine.next().unwrap_or(0) == 0)
    }

    /// Whether something is in both.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).any(|(a, b)| a & b != 0)
    }

    /// Whether an attribute of `group` is there.
    #[must_use]
    pub fn any_of(&self, group: AttrGroup) -> bool {
        self.iter().any(|attr| attr.group() == group)
    }

    /// Checks the request of GETATTR and READDIR: one that can only be set is `NFS4ERR_INVAL` (RFC 8881 §5.5), unknown
    /// ones do no harm, and the two delegated times are left out of the answer.
    pub fn check_get(&self) -> Result<(), Status> {
        let refused = Self::set_only().without(&Self::from_words(&LEFT_OUT));
        if self.intersects(&refused) { Err(Status::Inval) } else { Ok(()) }
    }

    /// Checks what SETATTR, CREATE and OPEN set: one outside `supported` is `NFS4ERR_ATTRNOTSUPP`, one that can only be
    /// read `NFS4ERR_INVAL`. RFC 8881 §5.5, §18.30.3.
    pub fn check_set(&self, supported: &Self) -> Result<(), Status> {
        if !supported.is_superset(self) {
            Err(Status::AttrNotSupp)
        } else if self.intersects(&Self::get_only()) {
            Err(Status::Inval)
        } else {
            Ok(())
        }
    }

    /// Checks what VERIFY and NVERIFY compare: one outside `supported` is `NFS4ERR_ATTRNOTSUPP`, `rdattr_error` and
    /// one that can only be set `NFS4ERR_INVAL`. RFC 8881 §18.31.3.
    pub fn check_verify(&self, supported: &Self) -> Result<(), Status> {
        if !supported.is_superset(self) {
            Err(Status::AttrNotSupp)
        } else if self.contains(Attr::RdattrError) || self.intersects(&Self::set_only()) {
            Err(Status::Inval)
        } else {
            Ok(())
        }
    }
}

impl AttrAccess {
    /// All attributes with this access.
    #[must_use]
    pub fn set(self) -> AttrSet {
        match self {
            Self::Get => AttrSet::get_only(),
            Self::Set => AttrSet::set_only(),
            Self::GetSet => AttrSet::all().without(&AttrSet::get_only()).without(&AttrSet::set_only()),
        }
    }
}

impl From<Bitmap> for AttrSet {
    fn from(bits: Bitmap) -> Self {
        Self(bits)
    }
}

impl From<AttrWords> for AttrSet {
    fn from(words: AttrWords) -> Self {
        Self::from_words(&words)
    }
}

impl FromIterator<Attr> for AttrSet {
    fn from_iter<I: IntoIterator<Item = Attr>>(attrs: I) -> Self {
        Self(attrs.into_iter().map(Attr::number).collect())
    }
}

impl fmt::Display for AttrSet {
    /// `[type,change,#93]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, number) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match Attr::from_number(number) {
                Some(attr) => f.write_str(attr.name())?,
                None => write!(f, "#{number}")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for AttrSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Decode for AttrSet {
    const MIN_WIRE: usize = 4;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, bits) = Bitmap::decode(input)?;
        Ok((rest, Self(bits)))
    }
}

impl Encode for AttrSet {
    fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.0.encode(w)
    }
}
