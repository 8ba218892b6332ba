//! What the export may hold in memory, counted to the byte.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{Ace, Fault, FsStat};

/// Counted for each object beside its data.
pub(super) const INODE_COST: u64 = 512;
/// Counted for each directory entry beside its name.
pub(super) const ENTRY_COST: u64 = 160;
/// Counted for each extended attribute beside its name and value.
pub(super) const XATTR_COST: u64 = 128;

/// The limit and what is used of it.
pub(super) struct Space {
    limit: u64,
    used: AtomicU64,
}

/// What an access control list costs.
pub(super) fn acl_cost(acl: &[Ace]) -> u64 {
    size_of_val(acl) as u64
}

impl Space {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0) }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes `bytes`, or nothing and [`Fault::NoSpc`].
    pub(super) fn charge(&self, bytes: u64) -> Result<(), Fault> {
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|&sum| sum <= self.limit)
            })
            .map_or(Err(Fault::NoSpc), |_| Ok(()))
    }

    /// Gives back what [`charge`](Self::charge) took.
    pub(super) fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Takes `bytes` to be spent from a purse of their own; [`left`](Self::left) is to be given back.
    pub(super) fn purse(&self, bytes: u64) -> Result<Self, Fault> {
        self.charge(bytes)?;
        // The offset is for what is given back to the purse before anything is taken.
        let used = u64::MAX / 2;
        Ok(Self { limit: used.saturating_add(bytes), used: AtomicU64::new(used) })
    }

    /// What can still be taken.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    pub(super) fn stat(&self) -> FsStat {
        let free = self.left();
        FsStat {
            space_total: self.limit,
            space_free: free,
            space_avail: free,
            files_total: self.limit / INODE_COST,
            files_free: free / INODE_COST,
            files_avail: free / INODE_COST,
        }
    }
}
