//! A file system in memory, with every ability that the protocol can use.
//!
//! Each call is answered at once. There is no lock over the whole: an object has one of its own, two are taken
//! only in the order of their [`Oid`](super::Oid)s, and only a RENAME that moves a directory takes the lock of
//! the tree's shape. Nothing survives the process; so the write verifier, the cookie verifier and every handle
//! carry the number of this instance.

mod attrs;
mod clock;
mod data;
mod dir;
mod inode;
mod io;
mod names;
mod perm;
mod rename;
mod space;
mod table;
#[cfg(test)]
mod tests;
mod xattr;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;

use self::clock::Clock;
use self::dir::Dir;
use self::inode::{Body, Content, Inode};
use self::perm::{READ, SEARCH, STICKY, WRITE};
use self::space::{INODE_COST, Space};
use self::table::{Place, Table};
use self::xattr::Xattrs;
use super::{
    Ace, Advice, Answer, Backend, ChangeInfo, ChangeType, Create, Entry, Facts, Fault, FileKind, FsStat,
    Linked, Made, Marks, Meta, Moving, Node, Oid, OpenAccess, Opened, Page, RawHandle, ReadData, Removed,
    Renamed, Rights, Room, Seek, SetDone, SetMeta, Sought, Stable, Time, Who, Written, XattrSet,
};

/// Longest name, bytes.
const NAME_MAX: usize = 255;
/// Longest target of a symbolic link, bytes.
const TARGET_MAX: usize = 4095;
/// Most names of one object.
const LINK_MAX: u32 = 65_000;
/// How often a change by name starts again because the name changed its object meanwhile.
const ATTEMPTS: usize = 64;

/// What an entry is counted with against [`Room::bytes`] beside its name.
const ROOM_PER_ENTRY: usize = 24;

/// A file system in memory. Dropping it and all its nodes and opens frees everything.
pub struct Mem {
    facts: Facts,
    root: Arc<Inode>,
    shared: Arc<Shared>,
}

/// What open files need too.
struct Shared {
    instance: u64,
    table: Table,
    space: Space,
    clock: Clock,
    serial: AtomicU64,
    /// Held while a directory moves to another one: the way up from any directory stays as it is meanwhile.
    tree: Mutex<()>,
}

/// What an [`Opened`] of ours holds; its drop closes the file.
struct OpenGuard {
    inode: Arc<Inode>,
    shared: Arc<Shared>,
    /// Writes keep setuid and setgid.
    privileged: bool,
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        let _garbage;
        let mut body = self.inode.poke();
        body.opens = body.opens.saturating_sub(1);
        _garbage = self.shared.bury(&self.inode, &mut body);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // While the table still holds every object: else a deep tree would be dropped by recursion.
        self.table.for_each(|inode| inode.poke().content = Content::Nothing);
    }
}

impl Shared {
    fn now(&self) -> Time {
        self.clock.now()
    }

    /// Frees an object that has neither a name nor an open. Returns what it held, to be dropped without the lock.
    fn bury(&self, inode: &Inode, body: &mut Body) -> Option<Content> {
        if body.nlink != 0 || body.opens != 0 || body.gone {
            return None;
        }
        body.gone = true;
        self.space.release(body.cost());
        body.xattrs = Xattrs::default();
        body.acl = None;
        self.table.remove(inode.place);
        Some(std::mem::replace(&mut body.content, Content::Nothing))
    }

    /// Gives a new object its place. Its cost has been charged.
    fn settle(&self, rdev: (u32, u32), body: Body) -> Result<Arc<Inode>, Fault> {
        let fileid = self.serial.fetch_add(1, Ordering::Relaxed);
        self.table
            .insert(|place| Inode::new(self.instance, place, fileid, rdev, body))
            .ok_or(Fault::ServerFault)
    }

    /// Opens without asking for permission.
    fn opened(
        self: &Arc<Self>,
        who: &Who,
        inode: &Arc<Inode>,
        body: &mut Body,
        access: OpenAccess,
    ) -> Opened {
        body.opens += 1;
        let guard =
            OpenGuard { inode: Arc::clone(inode), shared: Arc::clone(self), privileged: who.privileged() };
        Opened::new(inode.node(), access, Arc::new(guard))
    }
}

