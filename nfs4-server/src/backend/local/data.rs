//! Opening, READ and WRITE.
//!
//! An object has one real descriptor, which all its opens share: opened for reading when the first one comes,
//! replaced by a reading and writing one when a writer comes, and closed with the last open. Permission is
//! checked at the open; READ and WRITE run on the descriptor.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use rustix::fs::{Mode, OFlags, Statx};
use rustix::io::Errno;
use smallvec::smallvec;

use super::attr::{R, W, X, stat};
use super::cache::Object;
use super::handle::is_file;
use super::names::LARGE;
use super::sys::Io;
use super::{Inner, sys};
use crate::backend::{Answer, Fault, OpenAccess, Opened, ReadData, Stable, Who, Written};

/// Writes up to this size are tried in place; a larger copy would keep other requests waiting.
const SMALL: usize = 64 * 1024;

/// The real descriptors of an object. Both are the same one where it was opened for both.
#[derive(Default)]
pub(super) struct Descriptors {
    pub(super) opens: usize,
    reader: Option<Arc<OwnedFd>>,
    writer: Option<Arc<OwnedFd>>,
}

impl Descriptors {
    /// The one to write to.
    pub(super) fn writer(&self) -> Option<Arc<OwnedFd>> {
        self.writer.clone()
    }

    /// The one to read from.
    pub(super) fn reader(&self) -> Option<Arc<OwnedFd>> {
        self.reader.clone()
    }

    /// Whichever there is, a writing one first.
    pub(super) fn any(&self) -> Option<Arc<OwnedFd>> {
        self.writer().or_else(|| self.reader())
    }

    fn put(&mut self, fd: OwnedFd, access: OpenAccess) {
        let fd = Arc::new(fd);
        if access.read {
            self.reader = Some(Arc::clone(&fd));
        }
        if access.write {
            self.writer = Some(fd);
        }
    }
}

/// What an [`Opened`] of this backend holds.
pub(super) struct OpenFile {
    inner: Arc<Inner>,
    pub(super) object: Arc<Object>,
    /// Who opened: a write by anybody but root clears setuid bits, and quotas count.
    pub(super) who: Who,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let object = &self.object;
        let mut data = object.data();
        data.opens = data.opens.saturating_sub(1);
        if data.opens > 0 {
            return;
        }
        let closing = std::mem::take(&mut *data);
        drop(data);
        let stat = stat(object.fd());
        if stat.is_ok_and(|stat| stat.stx_nlink == 0) {
            object.gone.store(true, Ordering::Relaxed);
            self.inner.cache.forget(object);
        }
        // Closing a large removed file takes long, and a written one may: not on a thread that serves.
        if object.gone.load(Ordering::Relaxed) && stat.is_ok_and(|stat| stat.stx_blocks > LARGE) {
            self.inner.pool.run_unbounded(move || drop(closing));
        } else if closing.writer.is_some() {
            self.inner.pool.run_aside(move || drop(closing));
        }
    }
}

impl Inner {
    /// Opens a regular file with the permission of `who`.
    pub(super) fn open(
        self: &Arc<Self>,
        who: &Who,
        object: &Arc<Object>,
        access: OpenAccess,
    ) -> Result<Opened, Fault> {
        is_file(object)?;
        if access.write {
            self.writable()?;
        }
        let stat = self.alive(object)?;
        self.may_open(who, object, &stat, access)?;
        self.open_unchecked(who, object, access)
    }

    fn may_open(&self, who: &Who, object: &Object, stat: &Statx, access: OpenAccess) -> Result<(), Fault> {
        let want = (if access.read { R } else { 0 }) | (if access.write { W } else { 0 });
        if self.permits(who, object, stat, want)? == want {
            return Ok(());
        }
        // A program that may only be executed must be read to be executed; whether a process may see its bytes
        // is for the client to decide (by ACCESS), as it is with every server.
        if want == R && self.permits(who, object, stat, X)? == X {
            return Ok(());
        }
        Err(Fault::Access)
    }

