//! The task that carries out what the machines want.

use std::sync::Arc;
use std::time::Duration;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Action, Cause, CbId, DelegId};
use nfs4_proto::ClientId;

use super::{Machine, callbacks};
use crate::cb::{self, Callback};
use crate::core::Core;
use crate::export::Export;

/// Carries out what the machines of all exports want, for as long as the server runs.
pub(crate) async fn carry_out(core: Arc<Core>) {
    loop {
        let mut due = None;
        for (export, machine) in core.exports.machines() {
            machine.turn();
            while let Some((action, handle)) = machine.next() {
                carry(&core, &export, &machine, action, handle.as_deref()).await;
            }
            due = [due, machine.deadline()].into_iter().flatten().min();
        }
        let woken = core.machines.woken();
        match due {
            None => woken.await,
            Some(at) => {
                let left = Duration::from_millis(at.since(core.now()).0);
                // Which of the two it was is seen above.
                let _ = tokio::time::timeout(left, woken).await;
            }
        }
    }
}

fn client(key: ClientKey) -> ClientId {
    ClientId(key.0)
}

/// A callback whose end the machine is told.
fn call(
    core: &Arc<Core>,
    machine: &Arc<Machine>,
    to: ClientKey,
    (cb, about): (CbId, Option<DelegId>),
    callback: Option<Callback>,
) {
    let (beside, machine) = (Arc::clone(core), Arc::clone(machine));
    core.beside(async move {
        let answer = match callback {
            Some(callback) => cb::call(&beside, client(to), callback).await,
            // Nothing is kept of it any more.
            None => Err(cb::CbError::NoPath),
        };
        machine.called(cb, about, callbacks::outcome(answer));
    });
}

/// One that nobody waits for.
fn tell(core: &Arc<Core>, to: ClientKey, callback: Callback) {
    cb::tell(core, client(to), callback, move |answer| {
        if let Err(error) = answer {
            tracing::debug!(client = to.0, %error, "callback in vain");
        }
    });
}

async fn carry(
    core: &Arc<Core>,
    export: &Arc<Export>,
    machine: &Arc<Machine>,
    action: Action,
    handle: Option<&[u8]>,
) {
    let fh = handle.map(|raw| core.exports.seal(export.id, raw));
    match action {
        Action::Recall { cb, client, deleg, oid, truncate, referring } => {
            tracing::debug!(client = client.0, ?oid, truncate, "delegation called back");
            core.metrics.delegation("recalled", "");
            let stateid = machine.stateid(callbacks::of_today(deleg));
            let callback = fh.map(|fh| callbacks::recall(stateid, truncate, fh, referring));
            call(core, machine, client, (cb, Some(deleg.id)), callback);
        }
        Action::GetAttr { cb, client, times, referring, .. } => {
            let callback = fh.map(|fh| callbacks::getattr(fh, times, referring));
            // Whatever the answer, it ends no delegation.
            call(core, machine, client, (cb, None), callback);
        }
        Action::Push { cb, client, oid, grant } => {
            tracing::debug!(client = client.0, ?oid, kind = ?grant.kind, "delegation pushed");
            core.metrics.delegation("pushed", "");
            let stateid = machine.stateid(grant.deleg);
            let callback = fh.map(|fh| callbacks::push(stateid, &grant, fh));
            call(core, machine, client, (cb, Some(grant.deleg.id)), callback);
        }
        Action::RecallAny { client, keep } => tell(core, client, callbacks::recall_any(keep)),
        Action::Available { client, kind } => tell(core, client, callbacks::available(kind)),
        Action::WantsCancelled { client, contended, resourced } => {
            tell(core, client, callbacks::wants_cancelled(contended, resourced));
        }
        Action::Advance { oid, change, .. } => {
            let (export, machine) = (Arc::clone(export), Arc::clone(machine));
            let handle: Option<Box<[u8]>> = handle.map(Box::from);
            core.beside(async move {
                if let Some(handle) = handle
                    && let Ok(node) = export.backend.resolve(&handle).await
                    && let Err(fault) = export.backend.advance(&node, change).await
                {
                    tracing::warn!(?oid, %fault, "a change number that was told is not kept");
                }
                machine.advanced(oid, change);
            });
        }
        Action::Resume(id) => machine.resume(id),
        // Told where the machine was asked.
        Action::GiveUp(_) => {}
        Action::Revoked { client: key, id, cause } => {
            let reason = match cause {
                Cause::Late => "late",
                Cause::Expired => "expired",
                Cause::Admin => "admin",
            };
            tracing::info!(client = key.0, reason, "delegation revoked");
            core.metrics.delegation("revoked", reason);
            core.delegation_revoked(client(key)).await;
            machine.revoked(id);
        }
    }
}
