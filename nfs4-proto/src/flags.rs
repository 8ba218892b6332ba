//! Flag words, and the enumerated fields inside them.

use nfs4_xdr::xdr_flags;

xdr_flags! {
    /// What ACCESS asks and answers. RFC 8881 §18.1, RFC 8276 §8.5.
    pub struct AccessFlags: u32 {
        /// Read data, list a directory.
        const READ = 0x1;
        /// Look up a name in a directory.
        const LOOKUP = 0x2;
        /// Rewrite existing data, change existing entries.
        const MODIFY = 0x4;
        /// Write new data, add entries.
        const EXTEND = 0x8;
        /// Delete an entry.
        const DELETE = 0x10;
        /// Run a file.
        const EXECUTE = 0x20;
        /// Read an extended attribute.
        const XAREAD = 0x40;
        /// Change an extended attribute.
        const XAWRITE = 0x80;
        /// List extended attributes.
        const XALIST = 0x100;
    }

    /// `share_access` of OPEN and `wda_want` of WANT_DELEGATION: the access, the delegation wanted (an enumerated
    /// field, see [`want`](ShareAccess::want)) and flags about it. RFC 8881 §18.16.3, RFC 9754.
    pub struct ShareAccess: u32 {
        /// OPEN4_SHARE_ACCESS_READ.
        const READ = 0x1;
        /// OPEN4_SHARE_ACCESS_WRITE.
        const WRITE = 0x2;
        /// OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL.
        const WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL = 0x1_0000;
        /// OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED.
        const WANT_PUSH_DELEG_WHEN_UNCONTENDED = 0x2_0000;
        /// OPEN4_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS (RFC 9754).
        const WANT_DELEG_TIMESTAMPS = 0x10_0000;
        /// OPEN4_SHARE_ACCESS_WANT_OPEN_XOR_DELEGATION (RFC 9754).
        const WANT_OPEN_XOR_DELEGATION = 0x20_0000;
    }

    /// `share_deny` of OPEN. RFC 8881 §18.16.3.
    pub struct ShareDeny: u32 {
        /// OPEN4_SHARE_DENY_READ.
        const READ = 0x1;
        /// OPEN4_SHARE_DENY_WRITE.
        const WRITE = 0x2;
    }

    /// `rflags` of OPEN's result. RFC 8881 §18.16.2, RFC 9754.
    pub struct OpenResultFlags: u32 {
        /// OPEN4_RESULT_CONFIRM: never in 4.1.
        const CONFIRM = 0x2;
        /// OPEN4_RESULT_LOCKTYPE_POSIX: byte-range locks are POSIX's.
        const LOCKTYPE_POSIX = 0x4;
        /// OPEN4_RESULT_PRESERVE_UNLINKED: an open file stays usable when it is removed.
        const PRESERVE_UNLINKED = 0x8;
        /// OPEN4_RESULT_NO_OPEN_STATEID: a delegation was given in the place of an open stateid (RFC 9754).
        const NO_OPEN_STATEID = 0x10;
        /// OPEN4_RESULT_MAY_NOTIFY_LOCK: CB_NOTIFY_LOCK may come.
        const MAY_NOTIFY_LOCK = 0x20;
    }

    /// Flags of EXCHANGE_ID, both ways. RFC 8881 §18.35, RFC 7862 §14.1.
    pub struct ExchangeIdFlags: u32 {
        /// The client deals with NFS4ERR_MOVED as a referral.
        const SUPP_MOVED_REFER = 0x1;
        /// The client deals with NFS4ERR_MOVED as a migration.
        const SUPP_MOVED_MIGR = 0x2;
        /// SUPP_FENCE_OPS (4.2).
        const SUPP_FENCE_OPS = 0x4;
        /// Stateids are bound to their principal.
        const BIND_PRINC_STATEID = 0x100;
        /// No pNFS.
        const USE_NON_PNFS = 0x1_0000;
        /// Metadata server.
        const USE_PNFS_MDS = 0x2_0000;
        /// Data server.
        const USE_PNFS_DS = 0x4_0000;
        /// The client updates its confirmed record.
        const UPD_CONFIRMED_REC_A = 0x4000_0000;
        /// The client ID is confirmed.
        const CONFIRMED_R = 0x8000_0000;
    }

    /// Flags of CREATE_SESSION, both ways. RFC 8881 §18.36.
    pub struct CreateSessionFlags: u32 {
        /// The reply cache survives a restart.
        const PERSIST = 0x1;
        /// This connection carries the backchannel.
        const CONN_BACK_CHAN = 0x2;
        /// This connection goes to RDMA.
        const CONN_RDMA = 0x4;
    }

    /// `sr_status_flags` of SEQUENCE: levels, not edges. RFC 8881 §18.46.3.
    pub struct SeqStatusFlags: u32 {
        /// No session of the client has a working backchannel.
        const CB_PATH_DOWN = 0x1;
        /// GSS contexts of the backchannel expire soon.
        const CB_GSS_CONTEXTS_EXPIRING = 0x2;
        /// GSS contexts of the backchannel are expired.
        const CB_GSS_CONTEXTS_EXPIRED = 0x4;
        /// All state was revoked as the lease expired.
        const EXPIRED_ALL_STATE_REVOKED = 0x8;
        /// Some state was revoked as the lease expired.
        const EXPIRED_SOME_STATE_REVOKED = 0x10;
        /// State was revoked by an administrator.
        const ADMIN_STATE_REVOKED = 0x20;
        /// Delegations or layouts were revoked.
        const RECALLABLE_STATE_REVOKED = 0x40;
        /// A lease moved.
        const LEASE_MOVED = 0x80;
        /// The server restarted: reclaim.
        const RESTART_RECLAIM_NEEDED = 0x100;
        /// This session has no working backchannel.
        const CB_PATH_DOWN_SESSION = 0x200;
        /// The backchannel's replies make no sense.
        const BACKCHANNEL_FAULT = 0x400;
        /// A device ID changed.
        const DEVID_CHANGED = 0x800;
        /// A device ID was deleted.
        const DEVID_DELETED = 0x1000;
    }
}

