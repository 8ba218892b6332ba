//! RECLAIM_COMPLETE. RFC 8881 §18.51.

use nfs4_proto::{ArgOp, OpNum, ReclaimCompleteArgs, Status};
use nfs4_tests::wire::ops::{mode, open_create, putfh, unchecked};
use nfs4_tests::wire::{Peer, TestServer};

fn reclaim_complete() -> ArgOp {
    ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })
}

#[tokio::test]
async fn reclaim_complete_comes_once_and_opens_wait_for_it() {
    let server = TestServer::mem().await;
    let mut peer = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let root = peer.root.clone();
    let open = || open_create("o", "f", unchecked(mode(0o644)));
    let _ = peer.run(vec![putfh(&root), open()]).await.fails_at(OpNum::Open, Status::Grace);
    let _ = peer.run(vec![reclaim_complete()]).await.ok();
    let _ = peer.run(vec![reclaim_complete()]).await.fails(Status::CompleteAlready);
    let _ = peer.run(vec![putfh(&root), open()]).await.ok();
}

#[tokio::test]
async fn reclaim_complete_of_one_file_system_changes_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let op = || ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: true });
    let _ = peer.run(vec![op()]).await.fails(Status::NoFileHandle);
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), op()]).await.ok();
}
