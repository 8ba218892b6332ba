//! Connections: order, fragments, limits, and how they end.

use std::time::Duration;

use nfs4_proto::{ArgOp, Attr, Status};
use nfs4_tests::wire::ops::{getattr, mkdir, putfh, write};
use nfs4_tests::wire::{Raw, TestServer, cred};
use nfs4_xdr::rpc::{Accepted, Call, NFS_PROGRAM, NFS_V4, OpaqueAuth};

/// Whether the server still answers on this connection.
async fn alive(raw: &mut Raw) -> bool {
    let xid = raw.xid();
    raw.send_call(&Call::new(xid, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none()), &[]).await;
    raw.answer(xid).await.body == Ok(Accepted::Success)
}

#[tokio::test]
async fn what_need_not_wait_is_answered_in_the_order_in_which_it_came() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let mut sent = Vec::new();
    for round in 0..20 {
        for slot in 0..16 {
            let ops = vec![peer.sequence(slot, false), putfh(&peer.root), mkdir(format!("{round}-{slot}"))];
            sent.push(peer.post(ops).await);
        }
    }
    for xid in sent {
        let answer = peer.raw.next_answer().await.unwrap();
        assert_eq!(answer.xid, xid);
        assert_eq!(answer.compound().status, Status::Ok);
    }
}

#[tokio::test]
async fn a_record_in_many_fragments_is_one_call() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let body = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0];
    for piece in [1, 3, 7, 40] {
        let (xid, record) = raw.record(&cred(0, 0, &[1, 2, 3]), &body);
        let mut bytes = Vec::new();
        let pieces: Vec<&[u8]> = record.chunks(piece).collect();
        for (i, piece) in pieces.iter().enumerate() {
            // An empty fragment is legal, too.
            bytes.extend([0; 4]);
            let last = if i + 1 == pieces.len() { 0x8000_0000 } else { 0 };
            bytes.extend((u32::try_from(piece.len()).unwrap() | last).to_be_bytes());
            bytes.extend(*piece);
        }
        raw.send_bytes(&bytes).await;
        assert_eq!(raw.answer(xid).await.compound().status, Status::Ok, "pieces of {piece}");
    }
}

#[tokio::test]
async fn a_call_that_comes_byte_by_byte_is_answered() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let (xid, record) = raw.record(&cred(0, 0, &[]), &[0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]);
    let mut bytes = (u32::try_from(record.len()).unwrap() | 0x8000_0000).to_be_bytes().to_vec();
    bytes.extend(record);
    for byte in bytes {
        raw.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(raw.answer(xid).await.compound().status, Status::Ok);
}

#[tokio::test]
async fn a_record_above_the_limit_closes_the_connection_and_no_other() {
    let server = TestServer::with(|file| file.limits.record_bytes = 64 << 10).await;
    let (mut good, mut bad) = (server.raw().await, server.raw().await);
    assert!(alive(&mut bad).await);
    bad.send_bytes(&(0x8000_0000_u32 | 0x1_0001).to_be_bytes()).await;
    assert!(bad.is_closed_by_server().await);
    let mut bad = server.raw().await;
    bad.send_bytes(&0x7fff_ffff_u32.to_be_bytes()).await;
    assert!(bad.is_closed_by_server().await);
    assert!(alive(&mut good).await);
}

#[tokio::test]
async fn fragments_without_end_close_the_connection() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    raw.send_bytes(&vec![0; 4 * 5000]).await;
    assert!(raw.is_closed_by_server().await);
}

#[tokio::test]
async fn who_says_nothing_at_first_is_closed() {
    let server = TestServer::with(|file| file.limits.first_request = 1).await;
    let mut raw = server.raw().await;
    assert!(raw.is_closed_by_server().await);
}

