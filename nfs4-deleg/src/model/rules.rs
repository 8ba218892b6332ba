//! Who stands in whose way: the matrix of the sheet, row by row.

use alloc::vec::Vec;

use super::{Kind, Model, Waiting, Waits};
use crate::Oid;
use crate::server::{Intent, Party};

/// What an operation needs of another client's delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// Nothing.
    None,
    /// That it comes back.
    Recall,
}

/// What `intent` needs of a delegation of this kind that another client holds on `oid` (RFC 8881 §10.4).
#[must_use]
pub(super) fn conflict(intent: &Intent, oid: Oid, kind: Kind) -> Conflict {
    let write_kind = kind == Kind::Write;
    let needed = match *intent {
        // A reader does not disturb readers; whoever writes, cuts, or denies reading does.
        Intent::Open { oid: on, share, truncate } => {
            on == oid && (write_kind || share.write || share.deny_read || truncate)
        }
        // Reading and locking disturb only a writer: under a read delegation locks are the server's.
        Intent::Read { oid: on } | Intent::Lock { oid: on } => on == oid && write_kind,
        // Data, attributes, names: each is guaranteed to all holders.
        Intent::Write { oid: on } | Intent::SetAttr { oid: on, .. } | Intent::Xattr { oid: on } => on == oid,
        Intent::Link { target, .. } => target == oid,
        Intent::Remove { target, .. } => target == Some(oid),
        Intent::Rename { source, victim, .. } => source == Some(oid) || victim == Some(oid),
        // Names are not what a file delegation is about.
        Intent::Create { .. } => false,
    };
    if needed { Conflict::Recall } else { Conflict::None }
}

/// The files that an operation is about.
pub(super) fn touches(intent: &Intent, oid: Oid) -> bool {
    conflict(intent, oid, Kind::Write) != Conflict::None
}

impl Model {
    /// The delegations, by place, that stand in an operation's way: never the same client's own.
    pub(super) fn against(&self, party: Party, intent: &Intent) -> Vec<usize> {
        let mut all = Vec::new();
        for (at, deleg) in self.delegs.iter().enumerate() {
            if deleg.lives()
                && party != Party::Client(deleg.client)
                && conflict(intent, deleg.oid, deleg.kind) != Conflict::None
            {
                all.push(at);
            }
        }
        all
    }

    /// The same for one that waits.
    pub(super) fn stands_against(&self, waiting: &Waiting) -> Vec<usize> {
        match waiting.what {
            Waits::Do(intent) => self.against(waiting.party, &intent),
            Waits::Attrs(oid) => self.writers(waiting.party, oid),
        }
    }

    /// Write delegations of others on a file.
    pub(super) fn writers(&self, party: Party, oid: Oid) -> Vec<usize> {
        self.against(party, &Intent::Read { oid })
    }

    /// Whether somebody waits for the file: then nobody gets a delegation on it.
    pub(super) fn awaited(&self, oid: Oid) -> bool {
        self.waiting.iter().any(|w| match w.what {
            Waits::Do(intent) => touches(&intent, oid),
            Waits::Attrs(on) => on == oid,
        })
    }
}
