//! What a session was granted bounds requests and replies. RFC 8881 §2.10.6.4, §18.36, §18.46.

use nfs4_proto::{ArgOp, Attr, OpNum, Status};
use nfs4_tests::wire::ops::{getattr, lookup, mkdir, putfh, read, readdir, remove, symlink, write};
use nfs4_tests::wire::{Peer, TestServer, create_session, exchange_id};

#[tokio::test]
async fn more_operations_than_agreed_are_too_many_and_none_runs() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxoperations = 4;
    let mut peer = Peer::connect(server.address, spec).await;
    assert_eq!(peer.fore.maxoperations, 4);
    let root = peer.root.clone();
    let ops = vec![putfh(&root), mkdir("d"), ArgOp::Getfh, ArgOp::Getfh];
    let results = peer.run(ops).await.fails_at(OpNum::Sequence, Status::TooManyOps);
    assert_eq!(results.all().len(), 1);
    assert_eq!(peer.lookup(&root, "d").await.unwrap_err(), Status::NoEnt);
    let _ = peer.run(vec![putfh(&root), mkdir("d"), ArgOp::Getfh]).await.ok();
}

#[tokio::test]
async fn a_request_above_the_agreed_size_is_too_big_and_does_not_run() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxrequestsize = 1024;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let op = write(file.stateid, 0, &[7; 1024]);
    let _ = peer.run(vec![putfh(&file.fh), op]).await.fails_at(OpNum::Sequence, Status::ReqTooBig);
    assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(0));
    peer.write(&file, 0, &[7; 512]).await;
}

#[tokio::test]
async fn a_reply_above_the_agreed_size_is_too_big_at_its_operation() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 600;
    spec.fore.maxresponsesize_cached = 600;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), symlink("l", &"x".repeat(900))]).await.ok();
    let ops = vec![putfh(&root), lookup("l"), ArgOp::Readlink];
    let _ = peer.run(ops).await.fails_at(OpNum::Readlink, Status::RepTooBig);
}

#[tokio::test]
async fn a_remove_whose_reply_might_not_fit_is_refused_before_it_removes() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 400;
    spec.fore.maxresponsesize_cached = 400;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    peer.mkdir(&root, "d").await;
    // Fill the reply until REMOVE's own result does not fit; whatever is answered, the name tells whether it ran.
    let mut refused = 0;
    for n in 0..40 {
        let mut ops = vec![putfh(&root)];
        ops.extend((0..n).map(|_| getattr(&[Attr::Type])));
        ops.push(remove("d"));
        let done = peer.run(ops).await;
        let there = peer.lookup(&root, "d").await.is_ok();
        match done.status() {
            Status::Ok => {
                assert!(!there, "removed and still there: {done}");
                peer.mkdir(&root, "d").await;
            }
            Status::RepTooBig => {
                assert!(there, "it was removed, and told as not done: {done}");
                refused += 1;
            }
            _ => panic!("{done}"),
        }
    }
    assert!(refused > 5, "{refused}");
}

#[tokio::test]
async fn a_reply_that_cannot_be_kept_is_refused_where_keeping_is_asked_for() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize_cached = 512;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), symlink("l", &"x".repeat(900))]).await.ok();
    let ops = vec![putfh(&root), lookup("l"), ArgOp::Readlink];
    let _ = peer.run_on(1, true, ops.clone()).await.fails_at(OpNum::Readlink, Status::RepTooBigToCache);
    let link = peer.run_on(1, false, ops).await.ok().readlink();
    assert_eq!(link.link.len(), 900);
}

#[tokio::test]
async fn no_reply_is_larger_than_agreed() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 2048;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    for n in 0..40 {
        peer.mkdir(&root, format!("directory-{n:03}")).await;
    }
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, &[1; 8192]).await;
    for op in [
        readdir(0, [0; 8], 1 << 20, &[Attr::Type, Attr::Filehandle, Attr::Change]),
        read(file.stateid, 0, 8192),
    ] {
        let at = if matches!(op, ArgOp::Read(_)) { &file.fh } else { &root };
        let ops = vec![peer.sequence(0, false), putfh(at), op];
        let xid = peer.post(ops).await;
        let answer = peer.raw.answer(xid).await;
        assert!(answer.len <= 2048, "{} bytes: {}", answer.len, answer.compound());
        assert_eq!(answer.compound().status, Status::Ok, "a shorter answer is possible");
    }
}

#[tokio::test]
async fn create_session_grants_no_more_than_is_asked_for() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    let mut raw = server.raw().await;
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    spec.fore.maxrequestsize = 70_000;
    spec.fore.maxresponsesize = 80_000;
    spec.fore.maxresponsesize_cached = 1000;
    spec.fore.maxoperations = 9;
    spec.fore.maxrequests = 3;
    spec.fore.headerpadsize = 512;
    let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
    let fore = made.fore_chan_attrs;
    assert_eq!(
        (fore.maxrequestsize, fore.maxresponsesize, fore.maxresponsesize_cached),
        (70_000, 80_000, 1000)
    );
    assert_eq!((fore.maxoperations, fore.maxrequests, fore.headerpadsize), (9, 3, 0));
    spec.fore.maxrequestsize = u32::MAX;
    spec.fore.maxresponsesize = u32::MAX;
    spec.fore.maxoperations = u32::MAX;
    spec.fore.maxrequests = u32::MAX;
    let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid + 1).await.unwrap();
    assert!(made.fore_chan_attrs.maxrequests <= 512);
    assert!(made.fore_chan_attrs.maxoperations <= 64);
    assert!(made.fore_chan_attrs.maxrequestsize >= 1 << 20);
    // What the client says of its own back channel stands (RFC 8881 §18.36.3).
    assert_eq!(made.back_chan_attrs.maxoperations, spec.back.maxoperations);
    assert_eq!(made.back_chan_attrs.maxrequests, spec.back.maxrequests);
}

#[tokio::test]
async fn a_channel_in_which_nothing_fits_is_too_small() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let spec = server.spec("a");
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    let mut small = spec.clone();
    small.fore.maxrequestsize = 20;
    let made = create_session(&mut raw, &small, id.clientid, id.sequenceid).await;
    assert_eq!(made.unwrap_err(), Status::TooSmall);
    let mut small = spec.clone();
    small.fore.maxresponsesize = 20;
    // The answer that was kept is that of this sequence ID.
    let made = create_session(&mut raw, &small, id.clientid, id.sequenceid + 1).await;
    assert!(matches!(made, Err(Status::TooSmall | Status::SeqMisordered)), "{made:?}");
}
