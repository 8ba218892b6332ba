#![forbid(unsafe_code)]
//! Writes the fuzzers' kept corpora anew, from the golden messages: `cargo run -p nfs4-tests --bin corpus`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nfs4_xdr::rpc::{
    Accepted, AuthStat, AuthSys, Call, Flavor, NFS_PROGRAM, NFS_V4, OpaqueAuth, Rejected, put_accepted,
    put_rejected,
};
use nfs4_xdr::{EncodeError, List, Opaque, Text, Writer};

fn bytes(put: impl FnOnce(&mut Writer) -> Result<(), EncodeError>) -> Result<Vec<u8>> {
    let mut w = Writer::unlimited();
    put(&mut w)?;
    Ok(w.finish().to_bytes().to_vec())
}

fn headers() -> Result<Vec<Vec<u8>>> {
    let sys = OpaqueAuth::sys(&AuthSys {
        stamp: 7,
        machinename: Text::new(&b"client"[..]).unwrap_or_default(),
        uid: 1000,
        gid: 100,
        gids: List::new((0..16).collect()).unwrap_or_default(),
    });
    let other =
        |flavor| OpaqueAuth { flavor, body: Opaque::new(&b"\0\0\0\x01\0\0\0\0"[..]).unwrap_or_default() };
    let mut all = Vec::new();
    for cred in [OpaqueAuth::none(), sys, other(Flavor::Short), other(Flavor::Gss), other(Flavor::Tls)] {
        all.push(bytes(|w| w.put(&Call::new(1, NFS_PROGRAM, NFS_V4, 1, cred)))?);
    }
    for how in [Accepted::Success, Accepted::ProgMismatch(4, 4), Accepted::ProcUnavail, Accepted::GarbageArgs]
    {
        all.push(bytes(|w| put_accepted(w, 2, how))?);
    }
    for why in [Rejected::RpcMismatch(2, 2), Rejected::Auth(AuthStat::BadCred)] {
        all.push(bytes(|w| put_rejected(w, 3, why))?);
    }
    Ok(all)
}

fn streams() -> Vec<Vec<u8>> {
    let record = |last: bool, body: &[u8]| {
        let len = u32::try_from(body.len()).unwrap_or(0) | if last { 0x8000_0000 } else { 0 };
        [&len.to_be_bytes()[..], body].concat()
    };
    vec![
        [vec![255], record(true, b"one"), record(true, b"")].concat(),
        [vec![3], record(false, b"tw"), record(false, b""), record(true, b"o")].concat(),
        [vec![1], 0xffff_ffff_u32.to_be_bytes().to_vec()].concat(),
        [vec![8], vec![0; 80]].concat(),
    ]
}

/// Bytes that the generator of operations makes something of: from a fixed sequence of numbers.
fn programs() -> Vec<Vec<u8>> {
    let mut state = 0x5eed_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u8::try_from(state >> 56).unwrap_or(0)
    };
    (0..16).map(|n| (0..64 << (n % 4)).map(|_| next()).collect()).collect()
}

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let golden = nfs4_tests::golden::messages().context("the golden messages")?;
    for (target, _) in nfs4_tests::fuzzing::TARGETS {
        let kind = match target {
            "operation_args" | "compound_bytes" => "call",
            "operation_results" => "reply",
            "callback_args" => "cbcall",
            "callback_results" => "cbreply",
            _ => "",
        };
        let inputs = match target {
            "record_marking" => streams(),
            "rpc_header" => headers()?,
            "compound_sequence" => programs(),
            _ => golden.iter().filter(|m| m.kind == kind).map(|m| m.bytes.clone()).collect(),
        };
        let dir = root.join(target);
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        for (n, input) in inputs.iter().enumerate() {
            fs::write(dir.join(format!("{n:03}")), input)?;
        }
        println!("{target}: {} inputs", inputs.len());
    }
    Ok(())
}
