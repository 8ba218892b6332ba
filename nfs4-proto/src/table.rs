//! What is made of a table of operations, fore and back channel alike.

/// One row per operation:
/// `number, "RFC NAME", Variant(Args) -> Ok | Error, minor version, [FLAGS], rank, LEGAL, "documentation";`
/// (no `(Args)` where there are none, no `| Error` where it is a status alone).
macro_rules! nfs4_ops {
    (
        $(#[$num_meta:meta])* numbers $wire:ident as $num:ident;
        $(#[$arg_meta:meta])* arguments $arg_wire:ident as $arg:ident;
        $(#[$res_meta:meta])* results $res_wire:ident as $res:ident;
        $(
            $number:literal, $name:literal, $variant:ident $( ( $args:ty ) )? -> $ok:ty $( | $err:ty )?,
            $minor:literal, [$( $flag:ident )*], $rank:literal, $legal:ident, $doc:literal;
        )*
    ) => {
        nfs4_xdr::xdr_enum! {
            $(#[$num_meta])*
            #[derive(PartialOrd, Ord)]
            pub enum $wire as $num {
                $( #[doc = $doc] $variant = $number $name, )*
            }
        }

        impl $num {
            /// The operation of a number; `None` where there is none.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                nfs4_xdr::XdrEnum::from_wire(number)
            }

            /// Its number on the wire.
            #[must_use]
            pub fn number(self) -> u32 {
                nfs4_xdr::XdrEnum::to_wire(self)
            }

            /// Its place in [`ALL`](Self::ALL): for tables that are indexed by operation.
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// The name as metrics print it, such as `GetDirDelegation`.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $( Self::$variant => stringify!($variant), )* }
            }

            /// One sentence and the section of the RFC.
            #[must_use]
            pub const fn doc(self) -> &'static str {
                match self { $( Self::$variant => $doc, )* }
            }

            /// The minor version that brought it; 0 for what 4.0 had and 4.1 took away.
            #[must_use]
            pub const fn minor(self) -> u32 {
                match self { $( Self::$variant => $minor, )* }
            }

            /// What rules hold for it.
            #[must_use]
            pub const fn flags(self) -> OpFlags {
                match self { $( Self::$variant => OpFlags::empty()$( .union(OpFlags::$flag) )*, )* }
            }

            /// How much it counts when the main operation of a compound is chosen; see [`main_op`](crate::main_op).
            #[must_use]
            pub const fn rank(self) -> u8 {
                match self { $( Self::$variant => $rank, )* }
            }

            /// The statuses of the RFCs' tables.
            #[must_use]
            pub const fn legal(self) -> &'static [Status] {
                match self { $( Self::$variant => legal::$legal, )* }
            }
        }

        $(#[$arg_meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        pub enum $arg {
            $( #[doc = $doc] $variant $( ( $args ) )?, )*
        }

        impl $arg {
            /// Which operation.
            #[must_use]
            pub const fn num(&self) -> $num {
                match self { $( Self::$variant { .. } => $num::$variant, )* }
            }

            /// Decodes the arguments of `num`, which stand behind its number.
            pub fn decode_args(num: $num, input: nfs4_xdr::Input<'_>) -> nfs4_xdr::Parsed<'_, Self> {
                let parsed = match num {
                    $( $num::$variant => nfs4_ops!(@decode input, Self::$variant $( , $args )?), )*
                };
                parsed.map_err(|e| e.map(|e| e.within(nfs4_xdr::Step::Field(num.name()))))
            }
        }

        impl nfs4_xdr::Decode for $arg {
            const MIN_WIRE: usize = 4;
            fn decode(input: nfs4_xdr::Input<'_>) -> nfs4_xdr::Parsed<'_, Self> {
                let (rest, num) = $num::decode(input)?;
                Self::decode_args(num, rest)
            }
        }

        impl nfs4_xdr::Encode for $arg {
            fn encoded_len(&self) -> usize {
                match self {
                    $( nfs4_ops!(@bind $variant $( a: $args )?) =>
                        4_usize $( .saturating_add(<$args as nfs4_xdr::Encode>::encoded_len(a)) )?, )*
                }
            }
            fn encode(&self, w: &mut nfs4_xdr::Writer) -> Result<(), nfs4_xdr::EncodeError> {
                self.num().encode(w)?;
                match self {
                    $( nfs4_ops!(@bind $variant $( a: $args )?) => {
                        $( <$args as nfs4_xdr::Encode>::encode(a, w)?; )?
                        Ok(())
                    } )*
                }
            }
        }

        $(#[$res_meta])*
        #[allow(clippy::large_enum_variant, reason = "one is made at a time, and GETATTR's is the most frequent")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $res {
            $( #[doc = $doc] $variant(Result<$ok, nfs4_ops!(@error $( $err )?)>), )*
        }

        impl $res {
            /// Which operation.
            #[must_use]
            pub const fn num(&self) -> $num {
                match self { $( Self::$variant(_) => $num::$variant, )* }
            }

            /// What it answers.
            #[must_use]
            pub fn status(&self) -> Status {
                match self { $( Self::$variant(r) => Outcome::status(r), )* }
            }

            /// The result of an operation that failed. A `status` of NFS4_OK, and one that carries data, become
            /// NFS4ERR_SERVERFAULT on the wire.
            #[must_use]
            pub fn error(num: $num, status: Status) -> Self {
                match num { $( $num::$variant => Self::$variant(Outcome::failed(status)), )* }
            }

            /// Decodes the result of `num`, which stands behind its number.
            pub fn decode_result(num: $num, input: nfs4_xdr::Input<'_>) -> nfs4_xdr::Parsed<'_, Self> {
                let parsed = match num {
                    $( $num::$variant => Outcome::decode(input).map(|(rest, r)| (rest, Self::$variant(r))), )*
                };
                parsed.map_err(|e| e.map(|e| e.within(nfs4_xdr::Step::Field(num.name()))))
            }
        }

        impl nfs4_xdr::Decode for $res {
            const MIN_WIRE: usize = 8;
            fn decode(input: nfs4_xdr::Input<'_>) -> nfs4_xdr::Parsed<'_, Self> {
                let (rest, num) = $num::decode(input)?;
                Self::decode_result(num, rest)
            }
        }

        impl nfs4_xdr::Encode for $res {
            fn encoded_len(&self) -> usize {
                match self { $( Self::$variant(r) => Outcome::encoded_len(r).saturating_add(4), )* }
            }
            fn encode(&self, w: &mut nfs4_xdr::Writer) -> Result<(), nfs4_xdr::EncodeError> {
                self.num().encode(w)?;
                match self { $( Self::$variant(r) => Outcome::encode(r, w), )* }
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $res {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                Ok(match u.arbitrary::<$num>()? {
                    $( $num::$variant => Self::$variant(crate::outcome::arbitrary_outcome(u)?), )*
                })
            }
        }
    };
    (@decode $input:ident, $variant:path) => { Ok(($input, $variant)) };
    (@decode $input:ident, $variant:path, $args:ty) => {
        <$args as nfs4_xdr::Decode>::decode($input).map(|(rest, a)| (rest, $variant(a)))
    };
    (@bind $variant:ident) => { Self::$variant };
    (@bind $variant:ident $a:ident : $args:ty) => { Self::$variant($a) };
    (@error) => { Status };
    (@error $err:ty) => { $err };
}
pub(crate) use nfs4_ops;
