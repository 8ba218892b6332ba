//! What a reviewer should not have to say.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, bail};

use crate::run::{output, root, sh};

/// Dependencies inside the workspace that may exist (docs/adr and the crates' own pages say why): left may use right.
const EDGES: &[(&str, &[&str])] = &[
    ("nfs4-xdr", &[]),
    ("nfs4-proto", &["nfs4-xdr"]),
    ("nfs4-deleg", &["nfs4-xdr", "nfs4-proto"]),
    ("nfs4-server", &["nfs4-xdr", "nfs4-proto", "nfs4-deleg"]),
    ("nfs4-client", &["nfs4-xdr", "nfs4-proto", "nfs4-deleg"]),
    ("nfs4-tests", &["nfs4-xdr", "nfs4-proto", "nfs4-deleg", "nfs4-server", "nfs4-client"]),
    ("xtask", &["nfs4-proto", "nfs4-deleg"]),
];

/// The one module with unsafe code.
const UNSAFE: &str = "nfs4-server/src/backend/local/sys.rs";

const WARN_LINES: usize = 600;
const MOST_LINES: usize = 900;

pub(crate) fn run(write: bool) -> Result<()> {
    sh("cargo", &["fmt", "--all", "--check"])?;
    let mut faults = edges()?;
    faults.extend(sources()?);
    faults.extend(generated(write)?);
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} things are not tidy", faults.len());
    }
    sh("cargo", &["clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn edges() -> Result<Vec<String>> {
    let metadata: serde_json::Value =
        serde_json::from_str(&output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?)?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let text = |value: &serde_json::Value, key: &str| value.get(key).map(&text).unwrap_or_default();
    let list = |value: &serde_json::Value, key: &str| {
        value.get(key).and_then(|v| v.as_array()).cloned().unwrap_or_default()
    };
    let mut faults = Vec::new();
    for package in list(&metadata, "packages") {
        let name = text(&package, "name");
        let Some((_, allowed)) = EDGES.iter().find(|(crate_name, _)| *crate_name == name) else {
            faults.push(format!("{name} is not in the list of dependency edges"));
            continue;
        };
        for dependency in list(&package, "dependencies") {
            let used = text(&dependency, "name");
            let ours = EDGES.iter().any(|(crate_name, _)| *crate_name == used);
            if ours && used != name && !allowed.contains(&used.as_str()) {
                faults.push(format!("{name} must not depend on {used}"));
            }
        }
    }
    Ok(faults)
}

fn sources() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for path in output("git", &["ls-files", "*.rs"])?.lines() {
        let text = fs::read_to_string(root().join(path))?;
        seen.insert(path.to_owned());
        let lines = text.lines().count();
        if lines > MOST_LINES {
            faults.push(format!("{path} has {lines} lines: split it by what it holds"));
        } else if lines > WARN_LINES {
            println!("tidy: {path} has {lines} lines (warning at {WARN_LINES})");
        }
        if path.ends_with("/utils.rs") {
            faults.push(format!("{path}: name it for what it holds"));
        }
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with("//") {
                continue;
            }
            let open = concat!("todo", "!(");
            if code.contains(open) || code.contains(concat!("unimplemented", "!(")) {
                faults.push(format!("{path}:{}: unfinished code", number + 1));
            }
            let unsafe_code = [concat!("unsafe", " {"), concat!("unsafe", " fn"), concat!("unsafe", " impl")];
            if path != UNSAFE && unsafe_code.iter().any(|word| code.contains(word)) {
                faults.push(format!("{path}:{}: unsafe code outside of {UNSAFE}", number + 1));
            }
        }
        let root_file = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
        let word = if path == "nfs4-server/src/lib.rs" {
            "#![deny(unsafe_code)]"
        } else {
            "#![forbid(unsafe_code)]"
        };
        if root_file && !text.contains(word) {
            faults.push(format!("{path} lacks {word}"));
        }
    }
    if seen.is_empty() {
        faults.push("git lists no source file".to_owned());
    }
    Ok(faults)
}

fn generated(write: bool) -> Result<Vec<String>> {
    let pages = [
        ("docs/protocol-coverage.md", crate::coverage::page()),
        ("docs/delegations.md", crate::delegations::page()),
    ];
    let mut faults = Vec::new();
    for (name, page) in pages {
        let path = root().join(name);
        if write {
            fs::write(&path, &page)?;
        }
        if fs::read_to_string(&path).unwrap_or_default() != page {
            faults.push(format!("{name} is old: cargo xtask tidy --write"));
        }
    }
    Ok(faults)
}