/// Which delegation an OPEN asks for: the field OPEN4_SHARE_ACCESS_WANT_DELEG_MASK of [`ShareAccess`], which counts and
/// is not made of flags. RFC 8881 §18.16.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// As the server likes.
    NoPreference,
    /// One for reading.
    Read,
    /// One for writing.
    Write,
    /// Any.
    Any,
    /// None.
    No,
    /// No longer what was asked for before.
    Cancel,
    /// A value that the protocol does not have.
    Unknown(u32),
}

impl ShareAccess {
    /// Both kinds of access.
    pub const BOTH: Self = Self::READ.union(Self::WRITE);
    /// The field that [`want`](Self::want) reads.
    pub const WANT_DELEG_MASK: Self = Self::from_bits_retain(0xff00);

    /// The access alone.
    #[must_use]
    pub fn access(self) -> Self {
        self.intersection(Self::BOTH)
    }

    /// The delegation wanted.
    #[must_use]
    pub fn want(self) -> Want {
        match self.bits() >> 8 & 0xff {
            0 => Want::NoPreference,
            1 => Want::Read,
            2 => Want::Write,
            3 => Want::Any,
            4 => Want::No,
            5 => Want::Cancel,
            n => Want::Unknown(n),
        }
    }

    /// The same with another delegation wanted.
    #[must_use]
    pub fn with_want(self, want: Want) -> Self {
        let n = match want {
            Want::NoPreference => 0,
            Want::Read => 1,
            Want::Write => 2,
            Want::Any => 3,
            Want::No => 4,
            Want::Cancel => 5,
            Want::Unknown(n) => n & 0xff,
        };
        Self::from_bits_retain(self.difference(Self::WANT_DELEG_MASK).bits() | n << 8)
    }

    /// The bits that no RFC gives a meaning.
    #[must_use]
    pub fn unknown(self) -> u32 {
        self.difference(Self::all().union(Self::WANT_DELEG_MASK)).bits()
    }
}

impl ShareDeny {
    /// Nothing is denied.
    pub const NONE: Self = Self::empty();
    /// Both kinds of access.
    pub const BOTH: Self = Self::READ.union(Self::WRITE);
}
