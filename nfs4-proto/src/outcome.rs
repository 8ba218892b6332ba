//! The shape of a result: its value, or a status and, for few operations, data with the error.

use nfs4_xdr::{Decode, Encode, EncodeError, Input, Parsed, Writer};

use crate::Status;

/// What an operation answers where it fails. Nearly always a [`Status`] alone; LOCK, LOCKT, SETATTR, LAYOUTGET,
/// GETDEVICEINFO, COPY and SETCLIENTID have errors with data.
pub trait OpError: Sized + From<Status> {
    /// The status that goes on the wire: never NFS4_OK, and never one that would need data which are not there.
    fn status(&self) -> Status;

    /// The value as it would be read back: with the status that goes on the wire.
    #[must_use]
    fn tidy(self) -> Self {
        self
    }

    /// Decodes what follows the status.
    fn decode_body(status: Status, input: Input<'_>) -> Parsed<'_, Self>;

    /// Bytes behind the status.
    fn body_len(&self) -> usize {
        0
    }

    /// Encodes what follows the status.
    fn encode_body(&self, w: &mut Writer) -> Result<(), EncodeError> {
        let _ = w;
        Ok(())
    }
}

impl OpError for Status {
    fn status(&self) -> Status {
        // A failure with NFS4_OK would promise a body that does not come.
        if *self == Status::Ok { Status::ServerFault } else { *self }
    }

    fn tidy(self) -> Self {
        OpError::status(&self)
    }

    fn decode_body(status: Status, input: Input<'_>) -> Parsed<'_, Self> {
        Ok((input, status))
    }
}

/// The result of one operation. It is a `Result`; this trait is its codec, as `Result` and XDR's traits are both
/// foreign here.
pub(crate) trait Outcome: Sized {
    fn status(&self) -> Status;
    fn failed(status: Status) -> Self;
    fn decode(input: Input<'_>) -> Parsed<'_, Self>;
    fn encoded_len(&self) -> usize;
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError>;
}

impl<T: Decode + Encode, E: OpError> Outcome for Result<T, E> {
    fn status(&self) -> Status {
        match self {
            Ok(_) => Status::Ok,
            Err(e) => e.status(),
        }
    }

    fn failed(status: Status) -> Self {
        Err(status.into())
    }

    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, status) = Status::decode(input)?;
        if status == Status::Ok {
            let (rest, value) = T::decode(rest)?;
            return Ok((rest, Ok(value)));
        }
        let (rest, error) = E::decode_body(status, rest)?;
        Ok((rest, Err(error)))
    }

    fn encoded_len(&self) -> usize {
        let body = match self {
            Ok(value) => value.encoded_len(),
            Err(e) => e.body_len(),
        };
        body.saturating_add(4)
    }

    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.status().encode(w)?;
        match self {
            Ok(value) => value.encode(w),
            Err(e) => e.encode_body(w),
        }
    }
}

/// A generated result is what it would be read back as.
#[cfg(feature = "arbitrary")]
pub(crate) fn arbitrary_outcome<'a, T, E>(
    u: &mut arbitrary::Unstructured<'a>,
) -> arbitrary::Result<Result<T, E>>
where
    T: arbitrary::Arbitrary<'a>,
    E: OpError + arbitrary::Arbitrary<'a>,
{
    if u.arbitrary()? { Ok(Ok(u.arbitrary()?)) } else { Ok(Err(u.arbitrary::<E>()?.tidy())) }
}

/// An error that carries data with one status.
macro_rules! op_error {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[$vmeta:meta])*
            $status:ident => $variant:ident($body:ty)
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[$vmeta])*
            $variant($body),
            /// Any other status.
            Status($crate::Status),
        }

        impl From<$crate::Status> for $name {
            fn from(status: $crate::Status) -> Self {
                Self::Status(status)
            }
        }

        impl $crate::OpError for $name {
            fn status(&self) -> $crate::Status {
                match self {
                    Self::$variant(_) => $crate::Status::$status,
                    // The data that belong to it are missing.
                    Self::Status($crate::Status::$status) => $crate::Status::ServerFault,
                    Self::Status(other) => $crate::OpError::status(other),
                }
            }

            fn tidy(self) -> Self {
                match self {
                    Self::$variant(_) => self,
                    Self::Status(_) => Self::Status($crate::OpError::status(&self)),
                }
            }

            fn decode_body(status: $crate::Status, input: nfs4_xdr::Input<'_>) -> nfs4_xdr::Parsed<'_, Self> {
                if status == $crate::Status::$status {
                    let (rest, body) = <$body as nfs4_xdr::Decode>::decode(input)?;
                    Ok((rest, Self::$variant(body)))
                } else {
                    Ok((input, Self::Status(status)))
                }
            }

            fn body_len(&self) -> usize {
                match self {
                    Self::$variant(body) => nfs4_xdr::Encode::encoded_len(body),
                    Self::Status(_) => 0,
                }
            }

            fn encode_body(&self, w: &mut nfs4_xdr::Writer) -> Result<(), nfs4_xdr::EncodeError> {
                match self {
                    Self::$variant(body) => nfs4_xdr::Encode::encode(body, w),
                    Self::Status(_) => Ok(()),
                }
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> arbitrary::Arbitrary<'a> for $name {
            fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                if u.arbitrary()? {
                    return Ok(Self::$variant(u.arbitrary()?));
                }
                Ok($crate::OpError::tidy(Self::Status(u.arbitrary()?)))
            }
        }
    )+};
}
pub(crate) use op_error;
