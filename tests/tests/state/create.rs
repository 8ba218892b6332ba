//! OPEN that creates. RFC 8881 §18.16.3.

use nfs4_proto::{ArgOp, Attr, CreateHow, OpNum, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{
    attrs, exclusive, getattr, guarded, mkdir, mode, open_create, open_name, putfh, size, symlink, unchecked,
};

#[tokio::test]
async fn unchecked_creates_with_its_attributes_and_says_which() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let set = attrs(|a| {
        a.set_mode(0o604).set_size(7);
    });
    let ops = vec![
        putfh(&root),
        open_create("o", "f", unchecked(set)),
        getattr(&[Attr::Mode, Attr::Size, Attr::Owner, Attr::OwnerGroup, Attr::NumLinks]),
    ];
    let done = peer.run(ops).await.ok();
    let got = done.attrs();
    assert_eq!((got.mode(), got.size(), got.numlinks()), (Some(0o604), Some(7), Some(1)));
    assert_eq!(got.owner().unwrap().as_number(), Some(1000));
    assert!(done.open().attrset.contains(Attr::Mode) && done.open().attrset.contains(Attr::Size));
    assert!(done.open().cinfo.after > done.open().cinfo.before);
}

#[tokio::test]
async fn guarded_finds_an_existing_file_and_opens_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"content").await;
    let ops = vec![putfh(&root), open_create("o", "f", guarded(size(0)))];
    let _ = peer.run(ops).await.fails_at(OpNum::Open, Status::Exist);
    let fh = peer.lookup(&root, "f").await.unwrap();
    assert_eq!(peer.attrs(&fh, &[Attr::Size]).await.size(), Some(7));
    let ops = vec![putfh(&root), open_create("o", "g", guarded(mode(0o600)))];
    let _ = peer.run(ops).await.ok();
}

#[tokio::test]
async fn exclusive4_says_which_attributes_hold_the_verifier() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let how = || CreateHow::Exclusive([3; 8]);
    let first = peer.run(vec![putfh(&root), open_create("o", "f", how()), ArgOp::Getfh]).await.ok();
    let excl = peer.attrs(&root, &[Attr::SuppattrExclcreat]).await;
    let allowed = excl.suppattr_exclcreat().unwrap().clone();
    assert!(!first.open().attrset.is_empty(), "the client must know what to set again");
    assert!(!allowed.intersects(&first.open().attrset), "{allowed} with {}", first.open().attrset);
    let again = peer.run(vec![putfh(&root), open_create("o", "f", how()), ArgOp::Getfh]).await.ok();
    assert_eq!(first.fh(), again.fh());
    let other = vec![putfh(&root), open_create("o", "f", CreateHow::Exclusive([4; 8]))];
    let _ = peer.run(other).await.fails_at(OpNum::Open, Status::Exist);
}

#[tokio::test]
async fn exclusive4_1_takes_only_what_suppattr_exclcreat_lists() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let times = attrs(|a| {
        a.set_time_modify_set(nfs4_proto::SetTime::Server);
    });
    let ops = vec![putfh(&root), open_create("o", "f", exclusive([1; 8], times))];
    let _ = peer.run(ops).await.fails_at(OpNum::Open, Status::Inval);
    assert_eq!(peer.lookup(&root, "f").await.unwrap_err(), Status::NoEnt, "nothing was made");
    let ops = vec![
        putfh(&root),
        open_create("o", "f", exclusive([1; 8], mode(0o640))),
        getattr(&[Attr::Mode, Attr::Size]),
    ];
    let done = peer.run(ops).await.ok();
    assert_eq!(done.attrs().mode(), Some(0o640));
    assert!(done.open().attrset.contains(Attr::Mode));
}

#[tokio::test]
async fn a_directory_a_link_and_a_fifo_are_not_opened() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fifo = nfs4_tests::wire::ops::create(nfs4_proto::CreateType::Fifo, "p", mode(0o600));
    for op in [mkdir("d"), symlink("l", "d"), fifo] {
        let _ = peer.run(vec![putfh(&root), op]).await.ok();
    }
    for (name, status) in [("d", Status::IsDir), ("l", Status::Symlink), ("p", Status::WrongType)] {
        let plain = open_name("o", name, ShareAccess::READ, ShareDeny::NONE);
        let _ = peer.run(vec![putfh(&root), plain]).await.fails_at(OpNum::Open, status);
        let creating = open_create("o", name, unchecked(mode(0o600)));
        let done = peer.run(vec![putfh(&root), creating]).await;
        assert!(matches!(done.status(), Status::Exist) || done.status() == status, "{done}");
    }
}

#[tokio::test]
async fn without_access_or_with_bits_of_nobody_open_is_invalid() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"").await;
    for (access, deny) in [(0, 0), (0, 3), (1, 4), (1, 0x100)] {
        let access = ShareAccess::from_bits_retain(access);
        let op = open_name("o", "f", access, ShareDeny::from_bits_retain(deny));
        let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::Inval);
    }
}

#[tokio::test]
async fn creating_moves_the_directory_and_a_mere_open_does_not() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let before = peer.change(&root).await;
    let how = unchecked(mode(0o600));
    let made = peer.run(vec![putfh(&root), open_create("o", "f", how)]).await.ok().open();
    assert_eq!(made.cinfo.before, before);
    assert!(made.cinfo.atomic);
    let after = peer.change(&root).await;
    assert_eq!(made.cinfo.after, after);
    let op = open_name("o", "f", ShareAccess::READ, ShareDeny::NONE);
    let opened = peer.run(vec![putfh(&root), op]).await.ok().open();
    assert_eq!((opened.cinfo.before, opened.cinfo.after), (after, after));
    assert_eq!(peer.change(&root).await, after);
}

#[tokio::test]
async fn a_mode_with_a_umask_gives_the_mode_without_it() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let set = attrs(|a| {
        a.set_mode_umask(nfs4_proto::ModeUmask { mode: 0o666, umask: 0o027 });
    });
    let ops = vec![putfh(&root), open_create("o", "f", unchecked(set)), getattr(&[Attr::Mode])];
    assert_eq!(peer.run(ops).await.ok().attrs().mode(), Some(0o640));
    let both = attrs(|a| {
        a.set_mode(0o600).set_mode_umask(nfs4_proto::ModeUmask { mode: 0o666, umask: 0 });
    });
    let ops = vec![putfh(&root), open_create("o", "g", unchecked(both))];
    let _ = peer.run(ops).await.fails_at(OpNum::Open, Status::Inval);
}

#[tokio::test]
async fn a_directory_that_others_may_not_write_to_gets_no_file() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let stranger = nfs4_tests::wire::cred(2000, 2000, &[]);
    let ops = vec![putfh(&dir), open_create("o", "f", unchecked(mode(0o600)))];
    let _ = peer.run_as(&stranger, ops).await.fails_at(OpNum::Open, Status::Access);
    peer.file(&dir, "mine", b"x").await;
    let read = |access| open_name("o", "mine", access, ShareDeny::NONE);
    let _ = peer.run_as(&stranger, vec![putfh(&dir), read(ShareAccess::READ)]).await.ok();
    let _ = peer
        .run_as(&stranger, vec![putfh(&dir), read(ShareAccess::WRITE)])
        .await
        .fails_at(OpNum::Open, Status::Access);
}
