//! The export's clock, which never goes back.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::Time;

const SECOND: i64 = 1_000_000_000;

/// Where the time comes from, in nanoseconds since 1970.
pub(super) type Source = Box<dyn Fn() -> i64 + Send + Sync>;

/// Wall time, held where the wall clock is set back, so that no file's times go backwards within one boot.
pub(super) struct Clock {
    source: Source,
    last: AtomicI64,
}

impl Clock {
    pub(super) fn new(source: Source) -> Self {
        Self { source, last: AtomicI64::new(i64::MIN) }
    }

    pub(super) fn system() -> Self {
        Self::new(Box::new(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
        }))
    }

    pub(super) fn now(&self) -> Time {
        let now = (self.source)();
        let now = now.max(self.last.fetch_max(now, Ordering::Relaxed));
        let nseconds = u32::try_from(now.rem_euclid(SECOND)).unwrap_or(0);
        Time { seconds: now.div_euclid(SECOND), nseconds }
    }
}
