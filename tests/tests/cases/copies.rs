//! S-19: by what right, and how far. RFC 7862 §15.2.3, §15.13.3.

use nfs4_proto::{ArgOp, Attr, OpNum, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::ops::{clone, copy, putfh};
use nfs4_tests::wire::{Done, Opened, Peer, TestServer};

/// `op` with one file saved and another current.
async fn between(peer: &mut Peer, from: &Opened, to: &Opened, op: ArgOp) -> Done {
    peer.run(vec![putfh(&from.fh), ArgOp::Savefh, putfh(&to.fh), op]).await
}

async fn two_files(peer: &mut Peer) -> (Opened, Opened) {
    let root = peer.root.clone();
    let (from, to) = (peer.create(&root, "from").await, peer.create(&root, "to").await);
    peer.write(&from, 0, b"0123456789").await;
    (from, to)
}

#[tokio::test]
async fn s19_copy_needs_a_source_that_reads_and_a_target_that_writes() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let (from, to) = two_files(&mut peer).await;
    let root = peer.root.clone();
    let reader = peer.open(&root, "to", "r", ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    let writer = peer.open(&root, "from", "w", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap();
    let done = between(&mut peer, &from, &to, copy(from.stateid, reader.stateid, 0, 0, 1)).await;
    let _ = done.fails_at(OpNum::Copy, Status::OpenMode);
    let done = between(&mut peer, &from, &to, clone(from.stateid, reader.stateid, 0, 0, 0)).await;
    let _ = done.fails_at(OpNum::Clone, Status::OpenMode);
    let done = between(&mut peer, &from, &to, copy(writer.stateid, to.stateid, 0, 0, 1)).await;
    let _ = done.fails_at(OpNum::Copy, Status::OpenMode);
    // Swapped: each stateid belongs to its file.
    let done = between(&mut peer, &from, &to, copy(to.stateid, from.stateid, 0, 0, 1)).await;
    let _ = done.fails_at(OpNum::Copy, Status::BadStateId);
    assert_eq!(peer.read(&to, 0, 9).await.0, b"");
}

#[tokio::test]
async fn s19_beyond_the_sources_end_is_invalid_and_a_count_of_zero_is_to_the_end() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let (from, to) = two_files(&mut peer).await;
    for (offset, count) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (u64::MAX, 0), (1, u64::MAX)] {
        let op = copy(from.stateid, to.stateid, offset, 0, count);
        let _ = between(&mut peer, &from, &to, op).await.fails_at(OpNum::Copy, Status::Inval);
        let op = clone(from.stateid, to.stateid, offset, 0, count);
        let _ = between(&mut peer, &from, &to, op).await.fails_at(OpNum::Clone, Status::Inval);
    }
    assert_eq!(peer.attrs(&to.fh, &[Attr::Size]).await.size(), Some(0), "nothing was copied");
    let done = between(&mut peer, &from, &to, copy(from.stateid, to.stateid, 4, 0, 0)).await.ok().copy();
    assert_eq!(done.response.count, 6);
    assert_eq!(peer.read(&to, 0, 99).await.0, b"456789");
    // A destination at the end of numbers.
    let op = copy(from.stateid, to.stateid, 0, u64::MAX - 2, 5);
    let done = between(&mut peer, &from, &to, op).await;
    assert!([Status::Inval, Status::FBig].contains(&done.status()), "{done}");
}
