//! Open files: data in and out.

use std::sync::Arc;

use super::super::{Fault, FileKind, Node, OpenAccess, Opened, ReadData, Time, Who};
use super::data::{BLOCK, MAX_SIZE};
use super::inode::{Body, Inode, Locked};
use super::perm::{READ, SEARCH, WRITE};
use super::{Mem, OpenGuard};

/// Most bytes that one call copies: it must not take long.
const COPY_MOST: u64 = 16 << 20;
/// Most bytes of one call that only shares blocks.
const SHARE_MOST: u64 = 1 << 30;
/// An access time older than this is renewed by a read, seconds.
const ATIME_AGE: i64 = 24 * 60 * 60;

impl Body {
    /// What every change of data does beside the data.
    fn written(&mut self, guard: &OpenGuard, now: Time) {
        if !guard.privileged {
            self.drop_privilege_bits();
        }
        self.touch(now);
    }

    /// A read is worth a new access time: none since the last change, or an old one.
    fn atime_is_due(&self, now: Time) -> bool {
        self.atime <= self.mtime || self.atime <= self.ctime || self.atime.seconds + ATIME_AGE < now.seconds
    }
}

fn writable(file: &Opened) -> Result<(), Fault> {
    if file.access.write { Ok(()) } else { Err(Fault::Access) }
}

impl Mem {
    fn regular(&self, node: &Node) -> Result<Arc<Inode>, Fault> {
        let inode = self.inode_arc(node)?;
        match inode.kind {
            FileKind::File => Ok(inode),
            FileKind::Dir => Err(Fault::IsDir),
            FileKind::Symlink => Err(Fault::Symlink),
            FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => Err(Fault::WrongType),
        }
    }

    pub(super) fn open_file_again(
        &self,
        who: &Who,
        node: &Node,
        access: OpenAccess,
    ) -> Result<Opened, Fault> {
        let inode = self.regular(node)?;
        let mut body = inode.write()?;
        Ok(self.shared.opened(who, &inode, &mut body, access))
    }

    pub(super) fn open_file(&self, who: &Who, node: &Node, access: OpenAccess) -> Result<Opened, Fault> {
        let inode = self.regular(node)?;
        let mut body = inode.write()?;
        let read = if access.read { READ } else { 0 };
        let write = if access.write { WRITE } else { 0 };
        // A program must be read to be run.
        if !(read == READ && write == 0 && body.allows(who, SEARCH)) {
            body.check(who, read | write)?;
        }
        Ok(self.shared.opened(who, &inode, &mut body, access))
    }

    pub(super) fn read_file(&self, file: &Opened, at: u64, len: u32) -> Result<ReadData, Fault> {
        let guard = self.guard(file)?;
        let now = self.shared.now();
        let (data, due) = {
            let body = guard.inode.read()?;
            (body.data()?.read(at, u64::from(len)), body.atime_is_due(now))
        };
        if due && !data.data.is_empty() {
            // No step of `change`: reading is no change.
            guard.inode.write()?.atime = now;
        }
        Ok(data)
    }

    pub(super) fn write_file(&self, file: &Opened, at: u64, src: &[u8]) -> Result<u32, Fault> {
        writable(file)?;
        let guard = self.guard(file)?;
        if at.checked_add(src.len() as u64).is_none_or(|end| end > MAX_SIZE) {
            return Err(Fault::FBig);
        }
        let now = self.shared.now();
        let mut body = guard.inode.write()?;
        let count = body.data_mut()?.write(&self.shared.space, at, src)?;
        if count > 0 {
            body.written(&guard, now);
        }
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub(super) fn allocate_range(&self, file: &Opened, at: u64, len: u64) -> Result<(), Fault> {
        writable(file)?;
        let guard = self.guard(file)?;
        let now = self.shared.now();
        let mut body = guard.inode.write()?;
        body.data_mut()?.allocate(&self.shared.space, at, len)?;
        body.written(&guard, now);
        Ok(())
    }

    pub(super) fn deallocate_range(&self, file: &Opened, at: u64, len: u64) -> Result<(), Fault> {
        writable(file)?;
        let guard = self.guard(file)?;
        let now = self.shared.now();
        let _garbage;
        let mut body = guard.inode.write()?;
        _garbage = body.data_mut()?.deallocate(&self.shared.space, at, len);
        body.written(&guard, now);
        Ok(())
    }

    /// Shares blocks where both ranges lie alike in them, copies otherwise; in bounded steps.
    pub(super) fn copy_range(
        &self,
        from: &Opened,
        from_at: u64,
        to: &Opened,
        to_at: u64,
        len: u64,
    ) -> Result<u64, Fault> {
        writable(to)?;
        let (source, target) = (self.guard(from)?, self.guard(to)?);
        let alike = from_at % BLOCK == to_at % BLOCK;
        let len = len.min(if alike { SHARE_MOST } else { COPY_MOST });
        let now = self.shared.now();
        let mut locked = Locked::all([Some(&*source.inode), Some(&*target.inode)]);
        let pieces = locked.see(&source.inode)?.data()?.pieces(from_at, len, alike);
        check_end(to_at, len)?;
        let body = locked.get(&target.inode)?;
        let count = body.data_mut()?.put(&self.shared.space, to_at, pieces)?;
        if count > 0 {
            body.written(&target, now);
        }
        Ok(count)
    }

    /// CLONE is done as a whole or not at all. Ranges that don't lie alike in their blocks can only be copied:
    /// beyond [`COPY_MOST`] bytes that is [`Fault::Inval`], as an unaligned clone may be (RFC 7862 §15.13.3).
    pub(super) fn share_range(
        &self,
        from: &Opened,
        from_at: u64,
        to: &Opened,
        to_at: u64,
        len: u64,
    ) -> Result<(), Fault> {
        writable(to)?;
        let (source, target) = (self.guard(from)?, self.guard(to)?);
        let now = self.shared.now();
        let mut locked = Locked::all([Some(&*source.inode), Some(&*target.inode)]);
        let data = locked.see(&source.inode)?.data()?;
        let rest = data.size().checked_sub(from_at).ok_or(Fault::Inval)?;
        let len = if len == 0 { rest } else { len };
        let alike = from_at % BLOCK == to_at % BLOCK;
        if len > rest || (!alike && len > COPY_MOST) {
            return Err(Fault::Inval);
        }
        check_end(to_at, len)?;
        let pieces = data.pieces(from_at, len, alike);
        let body = locked.get(&target.inode)?;
        let data = body.data_mut()?;
        // All that it may take is taken first, so that space cannot run out in the middle.
        let space = &self.shared.space;
        let purse = space.purse(data.need(to_at, &pieces))?;
        let done = data.put(&purse, to_at, pieces);
        space.release(purse.left());
        let done = done?;
        body.written(&target, now);
        if done == len { Ok(()) } else { Err(Fault::NoSpc) }
    }
}

fn check_end(at: u64, len: u64) -> Result<(), Fault> {
    if at.checked_add(len).is_none_or(|end| end > MAX_SIZE) { Err(Fault::FBig) } else { Ok(()) }
}
