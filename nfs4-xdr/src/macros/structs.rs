/// Defines a structure and its codec.
///
/// ```
/// nfs4_xdr::xdr_struct! {
///     /// What changed in a directory. RFC 8881 §3.3.8.
///     #[derive(Copy)]
///     pub struct change_info4 as ChangeInfo {
///         /// Nobody came between.
///         pub atomic: bool,
///         /// Before.
///         pub before: u64,
///         /// After.
///         pub after: u64,
///     }
/// }
/// ```
#[macro_export]
macro_rules! xdr_struct {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $wire:ident as $name:ident {
            $( $(#[$fmeta:meta])* $fvis:vis $field:ident : $type:ty ),* $(,)?
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        $vis struct $name {
            $( $(#[$fmeta])* $fvis $field: $type, )*
        }

        impl $crate::Decode for $name {
            const MIN_WIRE: usize = 0 $( + <$type as $crate::Decode>::MIN_WIRE )*;

            fn decode(input: $crate::Input<'_>) -> $crate::Parsed<'_, Self> {
                let rest = input;
                $(
                    let (rest, $field) = <$type as $crate::Decode>::decode(rest)
                        .map_err(|e| e.map(|e| e.within($crate::Step::Field(stringify!($field)))))?;
                )*
                Ok((rest, Self { $( $field ),* }))
            }
        }

        impl $crate::Encode for $name {
            fn encoded_len(&self) -> usize {
                0_usize $( .saturating_add($crate::Encode::encoded_len(&self.$field)) )*
            }

            #[allow(unused_variables, reason = "a structure may have no fields")]
            fn encode(&self, w: &mut $crate::Writer) -> Result<(), $crate::EncodeError> {
                $( $crate::Encode::encode(&self.$field, w)?; )*
                Ok(())
            }
        }
    )+};
}
