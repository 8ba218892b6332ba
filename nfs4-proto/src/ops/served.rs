//! Which operations this project's server carries out. The coverage page is made of it, and a test of the server holds it
//! against what is answered.

use crate::OpNum;

/// Whether an operation is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// It is; with what a reader should know, or an empty text.
    Yes(&'static str),
    /// It is answered with NFS4ERR_NOTSUPP, and why.
    No(&'static str),
}

impl OpNum {
    /// Whether the server of this workspace carries it out.
    #[must_use]
    pub const fn served(self) -> Served {
        use Served::{No, Yes};
        match self {
            Self::Access
            | Self::Close
            | Self::Commit
            | Self::Create
            | Self::Getfh
            | Self::Link
            | Self::Lookup
            | Self::Lookupp
            | Self::Locku
            | Self::Lockt
            | Self::Nverify
            | Self::OpenDowngrade
            | Self::Putfh
            | Self::Putrootfh
            | Self::Read
            | Self::Readdir
            | Self::Readlink
            | Self::Remove
            | Self::Rename
            | Self::Restorefh
            | Self::Savefh
            | Self::Verify
            | Self::Write
            | Self::BackchannelCtl
            | Self::BindConnToSession
            | Self::DestroySession
            | Self::FreeStateid
            | Self::Sequence
            | Self::TestStateid
            | Self::DestroyClientid
            | Self::ReclaimComplete
            | Self::Allocate
            | Self::Deallocate
            | Self::OffloadCancel
            | Self::OffloadStatus
            | Self::Getxattr
            | Self::Setxattr
            | Self::Listxattrs
            | Self::Removexattr => Yes(""),
            Self::Getattr => Yes("ACLs, archive, hidden, system in memory only; no security labels"),
            Self::Setattr => {
                Yes("ACLs, archive, hidden, system, time_create in memory only; no security labels")
            }
            Self::Lock => Yes(
                "a blocking lock that conflicts is denied, and its owner told when it comes free (CB_NOTIFY_LOCK)",
            ),
            Self::Open => Yes(
                "with file delegations, upgraded and downgraded in place; the _PREV claims are NOTSUPP; on a directory of \
                 this machine an open file is not promised to outlive its last name (no PRESERVE_UNLINKED)",
            ),
            Self::Delegreturn => Yes("of files"),
            Self::Putpubfh => Yes("the same as PUTROOTFH"),
            Self::Secinfo | Self::SecinfoNoName => Yes("AUTH_SYS and AUTH_NONE"),
            Self::ExchangeId => Yes("SP4_SSV is ENCR_ALG_UNSUPP, SP4_MACH_CRED is INVAL"),
            Self::CreateSession => Yes("persistent sessions and RDMA are not granted"),
            Self::GetDirDelegation => Yes("answers GDD4_UNAVAIL: no directory is delegated yet"),
            Self::Copy => Yes(
                "within one export; more than 16 MiB go on after the answer, else a short count is possible",
            ),
            Self::Clone => Yes("where the file system below shares blocks; else NOTSUPP"),
            Self::SetSsv => Yes("always NFS4ERR_INVAL: SP4_SSV is not granted"),
            Self::Seek => Yes("data and holes"),
            Self::IoAdvise => Yes("answers the hints that are followed: none in memory"),
            Self::ReadPlus => Yes("at most 64 segments; a hole is told whole unless the file has locks"),
            Self::Illegal => Yes("answers OP_ILLEGAL"),
            Self::Delegpurge => No("delegations are not kept over a restart of the client"),
            Self::Openattr => No("named attributes; extended attributes (RFC 8276) are served"),
            Self::Getdeviceinfo
            | Self::Getdevicelist
            | Self::Layoutcommit
            | Self::Layoutget
            | Self::Layoutreturn
            | Self::Layouterror
            | Self::Layoutstats => No("pNFS"),
            Self::WantDelegation => {
                Yes("promises CB_PUSH_DELEG and CB_RECALLABLE_OBJ_AVAIL within the limit of wants")
            }
            Self::CopyNotify => No("copies between servers"),
            Self::WriteSame => No("patterns of application data"),
            Self::OpenConfirm
            | Self::Renew
            | Self::Setclientid
            | Self::SetclientidConfirm
            | Self::ReleaseLockowner => No("4.0 only; RFC 8881 §15.2"),
        }
    }
}
