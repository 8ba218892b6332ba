//! What goes in and out of [`Holdings`](super::Holdings): plain data.

use alloc::string::String;

use nfs4_proto::{NfsTime, SessionId, StateId, Status};

use crate::server::Share;
use crate::{Now, Oid};

/// An own call, named by the caller; unique among the calls in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// A callback whose answer comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CbKey(pub u64);

/// One step of a return, to be reported by [`ClientEvent::StepDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepKey(pub u64);

/// An open-owner or a lock-owner: the client's own number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerKey(pub u64);

/// Where a call stands: `csa_referring_call_lists` name calls so (RFC 8881 §2.10.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    /// The session.
    pub session: SessionId,
    /// The slot.
    pub slot: u32,
    /// The slot's sequence number.
    pub seq: u32,
}

/// What a file delegation allows (RFC 8881 §10.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// OPEN_DELEGATE_READ, OPEN_DELEGATE_READ_ATTRS_DELEG.
    Read,
    /// OPEN_DELEGATE_WRITE, OPEN_DELEGATE_WRITE_ATTRS_DELEG.
    Write,
}

/// `nfs_space_limit4` (RFC 8881 §18.16.2): past it, dirty data is flushed before a close returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceLimit {
    /// NFS_LIMIT_SIZE: the size that the file may reach, in bytes.
    Size(u64),
    /// NFS_LIMIT_BLOCKS: how much may be cached.
    Blocks {
        /// That many.
        blocks: u32,
        /// Of so many bytes.
        bytes_per_block: u32,
    },
}

/// What the ACE of a delegation (RFC 8881 §10.4) allows without an ACCESS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ace {
    /// A user, or `EVERYONE@`.
    pub who: String,
    /// ACE4_READ_DATA.
    pub read: bool,
    /// ACE4_WRITE_DATA.
    pub write: bool,
}

impl Ace {
    /// From the fields of `nfsace4`. `None` where it allows nobody anything that can be told here (another type than
    /// ALLOWED, an empty mask, nobody named, a group): then ask.
    #[must_use]
    pub fn from_wire(kind: u32, flag: u32, mask: u32, who: &str) -> Option<Self> {
        const ALLOWED: u32 = 0;
        const IDENTIFIER_GROUP: u32 = 0x40;
        let (read, write) = (mask & 1 != 0, mask & 2 != 0);
        let special = who.ends_with('@') && who != "EVERYONE@";
        let told =
            kind == ALLOWED && flag & IDENTIFIER_GROUP == 0 && (read || write) && !who.is_empty() && !special;
        told.then(|| Self { who: who.into(), read, write })
    }

    pub(super) fn allows(&self, who: &str, share: Share) -> bool {
        (self.who == "EVERYONE@" || self.who == who)
            && (!share.read || self.read)
            && (!share.write || self.write)
    }
}

/// A delegation as a reply brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its stateid.
    pub stateid: StateId,
    /// Read or write.
    pub kind: Kind,
    /// One of RFC 9754's kinds: times are the holder's too.
    pub times: bool,
    /// It is to be returned at once (only a reclaim brings this, RFC 8881 §10.2.1).
    pub recall: bool,
    /// For a write delegation; `Size(0)` where none was sent.
    pub limit: SpaceLimit,
    /// Who may open without ACCESS.
    pub ace: Option<Ace>,
    /// `change`, from a GETATTR behind the OPEN in the same COMPOUND.
    pub change: u64,
    /// `size`, from the same.
    pub size: u64,
}

/// How the client came by what it has cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// It has nothing.
    None,
    /// By a request sent at this time.
    Sent(Now),
    /// It knows the `change` to which the copy belongs.
    Change(u64),
    /// It wrote this itself, under the delegation that is held now. Once that went back ([`ClientAction::Forget`]) it is
    /// a copy like any other.
    ///
    /// [`ClientAction::Forget`]: super::ClientAction::Forget
    Own,
}

