//! Attributes: reading them, access rights, setting them.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, Gid, Mode, Statx, StatxFlags, StatxTimestamp, Timespec, Timestamps, Uid};
use rustix::fs::{UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;

use super::cache::Object;
use super::change::ctime;
use super::creds::As;
use super::handle::kind_of;
use super::{Inner, sys};
use crate::backend::{Applied, Fault, FileKind, Marks, Meta, Rights, SetDone, SetMeta, SetTime, Time, Who};

pub(super) const R: u32 = 4;
pub(super) const W: u32 = 2;
pub(super) const X: u32 = 1;

/// What we ask statx for.
pub(super) const WANTED: StatxFlags =
    StatxFlags::BASIC_STATS.union(StatxFlags::BTIME).union(StatxFlags::MNT_ID);

/// The state of a descriptor's object. The inode is in memory, so this does not wait.
pub(super) fn stat(fd: BorrowedFd<'_>) -> Result<Statx, Errno> {
    rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, WANTED)
}

/// The kind of an object.
pub(super) fn kind(stat: &Statx) -> FileKind {
    kind_of(stat.stx_mode)
}

fn time(stamp: StatxTimestamp) -> Time {
    Time { seconds: stamp.tv_sec, nseconds: stamp.tv_nsec }
}

/// Attributes of the kernel's state, with the change number told for it.
pub(super) fn meta(stat: &Statx, change: u64) -> Meta {
    let btime = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    Meta {
        kind: kind(stat),
        change,
        size: stat.stx_size,
        fileid: stat.stx_ino,
        mode: u32::from(stat.stx_mode) & 0o7777,
        nlink: stat.stx_nlink,
        uid: stat.stx_uid,
        gid: stat.stx_gid,
        rdev: (stat.stx_rdev_major, stat.stx_rdev_minor),
        space_used: stat.stx_blocks.saturating_mul(512),
        atime: time(stat.stx_atime),
        ctime: time(stat.stx_ctime),
        mtime: time(stat.stx_mtime),
        btime: btime.then(|| time(stat.stx_btime)),
        marks: Marks::empty(),
    }
}

/// The mode that `set` makes of `old`.
pub(super) fn masked(old: u32, (values, mask): (u32, u32)) -> u32 {
    ((old & !mask) | (values & mask)) & 0o7777
}

impl Inner {
    /// GETATTR.
    pub(super) fn getattr(&self, object: &Object) -> Result<Meta, Fault> {
        let stat = self.alive(object)?;
        Ok(meta(&stat, self.change(object, &stat)))
    }

    /// What the mode bits give to the caller, where they alone decide; `None`: the kernel must be asked. Taking
    /// the caller's identity for one question costs some ten system calls.
    fn by_mode(&self, who: &Who, object: &Object, stat: &Statx) -> Option<u32> {
        if !self.modes_decide || !self.creds.switches() {
            return None;
        }
        let mode = u32::from(stat.stx_mode);
        if who.uid == 0 {
            let runs = kind(stat) == FileKind::Dir || mode & 0o111 != 0;
            return Some(if runs { R | W | X } else { R | W });
        }
        // An ACL's entry for the owner is the mode's; all others may be anything.
        if who.uid == stat.stx_uid {
            return Some((mode >> 6) & 7);
        }
        if self.has_acl(object, stat) {
            return None;
        }
        Some(if who.in_group(stat.stx_gid) { (mode >> 3) & 7 } else { mode & 7 })
    }

    /// Whether the object has an ACL. That it has none is remembered as long as its ctime stays the same: setting
    /// one moves it.
    fn has_acl(&self, object: &Object, stat: &Statx) -> bool {
        let now = ctime(stat);
        if self.clock.fine && object.plain_at.load(Ordering::Relaxed) == now {
            return false;
        }
        let path = sys::proc_path(object.fd());
        let plain = matches!(
            rustix::fs::getxattr_query(&path, c"system.posix_acl_access"),
            Err(Errno::NODATA | Errno::OPNOTSUPP)
        );
        if plain {
            object.plain_at.store(now, Ordering::Relaxed);
        }
        !plain
    }

