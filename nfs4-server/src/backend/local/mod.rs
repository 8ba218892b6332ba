//! A directory of this machine.
//!
//! Objects are `O_PATH` descriptors, found by the kernel's own handles; names are resolved one component at a
//! time and never out of the export. What can wait runs on a pool of threads; what cannot is answered in place.
//!
//! With root's privileges each call is made with the caller's user and groups, and the kernel checks permissions,
//! ACLs included. Without them everything is done as the server's own user ([`Local::single_user`]), and handles
//! are found again by hints in the state directory.

mod attr;
mod cache;
mod change;
mod create;
mod creds;
mod data;
mod dir;
mod errno;
mod handle;
mod hints;
mod listing;
mod names;
mod pool;
mod ranges;
mod start;
mod sync;
mod sys;
#[cfg(test)]
mod tests;
mod xattr;

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rustix::io::Errno;

use self::cache::{Cache, Object};
use self::change::Clock;
use self::create::Synced;
use self::creds::Creds;
use self::handle::{Wait, is_component};
use self::hints::Hints;
use self::pool::Pool;
use self::sync::Depth;
use super::{
    Advice, Answer, Backend, ChangeInfo, Create, Facts, Fault, FsStat, Linked, Made, Meta, Moving, Node, Oid,
    OpenAccess, Opened, Page, RawHandle, ReadData, Removed, Renamed, Rights, Room, Seek, SetDone, SetMeta,
    Sought, Stable, Who, Written, XattrSet,
};

pub use self::start::{LocalError, LocalOptions};

/// An exported directory.
#[derive(Clone)]
pub struct Local {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

/// What jobs share.
struct Inner {
    path: PathBuf,
    options: LocalOptions,
    facts: Facts,
    /// Tells the objects of several `Local`s apart.
    instance: u64,
    /// Of identities, new with each start.
    seed: (u64, u64),
    /// The export's root, opened for reading: what handles are opened on.
    mount: OwnedFd,
    mount_id: u64,
    device: (u32, u32),
    root: Arc<Object>,
    cache: Cache,
    /// Names of directories that are kept; at most four for each descriptor.
    listed: Arc<AtomicUsize>,
    clock: Clock,
    creds: Creds,
    /// Mode bits and POSIX ACLs are all that decides on this file system.
    modes_decide: bool,
    /// Handles can be opened by the kernel; else there are hints.
    by_handle: bool,
    hints: Option<Hints>,
    pool: Arc<Pool>,
    /// For fsync only: its threads do nothing but wait for the medium, and nothing else waits for them.
    sync_pool: Pool,
    verifier: AtomicU64,
    /// The file system may write without waiting.
    nowait_write: AtomicBool,
    /// Calls of fsync, for tests and metrics.
    syncs: AtomicU64,
    /// Mount points that were warned of.
    warned: Mutex<HashSet<(Oid, Box<[u8]>)>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.clock.write_mark();
    }
}

impl Inner {
    /// The object of a node of this export.
    fn object(&self, node: &Node) -> Result<Arc<Object>, Fault> {
        let object = node.object::<Object>().ok_or(Fault::XDev)?;
        if object.instance == self.instance { Ok(object) } else { Err(Fault::XDev) }
    }

    /// What a failed system call means; makes room where descriptors ran out.
    fn fault(&self, errno: Errno) -> Fault {
        if matches!(errno, Errno::MFILE | Errno::NFILE) {
            tracing::warn!(objects = self.cache.len(), "out of file descriptors");
            self.cache.shrink();
        }
        errno::fault(errno)
    }

    fn writable(&self) -> Result<(), Fault> {
        if self.options.read_only { Err(Fault::RoFs) } else { Ok(()) }
    }

    /// Data that were not synced may be lost.
    fn new_verifier(&self) {
        let old = self.verifier.load(Ordering::Relaxed);
        // Where there is no randomness, the next number is as new.
        let new = start::random().unwrap_or(old.wrapping_add(1));
        self.verifier.store(if new == old { old.wrapping_add(1) } else { new }, Ordering::Relaxed);
    }
}

/// Takes the value or answers with the fault.
macro_rules! got {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(fault) => return Answer::fault(fault),
        }
    };
}

impl Local {
    /// Whether everything is done as the server's own user, since the process may not take another's identity.
    /// Callers are not told apart then, and owners cannot be changed.
    #[must_use]
    pub fn single_user(&self) -> bool {
        !self.inner.creds.switches()
    }