impl Mem {
    /// An empty file system that holds at most `limit` bytes: data in its buffers, and a fixed cost per object,
    /// entry, extended attribute and symbolic link. Beyond it: [`Fault::NoSpc`]. A block that files share by
    /// CLONE is counted for each of them.
    ///
    /// # Errors
    /// Where the system gives no random number, or `limit` is too small for the root directory.
    pub fn new(limit: u64) -> Result<Self, Fault> {
        let instance = getrandom::u64().map_err(|_| Fault::Io)?;
        Self::with(limit, instance, Clock::system())
    }

    /// As [`new`](Self::new), with a given number of the instance and a given clock (nanoseconds since 1970).
    ///
    /// # Errors
    /// Where `limit` is too small for the root directory.
    pub fn with_clock(
        limit: u64,
        instance: u64,
        clock: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Result<Self, Fault> {
        Self::with(limit, instance, Clock::new(Box::new(clock)))
    }

    fn with(limit: u64, instance: u64, clock: Clock) -> Result<Self, Fault> {
        let facts = Facts {
            max_file_size: data::MAX_SIZE,
            max_name: 255,
            max_link: LINK_MAX,
            change_type: ChangeType::Counter,
            persistent_handles: false,
            xattrs: true,
            clones: true,
            time_delta: Time { seconds: 0, nseconds: 1 },
            birth_time: true,
            sets_birth_time: true,
            marks: true,
            acls: true,
            any_bytes: true,
            keeps_unlinked: true,
        };
        let shared = Arc::new(Shared {
            instance,
            table: Table::new(),
            space: Space::new(limit),
            clock,
            serial: AtomicU64::new(1),
            tree: Mutex::new(()),
        });
        shared.space.charge(INODE_COST)?;
        let now = shared.now();
        let body = Body {
            kind: FileKind::Dir,
            gone: false,
            opens: 0,
            nlink: 2,
            mode: 0o777 | STICKY,
            uid: 0,
            gid: 0,
            change: 1,
            atime: now,
            mtime: now,
            ctime: now,
            btime: now,
            marks: Marks::empty(),
            acl: None,
            verifier: None,
            xattrs: Xattrs::default(),
            content: Content::Dir(Dir::new(Weak::new())),
        };
        let root = shared.settle((0, 0), body)?;
        Ok(Self { facts, root, shared })
    }

    /// Bytes counted against the limit.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.shared.space.used()
    }

