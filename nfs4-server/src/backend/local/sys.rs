//! The system calls that rustix does not have (or not per thread): the only unsafe code of the workspace's server.
#![allow(unsafe_code, reason = "system calls without a safe wrapper; each block says why it is sound")]

use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use smallvec::SmallVec;

use crate::backend::RawHandle;

/// The kernel's largest handle, `MAX_HANDLE_SZ`.
const HANDLE_BYTES: usize = 128;
const HANDLE_ROOM: u32 = 128;
/// A handle's own bytes in a [`RawHandle`] follow its type, 4 bytes little-endian.
const TYPE_BYTES: usize = 4;
/// What the server can take: [`RawHandle`] may have 100 bytes.
const RAW_MAX: usize = 100;

/// `struct file_handle` with room for the largest.
#[repr(C)]
struct FileHandle {
    bytes: u32,
    kind: i32,
    handle: [u8; HANDLE_BYTES],
}

/// The flags of `preadv2` and `pwritev2`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Io {
    /// May wait.
    Wait,
    /// `EAGAIN` rather than wait.
    NoWait,
    /// As if followed by fdatasync.
    DataSync,
    /// As if followed by fsync.
    FileSync,
}

impl Io {
    fn flags(self) -> libc::c_int {
        match self {
            Self::Wait => 0,
            Self::NoWait => libc::RWF_NOWAIT,
            Self::DataSync => libc::RWF_DSYNC,
            Self::FileSync => libc::RWF_SYNC,
        }
    }
}

fn errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn check(result: libc::c_long) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| errno())
}

/// The kernel's persistent name of what `fd` (also an `O_PATH` one) refers to: its type and its bytes.
pub(super) fn name_to_handle(fd: impl AsFd) -> Result<RawHandle, Errno> {
    let mut handle = FileHandle { bytes: HANDLE_ROOM, kind: 0, handle: [0; HANDLE_BYTES] };
    let mut mount: libc::c_int = 0;
    // SAFETY: the path is a C string, `handle` is laid out as `struct file_handle` and says its room, and
    // both outlive the call.
    check(unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            fd.as_fd().as_raw_fd(),
            c"".as_ptr(),
            &raw mut handle,
            &raw mut mount,
            libc::AT_EMPTY_PATH,
        )
    })?;
    let bytes = handle.handle.get(..handle.bytes as usize).ok_or(Errno::OVERFLOW)?;
    if bytes.len() + TYPE_BYTES > RAW_MAX {
        return Err(Errno::OVERFLOW);
    }
    let mut raw = RawHandle::from_slice(&handle.kind.to_le_bytes());
    raw.extend_from_slice(bytes);
    Ok(raw)
}

/// Opens (`O_PATH`) the object of a handle that [`name_to_handle`] made. Needs `CAP_DAC_READ_SEARCH`.
pub(super) fn open_by_handle(mount: BorrowedFd<'_>, raw: &[u8]) -> Result<OwnedFd, Errno> {
    let (kind, bytes) = raw.split_first_chunk::<TYPE_BYTES>().ok_or(Errno::INVAL)?;
    let length = u32::try_from(bytes.len()).map_err(|_| Errno::INVAL)?;
    let mut handle = FileHandle { bytes: length, kind: i32::from_le_bytes(*kind), handle: [0; HANDLE_BYTES] };
    handle.handle.get_mut(..bytes.len()).ok_or(Errno::INVAL)?.copy_from_slice(bytes);
    // SAFETY: `handle` is laid out as `struct file_handle`, says how many bytes it has, and outlives the call.
    let fd = check(unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_raw_fd(),
            &raw mut handle,
            libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC,
        )
    })?;
    // SAFETY: the kernel has just made this descriptor and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(fd).map_err(|_| Errno::BADF)?) })
}

/// Sets this thread's file-system user and says whether it took (the call itself cannot tell).
pub(super) fn set_fsuid(uid: u32) -> bool {
    // SAFETY: the call takes numbers only; raw, so that only this thread changes.
    unsafe {
        libc::syscall(libc::SYS_setfsuid, uid);
        libc::syscall(libc::SYS_setfsuid, u32::MAX) == libc::c_long::from(uid)
    }
}

