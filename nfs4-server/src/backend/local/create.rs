//! Making objects.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use bytes::Bytes;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, Timespec, Timestamps, makedev};
use rustix::io::Errno;

use super::attr::{masked, meta, stat};
use super::cache::Object;
use super::handle::{STEP, Wait, is_component, is_dir, is_file};
use super::{Inner, sys};
use crate::backend::{
    Applied, ChangeInfo, Create, CreateMode, Fault, FileKind, Made, OpenAccess, SetMeta, Who,
};

/// The mode of what is made without one: nobody else's until its first SETATTR.
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
/// How often a name that is there and then is not is tried.
const TRIES: usize = 4;

/// What was made, and what must be on the medium before the reply.
pub(super) type Synced<T> = (T, Vec<Arc<Object>>);

/// A file that was found or made.
enum Found {
    New(OwnedFd),
    Old(Arc<Object>),
}

/// The request of a file: what of [`Create::File`] and around it stays the same.
#[derive(Clone, Copy)]
struct FileWish<'a> {
    who: &'a Who,
    name: &'a [u8],
    mode: CreateMode,
    access: OpenAccess,
    set: &'a SetMeta,
}

impl Inner {
    /// CREATE, and OPEN with `OPEN4_CREATE`.
    pub(super) fn create(
        self: &Arc<Self>,
        who: &Who,
        dir: &Arc<Object>,
        name: &[u8],
        what: &Create,
        set: &SetMeta,
    ) -> Result<Synced<Made>, Fault> {
        is_dir(dir)?;
        is_component(name)?;
        let _turn = dir.turn();
        let before = self.before(dir)?;
        if let Create::File { mode, access } = *what {
            return self.create_file(FileWish { who, name, mode, access, set }, dir, before);
        }
        self.writable()?;
        let _as = self.creds.user(who)?;
        make(dir, name, what, set).map_err(|errno| self.not_made(dir, errno))?;
        let object = Self::child(dir.fd(), name, Wait::Yes)
            .map_err(|errno| self.missed(dir, name, errno))
            .and_then(|fd| self.adopt(fd, Some((dir, name))))?;
        let mut applied = Applied { mode: set.mode.is_some(), ..Applied::default() };
        if let Err(fault) = self.settle(who, &object, set, &mut applied) {
            let flags = if object.kind == FileKind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            return Err(self.undo(dir, name, flags, fault));
        }
        let info = self.after(dir, before)?;
        let stat = stat(object.fd()).map_err(|errno| self.fault(errno))?;
        let made = Made {
            node: Self::node(&object),
            meta: meta(&stat, self.change(&object, &stat)),
            dir: info,
            existed: false,
            opened: None,
            applied,
            cookie: None,
        };
        Ok((made, vec![object, Arc::clone(dir)]))
    }

    fn create_file(
        self: &Arc<Self>,
        wish: FileWish<'_>,
        dir: &Arc<Object>,
        before: u64,
    ) -> Result<Synced<Made>, Fault> {
        match self.find_or_make(wish, dir)? {
            Found::New(fd) => self.new_file(wish, dir, before, fd),
            Found::Old(object) => self.old_file(wish, dir, self.unchanged(before), &object),
        }
    }

    fn find_or_make(&self, wish: FileWish<'_>, dir: &Object) -> Result<Found, Fault> {
        let FileWish { who, name, mode, set, .. } = wish;
        let _as = self.creds.user(who)?;
        let mode_bits = Mode::from_raw_mode(set.mode.map_or(FILE_MODE, |mode| masked(FILE_MODE, mode)));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..TRIES {
            let made = if self.options.read_only {
                Err(Errno::EXIST)
            } else {
                rustix::fs::openat2(dir.fd(), name, flags, mode_bits, STEP)
            };
            match made {
                Ok(fd) => return Ok(Found::New(fd)),
                Err(Errno::EXIST | Errno::LOOP) => {}
                Err(Errno::AGAIN) => continue,
                Err(errno) => return Err(self.not_made(dir, errno)),
            }
            if mode == CreateMode::Guarded && !self.options.read_only {
                return Err(Fault::Exist);
            }
            match Self::child(dir.fd(), name, Wait::Yes) {
                Ok(fd) => return self.adopt(fd, Some((dir, name))).map(Found::Old),
                Err(Errno::NOENT) if self.options.read_only => return Err(Fault::RoFs),
                // Removed meanwhile.
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(self.missed(dir, name, errno)),
            }
        }
        Err(Fault::Delay)
    }

