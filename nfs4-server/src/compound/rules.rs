//! Where an operation may stand (RFC 8881 §2.10.6, §18.35–18.37, §18.46, §18.50).

use nfs4_proto::{ArgOp, OpFlags, OpNum, Status};

/// How a compound begins.
pub(super) enum Opening {
    /// With SEQUENCE.
    Sequence,
    /// With the one operation that needs no session.
    Alone,
    /// Wrongly: what its first operation is answered.
    Wrong(OpNum, Status),
    /// It has no operation.
    Empty,
}

/// Looks at the first operation; `count` is how many were sent, also those that were not decoded.
pub(super) fn opening(ops: &[ArgOp], count: u32) -> Opening {
    let Some(first) = ops.first() else { return Opening::Empty };
    let num = first.num();
    if num == OpNum::Sequence {
        return Opening::Sequence;
    }
    if num.flags().contains(OpFlags::REMOVED) {
        // NOTSUPP is all that these may answer (§15.2).
        return Opening::Wrong(num, Status::NotSupp);
    }
    if !num.flags().contains(OpFlags::SESSIONLESS) {
        return Opening::Wrong(num, Status::OpNotInSession);
    }
    if count > 1 {
        return Opening::Wrong(num, Status::NotOnlyOp);
    }
    Opening::Alone
}

/// Whether an operation may stand behind a SEQUENCE, at this place.
pub(super) fn behind_sequence(op: &ArgOp) -> Result<(), Status> {
    let num = op.num();
    if num == OpNum::Sequence {
        Err(Status::SequencePos)
    } else if num.flags().contains(OpFlags::ONLY) {
        Err(Status::NotOnlyOp)
    } else {
        Ok(())
    }
}
