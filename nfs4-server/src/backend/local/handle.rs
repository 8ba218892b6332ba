//! From descriptors and handles to objects.
//!
//! Every step down is one component, taken by the kernel beneath a directory that is itself inside the export:
//! no symbolic link is followed, no mount point crossed, and nothing is ever looked up by a longer path.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Statx};
use rustix::io::Errno;

use super::attr::{kind, stat};
use super::cache::Object;
use super::{Inner, sys};
use crate::backend::{Fault, FileKind, Node, RawHandle, Who};

/// Deepest directory that is searched for the root, or found again by hints.
const DEPTH: usize = 4096;
/// The kernel asks to try again when a rename came between.
const TRIES: usize = 16;

/// How one component is resolved.
pub(super) const STEP: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);
/// A step up: ".." is not beneath.
const STEP_UP: ResolveFlags =
    ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_XDEV);

const O_PATH: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether [`Inner::child`] may wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// As long as it takes: in a pool job.
    Yes,
    /// `EAGAIN` rather than wait.
    No,
}

impl Inner {
    /// Opens one component below `dir` as an `O_PATH` descriptor, with the thread's identity.
    pub(super) fn child(dir: BorrowedFd<'_>, name: &[u8], wait: Wait) -> Result<OwnedFd, Errno> {
        let how = if wait == Wait::No { STEP | ResolveFlags::CACHED } else { STEP };
        let tries = if wait == Wait::No { 1 } else { TRIES };
        let mut last = Errno::AGAIN;
        for _ in 0..tries {
            match rustix::fs::openat2(dir, name, O_PATH, Mode::empty(), how) {
                Err(Errno::AGAIN) => last = Errno::AGAIN,
                other => return other,
            }
        }
        Err(last)
    }

    /// The object of an `O_PATH` descriptor: the one at hand, or a new one. `place` says where it was found.
    pub(super) fn adopt(&self, fd: OwnedFd, place: Option<(&Object, &[u8])>) -> Result<Arc<Object>, Fault> {
        let key = sys::name_to_handle(&fd).map_err(|errno| self.fault(errno))?;
        if let (Some(hints), Some((dir, name))) = (&self.hints, place) {
            hints.seen(&key, &dir.key, name);
        }
        if let Some(object) = self.cache.get(&key) {
            return Ok(object);
        }
        let stat = stat(fd.as_fd()).map_err(|errno| self.fault(errno))?;
        let kind = kind(&stat);
        // A subvolume is no mount point, but its numbers are its own.
        if kind == FileKind::Dir && device(&stat) != self.device {
            if let Some((dir, name)) = place {
                self.warn_mount(dir, name);
            }
            return Err(Fault::Access);
        }
        let object = Object::new(
            key.clone(),
            super::start::oid(self.seed, &key),
            kind,
            self.instance,
            fd,
            Arc::downgrade(&self.pool),
        );
        Ok(self.cache.insert(object))
    }

    /// The public face of an object.
    pub(super) fn node(object: &Arc<Object>) -> Node {
        Node::new(object.oid, object.kind, Arc::clone(object))
    }

    /// LOOKUP. `EAGAIN` comes as [`Fault::Delay`] where it may not wait.
    pub(super) fn lookup(
        &self,
        who: &Who,
        dir: &Object,
        name: &[u8],
        wait: Wait,
    ) -> Result<Arc<Object>, Fault> {
        is_dir(dir)?;
        let found = {
            let _as = self.searching(who, dir)?;
            Self::child(dir.fd(), name, wait)
        };
        match found {
            Ok(fd) => self.adopt(fd, Some((dir, name))),
            Err(errno) => Err(self.missed(dir, name, errno)),
        }
    }

