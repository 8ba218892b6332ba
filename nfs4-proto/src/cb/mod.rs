//! The callback table, and the arguments and results of all callbacks.

mod args;
mod legal;
mod show;

pub use args::*;

use crate::outcome::Outcome;
use crate::table::nfs4_ops;
use crate::{GetattrOk, OpFlags, Status};

nfs4_ops! {
    /// All callbacks of 4.1 and 4.2. RFC 8881 §20, RFC 7862 §16.
    numbers nfs_cb_opnum4 as CbOpNum;
    /// A callback and its arguments. RFC 8881 §19.2.
    arguments nfs_cb_argop4 as CbArgOp;
    /// A callback and its result. RFC 8881 §19.2.
    results nfs_cb_resop4 as CbResOp;

    3, "CB_GETATTR", Getattr(CbGetattrArgs) -> GetattrOk,
        1, [], 20, CB_GETATTR, "Asks the holder of a write delegation for attributes. RFC 8881 §20.1.";
    4, "CB_RECALL", Recall(CbRecallArgs) -> (),
        1, [MUTATES], 60, CB_RECALL, "Recalls a delegation. RFC 8881 §20.2.";
    5, "CB_LAYOUTRECALL", Layoutrecall(CbLayoutrecallArgs) -> (),
        1, [MUTATES], 60, CB_LAYOUTRECALL, "Recalls layouts. RFC 8881 §20.3.";
    6, "CB_NOTIFY", Notify(CbNotifyArgs) -> (),
        1, [MUTATES], 50, CB_NOTIFY, "Tells changes of a delegated directory. RFC 8881 §20.4.";
    7, "CB_PUSH_DELEG", PushDeleg(CbPushDelegArgs) -> (),
        1, [MUTATES], 55, CB_PUSH_DELEG, "Gives a delegation that was wanted. RFC 8881 §20.5.";
    8, "CB_RECALL_ANY", RecallAny(CbRecallAnyArgs) -> (),
        1, [MUTATES], 55, CB_RECALL_ANY, "Asks for some of what can be recalled. RFC 8881 §20.6.";
    9, "CB_RECALLABLE_OBJ_AVAIL", RecallableObjAvail(CbRecallAnyArgs) -> (),
        1, [], 30, CB_RECALLABLE_OBJ_AVAIL, "Tells that delegations or layouts can be had. RFC 8881 §20.7.";
    10, "CB_RECALL_SLOT", RecallSlot(CbRecallSlotArgs) -> (),
        1, [MUTATES], 30, CB_RECALL_SLOT, "Asks for slots back. RFC 8881 §20.8.";
    11, "CB_SEQUENCE", Sequence(CbSequenceArgs) -> CbSequenceOk,
        1, [FIRST], 0, CB_SEQUENCE, "Names session and slot. RFC 8881 §20.9.";
    12, "CB_WANTS_CANCELLED", WantsCancelled(CbWantsCancelledArgs) -> (),
        1, [MUTATES], 30, CB_WANTS_CANCELLED, "Tells that wants are forgotten. RFC 8881 §20.10.";
    13, "CB_NOTIFY_LOCK", NotifyLock(CbNotifyLockArgs) -> (),
        1, [], 30, CB_NOTIFY_LOCK, "Tells that a lock may be had. RFC 8881 §20.11.";
    14, "CB_NOTIFY_DEVICEID", NotifyDeviceid(CbNotifyDeviceidArgs) -> (),
        1, [MUTATES], 30, CB_NOTIFY_DEVICEID, "Tells changes of devices (pNFS). RFC 8881 §20.12.";
    15, "CB_OFFLOAD", Offload(CbOffloadArgs) -> (),
        2, [MUTATES], 40, CB_OFFLOAD, "Tells the end of a copy. RFC 7862 §16.1.";
    10044, "CB_ILLEGAL", Illegal -> (),
        0, [], 0, CB_ILLEGAL, "What an unknown callback is answered with. RFC 8881 §20.13.";
}

impl CbOpNum {
    /// Whether the RFCs let this callback answer `status`: by their tables, or by prose that goes beyond them.
    #[must_use]
    pub fn may_answer(self, status: Status) -> bool {
        // As in the fore channel: a result that does not fit, a retry whose reply was not kept, malformed arguments.
        let more = [Status::BadXdr, Status::RepTooBig, Status::RepTooBigToCache, Status::RetryUncachedRep];
        self.legal().contains(&status) || more.contains(&status)
    }
}
