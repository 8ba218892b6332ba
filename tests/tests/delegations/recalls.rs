//! Who is called back, and who waits (RFC 8881 §10.2, §10.4, §20.2).

use std::time::Duration;

use nfs4_proto::{
    ArgOp, AttrSet, CbArgOp, Fh, OpenClaim, OpenHow, SetxattrOption, ShareAccess, ShareDeny, StateId, Status,
};
use nfs4_tests::wire::{Peer, TestServer, ops};

use super::{MOMENT, two, two_of};

fn open(access: ShareAccess, deny: ShareDeny) -> ArgOp {
    ops::open("o", access, deny, OpenHow::NoCreate, OpenClaim::Fh)
}

/// B begins something on f that A's delegation is in the way of: A is called back, B goes on as soon as it is returned.
async fn conflict(a: &mut Peer, b: &mut Peer, f: &Fh, write: bool, what: Vec<ArgOp>) {
    let shown = format!("{what:?}");
    let held = if write { a.hold_write(f).await } else { a.hold_read(f).await };
    let begun = b.begin(0, what).await;
    let recall = a.next_recall().await;
    assert_eq!(
        (&recall.fh, recall.stateid.other, recall.stateid.seqid),
        (f, held.stateid.other, 0),
        "{shown}"
    );
    assert!(b.still_waits(&begun, Duration::from_millis(20)).await, "{shown}");
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
    assert!(a.raw.callbacks.is_empty(), "one recall: {shown}");
}

#[tokio::test]
async fn fs8_a_writer_waits_until_the_reader_has_returned() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let recall = a.next_recall().await;
    assert!(!recall.truncate);
    assert!(b.still_waits(&begun, MOMENT).await);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn fs9_all_holders_are_called_at_once_and_the_last_one_decides() {
    let (server, mut a, mut b, f) = two().await;
    let mut c = server.holder("c").await;
    let (one, other) = (a.hold_read(&f).await, c.hold_read(&f).await);
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    // Neither has answered yet when the other is called.
    let (_, _) = tokio::join!(a.next_recall(), c.next_recall());
    assert_eq!(a.give_back(&one).await, Status::Ok);
    assert!(b.still_waits(&begun, MOMENT).await);
    assert_eq!(c.give_back(&other).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn fs21_a_read_without_an_open_waits_for_a_writer() {
    let (_server, mut a, mut b, f) = two().await;
    conflict(&mut a, &mut b, &f, true, vec![ops::putfh(&f), ops::read(StateId::ANONYMOUS, 0, 10)]).await;
}

#[tokio::test]
async fn fs22_nobody_is_in_its_own_way() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_read(&f).await;
    let _ = a.run(vec![ops::putfh(&f), ops::write(StateId::ANONYMOUS, 0, b"x")]).await.ok();
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o600))]).await.ok();
    let root = a.root.clone();
    let _ = a.run(vec![ops::putfh(&root), ArgOp::Savefh, ops::rename("f", "g")]).await.ok();
    let _ = a.run(vec![ops::putfh(&root), ops::remove("g")]).await.ok();
    assert!(a.left_alone(MOMENT).await);
    // It holds it still, though the file has no name any more.
    assert_eq!(a.status(vec![ops::putfh(&f), ops::read(held.stateid, 0, 10)]).await, Status::Ok);
}

#[tokio::test]
async fn fs23_what_changes_a_file_calls_its_readers_back() {
    let (server, mut a, mut b, _) = two().await;
    let mut maker = server.peer("another maker").await;
    let root = a.root.clone();
    for what in ["mode", "xattr", "link", "remove", "rename", "rename over", "open truncate", "write"] {
        // Each on a file of its own: one that was called back lately is left alone.
        let f = maker.file(&root, format!("{what}-f"), b"content").await;
        let _ = maker.file(&root, format!("{what}-g"), b"other").await;
        let (name, other) = (format!("{what}-f"), format!("{what}-g"));
        let ops = match what {
            "mode" => vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o600))],
            "xattr" => vec![ops::putfh(&f), ops::setxattr(SetxattrOption::Either, "x", b"v")],
            "link" => vec![ops::putfh(&f), ArgOp::Savefh, ops::putfh(&root), ops::link(format!("{what}-h"))],
            "remove" => vec![ops::putfh(&root), ops::remove(name)],
            "rename" => vec![ops::putfh(&root), ArgOp::Savefh, ops::rename(name, format!("{what}-h"))],
            "rename over" => vec![ops::putfh(&root), ArgOp::Savefh, ops::rename(other, name)],
            "open truncate" => {
                vec![ops::putfh(&root), ops::open_create("o", name, ops::unchecked(ops::size(0)))]
            }
            _ => vec![ops::putfh(&f), ops::write(StateId::ANONYMOUS, 0, b"x")],
        };
        conflict(&mut a, &mut b, &f, false, ops).await;
    }
}

