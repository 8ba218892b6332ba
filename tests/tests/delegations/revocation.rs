//! Holders that do not return, and holders that are gone (RFC 8881 §10.4.5, §8.4.3, §8.4.2.4).

use std::time::{Duration, Instant};

use nfs4_proto::{ArgOp, OpenClaim, OpenHow, SeqStatusFlags, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::{Peer, TestServer, ops};

use super::two_of;

const LEASE: u32 = 2;

async fn server() -> TestServer {
    TestServer::with(|file| file.lease = Some(LEASE)).await
}

fn open_to_write() -> ArgOp {
    ops::open("o", ShareAccess::WRITE, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh)
}

async fn flags(peer: &mut Peer) -> SeqStatusFlags {
    peer.run(vec![ArgOp::Putrootfh]).await.ok().sequence().status_flags
}

/// Comes again, as clients do, until it is let in; how long that took.
async fn until_open(b: &mut Peer, f: &nfs4_proto::Fh, mut meanwhile: impl AsyncFnMut()) -> Duration {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(20) {
        let done = b.run(vec![ops::putfh(f), open_to_write()]).await;
        if done.status() == Status::Ok {
            return began.elapsed();
        }
        let _ = done.fails(Status::Delay);
        meanwhile().await;
    }
    panic!("it is never let in");
}

#[tokio::test]
async fn fs29_fs30_what_is_not_returned_within_a_lease_is_taken() {
    let server = server().await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    // A renews its lease all the time, and does not return.
    let took = until_open(&mut b, &f, async || {
        let _ = flags(&mut a).await;
    })
    .await;
    assert!(
        took >= Duration::from_secs(u64::from(LEASE)) && took < Duration::from_secs(u64::from(LEASE) + 2),
        "{took:?}"
    );
    assert_eq!(flags(&mut a).await, SeqStatusFlags::RECALLABLE_STATE_REVOKED);
    let _ = a.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 1)]).await.fails(Status::DelegRevoked);
    assert_eq!(a.give_back(&held).await, Status::DelegRevoked);
    let told = a.run(vec![ops::test_stateid(vec![held.stateid])]).await.ok().test_stateid();
    assert_eq!(told.status_codes[..], [Status::DelegRevoked]);
    let _ = a.run(vec![ops::free_stateid(held.stateid)]).await.ok();
    assert_eq!(flags(&mut a).await, SeqStatusFlags::empty());
    let _ = a.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 1)]).await.fails(Status::BadStateId);
}

/// who was revoked once gets none until it knows.
#[tokio::test]
async fn x7_a_client_that_never_returns_gets_no_more() {
    let server = server().await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    let g = server.peer("another maker").await.file(&a.root.clone(), "g", b"").await;
    until_open(&mut b, &f, async || {
        let _ = flags(&mut a).await;
    })
    .await;
    let refused = a.open_fh(&g, "o", ShareAccess::READ).await.ok().open();
    assert_eq!(refused.delegation, nfs4_proto::OpenDelegation::None);
    let _ = a.run(vec![ops::free_stateid(held.stateid)]).await.ok();
    let _ = a.run(vec![ops::putfh(&g), ops::close(refused.stateid)]).await.ok();
    let _ = a.hold_read(&g).await;
}

#[tokio::test]
async fn fs39_a_client_whose_lease_is_over_is_not_waited_for() {
    let server = server().await;
    let (a, mut b, f) = two_of(&server).await;
    let (mut a, f) = (a, f);
    let _held = a.hold_read(&f).await;
    // B lives on while A's lease passes.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(u64::from(LEASE) * 1000 + 200) {
        let _ = flags(&mut b).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let began = Instant::now();
    let _ = b.run(vec![ops::putfh(&f), open_to_write()]).await.ok();
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    let sequence = a.sequence(0, false);
    assert_eq!(a.compound(vec![sequence]).await.status(), Status::BadSession);
}

#[tokio::test]
async fn a_holder_that_dies_while_it_is_waited_for_costs_no_more_than_its_lease() {
    let server = server().await;
    let (mut a, mut b, f) = two_of(&server).await;
    let _held = a.hold_write(&f).await;
    drop(a);
    let took = until_open(&mut b, &f, async || {}).await;
    assert!(took < Duration::from_secs(u64::from(LEASE) + 2), "{took:?}");
}

#[tokio::test]
async fn a_dead_writer_does_not_keep_its_attributes() {
    let server = server().await;
    let (mut a, mut b, f) = two_of(&server).await;
    let _held = a.hold_write(&f).await;
    drop(a);
    let began = Instant::now();
    loop {
        let done = b.run(vec![ops::putfh(&f), ops::getattr(&[nfs4_proto::Attr::Size])]).await;
        if done.status() == Status::Ok {
            assert_eq!(done.ok().attrs().size(), Some(7));
            break;
        }
        let _ = done.fails(Status::Delay);
        assert!(began.elapsed() < Duration::from_secs(u64::from(LEASE) + 4));
    }
}

#[tokio::test]
async fn an_administrator_takes_a_delegation_away() {
    let server = TestServer::local_with(|file| file.exclusive = Some(true)).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    let rows = server.server().delegations();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].kind.as_str(), rows[0].state.as_str()), ("read", "held"));
    let other: [u8; 12] = held.stateid.other;
    assert!(server.server().revoke(other));
    let mut seen = flags(&mut a).await;
    for _ in 0..50 {
        if !seen.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        seen = flags(&mut a).await;
    }
    assert_eq!(seen, SeqStatusFlags::ADMIN_STATE_REVOKED);
    let _ = a.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 1)]).await.fails(Status::AdminRevoked);
    let _ = b.run(vec![ops::putfh(&f), open_to_write()]).await.ok();
    let _ = a.run(vec![ops::free_stateid(held.stateid)]).await.ok();
    assert_eq!(flags(&mut a).await, SeqStatusFlags::empty());
}

#[tokio::test]
async fn a_client_with_a_delegation_is_busy() {
    let server = server().await;
    let (mut a, _b, f) = two_of(&server).await;
    let open = ShareAccess::READ | ShareAccess::WANT_OPEN_XOR_DELEGATION;
    let (_, held) = a.hold(&f, open).await;
    let mut raw = server.raw().await;
    let end = ArgOp::DestroySession(nfs4_proto::DestroySessionArgs { sessionid: a.session });
    let done = a.compound(vec![end]).await;
    assert_eq!(done.status(), Status::Ok);
    let destroy = ArgOp::DestroyClientid(nfs4_proto::DestroyClientidArgs { clientid: a.client });
    let compound = nfs4_proto::Compound::new(2, vec![destroy]).unwrap();
    assert_eq!(raw.call(&a.spec.cred, &compound).await.status, Status::ClientIdBusy);
    drop(held);
}
