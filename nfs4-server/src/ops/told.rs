//! What came of an operation, on its way into the reply.

use nfs4_proto::{OpNum, ResOp, Status};
use nfs4_xdr::{EncodeError, Segments, Writer};

/// What came of an operation.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives on the stack for a moment; a box would be an allocation for each"
)]
pub(crate) enum Told {
    /// A result.
    Result(ResOp),
    /// The body of a result with NFS4_OK, encoded already.
    Encoded(OpNum, Segments),
}

impl Told {
    /// The operation's status.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Result(result) => result.status(),
            Self::Encoded(..) => Status::Ok,
        }
    }

    /// Adds it to a reply.
    pub(crate) fn put(self, w: &mut Writer) -> Result<(), EncodeError> {
        match self {
            Self::Result(result) => w.put(&result),
            Self::Encoded(num, body) => {
                w.put(&num)?;
                w.put(&Status::Ok)?;
                body.into_iter().try_for_each(|part| w.put_encoded(part))
            }
        }
    }
}
