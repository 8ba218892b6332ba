//! A server as a process of its own, so that its memory can be read.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Process {
    /// Starts `program` on `mem` with these limits (lines of TOML) on a free port, and waits for its ready line.
    pub fn start(program: &Path, limits: &str) -> Result<Self> {
        let dir = tempfile::tempdir().context("no directory for the configuration")?;
        let config = dir.path().join("server.toml");
        let text = format!("listen = [\"127.0.0.1:0\"]\nmem-limit = \"16GiB\"\n\n[limits]\n{limits}");
        std::fs::write(&config, text).with_context(|| format!("{} cannot be written", config.display()))?;
        let mut child = Command::new(program)
            .arg("--config")
            .arg(&config)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} cannot be started", program.display()))?;
        let out = child.stdout.take().context("no standard output")?;
        let mut lines = BufReader::new(out).lines();
        while let Some(line) = lines.next().transpose().context("the server's output cannot be read")? {
            let Some(address) = line.split_whitespace().find_map(|word| word.parse().ok()) else { continue };
            // Whatever else it says must not block it.
            std::thread::spawn(move || lines.for_each(drop));
            return Ok(Self { child, address });
        }
        bail!("{} ended before it was ready", program.display())
    }

    /// Bytes of memory that it uses now.
    pub fn resident(&self) -> Result<u64> {
        resident(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes of memory that a process uses now (`VmRSS`).
pub fn resident(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("{path} cannot be read"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib =
        line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<u64>().ok());
    Ok(kib.with_context(|| format!("{path} tells no VmRSS"))? * 1024)
}
