//! The words of the [`Backend`](super::Backend) trait.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use super::acl::Ace;

pub use nfs4_deleg::Oid;
pub use nfs4_proto::{ChangeInfo, NfsTime as Time};

/// A handle's part that the backend makes; at most 100 bytes, so that the whole fits NFS4_FHSIZE (128).
pub type RawHandle = SmallVec<[u8; 40]>;

/// `ftype4` without the named-attribute kinds (RFC 8881 §3.2, `nfs_ftype4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// NF4REG
    File,
    /// NF4DIR
    Dir,
    /// NF4LNK
    Symlink,
    /// NF4BLK
    Block,
    /// NF4CHR
    Char,
    /// NF4FIFO
    Fifo,
    /// NF4SOCK
    Socket,
}

/// An object that was found. Cheap to clone; keeps what the backend needs to reach the object again.
#[derive(Clone)]
pub struct Node {
    /// Identity.
    pub oid: Oid,
    /// Kind; it never changes.
    pub kind: FileKind,
    object: Arc<dyn Any + Send + Sync>,
}

impl Node {
    /// A node around a backend's own object.
    pub fn new<T: Any + Send + Sync>(oid: Oid, kind: FileKind, object: Arc<T>) -> Self {
        Self { oid, kind, object }
    }

    /// The backend's own object; `None` if another backend made this node.
    #[must_use]
    pub fn object<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.object).downcast().ok()
    }

    /// The same by reference.
    #[must_use]
    pub fn object_ref<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.object.downcast_ref()
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.kind, self.oid)
    }
}

/// An open regular file: the object stays usable as long as this lives, also without a name.
#[derive(Clone)]
pub struct Opened {
    /// The file.
    pub node: Node,
    /// What it was opened for.
    pub access: OpenAccess,
    guard: Arc<dyn Any + Send + Sync>,
}

impl Opened {
    /// An open file around a backend's own guard, whose drop closes it.
    pub fn new<T: Any + Send + Sync>(node: Node, access: OpenAccess, guard: Arc<T>) -> Self {
        Self { node, access, guard }
    }

    /// The guard, whatever the backend: the object stays usable while it lives.
    #[must_use]
    pub fn guard_any(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::clone(&self.guard)
    }

    /// The backend's own guard.
    #[must_use]
    pub fn guard<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.guard).downcast().ok()
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "open {:?} {:?}", self.node, self.access)
    }
}

/// Read, write or both; at least one is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenAccess {
    /// May READ.
    pub read: bool,
    /// May WRITE.
    pub write: bool,
}

/// Who asks: AUTH_SYS credentials after squashing. The server's own work uses [`Who::server`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// User; 0 is privileged.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Supplementary groups (at most 16 by AUTH_SYS).
    pub groups: SmallVec<[u32; 16]>,
}

impl Who {
    /// The server itself: privileged.
    #[must_use]
    pub fn server() -> Self {
        Self { uid: 0, gid: 0, groups: SmallVec::new() }
    }

    /// Whether `gid` is one of the caller's groups.
    #[must_use]
    pub fn in_group(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }
}

/// The attributes that a file system keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Kind.
    pub kind: FileKind,
    /// `change` (§5.8.1.4): moves with every change of data, attributes or entries.
    pub change: u64,
    /// Bytes.
    pub size: u64,
    /// `fileid`, unique in the export.
    pub fileid: u64,
    /// Permission bits, 0o7777.
    pub mode: u32,
    /// Names.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device numbers of [`FileKind::Block`] and [`FileKind::Char`].
    pub rdev: (u32, u32),
    /// Bytes used on the medium.
    pub space_used: u64,
    /// Last access.
    pub atime: Time,
    /// Last change of attributes (`time_metadata`).
    pub ctime: Time,
    /// Last change of data (`time_modify`).
    pub mtime: Time,
    /// Birth (`time_create`), where the file system knows it.
    pub btime: Option<Time>,
    /// Marks that mean nothing to the file system; none where it keeps none ([`Facts::marks`]).
    pub marks: Marks,
}

