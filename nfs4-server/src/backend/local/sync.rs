//! Getting things onto the medium, together.
//!
//! Whoever needs an object on the medium joins its lane; one fsync serves everybody who joined before it began.
//! So the longer an fsync takes, the more of them share the next.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::cache::Object;
use super::{Inner, sys};
use crate::backend::{Fault, FileKind};

/// Those who wait for the next fsync of an object.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) running: bool,
    pub(super) waiting: Vec<oneshot::Sender<Result<(), Fault>>>,
}

/// How much must be on the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Data and what is needed to read them.
    Data,
    /// Everything.
    All,
}

fn lane(object: &Object, depth: Depth) -> MutexGuard<'_, Lane> {
    let [data, all] = &object.lanes;
    match depth {
        Depth::Data => data,
        Depth::All => all,
    }
    .lock()
    .unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    /// Waits with others for the next fsync of `object`. What was done before the call is on the medium when
    /// the receiver hears success.
    pub(super) fn join_sync(
        self: &Arc<Self>,
        object: &Arc<Object>,
        depth: Depth,
    ) -> oneshot::Receiver<Result<(), Fault>> {
        let (tell, told) = oneshot::channel();
        let start = {
            let mut lane = lane(object, depth);
            lane.waiting.push(tell);
            !std::mem::replace(&mut lane.running, true)
        };
        if start {
            let (inner, object) = (Arc::clone(self), Arc::clone(object));
            self.sync_pool.run_unbounded(move || inner.serve_lane(&object, depth));
        }
        told
    }

    pub(super) fn serve_lane(&self, object: &Object, depth: Depth) {
        loop {
            let waiting = {
                let mut lane = lane(object, depth);
                if lane.waiting.is_empty() {
                    lane.running = false;
                    return;
                }
                std::mem::take(&mut lane.waiting)
            };
            self.syncs.fetch_add(1, Ordering::Relaxed);
            let result = self.sync(object, depth);
            for tell in waiting {
                let _ = tell.send(result);
            }
        }
    }

    /// One fsync. After a failed one the data may be lost although a next one succeeds: clients must send again.
    fn sync(&self, object: &Object, depth: Depth) -> Result<(), Fault> {
        let done = self.sync_descriptor(object, depth);
        if let Err(errno) = done {
            tracing::error!(error = %errno, oid = ?object.oid, "fsync failed");
            self.new_verifier();
        }
        done.map_err(|errno| self.fault(errno))
    }

    fn sync_descriptor(&self, object: &Object, depth: Depth) -> Result<(), Errno> {
        let open = object.data().any();
        if let Some(fd) = open {
            return sync_one(&fd, depth);
        }
        match object.kind {
            FileKind::File | FileKind::Dir => {
                let _server = self.creds.server().map_err(|_| Errno::ACCESS)?;
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                match rustix::fs::open(sys::proc_path(object.fd()), flags, Mode::empty()) {
                    Ok(fd) => sync_one(&fd, depth),
                    // Without privileges, on a file that its owner may not read.
                    Err(Errno::ACCESS) => rustix::fs::syncfs(&self.mount),
                    Err(errno) => Err(errno),
                }
            }
            // These have no descriptor that fsync takes.
            FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
                rustix::fs::syncfs(&self.mount)
            }
        }
    }
}

fn sync_one(fd: &std::os::fd::OwnedFd, depth: Depth) -> Result<(), Errno> {
    match depth {
        Depth::Data => rustix::fs::fdatasync(fd),
        Depth::All => rustix::fs::fsync(fd),
    }
}