    /// Which of `want` (R, W, X) the caller has.
    pub(super) fn permits(&self, who: &Who, object: &Object, stat: &Statx, want: u32) -> Result<u32, Fault> {
        let stored = matches!(kind(stat), FileKind::File | FileKind::Dir | FileKind::Symlink);
        let want = if self.options.read_only && stored { want & !W } else { want };
        if want == 0 {
            return Ok(0);
        }
        if let Some(granted) = self.by_mode(who, object, stat) {
            return Ok(want & granted);
        }
        let _as = self.creds.user(who)?;
        if sys::access(object.fd(), want).is_ok() {
            return Ok(want);
        }
        if want.is_power_of_two() {
            return Ok(0);
        }
        Ok([R, W, X]
            .into_iter()
            .filter(|bit| want & bit != 0 && sys::access(object.fd(), *bit).is_ok())
            .fold(0, |granted, bit| granted | bit))
    }

    /// The identity for one search in `dir`: the server's own where the mode bits say yes, the caller's where
    /// they don't decide.
    pub(super) fn searching(&self, who: &Who, dir: &Object) -> Result<As<'_>, Fault> {
        if !self.creds.switches() || who.uid == 0 {
            return self.creds.server();
        }
        let stat = stat(dir.fd()).map_err(|errno| self.fault(errno))?;
        match self.by_mode(who, dir, &stat) {
            None => self.creds.user(who),
            Some(granted) if granted & X != 0 => self.creds.server(),
            Some(_) => Err(Fault::Access),
        }
    }

    /// ACCESS.
    pub(super) fn access(&self, who: &Who, object: &Object, asked: Rights) -> Result<Rights, Fault> {
        let stat = self.alive(object)?;
        let rights = rights_of(object.kind);
        let want = rights
            .iter()
            .filter(|(right, _)| asked.contains(*right))
            .fold(0, |want, (_, needs)| want | needs);
        let granted = self.permits(who, object, &stat, want)?;
        Ok(rights
            .iter()
            .filter(|(right, needs)| asked.contains(*right) && granted & needs == *needs)
            .fold(Rights::empty(), |all, (right, _)| all | *right))
    }

    /// SETATTR. `opened`: the caller has it open for writing.
    pub(super) fn setattr(
        &self,
        who: &Who,
        object: &Arc<Object>,
        opened: bool,
        set: &SetMeta,
    ) -> Result<SetDone, Fault> {
        self.writable()?;
        let _turn = object.turn();
        let before = self.before(object)?;
        let mut applied = Applied::default();
        let fault = self.apply(who, object, opened, set, &mut applied).err();
        if applied != Applied::default() {
            self.after(object, before)?;
        }
        Ok(SetDone { applied, fault })
    }

    /// The steps, in an order in which none undoes another: a truncation and a new owner clear setuid bits, and
    /// a truncation moves mtime.
    pub(super) fn apply(
        &self,
        who: &Who,
        object: &Object,
        opened: bool,
        set: &SetMeta,
        applied: &mut Applied,
    ) -> Result<(), Fault> {
        let _as = self.creds.user(who)?;
        if let Some(size) = set.size {
            self.set_size(object, opened, size)?;
            applied.size = true;
        }
        if set.uid.is_some() || set.gid.is_some() {
            set_owner(object, set.uid, set.gid).map_err(|errno| self.fault(errno))?;
            applied.uid = set.uid.is_some();
            applied.gid = set.gid.is_some();
        }
        if let Some(mode) = set.mode {
            // The kernel has no mode of a symbolic link to set: every one is 0777. To refuse it would fail whoever
            // sets modes of all objects alike.
            if object.kind == FileKind::Symlink {
                applied.mode = true;
                return self.apply_times(who, object, set, applied);
            }
            let old = stat(object.fd()).map_err(|errno| self.fault(errno))?.stx_mode;
            let new = Mode::from_raw_mode(masked(old.into(), mode));
            rustix::fs::chmod(sys::proc_path(object.fd()), new).map_err(|errno| self.fault(errno))?;
            applied.mode = true;
        }
        self.apply_times(who, object, set, applied)
    }

    fn apply_times(
        &self,
        who: &Who,
        object: &Object,
        set: &SetMeta,
        applied: &mut Applied,
    ) -> Result<(), Fault> {
        if set.atime.is_some() || set.mtime.is_some() {
            self.set_times(who, object, set.atime, set.mtime)?;
            applied.atime = set.atime.is_some();
            applied.mtime = set.mtime.is_some();
        }
        Ok(())
    }

    fn set_size(&self, object: &Object, opened: bool, size: u64) -> Result<(), Fault> {
        match object.kind {
            FileKind::File => {}
            FileKind::Dir => return Err(Fault::IsDir),
            FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
                return Err(Fault::Inval);
            }
        }
        if i64::try_from(size).is_err() {
            return Err(Fault::FBig);
        }
        let writer = if opened { object.data().writer() } else { None };
        match writer {
            Some(fd) => rustix::fs::ftruncate(fd, size),
            None => sys::truncate(&sys::proc_path(object.fd()), size),
        }
        .map_err(|errno| self.fault(errno))
    }

    fn set_times(
        &self,
        who: &Who,
        object: &Object,
        atime: Option<SetTime>,
        mtime: Option<SetTime>,
    ) -> Result<(), Fault> {
        let times = Timestamps { last_access: spec(atime), last_modification: spec(mtime) };
        let set = || rustix::fs::utimensat(object.fd(), c"", &times, AtFlags::EMPTY_PATH);
        match set() {
            // The kernel wants the owner for one of the two times; for the server's time NFS asks for write
            // permission only (§5.8.2.38).
            Err(Errno::PERM | Errno::ACCESS)
                if !matches!((atime, mtime), (Some(SetTime::To(_)), _) | (_, Some(SetTime::To(_)))) =>
            {
                let stat = stat(object.fd()).map_err(|errno| self.fault(errno))?;
                if self.permits(who, object, &stat, W)? != W {
                    return Err(Fault::Access);
                }
                let _server = self.creds.server()?;
                set()
            }
            other => other,
        }
        .map_err(|errno| self.fault(errno))
    }
}