    /// Opens without a question: for who has just made the file, or was checked.
    pub(super) fn open_unchecked(
        self: &Arc<Self>,
        who: &Who,
        object: &Arc<Object>,
        access: OpenAccess,
    ) -> Result<Opened, Fault> {
        let mut data = object.data();
        if access.write && data.writer.is_none() {
            match self.real(object, OFlags::RDWR) {
                Ok(fd) => data.put(fd, OpenAccess { read: true, write: true }),
                // Without privileges, on a file that may only be written.
                Err(Errno::ACCESS) => {
                    let fd = self.real(object, OFlags::WRONLY).map_err(|errno| self.fault(errno))?;
                    data.put(fd, OpenAccess { read: false, write: true });
                }
                Err(errno) => return Err(self.fault(errno)),
            }
        }
        if access.read && data.reader.is_none() {
            let fd = self.real(object, OFlags::RDONLY).map_err(|errno| self.fault(errno))?;
            data.put(fd, OpenAccess { read: true, write: false });
        }
        data.opens += 1;
        drop(data);
        Ok(self.opened(who, object, access))
    }

    /// Takes the descriptor of a file that was just made.
    pub(super) fn open_made(
        self: &Arc<Self>,
        who: &Who,
        object: &Arc<Object>,
        access: OpenAccess,
        fd: OwnedFd,
    ) -> Opened {
        let mut data = object.data();
        if data.writer.is_none() {
            data.put(fd, OpenAccess { read: true, write: true });
        }
        data.opens += 1;
        drop(data);
        self.opened(who, object, access)
    }

    fn opened(self: &Arc<Self>, who: &Who, object: &Arc<Object>, access: OpenAccess) -> Opened {
        let file = OpenFile { inner: Arc::clone(self), object: Arc::clone(object), who: who.clone() };
        Opened::new(Self::node(object), access, Arc::new(file))
    }

    /// A real descriptor of the object, as the server. NONBLOCK: somebody's lease is EAGAIN, not a wait.
    fn real(&self, object: &Object, flags: OFlags) -> Result<OwnedFd, Errno> {
        let _server = self.creds.server().map_err(|_| Errno::ACCESS)?;
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        rustix::fs::open(sys::proc_path(object.fd()), flags, Mode::empty())
    }

    /// This backend's own part of an open file.
    pub(super) fn file(&self, opened: &Opened) -> Result<Arc<OpenFile>, Fault> {
        let file = opened.guard::<OpenFile>().ok_or(Fault::ServerFault)?;
        if file.object.instance == self.instance { Ok(file) } else { Err(Fault::XDev) }
    }

    /// The descriptor to read from.
    pub(super) fn reader(file: &OpenFile) -> Result<Arc<OwnedFd>, Fault> {
        file.object.data().reader().ok_or(Fault::Access)
    }

    /// The descriptor to write to.
    pub(super) fn writer(file: &OpenFile, opened: &Opened) -> Result<Arc<OwnedFd>, Fault> {
        if !opened.access.write {
            return Err(Fault::Access);
        }
        file.object.data().writer().ok_or(Fault::Access)
    }

    /// READ: from the page cache in place, the rest in the pool.
    pub(super) fn read(self: &Arc<Self>, opened: &Opened, at: u64, len: u32) -> Answer<ReadData> {
        match self.start_read(opened, at, len) {
            Err(fault) => Answer::fault(fault),
            Ok(mut read) => match read.go_on(Io::NoWait) {
                Ok(()) => Answer::ok(read.done()),
                Err(Errno::AGAIN | Errno::OPNOTSUPP) => {
                    let inner = Arc::clone(self);
                    self.pool.run(move || {
                        read.go_on(Io::Wait).map_err(|errno| inner.fault(errno))?;
                        Ok(read.done())
                    })
                }
                Err(errno) => Answer::fault(self.fault(errno)),
            },
        }
    }

