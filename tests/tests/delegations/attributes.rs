//! What others see of a file that somebody may be writing (RFC 8881 §10.4.3, §20.1).

use nfs4_proto::{Attr, Attrs, CbArgOp, NfsTime, SetTime, ShareAccess, StateId, Status};
use nfs4_tests::wire::{Delegation, Peer, TestServer, give_back, ops};

use super::{MOMENT, two, two_of};

/// What a holder answers to CB_GETATTR.
fn says(change: u64, size: u64) -> Attrs {
    ops::attrs(|a| {
        a.set_change(change).set_size(size);
    })
}

const DATA: [Attr; 3] = [Attr::Change, Attr::Size, Attr::TimeModify];

/// B's GETATTR, with A's answer to the callback that it needs.
async fn asked(a: &mut Peer, b: &mut Peer, f: &nfs4_proto::Fh) -> Attrs {
    let begun = b.begin(0, vec![ops::putfh(f), ops::getattr(&DATA)]).await;
    let (_, ops) = a.next_callback().await;
    assert!(matches!(ops.as_slice(), [CbArgOp::Getattr(args)] if args.fh == *f), "{ops:?}");
    b.end(begun).await.ok().attrs()
}

#[tokio::test]
async fn fs16_a_file_that_its_holder_has_not_changed_is_as_it_was() {
    let (_server, mut a, mut b, f) = two().await;
    let own = a.attrs(&f, &DATA).await;
    let _held = a.hold_write(&f).await;
    a.raw.modified = Some(says(own.change().unwrap(), own.size().unwrap()));
    assert_eq!(asked(&mut a, &mut b, &f).await, own);
    assert!(a.raw.callbacks.is_empty(), "no recall");
}

#[tokio::test]
async fn fs17_a_modified_file_has_its_holders_size_and_a_change_that_moves() {
    let (_server, mut a, mut b, f) = two().await;
    let own = a.attrs(&f, &DATA).await;
    let held = a.hold_write(&f).await;
    let change = own.change().unwrap();
    a.raw.modified = Some(says(change + 1, 9000));
    let mut last = change;
    for _ in 0..3 {
        let seen = asked(&mut a, &mut b, &f).await;
        assert_eq!(seen.size(), Some(9000));
        assert!(seen.change().unwrap() > last, "{seen:?} after {last}");
        assert!(seen.time_modify() >= own.time_modify());
        last = seen.change().unwrap();
    }
    // Returned without a flush: what was told is not taken back.
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let after = b.attrs(&f, &DATA).await;
    assert_eq!(after.size(), own.size());
    assert!(after.change().unwrap() >= last);
    // And goes on from there.
    let mut c = b;
    let _ = c.run(vec![ops::putfh(&f), ops::write(nfs4_proto::StateId::ANONYMOUS, 0, b"x")]).await.ok();
    assert!(c.change(&f).await > last);
}

