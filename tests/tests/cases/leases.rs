//! Leases that run out: S-3, S-9. RFC 8881 §8.3, §8.4.3. A lease is a second here.

use std::time::Duration;

use nfs4_proto::{ArgOp, LockType, OpNum, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::ops::{lock, locku, mode, open_create, putfh, read, unchecked};
use nfs4_tests::wire::{TestServer, create_session};

const LEASE: Duration = Duration::from_secs(1);

async fn short_lease() -> TestServer {
    TestServer::with(|file| file.lease = Some(1)).await
}

async fn past_the_lease() {
    tokio::time::sleep(LEASE + Duration::from_millis(100)).await;
}

#[tokio::test]
async fn s3_sequences_that_fail_do_not_renew() {
    let server = short_lease().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.file(&root, "f", b"").await;
    a.open(&root, "f", "o", ShareAccess::READ, ShareDeny::WRITE).await.unwrap();
    assert_eq!(
        b.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap_err(),
        Status::ShareDenied
    );
    let started = std::time::Instant::now();
    while started.elapsed() < LEASE + Duration::from_millis(150) {
        let misordered = a.sequence_of(0, a.slots[0].wrapping_add(7), false);
        let _ = a.compound(vec![misordered]).await.fails_at(OpNum::Sequence, Status::SeqMisordered);
        let no_slot = a.sequence_of(10_000, 1, false);
        let _ = a.compound(vec![no_slot]).await.fails_at(OpNum::Sequence, Status::BadSlot);
        let too_many = vec![ArgOp::Putrootfh; 70];
        let _ = a.run(too_many).await.fails_at(OpNum::Sequence, Status::TooManyOps);
        // B lives on.
        let _ = b.run(vec![]).await.ok();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    b.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap();
}

#[tokio::test]
async fn s3_sequences_that_succeed_renew_whatever_follows_them() {
    let server = short_lease().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.file(&root, "f", b"").await;
    a.open(&root, "f", "o", ShareAccess::READ, ShareDeny::WRITE).await.unwrap();
    let started = std::time::Instant::now();
    while started.elapsed() < LEASE + Duration::from_millis(400) {
        let _ = a.run(vec![ArgOp::Getfh]).await.fails(Status::NoFileHandle);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let _ = b.run(vec![]).await;
    let mut c = server.peer("c").await;
    assert_eq!(
        c.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap_err(),
        Status::ShareDenied
    );
}

#[tokio::test]
async fn s9_without_a_conflict_a_client_that_comes_back_late_finds_all_its_state() {
    let server = short_lease().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    let op = lock(file.stateid, "l", LockType::Write, 0, 10);
    let held = a.run(vec![putfh(&file.fh), op]).await.ok().stateid();
    // Longer than the lease and a look at it.
    tokio::time::sleep(LEASE + Duration::from_millis(700)).await;
    let seq = a.run(vec![]).await.ok().sequence();
    assert!(seq.status_flags.is_empty(), "{:?}", seq.status_flags);
    a.write(&file, 0, b"still mine").await;
    let mut b = server.peer("b").await;
    let theirs = b.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::NONE).await.unwrap();
    let op = lock(theirs.stateid, "l", LockType::Write, 5, 10);
    let denied = b.run(vec![putfh(&file.fh), op]).await.fails(Status::Denied).denied();
    assert_eq!((denied.offset, denied.length), (0, 10));
    let _ = a.run(vec![putfh(&file.fh), locku(held, 0, 10)]).await.ok();
}

#[tokio::test]
async fn s9_a_conflicting_open_is_served_at_once_when_the_lease_is_over() {
    let server = short_lease().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    a.file(&root, "f", b"").await;
    let held = a.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::BOTH).await.unwrap();
    past_the_lease().await;
    let mut b = server.peer("b").await;
    let theirs = b.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::WRITE).await.unwrap();
    assert_eq!(theirs.fh, held.fh);
    // A learns it and keeps nothing.
    let op = a.sequence(0, false);
    let _ = a.compound(vec![op]).await.fails(Status::BadSession);
    let mut again = server.peer("a").await;
    let op = read(held.stateid, 0, 1);
    let _ = again.run(vec![putfh(&held.fh), op]).await.fails(Status::BadStateId);
    assert_eq!(
        again.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap_err(),
        Status::ShareDenied
    );
}

#[tokio::test]
async fn s9_a_conflicting_lock_is_served_at_once_blocking_or_not() {
    for kind in [LockType::Write, LockType::WriteW] {
        let server = short_lease().await;
        let mut a = server.peer("a").await;
        let root = a.root.clone();
        let file = a.create(&root, "f").await;
        let op = lock(file.stateid, "l", LockType::Write, 0, u64::MAX);
        let _ = a.run(vec![putfh(&file.fh), op]).await.ok();
        past_the_lease().await;
        let mut b = server.peer("b").await;
        let theirs = b.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::NONE).await.unwrap();
        let op = lock(theirs.stateid, "l", kind, 100, 1);
        let _ = b.run(vec![putfh(&file.fh), op]).await.ok();
        let op = a.sequence(0, false);
        let _ = a.compound(vec![op]).await.fails(Status::BadSession);
    }
}

#[tokio::test]
async fn s9_a_client_that_holds_nothing_goes_with_its_lease() {
    let server = short_lease().await;
    let mut a = server.peer("a").await;
    let op = a.sequence(0, false);
    let _ = a.compound(vec![op]).await.ok();
    tokio::time::sleep(LEASE + Duration::from_millis(700)).await;
    let op = a.sequence(0, false);
    let _ = a.compound(vec![op]).await.fails(Status::BadSession);
    let made = create_session(&mut a.raw, &server.spec("a"), a.client, a.create_sequence).await;
    assert_eq!(made.unwrap_err(), Status::StaleClientId);
}

#[tokio::test]
async fn s9_what_a_late_client_has_open_may_be_removed_and_made_anew() {
    let server = short_lease().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let how = unchecked(mode(0o644));
    let _ = a.run(vec![putfh(&root), open_create("o", "f", how)]).await.ok();
    past_the_lease().await;
    let mut b = server.peer("b").await;
    b.remove(&root, "f").await;
    assert!(b.names(&root).await.is_empty());
    let file = b.create(&root, "f").await;
    b.write(&file, 0, b"another file").await;
}
