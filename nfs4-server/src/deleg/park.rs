//! Waiting for a delegation to come back.

use std::sync::Arc;

use nfs4_deleg::server::WaitId;
use tokio::sync::oneshot;

use super::Machine;

/// How waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// Come again.
    On,
    /// Answer NFS4ERR_DELAY.
    Away,
}

/// A place among those that wait. Dropped before its end came, it is given up.
#[derive(Debug)]
pub(crate) struct Parked {
    machine: Arc<Machine>,
    id: WaitId,
    told: Option<oneshot::Receiver<Go>>,
}

impl Parked {
    pub(super) fn new(machine: Arc<Machine>, id: WaitId, told: oneshot::Receiver<Go>) -> Self {
        Self { machine, id, told: Some(told) }
    }

    /// Waits for the end. With [`Go::On`] the number is for the machine's next question, and nobody gives it up any
    /// more.
    pub(crate) async fn end(mut self) -> (WaitId, Go) {
        let go = match &mut self.told {
            Some(told) => told.await.unwrap_or(Go::Away),
            None => Go::Away,
        };
        self.told = None;
        (self.id, go)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        if self.told.is_some() {
            self.machine.forget(self.id);
        }
    }
}
