//! What a delegation's stateid is good for (RFC 8881 §8.2.2, §8.2.4, §18.6, §18.38, §18.48).

use nfs4_proto::{LockType, ShareAccess, StateId, Status};
use nfs4_tests::wire::{give_back, ops};

use super::two;

#[tokio::test]
async fn fs25_a_reader_does_not_write() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_read(&f).await;
    let _ = a.run(vec![ops::putfh(&f), ops::write(held.stateid, 0, b"x")]).await.fails(Status::OpenMode);
    let cut = ops::setattr(held.stateid, ops::size(0));
    let _ = a.run(vec![ops::putfh(&f), cut]).await.fails(Status::OpenMode);
}

#[tokio::test]
async fn fs26_seqid_0_is_today_and_a_later_one_is_none() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_write(&f).await;
    let today = StateId { seqid: 0, ..held.stateid };
    let _ = a.run(vec![ops::putfh(&f), ops::write(today, 0, b"X")]).await.ok();
    let read = a.run(vec![ops::putfh(&f), ops::read(today, 0, 100)]).await.ok().read();
    assert_eq!(&read.data.into_bytes()[..], b"Xontent");
    let later = StateId { seqid: 7, ..held.stateid };
    let _ = a.run(vec![ops::putfh(&f), ops::read(later, 0, 100)]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn fs27_it_is_no_open_and_nobody_elses() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    let _ = a.run(vec![ops::putfh(&f), ops::close(held.stateid)]).await.fails(Status::BadStateId);
    let lock = ops::lock(held.stateid, "l", LockType::Read, 0, 1);
    let _ = a.run(vec![ops::putfh(&f), lock]).await.fails(Status::BadStateId);
    let _ = b.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 10)]).await.fails(Status::BadStateId);
    let _ = b.run(vec![ops::putfh(&f), give_back(held.stateid)]).await.fails(Status::BadStateId);
    let told = b.run(vec![ops::test_stateid(vec![held.stateid])]).await.ok().test_stateid();
    assert_eq!(told.status_codes[..], [Status::BadStateId]);
}

#[tokio::test]
async fn fs28_it_is_of_one_file() {
    let (server, mut a, _b, f) = two().await;
    let held = a.hold_read(&f).await;
    let g = server.peer("another maker").await.file(&a.root.clone(), "g", b"other").await;
    let _ = a.run(vec![ops::putfh(&g), ops::read(held.stateid, 0, 10)]).await.fails(Status::BadStateId);
    let _ = a.run(vec![ops::putfh(&g), give_back(held.stateid)]).await.fails(Status::BadStateId);
    assert_eq!(a.give_back(&held).await, Status::Ok);
}

#[tokio::test]
async fn fs32_what_is_held_is_not_freed() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_read(&f).await;
    let _ = a.run(vec![ops::free_stateid(held.stateid)]).await.fails(Status::LocksHeld);
    let told = a.run(vec![ops::test_stateid(vec![held.stateid])]).await.ok().test_stateid();
    assert_eq!(told.status_codes[..], [Status::Ok]);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let told = a.run(vec![ops::test_stateid(vec![held.stateid])]).await.ok().test_stateid();
    assert_eq!(told.status_codes[..], [Status::BadStateId]);
}

#[tokio::test]
async fn all_sessions_of_a_client_hold_what_one_was_given() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_write(&f).await;
    let mut other = a.another_session().await;
    let read = other.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 100)]).await.ok().read();
    assert_eq!(&read.data.into_bytes()[..], b"content");
    let _ = other.open_fh(&f, "o", ShareAccess::BOTH).await.ok();
    assert_eq!(other.give_back(&held).await, Status::Ok);
}