bitflags::bitflags! {
    /// Attributes of one bit.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Marks: u8 {
        /// `archive` (§5.8.2.1): backed up since the data last changed; a change of data takes it away.
        const ARCHIVE = 1;
        /// `hidden` (§5.8.2.15).
        const HIDDEN = 2;
        /// `system` (§5.8.2.36).
        const SYSTEM = 4;
    }
}

/// A time to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTime {
    /// SET_TO_SERVER_TIME4: needs write permission only.
    Now,
    /// SET_TO_CLIENT_TIME4: needs ownership.
    To(Time),
}

/// Attributes to set; `None` leaves one alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetMeta {
    /// New size of a regular file.
    pub size: Option<u64>,
    /// (values, mask): only masked bits of 0o7777 are touched.
    pub mode: Option<(u32, u32)>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Access time.
    pub atime: Option<SetTime>,
    /// Modification time.
    pub mtime: Option<SetTime>,
    /// Birth time; only where [`Facts::sets_birth_time`].
    pub btime: Option<Time>,
    /// (values, mask) of the marks; only where [`Facts::marks`].
    pub marks: (Marks, Marks),
    /// Access control list, after the mode (§6.4.1.3); only where [`Facts::acls`].
    pub acl: Option<Box<[Ace]>>,
    /// Of a new object: the mode that it gets where it inherits entries, before the umask that `mode` is less by
    /// (RFC 8275 §5).
    pub unmasked: Option<u32>,
}

/// Which fields of a [`SetMeta`] were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set of independent facts")]
pub struct Applied {
    /// Size.
    pub size: bool,
    /// Mode.
    pub mode: bool,
    /// Owner.
    pub uid: bool,
    /// Group.
    pub gid: bool,
    /// Access time.
    pub atime: bool,
    /// Modification time.
    pub mtime: bool,
    /// Birth time.
    pub btime: bool,
    /// All marks that were asked for.
    pub marks: bool,
    /// Access control list.
    pub acl: bool,
}

/// What SETATTR did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetDone {
    /// What was applied, also where `fault` is set.
    pub applied: Applied,
    /// Why the rest was not.
    pub fault: Option<Fault>,
}

/// How a regular file is made (`createhow4`, §18.16.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// Take an existing file as it is (the caller truncates where asked).
    Unchecked,
    /// [`Fault::Exist`] where there is one.
    Guarded,
    /// As `Guarded`, but a file made with the same verifier is the same request again. The verifier survives a
    /// restart where the handles do; before its first SETATTR such a file's mode is at most 0o600 unless `set` says.
    Exclusive([u8; 8]),
}

/// What to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Create {
    /// A regular file, opened in the same step (no permission check of `access` on a file just made).
    File {
        /// Mode of creation.
        mode: CreateMode,
        /// What to open it for.
        access: OpenAccess,
    },
    /// A directory.
    Dir,
    /// A symbolic link with this target.
    Symlink(Bytes),
    /// A block device (major, minor).
    Block(u32, u32),
    /// A character device (major, minor).
    Char(u32, u32),
    /// A FIFO.
    Fifo,
    /// A socket.
    Socket,
}

/// The result of [`Backend::create`](super::Backend::create).
#[derive(Clone, Debug)]
pub struct Made {
    /// The object.
    pub node: Node,
    /// Its attributes after.
    pub meta: Meta,
    /// The directory's change.
    pub dir: ChangeInfo,
    /// It was there before: nothing was created and `set` was not applied.
    pub existed: bool,
    /// For [`Create::File`] where the file is new or the exclusive retry of a new one: the open file. An existing
    /// one is opened by [`Backend::open`](super::Backend::open), after the share checks.
    pub opened: Option<Opened>,
    /// What of `set` was applied.
    pub applied: Applied,
    /// The new entry's cookie where the backend can tell.
    pub cookie: Option<u64>,
}