    fn new_file(
        self: &Arc<Self>,
        wish: FileWish<'_>,
        dir: &Arc<Object>,
        before: u64,
        fd: OwnedFd,
    ) -> Result<Synced<Made>, Fault> {
        let FileWish { who, name, mode, access, set } = wish;
        let path = rustix::fs::open(sys::proc_path(&fd), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| self.fault(errno));
        let object = path.and_then(|path| self.adopt(path, Some((dir, name))));
        let object = match object {
            Ok(object) => object,
            Err(fault) => return Err(self.undo(dir, name, AtFlags::empty(), fault)),
        };
        // From here on the descriptor's rights count, whatever the mode says.
        let opened = self.open_made(who, &object, access, fd);
        let mut applied = Applied { mode: set.mode.is_some(), ..Applied::default() };
        let settled = self.settle(who, &object, set, &mut applied).and_then(|()| match mode {
            CreateMode::Exclusive(verifier) => self.keep_verifier(who, &object, verifier),
            CreateMode::Unchecked | CreateMode::Guarded => Ok(()),
        });
        if let Err(fault) = settled {
            return Err(self.undo(dir, name, AtFlags::empty(), fault));
        }
        let info = self.after(dir, before)?;
        let stat = stat(object.fd()).map_err(|errno| self.fault(errno))?;
        let made = Made {
            node: Self::node(&object),
            meta: meta(&stat, self.change(&object, &stat)),
            dir: info,
            existed: false,
            opened: Some(opened),
            applied,
            cookie: None,
        };
        Ok((made, vec![object, Arc::clone(dir)]))
    }

    /// There is something of that name (§18.16.3).
    fn old_file(
        self: &Arc<Self>,
        wish: FileWish<'_>,
        dir: &Arc<Object>,
        info: ChangeInfo,
        object: &Arc<Object>,
    ) -> Result<Synced<Made>, Fault> {
        let FileWish { who, mode, access, set, .. } = wish;
        let stat = stat(object.fd()).map_err(|errno| self.fault(errno))?;
        let (opened, applied) = match mode {
            CreateMode::Guarded => return Err(Fault::Exist),
            CreateMode::Unchecked => {
                is_file(object)?;
                (None, Applied::default())
            }
            CreateMode::Exclusive(verifier) => {
                if object.kind != FileKind::File || verifier_of(&stat) != Some(verifier) {
                    return Err(Fault::Exist);
                }
                // Whoever made the file need not be asked for permission, and nobody else made this request.
                if self.creds.switches() && who.uid != 0 && who.uid != stat.stx_uid {
                    return Err(Fault::Exist);
                }
                let opened = self.open_unchecked(who, object, access)?;
                // The verifier was stored last: all of `set` is done.
                let applied = Applied {
                    size: set.size.is_some(),
                    mode: set.mode.is_some(),
                    uid: set.uid.is_some(),
                    gid: set.gid.is_some(),
                    atime: false,
                    mtime: false,
                    ..Applied::default()
                };
                (Some(opened), applied)
            }
        };
        let made = Made {
            node: Self::node(object),
            meta: meta(&stat, self.change(object, &stat)),
            dir: info,
            existed: opened.is_none(),
            opened,
            applied,
            cookie: None,
        };
        // An exclusive retry may be the first to be answered.
        let sync = if made.existed { Vec::new() } else { vec![Arc::clone(object), Arc::clone(dir)] };
        Ok((made, sync))
    }

