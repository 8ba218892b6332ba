//! What all connections share: the server without its sockets.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use arc_swap::{ArcSwap, Guard};
use nfs4_deleg::server::Effect;
use nfs4_deleg::{ClientKey, Now};
use nfs4_proto::{ClientId, Status};
use nfs4_xdr::Segments;
use tokio::task::JoinSet;

use crate::admin::{ClientRow, Page};
use crate::compound;
use crate::config::Limits;
use crate::deleg::Machines;
use crate::export::{Export, ExportError, Exports};
use crate::net::{Call, Conn, ConnId, Service};
use crate::observe::Metrics;
use crate::state::{Client, Closed, Files, State, StateHolder, Why, seq4};

/// The server without its sockets.
pub struct Core {
    /// What is served.
    pub(crate) exports: Arc<Exports>,
    /// Clients and sessions.
    pub(crate) state: State,
    /// Opens and locks.
    pub(crate) files: Arc<Files>,
    /// Makes the exports' delegation machines.
    pub(crate) machines: Machines,
    /// Counters.
    pub(crate) metrics: Metrics,
    /// Bounds.
    limits: ArcSwap<Limits>,
    /// Seconds of a lease.
    pub(crate) lease: u32,
    /// The start of the clock that never goes backwards.
    pub(crate) started: Instant,
    conns: Mutex<HashMap<ConnId, Weak<Conn>>>,
    /// What the machines were told of grace.
    pub(crate) grace_told: AtomicBool,
    /// What goes on beside the requests: copies, callbacks. Ends with the server.
    beside: Mutex<JoinSet<()>>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Core")
    }
}

impl Core {
    pub(crate) fn new(
        exports: Arc<Exports>,
        state: State,
        files: Arc<Files>,
        machines: Machines,
        metrics: Metrics,
        limits: Limits,
        lease: u32,
    ) -> Self {
        Self {
            exports,
            state,
            files,
            metrics,
            limits: ArcSwap::from_pointee(limits),
            lease,
            started: machines.started(),
            machines,
            conns: Mutex::default(),
            grace_told: AtomicBool::new(false),
            beside: Mutex::default(),
        }
    }

    /// The bounds.
    pub(crate) fn limits(&self) -> Guard<Arc<Limits>> {
        self.limits.load()
    }

    /// Other bounds from now on.
    pub(crate) fn set_limits(&self, limits: Limits) {
        self.state.set_limits(&limits);
        self.files.set_limits(&limits);
        self.limit_delegations(&limits);
        self.limits.store(Arc::new(limits));
        self.tell_limits();
    }

    /// Each limit as a gauge.
    pub(crate) fn tell_limits(&self) {
        let limits = serde_json::to_value(**self.limits()).unwrap_or_default();
        for (name, value) in limits.as_object().into_iter().flatten() {
            if let Some(value) = value.as_f64() {
                self.metrics.gauge("nfs_limit", Some(("limit", name.clone()))).set(value);
            }
        }
    }

    /// Other exports from now on; what was held on those that are gone is freed.
    pub(crate) fn set_exports(&self, exports: Vec<Export>) -> Result<(), ExportError> {
        let before = self.exports.machines();
        for id in self.exports.replace(exports)? {
            let closed = self.files.drop_export(id);
            tracing::info!(export = id, opens = closed.len(), "export removed");
            drop(closed);
            for (_, machine) in before.iter().filter(|(export, _)| export.id == id) {
                machine.close();
            }
        }
        self.tell_grace();
        Ok(())
    }

