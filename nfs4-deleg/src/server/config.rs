//! Spans, bounds and switches.

use crate::Millis;

/// Spans, bounds and switches of the machine. Each bound has an answer of the protocol at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "switches of their own")]
pub struct Config {
    /// Most permits at one time; beyond it [`Admit::Delay`](super::Admit::Delay). Each is one running operation.
    pub permits: usize,
    /// `lease_time`: a recalled delegation that is not back after it is revoked (RFC 8881 §10.4.5).
    pub lease: Millis,
    /// How long an operation waits before NFS4ERR_DELAY; never more than a quarter of the lease.
    pub patience: Millis,
    /// How long until a recall that was not taken is sent again; doubled each time.
    pub retry: Millis,
    /// Most of that.
    pub retry_most: Millis,
    /// How long a CB_GETATTR may take.
    pub cb_timeout: Millis,
    /// How long a file is left alone after a recall.
    pub quiet: Millis,
    /// Most files that are remembered for that.
    pub quiet_files: usize,
    /// Most delegations, revoked ones too; beyond it WND4_RESOURCE.
    pub delegations: usize,
    /// Most of one client.
    pub per_client: usize,
    /// Most operations that wait; beyond it [`Admit::Delay`](super::Admit::Delay).
    pub waiters: usize,
    /// Most that wait for one object.
    pub waiters_per_object: usize,
    /// Most registered wants; beyond it none is promised anything.
    pub wants: usize,
    /// Most of one client.
    pub wants_per_client: usize,
    /// Read delegations are granted.
    pub reads: bool,
    /// Write delegations are granted.
    pub writes: bool,
    /// With times, where a client wants them (RFC 9754).
    pub times: bool,
    /// A read delegation may become a write delegation.
    pub upgrade: bool,
    /// A write delegation may become a read delegation.
    pub downgrade: bool,
    /// An OPEN for writing upgrades without being asked to.
    pub eager_upgrade: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            permits: 65_536,
            lease: Millis::from_secs(90),
            patience: Millis::from_secs(20),
            retry: Millis::from_secs(2),
            retry_most: Millis::from_secs(16),
            cb_timeout: Millis::from_secs(2),
            quiet: Millis::from_secs(30),
            quiet_files: 65_536,
            delegations: 1_000_000,
            per_client: 250_000,
            waiters: 10_000,
            waiters_per_object: 1_024,
            wants: 65_536,
            wants_per_client: 1_024,
            reads: true,
            writes: true,
            times: true,
            upgrade: true,
            downgrade: true,
            eager_upgrade: true,
        }
    }
}

impl Config {
    /// Grants nothing.
    #[must_use]
    pub fn none() -> Self {
        Self { reads: false, writes: false, ..Self::default() }
    }

    pub(super) fn patience(&self) -> Millis {
        Millis(self.patience.0.min(self.lease.0 >> 2))
    }
}
