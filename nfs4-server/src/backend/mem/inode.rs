//! One object: its attributes and its contents under one lock.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use smallvec::SmallVec;

use super::super::{Ace, ChangeInfo, Fault, FileKind, Marks, Meta, Node, Oid, Time};
use super::data::Data;
use super::dir::Dir;
use super::space::{INODE_COST, acl_cost};
use super::table::Place;
use super::xattr::Xattrs;

/// An object. What never changes is outside the lock.
pub(super) struct Inode {
    /// The file system that it belongs to: a node of another one must not get in.
    pub(super) instance: u64,
    pub(super) place: Place,
    pub(super) fileid: u64,
    pub(super) kind: FileKind,
    pub(super) rdev: (u32, u32),
    body: RwLock<Body>,
}

/// What the object holds.
pub(super) enum Content {
    File(Data),
    Dir(Dir),
    Symlink(Bytes),
    /// A device, FIFO or socket; also an object that is gone.
    Nothing,
}

/// What may change of an object.
pub(super) struct Body {
    pub(super) kind: FileKind,
    /// No name and not open: every further call on it is [`Fault::Stale`].
    pub(super) gone: bool,
    /// How many guards live.
    pub(super) opens: u32,
    pub(super) nlink: u32,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) change: u64,
    pub(super) atime: Time,
    pub(super) mtime: Time,
    pub(super) ctime: Time,
    pub(super) btime: Time,
    pub(super) marks: Marks,
    /// None: what the mode says is all. Else the mode's nine low bits are what [`acl::mode_of`] makes of it.
    pub(super) acl: Option<Box<[Ace]>>,
    /// Of the exclusive create that made it, until the first SETATTR.
    pub(super) verifier: Option<[u8; 8]>,
    pub(super) xattrs: Xattrs,
    pub(super) content: Content,
}

impl Inode {
    pub(super) fn new(instance: u64, place: Place, fileid: u64, rdev: (u32, u32), body: Body) -> Arc<Self> {
        let kind = body.kind;
        Arc::new(Self { instance, place, fileid, kind, rdev, body: RwLock::new(body) })
    }

    /// Index and generation: not used again while the file system lives.
    pub(super) fn oid(&self) -> Oid {
        Oid(u128::from(self.place.generation) << 64 | u128::from(self.place.index))
    }

    pub(super) fn node(self: &Arc<Self>) -> Node {
        Node::new(self.oid(), self.kind, Arc::clone(self))
    }

    /// The lock for reading, also where the object is gone. A panic elsewhere doesn't make it unusable: no
    /// section leaves the body half changed across something that can panic.
    pub(super) fn peek(&self) -> RwLockReadGuard<'_, Body> {
        self.body.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock for writing, also where the object is gone.
    pub(super) fn poke(&self) -> RwLockWriteGuard<'_, Body> {
        self.body.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn read(&self) -> Result<RwLockReadGuard<'_, Body>, Fault> {
        let body = self.peek();
        if body.gone { Err(Fault::Stale) } else { Ok(body) }
    }

    pub(super) fn write(&self) -> Result<RwLockWriteGuard<'_, Body>, Fault> {
        let body = self.poke();
        if body.gone { Err(Fault::Stale) } else { Ok(body) }
    }

    pub(super) fn meta(&self, body: &Body) -> Meta {
        let (size, space_used) = match &body.content {
            Content::File(data) => (data.size(), data.charged()),
            Content::Dir(dir) => (dir.charged, dir.charged),
            Content::Symlink(target) => (target.len() as u64, target.len() as u64),
            Content::Nothing => (0, 0),
        };
        Meta {
            kind: self.kind,
            change: body.change,
            size,
            fileid: self.fileid,
            mode: body.mode,
            nlink: body.nlink,
            uid: body.uid,
            gid: body.gid,
            rdev: self.rdev,
            space_used,
            atime: body.atime,
            ctime: body.ctime,
            mtime: body.mtime,
            btime: Some(body.btime),
            marks: body.marks,
        }
    }
}