#[tokio::test]
async fn fs18_a_holder_that_does_not_say_is_called_back() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_write(&f).await;
    a.raw.modified = None;
    let begun = b.begin(0, vec![ops::putfh(&f), ops::getattr(&DATA)]).await;
    let (_, ops) = a.next_callback().await;
    assert!(matches!(ops.as_slice(), [CbArgOp::Getattr(_)]));
    let _ = a.next_recall().await;
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn fs19_what_does_not_depend_on_data_is_not_asked_for() {
    let (_server, mut a, mut b, f) = two().await;
    let _held = a.hold_write(&f).await;
    let attrs = b.attrs(&f, &[Attr::Type, Attr::Mode, Attr::Fileid, Attr::NumLinks]).await;
    assert_eq!(attrs.mode(), Some(0o644));
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn fs20_a_holder_is_not_asked_by_itself() {
    let (_server, mut a, _b, f) = two().await;
    let _held = a.hold_write(&f).await;
    let mut other = a.another_session().await;
    let _ = other.attrs(&f, &DATA).await;
    let _ = a.attrs(&f, &DATA).await;
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn a_reader_is_not_asked() {
    let (_server, mut a, mut b, f) = two().await;
    let _held = a.hold_read(&f).await;
    let _ = b.attrs(&f, &DATA).await;
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn many_that_ask_at_once_make_one_question() {
    let (_server, mut a, mut b, f) = two().await;
    let own = a.attrs(&f, &DATA).await;
    let _held = a.hold_write(&f).await;
    a.raw.modified = Some(says(own.change().unwrap() + 1, 9000));
    let mut begun = Vec::new();
    for slot in 0..8 {
        begun.push(b.begin(slot, vec![ops::putfh(&f), ops::getattr(&DATA)]).await);
    }
    // B's questions have arrived before A reads the first callback.
    let _ = b.run_on(9, false, vec![nfs4_proto::ArgOp::Putrootfh]).await.ok();
    let (_, _) = a.next_callback().await;
    let mut seen = Vec::new();
    for one in begun {
        let attrs = b.end(one).await.ok().attrs();
        assert_eq!(attrs.size(), Some(9000));
        seen.push(attrs.change().unwrap());
    }
    seen.dedup();
    assert_eq!(seen.len(), 8, "each answer moves change on: {seen:?}");
    assert!(a.raw.callbacks.is_empty());
}

#[tokio::test]
async fn a_listing_tells_what_the_holders_say() {
    let server = TestServer::mem().await;
    let (mut a, mut b, f) = two_of(&server).await;
    let root = a.root.clone();
    let mut maker = server.peer("another maker").await;
    let g = maker.file(&root, "g", b"").await;
    let _ = maker.file(&root, "h", b"nobody's").await;
    let own = a.attrs(&f, &DATA).await;
    let _held = (a.hold_write(&f).await, a.hold_write(&g).await);
    a.raw.modified = Some(says(own.change().unwrap() + 1000, 9000));
    let want = [Attr::Size, Attr::Change, Attr::Fileid];
    let begun = b.begin(0, vec![ops::putfh(&root), ops::readdir(0, [0; 8], 8192, &want)]).await;
    let (_, _) = a.next_callback().await;
    let (_, _) = a.next_callback().await;
    let page = b.end(begun).await.ok().readdir();
    let sizes: Vec<_> = page
        .reply
        .entries
        .0
        .iter()
        .map(|e| (String::from_utf8_lossy(&e.name).into_owned(), e.attrs.size()))
        .collect();
    assert_eq!(sizes, [("f".into(), Some(9000)), ("g".into(), Some(9000)), ("h".into(), Some(8))]);
    // Its own listing asks nobody.
    let _ = a.run(vec![ops::putfh(&root), ops::readdir(0, [0; 8], 8192, &want)]).await.ok();
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn verify_compares_with_what_the_holder_says() {
    let (_server, mut a, mut b, f) = two().await;
    let own = a.attrs(&f, &DATA).await;
    let _held = a.hold_write(&f).await;
    a.raw.modified = Some(says(own.change().unwrap() + 1, 9000));
    for (size, status) in [(9000, Status::Ok), (7, Status::NotSame)] {
        let begun = b.begin(0, vec![ops::putfh(&f), ops::verify(ops::size(size))]).await;
        let (_, _) = a.next_callback().await;
        let _ = b.end(begun).await.fails(status);
    }
}

/// A delegation for writing with times.
async fn hold_times(a: &mut Peer, f: &nfs4_proto::Fh) -> Delegation {
    let (_, held) = a.hold(f, ShareAccess::BOTH | ShareAccess::WANT_DELEG_TIMESTAMPS).await;
    assert!(held.write && held.times);
    held
}

fn time(seconds: i64) -> NfsTime {
    NfsTime { seconds, nseconds: 0 }
}

/// A delegated modification time to set.
fn modified(time: NfsTime) -> nfs4_proto::Attrs {
    ops::attrs(|a| {
        a.set_time_deleg_modify(time);
    })
}

/// An hour after the file's own time, which the tests set to the past.
const LATER: NfsTime = NfsTime { seconds: 1_000_003_600, nseconds: 0 };

/// A file of long ago.
async fn aged(a: &mut Peer, f: &nfs4_proto::Fh) {
    let old = SetTime::Client(time(1_000_000_000));
    let set = ops::attrs(|a| {
        a.set_time_modify_set(old).set_time_access_set(old);
    });
    let _ = a.run(vec![ops::putfh(f), ops::setattr(StateId::ANONYMOUS, set)]).await.ok();
}

#[tokio::test]
async fn fs40_a_holder_sets_its_times_by_its_delegation_and_by_nothing_else() {
    let (_server, mut a, mut b, f) = two().await;
    aged(&mut a, &f).await;
    let held = hold_times(&mut a, &f).await;
    let _ = a
        .run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, modified(LATER))])
        .await
        .fails(Status::BadStateId);
    let _ = b
        .run(vec![ops::putfh(&f), ops::setattr(held.stateid, modified(LATER))])
        .await
        .fails(Status::BadStateId);
    // Not told by GETATTR.
    let told = a.attrs(&f, &[Attr::TimeDelegModify, Attr::Size]).await;
    assert_eq!((told.time_deleg_modify(), told.size()), (None, Some(7)));
    // The holder's own writing does not matter: what it says does.
    let _ = a.run(vec![ops::putfh(&f), ops::write(held.stateid, 0, b"CONTENT")]).await.ok();
    let _ = a
        .run(vec![ops::putfh(&f), ops::setattr(held.stateid, modified(LATER)), give_back(held.stateid)])
        .await
        .ok();
    assert_eq!(b.attrs(&f, &DATA).await.time_modify(), Some(LATER));
}

#[tokio::test]
async fn a_delegated_time_counts_where_it_is_later_and_not_in_the_future() {
    let (_server, mut a, mut b, f) = two().await;
    aged(&mut a, &f).await;
    let held = hold_times(&mut a, &f).await;
    let earlier = ops::setattr(held.stateid, modified(time(999_999_999)));
    let _ = a.run(vec![ops::putfh(&f), earlier]).await.ok();
    assert_eq!(a.attrs(&f, &DATA).await.time_modify(), Some(time(1_000_000_000)));
    let far = time(i64::MAX - 1);
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(held.stateid, modified(far))]).await.ok();
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let seen = b.attrs(&f, &DATA).await.time_modify().unwrap();
    assert!(seen > LATER && seen.seconds < 100_000_000_000, "clamped to now: {seen:?}");
}

