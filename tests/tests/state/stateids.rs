//! TEST_STATEID, FREE_STATEID, DELEGRETURN, and a stateid's age. RFC 8881 §8.2, §18.38, §18.48.

use nfs4_proto::{
    ArgOp, DelegreturnArgs, FreeStateidArgs, GetDirDelegationArgs, GetDirDelegationRes, LockType, NfsTime,
    OpNum, ShareAccess, ShareDeny, StateId, Status,
};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{close, lock, locku, putfh, read, test_stateid, write};

fn free(stateid: StateId) -> ArgOp {
    ArgOp::FreeStateid(FreeStateidArgs { stateid })
}

#[tokio::test]
async fn a_stateids_age_is_checked() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"").await;
    let old = peer.open(&root, "f", "o", ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    let new = peer.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.unwrap();
    let op = read(old.stateid, 0, 1);
    let _ = peer.run(vec![putfh(&new.fh), op]).await.fails_at(OpNum::Read, Status::OldStateId);
    let future = StateId { seqid: new.stateid.seqid + 1, ..new.stateid };
    let _ = peer.run(vec![putfh(&new.fh), read(future, 0, 1)]).await.fails(Status::BadStateId);
    let newest = StateId { seqid: 0, ..new.stateid };
    let _ = peer.run(vec![putfh(&new.fh), write(newest, 0, b"x")]).await.ok();
    let _ = peer.run(vec![putfh(&new.fh), close(old.stateid)]).await.fails(Status::OldStateId);
}

#[tokio::test]
async fn test_stateid_tells_each_by_itself() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let live = a.create(&root, "f").await.stateid;
    let theirs = b.create(&root, "g").await.stateid;
    let closed = a.create(&root, "h").await;
    a.close(&closed).await;
    let ids = vec![
        live,
        StateId { seqid: 0, ..live },
        StateId { seqid: live.seqid + 5, ..live },
        closed.stateid,
        theirs,
        StateId { seqid: 1, other: [9; 12] },
    ];
    let told = a.run(vec![test_stateid(ids)]).await.ok().test_stateid();
    let codes: Vec<Status> = told.status_codes.to_vec();
    assert_eq!(
        codes,
        [
            Status::Ok,
            Status::Ok,
            Status::BadStateId,
            Status::BadStateId,
            Status::BadStateId,
            Status::BadStateId
        ]
    );
    assert!(a.run(vec![test_stateid(vec![])]).await.ok().test_stateid().status_codes.is_empty());
}

#[tokio::test]
async fn free_stateid_frees_a_lock_state_without_locks_and_nothing_that_is_in_use() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let _ = peer.run(vec![free(file.stateid)]).await.fails(Status::LocksHeld);
    let op = lock(file.stateid, "l", LockType::Write, 0, 10);
    let held = peer.run(vec![putfh(&file.fh), op]).await.ok().stateid();
    let _ = peer.run(vec![free(held)]).await.fails(Status::LocksHeld);
    let held = peer.run(vec![putfh(&file.fh), locku(held, 0, u64::MAX)]).await.ok().stateid();
    let _ = peer.run(vec![free(held)]).await.ok();
    let _ = peer.run(vec![free(held)]).await.fails(Status::BadStateId);
    let _ = peer.run(vec![free(StateId { seqid: 1, other: [9; 12] })]).await.fails(Status::BadStateId);
    peer.write(&file, 0, b"the open is untouched").await;
}

#[tokio::test]
async fn a_delegation_that_was_not_given_cannot_be_returned() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    for stateid in [file.stateid, StateId { seqid: 1, other: [9; 12] }] {
        let op = ArgOp::Delegreturn(DelegreturnArgs { deleg_stateid: stateid });
        let _ = peer.run(vec![putfh(&file.fh), op]).await.fails(Status::BadStateId);
    }
}

#[tokio::test]
async fn a_directory_delegation_is_unavailable_and_the_rest_of_the_compound_runs() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let op = || {
        ArgOp::GetDirDelegation(GetDirDelegationArgs {
            signal_deleg_avail: false,
            notification_types: nfs4_xdr::Bitmap::new(),
            child_attr_delay: NfsTime::default(),
            dir_attr_delay: NfsTime::default(),
            child_attributes: nfs4_proto::AttrSet::new(),
            dir_attributes: nfs4_proto::AttrSet::new(),
        })
    };
    for minor in [1, 2] {
        peer.spec.minor = minor;
        let done = peer.run(vec![putfh(&root), op(), ArgOp::Getfh]).await.ok();
        assert!(matches!(done.dir_delegation(), GetDirDelegationRes::Unavail { .. }), "{done:?}");
    }
    let file = peer.create(&root, "f").await;
    let _ = peer.run(vec![putfh(&file.fh), op()]).await.fails(Status::NotDir);
    let _ = peer.run(vec![op()]).await.fails(Status::NoFileHandle);
}
