/// Defines a discriminated union and its codec: one arm for each value of the discriminant, also where bodies are
/// equal (a shared arm would forget which value it came from). Bodies: none, `(Type)`, or `{ field: Type, … }`.
/// A last line `else Name` keeps numbers without an arm as `Name(u32)`, for unions with `default: void`.
///
/// ```
/// nfs4_xdr::xdr_enum! {
///     /// Kinds.
///     pub enum kind4 as Kind { /// No.
///         None = 0 "NONE", /// Yes.
///         Some = 1 "SOME" }
/// }
/// nfs4_xdr::xdr_union! {
///     /// A number or none.
///     pub union number4 as Number switch (Kind) {
///         /// No number.
///         None => Nothing,
///         /// A number.
///         Some => Is(u32),
///     }
/// }
/// ```
#[macro_export]
macro_rules! xdr_union {
    (
        $(#[$meta:meta])*
        $vis:vis union $wire:ident as $name:ident switch ($disc:ident) {
            $(
                $(#[$vmeta:meta])*
                $value:ident => $variant:ident
                    $( ( $type:ty ) )?
                    $( { $( $(#[$fmeta:meta])* $field:ident : $ftype:ty ),* $(,)? } )?
            ),*
            $(,)?
            $( ; $(#[$emeta:meta])* else $other:ident )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        $vis enum $name {
            $( $(#[$vmeta])* $variant $( ( $type ) )? $( { $( $(#[$fmeta])* $field: $ftype ),* } )?, )*
            $( $(#[$emeta])* #[cfg_attr(feature = "arbitrary", arbitrary(skip))] $other(u32), )?
        }

        impl $crate::Decode for $name {
            const MIN_WIRE: usize = 4;

            fn decode(input: $crate::Input<'_>) -> $crate::Parsed<'_, Self> {
                let (rest, number) = <u32 as $crate::Decode>::decode(input)?;
                match <$disc as $crate::XdrEnum>::from_wire(number) {
                    $(
                        Some($disc::$value) => $crate::xdr_union!(
                            @decode rest, $variant $( ( $type ) )? $( { $( $field: $ftype ),* } )?
                        ),
                    )*
                    #[allow(unreachable_patterns, clippy::wildcard_enum_match_arm,
                        reason = "values of the discriminant without an arm")]
                    _ => {
                        $( return Ok((rest, Self::$other(number))); )?
                        #[allow(unreachable_code, reason = "with an else arm")]
                        Err($crate::DecodeError::fail(
                            input,
                            $crate::DecodeKind::Unknown { of: stringify!($wire), value: number },
                        ))
                    }
                }
            }
        }

        impl $crate::Encode for $name {
            fn encoded_len(&self) -> usize {
                match self {
                    $(
                        $crate::xdr_union!(@pattern $variant $( ( $type ) body )? $( { $( $field ),* } )?) =>
                            4_usize
                            $( .saturating_add(<$type as $crate::Encode>::encoded_len(body)) )?
                            $( $( .saturating_add($crate::Encode::encoded_len($field)) )* )?,
                    )*
                    $( Self::$other(_) => 4, )?
                }
            }

            fn encode(&self, w: &mut $crate::Writer) -> Result<(), $crate::EncodeError> {
                match self {
                    $(
                        $crate::xdr_union!(@pattern $variant $( ( $type ) body )? $( { $( $field ),* } )?) => {
                            $crate::Encode::encode(&$crate::XdrEnum::to_wire($disc::$value), w)?;
                            $( <$type as $crate::Encode>::encode(body, w)?; )?
                            $( $( $crate::Encode::encode($field, w)?; )* )?
                            Ok(())
                        }
                    )*
                    $( Self::$other(number) => $crate::Encode::encode(number, w), )?
                }
            }
        }
    };
    (@decode $rest:ident, $variant:ident) => { Ok(($rest, Self::$variant)) };
    (@decode $rest:ident, $variant:ident ( $type:ty )) => {
        match <$type as $crate::Decode>::decode($rest) {
            Ok((rest, body)) => Ok((rest, Self::$variant(body))),
            Err(e) => Err(e.map(|e| e.within($crate::Step::Field(stringify!($variant))))),
        }
    };
    (@decode $rest:ident, $variant:ident { $( $field:ident : $ftype:ty ),* }) => {{
        let rest = $rest;
        $(
            let (rest, $field) = <$ftype as $crate::Decode>::decode(rest)
                .map_err(|e| e.map(|e| e.within($crate::Step::Field(stringify!($field)))))?;
        )*
        Ok((rest, Self::$variant { $( $field ),* }))
    }};
    (@pattern $variant:ident) => { Self::$variant };
    (@pattern $variant:ident ( $type:ty ) $body:ident) => { Self::$variant($body) };
    (@pattern $variant:ident { $( $field:ident ),* }) => { Self::$variant { $( $field ),* } };
}
