//! Opens: S-10, S-12, S-16, S-21. RFC 8881 §8.2.3, §16.2.3.1.2, §18.16.3, §18.25.

use nfs4_proto::{
    ArgOp, Attr, LockType, OpNum, OpenResultFlags, PutfhArgs, ShareAccess, ShareDeny, StateId, Status,
};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{
    attrs, close, getattr, lock, locku, lookup, mkdir, mode, open_create, putfh, read, remove, unchecked,
    write,
};

const CURRENT: StateId = StateId::CURRENT;

#[tokio::test]
async fn s10_the_current_stateid_is_the_last_one_told_and_close_clears_it() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![
        putfh(&root),
        open_create("o", "f", unchecked(mode(0o644))),
        write(CURRENT, 0, b"current"),
        read(CURRENT, 0, 7),
        close(CURRENT),
        read(CURRENT, 0, 7),
    ];
    let done = peer.run(ops).await.fails_at(OpNum::Read, Status::BadStateId);
    assert_eq!(&done.read().data.into_bytes()[..], b"current");
}

#[tokio::test]
async fn s10_the_current_stateid_travels_with_the_saved_filehandle() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), mkdir("d")]).await.ok();
    let ops = vec![
        putfh(&root),
        open_create("o", "f", unchecked(mode(0o644))),
        ArgOp::Savefh,
        putfh(&root),
        lookup("d"),
        ArgOp::Restorefh,
        close(CURRENT),
    ];
    let _ = peer.run(ops).await.ok();
}

#[tokio::test]
async fn s10_a_change_of_the_filehandle_clears_the_current_stateid() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let again = || ArgOp::Putfh(PutfhArgs { object: file.fh.clone() });
    for change in [vec![again()], vec![ArgOp::Putrootfh, lookup("f")]] {
        let mut ops = vec![putfh(&root), open_create("o", "f", unchecked(mode(0o644)))];
        ops.extend(change);
        ops.push(read(CURRENT, 0, 1));
        let _ = peer.run(ops).await.fails_at(OpNum::Read, Status::BadStateId);
    }
    let _ = peer.run(vec![putfh(&file.fh), close(CURRENT)]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn s10_a_locks_stateid_becomes_the_current_one() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![
        putfh(&root),
        open_create("o", "f", unchecked(mode(0o644))),
        lock(CURRENT, "l", LockType::Write, 0, 10),
        write(CURRENT, 0, b"x"),
        locku(CURRENT, 0, 10),
    ];
    let done = peer.run(ops).await.ok();
    let (open, lock) = (done.open().stateid, done.stateid());
    assert_ne!(open.other, lock.other);
    assert_eq!(lock.seqid, 2);
}

#[tokio::test]
async fn s12_unchecked_on_a_file_that_exists_truncates_to_zero_and_touches_nothing_else() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", &[7; 100]).await;
    let how = |size: u64| {
        unchecked(attrs(|a| {
            a.set_size(size).set_mode(0o600);
        }))
    };
    let want = [Attr::Size, Attr::Mode];
    let ops = vec![putfh(&root), open_create("o", "f", how(50)), getattr(&want)];
    let done = peer.run(ops).await.ok();
    assert_eq!((done.attrs().size(), done.attrs().mode()), (Some(100), Some(0o644)), "50 is ignored");
    assert!(done.open().attrset.is_empty(), "{}", done.open().attrset);

    let ops = vec![putfh(&root), open_create("o", "f", how(0)), getattr(&want), ArgOp::Getfh];
    let done = peer.run(ops).await.ok();
    assert_eq!((done.attrs().size(), done.attrs().mode()), (Some(0), Some(0o644)));
    assert_eq!(done.fh(), fh);
    assert!(done.open().attrset.contains(Attr::Size) && !done.open().attrset.contains(Attr::Mode));
}

#[tokio::test]
async fn s12_a_denied_open_does_not_truncate() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let fh = a.file(&root, "f", &[7; 100]).await;
    a.open(&root, "f", "o", ShareAccess::READ, ShareDeny::WRITE).await.unwrap();
    let how = unchecked(nfs4_tests::wire::ops::size(0));
    let _ = b.run(vec![putfh(&root), open_create("o", "f", how)]).await.fails(Status::ShareDenied);
    assert_eq!(a.attrs(&fh, &[Attr::Size]).await.size(), Some(100));
}

