//! Byte-range locks. RFC 8881 §9, §18.10–§18.12.

use nfs4_proto::{Fh, LockType, OpNum, ShareAccess, ShareDeny, StateId, Status};
use nfs4_tests::wire::ops::{close, lock, lock_more, lockt, locku, mkdir, open_name, putfh, read, write};
use nfs4_tests::wire::{Opened, Peer, TestServer};

const READ: LockType = LockType::Read;
const WRITE: LockType = LockType::Write;
const END: u64 = u64::MAX;

struct Two {
    _server: TestServer,
    a: Peer,
    b: Peer,
    fa: Opened,
    fb: Opened,
}

async fn two() -> Two {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let fa = a.create(&root, "f").await;
    let fb = b.create(&root, "f").await;
    Two { _server: server, a, b, fa, fb }
}

async fn take(peer: &mut Peer, file: &Opened, kind: LockType, offset: u64, length: u64) -> StateId {
    let op = lock(file.stateid, "l", kind, offset, length);
    peer.run(vec![putfh(&file.fh), op]).await.ok().stateid()
}

/// The first conflict that LOCKT finds.
async fn conflict(peer: &mut Peer, fh: &Fh, kind: LockType, offset: u64, length: u64) -> Option<(u64, u64)> {
    let done = peer.run(vec![putfh(fh), lockt("other", kind, offset, length)]).await;
    match done.status() {
        Status::Ok => None,
        Status::Denied => {
            let denied = done.results().denied();
            Some((denied.offset, denied.length))
        }
        _ => panic!("{done}"),
    }
}

#[tokio::test]
async fn readers_share_and_a_writer_is_alone() {
    let mut t = two().await;
    take(&mut t.a, &t.fa, READ, 0, 10).await;
    take(&mut t.b, &t.fb, READ, 5, 10).await;
    let op = lock(t.fb.stateid, "w", WRITE, 0, 3);
    let denied = t.b.run(vec![putfh(&t.fb.fh), op]).await.fails_at(OpNum::Lock, Status::Denied).denied();
    assert_eq!((denied.offset, denied.length, denied.locktype), (0, 10, READ));
    assert_eq!((denied.owner.clientid, &denied.owner.owner[..]), (t.a.client, &b"l"[..]));
    take(&mut t.a, &t.fa, READ, 100, 10).await;
    let op = lock(t.fb.stateid, "w", WRITE, 20, 10);
    let _ = t.b.run(vec![putfh(&t.fb.fh), op]).await.ok();
}

#[tokio::test]
async fn ranges_that_only_touch_do_not_conflict() {
    let mut t = two().await;
    take(&mut t.a, &t.fa, WRITE, 10, 10).await;
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 0, 10).await, None);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 20, 10).await, None);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, READ, 9, 2).await, Some((10, 10)));
    assert_eq!(conflict(&mut t.b, &t.fb.fh, READ, 19, 1).await, Some((10, 10)));
}

#[tokio::test]
async fn unlocking_the_middle_splits() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 0, 30).await;
    let after = t.a.run(vec![putfh(&t.fa.fh), locku(held, 10, 10)]).await.ok().stateid();
    assert_eq!((after.other, after.seqid), (held.other, held.seqid + 1));
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 10, 10).await, None);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 9, 1).await, Some((0, 10)));
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 20, 1).await, Some((20, 10)));
}

#[tokio::test]
async fn an_owner_changes_the_kind_of_what_it_holds() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, READ, 0, 30).await;
    let up = lock_more(held, WRITE, 10, 10);
    let held = t.a.run(vec![putfh(&t.fa.fh), up]).await.ok().stateid();
    assert_eq!(conflict(&mut t.b, &t.fb.fh, READ, 0, 10).await, None);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, READ, 10, 1).await, Some((10, 10)));
    let down = lock_more(held, READ, 0, 30);
    let _ = t.a.run(vec![putfh(&t.fa.fh), down]).await.ok();
    assert_eq!(conflict(&mut t.b, &t.fb.fh, READ, 0, 30).await, None);
    assert!(conflict(&mut t.b, &t.fb.fh, WRITE, 29, 1).await.is_some());
}

