//! What crosses, and what goes missing on the way (X-9 to X-20, as far as files are concerned).

use nfs4_proto::{
    ArgOp, BindConnToSessionArgs, ChannelDirFromClient, Compound, DestroySessionArgs, OpenClaim, OpenHow,
    ShareAccess, ShareDeny, Status, Want,
};
use nfs4_tests::wire::{Delegation, TestServer, cred, delegation_of, give_back, ops, wanting};

use super::{CONTENTION, two, two_of};

fn open(access: ShareAccess) -> ArgOp {
    ops::open("o", access, ShareDeny::NONE, OpenHow::NoCreate, OpenClaim::Fh)
}

#[tokio::test]
async fn x9_a_return_that_crosses_an_upgrade_leaves_no_state_behind() {
    let (server, mut a, _b, f) = two().await;
    let read = a.hold_read(&f).await;
    let upgrade = a.begin(0, vec![ops::putfh(&f), open(ShareAccess::BOTH)]).await;
    let back = a.begin(1, vec![ops::putfh(&f), give_back(read.stateid)]).await;
    let opened = a.end(upgrade).await.ok().open();
    let now = delegation_of(&f, &opened.delegation).expect("in either order it gets one");
    let returned = a.end(back).await.status();
    if returned == Status::Ok {
        assert_ne!(now.stateid.other, read.stateid.other);
    } else {
        // The upgrade came first.
        assert_eq!(returned, Status::OldStateId);
        assert_eq!((now.stateid.other, now.stateid.seqid), (read.stateid.other, 2));
    }
    assert_eq!(a.give_back(&now).await, Status::Ok);
    assert!(server.server().delegations().is_empty());
}

#[tokio::test]
async fn x10_two_opens_at_once_make_one_delegation() {
    let (server, mut a, _b, f) = two().await;
    let want = wanting(ShareAccess::READ, Want::Read);
    let mut told = Vec::new();
    for slot in 0..2 {
        told.push(a.begin(slot, vec![ops::putfh(&f), open(want)]).await);
    }
    let mut given = 0;
    for one in told {
        let delegation = a.end(one).await.ok().open().delegation;
        given += usize::from(delegation_of(&f, &delegation).is_some());
        assert!(delegation_of(&f, &delegation).is_some() || delegation == CONTENTION, "{delegation:?}");
    }
    assert_eq!((given, server.server().delegations().len()), (1, 1));
}

#[tokio::test]
async fn x12_a_recall_whose_connection_is_lost_comes_over_the_next_one() {
    let (_server, mut a, mut b, f) = two().await;
    let held = a.hold_read(&f).await;
    a.raw.answers = false;
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE)]).await;
    let first = a.next_callback().await.0;
    a.reconnect().await;
    let bind = ArgOp::BindConnToSession(BindConnToSessionArgs {
        sessid: a.session,
        dir: ChannelDirFromClient::ForeOrBoth,
        use_conn_in_rdma_mode: false,
    });
    let compound = Compound::new(a.spec.minor, vec![bind]).unwrap();
    let answer = a.raw.call(&a.spec.cred.clone(), &compound).await;
    assert_eq!(answer.status, Status::Ok);
    // A question whether the path works may come as well, before or after.
    let recall = loop {
        let (sequence, ops) = a.next_callback().await;
        if let [nfs4_proto::CbArgOp::Recall(recall)] = ops.as_slice() {
            if sequence.slotid == first.slotid {
                assert!(sequence.sequenceid >= first.sequenceid, "{sequence:?} after {first:?}");
            }
            break recall.clone();
        }
    };
    assert_eq!(recall.stateid.other, held.stateid.other);
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn x13_a_recall_outlives_the_session_that_it_was_sent_to() {
    let server = TestServer::with(|file| file.limits.callback_timeout = 1).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let held = a.hold_read(&f).await;
    let mut other = a.another_session().await;
    other.until_callable().await;
    (a.raw.answers, other.raw.answers) = (false, false);
    let begun = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE)]).await;
    // To whichever session it went: that one ends, and the other one is told.
    let to_a = a.raw.wait_for_callback(std::time::Duration::from_millis(300)).await;
    let (gone, left) = if to_a { (&mut a, &mut other) } else { (&mut other, &mut a) };
    left.raw.answers = true;
    let destroy = ArgOp::DestroySession(DestroySessionArgs { sessionid: gone.session });
    let compound = Compound::new(gone.spec.minor, vec![destroy]).unwrap();
    let status = gone.raw.call(&gone.spec.cred.clone(), &compound).await.status;
    assert!(matches!(status, Status::Ok | Status::BackChanBusy), "{status}");
    assert_eq!(left.next_recall().await.stateid.other, held.stateid.other);
    assert_eq!(left.give_back(&held).await, Status::Ok);
    let _ = b.end(begun).await.ok();
}

