//! Command-line flags.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{DelegationMode, LogFormat, Size, Squash};

/// An NFSv4.1/4.2 server. Without DIR and --config it serves an empty file system in memory.
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Clone, Debug, Default, clap::Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Flags {
    /// A directory to serve as "/".
    pub dir: Option<PathBuf>,

    /// Address and port to listen on; may be repeated. Port 0 takes a free one, which the ready line tells.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Vec<SocketAddr>,

    /// A TOML file with the same names (`listen`, `state`, …), `[limits]` and `[[export]]`. Flags win.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where client records, the server's identity and the key of file handles are kept. By default, for
    /// directories: below /var/lib/nfs4-server as root, else $XDG_STATE_HOME/nfs4-server.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Whose identity becomes the anonymous user. By default `root` for a directory, `none` in memory.
    #[arg(long)]
    pub squash: Option<Squash>,

    /// Answer namespace operations and SETATTR only when they are on the medium (default true).
    #[arg(long, value_name = "BOOL", num_args = 1)]
    pub sync_metadata: Option<bool>,

    /// Only this server changes the directory while it runs.
    #[arg(long)]
    pub exclusive: bool,

    /// Seconds of a lease (default 90).
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub lease: Option<u32>,

    /// Most seconds of grace after a restart (default: the lease).
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub grace: Option<u32>,

    /// Which delegations to give (default file). Without --exclusive none is given for a directory: others may change it.
    #[arg(long)]
    pub delegations: Option<DelegationMode>,

    /// Most bytes of the memory export (default 1GiB).
    #[arg(long, value_name = "SIZE")]
    pub mem_limit: Option<Size>,

    /// Refuse every change.
    #[arg(long)]
    pub read_only: bool,

    /// Threads for work that blocks (default: two for each core).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Serve Prometheus metrics at this address, under /metrics.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,

    /// What to log: error, warn, info, debug, trace, or tracing directives (default info).
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,

    /// How to log.
    #[arg(long)]
    pub log_format: Option<LogFormat>,

    /// The socket for `nfs4-server admin`. By default admin.sock in the state directory, if there is one.
    #[arg(long, value_name = "PATH")]
    pub admin_socket: Option<PathBuf>,

    /// Print the configuration that would be used, and end. What differs from the default is marked.
    #[arg(long)]
    pub check_config: bool,

    /// With --check-config: as JSON.
    #[arg(long, requires = "check_config")]
    pub json: bool,
}
