//! Bounds of connections.

use std::time::Duration;

use nfs4_xdr::record::RecordLimits;

use crate::config::Limits;

/// What a peer can reach on the way to an operation.
#[derive(Clone, Copy, Debug)]
pub struct NetLimits {
    /// Connections in all.
    pub connections: usize,
    /// Connections of one address.
    pub per_address: usize,
    /// Without a request for so long, a connection is closed unless it carries a back channel.
    pub idle: Duration,
    /// The first request must come within.
    pub first_request: Duration,
    /// Of one record.
    pub record: RecordLimits,
    /// Requests in progress for one connection.
    pub inflight: usize,
    /// Bytes of requests in progress, and bytes of replies that wait for the peer, each.
    pub inflight_bytes: usize,
    /// A graceful stop waits so long for what was taken.
    pub stop: Duration,
}

fn size(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

impl From<&Limits> for NetLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            connections: size(limits.connections),
            per_address: size(limits.connections_per_address),
            idle: Duration::from_secs(u64::from(limits.idle_connection)),
            first_request: Duration::from_secs(u64::from(limits.first_request)),
            record: RecordLimits { bytes: size(limits.record_bytes), ..RecordLimits::default() },
            inflight: size(limits.inflight_per_connection),
            inflight_bytes: size(limits.inflight_bytes_per_connection),
            stop: Duration::from_secs(5),
        }
    }
}

impl Default for NetLimits {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}