#[tokio::test]
async fn one_address_has_so_many_connections_and_places_come_back() {
    let server = TestServer::with(|file| file.limits.connections_per_address = 2).await;
    let (mut a, mut b) = (server.raw().await, server.raw().await);
    assert!(alive(&mut a).await && alive(&mut b).await);
    let mut refused = server.raw().await;
    assert!(refused.is_closed_by_server().await);
    assert!(alive(&mut a).await);
    drop(b);
    // The place is free as soon as the server has seen the end.
    for _ in 0..200 {
        let mut c = server.raw().await;
        let xid = c.xid();
        let null = Call::new(xid, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none());
        let record = nfs4_tests::wire::bytes_of(&null);
        // The server may close while we write.
        c.send_record(&record).await;
        if c.next_answer().await.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the place did not come back");
}

#[tokio::test]
async fn calls_that_came_before_the_end_of_the_stream_are_answered() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let mut sent = Vec::new();
    for slot in 0..8 {
        let ops = vec![peer.sequence(slot, false), putfh(&peer.root), mkdir(format!("{slot}"))];
        sent.push(peer.post(ops).await);
    }
    peer.raw.shut_down().await;
    for xid in sent {
        assert_eq!(peer.raw.answer(xid).await.compound().status, Status::Ok);
    }
    assert!(peer.raw.is_closed_by_server().await);
}

#[tokio::test]
async fn a_stop_answers_what_was_taken_and_closes() {
    let mut server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let mut sent = Vec::new();
    for slot in 0..16 {
        let ops = vec![
            peer.sequence(slot, false),
            putfh(&file.fh),
            write(file.stateid, u64::from(slot) * 65536, &vec![7; 65536]),
            ArgOp::Commit(nfs4_proto::CommitArgs { offset: 0, count: 0 }),
        ];
        sent.push(peer.post(ops).await);
    }
    // The first answer shows that the server has begun to read.
    assert_eq!(peer.raw.answer(sent.remove(0)).await.compound().status, Status::Ok);
    server.stop().await;
    let mut answered = 1;
    while let Some(answer) = peer.raw.next_answer().await {
        assert_eq!(answer.compound().status, Status::Ok);
        answered += 1;
    }
    // Whatever was written is told, and whatever was told is written.
    let written = std::fs::read(server.directory().join("f")).unwrap();
    let blocks = written.chunks(65536).filter(|block| block.iter().all(|b| *b == 7)).count();
    assert_eq!(blocks, answered, "{} bytes", written.len());
}

#[tokio::test]
async fn a_connection_that_ends_in_the_middle_of_a_record_harms_nobody() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for _ in 0..20 {
        let mut raw = server.raw().await;
        raw.send_bytes(&[0x80, 0, 1, 0, 1, 2, 3]).await;
    }
    let root = peer.root.clone();
    assert!(peer.attrs(&root, &[Attr::Type]).await.file_type().is_some());
}

#[tokio::test]
async fn a_client_that_does_not_read_its_replies_does_not_stop_the_others() {
    let server = TestServer::with(|file| {
        file.limits.inflight_bytes_per_connection = 2 << 20;
    })
    .await;
    let mut deaf = server.peer("deaf").await;
    let root = deaf.root.clone();
    let file = deaf.create(&root, "f").await;
    for block in 0..8 {
        deaf.write(&file, block * 65536, &vec![1; 65536]).await;
    }
    for slot in 0..16 {
        let op = nfs4_tests::wire::ops::read(file.stateid, 0, 512 << 10);
        let ops = vec![deaf.sequence(slot, false), putfh(&file.fh), op];
        deaf.post(ops).await;
    }
    let mut other = server.peer("other").await;
    let ops = vec![putfh(&root), getattr(&[Attr::Type])];
    let done = tokio::time::timeout(Duration::from_secs(10), other.run(ops)).await.unwrap();
    let _ = done.ok();
    // When it reads again, all of it is there.
    for _ in 0..16 {
        assert_eq!(deaf.raw.next_answer().await.unwrap().compound().status, Status::Ok);
    }
}
