//! What the server as a whole does about delegations: clients that come and go, grace, limits, lists.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Config, Event, Intent, Kind, Party, Triple};
use nfs4_deleg::{Millis, Now};
use nfs4_proto::{ClientId, Status};

use super::{Machine, named};
use crate::admin::{DelegationRow, Page};
use crate::config::Limits;
use crate::core::Core;
use crate::state::Client;

fn size(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// What a machine is run with.
pub(crate) fn config(limits: &Limits, lease: u32) -> Config {
    Config {
        lease: Millis::from_secs(lease.into()),
        patience: Millis::from_secs(limits.patience.into()),
        delegations: size(limits.delegations),
        per_client: size(limits.delegations_per_client),
        wants: size(limits.wants),
        wants_per_client: size(limits.wants_per_client),
        waiters: size(limits.parked),
        waiters_per_object: size(limits.parked_per_file),
        ..Config::default()
    }
}

impl Core {
    /// Removes clients whose lease is over and whose delegations an operation would wait for: nobody is there to return
    /// them (RFC 8881 §8.4.3).
    pub(crate) async fn evict_dead(
        self: &Arc<Self>,
        machine: &Machine,
        party: Party,
        intent: &Intent,
    ) -> Result<(), Status> {
        for holder in machine.in_the_way(party, intent) {
            let (now, holder) = (self.now(), ClientId(holder.0));
            if self.state.is_expired(now, holder) {
                self.evict_if_courtesy(now, holder).await?;
            }
        }
        Ok(())
    }

    /// The client has seen the reply to this call.
    pub(crate) fn grant_seen(&self, client: &Client, call: Triple) {
        for (_, machine) in self.exports.machines() {
            machine.event(Event::ReplySeen { client: ClientKey(client.id().0), call });
        }
    }

    /// What SEQUENCE tells a client of revoked delegations, brought up to date.
    pub(crate) fn tell_flags(&self, id: ClientId) -> u32 {
        let machines = self.exports.machines();
        let flags = machines.iter().fold(0, |flags, (_, machine)| flags | machine.flags(ClientKey(id.0)));
        if let Some(client) = self.state.client(id) {
            client.set_delegation_flags(flags);
        }
        flags
    }

    /// A delegation was taken: its client is told, and it is put on record before somebody else gets the file.
    pub(super) async fn delegation_revoked(self: &Arc<Self>, client: ClientId) {
        self.tell_flags(client);
        // Where it cannot be written the log says so; the file is not kept from others for ever.
        let _ = self.blocking(move |core| core.state.lost_state(client)).await;
    }

    /// The client freed a revoked delegation. The last one makes its record whole again.
    pub(crate) async fn delegation_freed(self: &Arc<Self>, client: ClientId) -> Result<(), Status> {
        if self.tell_flags(client) == 0 {
            self.blocking(move |core| core.state.whole(client)).await?;
        }
        Ok(())
    }

    pub(crate) fn revoke_delegation(&self, other: [u8; 12]) -> Option<ClientId> {
        let (number, deleg) = named(nfs4_proto::StateId { seqid: 0, other }, self.state.epoch())?;
        let machine = self.exports.machine(number)?;
        let (_, held) = machine.rows().into_iter().find(|(_, held)| held.deleg.id == deleg.id)?;
        machine.event(Event::AdminRevoke(deleg.id));
        tracing::info!(client = held.client.0, "delegation revoked by the administrator");
        Some(ClientId(held.client.0))
    }

    /// The machines are told whether there is grace.
    pub(crate) fn tell_grace(&self) {
        let grace = self.state.in_grace();
        self.grace_told.store(grace, Ordering::Relaxed);
        for (_, machine) in self.exports.machines() {
            machine.event(Event::Grace(grace));
        }
    }

    fn grace_may_be_over(&self) {
        if self.grace_told.load(Ordering::Relaxed) != self.state.in_grace() {
            self.tell_grace();
        }
    }

    /// A client has reclaimed.
    pub(crate) fn reclaimed(&self, client: ClientId) {
        for (_, machine) in self.exports.machines() {
            machine.event(Event::ReclaimComplete(ClientKey(client.0)));
        }
        self.grace_may_be_over();
    }

    /// What time brings. `courtesy`: clients whose lease is over.
    pub(crate) fn tick_delegations(&self, courtesy: &[ClientId]) {
        let machines = self.exports.machines();
        let now: Now = self.now();
        for client in courtesy {
            let key = ClientKey(client.0);
            if machines.iter().any(|(_, machine)| machine.is_waited_for(key)) {
                // If its record cannot be removed, the log says so, and it is tried again.
                let _ = self.state.evict_courtesy(now, *client);
            }
        }
        self.grace_may_be_over();
        let mut used = [0_usize; 3];
        for (_, machine) in &machines {
            let (held, wants, parked) = machine.used();
            for (sum, n) in used.iter_mut().zip([held, wants, parked]) {
                *sum = sum.saturating_add(n);
            }
        }
        for (limit, used) in ["delegations", "wants", "parked"].into_iter().zip(used) {
            #[expect(clippy::cast_precision_loss, reason = "a gauge")]
            self.metrics.gauge("nfs_limit_used", Some(("limit", limit.to_owned()))).set(used as f64);
        }
    }

    /// Other limits for the machines.
    pub(crate) fn limit_delegations(&self, limits: &Limits) {
        for (_, machine) in self.exports.machines() {
            machine.event(Event::Config(config(limits, self.lease)));
        }
    }

    /// Delegations by stateid, those behind `after`.
    pub(crate) fn delegation_rows(&self, after: Option<[u8; 12]>, most: usize) -> Page<DelegationRow> {
        let mut all = Vec::new();
        for (export, machine) in self.exports.machines() {
            let rows = machine.rows().into_iter();
            all.extend(
                rows.filter(|(id, _)| after.is_none_or(|after| id.other > after)).map(|r| (export.id, r)),
            );
        }
        all.sort_unstable_by_key(|(_, (id, _))| id.other);
        let more = all.len() > most;
        let rows: Vec<DelegationRow> = all
            .into_iter()
            .take(most)
            .map(|(export, (id, held))| DelegationRow {
                stateid: crate::state::hex(&id.other),
                client: crate::state::client_text(ClientId(held.client.0)),
                export,
                object: format!("{:x}", held.oid.0),
                kind: match held.kind {
                    Kind::Read => "read",
                    Kind::Write => "write",
                }
                .into(),
                state: match (held.revoked, held.recalling) {
                    (Some(_), _) => "revoked",
                    (None, true) => "recalled",
                    (None, false) => "held",
                }
                .into(),
            })
            .collect();
        let next = rows.last().filter(|_| more).map(|row| row.stateid.clone());
        Page { rows, next }
    }
}