#[tokio::test]
async fn a_refused_upgrade_keeps_what_was_held() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, READ, 0, 10).await;
    take(&mut t.b, &t.fb, READ, 0, 10).await;
    let up = lock_more(held, WRITE, 0, 10);
    let _ = t.a.run(vec![putfh(&t.fa.fh), up]).await.fails_at(OpNum::Lock, Status::Denied);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 0, 10).await, Some((0, 10)));
    let _ = t.a.run(vec![putfh(&t.fa.fh), locku(held, 0, 10)]).await.ok();
}

#[tokio::test]
async fn a_length_of_all_ones_is_to_the_end() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 100, END).await;
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 0, 100).await, None);
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, END - 1, 1).await, Some((100, END)));
    let _ = t.a.run(vec![putfh(&t.fa.fh), locku(held, 0, END)]).await.ok();
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 0, END).await, None);
}

#[tokio::test]
async fn no_length_and_a_range_beyond_the_end_of_numbers_are_invalid() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 0, 1).await;
    for (offset, length) in [(5, 0), (2, END - 1), (END, 2)] {
        for op in [
            lock(t.fa.stateid, "l", READ, offset, length),
            lock_more(held, READ, offset, length),
            lockt("l", READ, offset, length),
            locku(held, offset, length),
        ] {
            let done = t.a.run(vec![putfh(&t.fa.fh), op]).await;
            let _ = done.fails(Status::Inval);
        }
    }
}

#[tokio::test]
async fn ones_own_locks_do_not_conflict_and_another_owners_of_the_same_client_do() {
    let mut t = two().await;
    take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    let done = t.a.run(vec![putfh(&t.fa.fh), lockt("l", WRITE, 0, 10)]).await;
    let _ = done.ok();
    let op = lock(t.fa.stateid, "l", WRITE, 5, 10);
    let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.ok();
    let op = lock(t.fa.stateid, "m", WRITE, 5, 10);
    let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.fails_at(OpNum::Lock, Status::Denied);
    // The same word of another client is another owner.
    let op = lock(t.fb.stateid, "l", WRITE, 5, 10);
    let _ = t.b.run(vec![putfh(&t.fb.fh), op]).await.fails_at(OpNum::Lock, Status::Denied);
}

#[tokio::test]
async fn a_lock_needs_the_access_of_its_open() {
    let mut t = two().await;
    let root = t.a.root.clone();
    let reader = t.a.open(&root, "f", "r", ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    let op = lock(reader.stateid, "x", WRITE, 0, 1);
    let _ = t.a.run(vec![putfh(&reader.fh), op]).await.fails_at(OpNum::Lock, Status::OpenMode);
    take(&mut t.a, &reader, READ, 0, 1).await;
}

#[tokio::test]
async fn a_lock_stateid_reads_and_writes_for_its_open() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    let _ = t.a.run(vec![putfh(&t.fa.fh), write(held, 0, b"by the lock")]).await.ok();
    let _ = t.a.run(vec![putfh(&t.fa.fh), read(held, 0, 5)]).await.ok();
    // Locks are advisory.
    t.b.write(&t.fb, 0, b"over").await;
}

#[tokio::test]
async fn close_frees_locks_or_says_that_they_are_held() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    let done = t.a.run(vec![putfh(&t.fa.fh), close(t.fa.stateid)]).await;
    match done.status() {
        Status::Ok => {}
        Status::LocksHeld => {
            let _ = t.a.run(vec![putfh(&t.fa.fh), locku(held, 0, END)]).await.ok();
            let _ = t.a.run(vec![putfh(&t.fa.fh), close(t.fa.stateid)]).await.ok();
        }
        _ => panic!("{done}"),
    }
    assert_eq!(conflict(&mut t.b, &t.fb.fh, WRITE, 0, END).await, None, "a ghost's lock");
}