impl Body {
    pub(super) fn dir(&self) -> Result<&Dir, Fault> {
        match &self.content {
            Content::Dir(dir) => Ok(dir),
            Content::File(_) | Content::Symlink(_) | Content::Nothing => Err(Fault::NotDir),
        }
    }

    pub(super) fn dir_mut(&mut self) -> Result<&mut Dir, Fault> {
        match &mut self.content {
            Content::Dir(dir) => Ok(dir),
            Content::File(_) | Content::Symlink(_) | Content::Nothing => Err(Fault::NotDir),
        }
    }

    pub(super) fn data(&self) -> Result<&Data, Fault> {
        match &self.content {
            Content::File(data) => Ok(data),
            Content::Dir(_) => Err(Fault::IsDir),
            Content::Symlink(_) | Content::Nothing => Err(Fault::WrongType),
        }
    }

    pub(super) fn data_mut(&mut self) -> Result<&mut Data, Fault> {
        match &mut self.content {
            Content::File(data) => Ok(data),
            Content::Dir(_) => Err(Fault::IsDir),
            Content::Symlink(_) | Content::Nothing => Err(Fault::WrongType),
        }
    }

    /// All that is counted for the object itself (its entry is counted in the directory).
    pub(super) fn cost(&self) -> u64 {
        let content = match &self.content {
            Content::File(data) => data.charged(),
            Content::Dir(dir) => dir.charged,
            Content::Symlink(target) => target.len() as u64,
            Content::Nothing => 0,
        };
        INODE_COST + self.xattrs.charged() + self.acl.as_deref().map_or(0, acl_cost) + content
    }

    /// One step of `change` for new attributes.
    pub(super) fn touch_attributes(&mut self, now: Time) -> ChangeInfo {
        let before = self.change;
        self.change += 1;
        self.ctime = now;
        ChangeInfo { atomic: true, before, after: self.change }
    }

    /// One step of `change` for new data or entries.
    pub(super) fn touch(&mut self, now: Time) -> ChangeInfo {
        self.mtime = now;
        self.marks.remove(Marks::ARCHIVE);
        self.touch_attributes(now)
    }

    /// Where nothing was changed.
    pub(super) fn unchanged(&self) -> ChangeInfo {
        ChangeInfo { atomic: true, before: self.change, after: self.change }
    }
}

/// Several objects locked for writing, taken in the order of their [`Oid`]s: the only order in which this
/// module holds two, so nobody waits in a circle.
pub(super) struct Locked<'a>(SmallVec<[(Oid, RwLockWriteGuard<'a, Body>); 4]>);

impl<'a> Locked<'a> {
    /// Locks each object once, however often it is given.
    pub(super) fn all<const N: usize>(inodes: [Option<&'a Inode>; N]) -> Self {
        let mut sorted: SmallVec<[&Inode; 4]> = inodes.into_iter().flatten().collect();
        sorted.sort_unstable_by_key(|inode| inode.oid());
        sorted.dedup_by_key(|inode| inode.oid());
        Self(sorted.into_iter().map(|inode| (inode.oid(), inode.poke())).collect())
    }

    /// One of them; [`Fault::Stale`] if it is gone.
    pub(super) fn get(&mut self, inode: &Inode) -> Result<&mut Body, Fault> {
        let oid = inode.oid();
        let (_, body) = self.0.iter_mut().find(|(locked, _)| *locked == oid).ok_or(Fault::ServerFault)?;
        if body.gone { Err(Fault::Stale) } else { Ok(body) }
    }

    /// One of them to look at.
    pub(super) fn see(&self, inode: &Inode) -> Result<&Body, Fault> {
        let oid = inode.oid();
        let (_, body) = self.0.iter().find(|(locked, _)| *locked == oid).ok_or(Fault::ServerFault)?;
        if body.gone { Err(Fault::Stale) } else { Ok(body) }
    }
}
