//! Restarts of the server: S-4, S-6, S-8, S-11, S-22. RFC 8881 §8.4.2, §4.2.2, §18.16.3, §18.48.

use std::time::Duration;

use nfs4_proto::{
    ArgOp, Attr, DelegationType, LockArgs, LockType, OpNum, OpenClaim, OpenHow, ReclaimCompleteArgs,
    SeqStatusFlags, ShareAccess, ShareDeny, StateId, Status,
};
use nfs4_tests::wire::ops::{
    exclusive, getattr, lock, lockt, mode, open, open_create, open_name, putfh, read, remove, rename,
    setattr, size, test_stateid, unchecked, write,
};
use nfs4_tests::wire::{Opened, Peer, TestServer, create_session};

const BOTH: ShareAccess = ShareAccess::BOTH;

fn reclaim_complete() -> ArgOp {
    ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })
}

fn reclaim_open() -> ArgOp {
    open("o", BOTH, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Previous(DelegationType::None))
}

fn reclaim_lock(stateid: StateId, offset: u64, length: u64) -> ArgOp {
    match lock(stateid, "l", LockType::Write, offset, length) {
        ArgOp::Lock(args) => ArgOp::Lock(LockArgs { reclaim: true, ..args }),
        _ => unreachable!(),
    }
}

/// A directory with `f` ("content"), opened and locked by client "a"; then the server starts anew.
async fn restarted(server: &mut TestServer) -> Opened {
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    a.write(&file, 0, b"content").await;
    let op = lock(file.stateid, "l", LockType::Write, 0, 4);
    let _ = a.run(vec![putfh(&file.fh), op]).await.ok();
    server.restart().await;
    file
}

#[tokio::test]
async fn s4_test_stateid_knows_nothing_of_before_the_restart_and_says_bad_not_stale() {
    let mut server = TestServer::local().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let mut old = Vec::new();
    for n in 0..20 {
        old.push(a.create(&root, format!("f{n}")).await.stateid);
    }
    server.restart().await;
    let mut a = server.peer("a").await;
    let live = a.create(&root, "g").await.stateid;
    let mut ids = old.clone();
    ids.push(StateId { seqid: live.seqid + 5, ..live });
    ids.push(StateId { seqid: 0, other: [0; 12] });
    ids.push(live);
    let codes = a.run(vec![test_stateid(ids)]).await.ok().test_stateid().status_codes.to_vec();
    assert_eq!(codes.len(), 23);
    assert!(codes[..22].iter().all(|code| *code == Status::BadStateId), "{codes:?}");
    assert_eq!(codes[22], Status::Ok);
    let fh = a.lookup(&root, "f0").await.unwrap();
    let _ = a.run(vec![putfh(&fh), read(old[0], 0, 1)]).await.fails_at(OpNum::Read, Status::BadStateId);
}

#[tokio::test]
async fn s6_no_number_of_before_a_quick_restart_is_valid_or_means_another_client() {
    let mut server = TestServer::local().await;
    let mut old = server.peer("a").await;
    let root = old.root.clone();
    let file = old.create(&root, "f").await;
    let (client, next) = (old.client, old.create_sequence);
    let mut seen = vec![(old.client, old.session, file.stateid.other)];
    for _ in 0..3 {
        server.restart().await;
        let mut first = Peer::connect(server.address, server.spec("b")).await;
        old.address = server.address;
        old.reconnect().await;
        let op = old.sequence_of(0, old.slots[0] + 1, false);
        let _ = old.compound(vec![op]).await.fails(Status::BadSession);
        let spec = server.spec("a");
        let made = create_session(&mut old.raw, &spec, client, next).await;
        assert_eq!(made.unwrap_err(), Status::StaleClientId);
        let op = read(file.stateid, 0, 1);
        let _ = first.run(vec![putfh(&file.fh), op]).await.fails(Status::BadStateId);
        let mut a = server.peer("a").await;
        let other = a.create(&root, "g").await.stateid.other;
        for (client, session, stateid) in &seen {
            assert!(
                ![first.client, a.client].contains(client) && ![first.session, a.session].contains(session)
            );
            assert_ne!(other, *stateid);
        }
        seen.extend([(first.client, first.session, [0; 12]), (a.client, a.session, other)]);
    }
}

