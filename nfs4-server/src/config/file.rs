//! The configuration file.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{DelegationMode, Limits, LogFormat, Size, Squash};

/// One `[[export.for]]`: other options for some of an export's clients.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ForFile {
    /// Addresses and networks of the clients.
    pub clients: Vec<String>,
    /// Whose identity is replaced; none: as for the others.
    pub squash: Option<Squash>,
    /// Refuse every change; none: as for the others.
    pub read_only: Option<bool>,
}

/// One `[[export]]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExportFile {
    /// Where clients see it.
    pub path: String,
    /// The directory; none: memory.
    pub dir: Option<PathBuf>,
    /// Whose identity is replaced.
    pub squash: Option<Squash>,
    /// Refuse every change.
    pub read_only: Option<bool>,
    /// Wait for the medium.
    pub sync_metadata: Option<bool>,
    /// Only this server changes it.
    pub exclusive: Option<bool>,
    /// Most bytes in memory.
    pub mem_limit: Option<Size>,
    /// Which delegations are given.
    pub delegations: Option<DelegationMode>,
    /// Number in handles and fsid.
    pub id: Option<u32>,
    /// Addresses (`10.0.0.7`) and networks (`10.0.0.0/8`) of the clients that may see it; none: all may.
    pub clients: Option<Vec<String>>,
    /// Other options for some of them; the first that names a client counts.
    #[serde(rename = "for", default)]
    pub rules: Vec<ForFile>,
}

/// The whole file; every key may be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct File {
    /// Addresses to listen on.
    pub listen: Option<Vec<SocketAddr>>,
    /// Where state is kept.
    pub state: Option<PathBuf>,
    /// Default for all exports.
    pub squash: Option<Squash>,
    /// Default for all exports.
    pub sync_metadata: Option<bool>,
    /// Default for all exports.
    pub exclusive: Option<bool>,
    /// Default for all exports.
    pub read_only: Option<bool>,
    /// Default for exports in memory.
    pub mem_limit: Option<Size>,
    /// Default for all exports.
    pub clients: Option<Vec<String>>,
    /// Seconds.
    pub lease: Option<u32>,
    /// Seconds.
    pub grace: Option<u32>,
    /// Default for all exports.
    pub delegations: Option<DelegationMode>,
    /// Threads for blocking work.
    pub threads: Option<u16>,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// The administrator's socket.
    pub admin_socket: Option<PathBuf>,
    /// Log filter.
    pub log: Option<String>,
    /// Log format.
    pub log_format: Option<LogFormat>,
    /// Bounds.
    #[serde(default)]
    pub limits: Limits,
    /// Exports.
    #[serde(default)]
    pub export: Vec<ExportFile>,
}
