//! One CB_COMPOUND over one connection.

use std::time::Duration;

use nfs4_proto::{CbArgOp, CbCompound, CbCompoundRes, CbResOp, CbSequenceArgs};
use nfs4_xdr::rpc::{Accepted, OpaqueAuth, Reply};
use nfs4_xdr::{Decode, Input, List};

use super::{Callback, CbError};
use crate::net::Conn;
use crate::state::{CallbackCred, CallbackTurn, Session};

/// The version of the callback program. RFC 8881 §18.36.3 says 4, the XDR says 1, and every client serves 1.
const CB_VERSION: u32 = 1;
const CB_COMPOUND: u32 = 1;

/// By what a callback is sent.
pub(super) struct Sent<'a> {
    pub(super) session: &'a Session,
    pub(super) program: u32,
    pub(super) cred: &'a CallbackCred,
    pub(super) turn: CallbackTurn,
}

fn credential(cred: &CallbackCred) -> OpaqueAuth {
    match cred {
        CallbackCred::Sys(sys) => OpaqueAuth::sys(sys),
        CallbackCred::None | CallbackCred::Gss => OpaqueAuth::none(),
    }
}

/// Sends CB_SEQUENCE with the operations behind it; the results behind CB_SEQUENCE's.
pub(super) async fn send(
    conn: &Conn,
    by: &Sent<'_>,
    callback: &Callback,
    patience: Duration,
) -> Result<Vec<CbResOp>, CbError> {
    let (session, turn) = (by.session, by.turn);
    let mut all = Vec::with_capacity(callback.ops.len() + 1);
    all.push(CbArgOp::Sequence(CbSequenceArgs {
        sessionid: *session.id(),
        sequenceid: turn.seqid,
        slotid: turn.slot,
        highest_slotid: turn.highest,
        cachethis: false,
        referring_call_lists: List::new(callback.referring.clone()).ok_or(CbError::Nonsense)?,
    }));
    all.extend(callback.ops.iter().cloned());
    let compound = CbCompound::new(session.minor(), all).ok_or(CbError::Nonsense)?;
    let answer = conn
        .call_back(by.program, CB_VERSION, CB_COMPOUND, credential(by.cred), |w| w.put(&compound))
        .ok_or(CbError::NoPath)?;
    let Ok(Ok(record)) = tokio::time::timeout(patience, answer).await else { return Err(CbError::NoAnswer) };
    let (rest, reply) = Reply::decode(Input::new(&record)).map_err(|_| CbError::Nonsense)?;
    if reply.body != Ok(Accepted::Success) {
        return Err(CbError::Nonsense);
    }
    let (_, results) = CbCompoundRes::decode(rest).map_err(|_| CbError::Nonsense)?;
    let mut results = results.ops.into_iter();
    match results.next() {
        Some(CbResOp::Sequence(Ok(ok)))
            if (ok.sessionid, ok.sequenceid, ok.slotid) == (*session.id(), turn.seqid, turn.slot) =>
        {
            Ok(results.collect())
        }
        Some(CbResOp::Sequence(Ok(_))) | None => Err(CbError::Nonsense),
        Some(first) => Err(CbError::Refused(first.status())),
    }
}