/// Sets this thread's file-system group and says whether it took.
pub(super) fn set_fsgid(gid: u32) -> bool {
    // SAFETY: the call takes numbers only; raw, so that only this thread changes.
    unsafe {
        libc::syscall(libc::SYS_setfsgid, gid);
        libc::syscall(libc::SYS_setfsgid, u32::MAX) == libc::c_long::from(gid)
    }
}

/// Sets this thread's supplementary groups (glibc's wrapper would change all threads).
pub(super) fn set_groups(groups: &[u32]) -> Result<(), Errno> {
    // SAFETY: pointer and count are of one slice, which the kernel only reads; `gid_t` is u32.
    check(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) }).map(drop)
}

/// `faccessat2` on the descriptor itself with the thread's file-system credentials.
pub(super) fn access(fd: BorrowedFd<'_>, mode: u32) -> Result<(), Errno> {
    // SAFETY: the path is a C string; the rest are numbers.
    check(unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            fd.as_raw_fd(),
            c"".as_ptr(),
            mode,
            libc::AT_EACCESS | libc::AT_EMPTY_PATH,
        )
    })
    .map(drop)
}

/// Reads at most `len` bytes at `at` to the end of `into`, which must have room for them.
pub(super) fn read_at(
    fd: BorrowedFd<'_>,
    into: &mut Vec<u8>,
    len: usize,
    at: u64,
    how: Io,
) -> Result<usize, Errno> {
    let at = libc::off64_t::try_from(at).map_err(|_| Errno::INVAL)?;
    let room = into.spare_capacity_mut();
    let len = len.min(room.len());
    let iov = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: len };
    // SAFETY: the vector describes `len` bytes of the spare capacity of `into`, which nothing else touches.
    let read =
        check(unsafe { libc::preadv2(fd.as_raw_fd(), &raw const iov, 1, at, how.flags()) } as libc::c_long)?;
    // SAFETY: the kernel has just initialised `read` (≤ `len`) bytes behind the current length.
    unsafe { into.set_len(into.len() + read.min(len)) };
    Ok(read)
}

/// Writes `data` at `at`; the count may be short.
pub(super) fn write_at(fd: BorrowedFd<'_>, data: &[u8], at: u64, how: Io) -> Result<usize, Errno> {
    let at = libc::off64_t::try_from(at).map_err(|_| Errno::FBIG)?;
    let iov = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    // SAFETY: the vector describes `data`, which the kernel only reads.
    check(unsafe { libc::pwritev2(fd.as_raw_fd(), &raw const iov, 1, at, how.flags()) } as libc::c_long)
}

/// `FICLONERANGE`: shares the blocks of a range, 0 bytes meaning to the end.
pub(super) fn clone_range(
    from: BorrowedFd<'_>,
    from_at: u64,
    to: BorrowedFd<'_>,
    to_at: u64,
    len: u64,
) -> Result<(), Errno> {
    let range = libc::file_clone_range {
        src_fd: from.as_raw_fd().into(),
        src_offset: from_at,
        src_length: len,
        dest_offset: to_at,
    };
    // SAFETY: the request reads one `file_clone_range`, which outlives the call.
    check(unsafe { libc::ioctl(to.as_raw_fd(), libc::FICLONERANGE, &raw const range) }.into()).map(drop)
}

/// Sets a file's size by path (that of a descriptor in /proc), with the thread's credentials.
pub(super) fn truncate(path: &CStr, size: u64) -> Result<(), Errno> {
    let size = libc::off64_t::try_from(size).map_err(|_| Errno::FBIG)?;
    // SAFETY: the path is a C string.
    check(unsafe { libc::truncate64(path.as_ptr(), size) }.into()).map(drop)
}

/// Names a descriptor for calls that take no descriptor, or not an `O_PATH` one: a link that the kernel follows
/// to the object itself, without a search on the way.
pub(super) fn proc_path(fd: impl AsFd) -> CString {
    let mut path: SmallVec<[u8; 32]> = SmallVec::from_slice(b"/proc/self/fd/");
    path.extend_from_slice(rustix::path::DecInt::from_fd(fd.as_fd()).as_bytes());
    // Digits and slashes have no NUL.
    CString::new(path.into_vec()).unwrap_or_default()
}

const _: () = assert!(size_of::<FileHandle>() == 8 + HANDLE_BYTES && HANDLE_ROOM as usize == HANDLE_BYTES);
