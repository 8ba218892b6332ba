//! Limits of what a client may have. docs/limits.md.

use nfs4_proto::{ArgOp, OpNum, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::ops::{mode, open_create, open_name, putfh, unchecked};
use nfs4_tests::wire::{TestServer, create_session};

#[tokio::test]
async fn sessions_of_one_client_have_a_limit_and_the_protocols_own_error() {
    let server = TestServer::with(|file| file.limits.sessions_per_client = 2).await;
    let mut peer = server.peer("a").await;
    let spec = peer.spec.clone();
    create_session(&mut peer.raw, &spec, peer.client, peer.create_sequence).await.unwrap();
    let third = create_session(&mut peer.raw, &spec, peer.client, peer.create_sequence + 1).await;
    assert_eq!(third.unwrap_err(), Status::NoSpc);
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn opens_of_one_client_have_a_limit_and_the_others_go_on() {
    let server = TestServer::with(|file| file.limits.opens_per_client = 3).await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    for n in 0..3 {
        a.create(&root, format!("f{n}")).await;
    }
    let how = unchecked(mode(0o644));
    let done = a.run(vec![putfh(&root), open_create("o", "f3", how)]).await;
    let _ = done.fails_at(OpNum::Open, Status::ServerFault);
    b.create(&root, "g").await;
    // Another open of the same file by the same owner is an upgrade and takes no place.
    let again = open_name("o", "f0", ShareAccess::READ, ShareDeny::NONE);
    let _ = a.run(vec![putfh(&root), again]).await.ok();
}
