//! LINK, REMOVE and RENAME.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;

use super::attr::stat;
use super::cache::Object;
use super::create::Synced;
use super::handle::{Wait, is_component, is_dir};
use super::{Inner, sys};
use crate::backend::{Fault, FileKind, Linked, Moving, Oid, Removed, Renamed, Who};

/// Blocks of 512 bytes of a file that takes long to free.
pub(super) const LARGE: u64 = 2048;

impl Inner {
    /// LINK.
    pub(super) fn link(
        &self,
        who: &Who,
        node: &Arc<Object>,
        dir: &Arc<Object>,
        name: &[u8],
    ) -> Result<Synced<Linked>, Fault> {
        self.writable()?;
        is_dir(dir)?;
        is_component(name)?;
        if node.kind == FileKind::Dir {
            return Err(Fault::IsDir);
        }
        let _turn = dir.turn();
        self.alive(node)?;
        let before = self.before(dir)?;
        let made = {
            let _as = self.creds.user(who)?;
            // By way of /proc: a link to the descriptor itself needs CAP_DAC_READ_SEARCH.
            rustix::fs::linkat(CWD, sys::proc_path(node.fd()), dir.fd(), name, AtFlags::SYMLINK_FOLLOW)
        };
        made.map_err(|errno| match errno {
            // One of the two is gone.
            Errno::NOENT => self.alive(dir).and_then(|_| self.alive(node)).err().unwrap_or(Fault::Stale),
            other => self.fault(other),
        })?;
        self.touch(node);
        if let Some(hints) = &self.hints {
            hints.seen(&node.key, &dir.key, name);
        }
        let linked = Linked { dir: self.after(dir, before)?, cookie: None };
        Ok((linked, vec![Arc::clone(node), Arc::clone(dir)]))
    }

    /// REMOVE.
    pub(super) fn remove(
        &self,
        who: &Who,
        dir: &Arc<Object>,
        name: &[u8],
        only: Option<Oid>,
    ) -> Result<Synced<Removed>, Fault> {
        self.writable()?;
        is_dir(dir)?;
        is_component(name)?;
        let _turn = dir.turn();
        let before = self.before(dir)?;
        let object = {
            let _as = self.creds.user(who)?;
            let object = Self::child(dir.fd(), name, Wait::Yes)
                .map_err(|errno| self.missed(dir, name, errno))
                .and_then(|fd| self.adopt(fd, Some((dir, name))))?;
            if only.is_some_and(|only| object.oid != only) {
                return Err(Fault::Delay);
            }
            let flags = if object.kind == FileKind::Dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            rustix::fs::unlinkat(dir.fd(), name, flags).map_err(|errno| match errno {
                // Some file systems' spelling of a directory that is not empty.
                Errno::EXIST => Fault::NotEmpty,
                other => self.missed(dir, name, other),
            })?;
            object
        };
        let info = self.after(dir, before)?;
        let last = self.lost_name(&object);
        let removed = Removed { dir: info, node: Self::node(&object), last };
        Ok((removed, vec![Arc::clone(dir)]))
    }

    /// An object lost a name; says whether it was the last.
    fn lost_name(&self, object: &Object) -> bool {
        self.touch(object);
        let stat = stat(object.fd());
        let last = stat.is_ok_and(|stat| stat.stx_nlink == 0);
        if last {
            if stat.is_ok_and(|stat| stat.stx_blocks > LARGE) {
                object.large.store(true, Ordering::Relaxed);
            }
            if let Some(hints) = &self.hints {
                hints.forget(&object.key);
            }
            // An open that comes between sees the missing name by itself.
            if object.data().opens == 0 {
                object.gone.store(true, Ordering::Relaxed);
                self.cache.forget(object);
            }
        }
        last
    }

    /// RENAME (§18.26.3).
    pub(super) fn rename(
        &self,
        who: &Who,
        (from, old): (&Arc<Object>, &[u8]),
        (to, new): (&Arc<Object>, &[u8]),
        only: Option<Moving>,
    ) -> Result<Synced<Renamed>, Fault> {
        self.writable()?;
        is_dir(from)?;
        is_dir(to)?;
        is_component(old)?;
        is_component(new)?;
        // Two turns always in the order of identities.
        let (first, second) = if from.oid <= to.oid { (from, to) } else { (to, from) };
        let _first = first.turn();
        let _second = (first.oid != second.oid).then(|| second.turn());
        let before = (self.before(from)?, self.before(to)?);
        let _as = self.creds.user(who)?;
        let source = Self::child(from.fd(), old, Wait::Yes)
            .map_err(|errno| self.missed(from, old, errno))
            .and_then(|fd| self.adopt(fd, Some((from, old))))?;
        let victim = match Self::child(to.fd(), new, Wait::Yes) {
            Ok(fd) => Some(self.adopt(fd, Some((to, new)))?),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(self.missed(to, new, errno)),
        };
        let moving = Moving { source: source.oid, victim: victim.as_ref().map(|victim| victim.oid) };
        if only.is_some_and(|only| only != moving) {
            return Err(Fault::Delay);
        }
        if let Some(victim) = &victim {
            if victim.key == source.key {
                let renamed = Renamed {
                    from: self.unchanged(before.0),
                    to: self.unchanged(before.1),
                    node: Self::node(&source),
                    victim: None,
                    same: true,
                };
                return Ok((renamed, Vec::new()));
            }
            if (victim.kind == FileKind::Dir) != (source.kind == FileKind::Dir) {
                return Err(Fault::Exist);
            }
        }
        rustix::fs::renameat(from.fd(), old, to.fd(), new).map_err(|errno| match errno {
            Errno::NOTEMPTY | Errno::EXIST | Errno::ISDIR | Errno::NOTDIR => Fault::Exist,
            Errno::NOENT => self.alive(to).err().unwrap_or_else(|| self.missed(from, old, errno)),
            other => self.fault(other),
        })?;
        self.touch(&source);
        if let Some(hints) = &self.hints {
            hints.seen(&source.key, &to.key, new);
        }
        if let Some(victim) = &victim {
            self.lost_name(victim);
        }
        let (from_info, to_info) = if from.oid == to.oid {
            let info = self.after(from, before.0)?;
            (info, info)
        } else {
            (self.after(from, before.0)?, self.after(to, before.1)?)
        };
        let renamed = Renamed {
            from: from_info,
            to: to_info,
            node: Self::node(&source),
            victim: victim.as_ref().map(Self::node),
            same: false,
        };
        let mut sync = vec![Arc::clone(to)];
        if from.oid != to.oid {
            sync.push(Arc::clone(from));
        }
        Ok((renamed, sync))
    }
}
