//! Limits on what waits, each at N and at N + 1: requests, callbacks, lock owners, delegations (docs/limits.md).

use std::time::{Duration, Instant};

use nfs4_proto::{
    ArgOp, CbArgOp, Fh, LockType, OpenClaim, OpenDelegation, OpenHow, SeqStatusFlags, ShareAccess, ShareDeny,
    StateId, Status, Want,
};
use nfs4_server::config::Limits;
use nfs4_tests::wire::ops::{self, lock, locku, putfh};
use nfs4_tests::wire::{Begun, Delegation, Opened, Peer, TestServer, want, wanting};

/// Long enough for what must not come.
const MOMENT: Duration = Duration::from_millis(300);

async fn server(fill: impl FnOnce(&mut Limits)) -> TestServer {
    TestServer::with(|file| fill(&mut file.limits)).await
}

/// Files that nobody holds.
async fn files<const N: usize>(server: &TestServer) -> [Fh; N] {
    let mut maker = server.peer("maker").await;
    let root = maker.root.clone();
    let mut all = Vec::new();
    for n in 0..N {
        all.push(maker.file(&root, format!("f{n}"), b"content").await);
    }
    all.try_into().unwrap()
}

async fn is_served(peer: &mut Peer) {
    // On a slot that nothing waits in.
    let _ = peer.run_on(9, false, vec![ArgOp::Putrootfh]).await.ok();
}

fn open_to_write(fh: &Fh) -> Vec<ArgOp> {
    let open = ops::open("o", ShareAccess::WRITE, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh);
    vec![putfh(fh), open]
}

/// What waits goes on once the holder has returned.
async fn set_free(holder: &mut Peer, held: &Delegation, waiting: Vec<(&mut Peer, Vec<Begun>)>) {
    assert_eq!(holder.give_back(held).await, Status::Ok);
    for (peer, begun) in waiting {
        for one in begun {
            let _ = peer.end(one).await.ok();
        }
    }
}

#[tokio::test]
async fn inflight_per_connection() {
    let server = server(|limits| limits.inflight_per_connection = 3).await;
    let [f] = files(&server).await;
    let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
    let held = a.hold_read(&f).await;
    let mut begun = vec![b.begin(0, open_to_write(&f)).await, b.begin(1, open_to_write(&f)).await];
    // The third is read, as two are in progress.
    let _ = b.run_on(2, false, vec![ArgOp::Putrootfh]).await.ok();
    begun.push(b.begin(2, open_to_write(&f)).await);
    let fourth = b.begin(3, vec![ArgOp::Putrootfh]).await;
    assert!(b.still_waits(&fourth, MOMENT).await, "the connection is not read");
    is_served(&mut a).await;
    begun.push(fourth);
    set_free(&mut a, &held, vec![(&mut b, begun)]).await;
}

#[tokio::test]
async fn inflight_bytes_per_connection() {
    let server = server(|limits| {
        limits.record_bytes = 32 << 10;
        limits.inflight_bytes_per_connection = 32 << 10;
    })
    .await;
    let [f] = files(&server).await;
    let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
    let held = a.hold_read(&f).await;
    let large = |len| vec![putfh(&f), ops::write(StateId::ANONYMOUS, 0, &vec![7; len])];
    let mut begun = vec![b.begin(0, large(20_000)).await];
    let _ = b.run_on(1, false, vec![ArgOp::Putrootfh]).await.ok();
    begun.push(b.begin(1, large(13_000)).await);
    let third = b.begin(2, vec![ArgOp::Putrootfh]).await;
    assert!(b.still_waits(&third, MOMENT).await, "the connection is not read");
    is_served(&mut a).await;
    begun.push(third);
    set_free(&mut a, &held, vec![(&mut b, begun)]).await;
}

/// A client with an open of the file.
async fn locker(server: &TestServer, owner: &str, fh: &Fh) -> (Peer, Opened) {
    let mut peer = server.holder(owner).await;
    let access = wanting(ShareAccess::BOTH, Want::No);
    let stateid = peer.open_fh(fh, "o", access).await.ok().open().stateid;
    (peer, Opened { fh: fh.clone(), stateid })
}

async fn lock_all(peer: &mut Peer, file: &Opened, kind: LockType) -> Result<StateId, Status> {
    let done = peer.run(vec![putfh(&file.fh), lock(file.stateid, "l", kind, 0, u64::MAX)]).await;
    if done.status() == Status::Ok { Ok(done.ok().stateid()) } else { Err(done.status()) }
}

