//! One CB_COMPOUND over one connection.

use std::time::Duration;

use bytes::Bytes;
use nfs4_proto::{CbArgOp, CbCompound, CbCompoundRes, CbOpNum, CbResOp, CbSequenceArgs, Status};
use nfs4_xdr::rpc::{Accepted, Call, OpaqueAuth, Reply};
use nfs4_xdr::{Decode, Encode, Input, List};

use super::{Callback, CbError};
use crate::net::Conn;
use crate::observe::Metrics;
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
    pub(super) async fn send(
        &self,
        conn: &Conn,
        patience: Duration,
        metrics: &Metrics,
    ) -> Result<Vec<CbResOp>, CbError> {
        let answer = conn
            .call_back(self.program, CB_VERSION, CB_COMPOUND, self.cred.clone(), |w| w.put(&self.compound))
            .ok_or(CbError::NoPath)?;
        let answer = tokio::time::timeout(patience, answer).await;
        let Ok(Ok(record)) = answer else { return Err(CbError::NoAnswer) };
        self.understand(&record, metrics)
    }

    fn understand(&self, record: &Bytes, metrics: &Metrics) -> Result<Vec<CbResOp>, CbError> {
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
                if results.first().is_some_and(|first| first.status() == Status::RetryUncachedRep) {
                    return Err(CbError::AnswerLost);
                }
                let asked = self.compound.ops.iter().skip(1).map(CbArgOp::num);
                checked(asked, results, metrics)
            }
            Some(CbResOp::Sequence(Ok(_))) | None => Err(CbError::Nonsense),
            Some(first) => {
                let (num, status) = (CbOpNum::Sequence, first.status());
                if !num.may_answer(status) {
                    metrics.illegal_callback_answer(num, status);
                }
                Err(CbError::Refused(status))
            }
        }
    }
}

/// Results of other callbacks than those that were asked for are nonsense. A status that is none of the callback's
/// (RFC 8881 §15.3) stands for nothing that the server could act upon: it counts as NFS4ERR_SERVERFAULT.
fn checked(
    asked: impl Iterator<Item = CbOpNum>,
    mut results: Vec<CbResOp>,
    metrics: &Metrics,
) -> Result<Vec<CbResOp>, CbError> {
    let mut asked = asked.fuse();
    for result in &mut results {
        let (num, status) = (result.num(), result.status());
        match asked.next() {
            Some(wanted) if num == wanted || num == CbOpNum::Illegal => {}
            Some(_) | None => return Err(CbError::Nonsense),
        }
        if !num.may_answer(status) {
            metrics.illegal_callback_answer(num, status);
            *result = CbResOp::error(num, Status::ServerFault);
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_none_of_the_callbacks_is_counted_and_means_nothing() {
        let metrics = Metrics::new().unwrap();
        let asked = || [CbOpNum::Getattr].into_iter();
        let said = |status| vec![CbResOp::error(CbOpNum::Getattr, status)];
        assert_eq!(checked(asked(), said(Status::BadHandle), &metrics), Ok(said(Status::BadHandle)));
        assert!(!metrics.render().contains("nfs_illegal_statuses_total{"));
        for _ in 0..2 {
            let told = checked(asked(), said(Status::BadStateId), &metrics);
            assert_eq!(told, Ok(said(Status::ServerFault)));
        }
        let line = "nfs_illegal_statuses_total{op=\"CB_GETATTR\",status=\"NFS4ERR_BAD_STATEID\"} 2";
        assert!(metrics.render().lines().any(|l| l == line), "{}", metrics.render());
    }

    #[test]
    fn results_of_what_was_not_asked_are_nonsense() {
        let metrics = Metrics::new().unwrap();
        let recall = || CbResOp::Recall(Ok(()));
        let asked = || [CbOpNum::Recall].into_iter();
        assert_eq!(checked(asked(), vec![recall()], &metrics), Ok(vec![recall()]));
        assert_eq!(checked(asked(), vec![], &metrics), Ok(vec![]));
        assert_eq!(checked(asked(), vec![recall(), recall()], &metrics), Err(CbError::Nonsense));
        let other = [CbOpNum::Getattr].into_iter();
        assert_eq!(checked(other, vec![recall()], &metrics), Err(CbError::Nonsense));
        let unknown = CbResOp::error(CbOpNum::Illegal, Status::OpIllegal);
        assert_eq!(checked(asked(), vec![unknown.clone()], &metrics), Ok(vec![unknown]));
    }
}
