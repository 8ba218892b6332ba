//! Leave of an export's delegations to carry out one operation.

use std::sync::Arc;

use nfs4_deleg::Now;
use nfs4_deleg::server::{Admit, Effect, Intent, Party, Permit};
use nfs4_proto::Status;

use crate::export::Export;

/// Leave to carry out one operation. It goes back when this is dropped: what was not committed was not done.
pub(crate) struct Admitted {
    export: Arc<Export>,
    permit: Option<Permit>,
    now: Now,
}

impl Admitted {
    /// Asks for it. NFS4ERR_DELAY where it would have to be waited for, or too many operations run.
    pub(crate) fn ask(export: &Arc<Export>, now: Now, party: Party, intent: &Intent) -> Result<Self, Status> {
        let mut machine = export.machine();
        match machine.admit(now, party, intent) {
            Admit::Permit(permit) => {
                drop(machine);
                Ok(Self { export: Arc::clone(export), permit: Some(permit), now })
            }
            // Nobody is there yet to wait; the client comes again.
            Admit::Wait(id) => {
                machine.forget(now, id);
                Err(Status::Delay)
            }
            Admit::Delay => Err(Status::Delay),
        }
    }

    /// The operation was done, with these effects.
    pub(crate) fn commit(mut self, effects: &[Effect]) {
        if let Some(permit) = self.permit.take() {
            self.export.machine().commit(self.now, permit, effects);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            self.export.machine().abandon(self.now, permit);
        }
    }
}