async fn unlock(peer: &mut Peer, file: &Opened, held: StateId) {
    let _ = peer.run(vec![putfh(&file.fh), locku(held, 0, u64::MAX)]).await.ok();
}

#[tokio::test]
async fn lock_waiters_per_client() {
    for (most, told) in [(1, 1), (2, 2)] {
        let server = server(|limits| limits.lock_waiters_per_client = most).await;
        let [f, g] = files(&server).await;
        let (mut a, of_f) = locker(&server, "a", &f).await;
        let access = wanting(ShareAccess::BOTH, Want::No);
        let of_g = Opened { fh: g.clone(), stateid: a.open_fh(&g, "o", access).await.ok().open().stateid };
        let mut held = Vec::new();
        for file in [&of_f, &of_g] {
            held.push(lock_all(&mut a, file, LockType::Write).await.unwrap());
        }
        let (mut b, its_f) = locker(&server, "b", &f).await;
        let its_g = Opened { fh: g.clone(), stateid: b.open_fh(&g, "o", access).await.ok().open().stateid };
        for file in [&its_f, &its_g] {
            assert_eq!(lock_all(&mut b, file, LockType::WriteW).await, Err(Status::Denied));
        }
        for (file, held) in [&of_f, &of_g].into_iter().zip(held) {
            unlock(&mut a, file, held).await;
        }
        while b.raw.wait_for_callback(MOMENT).await {}
        let calls =
            b.raw.callbacks.iter().filter(|c| matches!(c.args.ops[1], CbArgOp::NotifyLock(_))).count();
        assert_eq!(calls, told);
        // Who is not told asks again by itself.
        for file in [&its_f, &its_g] {
            assert!(lock_all(&mut b, file, LockType::WriteW).await.is_ok());
        }
    }
}

#[tokio::test]
async fn lock_waiters_per_file() {
    for (most, second_is_told) in [(1, false), (2, true)] {
        let server = server(|limits| limits.lock_waiters_per_file = most).await;
        let [f] = files(&server).await;
        let (mut a, of_a) = locker(&server, "a", &f).await;
        let held = lock_all(&mut a, &of_a, LockType::Write).await.unwrap();
        let (mut b, of_b) = locker(&server, "b", &f).await;
        let (mut c, of_c) = locker(&server, "c", &f).await;
        for (peer, file) in [(&mut b, &of_b), (&mut c, &of_c)] {
            assert_eq!(lock_all(peer, file, LockType::WriteW).await, Err(Status::Denied));
        }
        unlock(&mut a, &of_a, held).await;
        let _ = b.next_callback().await;
        let held = lock_all(&mut b, &of_b, LockType::WriteW).await.unwrap();
        unlock(&mut b, &of_b, held).await;
        assert_eq!(!c.left_alone(MOMENT).await, second_is_told);
        assert!(lock_all(&mut c, &of_c, LockType::WriteW).await.is_ok());
    }
}

#[tokio::test]
async fn callbacks_per_client() {
    for (most, sent) in [(1, 1), (2, 2)] {
        let server = server(|limits| {
            limits.callbacks_per_client = most;
            limits.callback_timeout = 10;
        })
        .await;
        let [f, g] = files(&server).await;
        let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
        let held = (a.hold_read(&f).await, a.hold_read(&g).await);
        a.raw.answers = false;
        let begun = (b.begin(0, open_to_write(&f)).await, b.begin(1, open_to_write(&g)).await);
        while a.raw.wait_for_callback(MOMENT).await {}
        assert_eq!(a.raw.callbacks.len(), sent, "the rest are as if there were no back channel");
        let _ = b.run_on(2, false, vec![ArgOp::Putrootfh]).await.ok();
        for held in [held.0, held.1] {
            assert_eq!(a.give_back(&held).await, Status::Ok);
        }
        let _ = b.end(begun.0).await.ok();
        let _ = b.end(begun.1).await.ok();
    }
}