    fn start_read(&self, opened: &Opened, at: u64, len: u32) -> Result<Reading, Fault> {
        let fd = Self::reader(&*self.file(opened)?)?;
        let size = stat(fd.as_fd()).map_err(|errno| self.fault(errno))?.stx_size;
        let len = size.saturating_sub(at).min(len.into());
        // `len` fits 32 bits.
        let len = usize::try_from(len).unwrap_or(0);
        Ok(Reading { fd, at, len, size, data: Vec::with_capacity(len), ended: false })
    }

    /// WRITE: small ones in place where the file system can, else in the pool.
    pub(super) fn write(
        self: &Arc<Self>,
        opened: &Opened,
        at: u64,
        data: Bytes,
        stable: Stable,
    ) -> Answer<Written> {
        let file = match self.file(opened) {
            Ok(file) => file,
            Err(fault) => return Answer::fault(fault),
        };
        let fd = match Self::writer(&file, opened) {
            Ok(fd) => fd,
            Err(fault) => return Answer::fault(fault),
        };
        let small = stable == Stable::Un && data.len() <= SMALL;
        if small && self.nowait_write.load(Ordering::Relaxed) {
            match self.write_now(&file, &fd, at, &data) {
                Ok(None) => {}
                Ok(Some(written)) => return Answer::ok(written),
                Err(fault) => return Answer::fault(fault),
            }
        }
        let inner = Arc::clone(self);
        let job = move || {
            let _as = inner.creds.user(&file.who)?;
            let how = match stable {
                Stable::Un => Io::Wait,
                Stable::Data => Io::DataSync,
                Stable::File => Io::FileSync,
            };
            let done = sys::write_at(fd.as_fd(), &data, at, how);
            inner.touch(&file.object);
            if done == Err(Errno::IO) && stable != Stable::Un {
                inner.new_verifier();
            }
            done.map(|count| written(count, stable)).map_err(|errno| inner.fault(errno))
        };
        if small { self.pool.run_short(job) } else { self.pool.run(job) }
    }

    /// `None`: it would wait.
    fn write_now(
        &self,
        file: &OpenFile,
        fd: &OwnedFd,
        at: u64,
        data: &[u8],
    ) -> Result<Option<Written>, Fault> {
        // The identity only matters where the write must clear setuid or setgid.
        let mode = stat(fd.as_fd()).map_err(|errno| self.fault(errno))?.stx_mode;
        let _as = if mode & 0o6000 == 0 { None } else { Some(self.creds.user(&file.who)?) };
        self.creds.settle();
        let done = sys::write_at(fd.as_fd(), data, at, Io::NoWait);
        match done {
            Ok(count) => {
                self.touch(&file.object);
                Ok(Some(written(count, Stable::Un)))
            }
            Err(Errno::OPNOTSUPP) => {
                self.nowait_write.store(false, Ordering::Relaxed);
                Ok(None)
            }
            Err(Errno::AGAIN) => Ok(None),
            Err(errno) => Err(self.fault(errno)),
        }
    }
}

fn written(count: usize, stable: Stable) -> Written {
    Written { count: u32::try_from(count).unwrap_or(u32::MAX), stable }
}

/// A READ on its way.
struct Reading {
    fd: Arc<OwnedFd>,
    at: u64,
    len: usize,
    /// The file's, when the READ began.
    size: u64,
    data: Vec<u8>,
    ended: bool,
}

impl Reading {
    fn go_on(&mut self, how: Io) -> Result<(), Errno> {
        while self.data.len() < self.len {
            let (at, rest) = (self.at + self.data.len() as u64, self.len - self.data.len());
            if sys::read_at(self.fd.as_fd(), &mut self.data, rest, at, how)? == 0 {
                // It was truncated meanwhile.
                self.ended = true;
                break;
            }
        }
        Ok(())
    }

    fn done(self) -> ReadData {
        let end = self.at.saturating_add(self.data.len() as u64);
        let eof = self.ended || end >= self.size;
        let data = if self.data.is_empty() { smallvec![] } else { smallvec![Bytes::from(self.data)] };
        ReadData { data, eof }
    }
}
