//! Permits: the account of operations that were admitted and are still running.

use slab::Slab;

use super::{Intent, Party};

/// The right to carry out one operation. Neither `Clone` nor to be dropped: it goes back to the machine.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "give it back by commit or abandon"]
pub struct Permit {
    key: usize,
    generation: u64,
}

/// One running operation.
#[derive(Debug)]
struct Running {
    generation: u64,
    #[expect(dead_code, reason = "grants are decided against what is running; none is given yet")]
    party: Party,
    #[expect(dead_code, reason = "as above")]
    intent: Intent,
}

/// All permits that stand.
#[derive(Debug, Default)]
pub(super) struct Permits {
    running: Slab<Running>,
    next: u64,
}

impl Permits {
    pub(super) fn begin(&mut self, party: Party, intent: &Intent) -> Permit {
        self.next = self.next.wrapping_add(1);
        let generation = self.next;
        let key = self.running.insert(Running { generation, party, intent: *intent });
        Permit { key, generation }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a permit is used up")]
    pub(super) fn end(&mut self, permit: Permit) {
        let Permit { key, generation } = permit;
        if self.running.get(key).is_some_and(|r| r.generation == generation) {
            self.running.remove(key);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }
}
