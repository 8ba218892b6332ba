//! Permits: the account of operations that were admitted and are still running.

use alloc::collections::BTreeSet;

use slab::Slab;

use super::{Intent, Need, Party};
use crate::{ClientKey, Oid};

/// The right to carry out one operation. Neither `Clone` nor to be dropped: it goes back to the machine.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "give it back by commit or abandon"]
pub struct Permit {
    pub(super) key: usize,
    generation: u64,
}

/// One running operation.
#[derive(Debug)]
pub(super) struct Running {
    generation: u64,
    pub(super) party: Party,
    pub(super) intent: Intent,
}

/// All permits that stand.
#[derive(Debug, Default)]
pub(super) struct Permits {
    running: Slab<Running>,
    on: BTreeSet<(Oid, usize)>,
    next: u64,
}

impl Permits {
    pub(super) fn begin(&mut self, party: Party, intent: &Intent) -> Permit {
        self.next = self.next.wrapping_add(1);
        let generation = self.next;
        let key = self.running.insert(Running { generation, party, intent: *intent });
        for (oid, _) in intent.touches().into_iter().flatten() {
            self.on.insert((oid, key));
        }
        Permit { key, generation }
    }

    /// Ends it; what it was for.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is used up")]
    pub(super) fn end(&mut self, permit: Permit) -> Option<Intent> {
        let Permit { key, generation } = permit;
        if self.running.get(key).is_none_or(|r| r.generation != generation) {
            return None;
        }
        let intent = self.running.try_remove(key)?.intent;
        for (oid, _) in intent.touches().into_iter().flatten() {
            self.on.remove(&(oid, key));
        }
        Some(intent)
    }

    pub(super) fn get(&self, permit: &Permit) -> Option<&Running> {
        self.running.get(permit.key).filter(|r| r.generation == permit.generation)
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether another client's running operation, `but` excepted, forbids `client` a delegation of this kind.
    pub(super) fn forbid(&self, oid: Oid, client: ClientKey, but: Option<usize>, write: bool) -> bool {
        self.on.range((oid, 0)..=(oid, usize::MAX)).any(|(_, key)| {
            Some(*key) != but
                && self.running.get(*key).is_some_and(|r| {
                    let mut touches = r.intent.touches().into_iter().flatten();
                    r.party != Party::Client(client)
                        && touches.any(|(on, row)| on == oid && row.need(write) != Need::Nothing)
                })
        })
    }
}
