//! A server from its configuration: what `main` runs, and embedders and tests too.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::admin::{AdminError, DelegationRow, Socket};
use crate::backend::Backend;
use crate::backend::local::{Local, LocalError, LocalOptions};
use crate::backend::mem::Mem;
use crate::cb;
use crate::config::{Config, DelegationMode, ExportConfig, Source};
use crate::core::{Core, Holder, now_since};
use crate::deleg::{self, Machines};
use crate::export::{Export, ExportError, Exports, HandleKey};
use crate::net::{ListenError, Net, NetLimits};
use crate::observe::{Metrics, MetricsError};
use crate::state::{FileRecords, Files, MemRecords, Records, Settings, State, StateDir, StateDirError};

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A directory cannot be served.
    #[error("export {path:?}: {error}")]
    Local {
        /// The export's path.
        path: String,
        /// Why.
        error: Box<LocalError>,
    },
    /// Memory cannot be served.
    #[error("export {path:?}: the memory export cannot be made: {error}")]
    Mem {
        /// The export's path.
        path: String,
        /// Why.
        error: crate::backend::Fault,
    },
    /// Exports cannot stand side by side.
    #[error(transparent)]
    Exports(#[from] ExportError),
    /// The state directory cannot be used.
    #[error("--state: {0}")]
    State(#[from] StateDirError),
    /// Client records cannot be written.
    #[error("client records: {0}")]
    Records(std::io::Error),
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    Random(getrandom::Error),
    /// An address cannot be taken.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The administrator's socket cannot be taken.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// Metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}

/// A running server. Dropped without [`stop`](Self::stop), it ends at once.
#[derive(Debug)]
pub struct Server {
    core: Arc<Core>,
    /// What is in force.
    config: Config,
    listening: Arc<Net>,
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    net: JoinHandle<()>,
    others: Vec<JoinHandle<()>>,
}

/// How often leases are looked at.
const TICK: Duration = Duration::from_millis(500);

fn random<const N: usize>() -> Result<[u8; N], StartError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(StartError::Random)?;
    Ok(bytes)
}

struct Kept {
    records: Box<dyn Records>,
    identity: [u8; 16],
    key: [u8; 16],
}

fn kept(dir: Option<&Arc<StateDir>>) -> Result<Kept, StartError> {
    Ok(match dir {
        Some(dir) => Kept {
            identity: dir.secret("identity")?,
            key: dir.secret("handle-key")?,
            records: Box::new(FileRecords::open(Arc::clone(dir))?),
        },
        None => Kept {
            identity: random()?,
            key: random()?,
            records: Box::new(MemRecords::new(u32::from_be_bytes(random()?))),
        },
    })
}

fn backend(
    export: &ExportConfig,
    config: &Config,
    state: Option<&Path>,
) -> Result<Arc<dyn Backend>, StartError> {
    match &export.source {
        Source::Memory(limit) => {
            let mem =
                Mem::new(*limit).map_err(|error| StartError::Mem { path: export.path.clone(), error })?;
            Ok(Arc::new(mem))
        }
        Source::Directory(dir) => {
            let id = export.number();
            let options = LocalOptions {
                state_dir: state.map(|state| state.join(format!("export-{id:08x}"))),
                sync_metadata: export.sync_metadata,
                exclusive: export.exclusive,
                threads: config.threads,
                descriptors: usize::try_from(config.limits.descriptors).unwrap_or(usize::MAX),
                read_only: export.is_never_written(),
                force_single_user: false,
            };
            let local = Local::open(dir, options)
                .map_err(|error| StartError::Local { path: export.path.clone(), error: Box::new(error) })?;
            if local.single_user() {
                tracing::warn!(
                    export = export.path,
                    "not root: every client acts as this server's user, and owners cannot be changed"
                );
            }
            Ok(Arc::new(local))
        }
    }
}

fn export(export: &ExportConfig, config: &Config, machines: &Machines) -> Result<Export, StartError> {
    let backend = backend(export, config, config.state.as_deref())?;
    let made = Export::new(export.number(), &export.path, backend, export.squash, export.read_only);
    let alone = export.exclusive || matches!(export.source, Source::Memory(_));
    let machine = match export.delegations {
        DelegationMode::None => None,
        DelegationMode::File | DelegationMode::FileAndDir if alone => {
            machines.make(deleg::config(&config.limits, config.lease))
        }
        DelegationMode::File | DelegationMode::FileAndDir => {
            tracing::info!(
                export = export.path,
                "no delegations: others may change the directory; --exclusive says that nobody does"
            );
            None
        }
    };
    Ok(made.with_options(export).delegating(machine))
}

impl Server {
    /// Starts a server: when this returns it accepts connections.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        let started = Instant::now();
        let state_dir = config.state.as_deref().map(StateDir::open).transpose()?.map(Arc::new);
        let Kept { records, identity, key } = kept(state_dir.as_ref())?;
        let machines = Machines::new(records.epoch(), started);
        let mut exports = Vec::new();
        for one in &config.exports {
            exports.push(export(one, config, &machines)?);
        }
        let exports = Arc::new(Exports::new(exports, HandleKey::new(&key))?);
        let files = Arc::new(Files::new(records.epoch(), &config.limits));
        let holder = Arc::new(Holder { files: Arc::clone(&files), exports: Arc::clone(&exports) });
        let settings = Settings::new(&config.limits, config.lease, config.grace, identity);
        let seed = u64::from_be_bytes(random()?);
        let state =
            State::new(now_since(started), settings, seed, records, holder).map_err(StartError::Records)?;
        let mut others = Vec::new();
        let metrics = match config.metrics {
            None => Metrics::new()?,
            Some(address) => {
                let (metrics, exporter) = Metrics::serving(address)?;
                others.push(tokio::spawn(exporter));
                metrics
            }
        };
        let core = Core::new(exports, state, files, machines, metrics, config.limits, config.lease);
        let core = Arc::new(core);
        core.tell_limits();
        core.tell_grace();
        let net = Arc::new(Net::bind(&config.listen, NetLimits::from(&config.limits)).await?);
        let addresses = net.addresses().to_vec();
        let (stop, stopping) = watch::channel(false);
        let (service, listening) = (Arc::clone(&core), Arc::clone(&net));
        let net = tokio::spawn(async move { net.run(service, stopping).await });
        others.push(tokio::spawn(cb::lock::tell_waiters(Arc::clone(&core))));
        others.push(tokio::spawn(deleg::carry_out(Arc::clone(&core))));
        if let Some(path) = &config.admin_socket {
            others.push(tokio::spawn(Socket::bind(path)?.serve(Arc::clone(&core))));
        }
        let ticking = Arc::clone(&core);
        others.push(tokio::spawn(async move {
            let mut interval = tokio::time::interval(TICK);
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                interval.tick().await;
                let core = Arc::clone(&ticking);
                // Records are written to the medium where there are any.
                drop(tokio::task::spawn_blocking(move || core.tick()).await);
            }
        }));
        Ok(Self { core, config: config.clone(), listening, addresses, stop, net, others })
    }

    /// Takes another configuration into force, and drops no client: exports come, go and change their options, limits
    /// count from now on. On an error nothing has changed. The keys whose new values wait for a restart are returned.
    pub async fn reload(&mut self, config: &Config) -> Result<Vec<String>, StartError> {
        let (next, waiting) = self.config.reloaded(config);
        let mut exports = Vec::new();
        for one in &next.exports {
            let known = self.config.exports.iter().any(|old| old.number() == one.number());
            if let Some(served) = self.core.exports.get(one.number()).filter(|_| known) {
                exports.push(served.with_options(one));
            } else {
                let (one, all, core) = (one.clone(), next.clone(), Arc::clone(&self.core));
                // A directory is looked at, which may take its time.
                let made = tokio::task::spawn_blocking(move || export(&one, &all, &core.machines)).await;
                exports.push(made.map_err(|_| StartError::Exports(ExportError::None))??);
            }
        }
        self.core.set_exports(exports)?;
        self.core.set_limits(next.limits);
        self.listening.set_limits(NetLimits::from(&next.limits));
        self.config = next;
        Ok(waiting)
    }

    /// The addresses taken.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Opens now.
    #[must_use]
    pub fn opens(&self) -> usize {
        self.core.files.counts().0
    }

    /// Delegations now.
    #[must_use]
    pub fn delegations(&self) -> Vec<DelegationRow> {
        self.core.delegation_rows(None, usize::MAX).rows
    }

    /// Takes an open, locks or a delegation away by `other` of its stateid; false where there is none. Its client is told
    /// (RFC 8881 §8.4.2.4).
    #[must_use]
    pub fn revoke(&self, other: [u8; 12]) -> bool {
        self.core.revoke(other).is_some()
    }

    /// Its counters.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.core.metrics
    }

    /// Stops: takes no more, answers what was taken, closes.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        drop((&mut self.net).await);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.net.abort();
        self.core.end();
        for task in &self.others {
            task.abort();
        }
    }
}
