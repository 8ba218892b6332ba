//! One CB_COMPOUND over one connection.

use std::time::Duration;

use bytes::Bytes;
use nfs4_proto::{CbArgOp, CbCompound, CbCompoundRes, CbResOp, CbSequenceArgs, Status};
use nfs4_xdr::rpc::{Accepted, Call, OpaqueAuth, Reply};
use nfs4_xdr::{Decode, Encode, Input, List};

use super::{Callback, CbError};
use crate::net::Conn;
use crate::state::{CallbackCred, CallbackTurn, Session};

/// The version of the callback program. RFC 8881 §18.36.3 says 4, the XDR says 1, and every client serves 1.
const CB_VERSION: u32 = 1;
const CB_COMPOUND: u32 = 1;

fn credential(cred: &CallbackCred) -> OpaqueAuth {
    match cred {
        CallbackCred::Sys(sys) => OpaqueAuth::sys(sys),
        CallbackCred::None | CallbackCred::Gss => OpaqueAuth::none(),
    }
}

/// A call that is ready to go, once or several times.
pub(super) struct Outgoing<'a> {
    session: &'a Session,
    turn: CallbackTurn,
    program: u32,
    cred: OpaqueAuth,
    compound: CbCompound,
}

impl<'a> Outgoing<'a> {
    /// CB_SEQUENCE with the operations behind it. TooBig where the session's back channel does not take it
    /// (§18.36.3: `ca_maxoperations`, `ca_maxrequestsize`).
    pub(super) fn new(
        session: &'a Session,
        turn: CallbackTurn,
        program: u32,
        cred: &CallbackCred,
        callback: &Callback,
    ) -> Result<Self, CbError> {
        let mut all = Vec::with_capacity(callback.ops.len() + 1);
        all.push(CbArgOp::Sequence(CbSequenceArgs {
            sessionid: *session.id(),
            sequenceid: turn.seqid,
            slotid: turn.slot,
            highest_slotid: turn.highest,
            cachethis: false,
            referring_call_lists: List::new(callback.referring.clone()).ok_or(CbError::TooBig)?,
        }));
        all.extend(callback.ops.iter().cloned());
        let operations = all.len();
        let compound = CbCompound::new(session.minor(), all).ok_or(CbError::TooBig)?;
        let cred = credential(cred);
        let header = Call::new(0, program, CB_VERSION, CB_COMPOUND, cred.clone()).encoded_len();
        let (bytes, most) = (header + compound.encoded_len(), session.back());
        let fits = |n: usize, most: u32| u32::try_from(n).is_ok_and(|n| n <= most);
        if !fits(operations, most.maxoperations) || !fits(bytes, most.maxrequestsize) {
            return Err(CbError::TooBig);
        }
        Ok(Self { session, turn, program, cred, compound })
    }

    /// Sends it over a connection; the results behind CB_SEQUENCE's. NoPath: nothing was sent.
    pub(super) async fn send(&self, conn: &Conn, patience: Duration) -> Result<Vec<CbResOp>, CbError> {
        let answer = conn
            .call_back(self.program, CB_VERSION, CB_COMPOUND, self.cred.clone(), |w| w.put(&self.compound))
            .ok_or(CbError::NoPath)?;
        let answer = tokio::time::timeout(patience, answer).await;
        let Ok(Ok(record)) = answer else { return Err(CbError::NoAnswer) };
        self.understand(&record)
    }

    fn understand(&self, record: &Bytes) -> Result<Vec<CbResOp>, CbError> {
        let (rest, reply) = Reply::decode(Input::new(record)).map_err(|_| CbError::Nonsense)?;
        if reply.body != Ok(Accepted::Success) {
            return Err(CbError::Nonsense);
        }
        let (_, results) = CbCompoundRes::decode(rest).map_err(|_| CbError::Nonsense)?;
        let mut results = results.ops.into_iter();
        let asked = (*self.session.id(), self.turn.seqid, self.turn.slot);
        match results.next() {
            Some(CbResOp::Sequence(Ok(ok))) if (ok.sessionid, ok.sequenceid, ok.slotid) == asked => {
                let results: Vec<CbResOp> = results.collect();
                match results.first().map(CbResOp::status) {
                    Some(Status::RetryUncachedRep) => Err(CbError::AnswerLost),
                    Some(_) | None => Ok(results),
                }
            }
            Some(CbResOp::Sequence(Ok(_))) | None => Err(CbError::Nonsense),
            Some(first) => Err(CbError::Refused(first.status())),
        }
    }
}
