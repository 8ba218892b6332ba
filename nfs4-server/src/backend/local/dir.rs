//! READDIR and READLINK.

use std::os::fd::OwnedFd;

use bytes::Bytes;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, SeekFrom, Statx};
use rustix::io::Errno;

use super::attr::{WANTED, meta};
use super::cache::Object;
use super::change::ctime;
use super::handle::{Wait, device, is_dir};
use super::listing::ENTRY;
use super::{Inner, sys};
use crate::backend::{Entry, Fault, FileKind, Page, Room, Who};

/// Cookies 0, 1 and 2 are reserved (§18.23.3); the kernel's offsets begin at 0.
const COOKIE: u64 = 3;
/// What one getdents may return.
const BUFFER: usize = 32 * 1024;
/// Entries that a page gets room for at first.
const EXPECTED: usize = 64;

impl Inner {
    /// READDIR. Nothing is locked; each entry is looked at by itself.
    pub(super) fn list(&self, who: &Who, dir: &Object, cookie: u64, room: Room) -> Result<Page, Fault> {
        is_dir(dir)?;
        if matches!(cookie, 1 | 2) {
            return Err(Fault::BadCookie);
        }
        let at = ctime(&self.alive(dir)?);
        let _as = self.creds.user(who)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(sys::proc_path(dir.fd()), flags, Mode::empty())
            .map_err(|errno| self.fault(errno))?;
        if cookie != 0 {
            let offset = cookie - COOKIE;
            if i64::try_from(offset).is_err() || rustix::fs::seek(&fd, SeekFrom::Start(offset)).is_err() {
                return Err(Fault::BadCookie);
            }
        }
        let mut page = Page { entries: Vec::with_capacity(room.entries.min(EXPECTED)), eof: false };
        let mut bytes = 0;
        let mut buffer = Vec::with_capacity(BUFFER);
        let mut names = RawDir::new(&fd, buffer.spare_capacity_mut());
        while let Some(next) = names.next() {
            let next = next.map_err(|errno| match errno {
                Errno::NOENT => Fault::Stale,
                other => self.fault(other),
            })?;
            let name = next.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            bytes += name.len() + ENTRY;
            if !page.entries.is_empty() && (page.entries.len() >= room.entries || bytes > room.bytes) {
                return Ok(page);
            }
            // A d_off is below 2⁶³.
            let cookie = next.next_entry_cookie().saturating_add(COOKIE);
            page.entries.extend(self.entry(&fd, dir, name, cookie, room)?);
        }
        page.eof = true;
        if cookie == 0 {
            self.keep_names(dir, at, &page);
        }
        Ok(page)
    }

    /// One entry; `None` if it has just been removed.
    fn entry(
        &self,
        fd: &OwnedFd,
        dir: &Object,
        name: &[u8],
        cookie: u64,
        room: Room,
    ) -> Result<Option<Entry>, Fault> {
        let mut entry = Entry { name: Bytes::copy_from_slice(name), cookie, meta: None, node: None };
        // With a coarse clock only the object knows its change number.
        let nodes = room.nodes || (room.meta && !self.clock.fine);
        if nodes {
            let object = match Self::child(dir.fd(), name, Wait::Yes) {
                Ok(child) => self.adopt(child, Some((dir, name))),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => Err(self.missed(dir, name, errno)),
            };
            match object {
                Ok(object) => {
                    if room.meta {
                        let meta = self.getattr(&object);
                        if meta == Err(Fault::Stale) {
                            return Ok(None);
                        }
                        entry.meta = Some(meta);
                    }
                    entry.node = room.nodes.then(|| Self::node(&object));
                }
                Err(Fault::Delay) => return Err(Fault::Delay),
                Err(fault) => entry.meta = room.meta.then_some(Err(fault)),
            }
        } else if room.meta {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
            entry.meta = match rustix::fs::statx(fd, name, flags, WANTED) {
                Ok(stat) if self.elsewhere(&stat) => Some(Err(Fault::Access)),
                Ok(stat) => Some(Ok(self.meta_by_name(&stat))),
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => Some(Err(self.fault(errno))),
            };
        }
        Ok(Some(entry))
    }

    /// Without the object: only where ctime is the change number.
    fn meta_by_name(&self, stat: &Statx) -> crate::backend::Meta {
        let mut meta = meta(stat, 0);
        meta.change =
            self.clock.of_ctime(stat).max(self.cache.floor.load(std::sync::atomic::Ordering::Relaxed));
        meta
    }

    /// Whether a name leads to another file system.
    pub(super) fn elsewhere(&self, stat: &Statx) -> bool {
        stat.stx_mnt_id != self.mount_id
            || (super::attr::kind(stat) == FileKind::Dir && device(stat) != self.device)
    }

    /// READLINK.
    pub(super) fn readlink(&self, object: &Object) -> Result<Bytes, Fault> {
        if object.kind != FileKind::Symlink {
            return Err(if object.kind == FileKind::Dir { Fault::IsDir } else { Fault::Inval });
        }
        self.alive(object)?;
        let target =
            rustix::fs::readlinkat(object.fd(), c"", Vec::new()).map_err(|errno| self.fault(errno))?;
        Ok(Bytes::from(target.into_bytes()))
    }
}
