//! Opening an export: what the process may do, what the file system can.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};
use siphasher::sip128::{Hasher128 as _, SipHasher13};
use std::hash::Hasher as _;

use super::attr::stat;
use super::cache::{Cache, Object};
use super::change::Clock;
use super::creds::Creds;
use super::handle::device;
use super::hints::Hints;
use super::pool::Pool;
use super::{Inner, Local, sys};
use crate::backend::{ChangeType, Facts, Fault, FileKind, FsStat, Oid, Time};

/// Objects kept open, unless configured or limited by the system.
const DESCRIPTORS: usize = 16_384;
/// Most threads that wait for the medium: so many different objects share one commit of the journal.
const SYNC_THREADS: usize = 32;
/// How often the keeper looks around.
const TICK: Duration = Duration::from_secs(1);
/// Ticks between two marks of the change numbers.
const MARK_TICKS: usize = 30;
/// The first kernel whose ctime never repeats once it was asked for.
const MULTIGRAIN: (u32, u32) = (6, 13);

const EXT4: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683e;
const TMPFS: u64 = 0x0102_1994;

/// How a directory is served.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches of the configuration")]
pub struct LocalOptions {
    /// Where what must survive a restart is kept: places for handles without privileges, the mark of the change
    /// numbers. Without it handles of a server without privileges end with the process.
    pub state_dir: Option<PathBuf>,
    /// Names and attributes are on the medium before the reply.
    pub sync_metadata: bool,
    /// Nobody but this server changes the directory: change pairs are then atomic.
    pub exclusive: bool,
    /// Threads for what may wait; 0: twice the number of processors.
    pub threads: usize,
    /// Objects kept open; 0: half of the process's limit of descriptors, at most 16,384.
    pub descriptors: usize,
    /// Nothing may be changed.
    pub read_only: bool,
    /// Work as the server's own user even with root's privileges.
    pub force_single_user: bool,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self {
            state_dir: None,
            sync_metadata: true,
            exclusive: false,
            threads: 0,
            descriptors: 0,
            read_only: false,
            force_single_user: false,
        }
    }
}

