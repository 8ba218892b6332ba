//! Callbacks of delegations: RFC 8881 §20.1, §20.2, §20.5 to §20.7, §20.10.

use nfs4_deleg::server::{CbOutcome, DelegRef, Grant, Kind, Triple};
use nfs4_proto::{
    Attr, AttrSet, CbArgOp, CbGetattrArgs, CbPushDelegArgs, CbRecallAnyArgs, CbRecallArgs, CbResOp,
    CbWantsCancelledArgs, Fh, RecallTypes, ReferringCall, ReferringCallList, StateId, Status,
};

use super::attrs::stamp;
use super::tells;
use crate::cb::{self, Callback, CbError};

/// The call whose reply the callback may overtake (§2.10.6.3).
fn referring(call: Option<Triple>) -> Vec<ReferringCallList> {
    let list =
        |call: Triple| cb::referring(call.session, ReferringCall { sequenceid: call.seq, slotid: call.slot });
    call.map(list).into_iter().collect()
}

fn alone(op: CbArgOp) -> Callback {
    Callback { ops: vec![op], referring: Vec::new() }
}

/// CB_RECALL. The stateid is the one of today (§8.2.2).
pub(super) fn recall(stateid: StateId, truncate: bool, fh: Fh, call: Option<Triple>) -> Callback {
    let args = CbRecallArgs { stateid, truncate, fh };
    Callback { ops: vec![CbArgOp::Recall(args)], referring: referring(call) }
}

/// CB_GETATTR of change and size, and of the delegated times where they are delegated (RFC 9754).
pub(super) fn getattr(fh: Fh, times: bool, call: Option<Triple>) -> Callback {
    let mut attr_request = AttrSet::default();
    attr_request.insert(Attr::Change).insert(Attr::Size);
    if times {
        attr_request.insert(Attr::TimeDelegAccess).insert(Attr::TimeDelegModify);
    }
    let args = CbGetattrArgs { fh, attr_request };
    Callback { ops: vec![CbArgOp::Getattr(args)], referring: referring(call) }
}

/// CB_PUSH_DELEG.
pub(super) fn push(stateid: StateId, grant: &Grant, fh: Fh) -> Callback {
    let delegation = tells::granted(stateid, grant);
    alone(CbArgOp::PushDeleg(CbPushDelegArgs { fh, delegation }))
}

fn bits(kinds: &[Kind]) -> RecallTypes {
    kinds.iter().fold(RecallTypes::empty(), |bits, kind| {
        bits | match kind {
            Kind::Read => RecallTypes::RDATA_DLG,
            Kind::Write => RecallTypes::WDATA_DLG,
        }
    })
}

/// CB_RECALL_ANY of file delegations.
pub(super) fn recall_any(keep: usize) -> Callback {
    alone(CbArgOp::RecallAny(CbRecallAnyArgs {
        objects_to_keep: u32::try_from(keep).unwrap_or(u32::MAX),
        type_mask: bits(&[Kind::Read, Kind::Write]).to_bitmap(),
    }))
}

/// CB_RECALLABLE_OBJ_AVAIL.
pub(super) fn available(kind: Kind) -> Callback {
    alone(CbArgOp::RecallableObjAvail(CbRecallAnyArgs {
        objects_to_keep: 1,
        type_mask: bits(&[kind]).to_bitmap(),
    }))
}

/// CB_WANTS_CANCELLED.
pub(super) fn wants_cancelled(contended: bool, resourced: bool) -> Callback {
    alone(CbArgOp::WantsCancelled(CbWantsCancelledArgs {
        contended_wants_cancelled: contended,
        resourced_wants_cancelled: resourced,
    }))
}

/// What came of one. What is not answered in full, or carries a time that is none, was not answered.
pub(super) fn outcome(answer: Result<Vec<CbResOp>, CbError>) -> CbOutcome {
    let results = match answer {
        Ok(results) => results,
        Err(CbError::Refused(Status::Delay)) => return CbOutcome::Delay,
        Err(CbError::Refused(_)) => return CbOutcome::Refused,
        Err(CbError::AnswerLost) => return CbOutcome::Ok,
        Err(CbError::NoPath | CbError::TooMany | CbError::NoAnswer | CbError::Nonsense | CbError::TooBig) => {
            return CbOutcome::Lost;
        }
    };
    let Some(result) = results.into_iter().next() else { return CbOutcome::Refused };
    let meanings = [
        (Status::Delay, CbOutcome::Delay),
        (Status::BadHandle, CbOutcome::Unknown),
        (Status::BadStateId, CbOutcome::Unknown),
        (Status::RejectDeleg, CbOutcome::Rejected),
    ];
    let status = result.status();
    if status != Status::Ok {
        let meaning = meanings.into_iter().find(|(other, _)| *other == status);
        return meaning.map_or(CbOutcome::Refused, |(_, outcome)| outcome);
    }
    let CbResOp::Getattr(Ok(ok)) = result else { return CbOutcome::Ok };
    let attrs = &ok.obj_attributes;
    let (Some(change), Some(size)) = (attrs.change(), attrs.size()) else { return CbOutcome::Refused };
    let times = (attrs.time_deleg_access(), attrs.time_deleg_modify());
    if [times.0, times.1].into_iter().flatten().any(|time| !time.is_valid()) {
        return CbOutcome::Refused;
    }
    CbOutcome::Attrs { change, size, access: times.0.map(stamp), modify: times.1.map(stamp) }
}

/// With seqid 0, as callbacks name it (§8.2.2).
pub(super) fn of_today(deleg: DelegRef) -> DelegRef {
    DelegRef { seqid: 0, ..deleg }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nfs4_proto::{Attrs, GetattrOk, NfsTime};

    #[test]
    fn only_what_a_client_says_of_itself_ends_a_recall() {
        let answer =
            |status| Ok(vec![CbResOp::Recall(if status == Status::Ok { Ok(()) } else { Err(status) })]);
        for (answer, is) in [
            (answer(Status::Ok), CbOutcome::Ok),
            (answer(Status::Delay), CbOutcome::Delay),
            (answer(Status::BadStateId), CbOutcome::Unknown),
            (answer(Status::BadHandle), CbOutcome::Unknown),
            (answer(Status::ServerFault), CbOutcome::Refused),
            (Ok(Vec::new()), CbOutcome::Refused),
            (Err(CbError::Refused(Status::Delay)), CbOutcome::Delay),
            (Err(CbError::Refused(Status::BadSession)), CbOutcome::Refused),
            (Err(CbError::AnswerLost), CbOutcome::Ok),
            (Err(CbError::NoAnswer), CbOutcome::Lost),
            (Err(CbError::NoPath), CbOutcome::Lost),
        ] {
            assert_eq!(outcome(answer.clone()), is, "{answer:?}");
        }
    }

    #[test]
    fn attributes_count_only_in_full() {
        let answer = |attrs: Attrs| Ok(vec![CbResOp::Getattr(Ok(GetattrOk { obj_attributes: attrs }))]);
        let mut attrs = Attrs::new();
        attrs.set_change(7);
        assert_eq!(outcome(answer(attrs.clone())), CbOutcome::Refused);
        attrs.set_size(9);
        let whole = CbOutcome::Attrs { change: 7, size: 9, access: None, modify: None };
        assert_eq!(outcome(answer(attrs.clone())), whole);
        attrs.set_time_deleg_modify(NfsTime { seconds: 1, nseconds: 1_000_000_000 });
        assert_eq!(outcome(answer(attrs)), CbOutcome::Refused);
    }
}
