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
    Peer::callable(server.address, before.spec.clone().reclaiming()).await
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

/// Three clients with many delegations, a server that dies, and one client that does not come back in time.
#[tokio::test]
async fn a_thousand_delegations_are_held_again_after_a_restart() {
    const EACH: usize = 334;
    let mut server = TestServer::local_with(|file| {
        file.exclusive = Some(true);
        file.lease = Some(5);
        file.grace = Some(5);
    })
    .await;
    let mut clients = vec![server.holder("a").await, server.holder("b").await, server.holder("late").await];
    let root = clients[0].root.clone();
    let mut files = Vec::new();
    for (n, client) in clients.iter_mut().enumerate() {
        let mut own = Vec::new();
        for file in 0..EACH {
            let how = ops::unchecked(ops::mode(0o666));
            let open = ops::open_create("o", format!("{n}-{file}"), how);
            let done = client.run(vec![ops::putfh(&root), open, ArgOp::Getfh]).await.ok();
            assert!(delegation_of(&done.fh(), &done.open().delegation).is_some_and(|held| held.write));
            own.push(done.fh());
        }
        files.push(own);
    }
    server.restart().await;
    let mut late = clients.pop().unwrap();
    let mut back = Vec::new();
    for client in &clients {
        back.push(again(&server, client).await);
    }
    for (client, own) in back.iter_mut().zip(&files) {
        for fh in own {
            let reclaim = previous(DelegationType::Write, ShareAccess::BOTH);
            let open = client.run(vec![ops::putfh(fh), reclaim]).await.ok().open();
            assert!(delegation_of(fh, &open.delegation).is_some_and(|held| held.write));
        }
    }
    // Nothing is given to others meanwhile, whether it is held by somebody or not.
    let mut other = Peer::connect(server.address, server.spec("other")).await;
    for own in &files {
        let _ = other.open_fh(&own[0], "o", ShareAccess::READ).await.fails(Status::Grace);
    }
    for client in &mut back {
        let _ = client.run(vec![complete()]).await.ok();
    }
    // The third one does not come: its files are free when grace is over.
    let began = std::time::Instant::now();
    while other.open_fh(&files[2][0], "o", ShareAccess::READ).await.status() == Status::Grace {
        assert!(began.elapsed() < std::time::Duration::from_secs(10));
        for client in &mut back {
            let _ = client.run(vec![ArgOp::Putrootfh]).await.ok();
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    // It is told so, and begins anew.
    late.reconnect_to(server.address).await;
    let sequence = late.sequence(0, false);
    assert_eq!(late.compound(vec![sequence]).await.status(), Status::BadSession);
    let mut late = again(&server, &late).await;
    let _ = late
        .run(vec![ops::putfh(&files[2][1]), previous(DelegationType::Write, ShareAccess::BOTH)])
        .await
        .fails(Status::NoGrace);
    let _ = late.run(vec![complete()]).await.ok();
    let _ = late.hold_write(&files[2][1]).await;
    assert_eq!(server.server().delegations().len(), 2 * EACH + 1);
}
