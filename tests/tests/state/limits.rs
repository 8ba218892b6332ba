//! Each limit at N and at N + 1: the error that docs/limits.md names, to that peer alone.

use std::time::{Duration, Instant};

use nfs4_proto::{ArgOp, ClientId, LockType, OpNum, ResOp, ShareAccess, ShareDeny, Status};
use nfs4_server::config::Limits;
use nfs4_tests::wire::ops::{self, getattr, lock, lock_more, putfh, readdir};
use nfs4_tests::wire::{
    Opened, PATIENCE, Peer, Raw, Spec, TestServer, bytes_of, create_session, exchange_id,
};
use nfs4_xdr::rpc::{Call, NFS_PROGRAM, NFS_V4, OpaqueAuth};

async fn server(fill: impl FnOnce(&mut Limits)) -> TestServer {
    TestServer::with(|file| fill(&mut file.limits)).await
}

/// Somebody who reached no limit is served.
async fn another_is_served(peer: &mut Peer) {
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), getattr(&[nfs4_proto::Attr::Type])]).await.ok();
}

async fn null(raw: &mut Raw) -> bool {
    let xid = raw.xid();
    raw.send_call(&Call::new(xid, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none()), &[]).await;
    raw.next_answer().await.is_some()
}

#[tokio::test]
async fn connections_and_connections_per_address() {
    for per_address in [false, true] {
        let server = server(|limits| {
            if per_address {
                limits.connections_per_address = 3;
            } else {
                limits.connections = 3;
            }
        })
        .await;
        let mut other = server.peer("other").await;
        let (mut second, mut third) = (server.raw().await, server.raw().await);
        assert!(null(&mut second).await && null(&mut third).await);
        let mut fourth = server.raw().await;
        assert!(fourth.is_closed_by_server().await);
        another_is_served(&mut other).await;
        drop(third);
        // The place is free again.
        let until = Instant::now() + PATIENCE;
        loop {
            let mut again = server.raw().await;
            if null(&mut again).await {
                break;
            }
            assert!(Instant::now() < until, "the place did not come free");
        }
    }
}

#[tokio::test]
async fn first_request_and_idle_connection() {
    let server = server(|limits| {
        limits.first_request = 1;
        limits.idle_connection = 2;
    })
    .await;
    let start = Instant::now();
    let mut silent = server.raw().await;
    let mut once = server.raw().await;
    assert!(null(&mut once).await);
    assert!(silent.is_closed_by_server().await);
    let first = start.elapsed();
    assert!(first >= Duration::from_millis(900) && first < Duration::from_secs(10), "{first:?}");
    assert!(once.is_closed_by_server().await);
    let idle = start.elapsed();
    assert!(idle >= Duration::from_millis(1900) && idle < Duration::from_secs(10), "{idle:?}");
    another_is_served(&mut server.peer("other").await).await;
}

#[tokio::test]
async fn record_bytes() {
    let server = server(|limits| {
        limits.record_bytes = 32 << 10;
        limits.inflight_bytes_per_connection = 64 << 10;
    })
    .await;
    let mut other = server.peer("other").await;
    let mut raw = server.raw().await;
    let call = |xid| bytes_of(&Call::new(xid, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none())).to_vec();
    let mut record = call(raw.xid());
    record.resize(32 << 10, 0);
    raw.send_record(&record).await;
    assert!(raw.next_answer().await.is_some());
    let mut record = call(raw.xid());
    record.resize((32 << 10) + 4, 0);
    raw.send_record(&record).await;
    assert!(raw.is_closed_by_server().await);
    another_is_served(&mut other).await;
}

#[tokio::test]
async fn clients() {
    let server = server(|limits| limits.clients = 2).await;
    let mut other = server.peer("other").await;
    let mut raw = server.raw().await;
    assert!(exchange_id(&mut raw, &server.spec("second")).await.is_ok());
    let third = exchange_id(&mut raw, &server.spec("third")).await;
    // The second is not confirmed, and yet its time is not over.
    assert_eq!(third.err(), Some(Status::Delay));
    another_is_served(&mut other).await;
}

#[tokio::test]
async fn sessions_per_client() {
    let server = server(|limits| limits.sessions_per_client = 2).await;
    let mut other = server.peer("other").await;
    let mut peer = server.peer("a").await;
    let _second = peer.another_session().await;
    let (client, sequence): (ClientId, u32) = (peer.client, peer.create_sequence);
    let mut raw = server.raw().await;
    let third = create_session(&mut raw, &peer.spec, client, sequence).await;
    assert_eq!(third.err(), Some(Status::NoSpc));
    let _ = other.another_session().await;
    another_is_served(&mut peer).await;
}

