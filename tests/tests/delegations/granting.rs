//! What is given, and what is not (RFC 8881 §10.4, §18.16).

use nfs4_proto::{
    ArgOp, CbArgOp, NoDelegation, OpenDelegation, OpenResultFlags, ShareAccess, ShareDeny, StateId, Status,
    Want,
};
use nfs4_tests::wire::{TestServer, delegation_of, ops, wanting};

use super::{CONTENTION, MOMENT, RESOURCE, two};

#[tokio::test]
async fn fs1_an_open_gets_a_delegation_with_a_name_of_its_own() {
    let (_server, mut a, _b, f) = two().await;
    let (open, held) = a.hold(&f, wanting(ShareAccess::READ, Want::Read)).await;
    assert_eq!((held.stateid.seqid, held.write, held.recall, held.times), (1, false, false, false));
    assert_ne!(open.stateid.other, held.stateid.other);
}

#[tokio::test]
async fn fs2_nobody_gets_one_who_was_not_found_to_answer() {
    let (server, _a, _b, f) = two().await;
    let mut deaf = server.peer("deaf").await;
    let done = deaf.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Any)).await.ok();
    assert_eq!(done.open().delegation, RESOURCE);
    // One that says nothing to the server's question.
    let mut spec = server.spec("silent");
    spec.session_flags = nfs4_proto::CreateSessionFlags::CONN_BACK_CHAN;
    let mut silent = nfs4_tests::wire::Peer::connect(server.address, spec).await;
    silent.raw.answers = false;
    if silent.raw.callbacks.is_empty() {
        assert!(silent.raw.wait_for_callback(nfs4_tests::wire::PATIENCE).await);
    }
    assert!(matches!(silent.raw.callbacks[0].args.ops.as_slice(), [CbArgOp::Sequence(_)]), "only a question");
    let done = silent.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Any)).await.ok();
    assert_eq!(done.open().delegation, RESOURCE);
}

#[tokio::test]
async fn fs3_fs4_who_wants_none_gets_none_and_is_told_why() {
    let (_server, mut a, _b, f) = two().await;
    for (want, why) in [(Want::No, NoDelegation::NotWanted), (Want::Cancel, NoDelegation::Cancelled)] {
        let done = a.open_fh(&f, "o", wanting(ShareAccess::READ, want)).await.ok();
        assert_eq!(done.open().delegation, OpenDelegation::NoneExt(why));
    }
}

#[tokio::test]
async fn fs5_without_a_wish_there_is_no_reason() {
    let (server, _a, _b, f) = two().await;
    let mut deaf = server.peer("deaf").await;
    assert_eq!(deaf.open_fh(&f, "o", ShareAccess::READ).await.ok().open().delegation, OpenDelegation::None);
}

#[tokio::test]
async fn fs6_a_wish_without_a_meaning_opens_nothing() {
    let (_server, mut a, _b, f) = two().await;
    let wrong = ShareAccess::from_bits_retain(0x601);
    let _ = a.open_fh(&f, "o", wrong).await.fails(Status::Inval);
    // Nothing is open: to deny writing to a writer would fail.
    let op = ops::open(
        "p",
        ShareAccess::BOTH,
        ShareDeny::BOTH,
        nfs4_proto::OpenHow::NoCreate,
        nfs4_proto::OpenClaim::Fh,
    );
    let _ = a.run(vec![ops::putfh(&f), op]).await.ok();
}

#[tokio::test]
async fn fs7_readers_hold_side_by_side() {
    let (_server, mut a, mut b, f) = two().await;
    let (one, other) = (a.hold_read(&f).await, b.hold_read(&f).await);
    assert_ne!(one.stateid.other, other.stateid.other);
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn fs10_fs11_a_reader_that_opens_for_writing_is_upgraded_in_place() {
    let (_server, mut a, _b, f) = two().await;
    let read = a.hold_read(&f).await;
    let write = a.hold_write(&f).await;
    assert_eq!(write.stateid.other, read.stateid.other, "one name");
    assert_eq!(write.stateid.seqid, 2);
    assert!(a.left_alone(MOMENT).await);
    assert_eq!(a.give_back(&read).await, Status::OldStateId);
    assert_eq!(a.give_back(&write).await, Status::Ok);
    assert_eq!(a.give_back(&write).await, Status::BadStateId);
}

#[tokio::test]
async fn fs13_a_wish_calls_nobody_back() {
    let (_server, mut a, mut b, f) = two().await;
    let (one, other) = (a.hold_read(&f).await, b.hold_read(&f).await);
    let done = a.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Write)).await.ok();
    assert_eq!(done.open().delegation, CONTENTION);
    assert!(b.left_alone(MOMENT).await);
    assert_eq!((a.give_back(&one).await, b.give_back(&other).await), (Status::Ok, Status::Ok));
}

#[tokio::test]
async fn fs14_a_writer_that_wants_less_is_downgraded_in_place() {
    let (_server, mut a, mut b, f) = two().await;
    let write = a.hold_write(&f).await;
    let (_, read) = a.hold(&f, wanting(ShareAccess::READ, Want::Read)).await;
    assert_eq!((read.stateid.other, read.stateid.seqid, read.write), (write.stateid.other, 2, false));
    // The open for writing of before is still there; another reader is let in without a recall.
    let _ = b.open_fh(&f, "o", ShareAccess::READ).await.ok();
    assert!(a.left_alone(MOMENT).await);
}

