//! Attributes: GETATTR, SETATTR, VERIFY, NVERIFY.

use alloc::boxed::Box;

use nfs4_xdr::{Decode, Encode, EncodeError, Input, Parsed, Writer, xdr_struct};

use crate::{AttrSet, Attrs, OpError, StateId, Status};

xdr_struct! {
    /// RFC 8881 §18.7.1.
    pub struct GETATTR4args as GetattrArgs {
        /// The attributes wanted.
        pub attr_request: AttrSet,
    }

    /// RFC 8881 §18.7.2.
    pub struct GETATTR4resok as GetattrOk {
        /// Those of them that there are.
        pub obj_attributes: Attrs,
    }

    /// RFC 8881 §18.30.1.
    pub struct SETATTR4args as SetattrArgs {
        /// Who changes the size: an open, lock or delegation, or a special stateid.
        pub stateid: StateId,
        /// The attributes to set.
        pub obj_attributes: Box<Attrs>,
    }

    /// VERIFY and NVERIFY. RFC 8881 §18.31.1, §18.15.1.
    pub struct VERIFY4args as VerifyArgs {
        /// What to compare with.
        pub obj_attributes: Box<Attrs>,
    }
}

/// Why SETATTR failed, and what it had set by then: the attributes are told whatever the status. RFC 8881 §18.30.2.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SetattrError {
    /// The status.
    pub status: Status,
    /// The attributes that were set nevertheless.
    pub attrsset: AttrSet,
}

impl From<Status> for SetattrError {
    fn from(status: Status) -> Self {
        Self { status, attrsset: AttrSet::default() }
    }
}

impl OpError for SetattrError {
    fn status(&self) -> Status {
        OpError::status(&self.status)
    }

    fn tidy(self) -> Self {
        Self { status: OpError::status(&self), ..self }
    }

    fn decode_body(status: Status, input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, attrsset) = AttrSet::decode(input)?;
        Ok((rest, Self { status, attrsset }))
    }

    fn body_len(&self) -> usize {
        self.attrsset.encoded_len()
    }

    fn encode_body(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.attrsset.encode(w)
    }
}
