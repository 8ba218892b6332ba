#![forbid(unsafe_code)]
//! The server's binary: flags, the ready line, signals.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use nfs4_server::config::{Config, Flags, Source};
use nfs4_server::{Server, observe};
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

fn run() -> Result<()> {
    let flags = Flags::parse();
    let config = Config::from_flags(&flags)?;
    if flags.check_config {
        print!("{}", config.to_toml().context("the configuration as TOML")?);
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
        .block_on(serve(&config))
}

async fn serve(config: &Config) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT")?;
    let server = Server::start(config).await?;
    let text = ready(config, server.addresses());
    // Who reads it may have gone, which is no reason to end.
    drop(std::io::stdout().write_all(text.as_bytes()));
    if let Err(error) = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]) {
        tracing::debug!("sd_notify: {error}");
    }
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: what was taken is answered");
    server.stop().await;
    Ok(())
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
