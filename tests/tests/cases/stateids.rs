//! S-10, S-11: what is easily taken for something else.

use nfs4_proto::{Attr, LockType, OpNum, OpenClaim, OpenHow, ShareAccess, ShareDeny, StateId, Status};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{close, getattr, lock, locku, open, open_create, putfh, read, setattr, write};

const CURRENT: StateId = StateId::CURRENT;

#[tokio::test]
async fn s10_without_one_the_current_stateid_is_bad_and_not_anonymous() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    for op in [
        read(CURRENT, 0, 1),
        write(CURRENT, 0, b"x"),
        close(CURRENT),
        setattr(CURRENT, nfs4_tests::wire::ops::size(1)),
        lock(CURRENT, "l", LockType::Read, 0, 1),
        locku(CURRENT, 0, 1),
    ] {
        let num = op.num();
        let _ = peer.run(vec![putfh(&fh), op]).await.fails_at(num, Status::BadStateId);
    }
    // No delegation was told, so there is none to claim by the placeholder.
    let claim = OpenClaim::DelegateCur { stateid: CURRENT, file: nfs4_tests::wire::ops::name("f") };
    let op = open("o", ShareAccess::READ, ShareDeny::NONE, OpenHow::NoCreate, claim);
    let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::BadStateId);
}

#[tokio::test]
async fn s10_the_current_stateid_of_each_compound_is_its_own() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let _ = peer.run(vec![putfh(&file.fh), read(CURRENT, 0, 1)]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn s11_exclusive4_makes_nothing_that_others_may_open() {
    for server in [TestServer::mem().await, TestServer::local().await] {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let how = nfs4_proto::CreateHow::Exclusive([7; 8]);
        let ops = vec![putfh(&root), open_create("o", "f", how), getattr(&[Attr::Mode])];
        let got = peer.run(ops).await.ok().attrs().mode().unwrap();
        assert_eq!(got & 0o077, 0, "mode {got:o} before the client has set one");
    }
}
