//! Leave of an export's delegations to carry out one operation.

use std::sync::Arc;

use nfs4_deleg::server::{Effect, Grant, Intent, Party, Permit, Refusal, Want};
use nfs4_proto::Status;

use crate::core::Core;
use crate::deleg::{Asked, Go, Held, Machine};
use crate::export::Export;
use crate::state::Session;

/// Leave to carry out one operation. It goes back when this is dropped: what was not committed was not done.
#[must_use = "an operation has leave only while this lives"]
pub(crate) struct Admitted {
    /// None where the export gives no delegations.
    leave: Option<(Arc<Machine>, Permit)>,
    waited: bool,
}

impl Admitted {
    /// Asks for it; waits until the delegations in the way have come back. NFS4ERR_DELAY where that takes too long, or
    /// too many operations run or wait.
    ///
    /// `session`: whose slot is taken while it waits; none for work that goes on beside the requests.
    pub(crate) async fn ask(
        core: &Arc<Core>,
        session: Option<&Session>,
        party: Party,
        export: &Export,
        intent: &Intent,
    ) -> Result<Self, Status> {
        let Some(machine) = &export.delegations else { return Ok(Self { leave: None, waited: false }) };
        let mut asked = machine.admit(party, intent);
        let mut waited = false;
        loop {
            match asked {
                Asked::Permit(permit) => {
                    return Ok(Self { leave: Some((Arc::clone(machine), permit)), waited });
                }
                Asked::Delay => return Err(Status::Delay),
                Asked::Wait(parked) => {
                    waited = true;
                    let _turn = session.map(Session::wait).transpose()?;
                    // Whose lease is over is not waited for.
                    core.evict_dead(machine, party, intent).await?;
                    let (id, go) = parked.end().await;
                    if go == Go::Away {
                        return Err(Status::Delay);
                    }
                    asked = machine.admit_again(id);
                }
            }
        }
    }

    /// Whether it was waited for: what was looked up before may have changed.
    pub(crate) fn waited(&self) -> bool {
        self.waited
    }

    /// A delegation under the permit of an OPEN or WANT_DELEGATION; `None` where the export gives none.
    pub(crate) fn grant(&self, want: &Want, held: Held) -> Option<Result<Grant, Refusal>> {
        let (machine, permit) = self.leave.as_ref()?;
        Some(machine.grant(permit, want, held))
    }

    /// The operation was done, with these effects.
    pub(crate) fn commit(mut self, effects: &[Effect]) {
        if let Some((machine, permit)) = self.leave.take() {
            machine.commit(permit, effects);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some((machine, permit)) = self.leave.take() {
            machine.abandon(permit);
        }
    }
}
