//! When not to: files that were called back lately, and more delegations than there is room for.

use alloc::collections::{BTreeMap, BTreeSet};

use super::Delegations;
use super::action::Action;
use crate::{Now, Oid};

/// Files that are left alone for a while. The one that ends soonest is forgotten where there are too many.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    until: BTreeMap<Oid, Now>,
    order: BTreeSet<(Now, Oid)>,
}

impl Quiet {
    pub(super) fn add(&mut self, oid: Oid, until: Now, most: usize) {
        if let Some(old) = self.until.insert(oid, until) {
            self.order.remove(&(old, oid));
        }
        self.order.insert((until, oid));
        while self.until.len() > most {
            let Some((_, first)) = self.order.pop_first() else { return };
            self.until.remove(&first);
        }
    }

    pub(super) fn until(&self, now: Now, oid: Oid) -> Option<Now> {
        self.until.get(&oid).copied().filter(|until| *until > now)
    }

    pub(super) fn is(&self, now: Now, oid: Oid) -> bool {
        self.until(now, oid).is_some()
    }

    pub(super) fn clean(&mut self, now: Now) {
        while let Some((_, oid)) = self.order.first().copied().filter(|(until, _)| *until <= now) {
            self.order.pop_first();
            self.until.remove(&oid);
        }
    }
}

impl Delegations {
    /// From nine tenths of the bound on, whoever holds most is asked for a quarter of it, once per lease period
    /// (RFC 8881 §20.6).
    pub(super) fn pressed(&mut self, now: Now) {
        if self.held.len() < self.budget.saturating_sub(self.budget.div_ceil(10)) || self.held.len() < 10 {
            return;
        }
        let lease = self.config.lease;
        let most = self.clients.iter().max_by_key(|(key, client)| (client.held, core::cmp::Reverse(**key)));
        let Some(key) = most.map(|(key, _)| *key) else { return };
        let Some(client) = self.clients.get_mut(&key) else { return };
        if client.asked_back.is_some_and(|at| at.plus(lease) > now) {
            return;
        }
        client.asked_back = Some(now);
        let keep = client.held.saturating_sub(client.held.div_ceil(4));
        self.actions.push_back(Action::RecallAny { client: key, keep });
    }
}
