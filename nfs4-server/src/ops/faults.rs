//! From a backend's fault to the protocol's status: one each.

use nfs4_proto::Status;

use crate::backend::Fault;

impl From<Fault> for Status {
    fn from(fault: Fault) -> Self {
        status_of(fault)
    }
}

/// The status of a fault.
pub(crate) fn status_of(fault: Fault) -> Status {
    match fault {
        Fault::Perm => Status::Perm,
        Fault::NoEnt => Status::NoEnt,
        Fault::Io => Status::Io,
        Fault::NxIo => Status::NxIo,
        Fault::Access => Status::Access,
        Fault::Exist => Status::Exist,
        Fault::XDev => Status::XDev,
        Fault::NotDir => Status::NotDir,
        Fault::IsDir => Status::IsDir,
        Fault::Inval => Status::Inval,
        Fault::FBig => Status::FBig,
        Fault::NoSpc => Status::NoSpc,
        Fault::RoFs => Status::RoFs,
        Fault::MLink => Status::MLink,
        Fault::NameTooLong => Status::NameTooLong,
        Fault::NotEmpty => Status::NotEmpty,
        Fault::DQuot => Status::DQuot,
        Fault::Stale => Status::Stale,
        Fault::BadHandle => Status::BadHandle,
        Fault::NotSupp => Status::NotSupp,
        Fault::BadCookie => Status::BadCookie,
        Fault::Symlink => Status::Symlink,
        Fault::WrongType => Status::WrongType,
        Fault::NoXattr => Status::NoXattr,
        Fault::Xattr2Big => Status::Xattr2Big,
        Fault::BadName => Status::BadName,
        Fault::Delay => Status::Delay,
        Fault::ServerFault => Status::ServerFault,
    }
}
