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
        /// For writing, or denying others to read: what no reader's delegation stands beside.
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

/// What an operation does to one object: a row of [`RULES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// OPEN for reading that denies nobody to read.
    OpenRead,
    /// OPEN for writing, or that denies others to read.
    OpenWrite,
    /// OPEN that cuts the file to nothing.
    OpenTruncate,
    /// READ and its like.
    Read,
    /// WRITE and its like.
    Write,
    /// SETATTR.
    SetAttr,
    /// SETXATTR, REMOVEXATTR.
    Xattr,
    /// LOCK, LOCKT.
    Lock,
    /// LINK: one name more.
    Link,
    /// REMOVE: one name less.
    Remove,
    /// RENAME: another name.
    RenameSource,
    /// RENAME over it.
    RenameVictim,
    /// GETATTR of size, change or times.
    GetAttr,
}

/// What an operation needs of another client's delegation on its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// That it comes back first.
    Recall,
    /// That its holder is asked (CB_GETATTR); else that it comes back.
    Ask,
}

/// A row of the conflict table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which.
    pub row: Row,
    /// The operations.
    pub what: &'static str,
    /// Against a read delegation of another client.
    pub read: Need,
    /// Against a write delegation of another client.
    pub write: Need,
    /// Where it is written.
    pub source: &'static str,
}

use Need::{Ask, Nothing, Recall};

const fn rule(row: Row, what: &'static str, read: Need, write: Need, source: &'static str) -> Rule {
    Rule { row, what, read, write, source }
}

/// All conflicts of files. A client's own delegation never stands in its way, and what is not here needs nothing.
pub const RULES: [Rule; 13] = [
    rule(Row::OpenRead, "OPEN for reading", Nothing, Recall, "RFC 8881 §10.4"),
    rule(Row::OpenWrite, "OPEN for writing, or denying READ", Recall, Recall, "RFC 8881 §10.4"),
    rule(Row::OpenTruncate, "OPEN UNCHECKED4 with size 0", Recall, Recall, "RFC 8881 §18.16.4"),
    rule(Row::Read, "READ, READ_PLUS, SEEK, source of COPY and CLONE", Nothing, Recall, "RFC 8881 §18.22.4"),
    rule(
        Row::Write,
        "WRITE, ALLOCATE, DEALLOCATE, target of COPY and CLONE",
        Recall,
        Recall,
        "RFC 8881 §18.32.4",
    ),
    rule(Row::SetAttr, "SETATTR", Recall, Recall, "RFC 8881 §18.30.4"),
    rule(Row::Xattr, "SETXATTR, REMOVEXATTR", Recall, Recall, "RFC 8276 §8.4"),
    rule(Row::Lock, "LOCK, LOCKT", Nothing, Recall, "RFC 8881 §10.4.2"),
    rule(Row::Link, "LINK: the file", Recall, Recall, "RFC 8881 §18.9.4"),
    rule(Row::Remove, "REMOVE: the file", Recall, Recall, "RFC 8881 §18.25.4"),
    rule(Row::RenameSource, "RENAME: what moves", Recall, Recall, "RFC 8881 §18.26.4"),
    rule(Row::RenameVictim, "RENAME: what is replaced", Recall, Recall, "RFC 8881 §18.26.4"),
    rule(Row::GetAttr, "GETATTR of size, change or times", Nothing, Ask, "RFC 8881 §18.7.4, §10.4.3"),
];

impl Row {
    /// What it needs of another's delegation: for writing, or for reading.
    #[must_use]
    pub fn need(self, write: bool) -> Need {
        let rule = RULES.iter().find(|rule| rule.row == self);
        rule.map_or(Need::Recall, |rule| if write { rule.write } else { rule.read })
    }
}

impl Intent {
    /// The files it is about, and what it does to each.
    #[must_use]
    pub fn touches(&self) -> [Option<(Oid, Row)>; 2] {
        match *self {
            Self::Open { oid, share, truncate } => {
                let row = if truncate {
                    Row::OpenTruncate
                } else if share.write || share.deny_read {
                    Row::OpenWrite
                } else {
                    Row::OpenRead
                };
                [Some((oid, row)), None]
            }
            Self::Read { oid } => [Some((oid, Row::Read)), None],
            Self::Write { oid } => [Some((oid, Row::Write)), None],
            Self::SetAttr { oid, .. } => [Some((oid, Row::SetAttr)), None],
            Self::Xattr { oid } => [Some((oid, Row::Xattr)), None],
            Self::Lock { oid } => [Some((oid, Row::Lock)), None],
            Self::Create { .. } => [None, None],
            Self::Link { target, .. } => [Some((target, Row::Link)), None],
            Self::Remove { target, .. } => [target.map(|oid| (oid, Row::Remove)), None],
            Self::Rename { source, victim, .. } => {
                let victim = victim.filter(|oid| source != Some(*oid));
                [source.map(|oid| (oid, Row::RenameSource)), victim.map(|oid| (oid, Row::RenameVictim))]
            }
        }
    }

    /// The holder may throw its data away.
    pub(super) fn truncates(&self) -> bool {
        matches!(self, Self::Open { truncate: true, .. })
    }
}
