//! Restarts of server and client, grace, expired leases. RFC 8881 §8.3, §8.4, §18.51.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use nfs4_proto::{
    ArgOp, Attr, DelegationType, ExchangeIdFlags, LockArgs, LockType, Locker, OpNum, OpenClaim, OpenHow,
    ReclaimCompleteArgs, ShareAccess, ShareDeny, Status,
};
use nfs4_tests::wire::ops::{
    commit, lock, lockt, mode, open, open_create, owner, putfh, read, remove, unchecked, write,
};
use nfs4_tests::wire::{Opened, Peer, TestServer, exchange_id};

fn reclaim_complete() -> ArgOp {
    ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })
}

fn reclaim(access: ShareAccess) -> ArgOp {
    let claim = OpenClaim::Previous(DelegationType::None);
    open("o", access, ShareDeny::NONE, OpenHow::NoCreate, claim)
}

async fn reclaimed(peer: &mut Peer, file: &Opened) -> Opened {
    let done = peer.run(vec![putfh(&file.fh), reclaim(ShareAccess::BOTH)]).await.ok();
    Opened { fh: file.fh.clone(), stateid: done.open().stateid }
}

#[tokio::test]
async fn opens_and_locks_are_reclaimed_after_a_restart() {
    let mut server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, b"before").await;
    let op = lock(file.stateid, "l", LockType::Write, 0, 10);
    let _ = peer.run(vec![putfh(&file.fh), op]).await.ok();
    server.restart().await;
    let mut peer = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    assert_eq!(peer.root, root, "the root has the same handle");
    let file = reclaimed(&mut peer, &file).await;
    let locker =
        Locker::New { open_seqid: 0, open_stateid: file.stateid, lock_seqid: 0, lock_owner: owner("l") };
    let op =
        ArgOp::Lock(LockArgs { locktype: LockType::Write, reclaim: true, offset: 0, length: 10, locker });
    let _ = peer.run(vec![putfh(&file.fh), op]).await.ok();
    let _ = peer.run(vec![reclaim_complete()]).await.ok();
    peer.write(&file, 6, b" and after").await;
    assert_eq!(peer.read(&file, 0, 99).await.0, b"before and after");
    let mut other = server.peer("b").await;
    let done = other.run(vec![putfh(&file.fh), lockt("x", LockType::Read, 5, 1)]).await;
    let _ = done.fails(Status::Denied);
}

#[tokio::test]
async fn grace_ends_as_soon_as_all_on_record_have_reclaimed() {
    let mut server = TestServer::local_with(|file| {
        file.lease = Some(90);
        file.grace = Some(90);
    })
    .await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.create(&root, "f").await;
    b.create(&root, "g").await;
    server.restart().await;
    let mut a = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let mut b = Peer::connect(server.address, server.spec("b").reclaiming()).await;
    let create = || vec![putfh(&root), open_create("o", "new", unchecked(mode(0o600)))];
    let _ = a.run(vec![reclaim_complete()]).await.ok();
    let _ = a.run(create()).await.fails_at(OpNum::Open, Status::Grace);
    let _ = b.run(vec![reclaim_complete()]).await.ok();
    let _ = a.run(create()).await.ok();
    let _ = b.run(create()).await.ok();
}

#[tokio::test]
async fn grace_ends_by_itself() {
    let mut server = TestServer::local_with(|file| {
        file.lease = Some(1);
        file.grace = Some(1);
    })
    .await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    a.create(&root, "f").await;
    server.restart().await;
    // The one on record never comes back.
    let mut b = server.peer("b").await;
    let create = || vec![putfh(&root), open_create("o", "new", unchecked(mode(0o600)))];
    let _ = b.run(create()).await.fails_at(OpNum::Open, Status::Grace);
    for _ in 0..100 {
        let done = b.run(create()).await;
        match done.status() {
            Status::Ok => return,
            Status::Grace => tokio::time::sleep(Duration::from_millis(50)).await,
            _ => panic!("{done}"),
        }
    }
    panic!("grace of one second did not end in five");
}

#[tokio::test]
async fn without_clients_on_record_there_is_no_grace() {
    let mut server = TestServer::local_with(|file| file.lease = Some(90)).await;
    server.restart().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.create(&root, "f").await;
}

#[tokio::test]
async fn a_client_that_left_properly_is_not_waited_for() {
    let mut server = TestServer::local_with(|file| file.lease = Some(90)).await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.close(&file).await;
    let (sessionid, clientid) = (peer.session, peer.client);
    let op = ArgOp::DestroySession(nfs4_proto::DestroySessionArgs { sessionid });
    let _ = peer.compound(vec![op]).await.ok();
    let op = ArgOp::DestroyClientid(nfs4_proto::DestroyClientidArgs { clientid });
    let _ = peer.compound(vec![op]).await.ok();
    server.restart().await;
    let mut other = server.peer("b").await;
    other.create(&root, "g").await;
}

