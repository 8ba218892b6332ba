//! Seeded faults: the delegation machine decides wrongly on purpose, one decision at a time, and its tests must notice.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use nfs4_deleg::server::Fault;

use crate::run::root;

const PAGE: &str = "docs/faults-seeded.md";
/// Scripts of the comparison with the model, from a seed that stays the same.
const SCRIPTS: &str = "600";
const SEED: &str = "20261201";
/// The comparison's name: it finds most, and says least of what is wrong.
const COMPARISON: &str = "server::tests::compare::machine_and_model_agree";

/// The program of nfs4-deleg's own tests, with faults in it.
fn program() -> Result<PathBuf> {
    let out = Command::new("cargo")
        .args(["test", "-q", "-p", "nfs4-deleg", "--lib", "--features", "faults", "--no-run"])
        .arg("--message-format=json")
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    ensure!(out.status.success(), "the tests of nfs4-deleg cannot be built");
    let lines = String::from_utf8(out.stdout)?;
    let mut executable = lines.lines().filter_map(|line| {
        let (_, rest) = line.split_once("\"executable\":\"")?;
        Some(PathBuf::from(rest.split_once('"')?.0))
    });
    executable.next_back().context("cargo names no test program")
}

/// The tests that fail under a fault; none: no fault.
fn failing(program: &PathBuf, fault: Option<Fault>) -> Result<BTreeSet<String>> {
    let mut run = Command::new(program);
    run.args(["server::", "--test-threads=2"])
        .env("NFS4_CASES", SCRIPTS)
        .env("PROPTEST_RNG_SEED", SEED)
        .env("RUST_BACKTRACE", "0");
    if let Some(fault) = fault {
        run.env("NFS4_FAULT", format!("{fault:?}"));
    }
    let out = run.stderr(Stdio::null()).output().context("the tests cannot be started")?;
    let text = String::from_utf8_lossy(&out.stdout);
    ensure!(text.contains("test result: "), "the tests did not come to their end under {fault:?}");
    let name = |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    Ok(text.lines().filter_map(name).collect())
}

/// The rule that a test's name says.
fn rule(test: &str) -> String {
    test.rsplit("::").next().unwrap_or(test).replace('_', " ")
}

/// Events of a script of the comparison, on the average.
const EVENTS: u64 = 75;

/// Compares machine and model over any events.
pub(crate) fn compare(events: u64) -> Result<()> {
    let scripts = events.div_ceil(EVENTS);
    println!("{scripts} scripts of {EVENTS} events on the average");
    let mut run = Command::new("cargo");
    run.args(["test", "--release", "-p", "nfs4-deleg", "--lib", "--", "--exact", COMPARISON]);
    let status = run.env("NFS4_CASES", scripts.to_string()).current_dir(root()).status();
    ensure!(status.context("cargo cannot be started")?.success(), "machine and model disagree");
    Ok(())
}

/// Runs them all; fails where one is not found, or the page says otherwise.
pub(crate) fn run(write: bool) -> Result<()> {
    let program = program()?;
    let healthy = failing(&program, None)?;
    ensure!(healthy.is_empty(), "without a fault these fail: {healthy:?}");
    let mut page = format!(
        "# Seeded faults\n\n\
         Made by `cargo xtask faults --write`; do not edit. Each decision of the delegation machine below was made wrongly on \
         purpose (feature `faults` of `nfs4-deleg`), one at a time; what found it: scenarios by name, and the comparison of \
         machine and model ({SCRIPTS} scripts from seed {SEED}), which needs no scenario. CI runs this again; a fault that \
         nothing finds, or that another test finds than is told here, fails it.\n\n\
         | fault | comparison | scenarios that found it |\n|---|---|---|\n"
    );
    let mut missed = Vec::new();
    for (n, fault) in Fault::ALL.iter().enumerate() {
        let mut found = failing(&program, Some(*fault))?;
        let compared = found.remove(COMPARISON);
        if !compared && found.is_empty() {
            missed.push(*fault);
        }
        println!("{:>3} of {}: {fault:?}: {}", n + 1, Fault::ALL.len(), found.len() + usize::from(compared));
        let first = found.iter().next().map(|test| rule(test)).unwrap_or_default();
        let more = if found.len() > 1 { format!(" (and {} more)", found.len() - 1) } else { String::new() };
        writeln!(page, "| {fault:?} | {} | {first}{more} |", if compared { "yes" } else { "–" })?;
    }
    if !missed.is_empty() {
        bail!("nothing finds {missed:?}");
    }
    let path = root().join(PAGE);
    if write {
        std::fs::write(&path, page).with_context(|| format!("{} cannot be written", path.display()))?;
    } else if std::fs::read_to_string(&path).unwrap_or_default() != page {
        bail!("{PAGE} is not what was found: cargo xtask faults --write");
    }
    println!("each of {} faults is found", Fault::ALL.len());
    Ok(())
}