    /// Why a name was not found.
    pub(super) fn missed(&self, dir: &Object, name: &[u8], errno: Errno) -> Fault {
        match errno {
            Errno::XDEV => {
                self.warn_mount(dir, name);
                Fault::Access
            }
            Errno::LOOP => Fault::Access,
            // A removed directory has no names at all.
            Errno::NOENT => self.alive(dir).err().unwrap_or(Fault::NoEnt),
            other => self.fault(other),
        }
    }

    fn warn_mount(&self, dir: &Object, name: &[u8]) {
        const REMEMBERED: usize = 256;
        let mut warned = self.warned.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if warned.len() < REMEMBERED && warned.insert((dir.oid, name.into())) {
            tracing::warn!(
                export = %self.path.display(),
                name = %String::from_utf8_lossy(name),
                "another file system is mounted here and is not served; give it an export of its own"
            );
        }
    }

    /// The object's state; [`Fault::Stale`] where its last name is gone and nobody has it open.
    pub(super) fn alive(&self, object: &Object) -> Result<Statx, Fault> {
        let stat = stat(object.fd()).map_err(|errno| self.fault(errno))?;
        if stat.stx_nlink == 0 && object.data().opens == 0 {
            object.gone.store(true, Ordering::Relaxed);
            self.cache.forget(object);
            return Err(Fault::Stale);
        }
        Ok(stat)
    }

    /// The object of a handle that is not at hand.
    pub(super) fn resolve_cold(&self, raw: &[u8]) -> Result<Arc<Object>, Fault> {
        if self.by_handle { self.by_kernel(raw) } else { self.by_hints(raw, DEPTH) }
    }

    fn by_kernel(&self, raw: &[u8]) -> Result<Arc<Object>, Fault> {
        let _server = self.creds.server()?;
        let fd = self.open_by_kernel(raw).map_err(|errno| match errno {
            Errno::STALE | Errno::NOENT => Fault::Stale,
            Errno::INVAL | Errno::OVERFLOW => Fault::BadHandle,
            other => self.fault(other),
        })?;
        let stat = stat(fd.as_fd()).map_err(|errno| self.fault(errno))?;
        if stat.stx_nlink == 0 {
            return Err(Fault::Stale);
        }
        // Some file systems take more than one spelling; identity needs exactly one.
        if sys::name_to_handle(&fd).map_err(|errno| self.fault(errno))?.as_slice() != raw {
            return Err(Fault::BadHandle);
        }
        if kind(&stat) == FileKind::Dir && !self.inside(fd.as_fd()) {
            return Err(Fault::Stale);
        }
        self.adopt(fd, None)
    }

    /// An inode number that is being given to a new file at this moment comes as ENOMEM from `iget_locked`.
    fn open_by_kernel(&self, raw: &[u8]) -> Result<OwnedFd, Errno> {
        for _ in 1..TRIES {
            match sys::open_by_handle(self.mount.as_fd(), raw) {
                Err(Errno::NOMEM) => std::thread::yield_now(),
                other => return other,
            }
        }
        sys::open_by_handle(self.mount.as_fd(), raw)
    }

    /// Finds an object from the root down by the hints, checking each step by its kernel handle.
    fn by_hints(&self, raw: &[u8], depth: usize) -> Result<Arc<Object>, Fault> {
        if raw.len() < 4 {
            return Err(Fault::BadHandle);
        }
        let hints = self.hints.as_ref().ok_or(Fault::Stale)?;
        // Up to something at hand (the root is always), then down again; no recursion on what a file says.
        let mut way = Vec::new();
        let mut key = RawHandle::from_slice(raw);
        let mut at = loop {
            if let Some(object) = self.cache.get(&key) {
                break object;
            }
            if way.len() >= depth {
                return Err(Fault::Stale);
            }
            let (parent, name) = hints.get(&key).ok_or(Fault::Stale)?;
            way.push((std::mem::replace(&mut key, parent), name));
        };
        let _server = self.creds.server()?;
        for (key, name) in way.into_iter().rev() {
            let fd = Self::child(at.fd(), &name, Wait::Yes).map_err(|errno| match errno {
                Errno::NOENT | Errno::NOTDIR | Errno::XDEV | Errno::LOOP => Fault::Stale,
                other => self.fault(other),
            })?;
            let found = self.adopt(fd, Some((&at, &name)))?;
            if found.key != key {
                return Err(Fault::Stale);
            }
            at = found;
        }
        Ok(at)
    }

