//! The server's configuration: one struct, two front ends (flags and a TOML file) with the same names.

mod check;
mod file;
mod flags;
mod limits;
mod reload;
mod show;
mod size;

pub use check::ConfigError;
pub use file::{ExportFile, File, ForFile};
pub use flags::Flags;
pub use limits::Limits;
pub use size::Size;

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Whose identity is replaced by the anonymous user (65534).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Squash {
    /// User and group 0.
    Root,
    /// Nobody's.
    None,
    /// Everybody's.
    All,
}

/// Which delegations are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum DelegationMode {
    /// None.
    None,
    /// File delegations.
    File,
    /// File and directory delegations; of directories none is given yet.
    #[serde(rename = "file+dir")]
    #[value(name = "file+dir")]
    FileAndDir,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

/// What an export shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Memory, at most this many bytes; gone with the server.
    Memory(u64),
    /// A directory.
    Directory(PathBuf),
}

/// Other options for some of an export's clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRule {
    /// Which ones, at least one.
    pub clients: Vec<IpNet>,
    /// Whose identity is replaced.
    pub squash: Squash,
    /// They can change nothing.
    pub read_only: bool,
}

/// One export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportConfig {
    /// Where clients see it: "/" or an absolute path below.
    pub path: String,
    /// What it shows.
    pub source: Source,
    /// Whose identity is replaced.
    pub squash: Squash,
    /// Nothing can be changed through it.
    pub read_only: bool,
    /// Replies to namespace operations and SETATTR wait for the medium.
    pub sync_metadata: bool,
    /// Only this server changes the directory.
    pub exclusive: bool,
    /// Which delegations are given.
    pub delegations: DelegationMode,
    /// Its number in handles and fsid; by default made from its path.
    pub id: Option<u32>,
    /// Who may see it; empty: everybody.
    pub clients: Vec<IpNet>,
    /// Options of some of them; the first one that names a client counts.
    pub rules: Vec<ClientRule>,
}

impl ExportConfig {
    /// Nobody can change anything through it.
    #[must_use]
    pub fn is_never_written(&self) -> bool {
        self.read_only && self.rules.iter().all(|rule| rule.read_only)
    }
}

/// The whole configuration, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Addresses to listen on.
    pub listen: Vec<SocketAddr>,
    /// The exports, at least one.
    pub exports: Vec<ExportConfig>,
    /// Where client records, identity and handles' key are kept; `None`: nowhere.
    pub state: Option<PathBuf>,
    /// Seconds of a lease.
    pub lease: u32,
    /// Most seconds of grace.
    pub grace: u32,
    /// Threads for blocking work.
    pub threads: usize,
    /// Where Prometheus metrics are served.
    pub metrics: Option<SocketAddr>,
    /// The administrator's socket; `None`: there is none.
    pub admin_socket: Option<PathBuf>,
    /// Log filter (`tracing` directives).
    pub log: String,
    /// Log format.
    pub log_format: LogFormat,
    /// Bounds.
    pub limits: Limits,
}
