//! What many of something cost a server: its memory for each, printed. Starts a server of its own.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use nfs4_client::{Compound, Options, Session};
use nfs4_tests::scale::{
    Churn, Opens, Process, Storm, churn, directory, entries_of_one_file, fill, holders, idle, list, storm,
};

/// Many of everything, and what one of it costs.
#[derive(Parser)]
struct Args {
    /// The server's program.
    #[arg(long, default_value = "target/release/nfs4-server")]
    server: PathBuf,

    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A large directory in memory, listed while another client makes and removes files in it.
    Directory {
        /// Files.
        #[arg(long, default_value_t = 1_000_000)]
        files: u64,
    },
    /// Idle connections.
    Idle {
        /// Connections.
        #[arg(long, default_value_t = 10_000)]
        connections: u64,
    },
    /// Clients with delegations; then one that wants files of theirs.
    Delegations {
        /// Clients.
        #[arg(long, default_value_t = 100)]
        clients: u64,
        /// Delegations of each.
        #[arg(long, default_value_t = 1_000)]
        delegations: u64,
        /// Files that one more client opens for writing.
        #[arg(long, default_value_t = 10_000)]
        storm: usize,
    },
    /// Clients with opens.
    Opens {
        /// Clients.
        #[arg(long, default_value_t = 1_000)]
        clients: u64,
        /// Opens of each.
        #[arg(long, default_value_t = 1_000)]
        opens: u64,
    },
}

fn bar(what: &'static str) -> impl Fn(u64, u64) + Sync {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(1) } else { ProgressBar::hidden() };
    bar.set_style(
        ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar.set_message(what);
    move |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    }
}

#[allow(clippy::cast_precision_loss, reason = "for people")]
fn each(bytes: u64, count: u64) -> String {
    format!("{:.0} bytes", bytes as f64 / count.max(1) as f64)
}

async fn connect(server: &Process) -> Result<Session> {
    Ok(Session::connect(&server.address.to_string(), &Options::default()).await?)
}

async fn large_directory(server: &Process, files: u64) -> Result<()> {
    let session = connect(server).await?;
    let dir = directory(&session, "large").await?;
    let other = directory(&session, "names").await?;
    let start = server.resident()?;
    fill(&session, &dir, files, &bar("files")).await?;
    let filled = server.resident()?;
    println!(
        "{files} empty files: {} for each inode and its entry",
        each(filled.saturating_sub(start), files)
    );
    // One file has 65,535 names at most.
    let names = files.min(60_000);
    entries_of_one_file(&session, &other, names, &bar("names")).await?;
    let named = server.resident()?;
    println!("{names} names of one file: {} for each entry", each(named.saturating_sub(filled), names));
    let (from, state) = (files / 2, Arc::new(Churn::default()));
    let busy = tokio::spawn(churn(connect(server).await?, dir.clone(), from, files, Arc::clone(&state)));
    let listing = list(&session, &dir, from, files, &bar("listing")).await;
    state.stop.store(true, Ordering::Relaxed);
    busy.await.context("the other client was given up")??;
    let listing = listing?;
    let (made, removed) = (state.made.load(Ordering::Relaxed), state.removed.load(Ordering::Relaxed));
    println!(
        "listed in {} pages while {made} files were made and {removed} removed: {} that stayed, each once; {} others, each once at most",
        listing.pages, listing.stayed, listing.others
    );
    Ok(())
}

async fn idle_connections(server: &Process, connections: u64) -> Result<()> {
    let start = server.resident()?;
    let all = idle(server.address, connections, &bar("connections")).await?;
    let with = server.resident()?;
    println!("{connections} idle connections: {} for each", each(with.saturating_sub(start), connections));
    let session = connect(server).await?;
    let mut c = Compound::new();
    c.putrootfh();
    session.call(c).await?.all_ok()?;
    println!("another client was served meanwhile");
    drop(all);
    Ok(())
}

async fn clients_with_opens(server: &Process, clients: u64, opens: u64) -> Result<()> {
    let mut all = Opens::files(server.address, opens, &bar("files")).await?;
    let start = server.resident()?;
    all.clients(server.address, clients, &bar("clients")).await?;
    let with = server.resident()?;
    println!(
        "{clients} clients, each with a session and a connection: {} for each",
        each(with.saturating_sub(start), clients)
    );
    let done = all.open(&bar("opens")).await?;
    ensure!(done == clients * opens, "{done} opens");
    let open = server.resident()?;
    println!("{done} opens: {} for each", each(open.saturating_sub(with), done));
    Ok(())
}

async fn delegations_and_a_storm(server: &Process, clients: u64, each_one: u64, files: usize) -> Result<()> {
    let mut all = holders(server.address, clients, each_one, &bar("files")).await;
    let (start, count, told) = (server.resident()?, clients * each_one, bar("delegations"));
    for (n, holder) in (1..).zip(&mut all) {
        holder.hold(false).await;
        told(n * each_one, count);
    }
    let held = server.resident()?;
    println!(
        "{count} delegations of {clients} clients: {} for each",
        each(held.saturating_sub(start), count)
    );
    let Storm { opens, delays, recalls, returns, took } =
        storm(server.address, all, files, &bar("storm")).await;
    println!(
        "{files} of them opened by one more client in {:.1} s: {opens} OPENs, {delays} of them NFS4ERR_DELAY, {recalls} CB_RECALLs, {returns} DELEGRETURNs",
        took.as_secs_f64()
    );
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let limits = "connections = 20000\nconnections-per-address = 20000\n";
    let server = Process::start(&args.server, limits)?;
    match args.what {
        What::Directory { files } => large_directory(&server, files).await,
        What::Idle { connections } => idle_connections(&server, connections).await,
        What::Delegations { clients, delegations, storm } => {
            delegations_and_a_storm(&server, clients, delegations, storm).await
        }
        What::Opens { clients, opens } => clients_with_opens(&server, clients, opens).await,
    }
}
