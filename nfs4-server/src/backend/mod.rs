//! What an exported file system must do, and the two that come with the server.
//!
//! A [`Backend`] knows objects, names and data; it knows nothing of sessions, opens' owners, locks or
//! delegations. Each call returns an [`Answer`]: a value that is there at once (the common case of `mem`, and
//! of `local` where nothing can block), or a future that a blocking pool completes. So the executor runs a
//! request to its end in the connection's task unless something really waits.
//!
//! Contract, checked by [`kit`] for any implementation:
//! - mutations report the change numbers of the directory before and after, taken in one critical section;
//!   the change numbers of one directory form a chain (each `before` is an earlier `after`);
//! - an [`Oid`] is the same for all names of an object and is not used again within a boot;
//! - an unlinked object stays usable while an [`Opened`] of it lives, and resolves by its handle as long;
//! - data acknowledged as [`Stable::Data`] or [`Stable::File`], or by [`Backend::commit`], survives power loss
//!   (as far as the medium itself does);
//! - cookies survive inserts and deletes, are unique in a directory and greater than 2; "." and ".." never appear.

pub mod acl;
mod answer;
pub mod in_place;
pub mod kit;
pub mod local;
pub mod mem;
mod types;

pub use acl::{Ace, AceWho};
pub use answer::Answer;
pub use types::*;

use bytes::Bytes;

