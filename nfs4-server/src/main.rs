#![forbid(unsafe_code)]
//! The server's binary: flags, the ready line, signals.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use nfs4_server::admin::Request;
use nfs4_server::config::{Config, Flags, Source};
use nfs4_server::{Server, observe};
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nfs4-server: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[derive(clap::Parser)]
#[command(version, about, max_term_width = 100, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// See and end what clients hold, over the socket of a running server.
    Admin {
        /// The server's --admin-socket.
        #[arg(long, value_name = "PATH")]
        socket: Option<PathBuf>,
        /// The server's --config, which tells the socket.
        #[arg(long, value_name = "FILE", conflicts_with = "socket")]
        config: Option<PathBuf>,
        /// One JSON object a line.
        #[arg(long, global = true)]
        json: bool,
        #[command(subcommand)]
        what: What,
    },
}

#[derive(clap::Subcommand)]
enum What {
    /// List clients.
    Clients,
    /// List sessions.
    Sessions,
    /// List opens.
    Opens,
    /// List locks.
    Locks,
    /// List delegations.
    Delegations,
    /// Free all that a client has, as the end of its lease does.
    Evict {
        /// The client ID, as `clients` lists it.
        client: String,
    },
    /// Take an open or locks away from their client.
    Revoke {
        /// The stateid, as `opens` and `locks` list it.
        stateid: String,
    },
}

fn admin(socket: Option<PathBuf>, config: Option<PathBuf>, what: What, json: bool) -> Result<()> {
    let socket = if let Some(socket) = socket {
        socket
    } else {
        let config = config.context("say --socket PATH, or --config FILE of the server")?;
        let flags = Flags { config: Some(config), ..Flags::default() };
        Config::from_flags(&flags)?
            .admin_socket
            .context("that configuration has no admin-socket and no state")?
    };
    let after = None;
    let request = match what {
        What::Clients => Request::Clients { after },
        What::Sessions => Request::Sessions { after },
        What::Opens => Request::Opens { after },
        What::Locks => Request::Locks { after },
        What::Delegations => Request::Delegations { after },
        What::Evict { client } => Request::Evict { client },
        What::Revoke { stateid } => Request::Revoke { stateid },
    };
    Ok(nfs4_server::admin::show(&socket, &request, json, &mut std::io::stdout().lock())?)
}

fn run() -> Result<()> {
    let Cli { flags, command } = Cli::parse();
    if let Some(Command::Admin { socket, config, json, what }) = command {
        return admin(socket, config, what, json);
    }
    let config = Config::from_flags(&flags)?;
    if flags.check_config {
        if flags.json {
            println!("{}", config.to_json().context("the configuration as JSON")?);
        } else {
            print!("{}", config.to_toml().context("the configuration as TOML")?);
        }
        return Ok(());
    }
    observe::start_log(&config.log, config.log_format)?;
    // One thread may be busy in place while another serves.
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().max(2));
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .context("the runtime")?
        .block_on(serve(&flags, &config))
}

async fn serve(flags: &Flags, config: &Config) -> Result<()> {
    let mut hangup = signal(SignalKind::hangup()).context("SIGHUP")?;
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT")?;
    let mut server = Server::start(config).await?;
    let text = ready(config, server.addresses());
    // Who reads it may have gone, which is no reason to end.
    drop(std::io::stdout().write_all(text.as_bytes()));
    tell_systemd(&[NotifyState::Ready]);
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => reload(flags, &mut server).await,
        }
    }
    tracing::info!("stopping: what was taken is answered");
    server.stop().await;
    Ok(())
}

fn tell_systemd(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(false, state) {
        tracing::debug!("sd_notify: {error}");
    }
}

/// Reads the configuration again. Where it cannot be used, the old one stays in force.
async fn reload(flags: &Flags, server: &mut Server) {
    // systemd wants the time with it (Type=notify-reload).
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell_systemd(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!("sd_notify: {error}"),
    }
    let done = match Config::from_flags(flags) {
        Ok(config) => server.reload(&config).await.map_err(anyhow::Error::from),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(waiting) if waiting.is_empty() => tracing::info!("configuration reloaded"),
        Ok(waiting) => tracing::warn!("configuration reloaded; only after a restart: {}", waiting.join(", ")),
        Err(error) => {
            // One line, also where the reader of the file shows the place with an arrow.
            let text = format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
            tracing::error!("configuration not reloaded, the old one stays in force: {text}");
        }
    }
    tell_systemd(&[NotifyState::Ready]);
}

/// The ready line first, and then how to mount.
fn ready(config: &Config, addresses: &[SocketAddr]) -> String {
    let list: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let mut text = format!("nfs4-server ready on {}\n", list.join(" "));
    for export in &config.exports {
        let what = match &export.source {
            Source::Memory(limit) => format!("memory, at most {} MiB", limit >> 20),
            Source::Directory(dir) => dir.display().to_string(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {} serves {what}", export.path);
    }
    let (Some(address), Some(export)) = (addresses.first(), config.exports.first()) else { return text };
    let host = match address {
        any if any.ip().is_unspecified() => "HOST".to_owned(),
        SocketAddr::V4(v4) => v4.ip().to_string(),
        SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
    };
    let (port, path) = (address.port(), &export.path);
    let _ = write!(
        text,
        "  Linux:   mount -t nfs4 -o vers=4.2,proto=tcp,port={port} {host}:{path} /mnt\n\
         \x20 macOS:   mount -t nfs -o vers=4.1,tcp,port={port},rsize=1048576 {host}:{path} /mnt   (macOS 26 and later)\n\
         \x20 FreeBSD: mount -t nfs -o nfsv4,minorversion=2,tcp,port={port} {host}:{path} /mnt\n"
    );
    text
}