/// Why a directory cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// It cannot be opened as a directory and read.
    #[error("cannot open {path} as a directory: {error}", path = path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Its file system has no persistent handles.
    #[error(
        "the file system of {path} has no file handles (name_to_handle_at: {error}), so it cannot be exported \
         over NFS; overlayfs has them with the mount options index=on,nfs_export=on",
        path = path.display()
    )]
    NoHandles {
        /// The directory.
        path: PathBuf,
        /// The kernel's answer.
        error: io::Error,
    },
    /// /proc is not mounted.
    #[error("/proc/self/fd is needed to serve {path} and cannot be used: {error}", path = path.display())]
    NoProc {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The state directory cannot be used.
    #[error("cannot use {path} for the state of an export: {error}", path = path.display())]
    State {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The system gave no threads or no randomness.
    #[error("cannot serve {path}: {error}", path = path.display())]
    System {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// A random number.
pub(super) fn random() -> Option<u64> {
    getrandom::u64().ok()
}

impl Local {
    /// Serves the directory at `path`. Sets the process's umask to 0 (clients' modes are kept as they are) and
    /// raises its soft limit of descriptors to the hard one.
    ///
    /// # Errors
    /// [`LocalError`], which names the path.
    pub fn open(path: impl AsRef<Path>, options: LocalOptions) -> Result<Self, LocalError> {
        Self::open_with(path.as_ref(), options, None)
    }

    /// `fine`: what the file system's clock is to be taken for.
    pub(super) fn open_with(
        path: &Path,
        options: LocalOptions,
        fine: Option<bool>,
    ) -> Result<Self, LocalError> {
        let path = path.to_owned();
        let opening = |errno: Errno| LocalError::Open { path: path.clone(), error: errno.into() };
        let system = |error: io::Error| LocalError::System { path: path.clone(), error };
        let root_fd =
            rustix::fs::open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(opening)?;
        let key = sys::name_to_handle(&root_fd)
            .map_err(|errno| LocalError::NoHandles { path: path.clone(), error: errno.into() })?;
        let read = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mount = match rustix::fs::open(sys::proc_path(&root_fd), read, Mode::empty()) {
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => {
                return Err(LocalError::NoProc { path, error: errno.into() });
            }
            other => other.map_err(opening)?,
        };
        rustix::process::umask(Mode::empty());
        let limit = raise_descriptors();

        let mut options = options;
        options.threads = match options.threads {
            0 => 2 * thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        options.descriptors = match options.descriptors {
            0 => (limit / 2).min(DESCRIPTORS),
            some => some,
        };
        let state = stat(root_fd.as_fd()).map_err(opening)?;
        let file_system = rustix::fs::fstatvfs(&mount).map_err(opening)?;
        options.read_only |= file_system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY);

        let creds = Creds::new(options.force_single_user);
        let by_handle = creds.switches() && sys::open_by_handle(mount.as_fd(), &key).is_ok();
        let kept = |kind: &str| {
            options.state_dir.as_ref().map(|dir| dir.join(format!("{kind}-{:016x}", name_of(&key))))
        };
        if let Some(dir) = &options.state_dir {
            std::fs::create_dir_all(dir).map_err(|error| LocalError::State { path: dir.clone(), error })?;
        }
        let hints = if by_handle {
            None
        } else {
            let places = kept("places");
            Some(
                Hints::open(places.clone())
                    .map_err(|error| LocalError::State { path: places.unwrap_or_default(), error })?,
            )
        };

        let magic = magic(&mount);
        let (clock, mark) = Clock::new(fine.unwrap_or_else(|| is_multigrain(magic)), kept("change"));
        let cache = Cache::new(options.descriptors);
        let listed = Arc::default();
        cache.floor.store(mark.floor, Ordering::Relaxed);
        let random = || random().ok_or_else(|| system(io::Error::other("the system gives no randomness")));
        let (instance, seed, verifier) = (random()?, (random()?, random()?), random()?);
        let pool = Arc::new(Pool::new("local", options.threads).map_err(system)?);
        let root = Arc::new(Object::new(
            key.clone(),
            oid(seed, &key),
            FileKind::Dir,
            instance,
            root_fd,
            Arc::downgrade(&pool),
        ));
        cache.keep(&root);
        let facts =
            facts(&mount, &options, magic, file_system.f_namemax, mark.change_type, &state, by_handle);
        tracing::info!(
            path = %path.display(),
            single_user = !creds.switches(),
            by_handle,
            fine_ctime = clock.fine,
            clones = facts.clones,
            "directory opened"
        );
        let inner = Arc::new(Inner {
            path: path.clone(),
            facts,
            instance,
            seed,
            mount,
            mount_id: state.stx_mnt_id,
            device: device(&state),
            root,
            cache,
            listed,
            clock,
            creds,
            modes_decide: is_known(magic),
            by_handle,
            hints,
            pool,
            sync_pool: Pool::new("sync", SYNC_THREADS).map_err(system)?,
            verifier: AtomicU64::new(verifier),
            nowait_write: AtomicBool::new(true),
            syncs: AtomicU64::new(0),
            warned: Mutex::default(),
            options,
        });
        let weak = Arc::downgrade(&inner);
        thread::Builder::new().name("nfs4-local-keep".into()).spawn(move || keep(&weak)).map_err(system)?;
        Ok(Self { inner })
    }
}

/// Looks after the export in the background until it is dropped: lets go of what others removed, and marks how
/// far change numbers have come.
fn keep(inner: &Weak<Inner>) {
    for tick in 1.. {
        thread::sleep(TICK);
        let Some(inner) = inner.upgrade() else { return };
        inner.cache.sweep(tick);
        if tick % MARK_TICKS == 0 {
            inner.clock.write_mark();
        }
    }
}

/// The identity of a kernel handle in this boot.
pub(super) fn oid(seed: (u64, u64), key: &[u8]) -> Oid {
    let mut hasher = SipHasher13::new_with_keys(seed.0, seed.1);
    hasher.write(key);
    Oid(hasher.finish128().as_u128())
}

/// What a root's files in the state directory are called: the same at each start.
fn name_of(key: &[u8]) -> u64 {
    let mut hasher = siphasher::sip::SipHasher13::new();
    hasher.write(key);
    hasher.finish()
}

/// Raises the soft limit of descriptors as far as it may go; says what it is.
fn raise_descriptors() -> usize {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        if rustix::process::setrlimit(Resource::Nofile, raised).is_ok() {
            limit = rustix::process::getrlimit(Resource::Nofile);
        }
    }
    limit.current.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(2 * DESCRIPTORS)
}

fn magic(mount: &OwnedFd) -> u64 {
    rustix::fs::fstatfs(mount).map_or(0, |stat| stat.f_type.cast_unsigned() & u64::from(u32::MAX))
}

fn is_multigrain(magic: u64) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|word| word.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= MULTIGRAIN && is_known(magic)
}

/// File systems whose rules are known here.
fn is_known(magic: u64) -> bool {
    matches!(magic, EXT4 | XFS | BTRFS | TMPFS)
}

fn facts(
    mount: &OwnedFd,
    options: &LocalOptions,
    magic: u64,
    max_name: u64,
    change_type: ChangeType,
    state: &rustix::fs::Statx,
    by_handle: bool,
) -> Facts {
    let max_link = match magic {
        EXT4 => 65_000,
        BTRFS => 65_535,
        XFS => 0x7fff_ffff,
        // What every Linux file system with hard links has.
        _ => 32_000,
    };
    Facts {
        max_file_size: i64::MAX as u64,
        max_name: u32::try_from(max_name).unwrap_or(255),
        max_link,
        change_type,
        persistent_handles: by_handle || options.state_dir.is_some(),
        xattrs: has_xattrs(mount),
        clones: !options.read_only && can_clone(mount),
        time_delta: Time { seconds: 0, nseconds: 1 },
        birth_time: state.stx_mask & rustix::fs::StatxFlags::BTIME.bits() != 0,
        sets_birth_time: false,
        marks: false,
        acls: false,
        any_bytes: true,
        // A name that is gone is gone with the process that held the file open.
        keeps_unlinked: false,
    }
}

fn has_xattrs(mount: &OwnedFd) -> bool {
    let mut value = Vec::with_capacity(1);
    let probe =
        rustix::fs::fgetxattr(mount, c"user.nfs4-server.probe", rustix::buffer::spare_capacity(&mut value));
    !matches!(probe, Err(Errno::OPNOTSUPP))
}

/// Tried on two files without a name.
fn can_clone(mount: &OwnedFd) -> bool {
    const BLOCK: [u8; 4096] = [0x5a; 4096];
    let file = || {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        rustix::fs::openat(mount, c".", flags, Mode::RUSR | Mode::WUSR)
    };
    let clone = || -> Result<(), Errno> {
        let (from, to) = (file()?, file()?);
        sys::write_at(from.as_fd(), &BLOCK, 0, sys::Io::Wait)?;
        sys::clone_range(from.as_fd(), 0, to.as_fd(), 0, 0)
    };
    clone().is_ok()
}

impl Inner {
    /// Space and inodes; what is kept back for root is there for root only.
    pub(super) fn statfs(&self, privileged: bool) -> Result<FsStat, Fault> {
        let stat = rustix::fs::fstatvfs(&self.mount).map_err(|errno| self.fault(errno))?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        Ok(FsStat {
            space_total: bytes(stat.f_blocks),
            space_free: bytes(stat.f_bfree),
            space_avail: bytes(if privileged { stat.f_bfree } else { stat.f_bavail }),
            files_total: stat.f_files,
            files_free: stat.f_ffree,
            files_avail: if privileged { stat.f_ffree } else { stat.f_favail },
        })
    }
}