    /// Our object behind a node; a node of another file system is [`Fault::XDev`].
    fn inode<'a>(&self, node: &'a Node) -> Result<&'a Inode, Fault> {
        node.object_ref::<Inode>().filter(|inode| inode.instance == self.shared.instance).ok_or(Fault::XDev)
    }

    /// The same, owned.
    fn inode_arc(&self, node: &Node) -> Result<Arc<Inode>, Fault> {
        self.inode(node)?;
        node.object::<Inode>().ok_or(Fault::XDev)
    }

    /// Our guard behind an open file.
    fn guard(&self, file: &Opened) -> Result<Arc<OpenGuard>, Fault> {
        file.guard::<OpenGuard>()
            .filter(|guard| guard.inode.instance == self.shared.instance)
            .ok_or(Fault::XDev)
    }

    fn find(&self, handle: &[u8]) -> Result<Node, Fault> {
        let (instance, rest) = handle.split_first_chunk::<8>().ok_or(Fault::BadHandle)?;
        let (index, rest) = rest.split_first_chunk::<8>().ok_or(Fault::BadHandle)?;
        let generation: &[u8; 4] = rest.try_into().map_err(|_| Fault::BadHandle)?;
        if u64::from_be_bytes(*instance) != self.shared.instance {
            return Err(Fault::Stale);
        }
        let place = Place { index: u64::from_be_bytes(*index), generation: u32::from_be_bytes(*generation) };
        self.shared.table.get(place).map(|inode| inode.node()).ok_or(Fault::Stale)
    }

    fn look(&self, who: &Who, dir: &Node, name: &[u8]) -> Result<Node, Fault> {
        let body = self.inode(dir)?.read()?;
        let entries = body.dir()?;
        body.check(who, SEARCH)?;
        check_name(name)?;
        entries.get(name).map(Inode::node).ok_or(Fault::NoEnt)
    }

    fn up(&self, who: &Who, node: &Node) -> Result<Node, Fault> {
        let inode = self.inode(node)?;
        let body = inode.read()?;
        let dir = body.dir()?;
        body.check(who, SEARCH)?;
        if inode.oid() == self.root.oid() {
            return Err(Fault::NoEnt);
        }
        dir.parent.upgrade().map(|parent| parent.node()).ok_or(Fault::Stale)
    }

    fn page(&self, who: &Who, dir: &Node, cookie: u64, room: Room) -> Result<Page, Fault> {
        let mut found = Vec::new();
        let mut eof = true;
        {
            let body = self.inode(dir)?.read()?;
            let entries = body.dir()?;
            body.check(who, READ)?;
            let mut bytes = 0;
            for (cookie, name, inode) in entries.after(cookie)? {
                bytes += name.len() + ROOM_PER_ENTRY;
                if !found.is_empty() && (found.len() >= room.entries || bytes > room.bytes) {
                    eof = false;
                    break;
                }
                found.push((name.clone(), cookie, Arc::clone(inode)));
            }
        }
        // Without the directory's lock. An entry that is removed meanwhile keeps its last attributes: it was
        // there when the page was made.
        let entries = found
            .into_iter()
            .map(|(name, cookie, inode)| Entry {
                name,
                cookie,
                meta: room.meta.then(|| Ok(inode.meta(&inode.peek()))),
                node: room.nodes.then(|| inode.node()),
            })
            .collect();
        Ok(Page { entries, eof })
    }

    fn target(&self, node: &Node) -> Result<Bytes, Fault> {
        match &self.inode(node)?.read()?.content {
            Content::Symlink(target) => Ok(target.clone()),
            Content::Dir(_) | Content::File(_) | Content::Nothing => Err(Fault::WrongType),
        }
    }

    fn xattr_get(&self, who: &Who, node: &Node, name: &[u8]) -> Result<Bytes, Fault> {
        let body = self.inode(node)?.read()?;
        body.check(who, READ)?;
        body.xattrs.get(name)
    }

    fn xattr_names(&self, who: &Who, node: &Node) -> Result<Vec<Bytes>, Fault> {
        let body = self.inode(node)?.read()?;
        body.check(who, READ)?;
        Ok(body.xattrs.names())
    }

    fn xattr_change(
        &self,
        who: &Who,
        node: &Node,
        change: impl FnOnce(&mut Xattrs, &Space) -> Result<(), Fault>,
    ) -> Result<ChangeInfo, Fault> {
        let mut body = self.inode(node)?.write()?;
        // As on Linux: users' attributes belong to files and directories, and to nobody but the owner where
        // the directory is shared by all.
        let shared_dir = match body.kind {
            FileKind::File => false,
            FileKind::Dir => body.mode & STICKY != 0,
            FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
                return Err(Fault::Perm);
            }
        };
        if shared_dir && !body.owned_by(who) {
            return Err(Fault::Perm);
        }
        body.check(who, WRITE)?;
        change(&mut body.xattrs, &self.shared.space)?;
        Ok(body.touch_attributes(self.shared.now()))
    }
}

/// Names of 1 to [`NAME_MAX`] bytes; what else a name must not be was checked before.
fn check_name(name: &[u8]) -> Result<(), Fault> {
    if name.len() > NAME_MAX { Err(Fault::NameTooLong) } else { Ok(()) }
}

impl Backend for Mem {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn root(&self) -> Node {
        self.root.node()
    }

    fn handle(&self, node: &Node) -> RawHandle {
        let mut handle = RawHandle::new();
        if let Ok(inode) = self.inode(node) {
            handle.extend_from_slice(&self.shared.instance.to_be_bytes());
            handle.extend_from_slice(&inode.place.index.to_be_bytes());
            handle.extend_from_slice(&inode.place.generation.to_be_bytes());
        }
        handle
    }

    fn resolve(&self, handle: &[u8]) -> Answer<Node> {
        self.find(handle).into()
    }

    fn lookup(&self, who: &Who, dir: &Node, name: &[u8]) -> Answer<Node> {
        self.look(who, dir, name).into()
    }

    fn parent(&self, who: &Who, node: &Node) -> Answer<Node> {
        self.up(who, node).into()
    }

    fn getattr(&self, node: &Node) -> Answer<Meta> {
        self.inode(node).and_then(|inode| Ok(inode.meta(&*inode.read()?))).into()
    }

    fn acl(&self, who: &Who, node: &Node) -> Answer<Vec<Ace>> {
        self.acl_of(who, node).into()
    }