/// An exported file system. All methods take the caller's credentials ([`Who`], already squashed) where the
/// file system is to check permissions itself.
pub trait Backend: Send + Sync + 'static {
    /// What does not change while the export lives: limits, abilities.
    fn facts(&self) -> &Facts;

    /// The root directory of the export.
    fn root(&self) -> Node;

    /// The persistent name of an object. The caller adds version, export and a MAC; what is given back to
    /// [`resolve`](Self::resolve) is exactly these bytes.
    fn handle(&self, node: &Node) -> RawHandle;

    /// The object of a handle. [`Fault::Stale`] where it is gone.
    fn resolve(&self, handle: &[u8]) -> Answer<Node>;

    /// Looks up one name. Needs search permission on `dir`. `name` is never empty, ".", ".." and has no '/' or NUL.
    fn lookup(&self, who: &Who, dir: &Node, name: &[u8]) -> Answer<Node>;

    /// The directory above `node` (a directory); [`Fault::NoEnt`] at the export's root.
    fn parent(&self, who: &Who, node: &Node) -> Answer<Node>;

    /// The object's attributes. Needs no permission on the object itself.
    fn getattr(&self, node: &Node) -> Answer<Meta>;

    /// The object's access control list; where it has none of its own, one that says what its mode says.
    /// [`Fault::Access`] without permission to read it, [`Fault::NotSupp`] where there are no lists.
    fn acl(&self, who: &Who, node: &Node) -> Answer<Vec<Ace>> {
        let _ = (who, node);
        Answer::fault(Fault::NotSupp)
    }

    /// Which of the asked rights `who` has ([`Rights`] as a subset of `asked`).
    fn access(&self, who: &Who, node: &Node, asked: Rights) -> Answer<Rights>;

    /// Changes attributes; checks ownership and permission. With `opened` (an open for writing by the caller)
    /// the size may be set without write permission. All or nothing where the file system can; otherwise
    /// [`SetDone::applied`] tells what was done before [`SetDone::fault`].
    fn setattr(&self, who: &Who, node: &Node, opened: Option<&Opened>, set: &SetMeta) -> Answer<SetDone>;

    /// Makes a new object, or for [`Create::File`] finds the existing one as its mode says.
    fn create(&self, who: &Who, dir: &Node, name: &[u8], what: Create, set: &SetMeta) -> Answer<Made>;

    /// Makes another name for `node`, which is no directory.
    fn link(&self, who: &Who, node: &Node, dir: &Node, name: &[u8]) -> Answer<Linked>;

    /// Removes a name; a directory must be empty. With `only`: of this object and no other, which is
    /// [`Fault::Delay`].
    fn remove_only(&self, who: &Who, dir: &Node, name: &[u8], only: Option<Oid>) -> Answer<Removed>;

    /// The same, whatever has the name.
    fn remove(&self, who: &Who, dir: &Node, name: &[u8]) -> Answer<Removed> {
        self.remove_only(who, dir, name, None)
    }

    /// Renames, replacing what the RFC allows to be replaced (§18.26.3): two names of one object are left alone,
    /// a non-empty directory or another kind is [`Fault::Exist`], a directory into itself [`Fault::Inval`]. With
    /// `only`: where the names are of these objects and no others, which is [`Fault::Delay`].
    fn rename_only(
        &self,
        who: &Who,
        from: (&Node, &[u8]),
        to: (&Node, &[u8]),
        only: Option<Moving>,
    ) -> Answer<Renamed>;

    /// The same, whatever has the names.
    fn rename(&self, who: &Who, from: (&Node, &[u8]), to: (&Node, &[u8])) -> Answer<Renamed> {
        self.rename_only(who, from, to, None)
    }

    /// The target of a symbolic link.
    fn readlink(&self, who: &Who, node: &Node) -> Answer<Bytes>;

    /// Entries after `cookie` (0: from the start), as many as fit `room`. At least one unless the end is reached.
    fn list(&self, who: &Who, dir: &Node, cookie: u64, room: Room) -> Answer<Page>;

    /// Opens a regular file; checks `who`'s permission for `access`. To open for reading only, permission to
    /// execute is enough: a program must be read to be run, and the client's ACCESS tells the two apart. (An
    /// owner is not asked again for a file that it has just created: [`Create::File`] opens in the same step.)
    fn open(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened>;

    /// Opens a regular file without asking for permission: what follows is done under a delegation, and permission was
    /// asked for when that was given.
    fn open_again(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened>;

    /// The object's change number is at least this from now on, as somebody was told so.
    fn advance(&self, node: &Node, change: u64) -> Answer<()>;

    /// At most `len` bytes at `at`; fewer only at the end of the file. `data` are slices of the backend's buffers.
    fn read(&self, file: &Opened, at: u64, len: u32) -> Answer<ReadData>;

    /// Writes `data`. A short count is legal.
    fn write(&self, file: &Opened, at: u64, data: Bytes, stable: Stable) -> Answer<Written>;

    /// Brings the file's data in the range (0, 0: all) to stable storage.
    fn commit(&self, node: &Node, at: u64, len: u64) -> Answer<()>;

    /// Changes when data written as [`Stable::Un`] and not committed may have been lost, and only then.
    fn write_verifier(&self) -> [u8; 8];

    /// Identifies what cookies mean ([`Backend::list`]).
    fn cookie_verifier(&self) -> [u8; 8];

    /// Space and inode numbers of the file system.
    fn statfs(&self, who: &Who) -> Answer<FsStat>;

    /// Bytes of memory that it uses for what it keeps; `None` where it keeps it elsewhere.
    fn memory_used(&self) -> Option<u64> {
        None
    }

    /// The value of an extended attribute (the name without "user.").
    fn getxattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<Bytes>;

    /// Sets an extended attribute; the result is the object's change number before and after.
    fn setxattr(
        &self,
        who: &Who,
        node: &Node,
        name: &[u8],
        value: Bytes,
        how: XattrSet,
    ) -> Answer<ChangeInfo>;

    /// All names of extended attributes (without "user."), in an order that stays the same while none changes.
    fn listxattrs(&self, who: &Who, node: &Node) -> Answer<Vec<Bytes>>;

    /// Removes an extended attribute.
    fn removexattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<ChangeInfo>;

    /// The next data or hole at or after `at`; [`Fault::NxIo`] at or beyond the end of the file.
    fn seek(&self, file: &Opened, at: u64, what: Seek) -> Answer<Sought>;

    /// Takes advice on a range (0 bytes: to the end); false where it makes no difference here.
    fn advise(&self, file: &Opened, at: u64, len: u64, advice: Advice) -> Answer<bool>;

    /// Reserves space; extends the file where the range does.
    fn allocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()>;

    /// Makes a hole; never changes the size.
    fn deallocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()>;

    /// Copies `len` bytes between two files (or two ranges of one) of this export; the count copied, which
    /// may be less. The ranges were checked by the caller.
    fn copy(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<u64>;

    /// Shares the blocks of a range (0: to the end); [`Fault::NotSupp`] where the file system cannot.
    fn clone_range(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<()>;
}
