//! SETATTR, and the attributes of a new object.

use super::super::{Applied, Fault, FileKind, Node, Opened, SetDone, SetMeta, SetTime, Time, Who};
use super::data;
use super::inode::Body;
use super::perm::{GROUP_EXECUTE, SETGID, WRITE};
use super::{Mem, OpenGuard};

/// A new object's attributes.
pub(super) struct Initial {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) atime: Time,
    pub(super) mtime: Time,
    pub(super) size: u64,
}

/// All that `set` asks for.
pub(super) fn all_of(set: &SetMeta) -> Applied {
    Applied {
        size: set.size.is_some(),
        mode: set.mode.is_some(),
        uid: set.uid.is_some(),
        gid: set.gid.is_some(),
        atime: set.atime.is_some(),
        mtime: set.mtime.is_some(),
    }
}

fn check_time(time: Option<SetTime>) -> Result<(), Fault> {
    match time {
        Some(SetTime::To(time)) if time.nseconds >= 1_000_000_000 => Err(Fault::Inval),
        Some(SetTime::To(_) | SetTime::Now) | None => Ok(()),
    }
}

fn resolve_time(time: SetTime, now: Time) -> Time {
    match time {
        SetTime::Now => now,
        SetTime::To(time) => time,
    }
}

fn check_size(kind: FileKind, size: u64) -> Result<(), Fault> {
    match kind {
        FileKind::File if size > data::MAX_SIZE => Err(Fault::FBig),
        FileKind::File => Ok(()),
        FileKind::Dir => Err(Fault::IsDir),
        FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            Err(Fault::Inval)
        }
    }
}

/// What a new object in `dir` gets. A setgid directory gives its group, and to directories the bit itself.
/// Without a mode nothing is given to others: nobody's umask is known here.
pub(super) fn initial(
    who: &Who,
    dir: &Body,
    kind: FileKind,
    set: &SetMeta,
    now: Time,
) -> Result<Initial, Fault> {
    check_time(set.atime)?;
    check_time(set.mtime)?;
    if let Some(size) = set.size {
        check_size(kind, size)?;
    }
    let inherits = dir.mode & SETGID != 0;
    let default_gid = if inherits { dir.gid } else { who.gid };
    let (uid, gid) = (set.uid.unwrap_or(who.uid), set.gid.unwrap_or(default_gid));
    if !who.privileged() && (uid != who.uid || (gid != default_gid && !who.in_group(gid))) {
        return Err(Fault::Perm);
    }
    let default_mode = match kind {
        FileKind::Symlink => 0o777,
        FileKind::Dir => 0o700,
        FileKind::File | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => 0o600,
    };
    let mut mode =
        set.mode.map_or(default_mode, |(value, mask)| (default_mode & !mask) | (value & mask)) & 0o7777;
    if kind == FileKind::Dir {
        if inherits {
            mode |= SETGID;
        }
    } else if mode & GROUP_EXECUTE != 0 && !who.privileged() && !who.in_group(gid) {
        mode &= !SETGID;
    }
    Ok(Initial {
        mode,
        uid,
        gid,
        atime: set.atime.map_or(now, |time| resolve_time(time, now)),
        mtime: set.mtime.map_or(now, |time| resolve_time(time, now)),
        size: set.size.unwrap_or(0),
    })
}

/// Whether `who` may do all of `set` on an object.
fn check(who: &Who, body: &Body, open_for_write: bool, set: &SetMeta) -> Result<(), Fault> {
    check_time(set.atime)?;
    check_time(set.mtime)?;
    if let Some(size) = set.size {
        check_size(body.kind, size)?;
        if !open_for_write {
            body.check(who, WRITE)?;
        }
    }
    if who.privileged() {
        return Ok(());
    }
    let owner = body.owned_by(who);
    if !owner && set.mode.is_some() {
        return Err(Fault::Perm);
    }
    if set.uid.is_some_and(|uid| !owner || uid != body.uid) {
        return Err(Fault::Perm);
    }
    if set.gid.is_some_and(|gid| !owner || (gid != body.gid && !who.in_group(gid))) {
        return Err(Fault::Perm);
    }
    for time in [set.atime, set.mtime].into_iter().flatten() {
        match time {
            SetTime::To(_) if !owner => return Err(Fault::Perm),
            SetTime::Now if !owner && !open_for_write => body.check(who, WRITE)?,
            SetTime::To(_) | SetTime::Now => {}
        }
    }
    Ok(())
}

impl Mem {
    /// All or nothing.
    pub(super) fn set(
        &self,
        who: &Who,
        node: &Node,
        opened: Option<&Opened>,
        set: &SetMeta,
    ) -> Result<SetDone, Fault> {
        let inode = self.inode(node)?;
        let open_for_write = opened.is_some_and(|file| {
            file.access.write
                && file.guard::<OpenGuard>().is_some_and(|guard| guard.inode.oid() == inode.oid())
        });
        let _garbage;
        let mut body = inode.write()?;
        check(who, &body, open_for_write, set)?;
        let applied = all_of(set);
        if applied == Applied::default() {
            return Ok(SetDone { applied, fault: None });
        }
        let now = self.shared.now();
        if let Some(size) = set.size {
            _garbage = body.data_mut()?.truncate(&self.shared.space, size);
            body.mtime = now;
            if !who.privileged() {
                body.drop_privilege_bits();
            }
        }
        if set.uid.is_some() || set.gid.is_some() {
            body.uid = set.uid.unwrap_or(body.uid);
            body.gid = set.gid.unwrap_or(body.gid);
            body.drop_privilege_bits();
        }
        if let Some((value, mask)) = set.mode {
            body.mode = (body.mode & !mask | value & mask) & 0o7777;
            if !who.privileged() && !who.in_group(body.gid) {
                body.mode &= !SETGID;
            }
        }
        if let Some(time) = set.atime {
            body.atime = resolve_time(time, now);
        }
        if let Some(time) = set.mtime {
            body.mtime = resolve_time(time, now);
        }
        // The creator has its reply, so its create is not sent again.
        body.verifier = None;
        // Also where all values are as before: a cache must not keep what was set over.
        body.touch_attributes(now);
        Ok(SetDone { applied, fault: None })
    }
}
