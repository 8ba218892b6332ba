//! `nfs4-client bench`.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::{Op, Plan, Report, run as measure};

/// What `bench` takes.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The server.
    #[arg(value_name = "HOST:PORT")]
    server: String,

    /// What to measure: null, sequence, getattr, open-close, create-remove, readdir, read, write.
    #[arg(value_name = "OP", required = true)]
    ops: Vec<Op>,

    /// Calls under way on each connection.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    depth: u32,

    /// Connections, each with a session and a thread of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    conns: u32,

    /// Seconds that are counted, for each operation.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,

    /// Seconds before that are not counted.
    #[arg(long, default_value_t = 0.5)]
    warmup: f64,

    /// Bytes of each READ or WRITE.
    #[arg(long, default_value_t = 64 << 10, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    size: u32,

    /// The directory in which files are made (and removed), from the server's root.
    #[arg(long, default_value = "/")]
    path: String,

    /// The server's process: its processor time for each RPC is told too.
    #[arg(long)]
    pid: Option<u32>,

    /// Seconds to wait for the server.
    #[arg(long, default_value_t = 10.0)]
    timeout: f64,

    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

fn seconds(name: &str, value: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(value)
        .ok()
        .filter(|_| value <= 86_400.0)
        .with_context(|| format!("--{name} {value}: accepted is a number of seconds from 0 to 86400"))
}

fn row(report: &Report) -> String {
    let cpu = report.cpu_us_per_rpc.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"));
    let data = report.mb_per_sec.map_or_else(|| "-".to_owned(), |mb| format!("{mb:.0}"));
    format!(
        "{:<14} {:>5} {:>5} {:>10.0} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {:>8} {:>10} {:>10.1}",
        report.op,
        report.depth,
        report.conns,
        report.ops_per_sec,
        report.p50_us,
        report.p90_us,
        report.p99_us,
        report.max_us,
        data,
        cpu,
        report.client_cpu_us_per_rpc
    )
}

/// Measures each operation in turn.
pub(super) fn run(args: &Args) -> Result<()> {
    let (time, warmup) = (seconds("seconds", args.seconds)?, seconds("warmup", args.warmup)?);
    let timeout = seconds("timeout", args.timeout)?;
    if !args.json {
        println!(
            "{:<14} {:>5} {:>5} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8} {:>10} {:>10}",
            "op",
            "depth",
            "conns",
            "ops/s",
            "p50 us",
            "p90 us",
            "p99 us",
            "max us",
            "MB/s",
            "srv us/rpc",
            "own us/rpc"
        );
    }
    for op in &args.ops {
        let plan = Plan {
            address: args.server.clone(),
            op: *op,
            depth: args.depth,
            conns: args.conns,
            time,
            warmup,
            size: args.size,
            path: args.path.clone(),
            pid: args.pid,
            timeout,
        };
        let bar = progress(*op, time + warmup);
        let report = measure(&plan).with_context(|| format!("{} {op}", args.server))?;
        bar.finish_and_clear();
        if args.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            println!("{}", row(&report));
        }
    }
    Ok(())
}

/// A line that moves, on a terminal, for what takes over two seconds.
fn progress(op: Op, time: Duration) -> ProgressBar {
    if time <= Duration::from_secs(2) || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(op.to_string());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