    fn job<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Arc<Inner>) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<T> {
        let inner = Arc::clone(&self.inner);
        self.inner.pool.run(move || job(&inner))
    }

    /// A job that only waits where its objects are not in the kernel's caches.
    fn short<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Arc<Inner>) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<T> {
        let inner = Arc::clone(&self.inner);
        self.inner.pool.run_short(move || job(&inner))
    }

    /// A change of names or attributes: its answer waits until the objects it names are on the medium.
    fn durable<T: Send + Unpin + 'static>(
        &self,
        job: impl FnOnce(&Arc<Inner>) -> Result<Synced<T>, Fault> + Send + 'static,
    ) -> Answer<T> {
        if !self.inner.options.sync_metadata {
            return self.short(move |inner| job(inner).map(|(value, _)| value));
        }
        let inner = Arc::clone(&self.inner);
        let answer = self.inner.pool.run_short(move || {
            let (value, objects) = job(&inner)?;
            let syncs: Vec<_> = objects.iter().map(|object| inner.join_sync(object, Depth::All)).collect();
            Ok((value, syncs))
        });
        Answer::later(async move {
            let (value, syncs) = answer.await?;
            for sync in syncs {
                sync.await.unwrap_or(Err(Fault::ServerFault))?;
            }
            Ok(value)
        })
    }
}

impl Backend for Local {
    fn facts(&self) -> &Facts {
        &self.inner.facts
    }

    fn root(&self) -> Node {
        Inner::node(&self.inner.root)
    }

    fn handle(&self, node: &Node) -> RawHandle {
        node.object_ref::<Object>().map(|object| object.key.clone()).unwrap_or_default()
    }

    fn resolve(&self, handle: &[u8]) -> Answer<Node> {
        if let Some(object) = self.inner.cache.get(handle) {
            return Answer::ok(Inner::node(&object));
        }
        let handle = RawHandle::from_slice(handle);
        self.short(move |inner| inner.resolve_cold(&handle).map(|object| Inner::node(&object)))
    }

    fn lookup(&self, who: &Who, dir: &Node, name: &[u8]) -> Answer<Node> {
        got!(is_component(name));
        let dir = got!(self.inner.object(dir));
        match self.inner.lookup(who, &dir, name, Wait::No) {
            // It would wait, or the kernel does not know the question (before 5.12).
            Err(Fault::Delay | Fault::Inval) => {}
            found => return found.map(|object| Inner::node(&object)).into(),
        }
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.short(move |inner| inner.lookup(&who, &dir, &name, Wait::Yes).map(|object| Inner::node(&object)))
    }

    fn parent(&self, who: &Who, node: &Node) -> Answer<Node> {
        let object = got!(self.inner.object(node));
        let who = who.clone();
        self.short(move |inner| inner.parent(&who, &object).map(|object| Inner::node(&object)))
    }

    fn getattr(&self, node: &Node) -> Answer<Meta> {
        self.inner.object(node).and_then(|object| self.inner.getattr(&object)).into()
    }

    fn access(&self, who: &Who, node: &Node, asked: Rights) -> Answer<Rights> {
        self.inner.object(node).and_then(|object| self.inner.access(who, &object, asked)).into()
    }

    fn setattr(&self, who: &Who, node: &Node, opened: Option<&Opened>, set: &SetMeta) -> Answer<SetDone> {
        let object = got!(self.inner.object(node));
        // The open is kept, so its descriptor is there when the job runs.
        let opened = opened.filter(|opened| opened.access.write && opened.node.oid == node.oid).cloned();
        let (who, set) = (who.clone(), set.clone());
        self.durable(move |inner| {
            let done = inner.setattr(&who, &object, opened.is_some(), &set)?;
            let changed = done.applied != super::Applied::default();
            Ok((done, if changed { vec![object] } else { Vec::new() }))
        })
    }

    fn create(&self, who: &Who, dir: &Node, name: &[u8], what: Create, set: &SetMeta) -> Answer<Made> {
        let dir = got!(self.inner.object(dir));
        let (who, name, set) = (who.clone(), RawHandle::from_slice(name), set.clone());
        self.durable(move |inner| inner.create(&who, &dir, &name, &what, &set))
    }

    fn link(&self, who: &Who, node: &Node, dir: &Node, name: &[u8]) -> Answer<Linked> {
        let (node, dir) = (got!(self.inner.object(node)), got!(self.inner.object(dir)));
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.durable(move |inner| inner.link(&who, &node, &dir, &name))
    }

    fn remove_only(&self, who: &Who, dir: &Node, name: &[u8], only: Option<Oid>) -> Answer<Removed> {
        let dir = got!(self.inner.object(dir));
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.durable(move |inner| inner.remove(&who, &dir, &name, only))
    }

    fn rename_only(
        &self,
        who: &Who,
        from: (&Node, &[u8]),
        to: (&Node, &[u8]),
        only: Option<Moving>,
    ) -> Answer<Renamed> {
        let (source, target) = (got!(self.inner.object(from.0)), got!(self.inner.object(to.0)));
        let who = who.clone();
        let (old, new) = (RawHandle::from_slice(from.1), RawHandle::from_slice(to.1));
        self.durable(move |inner| inner.rename(&who, (&source, &old), (&target, &new), only))
    }

