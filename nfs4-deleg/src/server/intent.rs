//! What an operation is about to do, and what it did: plain data.

use crate::{ClientKey, Oid};

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// A client. It never conflicts with its own delegations.
    Client(ClientKey),
    /// The server itself or a local process.
    Local,
}

/// `share_access` and `share_deny` of an OPEN (RFC 8881 §9.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four independent bits of the protocol")]
pub struct Share {
    /// OPEN4_SHARE_ACCESS_READ
    pub read: bool,
    /// OPEN4_SHARE_ACCESS_WRITE
    pub write: bool,
    /// OPEN4_SHARE_DENY_READ
    pub deny_read: bool,
    /// OPEN4_SHARE_DENY_WRITE
    pub deny_write: bool,
}

/// What an operation is about to do (RFC 8881 §10.4, §10.9: what may conflict with a delegation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// OPEN of a file that exists.
    Open {
        /// The file.
        oid: Oid,
        /// How.
        share: Share,
        /// UNCHECKED4 with size 0.
        truncate: bool,
    },
    /// READ with a special stateid or one of an open, READ_PLUS, SEEK, the source of COPY and CLONE.
    Read {
        /// The file.
        oid: Oid,
    },
    /// WRITE, ALLOCATE, DEALLOCATE, the target of COPY and CLONE.
    Write {
        /// The file.
        oid: Oid,
    },
    /// SETATTR, and a change of ACL.
    SetAttr {
        /// The object.
        oid: Oid,
        /// The size too.
        size: bool,
    },
    /// SETXATTR, REMOVEXATTR.
    Xattr {
        /// The object.
        oid: Oid,
    },
    /// OPEN that creates, CREATE.
    Create {
        /// The directory.
        dir: Oid,
    },
    /// LINK.
    Link {
        /// The directory.
        dir: Oid,
        /// The object that gets one more name.
        target: Oid,
    },
    /// REMOVE.
    Remove {
        /// The directory.
        dir: Oid,
        /// What loses its name, where it is known.
        target: Option<Oid>,
    },
    /// RENAME.
    Rename {
        /// The directory left.
        from: Oid,
        /// The directory entered.
        to: Oid,
        /// What moves, where it is known.
        source: Option<Oid>,
        /// What is replaced, where there is something.
        victim: Option<Oid>,
    },
    /// LOCK.
    Lock {
        /// The file.
        oid: Oid,
    },
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A client has the file open once more.
    Opened {
        /// The file.
        oid: Oid,
        /// The client.
        client: ClientKey,
        /// For writing.
        write: bool,
    },
    /// A client has the file open once less.
    Closed {
        /// The file.
        oid: Oid,
        /// The client.
        client: ClientKey,
        /// It was for writing.
        write: bool,
    },
    /// Data or attributes of an object changed.
    Changed {
        /// The object.
        oid: Oid,
    },
    /// An entry of a directory came, went or was renamed.
    Entry {
        /// The directory.
        dir: Oid,
        /// Its change number before.
        before: u64,
        /// Its change number after.
        after: u64,
    },
}
