//! Opens as counts by object and client: only with them here is "no conflicting open" and a grant one atomic step.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::{ClientKey, Oid};

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    all: u32,
    write: u32,
}

/// Who has what open.
#[derive(Debug, Default)]
pub(super) struct Opens {
    by_object: BTreeMap<(Oid, ClientKey), Counts>,
}

impl Opens {
    pub(super) fn add(&mut self, oid: Oid, client: ClientKey, write: bool) {
        let counts = self.by_object.entry((oid, client)).or_default();
        counts.all = counts.all.saturating_add(1);
        counts.write = counts.write.saturating_add(u32::from(write));
    }

    pub(super) fn remove(&mut self, oid: Oid, client: ClientKey, write: bool) {
        let Some(counts) = self.by_object.get_mut(&(oid, client)) else { return };
        counts.all = counts.all.saturating_sub(1);
        counts.write = counts.write.saturating_sub(u32::from(write));
        if counts.all == 0 {
            self.by_object.remove(&(oid, client));
        }
    }

    /// Whether another client has it open (for writing).
    pub(super) fn elsewhere(&self, oid: Oid, client: ClientKey, write: bool) -> bool {
        self.by_object
            .range((oid, ClientKey(0))..=(oid, ClientKey(u64::MAX)))
            .any(|((_, who), counts)| *who != client && (!write || counts.write > 0))
    }

    /// A client is gone, with all that it had open: the objects. Walks all opens: it happens once per client.
    pub(super) fn forget(&mut self, client: ClientKey) -> Vec<Oid> {
        let mut oids = Vec::new();
        self.by_object.retain(|(oid, who), _| {
            if *who == client {
                oids.push(*oid);
            }
            *who != client
        });
        oids
    }
}