#[tokio::test]
async fn s16_rounds_of_open_lock_close_leave_no_ghost() {
    let server = TestServer::with(|file| {
        file.limits.opens_per_client = 8;
        file.limits.locks_per_client = 8;
    })
    .await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    for name in ["f0", "f1"] {
        a.file(&root, name, b"").await;
    }
    for round in 0..400_u32 {
        let name = format!("f{}", round % 2);
        let file =
            a.open(&root, &name, &format!("o{}", round % 50), ShareAccess::BOTH, ShareDeny::NONE).await;
        let file = file.unwrap();
        let op = lock(file.stateid, &format!("l{}", round % 50), LockType::Write, u64::from(round), 10);
        let held = a.run(vec![putfh(&file.fh), op]).await.ok().stateid();
        if round % 3 == 0 {
            let _ = a.run(vec![putfh(&file.fh), locku(held, 0, u64::MAX)]).await.ok();
        }
        a.close(&file).await;
    }
    for name in ["f0", "f1"] {
        let file = b.open(&root, name, "o", ShareAccess::BOTH, ShareDeny::BOTH).await.unwrap();
        let op = lock(file.stateid, "l", LockType::Write, 0, u64::MAX);
        let _ = b.run(vec![putfh(&file.fh), op]).await.ok();
    }
}

async fn removed_but_open(server: TestServer) {
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    for by_another in [false, true] {
        let file = a.create(&root, "f").await;
        a.write(&file, 0, b"content").await;
        if by_another {
            b.remove(&root, "f").await;
        } else {
            a.remove(&root, "f").await;
        }
        assert_eq!(a.lookup(&root, "f").await.unwrap_err(), Status::NoEnt);
        a.reconnect().await;
        assert_eq!(a.read(&file, 0, 7).await.0, b"content", "over another connection");
        let mut second = a.another_session().await;
        second.write(&file, 7, b" and more").await;
        let got = second.attrs(&file.fh, &[Attr::NumLinks, Attr::Size]).await;
        assert_eq!((got.numlinks(), got.size()), (Some(0), Some(16)));
        second.close(&file).await;
        let _ = second.run(vec![putfh(&file.fh), getattr(&[Attr::Size])]).await.fails(Status::Stale);
    }
}

#[tokio::test]
async fn s21_a_removed_file_is_usable_until_its_close_from_every_connection_and_stale_then() {
    removed_but_open(TestServer::mem().await).await;
}

#[tokio::test]
async fn s21_a_removed_file_of_a_directory_is_usable_until_its_close_too() {
    removed_but_open(TestServer::local().await).await;
}

#[tokio::test]
async fn s21_a_replaced_file_is_usable_until_its_close() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let old = peer.create(&root, "f").await;
    peer.write(&old, 0, b"old").await;
    peer.file(&root, "new", b"new").await;
    let ops = vec![putfh(&root), ArgOp::Savefh, nfs4_tests::wire::ops::rename("new", "f")];
    let _ = peer.run(ops).await.ok();
    assert_eq!(peer.read(&old, 0, 9).await.0, b"old");
    peer.close(&old).await;
    let _ = peer.run(vec![putfh(&old.fh), getattr(&[Attr::Size])]).await.fails(Status::Stale);
    let new = peer.open(&root, "f", "o", ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    assert_eq!(peer.read(&new, 0, 9).await.0, b"new");
}

#[tokio::test]
async fn s21_preserve_unlinked_is_promised_because_it_is_kept() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![
        putfh(&root),
        open_create("o", "f", unchecked(mode(0o644))),
        ArgOp::Savefh,
        putfh(&root),
        remove("f"),
        ArgOp::Restorefh,
        write(CURRENT, 0, b"x"),
        getattr(&[Attr::NumLinks]),
    ];
    let done = peer.run(ops).await.ok();
    assert!(done.open().rflags.contains(OpenResultFlags::PRESERVE_UNLINKED));
    assert_eq!(done.attrs().numlinks(), Some(0));
}
