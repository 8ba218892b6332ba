//! `nfsstat4`: every status of 4.1 and 4.2. RFC 8881 §15.1, RFC 7862 §11.1, RFC 8276 §8.4.

use nfs4_xdr::xdr_enum;

xdr_enum! {
    /// What an operation answers. RFC 8881 §15.1.
    pub open enum nfsstat4 as Status {
        /// Success.
        Ok = 0 "NFS4_OK",
        /// The caller is not the owner and not privileged.
        Perm = 1 "NFS4ERR_PERM",
        /// There is no such name.
        NoEnt = 2 "NFS4ERR_NOENT",
        /// A hard error of the medium.
        Io = 5 "NFS4ERR_IO",
        /// No such device, or beyond the end of the file (SEEK).
        NxIo = 6 "NFS4ERR_NXIO",
        /// Permission denied.
        Access = 13 "NFS4ERR_ACCESS",
        /// The name exists already.
        Exist = 17 "NFS4ERR_EXIST",
        /// The operation would cross file systems.
        XDev = 18 "NFS4ERR_XDEV",
        /// The object is no directory.
        NotDir = 20 "NFS4ERR_NOTDIR",
        /// The object is a directory.
        IsDir = 21 "NFS4ERR_ISDIR",
        /// An argument is invalid.
        Inval = 22 "NFS4ERR_INVAL",
        /// The file would be too big.
        FBig = 27 "NFS4ERR_FBIG",
        /// No space is left.
        NoSpc = 28 "NFS4ERR_NOSPC",
        /// The file system is read-only.
        RoFs = 30 "NFS4ERR_ROFS",
        /// The object has too many names.
        MLink = 31 "NFS4ERR_MLINK",
        /// The name is too long.
        NameTooLong = 63 "NFS4ERR_NAMETOOLONG",
        /// The directory is not empty.
        NotEmpty = 66 "NFS4ERR_NOTEMPTY",
        /// The quota is used up.
        DQuot = 69 "NFS4ERR_DQUOT",
        /// The object of this filehandle is gone.
        Stale = 70 "NFS4ERR_STALE",
        /// Not a filehandle of this server.
        BadHandle = 10001 "NFS4ERR_BADHANDLE",
        /// The READDIR cookie is not valid.
        BadCookie = 10003 "NFS4ERR_BAD_COOKIE",
        /// The operation is not supported.
        NotSupp = 10004 "NFS4ERR_NOTSUPP",
        /// The reply does not fit into the size given.
        TooSmall = 10005 "NFS4ERR_TOOSMALL",
        /// The server failed.
        ServerFault = 10006 "NFS4ERR_SERVERFAULT",
        /// The kind of object cannot be made.
        BadType = 10007 "NFS4ERR_BADTYPE",
        /// Not now; try again later.
        Delay = 10008 "NFS4ERR_DELAY",
        /// NVERIFY: the attributes are the same.
        Same = 10009 "NFS4ERR_SAME",
        /// A conflicting lock is held.
        Denied = 10010 "NFS4ERR_DENIED",
        /// The lease expired.
        Expired = 10011 "NFS4ERR_EXPIRED",
        /// A mandatory lock is in the way.
        Locked = 10012 "NFS4ERR_LOCKED",
        /// The server is in its grace period.
        Grace = 10013 "NFS4ERR_GRACE",
        /// The volatile filehandle expired.
        FhExpired = 10014 "NFS4ERR_FHEXPIRED",
        /// A share reservation is in the way.
        ShareDenied = 10015 "NFS4ERR_SHARE_DENIED",
        /// Another security flavor is wanted.
        WrongSec = 10016 "NFS4ERR_WRONGSEC",
        /// The client ID is in use by another principal.
        ClidInUse = 10017 "NFS4ERR_CLID_INUSE",
        /// Resources ran out (4.0 only; never sent).
        Resource = 10018 "NFS4ERR_RESOURCE",
        /// The file system is elsewhere.
        Moved = 10019 "NFS4ERR_MOVED",
        /// There is no current filehandle.
        NoFileHandle = 10020 "NFS4ERR_NOFILEHANDLE",
        /// The minor version is not supported.
        MinorVersMismatch = 10021 "NFS4ERR_MINOR_VERS_MISMATCH",
        /// The server does not know this client ID.
        StaleClientId = 10022 "NFS4ERR_STALE_CLIENTID",
        /// The stateid is of an earlier server instance (4.0 only).
        StaleStateId = 10023 "NFS4ERR_STALE_STATEID",
        /// The stateid's seqid is not the newest.
        OldStateId = 10024 "NFS4ERR_OLD_STATEID",
        /// The server does not know this stateid.
        BadStateId = 10025 "NFS4ERR_BAD_STATEID",
        /// Wrong sequence number (4.0 only).
        BadSeqId = 10026 "NFS4ERR_BAD_SEQID",
        /// VERIFY: the attributes are not the same; READDIR: the verifier is old.
        NotSame = 10027 "NFS4ERR_NOT_SAME",
        /// The lock range cannot be changed in this way.
        LockRange = 10028 "NFS4ERR_LOCK_RANGE",
        /// The object is a symbolic link.
        Symlink = 10029 "NFS4ERR_SYMLINK",
        /// There is no saved filehandle (4.0 only).
        RestoreFh = 10030 "NFS4ERR_RESTOREFH",
        /// A lease moved (4.0 only).
        LeaseMoved = 10031 "NFS4ERR_LEASE_MOVED",
        /// An attribute is not supported.
        AttrNotSupp = 10032 "NFS4ERR_ATTRNOTSUPP",
        /// A reclaim outside of grace.
        NoGrace = 10033 "NFS4ERR_NO_GRACE",
        /// The reclaim cannot be verified.
        ReclaimBad = 10034 "NFS4ERR_RECLAIM_BAD",
        /// The reclaim conflicts with another's.
        ReclaimConflict = 10035 "NFS4ERR_RECLAIM_CONFLICT",
        /// The arguments cannot be decoded.
        BadXdr = 10036 "NFS4ERR_BADXDR",
        /// Locks are held.
        LocksHeld = 10037 "NFS4ERR_LOCKS_HELD",
        /// The open's access does not allow it.
        OpenMode = 10038 "NFS4ERR_OPENMODE",
        /// The owner string has no translation.
        BadOwner = 10039 "NFS4ERR_BADOWNER",
        /// The name has a character that is not allowed.
        BadChar = 10040 "NFS4ERR_BADCHAR",
        /// The name is not allowed.
        BadName = 10041 "NFS4ERR_BADNAME",
        /// The range is not supported.
        BadRange = 10042 "NFS4ERR_BAD_RANGE",
        /// The kind of lock is not supported.
        LockNotSupp = 10043 "NFS4ERR_LOCK_NOTSUPP",
        /// There is no such operation.
        OpIllegal = 10044 "NFS4ERR_OP_ILLEGAL",
        /// The lock would deadlock.
        Deadlock = 10045 "NFS4ERR_DEADLOCK",
        /// The file is open.
        FileOpen = 10046 "NFS4ERR_FILE_OPEN",
        /// The state was revoked by an administrator.
        AdminRevoked = 10047 "NFS4ERR_ADMIN_REVOKED",
        /// The callback path is down.
        CbPathDown = 10048 "NFS4ERR_CB_PATH_DOWN",
        /// The layout's I/O mode is wrong.
        BadIoMode = 10049 "NFS4ERR_BADIOMODE",
        /// The layout is not valid.
        BadLayout = 10050 "NFS4ERR_BADLAYOUT",
        /// The session digest is wrong.
        BadSessionDigest = 10051 "NFS4ERR_BAD_SESSION_DIGEST",
        /// There is no such session.
        BadSession = 10052 "NFS4ERR_BADSESSION",
        /// There is no such slot.
        BadSlot = 10053 "NFS4ERR_BADSLOT",
        /// RECLAIM_COMPLETE was sent before.
        CompleteAlready = 10054 "NFS4ERR_COMPLETE_ALREADY",
        /// The connection is not bound to the session.
        ConnNotBoundToSession = 10055 "NFS4ERR_CONN_NOT_BOUND_TO_SESSION",
        /// The delegation was wanted already.
        DelegAlreadyWanted = 10056 "NFS4ERR_DELEG_ALREADY_WANTED",
        /// The backchannel is busy.
        BackChanBusy = 10057 "NFS4ERR_BACK_CHAN_BUSY",
        /// The layout may be had later.
        LayoutTryLater = 10058 "NFS4ERR_LAYOUTTRYLATER",
        /// No layout can be had.
        LayoutUnavail = 10059 "NFS4ERR_LAYOUTUNAVAILABLE",
        /// No layout matches.
        NoMatchingLayout = 10060 "NFS4ERR_NOMATCHING_LAYOUT",
        /// The layout is being recalled.
        RecallConflict = 10061 "NFS4ERR_RECALLCONFLICT",
        /// The layout type is unknown.
        UnknownLayoutType = 10062 "NFS4ERR_UNKNOWN_LAYOUTTYPE",
        /// The slot's sequence number is out of order.
        SeqMisordered = 10063 "NFS4ERR_SEQ_MISORDERED",
        /// SEQUENCE must be the first operation.
        SequencePos = 10064 "NFS4ERR_SEQUENCE_POS",
        /// The request is too big.
        ReqTooBig = 10065 "NFS4ERR_REQ_TOO_BIG",
        /// The reply would be too big.
        RepTooBig = 10066 "NFS4ERR_REP_TOO_BIG",
        /// The reply would be too big to be cached.
        RepTooBigToCache = 10067 "NFS4ERR_REP_TOO_BIG_TO_CACHE",
        /// The reply to this retry was not cached.
        RetryUncachedRep = 10068 "NFS4ERR_RETRY_UNCACHED_REP",
        /// The compound is not safe.
        UnsafeCompound = 10069 "NFS4ERR_UNSAFE_COMPOUND",
        /// The compound has too many operations.
        TooManyOps = 10070 "NFS4ERR_TOO_MANY_OPS",
        /// The operation needs a SEQUENCE in front.
        OpNotInSession = 10071 "NFS4ERR_OP_NOT_IN_SESSION",
        /// The hash algorithm is not supported.
        HashAlgUnsupp = 10072 "NFS4ERR_HASH_ALG_UNSUPP",
        /// The client ID has state.
        ClientIdBusy = 10074 "NFS4ERR_CLIENTID_BUSY",
        /// The range is a hole of this data server.
        PnfsIoHole = 10075 "NFS4ERR_PNFS_IO_HOLE",
        /// A retry with another request.
        SeqFalseRetry = 10076 "NFS4ERR_SEQ_FALSE_RETRY",
        /// The highest slot is out of range.
        BadHighSlot = 10077 "NFS4ERR_BAD_HIGH_SLOT",
        /// The session is dead.
        DeadSession = 10078 "NFS4ERR_DEADSESSION",
        /// The encryption algorithm is not supported.
        EncrAlgUnsupp = 10079 "NFS4ERR_ENCR_ALG_UNSUPP",
        /// There is no layout.
        PnfsNoLayout = 10080 "NFS4ERR_PNFS_NO_LAYOUT",
        /// The operation must be the only one.
        NotOnlyOp = 10081 "NFS4ERR_NOT_ONLY_OP",
        /// Wrong credentials.
        WrongCred = 10082 "NFS4ERR_WRONG_CRED",
        /// Wrong kind of object.
        WrongType = 10083 "NFS4ERR_WRONG_TYPE",
        /// No directory delegation can be had.
        DirDelegUnavail = 10084 "NFS4ERR_DIRDELEG_UNAVAIL",
        /// The client refuses the delegation.
        RejectDeleg = 10085 "NFS4ERR_REJECT_DELEG",
        /// The layout's return conflicts.
        ReturnConflict = 10086 "NFS4ERR_RETURNCONFLICT",
        /// The delegation was revoked.
        DelegRevoked = 10087 "NFS4ERR_DELEG_REVOKED",
        /// The other server does not support it (copy).
        PartnerNotSupp = 10088 "NFS4ERR_PARTNER_NOTSUPP",
        /// The other server does not allow it (copy).
        PartnerNoAuth = 10089 "NFS4ERR_PARTNER_NO_AUTH",
        /// The union's arm is not supported.
        UnionNotSupp = 10090 "NFS4ERR_UNION_NOTSUPP",
        /// The offload is denied.
        OffloadDenied = 10091 "NFS4ERR_OFFLOAD_DENIED",
        /// Wrong label format.
        WrongLfs = 10092 "NFS4ERR_WRONG_LFS",
        /// The label is wrong.
        BadLabel = 10093 "NFS4ERR_BADLABEL",
        /// The copy's requirements cannot be met.
        OffloadNoReqs = 10094 "NFS4ERR_OFFLOAD_NO_REQS",
        /// There is no such extended attribute.
        NoXattr = 10095 "NFS4ERR_NOXATTR",
        /// The extended attribute is too big.
        Xattr2Big = 10096 "NFS4ERR_XATTR2BIG",
    }
}

