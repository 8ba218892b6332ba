//! What the server tells of itself: metrics and logs.

mod log;
mod metrics;

pub use log::{LogError, start as start_log};
pub use metrics::{Exporter, Metrics, MetricsError};
