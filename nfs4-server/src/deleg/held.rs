//! What the server keeps for each delegation, beside the machine.

use std::collections::{HashMap, VecDeque};

use nfs4_deleg::server::DelegId;
use nfs4_deleg::{Now, Oid};

use crate::backend::{Opened, Time};

/// For one delegation.
#[derive(Debug)]
pub(crate) struct Held {
    /// The file.
    pub(crate) oid: Oid,
    /// The backend's part of its handle.
    pub(crate) handle: Box<[u8]>,
    /// The file, open: it serves READ and WRITE under the delegation's stateid.
    pub(crate) opened: Option<Opened>,
    /// Its times now.
    pub(crate) times: Times,
}

/// Access and modification time of a file when they were delegated, or as the holder set them since: what it says of
/// them counts where it is later (RFC 9754).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// Last access.
    pub(crate) access: Time,
    /// Last change of data.
    pub(crate) modify: Time,
}

#[derive(Debug)]
struct Kept {
    oid: Oid,
    opened: Option<Opened>,
    times: Times,
    /// When it was first called back.
    recalled: Option<Now>,
}

#[derive(Debug)]
struct Handle {
    raw: Box<[u8]>,
    holders: u32,
}

/// All of an export.
#[derive(Debug, Default)]
pub(super) struct AllHeld {
    held: HashMap<DelegId, Kept>,
    /// Handles of files that are held; without a holder, of files that somebody was promised.
    handles: HashMap<Oid, Handle>,
    /// Delegations with a file that may be closed, in the order in which it was opened.
    open: VecDeque<DelegId>,
}

/// Files that stay open for the sake of delegations alone, and can be opened again at any time.
const OPEN: usize = 1024;

impl AllHeld {
    pub(super) fn insert(&mut self, id: DelegId, held: Held) {
        let Held { oid, handle: raw, opened, times } = held;
        let handle = self.handles.entry(oid).or_insert(Handle { raw, holders: 0 });
        handle.holders = handle.holders.saturating_add(1);
        self.held.insert(id, Kept { oid, opened, times, recalled: None });
    }

    /// It ended. When it was called back, and what is to be dropped outside of any lock. `promised` says whether somebody
    /// was promised one on the file.
    pub(super) fn remove(
        &mut self,
        id: DelegId,
        promised: impl Fn(Oid) -> bool,
    ) -> (Option<Now>, Option<Opened>) {
        let Some(kept) = self.held.remove(&id) else { return (None, None) };
        if let Some(handle) = self.handles.get_mut(&kept.oid) {
            handle.holders = handle.holders.saturating_sub(1);
            if handle.holders == 0 && !promised(kept.oid) {
                self.handles.remove(&kept.oid);
            }
        }
        (kept.recalled, kept.opened)
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The handle of a file that is held or promised.
    pub(super) fn handle(&self, oid: Oid) -> Option<Box<[u8]>> {
        self.handles.get(&oid).map(|handle| handle.raw.clone())
    }

    pub(super) fn opened(&self, id: DelegId) -> Option<Opened> {
        self.held.get(&id)?.opened.clone()
    }

    pub(super) fn close(&mut self, id: DelegId) -> Option<Opened> {
        self.held.get_mut(&id)?.opened.take()
    }

    pub(super) fn times(&self, id: DelegId) -> Option<Times> {
        Some(self.held.get(&id)?.times)
    }

    pub(super) fn set_times(&mut self, id: DelegId, times: Times) {
        if let Some(kept) = self.held.get_mut(&id) {
            kept.times = times;
        }
    }

    /// It is called back.
    pub(super) fn recalled(&mut self, id: DelegId, now: Now) {
        if let Some(kept) = self.held.get_mut(&id) {
            kept.recalled.get_or_insert(now);
        }
    }

    /// Keeps a file open for the delegation for a while; what was open longest is to be dropped for it.
    pub(super) fn keep_open(&mut self, id: DelegId, opened: Opened) -> Option<Opened> {
        let Some(kept) = self.held.get_mut(&id) else { return Some(opened) };
        if let Some(old) = kept.opened.replace(opened) {
            return Some(old);
        }
        self.open.push_back(id);
        if self.open.len() > OPEN {
            let oldest = self.open.pop_front()?;
            return self.close(oldest);
        }
        None
    }

    /// Somebody was promised a delegation on the file; `live` says of which files that is still so.
    pub(super) fn promise(&mut self, oid: Oid, raw: Box<[u8]>, wants: usize, live: impl Fn(Oid) -> bool) {
        if self.handles.len() > self.held.len().saturating_add(wants.saturating_mul(2)).saturating_add(64) {
            self.handles.retain(|oid, handle| handle.holders > 0 || live(*oid));
        }
        self.handles.entry(oid).or_insert(Handle { raw, holders: 0 });
    }
}