#[tokio::test]
async fn callback_timeout() {
    let server = server(|limits| limits.callback_timeout = 1).await;
    let [f] = files(&server).await;
    let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
    let held = a.hold_read(&f).await;
    a.raw.answers = false;
    let begun = b.begin(0, open_to_write(&f)).await;
    assert!(a.raw.wait_for_callback(MOMENT).await);
    let since = Instant::now();
    let down = SeqStatusFlags::CB_PATH_DOWN;
    loop {
        let flags = a.run(vec![ArgOp::Putrootfh]).await.ok().sequence().status_flags;
        if flags.contains(down) {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(since.elapsed() >= Duration::from_millis(700), "{:?}", since.elapsed());
    is_served(&mut b).await;
    set_free(&mut a, &held, vec![(&mut b, vec![begun])]).await;
}

/// Whether a delegation was given, or why not.
async fn offered(peer: &mut Peer, fh: &Fh) -> OpenDelegation {
    peer.open_fh(fh, "o", wanting(ShareAccess::READ, Want::Read)).await.ok().open().delegation
}

const RESOURCE: OpenDelegation =
    OpenDelegation::NoneExt(nfs4_proto::NoDelegation::Resource { will_signal: false });

#[tokio::test]
async fn delegations_and_delegations_per_client() {
    for per_client in [false, true] {
        let server = server(|limits| {
            let limit = if per_client { &mut limits.delegations_per_client } else { &mut limits.delegations };
            *limit = 2;
        })
        .await;
        let [f, g, h] = files(&server).await;
        let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
        let held = a.hold_read(&f).await;
        let _ = a.hold_read(&g).await;
        assert_eq!(offered(&mut a, &h).await, RESOURCE);
        let others = offered(&mut b, &h).await;
        assert_eq!(matches!(others, OpenDelegation::Read(_)), per_client, "{others:?}");
        assert_eq!(a.give_back(&held).await, Status::Ok);
        assert!(matches!(offered(&mut a, &h).await, OpenDelegation::Read(_)), "there is room again");
    }
}

#[tokio::test]
async fn wants_and_wants_per_client() {
    for per_client in [false, true] {
        let server = server(|limits| {
            let limit = if per_client { &mut limits.wants_per_client } else { &mut limits.wants };
            *limit = 1;
        })
        .await;
        let [f, g] = files(&server).await;
        let (mut a, mut b, mut c) =
            (server.holder("a").await, server.holder("b").await, server.holder("c").await);
        let _held = (a.hold_write(&f).await, a.hold_write(&g).await);
        let wish = wanting(ShareAccess::WANT_PUSH_DELEG_WHEN_UNCONTENDED, Want::Read);
        let promised = async |peer: &mut Peer, fh: &Fh| {
            let done = peer.run(vec![putfh(fh), want(wish)]).await.ok();
            match done.all().last() {
                Some(nfs4_proto::ResOp::WantDelegation(Ok(OpenDelegation::NoneExt(
                    nfs4_proto::NoDelegation::Contention { will_push },
                )))) => *will_push,
                other => panic!("{other:?}"),
            }
        };
        assert!(promised(&mut b, &f).await);
        assert!(!promised(&mut b, &g).await);
        assert_eq!(promised(&mut c, &g).await, per_client);
    }
}

#[tokio::test]
async fn parked_and_parked_per_file() {
    for per_file in [false, true] {
        let server = server(|limits| {
            let limit = if per_file { &mut limits.parked_per_file } else { &mut limits.parked };
            *limit = 2;
        })
        .await;
        let [f, g] = files(&server).await;
        let (mut a, mut b, mut c) =
            (server.holder("a").await, server.holder("b").await, server.holder("c").await);
        let (of_f, of_g) = (a.hold_read(&f).await, a.hold_read(&g).await);
        let begun = vec![b.begin(0, open_to_write(&f)).await, b.begin(1, open_to_write(&f)).await];
        // Both wait before a third comes.
        let _ = b.run_on(2, false, vec![ArgOp::Putrootfh]).await.ok();
        let _ = c.run(open_to_write(&f)).await.fails(Status::Delay);
        let other = c.begin(0, open_to_write(&g)).await;
        assert_eq!(c.still_waits(&other, MOMENT).await, per_file);
        is_served(&mut c).await;
        set_free(&mut a, &of_f, vec![(&mut b, begun)]).await;
        assert_eq!(a.give_back(&of_g).await, Status::Ok);
        let status = if per_file { Status::Ok } else { Status::Delay };
        let _ = c.end(other).await.fails(status);
    }
}

#[tokio::test]
async fn patience() {
    let server = server(|limits| limits.patience = 1).await;
    let [f] = files(&server).await;
    let (mut a, mut b) = (server.holder("a").await, server.holder("b").await);
    let _held = a.hold_read(&f).await;
    let since = Instant::now();
    let begun = b.begin(0, open_to_write(&f)).await;
    is_served(&mut a).await;
    let _ = b.end(begun).await.fails(Status::Delay);
    let waited = since.elapsed();
    assert!(waited >= Duration::from_millis(900) && waited < Duration::from_secs(5), "{waited:?}");
}