#[tokio::test]
async fn slots_per_session() {
    let server = server(|limits| limits.slots_per_session = 4).await;
    let spec = Spec {
        fore: nfs4_proto::ChannelAttrs { maxrequests: 100, ..server.spec("a").fore },
        ..server.spec("a")
    };
    let mut peer = Peer::connect(server.address, spec).await;
    assert_eq!(peer.fore.maxrequests, 4);
    let last = peer.sequence(3, false);
    let _ = peer.compound(vec![last]).await.ok();
    let beyond = peer.sequence_of(4, 1, false);
    let _ = peer.compound(vec![beyond]).await.fails_at(OpNum::Sequence, Status::BadSlot);
    another_is_served(&mut peer).await;
}

#[tokio::test]
async fn operations() {
    let server = server(|limits| limits.operations = 8).await;
    let mut peer = server.peer("a").await;
    assert_eq!(peer.fore.maxoperations, 8);
    // SEQUENCE is one of them.
    let _ = peer.run(vec![ArgOp::Putrootfh; 7]).await.ok();
    let slot = peer.slots[0];
    let _ = peer.run(vec![ArgOp::Putrootfh; 8]).await.fails_at(OpNum::Sequence, Status::TooManyOps);
    peer.slots[0] = slot;
    another_is_served(&mut peer).await;
}

#[tokio::test]
async fn reply_cached_bytes() {
    let server = server(|limits| limits.reply_cached_bytes = 512).await;
    let mut peer = server.peer("a").await;
    assert_eq!(peer.fore.maxresponsesize_cached, 512);
    let root = peer.root.clone();
    for n in 0..20 {
        let _ = peer.mkdir(&root, format!("directory-{n:02}")).await;
    }
    let list = |count| vec![putfh(&root), readdir(0, [0; 8], count, &[])];
    let sequence = peer.sequence(0, true);
    let _ = peer.compound([vec![sequence], list(300)].concat()).await.ok();
    let sequence = peer.sequence(0, true);
    let mut many = vec![sequence];
    // Each of them fits; all of them don't.
    for _ in 0..3 {
        many.extend(list(300));
    }
    let _ = peer.compound(many).await.fails(Status::RepTooBigToCache);
    another_is_served(&mut peer).await;
}

#[tokio::test]
async fn opens_and_locks_per_client() {
    let server = server(|limits| {
        limits.opens_per_client = 3;
        limits.locks_per_client = 4;
    })
    .await;
    let (mut peer, mut other) = (server.peer("a").await, server.peer("other").await);
    let root = peer.root.clone();
    let mut files = Vec::new();
    for n in 0..3 {
        files.push(peer.create(&root, format!("f{n}")).await);
    }
    let _ = other.file(&root, "theirs", b"").await;
    let fourth = peer.open(&root, "theirs", "o", ShareAccess::READ, ShareDeny::NONE).await;
    assert_eq!(fourth.err(), Some(Status::ServerFault));
    let theirs = other.open(&root, "theirs", "o", ShareAccess::BOTH, ShareDeny::NONE).await.unwrap();
    peer.close(&files[2]).await;
    assert!(peer.open(&root, "theirs", "o", ShareAccess::READ, ShareDeny::NONE).await.is_ok());
    // Locks are counted in ranges; one call adds two at the most.
    let ranges = async |peer: &mut Peer, file: &Opened, most: u64| {
        let mut next = lock(file.stateid, "locker", LockType::Write, 0, 1);
        for n in 1..=most {
            let done = peer.run(vec![putfh(&file.fh), next]).await;
            let status = done.status();
            match done.results().all().last() {
                Some(ResOp::Lock(Ok(ok))) => next = lock_more(ok.lock_stateid, LockType::Write, n * 10, 1),
                _ => return (n, status),
            }
        }
        (most, Status::Ok)
    };
    assert_eq!(ranges(&mut peer, &files[0], 9).await, (4, Status::ServerFault));
    assert_eq!(ranges(&mut other, &theirs, 3).await, (3, Status::Ok));
}

#[tokio::test]
async fn name_bytes() {
    let server = server(|limits| limits.name_bytes = 20).await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.mkdir(&root, "n".repeat(20)).await;
    let long = "n".repeat(21);
    let _ =
        peer.run(vec![putfh(&root), ops::mkdir(&long)]).await.fails_at(OpNum::Create, Status::NameTooLong);
    assert_eq!(peer.lookup(&root, &long).await.err(), Some(Status::NameTooLong));
    assert_eq!(peer.attrs(&root, &[nfs4_proto::Attr::MaxName]).await.maxname(), Some(20));
    another_is_served(&mut peer).await;
}

#[tokio::test]
async fn mem_limit() {
    let server = TestServer::with(|file| file.mem_limit = Some(nfs4_server::config::Size(4 << 20))).await;
    let (mut peer, mut other) = (server.peer("a").await, server.peer("other").await);
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let data = vec![7; 1 << 19];
    let mut written = 0;
    let status = loop {
        let done = peer.run(vec![putfh(&file.fh), ops::write(file.stateid, written, &data)]).await;
        if done.status() != Status::Ok {
            break done.status();
        }
        written += u64::from(done.ok().write().count);
        assert!(written <= 4 << 20);
    };
    assert_eq!(status, Status::NoSpc);
    assert!(written >= 3 << 20, "{written}");
    another_is_served(&mut other).await;
}