#[tokio::test]
async fn s8_in_grace_only_reclaims_get_state_and_nothing_passes_what_may_be_reclaimed() {
    let mut server = TestServer::local().await;
    let file = restarted(&mut server).await;
    // B was not there before: it has nothing to reclaim and says so, and grace goes on for A.
    let mut b = server.peer("b").await;
    let root = b.root.clone();
    let how = unchecked(mode(0o644));
    for (fh, op) in [
        (&root, open_name("o", "f", BOTH, ShareDeny::NONE)),
        (&root, open_create("o", "new", how)),
        (&root, remove("f")),
        (&file.fh, read(StateId::ANONYMOUS, 0, 1)),
        (&file.fh, write(StateId::ANONYMOUS, 0, b"x")),
        (&file.fh, setattr(StateId::ANONYMOUS, size(0))),
        (&file.fh, lockt("l", LockType::Write, 0, 1)),
    ] {
        let shown = op.clone();
        let done = b.run(vec![putfh(fh), op]).await;
        assert_eq!(done.status(), Status::Grace, "{shown:?}: {done}");
    }
    let ops = vec![putfh(&root), ArgOp::Savefh, rename("f", "g")];
    let _ = b.run(ops).await.fails_at(OpNum::Rename, Status::Grace);
    // What cannot be in a reclaim's way is done.
    assert_eq!(b.attrs(&file.fh, &[Attr::Size]).await.size(), Some(7));
    assert_eq!(b.names(&root).await, ["f"]);
    // B may not reclaim: after its RECLAIM_COMPLETE nothing is left to reclaim.
    let _ = b.run(vec![putfh(&file.fh), reclaim_open()]).await.fails(Status::NoGrace);
    // C has not said that it is done, and is not on record.
    let mut c = Peer::connect(server.address, server.spec("c").reclaiming()).await;
    let _ = c.run(vec![putfh(&file.fh), reclaim_open()]).await.fails(Status::ReclaimBad);

    let mut a = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let opened = a.run(vec![putfh(&file.fh), reclaim_open()]).await.ok().open().stateid;
    let _ = a.run(vec![putfh(&file.fh), reclaim_lock(opened, 0, 4)]).await.ok();
    let _ = a.run(vec![reclaim_complete()]).await.ok();
    let _ = a.run(vec![putfh(&file.fh), reclaim_open()]).await.fails(Status::NoGrace);
    // All on record are done: grace is over for everybody.
    let theirs = b.open(&root, "f", "o", BOTH, ShareDeny::NONE).await.unwrap();
    let op = lock(theirs.stateid, "l", LockType::Write, 2, 1);
    let _ = b.run(vec![putfh(&file.fh), op]).await.fails(Status::Denied);
    a.write(&Opened { fh: file.fh.clone(), stateid: opened }, 0, b"C").await;
}

