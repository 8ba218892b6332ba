/// Defines an enumeration and its codec. A closed one refuses numbers it does not have; an `open` one keeps them in
/// `Other`. `Display` and `name` give the RFC's names.
///
/// ```
/// nfs4_xdr::xdr_enum! {
///     /// How a file is created. RFC 8881 §18.16.1.
///     pub enum createmode4 as CreateMode {
///         /// Take what is there.
///         Unchecked = 0 "UNCHECKED4",
///         /// Fail where it is there.
///         Guarded = 1 "GUARDED4",
///     }
/// }
/// assert_eq!(CreateMode::Guarded.to_string(), "GUARDED4");
/// ```
#[macro_export]
macro_rules! xdr_enum {
    (
        $(#[$meta:meta])*
        $vis:vis open enum $wire:ident as $name:ident {
            $( $(#[$vmeta:meta])* $variant:ident = $value:literal $text:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        $vis enum $name {
            $( $(#[$vmeta])* $variant, )*
            /// A number that has no name here.
            #[cfg_attr(feature = "arbitrary", arbitrary(skip))]
            Other(u32),
        }

        impl $name {
            /// All values with a name.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),* ];

            /// The RFC's name; `None` where there is none.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self { $( Self::$variant => Some($text), )* Self::Other(_) => None }
            }
        }

        impl $crate::XdrEnum for $name {
            const NAME: &'static str = stringify!($wire);
            fn from_wire(value: u32) -> Option<Self> {
                Some(match value { $( $value => Self::$variant, )* other => Self::Other(other) })
            }
            fn to_wire(self) -> u32 {
                match self { $( Self::$variant => $value, )* Self::Other(other) => other }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $( Self::$variant => f.write_str($text), )*
                    Self::Other(n) => write!(f, "{}({n})", stringify!($wire)),
                }
            }
        }

        $crate::xdr_enum!(@codec $name);
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $wire:ident as $name:ident {
            $( $(#[$vmeta:meta])* $variant:ident = $value:literal $text:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        $vis enum $name {
            $( $(#[$vmeta])* $variant, )*
        }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),* ];

            /// The RFC's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }

        impl $crate::XdrEnum for $name {
            const NAME: &'static str = stringify!($wire);
            fn from_wire(value: u32) -> Option<Self> {
                match value { $( $value => Some(Self::$variant), )* _ => None }
            }
            fn to_wire(self) -> u32 {
                match self { $( Self::$variant => $value, )* }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        $crate::xdr_enum!(@codec $name);
    };
    (@codec $name:ident) => {
        impl $crate::Decode for $name {
            const MIN_WIRE: usize = 4;
            fn decode(input: $crate::Input<'_>) -> $crate::Parsed<'_, Self> {
                let (rest, value) = <u32 as $crate::Decode>::decode(input)?;
                match <Self as $crate::XdrEnum>::from_wire(value) {
                    Some(known) => Ok((rest, known)),
                    None => Err($crate::DecodeError::fail(
                        input,
                        $crate::DecodeKind::Unknown { of: <Self as $crate::XdrEnum>::NAME, value },
                    )),
                }
            }
        }

        impl $crate::Encode for $name {
            fn encoded_len(&self) -> usize {
                4
            }
            fn encode(&self, w: &mut $crate::Writer) -> Result<(), $crate::EncodeError> {
                $crate::Encode::encode(&$crate::XdrEnum::to_wire(*self), w)
            }
        }
    };
}
