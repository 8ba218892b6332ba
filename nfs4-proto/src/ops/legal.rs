//! The statuses that each operation may answer: the tables of RFC 8881 §15.2, RFC 7862 §11.2 and RFC 8276 §8.4.5 as
//! they are printed (with NFS4_OK, which they leave out). What prose elsewhere allows beyond them is in `more`.

use crate::Status as S;

#[rustfmt::skip]
pub(super) const ACCESS: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Io, S::Moved,
    S::NoFileHandle, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const ALLOCATE: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Moved,
    S::NoFileHandle, S::NoSpc, S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const BACKCHANNEL_CTL: &[S] = &[
    S::Ok, S::BadXdr, S::DeadSession, S::Delay, S::Inval, S::NoEnt, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const BIND_CONN_TO_SESSION: &[S] = &[
    S::Ok, S::BadSession, S::BadXdr, S::BadSessionDigest, S::DeadSession, S::Delay, S::Inval, S::NotOnlyOp,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const CLONE: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Moved,
    S::NoFileHandle, S::NoSpc, S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongType, S::XDev,
];
#[rustfmt::skip]
pub(super) const CLOSE: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::Expired, S::FhExpired,
    S::LocksHeld, S::Moved, S::NoFileHandle, S::OldStateId, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
    S::WrongCred,
];
#[rustfmt::skip]
pub(super) const COMMIT: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Io, S::IsDir, S::Moved,
    S::NoFileHandle, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const COPY: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved,
    S::NoFileHandle, S::NoSpc, S::OffloadDenied, S::OldStateId, S::OpenMode, S::OpNotInSession,
    S::PartnerNotSupp, S::PartnerNoAuth, S::PnfsIoHole, S::PnfsNoLayout, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::Symlink, S::TooManyOps,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const COPY_NOTIFY: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved, S::NoFileHandle,
    S::OldStateId, S::OpenMode, S::OpNotInSession, S::PnfsIoHole, S::PnfsNoLayout, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const CREATE: &[S] = &[
    S::Ok, S::Access, S::AttrNotSupp, S::BadChar, S::BadName, S::BadOwner, S::BadType, S::BadXdr,
    S::DeadSession, S::Delay, S::DQuot, S::Exist, S::FhExpired, S::Inval, S::Io, S::MLink, S::Moved,
    S::NameTooLong, S::NoFileHandle, S::NoSpc, S::NotDir, S::OpNotInSession, S::Perm, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale,
    S::TooManyOps, S::UnsafeCompound,
];
#[rustfmt::skip]
pub(super) const CREATE_SESSION: &[S] = &[
    S::Ok, S::BadXdr, S::ClidInUse, S::DeadSession, S::Delay, S::Inval, S::NoEnt, S::NoSpc, S::NotOnlyOp,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::SeqMisordered, S::ServerFault,
    S::StaleClientId, S::TooSmall, S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const DEALLOCATE: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Moved, S::NoFileHandle,
    S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::Symlink, S::TooManyOps,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const DELEGPURGE: &[S] = &[
    S::Ok, S::BadXdr, S::DeadSession, S::Delay, S::NotSupp, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const DELEGRETURN: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked, S::Expired,
    S::FhExpired, S::Inval, S::Moved, S::NoFileHandle, S::NotSupp, S::OldStateId, S::OpNotInSession,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale,
    S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const DESTROY_CLIENTID: &[S] = &[
    S::Ok, S::BadXdr, S::ClientIdBusy, S::DeadSession, S::Delay, S::NotOnlyOp, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::StaleClientId, S::TooManyOps,
    S::WrongCred,
];
#[rustfmt::skip]
pub(super) const DESTROY_SESSION: &[S] = &[
    S::Ok, S::BackChanBusy, S::BadSession, S::BadXdr, S::CbPathDown, S::ConnNotBoundToSession,
    S::DeadSession, S::Delay, S::NotOnlyOp, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::StaleClientId, S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const EXCHANGE_ID: &[S] = &[
    S::Ok, S::BadChar, S::BadXdr, S::ClidInUse, S::DeadSession, S::Delay, S::EncrAlgUnsupp,
    S::HashAlgUnsupp, S::Inval, S::NoEnt, S::NotOnlyOp, S::NotSame, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const FREE_STATEID: &[S] = &[
    S::Ok, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::LocksHeld, S::OldStateId,
    S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault,
    S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const GETATTR: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Grace, S::Inval, S::Io,
    S::Moved, S::NoFileHandle, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const GETDEVICEINFO: &[S] = &[
    S::Ok, S::BadXdr, S::DeadSession, S::Delay, S::Inval, S::NoEnt, S::NotSupp, S::OpNotInSession,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooSmall,
    S::TooManyOps, S::UnknownLayoutType,
];
#[rustfmt::skip]
pub(super) const GETDEVICELIST: &[S] = &[
    S::Ok, S::BadXdr, S::BadCookie, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Io,
    S::NoFileHandle, S::NotSupp, S::NotSame, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps, S::UnknownLayoutType,
];
#[rustfmt::skip]
pub(super) const GETFH: &[S] = &[
    S::Ok, S::FhExpired, S::Moved, S::NoFileHandle, S::OpNotInSession, S::Stale,
];
#[rustfmt::skip]
pub(super) const GETXATTR: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Io, S::Moved,
    S::NameTooLong, S::NoFileHandle, S::NotSupp, S::NoXattr, S::OpNotInSession, S::Perm, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const GET_DIR_DELEGATION: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::DirDelegUnavail, S::FhExpired, S::Grace,
    S::Inval, S::Io, S::Moved, S::NoFileHandle, S::NotDir, S::NotSupp, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const ILLEGAL: &[S] = &[
    S::BadXdr, S::OpIllegal,
];
#[rustfmt::skip]
pub(super) const IO_ADVISE: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Moved, S::NoFileHandle,
    S::NotSupp, S::OldStateId, S::OpNotInSession, S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LAYOUTCOMMIT: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::AttrNotSupp, S::BadIoMode, S::BadLayout, S::BadXdr,
    S::DeadSession, S::Delay, S::DelegRevoked, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io,
    S::IsDir, S::Moved, S::NoFileHandle, S::NotSupp, S::NoGrace, S::OpNotInSession, S::ReclaimBad,
    S::ReclaimConflict, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::UnknownLayoutType, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const LAYOUTERROR: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked, S::Expired,
    S::FhExpired, S::Grace, S::Inval, S::IsDir, S::Moved, S::NoFileHandle, S::NotSupp, S::NoGrace,
    S::OldStateId, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::TooManyOps, S::UnknownLayoutType, S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LAYOUTGET: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadIoMode, S::BadLayout, S::BadXdr, S::BadStateId, S::DeadSession,
    S::Delay, S::DelegRevoked, S::DQuot, S::FhExpired, S::Grace, S::Inval, S::Io, S::LayoutTryLater,
    S::LayoutUnavail, S::Locked, S::Moved, S::NoFileHandle, S::NoSpc, S::NotSupp, S::OldStateId,
    S::OpenMode, S::OpNotInSession, S::RecallConflict, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooSmall, S::TooManyOps, S::UnknownLayoutType,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const LAYOUTRETURN: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked, S::Expired,
    S::FhExpired, S::Grace, S::Inval, S::IsDir, S::Moved, S::NoFileHandle, S::NotSupp, S::NoGrace,
    S::OldStateId, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::TooManyOps, S::UnknownLayoutType, S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LAYOUTSTATS: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked, S::Expired,
    S::FhExpired, S::Grace, S::Inval, S::IsDir, S::Moved, S::NoFileHandle, S::NotSupp, S::NoGrace,
    S::OldStateId, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::TooManyOps, S::UnknownLayoutType, S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LINK: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadName, S::BadXdr, S::DeadSession, S::Delay, S::DQuot, S::Exist,
    S::FhExpired, S::FileOpen, S::Grace, S::Inval, S::Io, S::IsDir, S::MLink, S::Moved, S::NameTooLong,
    S::NoFileHandle, S::NoSpc, S::NotDir, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::Symlink, S::TooManyOps,
    S::WrongSec, S::WrongType, S::XDev,
];
#[rustfmt::skip]
pub(super) const LISTXATTRS: &[S] = &[
    S::Ok, S::Access, S::DeadSession, S::Delay, S::Inval, S::Io, S::Moved, S::NameTooLong, S::NoFileHandle,
    S::NotSupp, S::NoXattr, S::OpNotInSession, S::Perm, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LOCK: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadRange, S::BadStateId, S::Deadlock, S::DeadSession,
    S::Delay, S::Denied, S::Expired, S::FhExpired, S::Grace, S::Inval, S::IsDir, S::LockNotSupp,
    S::LockRange, S::Moved, S::NoFileHandle, S::NoGrace, S::OldStateId, S::OpenMode, S::OpNotInSession,
    S::ReclaimBad, S::ReclaimConflict, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::RoFs, S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LOCKT: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::BadRange, S::DeadSession, S::Delay, S::Denied, S::FhExpired, S::Grace,
    S::Inval, S::IsDir, S::LockRange, S::Moved, S::NoFileHandle, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::Stale, S::Symlink, S::TooManyOps,
    S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const LOCKU: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadRange, S::BadStateId, S::DeadSession, S::Delay,
    S::Expired, S::FhExpired, S::Inval, S::LockRange, S::Moved, S::NoFileHandle, S::OldStateId,
    S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault,
    S::Stale, S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const LOOKUP: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadName, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Inval,
    S::Io, S::Moved, S::NameTooLong, S::NoEnt, S::NoFileHandle, S::NotDir, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongSec,
];
#[rustfmt::skip]
pub(super) const LOOKUPP: &[S] = &[
    S::Ok, S::Access, S::DeadSession, S::Delay, S::FhExpired, S::Io, S::Moved, S::NoEnt, S::NoFileHandle,
    S::NotDir, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::WrongSec,
];
#[rustfmt::skip]
pub(super) const NVERIFY: &[S] = &[
    S::Ok, S::Access, S::AttrNotSupp, S::BadChar, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired,
    S::Grace, S::Inval, S::Io, S::Moved, S::NoFileHandle, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::Same, S::ServerFault, S::Stale,
    S::TooManyOps, S::UnknownLayoutType, S::WrongType,
];
#[rustfmt::skip]
pub(super) const OFFLOAD_CANCEL: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::CompleteAlready, S::DeadSession, S::Delay,
    S::Expired, S::Grace, S::NotSupp, S::OldStateId, S::OpNotInSession, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const OFFLOAD_STATUS: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::CompleteAlready, S::DeadSession, S::Delay,
    S::Expired, S::Grace, S::NotSupp, S::OldStateId, S::OpNotInSession, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const OPEN: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::AttrNotSupp, S::BadChar, S::BadName, S::BadOwner, S::BadXdr,
    S::BadStateId, S::DeadSession, S::Delay, S::DelegAlreadyWanted, S::DelegRevoked, S::DQuot, S::Exist,
    S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Moved, S::NameTooLong,
    S::NoEnt, S::NoFileHandle, S::NoSpc, S::NotDir, S::NoGrace, S::OldStateId, S::OpNotInSession, S::Perm,
    S::ReclaimBad, S::ReclaimConflict, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::RoFs, S::ServerFault, S::ShareDenied, S::Stale, S::Symlink, S::TooManyOps, S::UnsafeCompound,
    S::WrongSec, S::WrongType,
];
#[rustfmt::skip]
pub(super) const OPENATTR: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::DQuot, S::FhExpired, S::Io, S::Moved,
    S::NoEnt, S::NoFileHandle, S::NoSpc, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::TooManyOps, S::UnsafeCompound,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const OPEN_CONFIRM: &[S] = &[
    S::NotSupp,
];
#[rustfmt::skip]
pub(super) const OPEN_DOWNGRADE: &[S] = &[
    S::Ok, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::Expired, S::FhExpired,
    S::Inval, S::Moved, S::NoFileHandle, S::OldStateId, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale,
    S::TooManyOps, S::WrongCred,
];
#[rustfmt::skip]
pub(super) const PUTFH: &[S] = &[
    S::Ok, S::BadHandle, S::BadXdr, S::DeadSession, S::Delay, S::Moved, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
    S::WrongSec,
];
#[rustfmt::skip]
pub(super) const PUTPUBFH: &[S] = &[
    S::Ok, S::DeadSession, S::Delay, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::TooManyOps, S::WrongSec,
];
#[rustfmt::skip]
pub(super) const PUTROOTFH: &[S] = &[
    S::Ok, S::DeadSession, S::Delay, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::TooManyOps, S::WrongSec,
];
#[rustfmt::skip]
pub(super) const READ: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved, S::NoFileHandle,
    S::OldStateId, S::OpenMode, S::OpNotInSession, S::PnfsIoHole, S::PnfsNoLayout, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const READDIR: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::BadCookie, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Io,
    S::Moved, S::NoFileHandle, S::NotDir, S::NotSame, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooSmall, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const READLINK: &[S] = &[
    S::Ok, S::Access, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Io, S::Moved, S::NoFileHandle,
    S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault,
    S::Stale, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const READ_PLUS: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved, S::NoFileHandle,
    S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::PartnerNoAuth, S::PnfsIoHole,
    S::PnfsNoLayout, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault,
    S::Stale, S::Symlink, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const RECLAIM_COMPLETE: &[S] = &[
    S::Ok, S::BadXdr, S::CompleteAlready, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Moved,
    S::NoFileHandle, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig,
    S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps, S::WrongCred, S::WrongType,
];
#[rustfmt::skip]
pub(super) const RELEASE_LOCKOWNER: &[S] = &[
    S::NotSupp,
];
#[rustfmt::skip]
pub(super) const REMOVE: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadName, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired,
    S::FileOpen, S::Grace, S::Inval, S::Io, S::Moved, S::NameTooLong, S::NoEnt, S::NoFileHandle, S::NotDir,
    S::NotEmpty, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::RoFs, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const REMOVEXATTR: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadXdr, S::DeadSession, S::Delay, S::DQuot, S::Exist, S::Inval, S::Io,
    S::Locked, S::Moved, S::NameTooLong, S::NoFileHandle, S::NoSpc, S::NoXattr, S::OldStateId, S::OpenMode,
    S::OpNotInSession, S::Perm, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::TooManyOps,
    S::WrongType,
];
#[rustfmt::skip]
pub(super) const RENAME: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadName, S::BadXdr, S::DeadSession, S::Delay, S::DQuot, S::Exist,
    S::FhExpired, S::FileOpen, S::Grace, S::Inval, S::Io, S::MLink, S::Moved, S::NameTooLong, S::NoEnt,
    S::NoFileHandle, S::NoSpc, S::NotDir, S::NotEmpty, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault, S::Stale, S::TooManyOps, S::WrongSec,
    S::XDev,
];
#[rustfmt::skip]
pub(super) const RENEW: &[S] = &[
    S::NotSupp,
];
#[rustfmt::skip]
pub(super) const RESTOREFH: &[S] = &[
    S::Ok, S::DeadSession, S::FhExpired, S::Moved, S::NoFileHandle, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
    S::WrongSec,
];
#[rustfmt::skip]
pub(super) const SAVEFH: &[S] = &[
    S::Ok, S::DeadSession, S::FhExpired, S::Moved, S::NoFileHandle, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const SECINFO: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadName, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Inval,
    S::Moved, S::NameTooLong, S::NoEnt, S::NoFileHandle, S::NotDir, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const SECINFO_NO_NAME: &[S] = &[
    S::Ok, S::Access, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired, S::Inval, S::Moved, S::NoEnt,
    S::NoFileHandle, S::NotDir, S::NotSupp, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const SEEK: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::Expired, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved, S::NoFileHandle,
    S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::PnfsIoHole, S::PnfsNoLayout, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::Symlink,
    S::TooManyOps, S::UnionNotSupp, S::WrongType,
];
#[rustfmt::skip]
pub(super) const SEQUENCE: &[S] = &[
    S::Ok, S::BadSession, S::BadSlot, S::BadXdr, S::BadHighSlot, S::ConnNotBoundToSession, S::DeadSession,
    S::Delay, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::SequencePos,
    S::SeqFalseRetry, S::SeqMisordered, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const SETATTR: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::AttrNotSupp, S::BadChar, S::BadOwner, S::BadXdr, S::BadStateId,
    S::DeadSession, S::Delay, S::DelegRevoked, S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace,
    S::Inval, S::Io, S::Locked, S::Moved, S::NoFileHandle, S::NoSpc, S::OldStateId, S::OpenMode,
    S::OpNotInSession, S::Perm, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::RoFs, S::ServerFault, S::Stale, S::TooManyOps, S::UnknownLayoutType, S::WrongType,
];
#[rustfmt::skip]
pub(super) const SETCLIENTID: &[S] = &[
    S::NotSupp,
];
#[rustfmt::skip]
pub(super) const SETCLIENTID_CONFIRM: &[S] = &[
    S::NotSupp,
];
#[rustfmt::skip]
pub(super) const SETXATTR: &[S] = &[
    S::Ok, S::Access, S::BadChar, S::BadXdr, S::DeadSession, S::Delay, S::DQuot, S::Exist, S::FhExpired,
    S::Inval, S::Io, S::Moved, S::NameTooLong, S::NoFileHandle, S::NoSpc, S::NoXattr, S::OpNotInSession,
    S::Perm, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs, S::ServerFault,
    S::Stale, S::TooManyOps, S::WrongType, S::Xattr2Big,
];
#[rustfmt::skip]
pub(super) const SET_SSV: &[S] = &[
    S::Ok, S::BadXdr, S::BadSessionDigest, S::DeadSession, S::Delay, S::Inval, S::OpNotInSession,
    S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const TEST_STATEID: &[S] = &[
    S::Ok, S::BadXdr, S::DeadSession, S::Delay, S::OpNotInSession, S::RepTooBig, S::RepTooBigToCache,
    S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::TooManyOps,
];
#[rustfmt::skip]
pub(super) const VERIFY: &[S] = &[
    S::Ok, S::Access, S::AttrNotSupp, S::BadChar, S::BadXdr, S::DeadSession, S::Delay, S::FhExpired,
    S::Grace, S::Inval, S::Io, S::Moved, S::NoFileHandle, S::NotSame, S::OpNotInSession, S::RepTooBig,
    S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::ServerFault, S::Stale, S::TooManyOps,
    S::UnknownLayoutType, S::WrongType,
];
#[rustfmt::skip]
pub(super) const WANT_DELEGATION: &[S] = &[
    S::Ok, S::BadXdr, S::DeadSession, S::Delay, S::DelegAlreadyWanted, S::FhExpired, S::Grace, S::Inval,
    S::Io, S::Moved, S::NoFileHandle, S::NotSupp, S::NoGrace, S::OpNotInSession, S::RecallConflict,
    S::ReclaimBad, S::ReclaimConflict, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep,
    S::ServerFault, S::Stale, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const WRITE: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved,
    S::NoFileHandle, S::NoSpc, S::OldStateId, S::OpenMode, S::OpNotInSession, S::PnfsIoHole,
    S::PnfsNoLayout, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs,
    S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::WrongType,
];
#[rustfmt::skip]
pub(super) const WRITE_SAME: &[S] = &[
    S::Ok, S::Access, S::AdminRevoked, S::BadXdr, S::BadStateId, S::DeadSession, S::Delay, S::DelegRevoked,
    S::DQuot, S::Expired, S::FBig, S::FhExpired, S::Grace, S::Inval, S::Io, S::IsDir, S::Locked, S::Moved,
    S::NoFileHandle, S::NoSpc, S::NotSupp, S::OldStateId, S::OpenMode, S::OpNotInSession, S::PnfsIoHole,
    S::PnfsNoLayout, S::RepTooBig, S::RepTooBigToCache, S::ReqTooBig, S::RetryUncachedRep, S::RoFs,
    S::ServerFault, S::Stale, S::Symlink, S::TooManyOps, S::WrongType,
];