    /// The attributes that the making itself did not set.
    fn settle(
        self: &Arc<Self>,
        who: &Who,
        object: &Object,
        set: &SetMeta,
        applied: &mut Applied,
    ) -> Result<(), Fault> {
        let mut rest = set.clone();
        let mut done = Applied::default();
        // mkdir takes no setuid and setgid, and a new owner clears them.
        let special = set.mode.is_some_and(|(values, mask)| values & mask & 0o6000 != 0);
        let again = special && (object.kind == FileKind::Dir || set.uid.is_some() || set.gid.is_some());
        if !again || object.kind == FileKind::Symlink {
            rest.mode = None;
        }
        if rest.size == Some(0) && object.kind == FileKind::File {
            rest.size = None;
        }
        self.apply(who, object, true, &rest, &mut done)?;
        *applied = Applied {
            size: set.size.is_some(),
            mode: set.mode.is_some() && object.kind != FileKind::Symlink,
            ..done
        };
        Ok(())
    }

    /// Takes back what could not be finished.
    fn undo(&self, dir: &Object, name: &[u8], flags: AtFlags, fault: Fault) -> Fault {
        if let Err(error) = rustix::fs::unlinkat(dir.fd(), name, flags) {
            tracing::warn!(%error, "an object that was made only in part was not removed");
        }
        self.touch(dir);
        fault
    }

    fn not_made(&self, dir: &Object, errno: Errno) -> Fault {
        match errno {
            Errno::NOENT => self.alive(dir).err().unwrap_or(Fault::NoEnt),
            // A device without the privilege, or a file system without such kinds.
            other => self.fault(other),
        }
    }

    fn keep_verifier(&self, who: &Who, object: &Object, verifier: [u8; 8]) -> Result<(), Fault> {
        let [atime, mtime] = seconds_of(verifier);
        let times = Timestamps {
            last_access: Timespec { tv_sec: atime.into(), tv_nsec: 0 },
            last_modification: Timespec { tv_sec: mtime.into(), tv_nsec: 0 },
        };
        // A file given away at once is not the caller's any more.
        let _as = if who.uid == 0 { self.creds.user(who)? } else { self.creds.server()? };
        rustix::fs::utimensat(object.fd(), c"", &times, AtFlags::EMPTY_PATH)
            .map_err(|errno| self.fault(errno))
    }
}

/// The times that keep a verifier: all 64 bits in seconds that every Linux file system can hold (signed 32-bit:
/// 1901 to 2038), so atime and mtime are not in `suppattr_exclcreat`.
fn seconds_of(verifier: [u8; 8]) -> [i32; 2] {
    let bits = u64::from_be_bytes(verifier);
    [bits >> 32, bits & u64::from(u32::MAX)].map(|half| u32::try_from(half).unwrap_or(0).cast_signed())
}

/// The verifier that a file's times keep, if they can be one.
fn verifier_of(stat: &Statx) -> Option<[u8; 8]> {
    let (atime, mtime) = (stat.stx_atime, stat.stx_mtime);
    if atime.tv_nsec != 0 || mtime.tv_nsec != 0 {
        return None;
    }
    let half = |seconds| i32::try_from(seconds).ok().map(|half| u64::from(half.cast_unsigned()));
    Some((half(atime.tv_sec)? << 32 | half(mtime.tv_sec)?).to_be_bytes())
}

/// Makes what is no regular file, with the thread's identity.
fn make(dir: &Object, name: &[u8], what: &Create, set: &SetMeta) -> Result<(), Errno> {
    let mode = |default| Mode::from_raw_mode(set.mode.map_or(default, |mode| masked(default, mode)));
    let dir = dir.fd();
    let node = |kind, device| rustix::fs::mknodat(dir.as_fd(), name, kind, mode(FILE_MODE), device);
    match what {
        Create::Dir => rustix::fs::mkdirat(dir, name, mode(DIR_MODE)),
        Create::Symlink(target) => symlink(dir, name, target),
        Create::Block(major, minor) => node(FileType::BlockDevice, makedev(*major, *minor)),
        Create::Char(major, minor) => node(FileType::CharacterDevice, makedev(*major, *minor)),
        Create::Fifo => node(FileType::Fifo, 0),
        Create::Socket => node(FileType::Socket, 0),
        Create::File { .. } => Err(Errno::INVAL),
    }
}

fn symlink(dir: impl AsFd, name: &[u8], target: &Bytes) -> Result<(), Errno> {
    // An empty target is ENOENT to the kernel, which would read as a missing directory.
    if target.is_empty() {
        return Err(Errno::INVAL);
    }
    rustix::fs::symlinkat(target.as_ref(), dir, name)
}
