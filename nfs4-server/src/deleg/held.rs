//! What the server keeps for each delegation, beside the machine: small, as there may be a million.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use nfs4_deleg::server::DelegId;
use nfs4_deleg::{Now, Oid};

use crate::backend::{Opened, Time};

/// For one delegation.
#[derive(Debug)]
pub(crate) struct Held {
    /// The backend's part of the file's handle.
    pub(crate) handle: Box<[u8]>,
    /// The file, open: where an open file outlives its last name, one that is held does too.
    pub(crate) opened: Option<Opened>,
    /// The file's times, where they are delegated too.
    pub(crate) times: Option<Times>,
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

/// Keeps a file open.
type Open = Arc<dyn Any + Send + Sync>;

struct Kept {
    handle: Box<[u8]>,
    open: Option<Open>,
    times: Option<Box<Times>>,
    /// Milliseconds at which it was first called back; 0: it was not.
    recalled: u64,
}

/// All of an export.
#[derive(Default)]
pub(super) struct AllHeld {
    held: HashMap<DelegId, Kept>,
    /// Handles of files that somebody was promised a delegation of.
    promised: HashMap<Oid, Box<[u8]>>,
    /// Files that are open for the sake of a delegation's I/O alone, those opened longest ago first.
    open: VecDeque<(DelegId, Opened)>,
}

/// Most of those; each may be opened again at any time.
const OPEN: usize = 256;

/// What ended: when it was called back, and what is to be dropped outside of any lock.
pub(super) type Ended = (Option<Now>, Option<Open>, Option<Opened>);

impl AllHeld {
    pub(super) fn insert(&mut self, id: DelegId, held: Held) {
        let Held { handle, opened, times } = held;
        let open = opened.map(|opened| opened.guard_any());
        self.held.insert(id, Kept { handle, open, times: times.map(Box::new), recalled: 0 });
    }

    pub(super) fn remove(&mut self, id: DelegId) -> Ended {
        let opened = self.take_opened(id);
        let Some(kept) = self.held.remove(&id) else { return (None, None, opened) };
        if self.held.len().saturating_mul(4) < self.held.capacity() && self.held.capacity() > 4096 {
            self.held.shrink_to_fit();
        }
        let recalled = (kept.recalled != 0).then(|| Now::from_millis(kept.recalled));
        (recalled, kept.open, opened)
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// The handle of a file that is held.
    pub(super) fn handle(&self, id: DelegId) -> Option<Box<[u8]>> {
        self.held.get(&id).map(|kept| kept.handle.clone())
    }

    /// The handle of a file that somebody was promised.
    pub(super) fn promised(&mut self, oid: Oid) -> Option<Box<[u8]>> {
        self.promised.get(&oid).cloned()
    }

    pub(super) fn opened(&self, id: DelegId) -> Option<Opened> {
        self.open.iter().rev().find(|(held, _)| *held == id).map(|(_, opened)| opened.clone())
    }

    fn take_opened(&mut self, id: DelegId) -> Option<Opened> {
        let at = self.open.iter().position(|(held, _)| *held == id)?;
        self.open.remove(at).map(|(_, opened)| opened)
    }

    /// It was taken: its file is closed.
    pub(super) fn close(&mut self, id: DelegId) -> (Option<Open>, Option<Opened>) {
        (self.held.get_mut(&id).and_then(|kept| kept.open.take()), self.take_opened(id))
    }

    pub(super) fn times(&self, id: DelegId) -> Option<Times> {
        self.held.get(&id)?.times.as_deref().copied()
    }

    pub(super) fn set_times(&mut self, id: DelegId, times: Times) {
        if let Some(kept) = self.held.get_mut(&id) {
            kept.times = Some(Box::new(times));
        }
    }

    /// It is called back.
    pub(super) fn recalled(&mut self, id: DelegId, now: Now) {
        if let Some(kept) = self.held.get_mut(&id).filter(|kept| kept.recalled == 0) {
            kept.recalled = now.as_millis().max(1);
        }
    }

    /// Keeps a file open for the delegation's I/O for a while; what was open longest is to be dropped for it.
    pub(super) fn keep_open(&mut self, id: DelegId, opened: Opened) -> Option<Opened> {
        if !self.held.contains_key(&id) {
            return Some(opened);
        }
        self.open.push_back((id, opened));
        if self.open.len() > OPEN { self.open.pop_front().map(|(_, opened)| opened) } else { None }
    }

    /// Somebody was promised a delegation on the file; `live` says of which files that is still so.
    pub(super) fn promise(&mut self, oid: Oid, handle: Box<[u8]>, wants: usize, live: impl Fn(Oid) -> bool) {
        if self.promised.len() > wants.saturating_mul(2).saturating_add(64) {
            self.promised.retain(|oid, _| live(*oid));
        }
        self.promised.insert(oid, handle);
    }
}