/// What an application asks. A [`Serve::Local`] to `Open`, `Close`, `Write`, `Truncate`, `Lock` and `Unlock` is
/// entered in the account in the same step, so that nothing can come between the answer and the fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query<'a> {
    /// To open a file whose name is known.
    Open {
        /// The file.
        oid: Oid,
        /// For whom.
        owner: OwnerKey,
        /// How.
        share: Share,
        /// The user, as an ACE would name it.
        who: &'a str,
        /// An ACCESS of this user, still valid, allows it.
        allowed: bool,
        /// The name must be made.
        create: bool,
        /// The file is cut to nothing.
        truncate: bool,
    },
    /// To close what was opened so. An answer [`Serve::Ask`] other than [`WhyNot::SpaceLimit`] says that the server
    /// must hear of it, and the account is closed.
    Close {
        /// The file.
        oid: Oid,
        /// For whom.
        owner: OwnerKey,
        /// How it was opened.
        share: Share,
    },
    /// To read data.
    Read {
        /// The file.
        oid: Oid,
        /// What is cached of it.
        copy: Copy,
    },
    /// To write data.
    Write {
        /// The file.
        oid: Oid,
        /// Where the data ends, in bytes from the file's start.
        end: u64,
        /// How many bytes become dirty.
        bytes: u64,
    },
    /// To cut or stretch the file.
    Truncate {
        /// The file.
        oid: Oid,
        /// To this size, in bytes.
        size: u64,
    },
    /// To see attributes.
    Attrs {
        /// The file.
        oid: Oid,
        /// What is cached of them.
        copy: Copy,
        /// `time_access` must be exact.
        access_time: bool,
    },
    /// To set attributes other than the size.
    SetAttr {
        /// The file.
        oid: Oid,
        /// Only times, and to now.
        times_to_now: bool,
    },
    /// To lock a range.
    Lock {
        /// The file.
        oid: Oid,
        /// The lock.
        lock: Lock,
    },
    /// To see whether a range could be locked.
    LockTest {
        /// The file.
        oid: Oid,
        /// The lock.
        lock: Lock,
    },
    /// To unlock a range. An answer [`Serve::Ask`] says that the server must hear of it, and the account is closed.
    Unlock {
        /// The file.
        oid: Oid,
        /// For whom.
        owner: OwnerKey,
        /// The first byte.
        start: u64,
        /// The last byte.
        last: u64,
    },
}

impl Query<'_> {
    /// The file.
    #[must_use]
    pub fn oid(&self) -> Oid {
        match self {
            Self::Open { oid, .. }
            | Self::Close { oid, .. }
            | Self::Read { oid, .. }
            | Self::Write { oid, .. }
            | Self::Truncate { oid, .. }
            | Self::Attrs { oid, .. }
            | Self::SetAttr { oid, .. }
            | Self::Lock { oid, .. }
            | Self::LockTest { oid, .. }
            | Self::Unlock { oid, .. } => *oid,
        }
    }
}

/// A byte-range lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The open under which it is taken.
    pub open: OwnerKey,
    /// The lock-owner.
    pub owner: OwnerKey,
    /// The first byte.
    pub start: u64,
    /// The last byte.
    pub last: u64,
    /// Exclusive.
    pub write: bool,
}

/// The answer to a [`Query`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Here and now, under these facts.
    Local(Facts),
    /// Ask the server.
    Ask(WhyNot),
    /// No, and the server would not know why: NFS4ERR_SHARE_DENIED or NFS4ERR_DENIED among this client's own.
    Denied,
}

/// What holds for a file while its delegation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The delegation.
    pub kind: Kind,
    /// `change` as at the grant.
    pub change: u64,
    /// The size, as this client sees it.
    pub size: u64,
}

