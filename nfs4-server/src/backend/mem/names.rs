//! Names: made, added, taken away.

use std::sync::Arc;

use bytes::Bytes;

use super::super::{
    Applied, ChangeInfo, Create, CreateMode, Fault, FileKind, Linked, Made, Node, Oid, OpenAccess, Removed,
    SetMeta, Time, Who,
};
use super::attrs::{all_of, initial};
use super::data::Data;
use super::dir::{Dir, entry_cost};
use super::inode::{Body, Content, Inode, Locked};
use super::perm::SEARCH;
use super::xattr::Xattrs;
use super::{ATTEMPTS, LINK_MAX, Mem, TARGET_MAX, check_name};

fn kind_of(what: &Create) -> FileKind {
    match what {
        Create::File { .. } => FileKind::File,
        Create::Dir => FileKind::Dir,
        Create::Symlink(_) => FileKind::Symlink,
        Create::Block(..) => FileKind::Block,
        Create::Char(..) => FileKind::Char,
        Create::Fifo => FileKind::Fifo,
        Create::Socket => FileKind::Socket,
    }
}

impl Mem {
    pub(super) fn make(
        &self,
        who: &Who,
        dir: &Node,
        name: &[u8],
        what: &Create,
        set: &SetMeta,
    ) -> Result<Made, Fault> {
        check_name(name)?;
        let parent = self.inode_arc(dir)?;
        for _ in 0..ATTEMPTS {
            let (existing, info) = {
                let mut body = parent.write()?;
                let found = body.dir()?.get(name).cloned();
                body.check(who, SEARCH)?;
                match found {
                    None => return self.make_new(who, &parent, &mut body, name, what, set),
                    Some(existing) => (existing, body.unchanged()),
                }
            };
            let &Create::File { mode, access } = what else { return Err(Fault::Exist) };
            match self.make_again(who, &existing, info, mode, access, set) {
                // Its last name went between the two locks: look again.
                Err(Fault::Stale) => {}
                done => return done,
            }
        }
        Err(Fault::Delay)
    }

    /// The name is taken.
    fn make_again(
        &self,
        who: &Who,
        existing: &Arc<Inode>,
        dir: ChangeInfo,
        mode: CreateMode,
        access: OpenAccess,
        set: &SetMeta,
    ) -> Result<Made, Fault> {
        let mut body = existing.write()?;
        let (opened, applied) = match mode {
            CreateMode::Unchecked => (None, Applied::default()),
            // The same request once more: only its own maker is let in without a look at the mode.
            CreateMode::Exclusive(verifier) if body.verifier == Some(verifier) && body.owned_by(who) => {
                (Some(self.shared.opened(who, existing, &mut body, access)), all_of(set))
            }
            CreateMode::Guarded | CreateMode::Exclusive(_) => return Err(Fault::Exist),
        };
        let meta = existing.meta(&body);
        Ok(Made { node: existing.node(), meta, dir, existed: true, opened, applied, cookie: None })
    }

    fn make_new(
        &self,
        who: &Who,
        parent: &Arc<Inode>,
        dir: &mut Body,
        name: &[u8],
        what: &Create,
        set: &SetMeta,
    ) -> Result<Made, Fault> {
        let kind = kind_of(what);
        dir.check_add(who, kind == FileKind::Dir)?;
        let now = self.shared.now();
        let exclusive = matches!(what, Create::File { mode: CreateMode::Exclusive(_), .. });
        let start = initial(who, dir, kind, exclusive, set, now)?;
        let (content, rdev, verifier, open) = match what {
            Create::File { mode, access } => {
                let mut data = Data::default();
                // From nothing to a size: a hole, no space.
                data.truncate(&self.shared.space, start.size);
                let verifier = match mode {
                    CreateMode::Exclusive(verifier) => Some(*verifier),
                    CreateMode::Unchecked | CreateMode::Guarded => None,
                };
                (Content::File(data), (0, 0), verifier, Some(*access))
            }
            Create::Dir => (Content::Dir(Dir::new(Arc::downgrade(parent))), (0, 0), None, None),
            Create::Symlink(target) if target.is_empty() => return Err(Fault::Inval),
            Create::Symlink(target) if target.len() > TARGET_MAX => return Err(Fault::NameTooLong),
            Create::Symlink(target) => (Content::Symlink(Bytes::copy_from_slice(target)), (0, 0), None, None),
            Create::Block(..) | Create::Char(..) if !who.privileged() => return Err(Fault::Perm),
            Create::Block(major, minor) | Create::Char(major, minor) => {
                (Content::Nothing, (*major, *minor), None, None)
            }
            Create::Fifo | Create::Socket => (Content::Nothing, (0, 0), None, None),
        };
        let body = Body {
            kind,
            gone: false,
            opens: 0,
            nlink: if kind == FileKind::Dir { 2 } else { 1 },
            mode: start.mode,
            uid: start.uid,
            gid: start.gid,
            change: 1,
            atime: start.atime,
            mtime: start.mtime,
            ctime: now,
            btime: start.btime,
            marks: start.marks,
            acl: start.acl,
            verifier,
            xattrs: Xattrs::default(),
            content,
        };
        let cost = body.cost() + entry_cost(name);
        self.shared.space.charge(cost)?;
        let inode = match self.shared.settle(rdev, body) {
            Ok(inode) => inode,
            Err(fault) => {
                self.shared.space.release(cost);
                return Err(fault);
            }
        };
        // Nobody else can hold the new object's lock: it has no name yet.
        let (meta, opened) = {
            let mut body = inode.poke();
            let opened = open.map(|access| self.shared.opened(who, &inode, &mut body, access));
            (inode.meta(&body), opened)
        };
        let cookie = dir.dir_mut()?.insert(name, &inode);
        if kind == FileKind::Dir {
            dir.nlink = dir.nlink.saturating_add(1);
        }
        let info = dir.touch(now);
        let (node, applied) = (inode.node(), all_of(set));
        Ok(Made { node, meta, dir: info, existed: false, opened, applied, cookie: Some(cookie) })
    }

