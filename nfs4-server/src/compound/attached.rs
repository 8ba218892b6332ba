//! Client and session of a compound that began with SEQUENCE.

use std::sync::Arc;

use nfs4_proto::ClientId;

use crate::state::{Session, SlotGuard};

/// Client and session.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    /// The client.
    pub(crate) client: ClientId,
    /// The session.
    pub(crate) session: Arc<Session>,
}

impl Attached {
    /// Of a slot that was taken.
    pub(crate) fn of(slot: &SlotGuard) -> Self {
        Self { client: slot.client().id(), session: Arc::clone(slot.session()) }
    }
}
