//! Calls.

use bytes::Bytes;

use crate::{Decode, Encode, EncodeError, Input, Parsed, Writer, xdr_enum};

use super::{OpaqueAuth, RPC_VERSION};

xdr_enum! {
    /// What a message is. RFC 5531 §9.
    pub enum msg_type as MsgType {
        /// A call.
        Call = 0 "CALL",
        /// A reply.
        Reply = 1 "REPLY",
    }
}

/// The transaction ID and the kind of a message, without the rest; `None` where it is none.
#[must_use]
pub fn message_type(record: &Bytes) -> Option<(u32, MsgType)> {
    let (rest, xid) = u32::decode(Input::new(record)).ok()?;
    let (_, kind) = MsgType::decode(rest).ok()?;
    Some((xid, kind))
}

/// The header of a call, to the arguments. RFC 5531 §9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Transaction ID.
    pub xid: u32,
    /// RPC version; must be 2, which the caller checks, as it has an answer of its own.
    pub rpcvers: u32,
    /// Program.
    pub prog: u32,
    /// Version of the program.
    pub vers: u32,
    /// Procedure.
    pub proc: u32,
    /// Credential.
    pub cred: OpaqueAuth,
    /// Verifier.
    pub verf: OpaqueAuth,
}

impl Call {
    /// A call with no verifier.
    #[must_use]
    pub fn new(xid: u32, prog: u32, vers: u32, proc: u32, cred: OpaqueAuth) -> Self {
        Self { xid, rpcvers: RPC_VERSION, prog, vers, proc, cred, verf: OpaqueAuth::none() }
    }
}

impl Decode for Call {
    const MIN_WIRE: usize = 40;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, xid) = u32::decode(input)?;
        let (rest, kind) = MsgType::decode(rest)?;
        if kind != MsgType::Call {
            return Err(crate::DecodeError::fail(
                input,
                crate::DecodeKind::Invalid("a reply and not a call"),
            ));
        }
        let (rest, rpcvers) = u32::decode(rest)?;
        let (rest, prog) = u32::decode(rest)?;
        let (rest, vers) = u32::decode(rest)?;
        let (rest, proc) = u32::decode(rest)?;
        let (rest, cred) = OpaqueAuth::decode(rest)?;
        let (rest, verf) = OpaqueAuth::decode(rest)?;
        Ok((rest, Self { xid, rpcvers, prog, vers, proc, cred, verf }))
    }
}

impl Encode for Call {
    fn encoded_len(&self) -> usize {
        self.cred.encoded_len().saturating_add(self.verf.encoded_len()).saturating_add(24)
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put(&self.xid)?;
        w.put(&MsgType::Call)?;
        for word in [self.rpcvers, self.prog, self.vers, self.proc] {
            w.put(&word)?;
        }
        w.put(&self.cred)?;
        w.put(&self.verf)
    }
}