/// Why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyNot {
    /// No delegation is held.
    NoDelegation,
    /// The lease may have ended: a SEQUENCE first, then ask again. (A READ would not see what is written here and not
    /// flushed.)
    Lease,
    /// The server said that state was lost; not yet known which. Ask again when that is known.
    Doubt,
    /// The server restarted; not yet reclaimed.
    Reclaiming,
    /// The delegation is on its way back.
    Returning,
    /// A read delegation does not cover it.
    ReadOnly,
    /// Nobody has said that this user may.
    Access,
    /// A file's delegation says nothing about names.
    Name,
    /// Nothing is cached, or what is cached is older than the delegation.
    NotValidated,
    /// An own change is in flight.
    OwnChange,
    /// `time_access` is not delegated.
    AccessTime,
    /// This is always the server's to do.
    Always,
    /// Flush first, then ask again.
    SpaceLimit,
    /// The state exists at the server.
    OnServer,
    /// A table of this client is full.
    Full,
}

/// An own operation about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnOp {
    /// OPEN, WANT_DELEGATION: it may bring a delegation.
    Open {
        /// The file, where it is known already.
        oid: Option<Oid>,
        /// The call.
        triple: Triple,
    },
    /// Any other operation on a file.
    Io {
        /// The file.
        oid: Oid,
        /// It carries the delegation's stateid.
        delegated: bool,
        /// It changes data or attributes.
        changes: bool,
    },
}

/// An open as OPEN's reply tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// For whom.
    pub owner: OwnerKey,
    /// How.
    pub share: Share,
    /// The reply brought an open stateid (not OPEN4_RESULT_NO_OPEN_STATEID).
    pub on_server: bool,
}

/// What came of an own operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnReply {
    /// OPEN or WANT_DELEGATION succeeded.
    Opened {
        /// The file.
        oid: Oid,
        /// The open; `None` for WANT_DELEGATION.
        open: Option<Opened>,
        /// The delegation, if any came.
        grant: Option<Grant>,
    },
    /// A lock stands at the server.
    Locked {
        /// The file.
        oid: Oid,
        /// The lock.
        lock: Lock,
    },
    /// Something else succeeded.
    Done,
    /// It failed.
    Failed(Status),
}

/// What to do after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Done,
    /// Send it again with [`Holdings::stateid`](super::Holdings::stateid).
    Again,
    /// The delegation is lost.
    Lost,
}

/// A callback (RFC 8881 §20) that concerns files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbOp {
    /// CB_RECALL.
    Recall {
        /// The file; `None` where this client knows no such handle.
        oid: Option<Oid>,
        /// The delegation, with any seqid.
        stateid: StateId,
        /// The file is about to be cut to nothing: dirty data needs no flush.
        truncate: bool,
    },
    /// CB_GETATTR.
    GetAttr {
        /// The file.
        oid: Option<Oid>,
        /// What is asked.
        mask: CbMask,
    },
    /// CB_RECALL_ANY.
    RecallAny {
        /// Most objects to keep.
        keep: u32,
        /// RCA4_TYPE_MASK_*, word 0.
        mask: u32,
        /// A word after the first has a bit.
        beyond: bool,
    },
}

/// The attributes that CB_GETATTR may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "four independent bits of the protocol")]
pub struct CbMask {
    /// `change`
    pub change: bool,
    /// `size`
    pub size: bool,
    /// `time_deleg_access`
    pub access: bool,
    /// `time_deleg_modify`
    pub modify: bool,
}

/// CB_SEQUENCE, as far as it concerns delegations.
#[derive(Clone, Copy, Debug, Default)]
pub struct CbSequence<'a> {
    /// All calls of `csa_referring_call_lists`.
    pub referring: &'a [Triple],
}

/// The answer to a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbAnswer {
    /// This status.
    Status(Status),
    /// NFS4_OK with these attributes.
    Attrs(CbAttrs),
    /// [`ClientAction::Answer`] brings it, after at most one average round trip.
    Later(CbKey),
}

/// The answer to CB_GETATTR; what was not asked is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CbAttrs {
    /// `change`: as at the grant, and one more while there are unflushed changes (RFC 8881 §10.4.3).
    pub change: Option<u64>,
    /// `size`, in bytes.
    pub size: Option<u64>,
    /// `time_deleg_access`
    pub access: Option<NfsTime>,
    /// `time_deleg_modify`
    pub modify: Option<NfsTime>,
}
