//! Blocking locks: who is told by CB_NOTIFY_LOCK. RFC 8881 §9.6, §18.10, §20.11.

use std::time::Duration;

use nfs4_proto::{CbArgOp, CreateSessionFlags, LockType, OpNum, OpenResultFlags, StateId, Status};
use nfs4_tests::wire::ops::{close, lock, lockt, locku, mode, open_create, putfh, unchecked};
use nfs4_tests::wire::{Opened, PATIENCE, Peer, TestServer};

const WRITE: LockType = LockType::Write;
const WRITE_W: LockType = LockType::WriteW;
const READ_W: LockType = LockType::ReadW;

/// A client with a back channel, and its open of the file.
struct Locker {
    peer: Peer,
    file: Opened,
}

impl Locker {
    async fn new(server: &TestServer, name: &str) -> Self {
        let mut spec = server.spec(name);
        spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
        let mut peer = Peer::connect(server.address, spec).await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        Self { peer, file }
    }

    async fn lock(&mut self, kind: LockType, offset: u64, length: u64) -> Result<StateId, Status> {
        let op = lock(self.file.stateid, "l", kind, offset, length);
        let done = self.peer.run(vec![putfh(&self.file.fh), op]).await;
        match done.status() {
            Status::Ok => Ok(done.ok().stateid()),
            status => {
                let _ = done.fails_at(OpNum::Lock, status);
                Err(status)
            }
        }
    }

    async fn unlock(&mut self, held: StateId) {
        let _ = self.peer.run(vec![putfh(&self.file.fh), locku(held, 0, u64::MAX)]).await.ok();
    }

    /// How often CB_NOTIFY_LOCK came; each must be for this client's owner and its own name of the file.
    fn told(&self) -> usize {
        let mut count = 0;
        for callback in &self.peer.raw.callbacks {
            for op in &callback.args.ops {
                if let CbArgOp::NotifyLock(args) = op {
                    assert_eq!(args.fh, self.file.fh);
                    assert_eq!(args.lock_owner.clientid, self.peer.client);
                    assert_eq!(&args.lock_owner.owner[..], b"l");
                    count += 1;
                }
            }
        }
        count
    }

    async fn until_told(&mut self, times: usize) {
        while self.told() < times {
            assert!(self.peer.raw.wait_for_callback(PATIENCE).await, "nothing comes");
        }
        assert_eq!(self.told(), times);
    }

    /// Whether something is told within a moment.
    async fn is_told_nothing_more(&mut self) -> bool {
        let before = self.told();
        let _ = self.peer.raw.wait_for_callback(Duration::from_millis(100)).await;
        self.told() == before
    }
}

#[tokio::test]
async fn open_says_that_it_may_be_told() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let done = peer.run(vec![putfh(&root), open_create("o", "f", unchecked(mode(0o644)))]).await.ok();
    assert!(done.open().rflags.contains(OpenResultFlags::MAY_NOTIFY_LOCK));
}

#[tokio::test]
async fn who_waits_is_told_in_order_and_gets_what_it_asked_for() {
    let server = TestServer::mem().await;
    let mut a = Locker::new(&server, "a").await;
    let mut b = Locker::new(&server, "b").await;
    let mut c = Locker::new(&server, "c").await;
    let held = a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    assert_eq!(c.lock(READ_W, 5, 1).await, Err(Status::Denied));
    a.unlock(held).await;
    b.until_told(1).await;
    assert_eq!(a.lock(WRITE, 0, 1).await, Err(Status::Denied), "whoever is faster does not win");
    // Nobody has it: LOCKT tells locks, and what is held for somebody is none (§18.11.3).
    let _ = a.peer.run(vec![putfh(&a.file.fh), lockt("l", WRITE, 0, 1)]).await.ok();
    assert_eq!(c.lock(READ_W, 5, 1).await, Err(Status::Denied));
    let held = b.lock(WRITE_W, 0, 10).await.unwrap();
    assert!(c.is_told_nothing_more().await);
    b.unlock(held).await;
    c.until_told(1).await;
    c.lock(READ_W, 5, 1).await.unwrap();
    assert!(b.is_told_nothing_more().await);
}

#[tokio::test]
async fn a_close_frees_for_who_waits() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (Locker::new(&server, "a").await, Locker::new(&server, "b").await);
    a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(READ_W, 0, 10).await, Err(Status::Denied));
    let _ = a.peer.run(vec![putfh(&a.file.fh), close(a.file.stateid)]).await.ok();
    b.until_told(1).await;
    b.lock(READ_W, 0, 10).await.unwrap();
}

#[tokio::test]
async fn who_does_not_come_loses_its_turn() {
    let server = TestServer::with(|file| file.limits.lock_hold = 1).await;
    let mut a = Locker::new(&server, "a").await;
    let mut b = Locker::new(&server, "b").await;
    let mut c = Locker::new(&server, "c").await;
    let held = a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    assert_eq!(c.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    a.unlock(held).await;
    b.until_told(1).await;
    c.until_told(1).await;
    c.lock(WRITE_W, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied), "it waits again, behind");
}

#[tokio::test]
async fn who_cannot_be_told_holds_up_nobody() {
    let server = TestServer::mem().await;
    let mut a = Locker::new(&server, "a").await;
    let mut c = Locker::new(&server, "c").await;
    // No back channel.
    let mut peer = server.peer("b").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let mut b = Locker { peer, file };
    let held = a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    assert_eq!(c.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    a.unlock(held).await;
    c.until_told(1).await;
    c.lock(WRITE_W, 0, 10).await.unwrap();
}

#[tokio::test]
async fn a_client_that_refuses_the_callback_holds_up_nobody() {
    let server = TestServer::mem().await;
    let mut a = Locker::new(&server, "a").await;
    let mut b = Locker::new(&server, "b").await;
    let mut c = Locker::new(&server, "c").await;
    let held = a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    assert_eq!(c.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    b.peer.raw.refuses = Some(Status::ServerFault);
    a.unlock(held).await;
    while b.told() == 0 {
        assert!(b.peer.raw.wait_for_callback(PATIENCE).await, "nothing comes");
    }
    c.until_told(1).await;
    c.lock(WRITE_W, 0, 10).await.unwrap();
}

#[tokio::test]
async fn a_nonblocking_request_ends_the_wait() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (Locker::new(&server, "a").await, Locker::new(&server, "b").await);
    let held = a.lock(WRITE, 0, 10).await.unwrap();
    assert_eq!(b.lock(WRITE_W, 0, 10).await, Err(Status::Denied));
    assert_eq!(b.lock(WRITE, 0, 10).await, Err(Status::Denied));
    a.unlock(held).await;
    assert!(b.is_told_nothing_more().await);
    a.lock(WRITE, 0, 10).await.unwrap();
}