#[tokio::test]
async fn others_see_the_times_that_a_holder_tells() {
    let (_server, mut a, mut b, f) = two().await;
    aged(&mut a, &f).await;
    let own = a.attrs(&f, &DATA).await;
    let _held = hold_times(&mut a, &f).await;
    a.raw.modified = Some(ops::attrs(|attrs| {
        attrs.set_change(own.change().unwrap() + 1).set_size(9);
        attrs.set_time_deleg_modify(LATER).set_time_deleg_access(LATER);
    }));
    let begun = b.begin(0, vec![ops::putfh(&f), ops::getattr(&DATA)]).await;
    let (_, ops) = a.next_callback().await;
    let [CbArgOp::Getattr(args)] = ops.as_slice() else { panic!("{ops:?}") };
    assert!(
        args.attr_request.contains(Attr::TimeDelegModify)
            && args.attr_request.contains(Attr::TimeDelegAccess)
    );
    assert_eq!(b.end(begun).await.ok().attrs().time_modify(), Some(LATER));
}

#[tokio::test]
async fn delegated_times_give_no_other_rights() {
    let (server, mut a, _b, f) = two().await;
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o666))]).await.ok();
    let mut other = server.stranger("other").await;
    let held = hold_times(&mut other, &f).await;
    let both = ops::attrs(|a| {
        a.set_time_deleg_modify(LATER).set_mode(0o777);
    });
    let _ = other.run(vec![ops::putfh(&f), ops::setattr(held.stateid, both)]).await.fails(Status::Perm);
}