    /// LOOKUPP.
    pub(super) fn parent(&self, who: &Who, node: &Object) -> Result<Arc<Object>, Fault> {
        is_dir(node)?;
        if node.key == self.root.key {
            return Err(Fault::NoEnt);
        }
        self.alive(node)?;
        let up = {
            let _as = self.searching(who, node)?;
            up(node.fd())
        };
        let fd = up.map_err(|errno| match errno {
            Errno::XDEV | Errno::NOENT => Fault::Stale,
            other => self.fault(other),
        })?;
        // Somebody may have moved the directory out of the export.
        if self.inside(fd.as_fd()) { self.adopt(fd, None) } else { Err(Fault::Stale) }
    }

    /// Whether a directory is the root or below it, as far as the server may look.
    fn inside(&self, dir: BorrowedFd<'_>) -> bool {
        let Ok(_server) = self.creds.server() else { return false };
        let Ok(mut key) = sys::name_to_handle(dir) else { return false };
        let mut held: Option<OwnedFd> = None;
        for _ in 0..DEPTH {
            if key == self.root.key {
                return true;
            }
            let above = match up(held.as_ref().map_or(dir, AsFd::as_fd)) {
                Ok(above) => above,
                // Without privileges one may not look everywhere; a handle that we gave out is then believed.
                Err(Errno::ACCESS) => return true,
                Err(_) => return false,
            };
            let Ok(next) = sys::name_to_handle(&above) else { return false };
            // The root of the file system is above itself.
            if next == key {
                return false;
            }
            key = next;
            held = Some(above);
        }
        false
    }
}

/// The directory above.
fn up(dir: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let mut last = Errno::AGAIN;
    for _ in 0..TRIES {
        match rustix::fs::openat2(dir, c"..", O_PATH | OFlags::DIRECTORY, Mode::empty(), STEP_UP) {
            Err(Errno::AGAIN) => last = Errno::AGAIN,
            other => return other,
        }
    }
    Err(last)
}

/// The device an object is on.
pub(super) fn device(stat: &Statx) -> (u32, u32) {
    (stat.stx_dev_major, stat.stx_dev_minor)
}

/// [`Fault::NotDir`], or [`Fault::Symlink`], for what is no directory.
pub(super) fn is_dir(object: &Object) -> Result<(), Fault> {
    match object.kind {
        FileKind::Dir => Ok(()),
        FileKind::Symlink => Err(Fault::Symlink),
        FileKind::File | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            Err(Fault::NotDir)
        }
    }
}

/// What an open asks for: a regular file.
pub(super) fn is_file(object: &Object) -> Result<(), Fault> {
    match object.kind {
        FileKind::File => Ok(()),
        FileKind::Dir => Err(Fault::IsDir),
        FileKind::Symlink => Err(Fault::Symlink),
        FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => Err(Fault::WrongType),
    }
}

/// Names come checked from the protocol; this keeps the promise of one component by itself.
pub(super) fn is_component(name: &[u8]) -> Result<(), Fault> {
    if name.is_empty() || name == b"." || name == b".." || name.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return Err(Fault::BadName);
    }
    Ok(())
}

/// The kind of a raw mode.
pub(super) fn kind_of(mode: u16) -> FileKind {
    match FileType::from_raw_mode(mode.into()) {
        FileType::Directory => FileKind::Dir,
        FileType::Symlink => FileKind::Symlink,
        FileType::BlockDevice => FileKind::Block,
        FileType::CharacterDevice => FileKind::Char,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::RegularFile | FileType::Unknown => FileKind::File,
    }
}