    fn readlink(&self, _who: &Who, node: &Node) -> Answer<Bytes> {
        let object = got!(self.inner.object(node));
        self.short(move |inner| inner.readlink(&object))
    }

    fn list(&self, who: &Who, dir: &Node, cookie: u64, room: Room) -> Answer<Page> {
        let dir = got!(self.inner.object(dir));
        if let Some(page) = got!(self.inner.list_kept(who, &dir, cookie, room)) {
            return Answer::ok(page);
        }
        let who = who.clone();
        self.short(move |inner| inner.list(&who, &dir, cookie, room))
    }

    fn open(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened> {
        let object = got!(self.inner.object(node));
        self.inner.open(who, &object, access).into()
    }

    fn open_again(&self, who: &Who, node: &Node, access: OpenAccess) -> Answer<Opened> {
        let object = got!(self.inner.object(node));
        got!(handle::is_file(&object));
        self.inner.alive(&object).and_then(|_| self.inner.open_unchecked(who, &object, access)).into()
    }

    fn advance(&self, node: &Node, change: u64) -> Answer<()> {
        let object = got!(self.inner.object(node));
        self.inner.advance(&object, change);
        Answer::ok(())
    }

    fn read(&self, file: &Opened, at: u64, len: u32) -> Answer<ReadData> {
        self.inner.read(file, at, len)
    }

    fn write(&self, file: &Opened, at: u64, data: Bytes, stable: Stable) -> Answer<Written> {
        self.inner.write(file, at, data, stable)
    }

    fn commit(&self, node: &Node, _at: u64, _len: u64) -> Answer<()> {
        let object = got!(self.inner.object(node));
        got!(handle::is_file(&object));
        let done = self.inner.join_sync(&object, Depth::Data);
        Answer::later(async move { done.await.unwrap_or(Err(Fault::ServerFault)) })
    }

    fn write_verifier(&self) -> [u8; 8] {
        self.inner.verifier.load(Ordering::Relaxed).to_be_bytes()
    }

    fn cookie_verifier(&self) -> [u8; 8] {
        // The kernel's offsets mean the same after a restart.
        *b"d_off+3\0"
    }

    fn statfs(&self, who: &Who) -> Answer<FsStat> {
        let privileged = who.uid == 0 && self.inner.creds.switches();
        self.short(move |inner| inner.statfs(privileged))
    }

    fn getxattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<Bytes> {
        let object = got!(self.inner.object(node));
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.short(move |inner| inner.getxattr(&who, &object, &name))
    }

    fn setxattr(
        &self,
        who: &Who,
        node: &Node,
        name: &[u8],
        value: Bytes,
        how: XattrSet,
    ) -> Answer<ChangeInfo> {
        let object = got!(self.inner.object(node));
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.durable(move |inner| {
            inner.setxattr(&who, &object, &name, &value, how).map(|change| (change, vec![object]))
        })
    }

    fn listxattrs(&self, who: &Who, node: &Node) -> Answer<Vec<Bytes>> {
        let object = got!(self.inner.object(node));
        let who = who.clone();
        self.short(move |inner| inner.listxattrs(&who, &object))
    }

    fn removexattr(&self, who: &Who, node: &Node, name: &[u8]) -> Answer<ChangeInfo> {
        let object = got!(self.inner.object(node));
        let (who, name) = (who.clone(), RawHandle::from_slice(name));
        self.durable(move |inner| {
            inner.removexattr(&who, &object, &name).map(|change| (change, vec![object]))
        })
    }

    fn seek(&self, file: &Opened, at: u64, what: Seek) -> Answer<Sought> {
        let file = file.clone();
        self.short(move |inner| inner.seek(&file, at, what))
    }

    fn advise(&self, file: &Opened, at: u64, len: u64, advice: Advice) -> Answer<bool> {
        let file = file.clone();
        self.short(move |inner| inner.advise(&file, at, len, advice))
    }

    fn allocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()> {
        let file = file.clone();
        self.job(move |inner| inner.allocate(&file, at, len))
    }

    fn deallocate(&self, file: &Opened, at: u64, len: u64) -> Answer<()> {
        let file = file.clone();
        self.job(move |inner| inner.deallocate(&file, at, len))
    }

    fn copy(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<u64> {
        let (from, to) = (from.clone(), to.clone());
        self.job(move |inner| inner.copy(&from, from_at, &to, to_at, len))
    }

    fn clone_range(&self, from: &Opened, from_at: u64, to: &Opened, to_at: u64, len: u64) -> Answer<()> {
        let (from, to) = (from.clone(), to.clone());
        self.job(move |inner| inner.clone_range(&from, from_at, &to, to_at, len))
    }
}