/// The result of LINK.
#[derive(Clone, Copy, Debug)]
pub struct Linked {
    /// The directory's change.
    pub dir: ChangeInfo,
    /// The new entry's cookie where the backend can tell.
    pub cookie: Option<u64>,
}

/// What a RENAME is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moving {
    /// What moves.
    pub source: Oid,
    /// What is replaced; `None`: nothing.
    pub victim: Option<Oid>,
}

/// The result of REMOVE.
#[derive(Clone, Debug)]
pub struct Removed {
    /// The directory's change.
    pub dir: ChangeInfo,
    /// What lost its name.
    pub node: Node,
    /// It was the last name.
    pub last: bool,
}

/// The result of RENAME.
#[derive(Clone, Debug)]
pub struct Renamed {
    /// The source directory's change.
    pub from: ChangeInfo,
    /// The target directory's change.
    pub to: ChangeInfo,
    /// What was moved.
    pub node: Node,
    /// What was replaced.
    pub victim: Option<Node>,
    /// Both names were the same object: nothing was done.
    pub same: bool,
}

/// How much [`Backend::list`](super::Backend::list) may return.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Most entries.
    pub entries: usize,
    /// Most bytes of names, each counted with 24 bytes more.
    pub bytes: usize,
    /// The attributes are wanted too.
    pub meta: bool,
    /// The nodes (for handles) are wanted too.
    pub nodes: bool,
}

/// One directory entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Name.
    pub name: Bytes,
    /// Where the next page goes on after this one.
    pub cookie: u64,
    /// Attributes, where asked for; a fault becomes `rdattr_error`.
    pub meta: Option<Result<Meta, Fault>>,
    /// The object, where asked for and found.
    pub node: Option<Node>,
}

/// Some entries of a directory.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// In the order of the cookies.
    pub entries: Vec<Entry>,
    /// Nothing comes after them.
    pub eof: bool,
}

/// What READ found.
#[derive(Clone, Debug, Default)]
pub struct ReadData {
    /// Slices, in order.
    pub data: SmallVec<[Bytes; 2]>,
    /// The end of the file was reached.
    pub eof: bool,
}

/// `stable_how4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stable {
    /// UNSTABLE4
    Un,
    /// DATA_SYNC4
    Data,
    /// FILE_SYNC4
    File,
}

/// What WRITE did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written.
    pub count: u32,
    /// How stable they are: at least what was asked.
    pub stable: Stable,
}

/// SETXATTR's option (RFC 8276 §8.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XattrSet {
    /// Create or replace.
    Either,
    /// Only create: [`Fault::Exist`].
    Create,
    /// Only replace: [`Fault::NoXattr`].
    Replace,
}

/// What SEEK looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// NFS4_CONTENT_DATA
    Data,
    /// NFS4_CONTENT_HOLE
    Hole,
}

/// How a range will be used: those hints of IO_ADVISE (RFC 7862 §15.5) that systems know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// IO_ADVISE4_NORMAL
    Normal,
    /// IO_ADVISE4_SEQUENTIAL
    Sequential,
    /// IO_ADVISE4_RANDOM
    Random,
    /// IO_ADVISE4_WILLNEED
    WillNeed,
    /// IO_ADVISE4_DONTNEED
    DontNeed,
    /// IO_ADVISE4_NOREUSE
    NoReuse,
}

/// What SEEK found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The end of the file was reached: there is no such content, or the hole is the one behind the end.
    pub eof: bool,
    /// Where it begins.
    pub offset: u64,
}

/// Space and inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FsStat {
    /// Bytes in all.
    pub space_total: u64,
    /// Bytes free.
    pub space_free: u64,
    /// Bytes free for the caller.
    pub space_avail: u64,
    /// Inodes in all.
    pub files_total: u64,
    /// Inodes free.
    pub files_free: u64,
    /// Inodes free for the caller.
    pub files_avail: u64,
}

