//! Opens and locks of one file, as this client has them: what the server knows and what it does not.

use alloc::vec::Vec;

use super::facts::{Lock, Opened, OwnerKey};
use crate::server::Share;

/// One way in which an owner has the file open, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenRecord {
    pub(super) open: Opened,
    pub(super) users: u32,
}

/// One lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockRecord {
    pub(super) lock: Lock,
    pub(super) on_server: bool,
}

/// What applications do with one file.
#[derive(Debug, Default)]
pub(super) struct Locals {
    pub(super) opens: Vec<OpenRecord>,
    pub(super) locks: Vec<LockRecord>,
}

impl Locals {
    pub(super) fn is_empty(&self) -> bool {
        self.opens.is_empty() && self.locks.is_empty()
    }

    /// Whether an application has the file open.
    pub(super) fn in_use(&self) -> bool {
        self.opens.iter().any(|o| o.users > 0)
    }

    /// Whether `share` collides with another owner's open in use (RFC 8881 §9.7); the same owner's is an upgrade (§9.9).
    pub(super) fn denies(&self, owner: OwnerKey, share: Share) -> bool {
        self.opens.iter().filter(|o| o.users > 0 && o.open.owner != owner).any(|o| {
            let held = o.open.share;
            (share.read && held.deny_read)
                || (share.write && held.deny_write)
                || (share.deny_read && held.read)
                || (share.deny_write && held.write)
        })
    }

    pub(super) fn add_open(&mut self, open: Opened) {
        if let Some(record) =
            self.opens.iter_mut().find(|o| o.open.owner == open.owner && o.open.share == open.share)
        {
            record.users = record.users.saturating_add(1);
            record.open.on_server |= open.on_server;
        } else {
            self.opens.push(OpenRecord { open, users: 1 });
        }
    }

    pub(super) fn find_open(&mut self, owner: OwnerKey, share: Share) -> Option<&mut OpenRecord> {
        self.opens.iter_mut().find(|o| o.open.owner == owner && o.open.share == share && o.users > 0)
    }

    /// Forgets what nobody uses and the server does not know.
    pub(super) fn sweep(&mut self) {
        self.opens.retain(|o| o.users > 0 || o.open.on_server);
    }

    /// Forgets what nobody uses.
    pub(super) fn drop_unused(&mut self) {
        self.opens.retain(|o| o.users > 0);
    }

    /// Opens in use that the server does not know.
    pub(super) fn unreal_opens(&self) -> Vec<Opened> {
        self.opens.iter().filter(|o| o.users > 0 && !o.open.on_server).map(|o| o.open).collect()
    }

    /// Locks that the server does not know.
    pub(super) fn unreal_locks(&self) -> Vec<Lock> {
        self.locks.iter().filter(|l| !l.on_server).map(|l| l.lock).collect()
    }

    /// Opens in use.
    pub(super) fn used_opens(&self) -> Vec<Opened> {
        self.opens.iter().filter(|o| o.users > 0).map(|o| o.open).collect()
    }

    /// Owners that the server believes to have the file open with more than is in use, and what is in use.
    pub(super) fn surplus(&self) -> Vec<(OwnerKey, Share)> {
        let mut owners: Vec<OwnerKey> =
            self.opens.iter().filter(|o| o.users == 0 && o.open.on_server).map(|o| o.open.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners
            .into_iter()
            .map(|owner| {
                let mut left = Share::default();
                for o in self.opens.iter().filter(|o| o.open.owner == owner && o.users > 0) {
                    left.read |= o.open.share.read;
                    left.write |= o.open.share.write;
                    left.deny_read |= o.open.share.deny_read;
                    left.deny_write |= o.open.share.deny_write;
                }
                (owner, left)
            })
            .collect()
    }

    /// Whether another owner's lock collides (RFC 8881 §9.1).
    pub(super) fn lock_denied(&self, lock: &Lock) -> bool {
        self.locks.iter().any(|held| {
            let l = &held.lock;
            l.owner != lock.owner && l.start <= lock.last && lock.start <= l.last && (l.write || lock.write)
        })
    }

    /// Whether the server knows a lock of this owner in the range.
    pub(super) fn locked_on_server(&self, owner: OwnerKey, start: u64, last: u64) -> bool {
        self.locks.iter().any(|held| {
            held.on_server && held.lock.owner == owner && held.lock.start <= last && start <= held.lock.last
        })
    }

    pub(super) fn add_lock(&mut self, lock: Lock, on_server: bool) {
        self.unlock(lock.owner, lock.start, lock.last);
        self.locks.push(LockRecord { lock, on_server });
    }

    /// Takes the range from the owner's locks, splitting where it must.
    pub(super) fn unlock(&mut self, owner: OwnerKey, start: u64, last: u64) {
        let mut kept = Vec::with_capacity(self.locks.len());
        for record in self.locks.drain(..) {
            let l = record.lock;
            if l.owner != owner || l.start > last || start > l.last {
                kept.push(record);
                continue;
            }
            if let Some(before) = start.checked_sub(1).filter(|before| l.start <= *before) {
                kept.push(LockRecord { lock: Lock { last: before, ..l }, ..record });
            }
            if let Some(after) = last.checked_add(1).filter(|after| *after <= l.last) {
                kept.push(LockRecord { lock: Lock { start: after, ..l }, ..record });
            }
        }
        self.locks = kept;
    }
}
