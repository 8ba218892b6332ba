//! SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE (RFC 7862 §15).

use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{Advice as KernelAdvice, FallocateFlags, SeekFrom};
use rustix::io::Errno;

use super::attr::stat;
use super::sys::Io;
use super::{Inner, sys};
use crate::backend::{Advice, Fault, Opened, Seek, Sought};

/// A COPY answers after this many bytes, or this long, with what it has done: the client goes on.
const COPY_MOST: u64 = 16 << 20;
const COPY_LONGEST: Duration = Duration::from_secs(1);
/// One step of it.
const COPY_STEP: u64 = 4 << 20;
/// One step where the kernel does not copy by itself.
const COPY_BY_HAND: usize = 256 << 10;

impl Inner {
    pub(super) fn seek(&self, opened: &Opened, at: u64, what: Seek) -> Result<Sought, Fault> {
        let fd = Self::reader(&*self.file(opened)?)?;
        let size = stat(fd.as_fd()).map_err(|errno| self.fault(errno))?.stx_size;
        if at >= size {
            return Err(Fault::NxIo);
        }
        let whence = match what {
            Seek::Data => SeekFrom::Data(at),
            Seek::Hole => SeekFrom::Hole(at),
        };
        // The descriptor's position is nobody's: all other calls say where.
        match rustix::fs::seek(&fd, whence) {
            Ok(offset) => Ok(Sought { eof: offset >= size, offset }),
            Err(Errno::NXIO) => Ok(Sought { eof: true, offset: size }),
            Err(errno) => Err(self.fault(errno)),
        }
    }

    /// WILLNEED and the like only begin what they are about.
    pub(super) fn advise(&self, opened: &Opened, at: u64, len: u64, advice: Advice) -> Result<bool, Fault> {
        let file = self.file(opened)?;
        let fd = if opened.access.read { Self::reader(&file)? } else { Self::writer(&file, opened)? };
        let advice = match advice {
            Advice::Normal => KernelAdvice::Normal,
            Advice::Sequential => KernelAdvice::Sequential,
            Advice::Random => KernelAdvice::Random,
            Advice::WillNeed => KernelAdvice::WillNeed,
            Advice::DontNeed => KernelAdvice::DontNeed,
            Advice::NoReuse => KernelAdvice::NoReuse,
        };
        Ok(rustix::fs::fadvise(fd, at, NonZeroU64::new(len), advice).is_ok())
    }

    pub(super) fn allocate(&self, opened: &Opened, at: u64, len: u64) -> Result<(), Fault> {
        self.fallocate(opened, FallocateFlags::empty(), at, len)
    }

    pub(super) fn deallocate(&self, opened: &Opened, at: u64, len: u64) -> Result<(), Fault> {
        self.fallocate(opened, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at, len)
    }

    fn fallocate(&self, opened: &Opened, how: FallocateFlags, at: u64, len: u64) -> Result<(), Fault> {
        let file = self.file(opened)?;
        let fd = Self::writer(&file, opened)?;
        if at.checked_add(len).is_none_or(|end| i64::try_from(end).is_err()) {
            return Err(Fault::FBig);
        }
        if len == 0 {
            return Ok(());
        }
        let _as = self.creds.user(&file.who)?;
        let done = rustix::fs::fallocate(&fd, how, at, len);
        self.touch(&file.object);
        done.map_err(|errno| self.fault(errno))
    }

    pub(super) fn copy(
        &self,
        from: &Opened,
        from_at: u64,
        to: &Opened,
        to_at: u64,
        len: u64,
    ) -> Result<u64, Fault> {
        let (source, target) = (self.file(from)?, self.file(to)?);
        let (input, output) = (Self::reader(&source)?, Self::writer(&target, to)?);
        let _as = self.creds.user(&target.who)?;
        let started = Instant::now();
        let mut copied = 0;
        let most = len.min(COPY_MOST);
        while copied < most && started.elapsed() < COPY_LONGEST {
            let step = (most - copied).min(COPY_STEP);
            match copy_step(&input, from_at + copied, &output, to_at + copied, step) {
                Ok(0) => break,
                Ok(count) => copied += count,
                // What is done is done; the error comes again with the client's next call.
                Err(_) if copied > 0 => break,
                Err(errno) => return Err(self.fault(errno)),
            }
        }
        self.touch(&target.object);
        Ok(copied)
    }

    pub(super) fn clone_range(
        &self,
        from: &Opened,
        from_at: u64,
        to: &Opened,
        to_at: u64,
        len: u64,
    ) -> Result<(), Fault> {
        let (source, target) = (self.file(from)?, self.file(to)?);
        let (input, output) = (Self::reader(&source)?, Self::writer(&target, to)?);
        let _as = self.creds.user(&target.who)?;
        let done = sys::clone_range(input.as_fd(), from_at, output.as_fd(), to_at, len);
        self.touch(&target.object);
        done.map_err(|errno| match errno {
            Errno::OPNOTSUPP | Errno::NOTTY | Errno::XDEV => Fault::NotSupp,
            other => self.fault(other),
        })
    }
}

fn copy_step(
    input: &Arc<OwnedFd>,
    mut from: u64,
    output: &Arc<OwnedFd>,
    mut to: u64,
    len: u64,
) -> Result<u64, Errno> {
    let step = usize::try_from(len).unwrap_or(COPY_BY_HAND);
    match rustix::fs::copy_file_range(input, Some(&mut from), output, Some(&mut to), step) {
        Ok(count) => Ok(count as u64),
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::XDEV | Errno::INVAL) => {
            let mut buffer = Vec::with_capacity(step.min(COPY_BY_HAND));
            let room = buffer.capacity();
            sys::read_at(input.as_fd(), &mut buffer, room.min(step), from, Io::Wait)?;
            let mut done = 0;
            while let Some(rest) = buffer.get(done..).filter(|rest| !rest.is_empty()) {
                done += sys::write_at(output.as_fd(), rest, to + done as u64, Io::Wait)?;
            }
            Ok(done as u64)
        }
        Err(errno) => Err(errno),
    }
}
