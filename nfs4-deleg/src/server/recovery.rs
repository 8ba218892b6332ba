//! Events: callbacks that ended, clients that come and go, grace.

use alloc::vec::Vec;

use super::recall::Cb;
use super::{Cause, DelegId, Delegations, Event, Fault, Intent, Party};
use crate::{ClientKey, Now};

impl Delegations {
    /// Something happened.
    pub fn handle_event(&mut self, now: Now, event: Event) {
        match event {
            Event::Client(client) => {
                self.clients.entry(client).or_default();
            }
            Event::BackChannel { client, up } => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.back_channel = up;
                }
            }
            Event::CbDone { cb, outcome } => match self.cbs.remove(&cb) {
                Some(Cb::Recall(id)) => self.recall_done(now, cb, id, outcome),
                Some(Cb::Ask(id)) => self.ask_done(now, id, outcome),
                Some(Cb::Push(id)) => self.push_done(now, cb, id, outcome),
                None => {}
            },
            Event::ReplySeen { client, call } => {
                if !self.fault(Fault::ReferringForEver) {
                    self.held.seen(client, call);
                }
            }
            Event::Expired(client) => self.expired(client),
            Event::Renewed(client) => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.expired = false;
                }
            }
            Event::Gone(client) => self.gone(client),
            Event::ReclaimComplete(client) => {
                if let Some(client) = self.clients.get_mut(&client) {
                    client.reclaim_complete = true;
                }
            }
            Event::Grace(grace) => self.grace = grace,
            Event::AdminRevoke(id) => self.take(id, Cause::Admin),
            Event::OutOfBand { oid, write } => {
                let intent = if write { Intent::Write { oid } } else { Intent::Read { oid } };
                for id in self.against(Party::Local, &intent) {
                    self.call_back(now, id, false);
                }
            }
            Event::Pressure(budget) => {
                self.budget = budget.min(self.config.delegations);
                self.pressed(now);
            }
            Event::DropWants(client) => self.drop_wants(client, true),
            Event::Config(config) => self.reconfigure(config),
        }
        self.settle(now);
    }

    /// A client's lease passed: all is kept until somebody needs it; what is being called back is needed now.
    fn expired(&mut self, client: ClientKey) {
        let Some(known) = self.clients.get_mut(&client) else { return };
        known.expired = true;
        let needed: Vec<DelegId> = self
            .held
            .of(client)
            .filter(|d| matches!(d.state, super::object::State::Recalling(_)))
            .map(|d| d.id)
            .collect();
        for id in needed {
            self.take(id, Cause::Expired);
        }
        // Whoever asked it for attributes would wait in vain.
        let asked: Vec<DelegId> =
            self.held.of(client).filter(|d| self.questions.contains_key(&d.id)).map(|d| d.id).collect();
        for id in asked {
            self.take(id, Cause::Expired);
        }
    }

    fn gone(&mut self, client: ClientKey) {
        let all: Vec<DelegId> = self.held.of(client).map(|d| d.id).collect();
        for id in all {
            self.drop_deleg(id);
        }
        self.drop_wants(client, false);
        self.dirty.extend(self.opens.forget(client));
        self.clients.remove(&client);
    }

    /// Times that are under way keep their old spans: only what begins later has the new ones, so that a timer is found
    /// where it was put. Lease and patience thus stay as they were while anything waits or is recalled.
    fn reconfigure(&mut self, config: super::Config) {
        let busy = !self.timers.is_empty();
        let (lease, patience) = (self.config.lease, self.config.patience);
        self.config = config;
        if busy {
            self.config.lease = lease;
            self.config.patience = patience;
        }
        self.budget = config.delegations;
    }
}