#[tokio::test]
async fn x15_a_name_that_is_used_again_is_another_file() {
    let (_server, mut a, _b, f) = two().await;
    let root = a.root.clone();
    let held = a.hold_read(&f).await;
    a.remove(&root, "f").await;
    let again = a.file(&root, "f", b"another").await;
    assert_ne!(f, again);
    let _ = a.run(vec![ops::putfh(&again), ops::read(held.stateid, 0, 10)]).await.fails(Status::BadStateId);
    let elsewhere = Delegation { fh: again.clone(), ..held.clone() };
    assert_eq!(a.give_back(&elsewhere).await, Status::BadStateId);
    assert_eq!(a.give_back(&held).await, Status::Ok);
}

#[tokio::test]
async fn x17_two_that_wait_for_each_other_both_come_to_their_end() {
    let (server, mut a, mut b, f) = two().await;
    let g = server.peer("another maker").await.file(&a.root.clone(), "g", b"").await;
    let (of_a, of_b) = (a.hold_read(&f).await, b.hold_read(&g).await);
    let by_a = a.begin(0, vec![ops::putfh(&g), open(ShareAccess::WRITE)]).await;
    let by_b = b.begin(0, vec![ops::putfh(&f), open(ShareAccess::WRITE)]).await;
    let (_, _) = tokio::join!(a.next_recall(), b.next_recall());
    // Each has slots left to return what it holds.
    for (peer, held) in [(&mut a, &of_a), (&mut b, &of_b)] {
        let back = vec![ops::putfh(&held.fh), give_back(held.stateid)];
        let _ = peer.run_on(1, false, back).await.ok();
    }
    let _ = a.end(by_a).await.ok();
    let _ = b.end(by_b).await.ok();
}

#[tokio::test]
async fn x18_what_was_done_before_a_delay_is_not_done_again() {
    let server = TestServer::with(|file| file.limits.patience = 1).await;
    let (mut a, mut b, f) = two_of(&server).await;
    let root = a.root.clone();
    let _ = b.mkdir(&root, "d").await;
    let held = a.hold_read(&f).await;
    let both = vec![ops::putfh(&root), ArgOp::Savefh, ops::rename("d", "e"), ops::remove("f")];
    let done = b.run(both).await.fails(Status::Delay);
    let _ = done.rename();
    assert_eq!(a.give_back(&held).await, Status::Ok);
    let _ = b.run(vec![ops::putfh(&root), ops::remove("f")]).await.ok();
    assert_eq!(b.names(&root).await, ["e"]);
}

/// RFC 8881 §18.6.3 leaves it to the server: a delegation is its client's, whoever asked for it.
#[tokio::test]
async fn x20_any_user_of_the_client_may_return_it() {
    let (_server, mut a, _b, f) = two().await;
    let held = a.hold_read(&f).await;
    let another = cred(2000, 2000, &[]);
    let _ = a.run_as(&another, vec![ops::putfh(&f), give_back(held.stateid)]).await.ok();
    assert_eq!(a.give_back(&held).await, Status::BadStateId);
}
