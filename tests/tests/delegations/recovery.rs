//! A restart of the server (RFC 8881 §10.2.1, §8.4.2.1).

use nfs4_proto::{
    ArgOp, DelegationType, OpenClaim, OpenHow, ReclaimCompleteArgs, ShareAccess, ShareDeny, Status,
};
use nfs4_tests::wire::{Peer, TestServer, delegation_of, ops};

use super::two_of;

async fn server() -> TestServer {
    TestServer::local_with(|file| {
        file.exclusive = Some(true);
        file.lease = Some(30);
    })
    .await
}

/// The same client again, after a restart of the server, with a back channel that works.
async fn again(server: &TestServer, before: &Peer) -> Peer {
    let mut peer = Peer::connect(server.address, before.spec.clone().reclaiming()).await;
    peer.until_callable().await;
    peer
}

fn previous(kind: DelegationType, access: ShareAccess) -> ArgOp {
    ops::open("holder", access, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Previous(kind))
}

fn complete() -> ArgOp {
    ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })
}

#[tokio::test]
async fn fs36_fs37_fs38_what_was_held_is_held_again_in_grace_and_no_later() {
    let mut server = server().await;
    let (mut a, b, f) = two_of(&server).await;
    let _held = a.hold_write(&f).await;
    server.restart().await;
    let (mut a, mut b) = (again(&server, &a).await, again(&server, &b).await);
    let reclaim = previous(DelegationType::Write, ShareAccess::BOTH);
    let open = a.run(vec![ops::putfh(&f), reclaim.clone()]).await.ok().open();
    let held = delegation_of(&f, &open.delegation).expect("it is given as claimed");
    assert!(held.write);
    // Others get nothing yet.
    let _ = b.open_fh(&f, "o", ShareAccess::READ).await.fails(Status::Grace);
    // What the delegation allows is opened in grace too.
    let claim = OpenClaim::DelegCurFh(held.stateid);
    let op = ops::open("p", ShareAccess::BOTH, ShareDeny::NONE, OpenHow::NoCreate, claim);
    let _ = a.run(vec![ops::putfh(&f), op]).await.ok();
    let _ = a.run(vec![complete()]).await.ok();
    let _ = b.run(vec![complete()]).await.ok();
    let _maker = server.peer("maker").await;
    // Grace is over: all on record have reclaimed.
    let _ = a.run(vec![ops::putfh(&f), reclaim]).await.fails(Status::NoGrace);
    let begun = b
        .begin(
            0,
            vec![
                ops::putfh(&f),
                ops::open("o", ShareAccess::READ, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh),
            ],
        )
        .await;
    let recall = a.next_recall().await;
    assert_eq!(recall.stateid.other, held.stateid.other);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn nothing_but_what_is_reclaimed_is_given_in_grace() {
    let mut server = server().await;
    let (mut a, b, f) = two_of(&server).await;
    let _held = a.hold_read(&f).await;
    server.restart().await;
    let (mut a, b) = (again(&server, &a).await, b);
    let open =
        a.run(vec![ops::putfh(&f), previous(DelegationType::None, ShareAccess::READ)]).await.ok().open();
    assert_eq!(open.delegation, nfs4_proto::OpenDelegation::None);
    drop(b);
}

/// The first edge condition of §8.4.3: what was taken for somebody else's sake is not reclaimed.
#[tokio::test]
async fn a_revoked_delegation_is_not_reclaimed() {
    let mut server = TestServer::local_with(|file| {
        file.exclusive = Some(true);
        file.lease = Some(1);
        file.grace = Some(20);
    })
    .await;
    let (mut a, mut b, f) = two_of(&server).await;
    let _held = a.hold_read(&f).await;
    let began = std::time::Instant::now();
    loop {
        // A lives on, and does not return.
        let _ = a.run(vec![ArgOp::Putrootfh]).await.ok();
        let op = ops::open("o", ShareAccess::WRITE, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh);
        if b.run(vec![ops::putfh(&f), op]).await.status() == Status::Ok {
            break;
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
    }
    server.restart().await;
    let mut a = again(&server, &a).await;
    let done = a.run(vec![ops::putfh(&f), previous(DelegationType::Read, ShareAccess::READ)]).await;
    assert!(matches!(done.status(), Status::ReclaimBad | Status::NoGrace), "{done}");
}

#[tokio::test]
async fn a_stateid_of_the_boot_before_is_none() {
    let mut server = server().await;
    let (mut a, _b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    server.restart().await;
    let mut a = again(&server, &a).await;
    assert_eq!(a.give_back(&held).await, Status::BadStateId);
    let told = a.run(vec![ops::test_stateid(vec![held.stateid])]).await.ok().test_stateid();
    assert_eq!(told.status_codes[..], [Status::BadStateId]);
}