#[tokio::test]
async fn s8_grace_ends_with_its_time_for_those_who_did_not_come() {
    let mut server = TestServer::local_with(|file| {
        file.lease = Some(1);
        file.grace = Some(1);
    })
    .await;
    let file = restarted(&mut server).await;
    let started = std::time::Instant::now();
    let mut b = server.peer("b").await;
    let root = b.root.clone();
    let mut refused = 0;
    while b.open(&root, "f", "o", BOTH, ShareDeny::NONE).await.is_err() {
        refused += 1;
        assert!(started.elapsed() < Duration::from_secs(10), "grace does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(refused > 0, "there was no grace");
    let mut a = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let _ = a.run(vec![putfh(&file.fh), reclaim_open()]).await.fails(Status::NoGrace);
}

#[tokio::test]
async fn s8_without_clients_on_record_there_is_no_grace() {
    let mut server = TestServer::local().await;
    server.restart().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    a.file(&root, "f", b"x").await;
}

#[tokio::test]
async fn s8_a_client_is_told_that_it_has_to_reclaim_by_its_errors() {
    let mut server = TestServer::local().await;
    let file = restarted(&mut server).await;
    let mut a = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let _ = a.run(vec![putfh(&file.fh), read(file.stateid, 0, 1)]).await.fails(Status::BadStateId);
    let flags = a.run(vec![]).await.ok().sequence().status_flags;
    assert!(!flags.intersects(SeqStatusFlags::LEASE_MOVED | SeqStatusFlags::EXPIRED_ALL_STATE_REVOKED));
    let root = a.root.clone();
    let op = open_name("p", "f", BOTH, ShareDeny::NONE);
    let _ = a.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::Grace);
}

#[tokio::test]
async fn s11_an_exclusive_create_is_known_again_by_its_verifier_even_after_a_restart() {
    let mut server = TestServer::local().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let create = |owner: &str, verifier: u8| open_create(owner, "f", exclusive([verifier; 8], mode(0o640)));
    let first = a.run(vec![putfh(&root), create("o", 1), ArgOp::Getfh, getattr(&[Attr::Mode])]).await.ok();
    let bits = first.attrs().mode().unwrap();
    assert_eq!(bits & !0o640, 0, "{bits:o} is wider than asked for");
    a.reconnect().await;
    let again = a.run(vec![putfh(&root), create("o", 1), ArgOp::Getfh]).await.ok();
    assert_eq!(again.fh(), first.fh());
    assert_eq!(again.open().attrset, first.open().attrset);
    let _ = a.run(vec![putfh(&root), create("o", 2)]).await.fails_at(OpNum::Open, Status::Exist);
    server.restart().await;
    let mut a = server.peer("a").await;
    let third = a.run(vec![putfh(&root), create("p", 1), ArgOp::Getfh]).await.ok();
    assert_eq!(third.fh(), first.fh());
    let _ = a.run(vec![putfh(&root), create("p", 2)]).await.fails_at(OpNum::Open, Status::Exist);
}

#[tokio::test]
async fn s22_handles_outlive_a_restart_and_a_rename() {
    let mut server = TestServer::local().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let dir = a.mkdir(&root, "d").await;
    let inner = a.mkdir(&dir, "e").await;
    let file = a.file(&inner, "f", b"content").await;
    let want = [Attr::Type, Attr::Fileid, Attr::Fsid, Attr::Filehandle];
    let before = (a.attrs(&inner, &want).await, a.attrs(&file, &want).await);
    server.restart().await;

    let mut b = server.peer("b").await;
    let mut a = server.peer("a").await;
    let ops = vec![putfh(&dir), ArgOp::Savefh, putfh(&root), rename("e", "moved")];
    let _ = b.run(ops).await.ok();
    let ops = vec![putfh(&root), ArgOp::Savefh, putfh(&root), rename("d", "elsewhere")];
    let _ = b.run(ops).await.ok();

    assert_eq!((a.attrs(&inner, &want).await, a.attrs(&file, &want).await), before);
    a.file(&inner, "new", b"made in a directory held by its handle").await;
    assert_eq!(a.names(&inner).await, ["f", "new"]);
    let how = open("o", ShareAccess::READ, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh);
    let stateid = a.run(vec![putfh(&file), how]).await.ok().open().stateid;
    assert_eq!(a.read(&Opened { fh: file.clone(), stateid }, 0, 99).await.0, b"content");
    let moved = a.lookup(&root, "moved").await.unwrap();
    assert_eq!(moved, inner, "one object, one handle");
}

#[tokio::test]
async fn s22_the_handle_of_what_was_removed_and_made_again_is_stale() {
    let mut server = TestServer::local().await;
    let mut a = server.peer("a").await;
    let root = a.root.clone();
    let mut gone = Vec::new();
    for round in 0..20 {
        let fh = a.file(&root, "f", b"x").await;
        assert!(!gone.contains(&fh), "a handle came again in round {round}");
        a.remove(&root, "f").await;
        gone.push(fh);
    }
    a.file(&root, "f", b"y").await;
    for fh in &gone {
        let _ = a.run(vec![putfh(fh), getattr(&[Attr::Size])]).await.fails(Status::Stale);
    }
    server.restart().await;
    let mut a = server.peer("a").await;
    for fh in &gone {
        let _ = a.run(vec![putfh(fh), getattr(&[Attr::Size])]).await.fails(Status::Stale);
    }
}
