//! The grace period, and who may reclaim. RFC 8881 §8.4.2.1, §8.4.3, §18.51.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use nfs4_proto::Status;

use super::clients::record_failed;
use super::{Client, Millis, Now, Record, State, lock};

/// Time for the next reclaim, where grace would be over before it.
const NEXT: Millis = Millis(1000);

/// Grace of one boot. It is over as soon as every client on record has reclaimed, at the latest at the deadline, which
/// moves on while somebody is reclaiming, for as long again at most.
#[derive(Debug)]
pub(super) struct Grace {
    on: AtomicBool,
    /// Milliseconds.
    deadline: AtomicU64,
    /// What the deadline does not pass.
    latest: Now,
    /// Owners on record, and whether they have reclaimed or gone.
    owners: Mutex<HashMap<Bytes, bool>>,
}

impl Grace {
    /// Grace for those records that may reclaim; the owners of the others are to be forgotten. Without any, or without
    /// a span, there is no grace.
    pub(super) fn new(now: Now, span: Millis, records: Vec<Record>) -> (Self, Vec<Bytes>) {
        let (may, not): (Vec<_>, Vec<_>) =
            records.into_iter().partition(|r| r.reclaimed && span != Millis(0));
        let owners: HashMap<_, _> = may.into_iter().map(|r| (r.owner, false)).collect();
        let on = !owners.is_empty();
        let end = now.plus(span);
        let grace = Self {
            on: AtomicBool::new(on),
            deadline: AtomicU64::new(end.as_millis()),
            latest: end.plus(span),
            owners: Mutex::new(owners),
        };
        (grace, not.into_iter().map(|r| r.owner).collect())
    }

    pub(super) fn on(&self) -> bool {
        self.on.load(Ordering::Acquire)
    }

    pub(super) fn deadline(&self) -> Option<Now> {
        self.on().then(|| self.end())
    }

    fn end(&self) -> Now {
        Now::from_millis(self.deadline.load(Ordering::Relaxed))
    }

    /// Somebody reclaims: there is time for the next one.
    fn goes_on(&self, now: Now) {
        let until = now.plus(NEXT).min(self.latest);
        self.deadline.fetch_max(until.as_millis(), Ordering::Relaxed);
    }

    /// Whether the owner is on record, has not reclaimed yet, and grace is on.
    pub(super) fn may_reclaim(&self, owner: &[u8]) -> bool {
        self.on() && lock(&self.owners).get(owner) == Some(&false)
    }

    /// The owner's record went: nobody waits for it.
    pub(super) fn forget(&self, owner: &[u8]) {
        if self.on() {
            let mut owners = lock(&self.owners);
            owners.remove(owner);
            self.end_if_done(&owners);
        }
    }

    /// The owner has reclaimed; `write` notes it. Both under one lock, so that the end of grace does not come between.
    fn complete(&self, owner: &[u8], write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if !self.on() {
            return write();
        }
        let mut owners = lock(&self.owners);
        write()?;
        if let Some(done) = owners.get_mut(owner) {
            *done = true;
        }
        self.end_if_done(&owners);
        Ok(())
    }

    fn end_if_done(&self, owners: &HashMap<Bytes, bool>) {
        if self.on() && owners.values().all(|done| *done) {
            self.on.store(false, Ordering::Release);
            tracing::info!("grace is over: all clients on record have reclaimed");
        }
    }

    /// Ends grace at its deadline. Before anything new is granted, those that did not finish are forgotten by `write`
    /// (second edge condition of §8.4.3); if that fails, grace goes on.
    pub(super) fn expire(&self, now: Now, write: impl FnOnce(&[Bytes]) -> io::Result<()>) -> io::Result<()> {
        if !self.on() || now < self.end() {
            return Ok(());
        }
        let owners = lock(&self.owners);
        let late: Vec<_> = owners.iter().filter(|(_, done)| !**done).map(|(o, _)| o.clone()).collect();
        if !late.is_empty() {
            write(&late)?;
        }
        self.on.store(false, Ordering::Release);
        tracing::info!(late = late.len(), "grace is over: its time has passed");
        Ok(())
    }
}

impl State {
    /// Whether the server is in its grace period. Ends only by RECLAIM_COMPLETE, removal of clients, and
    /// [`State::expire`].
    #[must_use]
    pub fn in_grace(&self) -> bool {
        self.grace.on()
    }

    /// Whether the client may get an open, lock or delegation: `reclaim` says whether the request is one that reclaims.
    ///
    /// A reclaim is NFS4ERR_NO_GRACE after the client's RECLAIM_COMPLETE and outside grace, and NFS4ERR_RECLAIM_BAD
    /// from a client that is not on record. Anything else is NFS4ERR_GRACE in grace, and before the client's
    /// RECLAIM_COMPLETE also after it (§18.51.3).
    pub fn may_lock(&self, client: &Client, reclaim: bool) -> Result<(), Status> {
        match (reclaim, self.grace.on(), client.reclaim_complete()) {
            (true, _, true) | (true, false, false) => Err(Status::NoGrace),
            (true, true, false) if client.on_record.load(Ordering::Relaxed) => Ok(()),
            (true, true, false) => Err(Status::ReclaimBad),
            (false, true, _) | (false, false, false) => Err(Status::Grace),
            (false, false, true) => Ok(()),
        }
    }

    /// A client reclaims just now: grace does not end before it can go on, but for as long again at most.
    pub fn reclaiming(&self, now: Now) {
        if self.grace.on() {
            self.grace.goes_on(now);
        }
    }

    /// RECLAIM_COMPLETE. `one_fs` is OK and changes nothing, as no file system migrates here (the caller has checked the
    /// current filehandle). A second one is NFS4ERR_COMPLETE_ALREADY. Writes a record.
    pub fn reclaim_complete(&self, client: &Client, one_fs: bool) -> Result<(), Status> {
        if one_fs {
            return Ok(());
        }
        if client.complete.swap(true, Ordering::AcqRel) {
            return Err(Status::CompleteAlready);
        }
        let written = self.grace.complete(&client.owner, || self.records.reclaimed(&client.owner));
        written.map_err(|error| {
            client.complete.store(false, Ordering::Release);
            record_failed(&error)
        })
    }
}