#[tokio::test]
async fn fs15_what_is_held_is_not_given_again() {
    let (_server, mut a, _b, f) = two().await;
    let read = a.hold_read(&f).await;
    let done = a.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Read)).await.ok();
    assert_eq!(done.open().delegation, CONTENTION);
    assert_eq!(a.give_back(&read).await, Status::Ok, "its seqid is what it was");
}

/// D-28, and that a holder may do what its user may.
#[tokio::test]
async fn who_may_not_read_gets_none_for_an_open_to_write() {
    let (server, mut a, _b, f) = two().await;
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o222))]).await.ok();
    let mut other = server.stranger("other").await;
    let done = other.open_fh(&f, "o", wanting(ShareAccess::WRITE, Want::Any)).await.ok();
    assert_eq!(done.open().delegation, RESOURCE);
}

#[tokio::test]
async fn an_open_for_reading_that_wants_to_write_needs_the_permission_to() {
    let (server, mut a, _b, f) = two().await;
    let _ = a.run(vec![ops::putfh(&f), ops::setattr(StateId::ANONYMOUS, ops::mode(0o644))]).await.ok();
    let mut other = server.stranger("other").await;
    let done = other.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Write)).await.ok();
    assert_eq!(done.open().delegation, RESOURCE);
    let done = other.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Any)).await.ok();
    assert!(matches!(done.open().delegation, OpenDelegation::Read(_)));
}

#[tokio::test]
async fn fs40_a_delegation_stands_for_the_open_where_the_client_says_so() {
    let (_server, mut a, mut b, f) = two().await;
    let xor = ShareAccess::BOTH | ShareAccess::WANT_OPEN_XOR_DELEGATION;
    let open = a.open_fh(&f, "o", xor).await.ok().open();
    assert!(open.rflags.contains(OpenResultFlags::NO_OPEN_STATEID));
    assert_eq!(open.stateid, StateId::ANONYMOUS);
    let held = delegation_of(&f, &open.delegation).unwrap();
    // It reads and writes by it.
    let _ = a.run(vec![ops::putfh(&f), ops::write(held.stateid, 0, b"CON")]).await.ok();
    let read = a.run(vec![ops::putfh(&f), ops::read(held.stateid, 0, 100)]).await.ok().read();
    assert_eq!(&read.data.into_bytes()[..], b"CONtent");
    // There is no open to close, by the current stateid neither.
    let op = ops::open("o", xor, ShareDeny::NONE, nfs4_proto::OpenHow::NoCreate, nfs4_proto::OpenClaim::Fh);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let done = a.run(vec![ops::putfh(&f), op, ops::close(StateId::CURRENT)]).await;
    let _ = done.fails(Status::BadStateId);
    // And so nothing denies another one's open: it is the delegation that is called back.
    let begun = b
        .begin(
            0,
            vec![
                ops::putfh(&f),
                ops::open(
                    "o",
                    ShareAccess::BOTH,
                    ShareDeny::NONE,
                    nfs4_proto::OpenHow::NoCreate,
                    nfs4_proto::OpenClaim::Fh,
                ),
            ],
        )
        .await;
    let recall = a.next_recall().await;
    let again = nfs4_tests::wire::Delegation { stateid: recall.stateid, ..held };
    assert_eq!(a.give_back(&again).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn an_open_that_is_there_or_denies_something_stays_beside_the_delegation() {
    let (_server, mut a, _b, f) = two().await;
    let xor = ShareAccess::READ | ShareAccess::WANT_OPEN_XOR_DELEGATION;
    let deny =
        ops::open("o", xor, ShareDeny::WRITE, nfs4_proto::OpenHow::NoCreate, nfs4_proto::OpenClaim::Fh);
    let first = a.run(vec![ops::putfh(&f), deny]).await.ok().open();
    assert!(!first.rflags.contains(OpenResultFlags::NO_OPEN_STATEID));
    let held = delegation_of(&f, &first.delegation).unwrap();
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let second = a.open_fh(&f, "o", xor).await.ok().open();
    assert_eq!((second.stateid.other, second.stateid.seqid), (first.stateid.other, 2));
    assert!(delegation_of(&f, &second.delegation).is_some(), "both");
}

#[tokio::test]
async fn an_export_without_delegations_gives_none() {
    let server =
        TestServer::with(|file| file.delegations = Some(nfs4_server::config::DelegationMode::None)).await;
    let (mut a, _b, f) = super::two_of(&server).await;
    let done = a.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Any)).await.ok();
    assert_eq!(done.open().delegation, RESOURCE);
    let _ = a.run(vec![ops::putfh(&f), ArgOp::Getfh]).await.ok();
}

/// Others may change a directory of this machine, unless the configuration says that nobody does.
#[tokio::test]
async fn a_directory_that_others_may_change_gives_none() {
    for (exclusive, given) in [(false, false), (true, true)] {
        let server = TestServer::local_with(|file| file.exclusive = Some(exclusive)).await;
        let (mut a, _b, f) = super::two_of(&server).await;
        let done = a.open_fh(&f, "o", wanting(ShareAccess::READ, Want::Any)).await.ok();
        assert_eq!(delegation_of(&f, &done.open().delegation).is_some(), given);
    }
}
