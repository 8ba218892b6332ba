#![forbid(unsafe_code)]
//! Plays the delegations' simulator: one seed, or many.

use clap::Parser;
use nfs4_tests::sim::{Script, Seen, play};

/// Plays the delegations' simulator. Prints what was seen, or the first rule that is broken and its seed.
#[derive(Parser)]
struct Args {
    /// The seed, or the first of several; decimal.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// How many clients.
    #[arg(long, default_value_t = 5)]
    clients: usize,
    /// How many files.
    #[arg(long, default_value_t = 3)]
    files: usize,
    /// Simulated milliseconds for each seed.
    #[arg(long, default_value_t = 8_000)]
    length: u64,
    /// Nobody dies or is cut off; messages are lost, doubled and delayed all the same.
    #[arg(long)]
    calm: bool,
    /// Say what happens.
    #[arg(long)]
    trace: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut all = Seen::default();
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let script = Script {
            seed,
            clients: args.clients,
            files: args.files,
            length: args.length,
            faults: !args.calm,
            trace: args.trace,
            ..Script::default()
        };
        let Ok(seen) = std::panic::catch_unwind(|| play(&script)) else {
            anyhow::bail!(
                "cargo xtask sim --seed {seed} --clients {} --files {} --length {}{}",
                args.clients,
                args.files,
                args.length,
                if args.calm { " --calm" } else { "" }
            );
        };
        all.add(&seen);
    }
    println!("{} seeds: {all}", args.seeds);
    Ok(())
}
