//! Questions that change nothing.

use alloc::vec::Vec;

use super::object::State;
use super::{Cause, DelegId, DelegRef, Delegations, Intent, Kind, Party};
use crate::{ClientKey, Oid};

/// A delegation, for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub deleg: DelegRef,
    /// Whose.
    pub client: ClientKey,
    /// On what.
    pub oid: Oid,
    /// Read or write.
    pub kind: Kind,
    /// With times.
    pub times: bool,
    /// It is being called back.
    pub recalling: bool,
    /// It was taken.
    pub revoked: Option<Cause>,
}

impl Delegations {
    /// Whether there is a write delegation of a client other than `client`: else nobody need be asked for attributes on
    /// its behalf.
    #[must_use]
    pub fn others_write(&self, client: ClientKey) -> bool {
        self.held.writes_but_of(client) > 0
    }

    /// Clients whose delegations stand in an operation's way, each once.
    #[must_use]
    pub fn in_the_way(&self, party: Party, intent: &Intent) -> Vec<ClientKey> {
        let all = self.against(party, intent);
        let mut clients: Vec<ClientKey> =
            all.into_iter().filter_map(|id| self.held.get(id)).map(|d| d.client).collect();
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    /// Whether somebody waits for the client: one of its delegations is being called back, or it was asked for
    /// attributes. Walks what it holds.
    #[must_use]
    pub fn is_waited_for(&self, client: ClientKey) -> bool {
        self.held
            .of(client)
            .any(|d| matches!(d.state, State::Recalling(_)) || self.questions.contains_key(&d.id))
    }

    /// Whether the delegation is known, revoked or not.
    #[must_use]
    pub fn knows(&self, id: DelegId) -> bool {
        self.held.get(id).is_some()
    }

    /// Whether somebody holds, or is to be given, a delegation on the object.
    #[must_use]
    pub fn concerns(&self, oid: Oid) -> bool {
        self.held.on(oid).next().is_some() || self.wants.any(oid)
    }

    /// The delegation of a client on an object, if it has one that was not taken.
    #[must_use]
    pub fn held_by(&self, client: ClientKey, oid: Oid) -> Option<Listed> {
        self.held.mine(client, oid).map(listed)
    }

    /// The write delegation on an object.
    #[must_use]
    pub fn writer_of(&self, oid: Oid) -> Option<DelegId> {
        self.held.on(oid).find(|deleg| deleg.lives() && deleg.writes()).map(|deleg| deleg.id)
    }

    /// The delegations of a client, revoked ones too.
    pub fn of(&self, client: ClientKey) -> impl Iterator<Item = Listed> {
        self.held.of(client).map(listed)
    }

    /// All delegations, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = Listed> {
        self.held.iter().map(listed)
    }

    /// Wants that were registered.
    #[must_use]
    pub fn wants(&self) -> usize {
        self.wants.len()
    }

    /// Operations that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

fn listed(deleg: &super::object::Deleg) -> Listed {
    Listed {
        deleg: deleg.named(),
        client: deleg.client,
        oid: deleg.oid,
        kind: deleg.kind,
        times: deleg.times,
        recalling: matches!(deleg.state, State::Recalling(_)),
        revoked: deleg.revoked(),
    }
}