    fn access(&self, who: &Who, node: &Node, asked: Rights) -> Answer<Rights> {
        self.inode(node).and_then(|inode| Ok(inode.read()?.rights(who, asked))).into()
    }

    fn setattr(&self, who: &Who, node: &Node, opened: Option<&Opened>, set: &SetMeta) -> Answer<SetDone> {
        self.set(who, node, opened, set).into()
    }

    fn create(&self, who: &Who, dir: &Node, name: &[u8], what: Create, set: &SetMeta) -> Answer<Made> {
        self.make(who, dir, name, &what, set).into()
    }

    fn link(&self, who: &Who, node: &Node, dir: &Node, name: &[u8]) -> Answer<Linked> {
        self.add_name(who, node, dir, name).into()
    }

    fn remove_only(&self, who: &Who, dir: &Node, name: &[u8], only: Option<Oid>) -> Answer<Removed> {
        self.take_name(who, dir, name, only).into()
    }

    fn rename_only(
        &self,
        who: &Who,
        from: (&Node, &[u8]),
        to: (&Node, &[u8]),
        only: Option<Moving>,
    ) -> Answer<Renamed> {
        self.move_name(who, from, to, only).into()
    }

    fn readlink(&self, _who: &Who, node: &Node) -> Answer<Bytes> {
        self.target(node).into()
    }

    fn list(&self, who: &Who, dir: &Node, cookie: u64, room: Room) -> Answer<Page> {
        self.page(who, dir, cookie, room).into()
    }

    fn open(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened> {
        self.open_file(who, node, access).into()
    }

    fn open_again(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened> {
        self.open_file_again(who, node, access).into()
    }

    fn advance(&self, node: &Node, change: u64) -> Answer<()> {
        let advanced = self.inode(node).and_then(|inode| {
            let mut body = inode.write()?;
            body.change = body.change.max(change);
            Ok(())
        });
        advanced.into()
    }

    fn read(&self, file: &Opened, at: u64, len: u32) -> Answer<ReadData> {
        self.read_file(file, at, len).into()
    }

    fn write(&self, file: &Opened, at: u64, data: Bytes, _stable: Stable) -> Answer<Written> {
        // Memory is as stable as it gets here; saying so spares the client its COMMIT.
        self.write_file(file, at, &data).map(|count| Written { count, stable: Stable::File }).into()
    }

    fn commit(&self, node: &Node, _at: u64, _len: u64) -> Answer<()> {
        self.inode(node).and_then(|inode| inode.read()?.data().map(|_| ())).into()
    }

    fn write_verifier(&self) -> [u8; 8] {
        self.shared.instance.to_be_bytes()
    }

    fn cookie_verifier(&self) -> [u8; 8] {
        self.shared.instance.to_be_bytes()
    }

    fn statfs(&self, _who: &Who) -> Answer<FsStat> {
        Answer::ok(self.shared.space.stat())
    }

    fn memory_used(&self) -> Option<u64> {
        Some(self.shared.space.used())
    }

    fn getxattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<Bytes> {
        self.xattr_get(who, node, name).into()
    }

    fn setxattr(
        &self,
        who: &Who,
        node: &Node,
        name: &[u8],
        value: Bytes,
        how: XattrSet,
    ) -> Answer<ChangeInfo> {
        self.xattr_change(who, node, |xattrs, space| xattrs.set(space, name, &value, how)).into()
    }

    fn listxattrs(&self, who: &Who, node: &Node) -> Answer<Vec<Bytes>> {
        self.xattr_names(who, node).into()
    }

    fn removexattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<ChangeInfo> {
        self.xattr_change(who, node, |xattrs, space| xattrs.remove(space, name)).into()
    }

    fn seek(&self, file: &Opened, at: u64, what: Seek) -> Answer<Sought> {
        self.guard(file).and_then(|guard| guard.inode.read()?.data()?.seek(at, what)).into()
    }

    fn advise(&self, _file: &Opened, _at: u64, _len: u64, _advice: Advice) -> Answer<bool> {
        Answer::ok(false)
    }

    fn allocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()> {
        self.allocate_range(file, at, len).into()
    }

    fn deallocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()> {
        self.deallocate_range(file, at, len).into()
    }

    fn copy(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<u64> {
        self.copy_range(from, from_at, to, to_at, len).into()
    }

    fn clone_range(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<()> {
        self.share_range(from, from_at, to, to_at, len).into()
    }
}