/// What a client does about a status. Classes are about the next step, not about the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusClass {
    /// Nothing.
    Done,
    /// Sends the same again a little later; after `NFS4ERR_OLD_STATEID` with the newest seqid.
    Retry,
    /// Recovers the state that the stateid named: it is gone or revoked. RFC 8881 §8.4, §10.2.1.
    StateLost,
    /// Recovers the session or the client ID. RFC 8881 §8.4.2.1, §2.10.13.
    SessionLost,
    /// Looks the object up again: the handle is not valid any more.
    HandleLost,
    /// Finds out where the file system went. RFC 8881 §11.
    Moved,
    /// Waits for another's lock or share reservation, or reports it.
    Conflict,
    /// Tells the application: an answer about the file system, the network did its part.
    Answer,
    /// Uses another operation, attribute or type, and remembers not to ask this server again.
    Unsupported,
    /// Sends less, or asks for less, at once.
    TooBig,
    /// Negotiates another security flavor or principal.
    Security,
    /// Reports a fault of its own: the request broke a rule.
    CallersFault,
    /// Reports a fault of the server.
    ServersFault,
}

impl Status {
    /// Whether the operation succeeded.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        matches!(self, Self::Ok)
    }

    /// What a client does about it.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one line for each status, in one place")]
    pub const fn class(self) -> StatusClass {
        use StatusClass as C;
        match self {
            Self::Ok => C::Done,
            Self::Delay
            | Self::Grace
            | Self::OldStateId
            | Self::LayoutTryLater
            | Self::RecallConflict
            | Self::ReturnConflict
            | Self::BackChanBusy => C::Retry,
            Self::Expired
            | Self::StaleStateId
            | Self::BadStateId
            | Self::AdminRevoked
            | Self::DelegRevoked
            | Self::ReclaimBad
            | Self::ReclaimConflict
            | Self::NoGrace
            | Self::BadLayout => C::StateLost,
            Self::StaleClientId
            | Self::BadSession
            | Self::DeadSession
            | Self::BadSlot
            | Self::BadHighSlot
            | Self::SeqMisordered
            | Self::SeqFalseRetry
            | Self::RetryUncachedRep
            | Self::ConnNotBoundToSession
            | Self::CbPathDown => C::SessionLost,
            Self::Stale | Self::BadHandle | Self::FhExpired => C::HandleLost,
            Self::Moved | Self::LeaseMoved => C::Moved,
            Self::Denied
            | Self::Locked
            | Self::ShareDenied
            | Self::FileOpen
            | Self::LocksHeld
            | Self::Deadlock => C::Conflict,
            Self::Perm
            | Self::NoEnt
            | Self::Io
            | Self::NxIo
            | Self::Access
            | Self::Exist
            | Self::XDev
            | Self::NotDir
            | Self::IsDir
            | Self::Inval
            | Self::FBig
            | Self::NoSpc
            | Self::RoFs
            | Self::MLink
            | Self::NameTooLong
            | Self::NotEmpty
            | Self::DQuot
            | Self::Same
            | Self::NotSame
            | Self::Symlink
            | Self::WrongType
            | Self::BadOwner
            | Self::BadChar
            | Self::BadName
            | Self::BadCookie
            | Self::CompleteAlready
            | Self::DelegAlreadyWanted
            | Self::RejectDeleg
            | Self::OffloadDenied
            | Self::PartnerNoAuth
            | Self::WrongLfs
            | Self::BadLabel
            | Self::NoXattr
            | Self::Xattr2Big => C::Answer,
            Self::NotSupp
            | Self::BadType
            | Self::MinorVersMismatch
            | Self::AttrNotSupp
            | Self::LockNotSupp
            | Self::LockRange
            | Self::BadRange
            | Self::OpIllegal
            | Self::LayoutUnavail
            | Self::NoMatchingLayout
            | Self::UnknownLayoutType
            | Self::PnfsNoLayout
            | Self::PnfsIoHole
            | Self::DirDelegUnavail
            | Self::PartnerNotSupp
            | Self::UnionNotSupp
            | Self::OffloadNoReqs
            | Self::HashAlgUnsupp
            | Self::EncrAlgUnsupp => C::Unsupported,
            Self::TooSmall
            | Self::Resource
            | Self::ReqTooBig
            | Self::RepTooBig
            | Self::RepTooBigToCache
            | Self::TooManyOps => C::TooBig,
            Self::WrongSec | Self::WrongCred | Self::ClidInUse => C::Security,
            Self::NoFileHandle
            | Self::RestoreFh
            | Self::BadSeqId
            | Self::BadXdr
            | Self::OpenMode
            | Self::BadIoMode
            | Self::BadSessionDigest
            | Self::SequencePos
            | Self::UnsafeCompound
            | Self::OpNotInSession
            | Self::ClientIdBusy
            | Self::NotOnlyOp => C::CallersFault,
            Self::ServerFault | Self::Other(_) => C::ServersFault,
        }
    }

    /// Whether the same request may succeed later without anything else being done.
    #[must_use]
    pub const fn is_retry(self) -> bool {
        matches!(self.class(), StatusClass::Retry)
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, StatusClass};

    #[test]
    fn success_alone_is_done() {
        let done: alloc::vec::Vec<_> =
            Status::ALL.iter().filter(|s| s.class() == StatusClass::Done).collect();
        assert_eq!(done, [&Status::Ok]);
    }

    #[test]
    fn a_number_without_a_name_is_the_servers_fault() {
        assert_eq!(Status::Other(10_073).class(), StatusClass::ServersFault);
    }

    #[test]
    fn all_refusals_of_a_directory_delegation_turn_the_feature_off() {
        for status in [Status::DirDelegUnavail, Status::NotSupp, Status::OpIllegal] {
            assert_eq!(status.class(), StatusClass::Unsupported);
        }
    }
}
