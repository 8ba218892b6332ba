//! SETATTR, and the attributes of a new object.

use nfs4_proto::AceMask;

use super::super::acl::{from_mode, inherited, mode_of, with_mode};
use super::super::{
    Ace, Applied, Fault, FileKind, Marks, Node, Opened, SetDone, SetMeta, SetTime, Time, Who,
};
use super::data;
use super::inode::Body;
use super::perm::{GROUP_EXECUTE, SETGID, WRITE};
use super::space::acl_cost;
use super::{Mem, OpenGuard};

/// A list.
type Acl = Box<[Ace]>;
/// Values of a mode, and which of its bits they are.
type Bits = (u32, u32);

/// A new object's attributes.
pub(super) struct Initial {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) atime: Time,
    pub(super) mtime: Time,
    pub(super) size: u64,
    pub(super) btime: Time,
    pub(super) marks: Marks,
    pub(super) acl: Option<Acl>,
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
        btime: set.btime.is_some(),
        marks: !set.marks.1.is_empty(),
        acl: set.acl.is_some(),
    }
}

fn check_times(set: &SetMeta) -> Result<(), Fault> {
    check_time(set.atime)?;
    check_time(set.mtime)?;
    check_time(set.btime.map(SetTime::To))
}

fn check_time(time: Option<SetTime>) -> Result<(), Fault> {
    match time {
        Some(SetTime::To(time)) if !time.is_valid() => Err(Fault::Inval),
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
    exclusive: bool,
    set: &SetMeta,
    now: Time,
) -> Result<Initial, Fault> {
    check_times(set)?;
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
    let (acl, given) = initial_acl(dir, kind, exclusive, set);
    let mut mode =
        given.map_or(default_mode, |(value, mask)| (default_mode & !mask) | (value & mask)) & 0o7777;
    if kind == FileKind::Dir {
        if inherits {
            mode |= SETGID;
        }
    } else if mode & GROUP_EXECUTE != 0 && !who.privileged() && !who.in_group(gid) {
        mode &= !SETGID;
    }
    // With a mode the list follows it; else, and where the list was given, the mode follows the list (§6.4.3).
    let acl = match acl {
        Some(acl) if set.acl.is_none() && given.is_some() => with_mode(&acl, mode).map(Vec::into_boxed_slice),
        Some(acl) => {
            mode = mode & !0o777 | mode_of(&acl);
            Some(acl)
        }
        None => None,
    };
    Ok(Initial {
        mode,
        uid,
        gid,
        atime: set.atime.map_or(now, |time| resolve_time(time, now)),
        mtime: set.mtime.map_or(now, |time| resolve_time(time, now)),
        size: set.size.unwrap_or(0),
        btime: set.btime.unwrap_or(now),
        marks: set.marks.0 & set.marks.1,
        acl,
    })
}

/// The list of a new object before its mode is set, and that mode: the list that is given, or what comes down from the
/// directory, to which the umask is not applied (RFC 8275 §5). An exclusive create that says nothing of permission
/// denies it (§6.4.3).
fn initial_acl(dir: &Body, kind: FileKind, exclusive: bool, set: &SetMeta) -> (Option<Acl>, Option<Bits>) {
    if let Some(acl) = &set.acl {
        return (Some(acl.clone()), set.mode);
    }
    let Some(parent) = &dir.acl else { return (None, set.mode) };
    if kind == FileKind::Symlink || (exclusive && set.mode.is_none()) {
        return (None, set.mode);
    }
    let acl = inherited(parent, kind == FileKind::Dir);
    if acl.is_empty() {
        return (None, set.mode);
    }
    (Some(acl.into_boxed_slice()), set.unmasked.map(|mode| (mode, 0o7777)).or(set.mode))
}

/// Whether `who` may do all of `set` on an object.
fn check(who: &Who, body: &Body, open_for_write: bool, set: &SetMeta) -> Result<(), Fault> {
    check_times(set)?;
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
    if !owner && (set.mode.is_some() || set.acl.is_some()) && !body.granted(who, AceMask::WRITE_ACL) {
        return Err(Fault::Perm);
    }
    // WRITE_OWNER is to take and not to give: chown_restricted (§5.8.2.6).
    let takes = (set.uid.is_some() || set.gid.is_some()) && body.granted(who, AceMask::WRITE_OWNER);
    if set.uid.is_some_and(|uid| !(owner && uid == body.uid || takes && uid == who.uid)) {
        return Err(Fault::Perm);
    }
    if set.gid.is_some_and(|gid| !(owner && gid == body.gid || (owner || takes) && who.in_group(gid))) {
        return Err(Fault::Perm);
    }
    let attributes = |body: &Body| owner || body.granted(who, AceMask::WRITE_ATTRIBUTES);
    if (set.btime.is_some() || !set.marks.1.is_empty()) && !attributes(body) {
        return Err(Fault::Perm);
    }
    for time in [set.atime, set.mtime].into_iter().flatten() {
        match time {
            SetTime::To(_) if !attributes(body) => return Err(Fault::Perm),
            SetTime::Now if !open_for_write && !attributes(body) => body.check(who, WRITE)?,
            SetTime::To(_) | SetTime::Now => {}
        }
    }
    Ok(())
}

impl Mem {
    pub(super) fn acl_of(&self, who: &Who, node: &Node) -> Result<Vec<Ace>, Fault> {
        let body = self.inode(node)?.read()?;
        body.check_read_acl(who)?;
        Ok(body.acl.as_ref().map_or_else(|| from_mode(body.mode), |acl| acl.to_vec()))
    }

    /// The list that `set` leaves, its room taken; `None` where it stays. A mode without a list changes the list where
    /// any of the nine low bits is set (§6.4.1.1).
    #[allow(clippy::option_option, reason = "there is a change, and what it leaves may be no list")]
    fn next_acl(&self, body: &Body, set: &SetMeta, mode: Option<u32>) -> Result<Option<Option<Acl>>, Fault> {
        let new = match (&set.acl, &body.acl, mode) {
            (Some(acl), ..) => Some(acl.clone()),
            (None, Some(acl), Some(mode)) if set.mode.is_some_and(|(_, mask)| mask & 0o777 != 0) => {
                with_mode(acl, mode).map(Vec::into_boxed_slice)
            }
            (None, ..) => return Ok(None),
        };
        let (before, after) = (body.acl.as_deref().map_or(0, acl_cost), new.as_deref().map_or(0, acl_cost));
        if after > before {
            self.shared.space.charge(after - before)?;
        } else {
            self.shared.space.release(before - after);
        }
        Ok(Some(new))
    }

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
        let mode = set.mode.map(|(value, mask)| (body.mode & !mask | value & mask) & 0o7777);
        if let Some(acl) = self.next_acl(&body, set, mode)? {
            body.acl = acl;
        }
        let now = self.shared.now();
        if let Some(size) = set.size {
            _garbage = body.data_mut()?.truncate(&self.shared.space, size);
            body.mtime = now;
            body.marks.remove(Marks::ARCHIVE);
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
        if let Some(acl) = &set.acl {
            body.mode = body.mode & !0o777 | mode_of(acl);
        }
        let (marks, mask) = set.marks;
        body.marks = body.marks.difference(mask) | marks & mask;
        body.btime = set.btime.unwrap_or(body.btime);
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
