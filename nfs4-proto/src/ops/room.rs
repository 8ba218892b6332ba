//! How much room a result may take, to be known before something is done that cannot be taken back.

use crate::OpNum;

/// Operation number and status.
const HEAD: usize = 8;
const STATEID: usize = 16;
const VERIFIER: usize = 8;
const SESSION: usize = 16;
const CHANGE_INFO: usize = 20;
/// A set of attributes: three words.
const ATTRS: usize = 16;
/// `write_response4` with a stateid.
const WRITE_RESPONSE: usize = 4 + STATEID + 8 + 4 + VERIFIER;
/// A write delegation whose entry names somebody in at most 256 bytes: what we grant names OWNER@.
const DELEGATION: usize = 4 + STATEID + 4 + 12 + 12 + 4 + 256;
/// `channel_attrs4` with RDMA.
const CHANNEL: usize = 32;
/// A string of NFS4_OPAQUE_LIMIT.
const OPAQUE: usize = 4 + 1024;

impl OpNum {
    /// Most bytes of a result, operation number included, of an operation that changes something and is answered with
    /// what has a bound. `None` for all others: they can be tried, and rewound where the result does not fit.
    ///
    /// It is asked *before* the operation runs (RFC 8881 §2.10.6.4: NFS4ERR_REP_TOO_BIG means that it did not).
    #[must_use]
    pub const fn worst_reply(self) -> Option<usize> {
        Some(match self {
            Self::Delegpurge
            | Self::Delegreturn
            | Self::Openattr
            | Self::BackchannelCtl
            | Self::DestroySession
            | Self::FreeStateid
            | Self::DestroyClientid
            | Self::ReclaimComplete
            | Self::Allocate
            | Self::Deallocate
            | Self::OffloadCancel
            | Self::Clone => HEAD,
            Self::Close | Self::Locku | Self::OpenDowngrade => HEAD + STATEID,
            Self::Create => HEAD + CHANGE_INFO + ATTRS,
            Self::Link | Self::Remove | Self::Setxattr | Self::Removexattr => HEAD + CHANGE_INFO,
            Self::Rename => HEAD + 2 * CHANGE_INFO,
            // NFS4ERR_DENIED with the other's range and owner.
            Self::Lock => HEAD + 8 + 8 + 4 + 8 + OPAQUE,
            Self::Open => HEAD + STATEID + CHANGE_INFO + 4 + ATTRS + DELEGATION,
            Self::WantDelegation => HEAD + DELEGATION,
            Self::Setattr => HEAD + ATTRS,
            Self::Write => HEAD + 4 + 4 + VERIFIER,
            Self::BindConnToSession => HEAD + SESSION + 4 + 4,
            Self::CreateSession => HEAD + SESSION + 4 + 4 + 2 * CHANNEL,
            Self::GetDirDelegation => HEAD + 4 + VERIFIER + STATEID + 3 * ATTRS,
            Self::Copy => HEAD + WRITE_RESPONSE + 8,
            Self::WriteSame => HEAD + WRITE_RESPONSE,
            // Lists and texts without a bound of their own, or nothing that cannot be taken back.
            Self::Access
            | Self::Commit
            | Self::Getattr
            | Self::Getfh
            | Self::Lockt
            | Self::Lookup
            | Self::Lookupp
            | Self::Nverify
            | Self::OpenConfirm
            | Self::Putfh
            | Self::Putpubfh
            | Self::Putrootfh
            | Self::Read
            | Self::Readdir
            | Self::Readlink
            | Self::Renew
            | Self::Restorefh
            | Self::Savefh
            | Self::Secinfo
            | Self::Setclientid
            | Self::SetclientidConfirm
            | Self::Verify
            | Self::ReleaseLockowner
            | Self::ExchangeId
            | Self::Getdeviceinfo
            | Self::Getdevicelist
            | Self::Layoutcommit
            | Self::Layoutget
            | Self::Layoutreturn
            | Self::SecinfoNoName
            | Self::Sequence
            | Self::SetSsv
            | Self::TestStateid
            | Self::CopyNotify
            | Self::IoAdvise
            | Self::Layouterror
            | Self::Layoutstats
            | Self::OffloadStatus
            | Self::ReadPlus
            | Self::Seek
            | Self::Getxattr
            | Self::Listxattrs
            | Self::Illegal => return None,
        })
    }
}
