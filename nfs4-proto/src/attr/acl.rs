//! Access control lists. RFC 8881 §6.

use nfs4_xdr::{List, xdr_enum, xdr_flags, xdr_struct};

use super::Owner;

/// Most entries of a list that the codec takes; what a server stores is less.
pub const ACL_LIMIT: usize = 4096;

/// `fattr4_acl`: `nfsace4<>`.
pub type Acl = List<Ace, ACL_LIMIT>;

xdr_enum! {
    /// What an entry does. RFC 8881 §6.2.1.1 (`acetype4`).
    pub open enum acetype4 as AceType {
        /// Allows.
        Allowed = 0 "ACE4_ACCESS_ALLOWED_ACE_TYPE",
        /// Denies.
        Denied = 1 "ACE4_ACCESS_DENIED_ACE_TYPE",
        /// Logs.
        Audit = 2 "ACE4_SYSTEM_AUDIT_ACE_TYPE",
        /// Raises an alarm.
        Alarm = 3 "ACE4_SYSTEM_ALARM_ACE_TYPE",
    }
}

xdr_flags! {
    /// Which kinds of entries a file system has. RFC 8881 §6.2.1.2.
    pub struct AclSupport: u32 {
        /// Those that allow.
        const ALLOW_ACL = 0x1;
        /// Those that deny.
        const DENY_ACL = 0x2;
        /// Those that log.
        const AUDIT_ACL = 0x4;
        /// Those that raise an alarm.
        const ALARM_ACL = 0x8;
    }

    /// How an entry is inherited and whom it names. RFC 8881 §6.2.1.4 (`aceflag4`).
    pub struct AceFlags: u32 {
        /// New files get it.
        const FILE_INHERIT = 0x01;
        /// New directories get it.
        const DIRECTORY_INHERIT = 0x02;
        /// What gets it does not pass it on.
        const NO_PROPAGATE_INHERIT = 0x04;
        /// It does not count for the directory itself.
        const INHERIT_ONLY = 0x08;
        /// Log or raise an alarm on success.
        const SUCCESSFUL_ACCESS = 0x10;
        /// Log or raise an alarm on failure.
        const FAILED_ACCESS = 0x20;
        /// `who` is a group.
        const IDENTIFIER_GROUP = 0x40;
        /// It was inherited.
        const INHERITED = 0x80;
    }

    /// What an entry allows or denies. RFC 8881 §6.2.1.3 (`acemask4`).
    pub struct AceMask: u32 {
        /// Read data; of a directory: list it.
        const READ_DATA = 0x0000_0001;
        /// Write data; of a directory: add files.
        const WRITE_DATA = 0x0000_0002;
        /// Append data; of a directory: add directories.
        const APPEND_DATA = 0x0000_0004;
        /// Read named attributes.
        const READ_NAMED_ATTRS = 0x0000_0008;
        /// Write named attributes.
        const WRITE_NAMED_ATTRS = 0x0000_0010;
        /// Execute; of a directory: pass through it.
        const EXECUTE = 0x0000_0020;
        /// Remove entries of the directory.
        const DELETE_CHILD = 0x0000_0040;
        /// Read attributes.
        const READ_ATTRIBUTES = 0x0000_0080;
        /// Write times and the like.
        const WRITE_ATTRIBUTES = 0x0000_0100;
        /// Set retention.
        const WRITE_RETENTION = 0x0000_0200;
        /// Set retention holds.
        const WRITE_RETENTION_HOLD = 0x0000_0400;
        /// Remove the object.
        const DELETE = 0x0001_0000;
        /// Read the ACL.
        const READ_ACL = 0x0002_0000;
        /// Write the ACL and the mode.
        const WRITE_ACL = 0x0004_0000;
        /// Change the owner.
        const WRITE_OWNER = 0x0008_0000;
        /// Use the file synchronously.
        const SYNCHRONIZE = 0x0010_0000;
        /// What reading is taken for.
        const GENERIC_READ = 0x0012_0081;
        /// What writing is taken for.
        const GENERIC_WRITE = 0x0016_0106;
        /// What executing is taken for.
        const GENERIC_EXECUTE = 0x0012_00a0;
    }

    /// `aclflag4`. RFC 8881 §6.4.3.2.
    pub struct AclFlags: u32 {
        /// Changes of the parent's list come down.
        const AUTO_INHERIT = 0x1;
        /// Not to this object.
        const PROTECTED = 0x2;
        /// The list was made by default.
        const DEFAULTED = 0x4;
    }
}

xdr_struct! {
    /// An access control entry. RFC 8881 §6.2.1.
    pub struct nfsace4 as Ace {
        /// What it does.
        pub ace_type: AceType,
        /// Inheritance and whom it names.
        pub flag: AceFlags,
        /// What it is about.
        pub access_mask: AceMask,
        /// Who: an owner, or `OWNER@`, `GROUP@`, `EVERYONE@` and the like (RFC 8881 §6.2.1.5).
        pub who: Owner,
    }

    /// A list in the form of 4.1, for `dacl` and `sacl`. RFC 8881 §6.4.2.3.
    #[derive(Default)]
    pub struct nfsacl41 as Acl41 {
        /// About the list as a whole.
        pub flag: AclFlags,
        /// The entries, in order.
        pub aces: Acl,
    }
}
