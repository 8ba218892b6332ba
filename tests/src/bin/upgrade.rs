//! A read delegation that becomes a write delegation in place, on a server that gives file delegations: alone, and beside
//! another reader. For captures (`tests/lab/upgrade`): the writer comes from 127.0.0.2, the reader from 127.0.0.3.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use anyhow::{Result, ensure};
use clap::Parser;
use nfs4_proto::{ArgOp, Fh, OpenClaim, OpenHow, ShareAccess, ShareDeny, Status, Want};
use nfs4_tests::wire::{Delegation, Peer, Spec, delegation_of, ops, wanting};

/// Upgrades a read delegation.
#[derive(Parser)]
struct Args {
    /// The server, on this machine.
    server: SocketAddr,
    /// With another reader, who must return first.
    #[arg(long)]
    beside: bool,
}

async fn client(server: SocketAddr, owner: &str, last: u8) -> Peer {
    let mut spec = Spec::new(owner);
    spec.from = Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)));
    Peer::callable(server, spec).await
}

/// A file that nobody holds.
async fn file(peer: &mut Peer, name: &str) -> Fh {
    let access = wanting(ShareAccess::BOTH, Want::No);
    let how = OpenHow::Create(ops::unchecked(ops::mode(0o666)));
    let open = ops::open("maker", access, ShareDeny::NONE, how, OpenClaim::Null(ops::name(name)));
    let close = ops::close(nfs4_proto::StateId::CURRENT);
    peer.run(vec![ArgOp::Putrootfh, open, ArgOp::Getfh, close]).await.ok().fh()
}

fn upgraded(before: &Delegation, after: &Delegation) -> Result<()> {
    ensure!(after.write, "no write delegation: {after:?}");
    ensure!(after.stateid.other == before.stateid.other, "another stateid: {before:?}, {after:?}");
    ensure!(after.stateid.seqid == before.stateid.seqid + 1, "not the next seqid: {before:?}, {after:?}");
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let part = if args.beside { "beside" } else { "alone" };
    let mut writer = client(args.server, &format!("writer-{part}"), 2).await;
    let fh = file(&mut writer, part).await;
    let read = writer.hold_read(&fh).await;
    let write = if args.beside {
        let mut reader = client(args.server, "reader", 3).await;
        // Without an open of its own, which would stand against the write delegation.
        let xor = ShareAccess::READ | ShareAccess::WANT_OPEN_XOR_DELEGATION;
        let (_, others) = reader.hold(&fh, xor).await;
        let open = ops::open("w", ShareAccess::BOTH, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh);
        let begun = writer.begin(0, vec![ops::putfh(&fh), open]).await;
        let recall = reader.next_recall().await;
        ensure!(recall.stateid.other == others.stateid.other, "another one is called back: {recall:?}");
        ensure!(reader.give_back(&others).await == Status::Ok, "it cannot be returned");
        let open = writer.end(begun).await.ok().open();
        delegation_of(&fh, &open.delegation).ok_or_else(|| anyhow::anyhow!("none: {open:?}"))?
    } else {
        writer.hold_write(&fh).await
    };
    upgraded(&read, &write)?;
    ensure!(writer.raw.callbacks.is_empty(), "the writer was called");
    println!("upgraded: {:?} to {:?}", read.stateid, write.stateid);
    Ok(())
}
