//! From a record to a call that the service may see, or the RPC reply to one that it may not.

use bytes::{Bytes, BytesMut};
use nfs4_xdr::rpc::{
    Accepted, Call as RpcCall, Credentials, NFS_PROGRAM, NFS_V4, RPC_VERSION, Rejected, authenticate,
    put_accepted, put_rejected,
};
use nfs4_xdr::{Decode, EncodeError, Input, Patch, Segments, Writer};
use smallvec::SmallVec;

use crate::backend::Who;

/// A COMPOUND, past the checks of RPC.
#[derive(Debug)]
pub struct Call {
    /// Transaction ID.
    pub xid: u32,
    /// The user; `None` is AUTH_NONE.
    pub caller: Option<Who>,
    /// Flavor and user as bytes: what client records and the reply cache compare.
    pub principal: SmallVec<[u8; 8]>,
    /// The whole record.
    pub record: Bytes,
    /// Where the arguments begin in it.
    pub body_at: usize,
}

/// What a record asks for.
pub(super) enum Asked {
    /// A COMPOUND for the service.
    Compound(Call),
    /// The answer is known.
    Answer(Segments),
    /// Not a message that could be answered.
    Nothing,
}

/// Bytes of an ordinary reply, made room for at once.
const USUAL: usize = 512;

/// Begins a reply: room for the record mark, and the header of success. It has no limit yet.
pub fn begin_reply(xid: u32) -> Result<(Writer, Patch), EncodeError> {
    let mut w = Writer::with_limit(BytesMut::with_capacity(USUAL), usize::MAX);
    let mark = w.later_u32()?;
    put_accepted(&mut w, xid, Accepted::Success)?;
    Ok((w, mark))
}

/// Ends a message: fills the record mark.
#[must_use]
pub fn end_reply(mut w: Writer, mark: Patch) -> Segments {
    let len = u32::try_from(w.since(mark)).unwrap_or(0);
    w.fill(mark, len | nfs4_xdr::record::LAST_FRAGMENT);
    w.finish()
}

fn answer(put: impl FnOnce(&mut Writer) -> Result<(), EncodeError>) -> Asked {
    let mut w = Writer::unlimited();
    let Ok(mark) = w.later_u32() else { return Asked::Nothing };
    match put(&mut w) {
        Ok(()) => Asked::Answer(end_reply(w, mark)),
        Err(_) => Asked::Nothing,
    }
}

/// RFC 5531 §9; the order of the checks is the RPC's: version, credentials, program, version, procedure.
pub(super) fn look_at(record: Bytes) -> Asked {
    let (body_at, call) = match RpcCall::decode(Input::new(&record)) {
        Ok((rest, call)) => (rest.offset(), call),
        Err(_) => return header_only(&record),
    };
    let xid = call.xid;
    if call.rpcvers != RPC_VERSION {
        return answer(|w| put_rejected(w, xid, Rejected::RpcMismatch(RPC_VERSION, RPC_VERSION)));
    }
    let credentials = match authenticate(&call) {
        Ok(credentials) => credentials,
        Err(why) => return answer(|w| put_rejected(w, xid, Rejected::Auth(why))),
    };
    if call.prog != NFS_PROGRAM {
        return answer(|w| put_accepted(w, xid, Accepted::ProgUnavail));
    }
    if call.vers != NFS_V4 {
        return answer(|w| put_accepted(w, xid, Accepted::ProgMismatch(NFS_V4, NFS_V4)));
    }
    match call.proc {
        0 => answer(|w| put_accepted(w, xid, Accepted::Success)),
        1 => {
            let (caller, principal) = identity(&credentials);
            Asked::Compound(Call { xid, caller, principal, record, body_at })
        }
        _ => answer(|w| put_accepted(w, xid, Accepted::ProcUnavail)),
    }
}

/// A header that does not decode: where at least the words in front of the credentials are there, the RPC version or
/// the credentials are what is wrong.
fn header_only(record: &Bytes) -> Asked {
    type Front = (u32, u32, u32);
    fn front(record: &Bytes) -> Option<Front> {
        let (rest, xid) = u32::decode(Input::new(record)).ok()?;
        let (rest, kind) = u32::decode(rest).ok()?;
        let (_, version) = u32::decode(rest).ok()?;
        Some((xid, kind, version))
    }
    match front(record) {
        Some((xid, 0, version)) if version != RPC_VERSION => {
            answer(|w| put_rejected(w, xid, Rejected::RpcMismatch(RPC_VERSION, RPC_VERSION)))
        }
        Some((xid, 0, _)) => {
            answer(|w| put_rejected(w, xid, Rejected::Auth(nfs4_xdr::rpc::AuthStat::BadCred)))
        }
        Some(_) | None => Asked::Nothing,
    }
}

fn identity(credentials: &Credentials) -> (Option<Who>, SmallVec<[u8; 8]>) {
    let mut principal = SmallVec::new();
    match credentials {
        Credentials::None => {
            principal.extend_from_slice(&0_u32.to_be_bytes());
            (None, principal)
        }
        Credentials::Sys(who) => {
            principal.extend_from_slice(&1_u32.to_be_bytes());
            principal.extend_from_slice(&who.uid.to_be_bytes());
            let groups = who.gids.iter().copied().collect();
            (Some(Who { uid: who.uid, gid: who.gid, groups }), principal)
        }
    }
}
