//! Processor time of a process, as Linux counts it.

use std::time::Duration;

/// Linux' clock ticks in /proc, which do not depend on the kernel's own.
const TICKS_PER_SECOND: u64 = 100;

/// User and system time so far; `None` where there is no such process.
pub(super) fn used(pid: Option<u32>) -> Option<Duration> {
    let path = pid.map_or_else(|| "/proc/self/stat".to_owned(), |pid| format!("/proc/{pid}/stat"));
    let text = std::fs::read_to_string(path).ok()?;
    // The name in parentheses may hold anything; the numbers follow.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 1000 / TICKS_PER_SECOND))
}