fn spec(time: Option<SetTime>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(SetTime::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(SetTime::To(time)) => Timespec { tv_sec: time.seconds, tv_nsec: time.nseconds.into() },
    }
}

/// Sets owner and group of the object itself.
pub(super) fn set_owner(object: &Object, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
    // -1 would mean "leave it".
    if uid == Some(u32::MAX) || gid == Some(u32::MAX) {
        return Err(Errno::INVAL);
    }
    rustix::fs::chownat(
        object.fd(),
        c"",
        uid.map(Uid::from_raw),
        gid.map(Gid::from_raw),
        AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW,
    )
}

/// What each right needs (§18.1.3; RFC 8276 §8.5). DELETE is that of a directory's entries; for the object itself
/// its directory decides, which is not asked here.
fn rights_of(kind: FileKind) -> &'static [(Rights, u32)] {
    match kind {
        FileKind::Dir => &[
            (Rights::READ, R),
            (Rights::LOOKUP, X),
            (Rights::MODIFY, W | X),
            (Rights::EXTEND, W | X),
            (Rights::DELETE, W | X),
            (Rights::XAREAD, R),
            (Rights::XAWRITE, W),
            (Rights::XALIST, R),
        ],
        FileKind::File => &[
            (Rights::READ, R),
            (Rights::MODIFY, W),
            (Rights::EXTEND, W),
            (Rights::EXECUTE, X),
            (Rights::XAREAD, R),
            (Rights::XAWRITE, W),
            (Rights::XALIST, R),
        ],
        FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            &[(Rights::READ, R), (Rights::MODIFY, W), (Rights::EXTEND, W)]
        }
    }
}
