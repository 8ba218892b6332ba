//! Byte-range locks: LOCK, LOCKT, LOCKU.

use nfs4_xdr::{xdr_enum, xdr_struct, xdr_union};

use crate::outcome::op_error;
use crate::{StateId, StateOwner};

xdr_enum! {
    /// Kinds of lock. RFC 8881 §18.10.1.
    pub enum nfs_lock_type4 as LockType {
        /// Shared.
        Read = 1 "READ_LT",
        /// Exclusive.
        Write = 2 "WRITE_LT",
        /// Shared; the client would wait.
        ReadW = 3 "READW_LT",
        /// Exclusive; the client would wait.
        WriteW = 4 "WRITEW_LT",
    }
}

impl LockType {
    /// Whether it is exclusive.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteW)
    }
}

xdr_enum! {
    /// The discriminant of `locker4`: `new_lock_owner`.
    pub enum new_lock_owner as LockerKind {
        /// An owner that holds locks of this file already.
        Exist = 0 "FALSE",
        /// The first lock of an owner.
        New = 1 "TRUE",
    }
}

xdr_union! {
    /// Who locks. RFC 8881 §18.10.1.
    pub union locker4 as Locker switch (LockerKind) {
        /// An owner that holds locks of this file already.
        Exist => Exist {
            /// Its lock state.
            lock_stateid: StateId,
            /// Ignored in 4.1.
            lock_seqid: u32,
        },
        /// The first lock of an owner, under an open.
        New => New {
            /// Ignored in 4.1.
            open_seqid: u32,
            /// The open, or a delegation.
            open_stateid: StateId,
            /// Ignored in 4.1.
            lock_seqid: u32,
            /// Who locks.
            lock_owner: StateOwner,
        },
    }
}

xdr_struct! {
    /// RFC 8881 §18.10.1.
    pub struct LOCK4args as LockArgs {
        /// The kind of lock.
        pub locktype: LockType,
        /// It was held before the server's restart.
        pub reclaim: bool,
        /// First byte.
        pub offset: u64,
        /// Bytes; all ones: to the end.
        pub length: u64,
        /// Who locks.
        pub locker: Locker,
    }

    /// The lock that is in the way. RFC 8881 §18.10.2.
    pub struct LOCK4denied as LockDenied {
        /// First byte.
        pub offset: u64,
        /// Bytes; all ones: to the end.
        pub length: u64,
        /// The kind of lock.
        pub locktype: LockType,
        /// Who holds it.
        pub owner: StateOwner,
    }

    /// RFC 8881 §18.10.2.
    #[derive(Copy)]
    pub struct LOCK4resok as LockOk {
        /// The lock state.
        pub lock_stateid: StateId,
    }

    /// RFC 8881 §18.11.1.
    pub struct LOCKT4args as LocktArgs {
        /// The kind of lock.
        pub locktype: LockType,
        /// First byte.
        pub offset: u64,
        /// Bytes; all ones: to the end.
        pub length: u64,
        /// Who asks.
        pub owner: StateOwner,
    }

    /// RFC 8881 §18.12.1.
    #[derive(Copy)]
    pub struct LOCKU4args as LockuArgs {
        /// The kind of lock; ignored.
        pub locktype: LockType,
        /// Ignored in 4.1.
        pub seqid: u32,
        /// The lock state.
        pub lock_stateid: StateId,
        /// First byte.
        pub offset: u64,
        /// Bytes; all ones: to the end.
        pub length: u64,
    }
}

op_error! {
    /// Why LOCK or LOCKT failed. RFC 8881 §18.10.2, §18.11.2.
    pub enum LockError {
        /// NFS4ERR_DENIED with the lock that is in the way.
        Denied => Denied(LockDenied)
    }
}
