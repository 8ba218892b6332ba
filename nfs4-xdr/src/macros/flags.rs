/// Defines a word of flags (`bitflags`) and its codec. Bits without a name are kept.
///
/// ```
/// nfs4_xdr::xdr_flags! {
///     /// What OPEN says of its result. RFC 8881 §18.16.2.
///     pub struct OpenResultFlags: u32 {
///         /// Byte-range locks are POSIX's.
///         const LOCKTYPE_POSIX = 0x4;
///     }
/// }
/// ```
#[macro_export]
macro_rules! xdr_flags {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident: u32 {
            $( $(#[$fmeta:ident $($fargs:tt)*])* const $flag:ident = $value:expr; )*
        }
    )+) => {$(
        $crate::private::bitflags::bitflags! {
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            $vis struct $name: u32 {
                $( $(#[$fmeta $($fargs)*])* const $flag = $value; )*
            }
        }

        impl $crate::Decode for $name {
            const MIN_WIRE: usize = 4;
            fn decode(input: $crate::Input<'_>) -> $crate::Parsed<'_, Self> {
                let (rest, bits) = <u32 as $crate::Decode>::decode(input)?;
                Ok((rest, Self::from_bits_retain(bits)))
            }
        }

        impl $crate::Encode for $name {
            fn encoded_len(&self) -> usize {
                4
            }
            fn encode(&self, w: &mut $crate::Writer) -> Result<(), $crate::EncodeError> {
                $crate::Encode::encode(&self.bits(), w)
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                Ok(Self::from_bits_retain(u.arbitrary()?))
            }
        }
    )+};
}
