//! Fuzzing from the kept corpora. Stable Rust: without a sanitizer, as all code is safe.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::run::{output, root, sh};

pub(crate) fn run(seconds: u32) -> Result<()> {
    let dir = root().join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("{} cannot be read", dir.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "rs")
            && let Some(name) = path.file_stem()
        {
            targets.push(name.to_string_lossy().into_owned());
        }
    }
    targets.sort();
    if targets.is_empty() {
        bail!("there are no fuzz targets");
    }
    if output("cargo", &["fuzz", "--version"]).is_err() {
        bail!("cargo-fuzz is not installed: cargo install cargo-fuzz --locked");
    }
    for target in &targets {
        let scratch = root().join("target/fuzz-corpus").join(target);
        fs::create_dir_all(&scratch)?;
        let kept = root().join("tests/corpus").join(target);
        let (scratch, kept) = (scratch.to_string_lossy().into_owned(), kept.to_string_lossy().into_owned());
        let time = format!("-max_total_time={seconds}");
        sh(
            "cargo",
            &[
                "fuzz",
                "run",
                "--fuzz-dir",
                "fuzz",
                "--sanitizer",
                "none",
                "-O",
                target,
                &scratch,
                &kept,
                "--",
                &time,
                "-max_len=65536",
                "-rss_limit_mb=2048",
                "-print_final_stats=0",
                "-verbosity=0",
            ],
        )?;
    }
    println!("fuzz: {} targets, {seconds} s each, no finding", targets.len());
    Ok(())
}
