/// Defines a type that is another one under a name of its own.
///
/// ```
/// nfs4_xdr::xdr_newtype! {
///     /// A client ID. RFC 8881 §3.3.
///     #[derive(Copy, Hash)]
///     pub struct clientid4 as ClientId(pub u64);
/// }
/// ```
#[macro_export]
macro_rules! xdr_newtype {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $wire:ident as $name:ident($fvis:vis $type:ty);
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        $vis struct $name($fvis $type);

        impl $crate::Decode for $name {
            const MIN_WIRE: usize = <$type as $crate::Decode>::MIN_WIRE;

            fn decode(input: $crate::Input<'_>) -> $crate::Parsed<'_, Self> {
                let (rest, value) = <$type as $crate::Decode>::decode(input)?;
                Ok((rest, Self(value)))
            }
        }

        impl $crate::Encode for $name {
            fn encoded_len(&self) -> usize {
                $crate::Encode::encoded_len(&self.0)
            }

            fn encode(&self, w: &mut $crate::Writer) -> Result<(), $crate::EncodeError> {
                $crate::Encode::encode(&self.0, w)
            }
        }
    )+};
}