#[tokio::test]
async fn fs24_a_file_is_one_whatever_its_names() {
    let (_server, mut a, mut b, f) = two().await;
    let root = a.root.clone();
    let _ = b.run(vec![ops::putfh(&f), ArgOp::Savefh, ops::putfh(&root), ops::link("y")]).await.ok();
    conflict(&mut a, &mut b, &f, false, vec![ops::putfh(&root), ArgOp::Savefh, ops::rename("y", "z")]).await;
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_after_the_wait_is_looked_up_again() {
    let (server, mut a, mut b, f) = two().await;
    let root = a.root.clone();
    let g = server.peer("another maker").await.file(&root, "g", b"another").await;
    let held = a.hold_read(&f).await;
    let begun = b.begin(0, vec![ops::putfh(&root), ops::remove("f")]).await;
    let _ = a.next_recall().await;
    // Meanwhile another file gets the name, by the holder itself.
    let _ = a.run(vec![ops::putfh(&root), ArgOp::Savefh, ops::rename("g", "f")]).await.ok();
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
    assert_eq!(a.lookup(&root, "f").await, Err(Status::NoEnt));
    assert_eq!(a.status(vec![ops::putfh(&g), ops::getattr(&[nfs4_proto::Attr::Type])]).await, Status::Stale);
}

/// D-28.
#[tokio::test]
async fn what_fails_anyway_calls_nobody_back() {
    let (server, mut a, _b, f) = two().await;
    let root = a.root.clone();
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o600))]).await.ok();
    let _held = a.hold_read(&f).await;
    let mut other = Peer::connect(server.address, server.spec("other").user(2000, 2000, &[])).await;
    let _ = other
        .run(vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)])
        .await
        .fails(Status::Access);
    let write = ops::write(StateId::ANONYMOUS, 0, b"x");
    let _ = other.run(vec![ops::putfh(&f), write]).await.fails(Status::Access);
    let _ = other.run(vec![ops::putfh(&root), ops::remove("nothing")]).await.fails(Status::NoEnt);
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn fs31_who_waits_goes_before_who_wants() {
    let (server, mut a, mut b, f) = two().await;
    let mut c = server.holder("c").await;
    let held = a.hold_read(&f).await;
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let _ = a.next_recall().await;
    let done = c.open_fh(&f, "o", ShareAccess::READ).await.ok();
    assert_eq!(done.open().delegation, nfs4_proto::OpenDelegation::None);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn fs33_a_holder_that_asks_for_time_is_called_again() {
    let server = TestServer::with(|file| file.lease = Some(60)).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    a.raw.says = [Status::Delay].into();
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let _ = a.next_recall().await;
    let again = a.next_recall().await;
    assert_eq!(again.stateid.other, held.stateid.other);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn fs34_a_holder_that_knows_of_nothing_holds_nothing() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    // The grant's reply was seen: its slot is used again.
    let _ = a.run(vec![ArgOp::Putrootfh]).await.ok();
    a.raw.says = [Status::BadStateId].into();
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let _ = a.next_recall().await;
    let _ = b.end(begun).await.ok();
    assert_eq!(a.give_back(&held).await, Status::BadStateId);
    let flags = a.run(vec![ArgOp::Putrootfh]).await.ok().sequence().status_flags;
    assert!(flags.is_empty(), "{flags:?}");
}

#[tokio::test]
async fn fs35_a_recall_names_the_call_whose_reply_it_may_overtake() {
    let (server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    let seq = a.slots[0];
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let (sequence, _) = a.next_callback().await;
    let list = &sequence.referring_call_lists[0];
    assert_eq!(list.sessionid, a.session);
    assert_eq!((list.referring_calls[0].slotid, list.referring_calls[0].sequenceid), (0, seq));
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
    // Once the slot is used again nothing need be named.
    let g = server.peer("another maker").await.file(&a.root.clone(), "g", b"").await;
    let held = a.hold_read(&g).await;
    let _ = a.run(vec![ArgOp::Putrootfh]).await.ok();
    let begun = b.begin(0, vec![ops::putfh(&g), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let (sequence, _) = a.next_callback().await;
    assert!(sequence.referring_call_lists.is_empty());
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

///
#[tokio::test]
async fn x16_many_that_come_again_make_one_recall() {
    let server = TestServer::with(|file| file.limits.patience = 1).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    let mut begun = Vec::new();
    for slot in 0..8 {
        begun.push(b.begin(slot, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await);
    }
    let _ = a.next_recall().await;
    for one in begun {
        let _ = b.end(one).await.fails(Status::Delay);
    }
    for _ in 0..3 {
        let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
        let _ = b.end(begun).await.fails(Status::Delay);
    }
    assert!(a.raw.callbacks.is_empty());
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.run(vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await.ok();
}

#[tokio::test]
async fn half_of_a_sessions_slots_stay_free_for_what_ends_the_waiting() {
    let (_server, mut a, mut b, f) = two().await;
    let _held = a.hold_read(&f).await;
    let most = b.slots.len();
    let mut begun = Vec::new();
    for slot in 0..most {
        let slot = u32::try_from(slot).unwrap();
        begun.push(b.begin(slot, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await);
    }
    let (mut waiting, mut refused) = (0, 0);
    for one in begun {
        if b.still_waits(&one, Duration::from_millis(100)).await {
            waiting += 1;
        } else {
            let _ = b.end(one).await.fails(Status::Delay);
            refused += 1;
        }
    }
    assert_eq!((waiting, refused), (most / 2, most - most / 2));
}

#[tokio::test]
async fn a_holder_may_reclaim_its_opens_while_another_waits() {
    let (_server, mut a, mut b, f) = two().await;
    let xor = ShareAccess::READ | ShareAccess::WANT_OPEN_XOR_DELEGATION;
    let open_ok = a.open_fh(&f, "o", xor).await.ok().open();
    let held = nfs4_tests::wire::delegation_of(&f, &open_ok.delegation).unwrap();
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::BOTH, ShareDeny::READ)]).await;
    let _ = a.next_recall().await;
    let claim = ops::open(
        "o",
        ShareAccess::READ,
        ShareDeny::NONE,
        OpenHow::NoCreate,
        OpenClaim::DelegCurFh(held.stateid),
    );
    let reclaimed = a.run(vec![ops::putfh(&f), claim]).await.ok().open();
    assert_eq!(reclaimed.delegation, nfs4_proto::OpenDelegation::None);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    // What A has open stands against B's wish to deny it.
    let _ = b.end(begun).await.fails(Status::ShareDenied);
    let _ = a.run(vec![ops::putfh(&f), ops::read(reclaimed.stateid, 0, 10)]).await.ok();
}

#[tokio::test]
async fn claim_delegate_cur_needs_a_delegation_that_allows_it() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    let claim = |access, stateid| {
        ops::open("p", access, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::DelegCurFh(stateid))
    };
    let _ = a.run(vec![ops::putfh(&f), claim(ShareAccess::READ, held.stateid)]).await.ok();
    let by_name = OpenClaim::DelegateCur { stateid: held.stateid, file: ops::name("f") };
    let root = a.root.clone();
    let op = ops::open("q", ShareAccess::READ, ShareDeny::NONE, OpenHow::NoCreate, by_name);
    let _ = a.run(vec![ops::putfh(&root), op]).await.ok();
    let _ =
        a.run(vec![ops::putfh(&f), claim(ShareAccess::BOTH, held.stateid)]).await.fails(Status::BadStateId);
    let _ =
        b.run(vec![ops::putfh(&f), claim(ShareAccess::READ, held.stateid)]).await.fails(Status::BadStateId);
}

///
#[tokio::test]
async fn x8_a_return_that_crosses_its_recall_is_a_return() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    // It comes back before A reads the recall.
    let back = a.begin(1, vec![ops::putfh(&f), nfs4_tests::wire::give_back(held.stateid)]).await;
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let _ = a.end(back).await.ok();
    let _ = b.end(begun).await.ok();
    let flags = a.run(vec![ArgOp::Putrootfh]).await.ok().sequence().status_flags;
    assert!(flags.is_empty(), "{flags:?}");
}

#[tokio::test]
async fn a_waiting_request_whose_connection_goes_leaves_no_trace() {
    let (server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE, ShareDeny::NONE)]).await;
    let _ = a.next_recall().await;
    drop((b, begun));
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let mut c = server.holder("c").await;
    let _ = c.run(vec![ops::putfh(&f), open(ShareAccess::BOTH, ShareDeny::NONE)]).await.ok();
}

#[tokio::test]
async fn a_recall_comes_once_however_many_objects_ask() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_write(&f).await;
    let first = b.begin(0, vec![ops::putfh(&f), ops::read(StateId::ANONYMOUS, 0, 10)]).await;
    let second =
        b.begin(1, vec![ops::putfh(&f), ops::getattr_set(AttrSet::of(&[nfs4_proto::Attr::Size]))]).await;
    let (_, ops) = a.next_callback().await;
    assert!(matches!(ops.as_slice(), [CbArgOp::Recall(_) | CbArgOp::Getattr(_)]), "{ops:?}");
    let _ = a.raw.wait_for_callback(MOMENT).await;
    let recalls =
        a.raw.callbacks.iter().filter(|c| matches!(c.args.ops.get(1), Some(CbArgOp::Recall(_)))).count();
    assert!(recalls <= 1);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(first).await.ok();
    let _ = b.end(second).await.ok();
}
