//! `fattr4`: values of attributes, and their codec. RFC 8881 §3.3.7, §5.

use alloc::boxed::Box;
use bytes::BytesMut;
use core::fmt;

use nfs4_xdr::{
    Decode, DecodeError, DecodeKind, Encode, EncodeError, Input, Parsed, Step, Writer, from_record, padded,
    take_opaque,
};

use super::table::fattr4_table;
use super::{Attr, AttrSet};

/// The name by which errors call a number without a type.
const UNTYPED: &str = "attribute of fattr4";

/// The number that made a decoder stop in a `fattr4`: this crate has no type for it, and so the server does not
/// support it. A request with it is `NFS4ERR_ATTRNOTSUPP` and not `NFS4ERR_BADXDR` (RFC 8881 §18.30.3).
#[must_use]
pub fn unsupported_attr(error: &DecodeError) -> Option<u32> {
    if let DecodeKind::Unknown { of: UNTYPED, value } = error.kind() { Some(value) } else { None }
}

/// A value of any attribute.
trait Value: Encode + fmt::Debug {}
impl<T: Encode + fmt::Debug> Value for T {}

macro_rules! attrs {
    // Sorts the rows into the two structures.
    (@stores [$($common:tt)*] [$($rest:tt)*]) => {
        #[derive(Clone, Default, PartialEq, Eq)]
        struct Common { $($common)* }

        #[derive(Clone, Default, PartialEq, Eq)]
        struct Rest { $($rest)* }
    };
    (@stores [$($common:tt)*] [$($rest:tt)*] common $field:ident: $value:ty; $($more:tt)*) => {
        attrs!(@stores [$($common)* $field: Option<$value>,] [$($rest)*] $($more)*);
    };
    (@stores [$($common:tt)*] [$($rest:tt)*] rest $field:ident: $value:ty; $($more:tt)*) => {
        attrs!(@stores [$($common)*] [$($rest)* $field: Option<$value>,] $($more)*);
    };
    // A place to read.
    (@get $this:ident common $field:ident) => { $this.common.$field.as_ref() };
    (@get $this:ident rest $field:ident) => { $this.rest.as_ref().and_then(|rest| rest.$field.as_ref()) };
    // A place to write.
    (@put $this:ident common $field:ident $value:expr) => { $this.common.$field = $value };
    (@put $this:ident rest $field:ident $value:expr) => {
        $this.rest.get_or_insert_with(Default::default).$field = $value
    };
    // The public getter.
    (@getter copy $(#[$doc:meta])* $store:ident $get:ident: $value:ty) => {
        $(#[$doc])*
        #[must_use]
        pub fn $get(&self) -> Option<$value> {
            attrs!(@get self $store $get).copied()
        }
    };
    (@getter ref $(#[$doc:meta])* $store:ident $get:ident: $value:ty) => {
        $(#[$doc])*
        #[must_use]
        pub fn $get(&self) -> Option<&$value> {
            attrs!(@get self $store $get)
        }
    };
    ($(
        $(#[$doc:meta])*
        $bit:literal, $name:literal, $attr:ident, $get:ident, $set:ident, $how:ident $value:ty,
        $access:ident, $scope:ident, $group:ident, $store:ident;
    )*) => {
        attrs!(@stores [] [] $( $store $get: $value; )*);

        /// The getters and setters, one pair for each attribute.
        impl Attrs {
            $(
                attrs!(@getter $how $(#[$doc])* $store $get: $value);

                #[doc = concat!("Gives a value to `", $name, "`.")]
                pub fn $set(&mut self, value: $value) -> &mut Self {
                    self.mask.insert(Attr::$attr);
                    attrs!(@put self $store $get Some(value));
                    self
                }
            )*
        }

        impl Attr {
            /// Fewest bytes that a value takes on the wire.
            #[must_use]
            pub const fn min_wire(self) -> usize {
                match self {
                    $( Self::$attr => <$value as Decode>::MIN_WIRE, )*
                }
            }
        }

        impl Attrs {
            fn value(&self, attr: Attr) -> Option<&dyn Value> {
                match attr {
                    $( Attr::$attr => attrs!(@get self $store $get).map(|value| value as &dyn Value), )*
                }
            }

            /// Adds the value, where there is one.
            fn encode_value(&self, attr: Attr, w: &mut Writer) -> Result<(), EncodeError> {
                match attr {
                    $( Attr::$attr => attrs!(@get self $store $get).map_or(Ok(()), |value| value.encode(w)), )*
                }
            }

            fn same(&self, other: &Self, attr: Attr) -> bool {
                match attr {
                    $( Attr::$attr => attrs!(@get self $store $get) == attrs!(@get other $store $get), )*
                }
            }

            fn clear(&mut self, attr: Attr) {
                match attr {
                    $( Attr::$attr => attrs!(@put self $store $get None), )*
                }
            }

            fn take_from(&mut self, other: &Self, attr: Attr) {
                match attr {
                    $( Attr::$attr => if let Some(value) = attrs!(@get other $store $get) {
                        self.$set(value.clone());
                    } )*
                }
            }

            fn decode_value<'a>(&mut self, attr: Attr, input: Input<'a>) -> Parsed<'a, ()> {
                match attr {
                    $( Attr::$attr => {
                        let (rest, value) = <$value as Decode>::decode(input)
                            .map_err(|e| e.map(|e| e.within(Step::Field($name))))?;
                        self.$set(value);
                        Ok((rest, ()))
                    } )*
                }
            }

            #[cfg(feature = "arbitrary")]
            fn arbitrary_value(
                &mut self, attr: Attr, u: &mut arbitrary::Unstructured<'_>,
            ) -> arbitrary::Result<()> {
                match attr {
                    $( Attr::$attr => {
                        self.$set(arbitrary::Arbitrary::arbitrary(u)?);
                    } )*
                }
                Ok(())
            }
        }
    };
}

fattr4_table!(attrs);

/// Values of attributes: `fattr4`.
///
/// What most replies carry lies in place, the rest in a box that is made when it is first needed. On the wire values
/// stand in ascending order of their numbers, whatever the order in which they were set (RFC 8881 §3.3.7).
///
/// ```
/// use nfs4_proto::{Attrs, FileType};
/// let mut attrs = Attrs::new();
/// attrs.set_size(4096).set_file_type(FileType::Reg);
/// assert_eq!(attrs.mask().to_string(), "[type,size]");
/// assert_eq!(attrs.size(), Some(4096));
/// ```
#[derive(Clone, Default)]
pub struct Attrs {
    /// Exactly the attributes that have a value.
    mask: AttrSet,
    common: Common,
    rest: Option<Box<Rest>>,
}

impl Attrs {
    /// No values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which attributes have a value.
    #[must_use]
    pub fn mask(&self) -> &AttrSet {
        &self.mask
    }

    /// Whether no attribute has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mask.is_empty()
    }

    /// Takes a value away.
    pub fn remove(&mut self, attr: Attr) -> &mut Self {
        if self.mask.contains(attr) {
            self.mask.remove(attr);
            self.clear(attr);
        }
        self
    }

    /// Takes all values away that are not in `keep`.
    pub fn retain(&mut self, keep: &AttrSet) -> &mut Self {
        for attr in self.mask.without(keep).iter() {
            self.remove(attr);
        }
        self
    }

    /// Only the values that are in `keep`.
    #[must_use]
    pub fn restrict(mut self, keep: &AttrSet) -> Self {
        self.retain(keep);
        self
    }

    /// Takes over all values that `newer` has.
    pub fn update(&mut self, newer: &Self) -> &mut Self {
        for attr in newer.mask.iter() {
            self.take_from(newer, attr);
        }
        self
    }

    /// Whether `object` has all these values: what VERIFY asks. RFC 8881 §18.31.
    #[must_use]
    pub fn matches(&self, object: &Self) -> bool {
        self.mask.iter().all(|attr| object.mask.contains(attr) && self.same(object, attr))
    }

    /// Which attributes have different values in the two, or a value in one only.
    #[must_use]
    pub fn differences(&self, other: &Self) -> AttrSet {
        self.mask.or(&other.mask).iter().filter(|attr| !self.same(other, *attr)).collect()
    }

    /// Encodes only what is in `want` as well, without a copy: a reply from cached values.
    pub fn encode_only(&self, want: &AttrSet, w: &mut Writer) -> Result<(), EncodeError> {
        self.encode_set(&self.mask.and(want), w)
    }

    fn encode_set(&self, set: &AttrSet, w: &mut Writer) -> Result<(), EncodeError> {
        set.encode(w)?;
        let len = w.later_u32()?;
        set.iter().try_for_each(|attr| self.encode_value(attr, w))?;
        w.close_opaque(len)
    }

    fn values_len(&self) -> usize {
        let values = self.mask.iter().filter_map(|attr| self.value(attr));
        values.fold(0, |sum, value| sum.saturating_add(value.encoded_len()))
    }

    /// The same values without a share in the record they came in: for what is kept longer than a request.
    #[must_use]
    pub fn detach(&self) -> Self {
        let mut w = Writer::with_limit(BytesMut::with_capacity(self.encoded_len()), usize::MAX);
        if self.encode(&mut w).is_err() {
            // Only a value above the bound of its own type, which none of them can hold.
            return self.clone();
        }
        from_record(&w.finish().to_bytes()).unwrap_or_else(|_| self.clone())
    }
}

impl PartialEq for Attrs {
    fn eq(&self, other: &Self) -> bool {
        // With equal masks a box that is missing on one side is empty on the other.
        self.mask == other.mask
            && self.common == other.common
            && self.rest.as_ref().zip(other.rest.as_ref()).is_none_or(|(a, b)| a == b)
    }
}

impl Eq for Attrs {}

impl fmt::Debug for Attrs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.mask.iter().filter_map(|attr| Some((attr, self.value(attr)?)));
        let mut map = f.debug_map();
        for (attr, value) in values {
            map.entry(&format_args!("{attr}"), &format_args!("{value:?}"));
        }
        map.finish()
    }
}

impl fmt::Display for Attrs {
    /// `[type,size]`; with `{:#}` the values too: `[type=Reg,size=4096]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(&self.mask, f);
        }
        f.write_str("[")?;
        for (i, attr) in self.mask.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match self.value(attr) {
                Some(value) => write!(f, "{comma}{attr}={value:?}")?,
                None => write!(f, "{comma}{attr}")?,
            }
        }
        f.write_str("]")
    }
}

impl Decode for Attrs {
    const MIN_WIRE: usize = 8;

    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (after, mask) = AttrSet::decode(input)?;
        let (rest, mut body) = take_opaque(after, usize::MAX)?;
        let mut attrs = Self::new();
        for number in mask.bits().iter() {
            // The length of a value without a type is unknown, so nothing behind it can be found.
            let Some(attr) = Attr::from_number(number) else {
                return Err(DecodeError::fail(body, DecodeKind::Unknown { of: UNTYPED, value: number }));
            };
            let (next, ()) = attrs.decode_value(attr, body)?;
            body = next;
        }
        match body.remaining() {
            0 => Ok((rest, attrs)),
            n => Err(DecodeError::fail(body, DecodeKind::Trailing(n))),
        }
    }
}

impl Encode for Attrs {
    fn encoded_len(&self) -> usize {
        self.mask.encoded_len().saturating_add(4).saturating_add(padded(self.values_len()))
    }

    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.encode_set(&self.mask, w)
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Attrs {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mask = AttrSet::arbitrary(u)?;
        let mut attrs = Self::new();
        for attr in mask.iter() {
            attrs.arbitrary_value(attr, u)?;
        }
        Ok(attrs)
    }
}