    pub(super) fn add_name(&self, who: &Who, node: &Node, dir: &Node, name: &[u8]) -> Result<Linked, Fault> {
        check_name(name)?;
        let (inode, parent) = (self.inode_arc(node)?, self.inode(dir)?);
        if inode.kind == FileKind::Dir {
            return Err(Fault::IsDir);
        }
        let mut locked = Locked::all([Some(&*inode), Some(parent)]);
        let nlink = locked.get(&inode)?.nlink;
        let body = locked.get(parent)?;
        let taken = body.dir()?.get(name).is_some();
        body.check(who, SEARCH)?;
        if taken {
            return Err(Fault::Exist);
        }
        body.check_add(who, false)?;
        if nlink == 0 {
            // Open, but without a name: it gets none again.
            return Err(Fault::NoEnt);
        }
        if nlink >= LINK_MAX {
            return Err(Fault::MLink);
        }
        self.shared.space.charge(entry_cost(name))?;
        let now = self.shared.now();
        let cookie = body.dir_mut()?.insert(name, &inode);
        let info = body.touch(now);
        let body = locked.get(&inode)?;
        body.nlink += 1;
        body.touch_attributes(now);
        Ok(Linked { dir: info, cookie: Some(cookie) })
    }

    pub(super) fn take_name(
        &self,
        who: &Who,
        dir: &Node,
        name: &[u8],
        only: Option<Oid>,
    ) -> Result<Removed, Fault> {
        check_name(name)?;
        let parent = self.inode(dir)?;
        for _ in 0..ATTEMPTS {
            let child = {
                let body = parent.read()?;
                let found = body.dir()?.get(name).cloned();
                body.check(who, SEARCH)?;
                found.ok_or(Fault::NoEnt)?
            };
            if only.is_some_and(|only| child.oid() != only) {
                return Err(Fault::Delay);
            }
            let _garbage;
            let mut locked = Locked::all([Some(parent), Some(&*child)]);
            let body = locked.see(parent)?;
            if body.dir()?.get(name).is_none_or(|found| found.oid() != child.oid()) {
                continue;
            }
            let entry = locked.see(&child)?;
            body.check_remove(who, entry)?;
            if let Content::Dir(entries) = &entry.content
                && !entries.is_empty()
            {
                return Err(Fault::NotEmpty);
            }
            let now = self.shared.now();
            let info = self.cut_entry(locked.get(parent)?, name, child.kind, now)?;
            let body = locked.get(&child)?;
            let last = unname(body, now);
            _garbage = self.shared.bury(&child, body);
            return Ok(Removed { dir: info, node: child.node(), last });
        }
        Err(Fault::Delay)
    }

    /// Takes an entry out of a locked directory, as one change of it.
    fn cut_entry(&self, dir: &mut Body, name: &[u8], kind: FileKind, now: Time) -> Result<ChangeInfo, Fault> {
        let (_, cost) = dir.dir_mut()?.remove(name).ok_or(Fault::NoEnt)?;
        self.shared.space.release(cost);
        if kind == FileKind::Dir {
            dir.nlink = dir.nlink.saturating_sub(1);
        }
        Ok(dir.touch(now))
    }
}

/// An object lost a name; whether it was the last.
pub(super) fn unname(body: &mut Body, now: Time) -> bool {
    body.nlink = if body.kind == FileKind::Dir { 0 } else { body.nlink.saturating_sub(1) };
    body.touch_attributes(now);
    body.nlink == 0
}
