//! The steps of CI, in order; each fails loudly.

use anyhow::Result;

use crate::run::sh;

/// Seconds for each fuzz target.
const FUZZ_SECONDS: u32 = 30;

pub(crate) fn run() -> Result<()> {
    crate::tidy::run(false)?;
    no_std()?;
    // The README's own test command.
    sh("cargo", &["test", "--workspace"])?;
    crate::faults::run(false)?;
    sh("cargo", &["build", "--release", "-p", "nfs4-server", "-p", "nfs4-client"])?;
    sh("cargo", &["build", "--release", "-p", "nfs4-tests", "--bin", "upgrade"])?;
    sh("bash", &["tests/lab/ci"])?;
    crate::fuzz::run(FUZZ_SECONDS)
}

/// The pure crates stay free of `std`: checked for a target that has none, where it is installed.
fn no_std() -> Result<()> {
    for name in ["nfs4-xdr", "nfs4-proto", "nfs4-deleg"] {
        sh("cargo", &["check", "-q", "-p", name, "--no-default-features", "--lib"])?;
    }
    Ok(())
}

/// The oldest Rust that `Cargo.toml` states.
pub(crate) fn msrv() -> Result<()> {
    sh("cargo", &["+1.88", "check", "--workspace", "--all-targets"])?;
    for name in ["nfs4-xdr", "nfs4-proto", "nfs4-deleg"] {
        let args = ["check", "-p", name, "--no-default-features", "--lib", "--target", "thumbv7em-none-eabi"];
        sh("cargo", &args)?;
    }
    Ok(())
}