    /// Lets something go on beside the requests, until the server ends.
    pub(crate) fn beside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        while beside.try_join_next().is_some() {}
        beside.spawn(work);
    }

    /// Ends what goes on beside the requests.
    pub(crate) fn end(&self) {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }

    /// The time, as leases count it.
    pub(crate) fn now(&self) -> Now {
        now_since(self.started)
    }

    /// Most bytes of one READ or WRITE: what a record holds beside ordinary headers.
    pub(crate) fn max_io(&self) -> u32 {
        self.limits().record_bytes.saturating_sub(64 << 10).max(4096)
    }

    /// Runs what may write a record where it may block.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        f: impl FnOnce(&Self) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        if !self.state.durable() {
            return f(self);
        }
        let core = Arc::clone(self);
        tokio::task::spawn_blocking(move || f(&core)).await.unwrap_or(Err(Status::ServerFault))
    }

    /// Removes a client whose lease is over because somebody needs what it holds (RFC 8881 §8.4.3). True where it is
    /// gone: then it is worth asking again.
    pub(crate) async fn evict_if_courtesy(
        self: &Arc<Self>,
        now: Now,
        client: ClientId,
    ) -> Result<bool, Status> {
        self.blocking(move |core| core.state.evict_courtesy(now, client)).await
    }

    /// For state that was made while its client or its export was being removed: frees it again, and tells the caller to come back
    /// (and to learn by SEQUENCE that it is gone).
    pub(crate) fn refuse_if_gone(&self, client: &Client, export: &Export) -> Result<(), Status> {
        if self.exports.get(export.id).is_none() {
            drop(self.files.drop_export(export.id));
            return Err(Status::Stale);
        }
        if !client.is_gone() {
            return Ok(());
        }
        free_client(&self.files, &self.exports, client.id(), Why::Expired);
        Err(Status::Delay)
    }

    /// Clients, with what they hold.
    pub(crate) fn client_rows(&self, after: Option<ClientId>, most: usize) -> Page<ClientRow> {
        let mut page = self.state.client_rows(self.now(), after, most);
        for row in &mut page.rows {
            let id = crate::admin::number(&row.client).map(ClientId);
            (row.opens, row.ranges) = id.map_or((0, 0), |id| self.files.counts_of(id));
        }
        page
    }

    /// Takes an open, locks or a delegation away; their client is told (RFC 8881 §8.4.2.4). Whose it was.
    pub(crate) fn revoke(&self, other: [u8; 12]) -> Option<ClientId> {
        if let Some(client) = self.revoke_delegation(other) {
            return Some(client);
        }
        let (client, closed) = self.files.revoke(other)?;
        if let Some(client) = self.state.client(client) {
            client.set_flags(seq4::ADMIN_STATE_REVOKED);
        }
        tracing::info!(client = client.0, "state revoked by the administrator");
        tell_closed(&self.exports, closed);
        Some(client)
    }

    /// A connection by its number, while it lives.
    pub(crate) fn conn(&self, id: ConnId) -> Option<Arc<Conn>> {
        let conns = self.conns.lock().unwrap_or_else(PoisonError::into_inner);
        conns.get(&id).and_then(Weak::upgrade)
    }

    /// What time brings: expired leases, the end of grace.
    pub(crate) fn tick(&self) {
        let expired = self.state.expire(self.now());
        for client in &expired.removed {
            tracing::info!(client = client.0, "lease expired: client removed");
        }
        self.tick_delegations(&expired.courtesy);
        self.files.forget_waiters(self.now());
        let (opens, locks) = self.files.counts();
        let used = |name: &str, value: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a gauge")]
            self.metrics.gauge("nfs_limit_used", Some(("limit", name.to_owned()))).set(value as f64);
        };
        self.metrics.upkeep();
        let connections = self.conns.lock().unwrap_or_else(PoisonError::into_inner).len();
        used("connections", connections);
        used("clients", self.state.clients_used());
        used("sessions", self.state.sessions_used());
        used("opens", opens);
        used("locks", locks);
        used("lock-waiters", self.files.waiters());
        for (path, bytes) in self.exports.memory_used() {
            #[expect(clippy::cast_precision_loss, reason = "a gauge")]
            self.metrics.memory_used(path).set(bytes as f64);
        }
    }
}

/// Milliseconds since a start.
pub(crate) fn now_since(started: Instant) -> Now {
    Now::from_millis(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX))
}

impl Service for Core {
    async fn compound(self: Arc<Self>, conn: Arc<Conn>, call: Call) -> Option<Segments> {
        compound::run(self, conn, call).await
    }

    fn opened(&self, conn: &Arc<Conn>) {
        let mut conns = self.conns.lock().unwrap_or_else(PoisonError::into_inner);
        conns.insert(conn.id(), Arc::downgrade(conn));
        drop(conns);
        self.state.connected(conn.id());
    }

    fn closed(&self, conn: ConnId) {
        self.conns.lock().unwrap_or_else(PoisonError::into_inner).remove(&conn);
        self.state.disconnected(conn);
    }
}

/// Frees what a client held, and tells the exports' machines.
pub(crate) struct Holder {
    pub(crate) files: Arc<Files>,
    pub(crate) exports: Arc<Exports>,
}

impl StateHolder for Holder {
    fn client_has_state(&self, client: ClientId) -> bool {
        let key = ClientKey(client.0);
        self.files.client_has_state(client)
            || self.exports.machines().iter().any(|(_, machine)| machine.client_has_state(key))
    }

    fn drop_client(&self, client: ClientId, why: Why) {
        free_client(&self.files, &self.exports, client, why);
    }
}

fn free_client(files: &Files, exports: &Exports, client: ClientId, why: Why) {
    let closed = files.drop_client(client);
    if !closed.is_empty() {
        tracing::info!(client = client.0, ?why, opens = closed.len(), "client's opens freed");
    }
    tell_closed(exports, closed);
    for (_, machine) in exports.machines() {
        machine.gone(ClientKey(client.0));
    }
}

/// Tells the exports' machines, and closes.
fn tell_closed(exports: &Exports, closed: impl IntoIterator<Item = Closed>) {
    for Closed { key, client, write, opened } in closed {
        if let Some(export) = exports.get(key.export) {
            let effect = Effect::Closed { oid: key.oid, client: ClientKey(client.0), write };
            export.effect(effect);
        }
        drop(opened);
    }
}