#[tokio::test]
async fn reclaims_are_refused_to_who_is_not_on_record_and_after_reclaim_complete() {
    let mut server = TestServer::local_with(|file| file.lease = Some(90)).await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    server.restart().await;
    let mut stranger = Peer::connect(server.address, server.spec("stranger").reclaiming()).await;
    let done = stranger.run(vec![putfh(&file.fh), reclaim(ShareAccess::READ)]).await;
    assert!(matches!(done.status(), Status::NoGrace | Status::ReclaimBad), "{done}");
    let mut a = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    reclaimed(&mut a, &file).await;
    let _ = a.run(vec![reclaim_complete()]).await.ok();
    let done = a.run(vec![putfh(&file.fh), reclaim(ShareAccess::READ)]).await;
    let _ = done.fails_at(OpNum::Open, Status::NoGrace);
    // A delegation that was never given.
    let mut a = Peer::connect(server.address, server.spec("a").incarnation(2).reclaiming()).await;
    let claim = OpenClaim::Previous(DelegationType::Read);
    let op = open("o", ShareAccess::READ, ShareDeny::NONE, OpenHow::NoCreate, claim);
    let done = a.run(vec![putfh(&file.fh), op]).await;
    assert!(matches!(done.status(), Status::NoGrace | Status::ReclaimBad), "{done}");
}

#[tokio::test]
async fn a_restart_gives_a_new_write_verifier_and_what_was_committed_is_there() {
    let mut server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let first = peer.run(vec![putfh(&file.fh), write(file.stateid, 0, b"safe")]).await.ok().write();
    let told = peer.run(vec![putfh(&file.fh), commit(0, 0)]).await.ok().commit();
    assert_eq!(first.writeverf, told.writeverf);
    server.restart().await;
    let mut peer = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let file = reclaimed(&mut peer, &file).await;
    let _ = peer.run(vec![reclaim_complete()]).await.ok();
    let again = peer.run(vec![putfh(&file.fh), write(file.stateid, 4, b"!")]).await.ok().write();
    assert_ne!(first.writeverf, again.writeverf);
    assert_eq!(peer.read(&file, 0, 9).await.0, b"safe!");
}

#[tokio::test]
async fn a_restart_keeps_who_the_server_is() {
    let mut server = TestServer::local().await;
    let before = exchange_id(&mut server.raw().await, &server.spec("a")).await.unwrap();
    server.restart().await;
    let after = exchange_id(&mut server.raw().await, &server.spec("a")).await.unwrap();
    assert_eq!(before.server_owner, after.server_owner);
    assert_eq!(before.server_scope, after.server_scope);
    assert!(!after.flags.contains(ExchangeIdFlags::CONFIRMED_R));
}

#[tokio::test]
async fn a_memory_server_that_starts_again_is_another_server() {
    let mut server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    server.restart().await;
    let mut again = server.peer("a").await;
    let done = again.run(vec![putfh(&root)]).await;
    assert!(matches!(done.status(), Status::Stale | Status::BadHandle), "{done}");
    peer.reconnect_to(server.address).await;
    let op = peer.sequence(0, false);
    let _ = peer.compound(vec![op]).await.fails(Status::BadSession);
}

#[tokio::test]
async fn a_client_that_restarts_loses_what_its_former_life_held() {
    let server = TestServer::mem().await;
    let mut first = server.peer("a").await;
    let root = first.root.clone();
    let file = first.create(&root, "f").await;
    let op = lock(file.stateid, "l", LockType::Write, 0, 10);
    let _ = first.run(vec![putfh(&file.fh), op]).await.ok();
    let mut other = server.peer("b").await;
    let test = || vec![putfh(&file.fh), lockt("x", LockType::Write, 0, 10)];
    let _ = other.run(test()).await.fails(Status::Denied);
    let second = Peer::connect(server.address, server.spec("a").incarnation(2)).await;
    assert_ne!(second.client, first.client);
    let _ = other.run(test()).await.ok();
}

#[tokio::test]
async fn a_lease_that_ran_out_without_state_takes_the_client_away() {
    let server = TestServer::with(|file| file.lease = Some(1)).await;
    let mut peer = server.peer("a").await;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(2200)).await;
        let op = peer.sequence(0, false);
        let done = peer.compound(vec![op]).await;
        match done.status() {
            Status::BadSession => return,
            Status::Ok => {}
            _ => panic!("{done}"),
        }
    }
    panic!("it is still there");
}

#[tokio::test]
async fn renewing_keeps_everything() {
    let server = TestServer::with(|file| file.lease = Some(1)).await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let _ = a.run(vec![]).await.ok();
        let _ = b.run(vec![]).await.ok();
    }
    let op = nfs4_tests::wire::ops::open_name("o", "f", ShareAccess::READ, ShareDeny::WRITE);
    let _ = b.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::ShareDenied);
    a.write(&file, 0, b"still mine").await;
}

#[tokio::test]
async fn a_file_that_went_during_the_restart_is_stale_for_its_reclaim() {
    let mut server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    server.stop().await;
    std::fs::remove_file(server.directory().join("f")).unwrap();
    server.restart().await;
    let mut peer = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let done = peer.run(vec![putfh(&file.fh), reclaim(ShareAccess::BOTH)]).await;
    let _ = done.fails(Status::Stale);
    let _ = peer.run(vec![reclaim_complete()]).await.ok();
    let names = peer.names(&root).await;
    assert!(names.is_empty(), "{names:?}");
}

#[tokio::test]
async fn reading_and_removing_wait_for_reclaims() {
    let mut server = TestServer::local_with(|file| file.lease = Some(90)).await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    a.write(&file, 0, b"content").await;
    server.restart().await;
    let mut b = server.peer("b").await;
    let anonymous = nfs4_proto::StateId::ANONYMOUS;
    let _ = b.run(vec![putfh(&file.fh), read(anonymous, 0, 7)]).await.fails(Status::Grace);
    let _ = b.run(vec![putfh(&root), remove("f")]).await.fails(Status::Grace);
    // What conflicts with nothing goes on.
    assert_eq!(b.attrs(&file.fh, &[Attr::Size]).await.size(), Some(7));
    b.mkdir(&root, "d").await;
}
