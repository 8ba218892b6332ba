//! Delegations without an OPEN, and promises of them (RFC 8881 §18.49, §20.5, §20.7, §20.10).

use nfs4_proto::{
    ArgOp, CbArgOp, NoDelegation, OpenDelegation, RecallTypes, ResOp, ShareAccess, Status, Want,
};
use nfs4_tests::wire::{Done, TestServer, delegation_of, ops, want, wanting};

use super::{CONTENTION, MOMENT, two, two_of};

fn told(done: Done) -> OpenDelegation {
    let done = done.ok();
    match done.all().last() {
        Some(ResOp::WantDelegation(Ok(told))) => told.clone(),
        other => panic!("{other:?}"),
    }
}

const PUSH: ShareAccess = ShareAccess::WANT_PUSH_DELEG_WHEN_UNCONTENDED;
const SIGNAL: ShareAccess = ShareAccess::WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL;

fn wish(kind: Want) -> ShareAccess {
    wanting(ShareAccess::empty(), kind)
}

#[tokio::test]
async fn a_delegation_is_had_without_an_open() {
    let (_server, mut a, mut b, f) = two().await;
    let held = delegation_of(&f, &told(a.run(vec![ops::putfh(&f), want(wish(Want::Read))]).await)).unwrap();
    let read = a.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 100)]).await.ok().read();
    assert_eq!(&read.data.into_bytes()[..], b"content");
    // A wish for another kind changes it in place.
    let write = delegation_of(&f, &told(a.run(vec![ops::putfh(&f), want(wish(Want::Write))]).await)).unwrap();
    assert_eq!((write.stateid.other, write.stateid.seqid), (held.stateid.other, 2));
    assert_eq!(told(b.run(vec![ops::putfh(&f), want(wish(Want::Read))]).await), CONTENTION);
    assert!(a.left_alone(MOMENT).await, "a wish calls nobody back");
}

#[tokio::test]
async fn a_wish_for_nothing_is_invalid_and_a_directory_has_none() {
    let (_server, mut a, _b, f) = two().await;
    for nothing in [Want::NoPreference, Want::No] {
        let _ = a.run(vec![ops::putfh(&f), want(wish(nothing))]).await.fails(Status::Inval);
    }
    let dir = told(a.run(vec![ArgOp::Putrootfh, want(wish(Want::Read))]).await);
    assert_eq!(dir, OpenDelegation::NoneExt(NoDelegation::IsDir));
    let root = a.root.clone();
    let _ = a.run(vec![ops::putfh(&root), ops::symlink("l", "f")]).await.ok();
    let l = a.lookup(&root, "l").await.unwrap();
    let link = told(a.run(vec![ops::putfh(&l), want(wish(Want::Write))]).await);
    assert_eq!(link, OpenDelegation::NoneExt(NoDelegation::WriteDelegNotSuppFtype));
}

#[tokio::test]
async fn fs41_fs42_a_promise_is_kept_when_nobody_contends_any_more() {
    let (_server, mut a, mut b, f) = two().await;
    let (open, held) = a.hold(&f, ShareAccess::BOTH).await;
    let wished = told(b.run(vec![ops::putfh(&f), want(wish(Want::Read) | PUSH)]).await);
    assert_eq!(wished, OpenDelegation::NoneExt(NoDelegation::Contention { will_push: true }));
    assert!(a.left_alone(MOMENT).await, "nobody is called back for it");
    // FS-44: a second one.
    let again = b.run(vec![ops::putfh(&f), want(wish(Want::Read) | PUSH)]).await;
    let _ = again.fails(Status::DelegAlreadyWanted);
    b.raw.says = [Status::Delay].into();
    assert_eq!(a.give_back(&held).await, Status::Ok);
    assert!(b.left_alone(MOMENT).await, "the file is open for writing still");
    let _ = a.run(vec![ops::putfh(&f), ops::close(open.stateid)]).await.ok();
    // B asks for time once; then takes it.
    let (_, first) = b.next_callback().await;
    let (_, second) = b.next_callback().await;
    let pushed = |ops: &[CbArgOp]| match ops {
        [CbArgOp::PushDeleg(args)] => (args.fh.clone(), delegation_of(&args.fh, &args.delegation).unwrap()),
        other => panic!("{other:?}"),
    };
    assert_eq!(pushed(&first).0, f);
    let (fh, got) = pushed(&second);
    assert_eq!((fh, got.write, got.stateid.seqid), (f.clone(), false, 1));
    let _ = b.run(vec![ops::putfh(&f), ops::read(got.stateid, 0, 10)]).await.ok();
    assert_eq!(b.give_back(&got).await, Status::Ok);
}

#[tokio::test]
async fn fs43_a_promise_is_kept_when_there_is_room() {
    let server = TestServer::with(|file| file.limits.delegations = 1).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let g = server.peer("another maker").await.file(&a.root.clone(), "g", b"").await;
    let held = a.hold_read(&f).await;
    let access = wanting(ShareAccess::READ, Want::Read) | SIGNAL;
    let refused = b.open_fh(&g, "o", access).await.ok().open();
    let resource = OpenDelegation::NoneExt(NoDelegation::Resource { will_signal: true });
    assert_eq!(refused.delegation, resource);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let (_, ops) = b.next_callback().await;
    let [CbArgOp::RecallableObjAvail(args)] = ops.as_slice() else { panic!("{ops:?}") };
    assert_eq!(RecallTypes::from_bitmap(&args.type_mask), RecallTypes::RDATA_DLG);
    let _ = b.hold_read(&g).await;
}

#[tokio::test]
async fn fs44_a_promise_that_is_cancelled_is_not_kept() {
    let (_server, mut a, mut b, f) = two().await;
    let (open, held) = a.hold(&f, ShareAccess::BOTH).await;
    let _ = told(b.run(vec![ops::putfh(&f), want(wish(Want::Read) | PUSH)]).await);
    let cancelled = told(b.run(vec![ops::putfh(&f), want(wish(Want::Cancel))]).await);
    assert_eq!(cancelled, OpenDelegation::NoneExt(NoDelegation::Cancelled));
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = a.run(vec![ops::putfh(&f), ops::close(open.stateid)]).await.ok();
    assert!(b.left_alone(MOMENT).await);
}
