//! The command line.

mod bench;
mod probe;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};

/// An NFSv4.1/4.2 client.
#[derive(Parser)]
#[command(name = "nfs4-client", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print what a server supports.
    Probe(probe::Args),
    /// Measure operations: rate, latency, processor time for each RPC.
    Bench(bench::Args),
}

/// Reads the command line and carries it out.
pub fn run() -> Result<()> {
    match Cli::parse().command {
        Command::Probe(args) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.context("the runtime")?.block_on(probe::run(&args))
        }
        Command::Bench(args) => bench::run(&args),
    }
}
