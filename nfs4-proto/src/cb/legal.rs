//! The statuses that each callback may answer: the tables of RFC 8881 §15.3 and RFC 7862 §11.3 as they are printed
//! (with NFS4_OK, which they leave out).

use crate::Status as S;

#[rustfmt::skip]
pub(super) const CB_GETATTR: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::Delay, S::Inval, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_ILLEGAL: &[S] = &[
    S::BadXdr, S::OpIllegal,
];
#[rustfmt::skip]
pub(super) const CB_LAYOUTRECALL: &[S] = &[
    S::Ok, S::BadHandle, S::BadIoMode, S::BadXdr, S::BadStateId, S::Delay, S::Inval, S::NoMatchingLayout,
    S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::TooManyOps, S::UnknownLayoutType, S::WrongType,
];
#[rustfmt::skip]
pub(super) const CB_NOTIFY: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::BadStateId, S::Delay, S::Inval, S::NotSupp, S::OpNotInSession,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_NOTIFY_DEVICEID: &[S] = &[
    S::Ok, S::BadXdr, S::Delay, S::Inval, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_NOTIFY_LOCK: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::BadStateId, S::Delay, S::NotSupp, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_OFFLOAD: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::BadStateId, S::Delay, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_PUSH_DELEG: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::Delay, S::Inval, S::NotSupp, S::OpNotInSession, S::RejectDeleg,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const CB_RECALL: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::BadStateId, S::Delay, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_RECALLABLE_OBJ_AVAIL: &[S] = &[
    S::Ok, S::BadXdr, S::Delay, S::Inval, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_RECALL_ANY: &[S] = &[
    S::Ok, S::BadXdr, S::Delay, S::Inval, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_RECALL_SLOT: &[S] = &[
    S::Ok, S::BadXdr, S::BadHighSlot, S::Delay, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_SEQUENCE: &[S] = &[
    S::Ok, S::BadSession, S::BadSlot, S::BadXdr, S::BadHighSlot, S::ConnNotBoundToSession, S::Delay,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::SequencePos, S::SeqFalseRetry,
    S::SeqMisordered, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CB_WANTS_CANCELLED: &[S] = &[
    S::Ok, S::BadXdr, S::Delay, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
