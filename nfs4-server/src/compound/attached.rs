//! Client and session of a compound that began with SEQUENCE.

use std::sync::Arc;

use nfs4_proto::{ClientId, ReferringCall, ReferringCallList};

use crate::cb;
use crate::state::{Session, SlotGuard};

/// Client and session.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    /// The client.
    pub(crate) client: ClientId,
    /// The session.
    pub(crate) session: Arc<Session>,
    /// The request, by slot and sequence ID.
    pub(crate) request: ReferringCall,
}

impl Attached {
    /// Of a slot that was taken.
    pub(crate) fn of(slot: &SlotGuard) -> Self {
        let request = ReferringCall { sequenceid: slot.ok().seqid, slotid: slot.ok().slot };
        Self { client: slot.client().id(), session: Arc::clone(slot.session()), request }
    }

    /// This request, for callbacks about what its reply tells (RFC 8881 §2.10.6.3).
    pub(crate) fn referring(&self) -> ReferringCallList {
        cb::referring(*self.session.id(), self.request)
    }
}
