//! Calls from the server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use nfs4_proto::{
    CbArgOp, CbCall, CbCompoundRes, CbOpNum, CbResOp, CbSequenceArgs, CbSequenceOk, SessionId, Status,
};
use nfs4_xdr::List;

/// Answers the server's callbacks. Called before any later message of the connection is handed on.
pub trait Callbacks: Send + Sync + 'static {
    /// One callback behind CB_SEQUENCE.
    fn callback(&self, op: &CbArgOp) -> CbResOp;

    /// A CB_COMPOUND came, whatever stands in it.
    fn compound(&self) {}
}

/// A client that holds nothing: there is nothing to recall.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDelegations;

impl Callbacks for NoDelegations {
    fn callback(&self, op: &CbArgOp) -> CbResOp {
        let status = match op {
            CbArgOp::RecallAny(_) => return CbResOp::RecallAny(Ok(())),
            CbArgOp::RecallSlot(_) => return CbResOp::RecallSlot(Ok(())),
            // We hold nothing of which it could speak (RFC 8881 §20.1.3, §20.2.3).
            CbArgOp::Getattr(_) | CbArgOp::Recall(_) | CbArgOp::Notify(_) => Status::BadHandle,
            CbArgOp::Sequence(_) => Status::SequencePos,
            CbArgOp::Illegal => Status::OpIllegal,
            CbArgOp::Layoutrecall(_)
            | CbArgOp::PushDeleg(_)
            | CbArgOp::RecallableObjAvail(_)
            | CbArgOp::WantsCancelled(_)
            | CbArgOp::NotifyLock(_)
            | CbArgOp::NotifyDeviceid(_)
            | CbArgOp::Offload(_) => Status::NotSupp,
        };
        CbResOp::error(op.num(), status)
    }
}

/// Slots that a server may use at one time.
pub(crate) const SLOTS: u32 = 16;

/// A sequence id and the reply to it.
type Last = (u32, Vec<CbResOp>);

/// The client's end of the back channel: slots, and what the callbacks do.
pub(super) struct Back {
    handler: Box<dyn Callbacks>,
    /// The last sequence id of each session's slots, and its reply.
    slots: Mutex<HashMap<(SessionId, u32), Last>>,
}

impl Back {
    pub(super) fn new(handler: Box<dyn Callbacks>) -> Self {
        Self { handler, slots: Mutex::default() }
    }

    /// Answers one CB_COMPOUND (RFC 8881 §20.9: CB_SEQUENCE comes first).
    pub(super) fn answer(&self, call: &CbCall) -> CbCompoundRes {
        self.handler.compound();
        let results = self.results(call);
        let status = results.last().map_or(Status::Ok, CbResOp::status);
        CbCompoundRes { status, tag: call.tag.clone(), ops: List::new(results).unwrap_or_default() }
    }

    fn results(&self, call: &CbCall) -> Vec<CbResOp> {
        let Some(first) = call.ops.first() else { return call.fault_result().into_iter().collect() };
        let CbArgOp::Sequence(args) = first else {
            return vec![CbResOp::error(first.num(), Status::OpNotInSession)];
        };
        let refuse = |status| vec![CbResOp::error(CbOpNum::Sequence, status)];
        if args.slotid >= SLOTS {
            return refuse(Status::BadSlot);
        }
        let key = (args.sessionid, args.slotid);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, results)) = slots.get(&key) {
            if args.sequenceid == *last {
                return results.clone();
            }
            if args.sequenceid != last.wrapping_add(1) {
                return refuse(Status::SeqMisordered);
            }
        } else if args.sequenceid != 1 {
            return refuse(Status::SeqMisordered);
        }
        let mut results = vec![CbResOp::Sequence(Ok(sequence_ok(args)))];
        for op in call.ops.iter().skip(1) {
            let result = self.handler.callback(op);
            let ok = result.status() == Status::Ok;
            results.push(result);
            if !ok {
                break;
            }
        }
        if results.len() == call.ops.len() {
            results.extend(call.fault_result());
        }
        slots.insert(key, (args.sequenceid, results.clone()));
        results
    }
}

fn sequence_ok(args: &CbSequenceArgs) -> CbSequenceOk {
    CbSequenceOk {
        sessionid: args.sessionid,
        sequenceid: args.sequenceid,
        slotid: args.slotid,
        highest_slotid: SLOTS - 1,
        target_highest_slotid: SLOTS - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs4_proto::Utf8Str;

    fn call(seq: u32, slot: u32, ops: Vec<CbArgOp>) -> CbCall {
        let first = CbArgOp::Sequence(CbSequenceArgs {
            sessionid: [1; 16],
            sequenceid: seq,
            slotid: slot,
            highest_slotid: slot,
            cachethis: false,
            referring_call_lists: List::default(),
        });
        let ops: Vec<CbArgOp> = std::iter::once(first).chain(ops).collect();
        let count = u32::try_from(ops.len()).unwrap();
        CbCall { tag: Utf8Str::default(), minorversion: 2, callback_ident: 0, count, ops, fault: None }
    }

    #[test]
    fn a_callback_sequence_goes_up_by_one_and_a_retry_gets_its_reply_again() {
        let back = Back::new(Box::new(NoDelegations));
        assert_eq!(back.answer(&call(2, 0, vec![])).status, Status::SeqMisordered, "the first is 1");
        let first = back.answer(&call(1, 0, vec![]));
        assert_eq!(first.status, Status::Ok);
        assert_eq!(back.answer(&call(1, 0, vec![])), first);
        assert_eq!(back.answer(&call(3, 0, vec![])).status, Status::SeqMisordered);
        assert_eq!(back.answer(&call(2, 0, vec![])).status, Status::Ok);
        assert_eq!(back.answer(&call(1, SLOTS, vec![])).status, Status::BadSlot);
    }

    #[test]
    fn a_callback_without_a_sequence_is_refused() {
        let back = Back::new(Box::new(NoDelegations));
        let mut bare = call(1, 0, vec![CbArgOp::Illegal]);
        bare.ops.remove(0);
        assert_eq!(back.answer(&bare).status, Status::OpNotInSession);
    }
}
