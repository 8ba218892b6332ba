//! The change attribute: ctime in nanoseconds, run ahead where the kernel's clock is too coarse for it.
//!
//! User space does not see the kernel's own change cookie. Since 6.13 ext4, xfs, btrfs and tmpfs never give a
//! ctime again that somebody asked for ("multigrain"), so there ctime is enough. Elsewhere two changes in one tick
//! share a ctime; after a change through us the number is therefore at least one more than the last one told,
//! which is kept in memory until ctime has passed it.

use std::fs;
use std::io::Write as _;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Statx;

use super::Inner;
use super::attr;
use super::cache::Object;
use crate::backend::{ChangeInfo, ChangeType, Fault};

/// What an object's change number must not fall below.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// The last number that ran ahead of ctime; with a coarse clock the last one told.
    last: AtomicU64,
    /// Data or attributes were changed through us since (only with a coarse clock).
    touched: AtomicBool,
}

impl Change {
    /// The number was `change` before the object left the cache.
    pub(super) fn remember(&self, change: u64) {
        self.last.fetch_max(change, Ordering::Relaxed);
    }

    /// The number now, where it is ahead of ctime.
    pub(super) fn ahead(&self, fd: BorrowedFd<'_>) -> Option<u64> {
        let touched = self.touched.load(Ordering::Relaxed);
        let last = self.last.load(Ordering::Relaxed);
        if last == 0 {
            return None;
        }
        let now = last + u64::from(touched);
        attr::stat(fd).is_ok_and(|stat| now > ctime(&stat)).then_some(now)
    }
}

/// What the whole export knows about its clock.
#[derive(Debug)]
pub(super) struct Clock {
    /// Every ctime that was asked for is passed by the next change.
    pub(super) fine: bool,
    /// A number has run ahead of its ctime in this boot.
    ahead: AtomicBool,
    highest: AtomicU64,
    file: Option<PathBuf>,
}

/// What an earlier boot left.
pub(super) struct Mark {
    /// Numbers must not be below this.
    pub(super) floor: u64,
    /// What may be announced.
    pub(super) change_type: ChangeType,
}

pub(super) fn ctime(stat: &Statx) -> u64 {
    let seconds = u64::try_from(stat.stx_ctime.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(stat.stx_ctime.tv_nsec.into())
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

impl Clock {
    /// Reads the high-water mark of an earlier boot. Without one that the clock has passed, numbers of this boot
    /// could be below those, so nothing is promised about their order.
    pub(super) fn new(fine: bool, store: Option<PathBuf>) -> (Self, Mark) {
        let now = now();
        let mark = store.as_deref().map(read_mark);
        let floor = match mark {
            Some(Some((mark, true))) => mark,
            Some(Some((_, false)) | None) | None => 0,
        };
        let change_type = match mark {
            None => ChangeType::Undefined,
            Some(None) => ChangeType::Monotonic,
            Some(Some((mark, _))) if now > mark => ChangeType::Monotonic,
            Some(Some(_)) => {
                tracing::warn!("the clock is behind the last change number of an earlier start");
                ChangeType::Undefined
            }
        };
        let clock = Self { fine, ahead: AtomicBool::new(false), highest: AtomicU64::new(floor), file: store };
        clock.write_mark();
        (clock, Mark { floor, change_type })
    }

    /// The change number of what only its ctime is known of.
    pub(super) fn of_ctime(&self, stat: &Statx) -> u64 {
        debug_assert!(self.fine, "with a coarse clock the object itself must be asked");
        ctime(stat)
    }

    fn ran_ahead(&self, change: u64) {
        self.highest.fetch_max(change, Ordering::Relaxed);
        if !self.ahead.swap(true, Ordering::Relaxed) {
            self.write_mark();
        }
    }

    /// Writes how far numbers have come, for the next boot.
    pub(super) fn write_mark(&self) {
        let Some(path) = &self.file else { return };
        let mark = self.highest.load(Ordering::Relaxed).max(now());
        let text = format!("{mark} {}\n", u8::from(self.ahead.load(Ordering::Relaxed)));
        let temporary = path.with_extension("new");
        let written = fs::File::create(&temporary).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_data()
        });
        if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
            tracing::warn!(path = %path.display(), %error, "the mark of change numbers was not written");
        }
    }
}

fn read_mark(path: &Path) -> Option<(u64, bool)> {
    let text = fs::read_to_string(path).ok()?;
    let mut words = text.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()? == "1"))
}

impl Inner {
    /// The object's change number, told to somebody.
    pub(super) fn change(&self, object: &Object, stat: &Statx) -> u64 {
        let change = &object.change;
        let ctime = ctime(stat).max(self.cache.floor.load(Ordering::Relaxed));
        let last = change.last.load(Ordering::Relaxed);
        if self.clock.fine {
            return ctime.max(last);
        }
        let told =
            if change.touched.swap(false, Ordering::AcqRel) { ctime.max(last + 1) } else { ctime.max(last) };
        if told > ctime {
            self.clock.ran_ahead(told);
        }
        change.last.fetch_max(told, Ordering::AcqRel).max(told)
    }

    /// The object was changed through us, after the change and before the reply.
    pub(super) fn touch(&self, object: &Object) {
        if !self.clock.fine {
            object.change.touched.store(true, Ordering::Release);
        }
    }

    /// The change number before a change. The caller has the object's turn.
    pub(super) fn before(&self, object: &Object) -> Result<u64, Fault> {
        Ok(self.change(object, &self.alive(object)?))
    }

    /// Both numbers after a change. The caller has had the object's turn since `before`.
    pub(super) fn after(&self, object: &Object, before: u64) -> Result<ChangeInfo, Fault> {
        let stat = attr::stat(object.fd()).map_err(|errno| self.fault(errno))?;
        let ctime = ctime(&stat);
        let after = self.change(object, &stat).max(before + 1);
        if after > ctime {
            object.change.remember(after);
            self.clock.ran_ahead(after);
        }
        Ok(ChangeInfo { atomic: self.options.exclusive, before, after })
    }

    /// Somebody was told this number.
    pub(super) fn advance(&self, object: &Object, change: u64) {
        object.change.remember(change);
        self.clock.ran_ahead(change);
    }

    /// Nothing changed.
    pub(super) fn unchanged(&self, before: u64) -> ChangeInfo {
        ChangeInfo { atomic: self.options.exclusive, before, after: before }
    }
}