#[tokio::test]
async fn a_lock_of_a_closed_open_is_no_more() {
    let mut t = two().await;
    let held = take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    let _ = t.a.run(vec![putfh(&t.fa.fh), locku(held, 0, END)]).await.ok();
    t.a.close(&t.fa).await;
    let op = lock_more(held, WRITE, 0, 1);
    let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.fails_at(OpNum::Lock, Status::BadStateId);
}

#[tokio::test]
async fn special_stateids_hold_no_locks() {
    let mut t = two().await;
    for stateid in [StateId::ANONYMOUS, StateId::READ_BYPASS] {
        for op in [lock(stateid, "l", READ, 0, 1), lock_more(stateid, READ, 0, 1), locku(stateid, 0, 1)] {
            let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.fails(Status::BadStateId);
        }
    }
    // An open's stateid is none of a lock's.
    let op = locku(t.fa.stateid, 0, 1);
    let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn old_and_future_lock_stateids_are_told_apart() {
    let mut t = two().await;
    let first = take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    let op = lock_more(first, WRITE, 20, 10);
    let second = t.a.run(vec![putfh(&t.fa.fh), op]).await.ok().stateid();
    assert_eq!(second.seqid, first.seqid + 1);
    let op = lock_more(first, WRITE, 40, 10);
    let _ = t.a.run(vec![putfh(&t.fa.fh), op]).await.fails_at(OpNum::Lock, Status::OldStateId);
    let future = StateId { seqid: second.seqid + 5, ..second };
    let _ = t.a.run(vec![putfh(&t.fa.fh), locku(future, 0, 1)]).await.fails(Status::BadStateId);
    // 0 is the newest.
    let newest = StateId { seqid: 0, ..second };
    let _ = t.a.run(vec![putfh(&t.fa.fh), locku(newest, 0, END)]).await.ok();
}

#[tokio::test]
async fn only_files_are_locked() {
    let mut t = two().await;
    let root = t.a.root.clone();
    let _ = t.a.run(vec![putfh(&root), mkdir("d")]).await.ok();
    let op = lock(t.fa.stateid, "l", READ, 0, 1);
    let _ = t.a.run(vec![putfh(&root), op]).await.fails_at(OpNum::Lock, Status::IsDir);
    let _ = t.a.run(vec![putfh(&root), lockt("l", READ, 0, 1)]).await.fails_at(OpNum::Lockt, Status::IsDir);
}

#[tokio::test]
async fn a_blocking_lock_is_denied_as_any_other() {
    let mut t = two().await;
    take(&mut t.a, &t.fa, WRITE, 0, 10).await;
    for kind in [LockType::ReadW, LockType::WriteW] {
        let op = lock(t.fb.stateid, "w", kind, 0, 10);
        let _ = t.b.run(vec![putfh(&t.fb.fh), op]).await.fails_at(OpNum::Lock, Status::Denied);
    }
}

#[tokio::test]
async fn an_expired_range_limit_does_not_reach_the_others() {
    let server = TestServer::with(|file| file.limits.locks_per_client = 8).await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let (fa, fb) = (a.create(&root, "f").await, b.create(&root, "f").await);
    let mut held = take(&mut a, &fa, WRITE, 0, 1).await;
    let mut refused = false;
    for n in 1..20 {
        let done = a.run(vec![putfh(&fa.fh), lock_more(held, WRITE, n * 10, 1)]).await;
        match done.status() {
            Status::Ok => held = done.results().stateid(),
            Status::ServerFault => refused = true,
            _ => panic!("{done}"),
        }
    }
    assert!(refused, "there is a limit");
    take(&mut b, &fb, WRITE, 1000, 1).await;
    let _ = a.run(vec![putfh(&fa.fh), locku(held, 0, END)]).await.ok();
    let op = open_name("o", "f", ShareAccess::READ, ShareDeny::NONE);
    let _ = a.run(vec![putfh(&root), op]).await.ok();
}
