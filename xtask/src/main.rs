#![forbid(unsafe_code)]
//! Checks and generators of the workspace: `cargo xtask help`.

mod ci;
mod coverage;
mod delegations;
mod faults;
mod fuzz;
mod run;
mod tidy;

use clap::Parser;

/// Checks and generators of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Format, lints, dependency edges, unsafe code, file sizes, generated documents.
    Tidy {
        /// Write the generated documents instead of comparing them.
        #[arg(long)]
        write: bool,
    },
    /// All that CI runs after its installations.
    Ci,
    /// Print docs/protocol-coverage.md.
    Coverage,
    /// Seed each fault of the delegation machine, one at a time, and see which tests find it: docs/faults-seeded.md.
    Faults {
        /// Write the page instead of comparing it.
        #[arg(long)]
        write: bool,
    },
    /// Compare the delegation machine with its model: any events, at least as many as these.
    Model {
        /// Events.
        #[arg(long, default_value_t = 10_000_000)]
        events: u64,
    },
    /// Run each fuzz target from its kept corpus.
    Fuzz {
        /// Seconds for each target.
        #[arg(long, default_value_t = 30)]
        seconds: u32,
    },
    /// Play the delegations' simulator: `cargo xtask sim --help` tells how.
    #[command(disable_help_flag = true)]
    Sim {
        /// As the simulator takes them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// `cargo check` with the oldest Rust that is stated, and of the `no_std` crates for a bare target.
    Msrv,
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Tidy { write } => tidy::run(write),
        Task::Ci => ci::run(),
        Task::Coverage => {
            print!("{}", coverage::page());
            Ok(())
        }
        Task::Faults { write } => faults::run(write),
        Task::Model { events } => faults::compare(events),
        Task::Fuzz { seconds } => fuzz::run(seconds),
        Task::Sim { args } => {
            let mut all = vec!["run", "-q", "-p", "nfs4-tests", "--bin", "sim", "--"];
            all.extend(args.iter().map(String::as_str));
            run::sh("cargo", &all)
        }
        Task::Msrv => ci::msrv(),
    }
}