/// `change_attr_type` (RFC 7862 §12.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeType {
    /// MONOTONIC_INCR
    Monotonic,
    /// VERSION_COUNTER_NOPNFS
    Counter,
    /// UNDEFINED
    Undefined,
}

/// What is fixed about a file system.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "a set of independent facts")]
pub struct Facts {
    /// Largest file.
    pub max_file_size: u64,
    /// Longest name in bytes.
    pub max_name: u32,
    /// Most names of an object.
    pub max_link: u32,
    /// How `change` behaves.
    pub change_type: ChangeType,
    /// Handles survive a restart of the server.
    pub persistent_handles: bool,
    /// Extended attributes of users are kept.
    pub xattrs: bool,
    /// CLONE works.
    pub clones: bool,
    /// Granularity of times.
    pub time_delta: Time,
    /// Birth times are known.
    pub birth_time: bool,
    /// Birth times may be set.
    pub sets_birth_time: bool,
    /// [`Marks`] are kept.
    pub marks: bool,
    /// Access control lists are kept, of entries that allow and that deny.
    pub acls: bool,
    /// Names that are not UTF-8 are accepted.
    pub any_bytes: bool,
    /// An open file without a name stays usable as long as RFC 8881 §18.16.3 promises it: through a restart of the
    /// server too, where the file system itself goes on.
    pub keeps_unlinked: bool,
}

bitflags::bitflags! {
    /// ACCESS4_* (§18.1, RFC 8276 §8.5), the same numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rights: u32 {
        /// ACCESS4_READ
        const READ = 0x01;
        /// ACCESS4_LOOKUP
        const LOOKUP = 0x02;
        /// ACCESS4_MODIFY
        const MODIFY = 0x04;
        /// ACCESS4_EXTEND
        const EXTEND = 0x08;
        /// ACCESS4_DELETE
        const DELETE = 0x10;
        /// ACCESS4_EXECUTE
        const EXECUTE = 0x20;
        /// ACCESS4_XAREAD
        const XAREAD = 0x40;
        /// ACCESS4_XAWRITE
        const XAWRITE = 0x80;
        /// ACCESS4_XALIST
        const XALIST = 0x100;
    }
}

/// Why a call failed. Each maps to exactly one `nfsstat4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the text says it")]
pub enum Fault {
    #[error("not owner")]
    Perm,
    #[error("no such name")]
    NoEnt,
    #[error("input or output error")]
    Io,
    #[error("no such device or beyond the end of the file")]
    NxIo,
    #[error("permission denied")]
    Access,
    #[error("the name exists")]
    Exist,
    #[error("another file system")]
    XDev,
    #[error("not a directory")]
    NotDir,
    #[error("is a directory")]
    IsDir,
    #[error("invalid argument")]
    Inval,
    #[error("the file is too big")]
    FBig,
    #[error("no space left")]
    NoSpc,
    #[error("read-only file system")]
    RoFs,
    #[error("too many links")]
    MLink,
    #[error("the name is too long")]
    NameTooLong,
    #[error("the directory is not empty")]
    NotEmpty,
    #[error("quota exceeded")]
    DQuot,
    #[error("the object is gone")]
    Stale,
    #[error("not a handle of this file system")]
    BadHandle,
    #[error("not supported")]
    NotSupp,
    #[error("a cookie that was never given out")]
    BadCookie,
    #[error("a symbolic link")]
    Symlink,
    #[error("wrong kind of object")]
    WrongType,
    #[error("no such extended attribute")]
    NoXattr,
    #[error("the extended attribute is too big")]
    Xattr2Big,
    #[error("the name has bytes that cannot be kept")]
    BadName,
    #[error("busy; try again")]
    Delay,
    #[error("a fault of the server")]
    ServerFault,
}
