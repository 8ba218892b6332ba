//! Counters in the Prometheus format. Each server has its own, so that several can live in one process.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use nfs4_proto::{CbOpNum, MainOp, OpNum, Status};

/// Why metrics cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The address cannot be taken.
    #[error("--metrics {address}: {error}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
    /// The exporter refused its configuration.
    #[error("metrics: {0}")]
    Build(#[from] metrics_exporter_prometheus::BuildError),
}

const SOURCE: Metadata<'static> = Metadata::new("nfs4_server", Level::INFO, None);

/// Minor versions that are counted without a lock.
const MINORS: usize = 3;

/// Kinds of illegal statuses that are counted apart.
const MOST_ILLEGAL: usize = 1024;

/// What is counted. Handles are kept, so that counting is one atomic addition.
pub struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    /// What is usual, NFS4_OK, without a lock: by main operation and minor version.
    rpcs_ok: Vec<[OnceLock<Counter>; MINORS]>,
    rpcs: Mutex<HashMap<(MainOp, u32, u32), Counter>>,
    /// By main operation.
    seconds: Vec<OnceLock<Histogram>>,
    /// NFS4_OK, by operation.
    ops_ok: Vec<OnceLock<Counter>>,
    ops: Mutex<HashMap<(OpNum, u32), Counter>>,
    illegal: Mutex<HashMap<(&'static str, u32), Counter>>,
    bytes_in: Counter,
    bytes_out: Counter,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

/// Serves `/metrics` until it is dropped.
pub type Exporter = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Metrics {
    /// Counters that nobody reads over the network.
    pub fn new() -> Result<Self, MetricsError> {
        Ok(Self::around(builder()?.build_recorder()))
    }

    /// Counters and what serves them at `address`.
    pub fn serving(address: SocketAddr) -> Result<(Self, Exporter), MetricsError> {
        // The exporter tells of an address in use only when it runs: ask first.
        drop(std::net::TcpListener::bind(address).map_err(|error| MetricsError::Bind { address, error })?);
        let (recorder, exporter) = builder()?.with_http_listener(address).build()?;
        let exporter = Box::pin(async move {
            if exporter.await.is_err() {
                tracing::error!(%address, "metrics are served no more");
            }
        });
        Ok((Self::around(recorder), exporter))
    }

    fn around(recorder: PrometheusRecorder) -> Self {
        let handle = recorder.handle();
        let bytes = |dir: &'static str| {
            let key = Key::from_parts("nfs_bytes_total", vec![Label::from_static_parts("dir", dir)]);
            recorder.register_counter(&key, &SOURCE)
        };
        let (bytes_in, bytes_out) = (bytes("in"), bytes("out"));
        for (name, text) in [
            (
                "nfs_rpcs_total",
                "COMPOUND calls by main operation (docs/counting.md), minor version and status.",
            ),
            ("nfs_operations_total", "Operations inside of compounds, by status."),
            ("nfs_callbacks_total", "Callbacks to clients by their first operation and what came of them."),
            ("nfs_bytes_total", "Bytes of RPC records."),
            (
                "nfs_illegal_statuses_total",
                "Answers with a status that the RFCs do not list for the operation.",
            ),
        ] {
            recorder.describe_counter(name.into(), None, text.into());
        }
        recorder.describe_histogram(
            "nfs_rpc_seconds".into(),
            None,
            "Time from the record's arrival to its reply.".into(),
        );
        Self {
            recorder,
            handle,
            rpcs_ok: std::iter::repeat_with(Default::default).take(MainOp::COUNT).collect(),
            rpcs: Mutex::default(),
            seconds: std::iter::repeat_with(OnceLock::new).take(MainOp::COUNT).collect(),
            ops_ok: std::iter::repeat_with(OnceLock::new).take(OpNum::ALL.len()).collect(),
            ops: Mutex::default(),
            illegal: Mutex::default(),
            bytes_in,
            bytes_out,
        }
    }

    /// One COMPOUND was answered.
    pub fn rpc(&self, main: MainOp, minor: u32, status: Status, seconds: f64) {
        use nfs4_xdr::XdrEnum as _;
        let register = || {
            let labels = vec![
                Label::from_static_parts("main", main.label()),
                Label::new("minor", minor.to_string()),
                Label::new("status", status.to_string()),
            ];
            self.recorder.register_counter(&Key::from_parts("nfs_rpcs_total", labels), &SOURCE)
        };
        let place = usize::try_from(minor).unwrap_or(usize::MAX);
        match self.rpcs_ok.get(main.index()).and_then(|minors| minors.get(place)) {
            Some(usual) if status == Status::Ok => usual.get_or_init(register).increment(1),
            Some(_) | None => {
                let mut rpcs = self.rpcs.lock().unwrap_or_else(PoisonError::into_inner);
                rpcs.entry((main, minor, status.to_wire())).or_insert_with(register).increment(1);
            }
        }
        if let Some(histogram) = self.seconds.get(main.index()) {
            let register = || {
                let labels = vec![Label::from_static_parts("main", main.label())];
                self.recorder.register_histogram(&Key::from_parts("nfs_rpc_seconds", labels), &SOURCE)
            };
            histogram.get_or_init(register).record(seconds);
        }
    }

    /// One operation was answered. A status that is not the operation's to answer is a fault of this server: it is
    /// counted, and logged the first time.
    pub fn operation(&self, num: OpNum, status: Status) {
        use nfs4_xdr::XdrEnum as _;
        if !num.may_answer(status) && self.illegal(num.name(), status) {
            tracing::error!("{} was answered {status}, which the RFCs do not list for it", num.name());
        }
        let register = || {
            let labels =
                vec![Label::from_static_parts("op", num.name()), Label::new("status", status.to_string())];
            self.recorder.register_counter(&Key::from_parts("nfs_operations_total", labels), &SOURCE)
        };
        match self.ops_ok.get(num.index()) {
            Some(usual) if status == Status::Ok => usual.get_or_init(register).increment(1),
            Some(_) | None => {
                let mut ops = self.ops.lock().unwrap_or_else(PoisonError::into_inner);
                ops.entry((num, status.to_wire())).or_insert_with(register).increment(1);
            }
        }
    }

    /// Sorts what histograms have gathered into their buckets: to be called now and then, or it takes memory for as long
    /// as nobody reads the metrics.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    /// A callback ended: `answered`, or why not.
    pub fn callback(&self, op: &'static str, outcome: &'static str) {
        let labels = vec![Label::from_static_parts("op", op), Label::from_static_parts("outcome", outcome)];
        self.recorder.register_counter(&Key::from_parts("nfs_callbacks_total", labels), &SOURCE).increment(1);
    }

    /// A client answered a callback with a status that is not the callback's: counted, and logged the first time.
    pub fn illegal_callback_answer(&self, num: CbOpNum, status: Status) {
        if self.illegal(num.name(), status) {
            tracing::warn!(
                "a client answered {} with {status}, which the RFCs do not list for it",
                num.name()
            );
        }
    }

    /// Counts a status that is not one of the operation's; true the first time.
    fn illegal(&self, op: &'static str, status: Status) -> bool {
        use nfs4_xdr::XdrEnum as _;
        let register = || {
            let labels = vec![Label::from_static_parts("op", op), Label::new("status", status.to_string())];
            self.recorder.register_counter(&Key::from_parts("nfs_illegal_statuses_total", labels), &SOURCE)
        };
        let mut illegal = self.illegal.lock().unwrap_or_else(PoisonError::into_inner);
        // A peer may make up statuses without end.
        let value = if illegal.len() < MOST_ILLEGAL { status.to_wire() } else { u32::MAX };
        let first = !illegal.contains_key(&(op, value));
        illegal.entry((op, value)).or_insert_with(register).increment(1);
        first
    }

    /// Something happened to a delegation: `granted`, `refused`, `recalled`, `returned`, `revoked`, `pushed`; with a
    /// reason or kind.
    pub fn delegation(&self, event: &'static str, reason: &'static str) {
        let labels =
            vec![Label::from_static_parts("event", event), Label::from_static_parts("reason", reason)];
        let key = Key::from_parts("nfs_delegation_events_total", labels);
        self.recorder.register_counter(&key, &SOURCE).increment(1);
    }

    /// Seconds from a recall to the return.
    pub fn recall(&self, seconds: f64) {
        let key = Key::from_name("nfs_recall_seconds");
        self.recorder.register_histogram(&key, &SOURCE).record(seconds);
    }

    /// Bytes that came and went with one call.
    pub fn bytes(&self, received: usize, sent: usize) {
        self.bytes_in.increment(u64::try_from(received).unwrap_or(u64::MAX));
        self.bytes_out.increment(u64::try_from(sent).unwrap_or(u64::MAX));
    }

    /// A gauge of this server.
    pub fn gauge(&self, name: &'static str, label: Option<(&'static str, String)>) -> Gauge {
        let labels = label.map(|(key, value)| vec![Label::new(key, value)]).unwrap_or_default();
        self.recorder.register_gauge(&Key::from_parts(name, labels), &SOURCE)
    }

    /// Bytes that an export in memory uses of its `mem-limit`.
    pub fn memory_used(&self, export: String) -> Gauge {
        let labels = vec![Label::from_static_parts("limit", "mem-limit"), Label::new("export", export)];
        self.recorder.register_gauge(&Key::from_parts("nfs_limit_used", labels), &SOURCE)
    }

    /// A counter of this server.
    pub fn counter(&self, name: &'static str, label: Option<(&'static str, String)>) -> Counter {
        let labels = label.map(|(key, value)| vec![Label::new(key, value)]).unwrap_or_default();
        self.recorder.register_counter(&Key::from_parts(name, labels), &SOURCE)
    }

    /// All of it as text, as it is served.
    #[must_use]
    pub fn render(&self) -> String {
        self.handle.run_upkeep();
        self.handle.render()
    }
}

fn builder() -> Result<PrometheusBuilder, MetricsError> {
    let buckets = [
        0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
        30.0,
    ];
    Ok(PrometheusBuilder::new().set_buckets_for_metric(Matcher::Full("nfs_rpc_seconds".into()), &buckets)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_not_the_operations_is_counted_apart_in_every_build() {
        let metrics = Metrics::new().unwrap();
        metrics.operation(OpNum::Lookup, Status::NoEnt);
        assert!(!metrics.render().contains("nfs_illegal_statuses_total{"));
        assert!(!OpNum::Lookup.may_answer(Status::Resource));
        metrics.operation(OpNum::Lookup, Status::Resource);
        metrics.operation(OpNum::Lookup, Status::Resource);
        let line = "nfs_illegal_statuses_total{op=\"LOOKUP\",status=\"NFS4ERR_RESOURCE\"} 2";
        assert!(metrics.render().lines().any(|l| l == line), "{}", metrics.render());
    }
}
