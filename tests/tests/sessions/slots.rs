//! Slots and the reply cache. RFC 8881 §2.10.6, §18.46.

use nfs4_proto::{ArgOp, Attr, OpNum, ResOp, Status};
use nfs4_tests::wire::ops::{getattr, lookup, mkdir, putfh, remove};
use nfs4_tests::wire::{Raw, TestServer, cred};

#[tokio::test]
async fn a_slot_begins_at_one() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for wrong in [0, 2, u32::MAX] {
        let op = peer.sequence_of(5, wrong, false);
        let _ = peer.compound(vec![op]).await.fails_at(OpNum::Sequence, Status::SeqMisordered);
    }
    let op = peer.sequence_of(5, 1, false);
    let ok = peer.compound(vec![op]).await.ok().sequence();
    assert_eq!((ok.slotid, ok.sequenceid, ok.sessionid), (5, 1, peer.session));
}

#[tokio::test]
async fn a_kept_reply_comes_again_byte_for_byte_and_the_work_is_not_done_twice() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(3, true), putfh(&peer.root), mkdir("once"), getattr(&[Attr::Fileid])];
    let first = peer.post(ops.clone()).await;
    let first = peer.raw.answer(first).await;
    let again = peer.post(ops.clone()).await;
    let again = peer.raw.answer(again).await;
    assert_eq!(first.rest, again.rest);
    assert_eq!(first.compound().status, Status::Ok);
    // And over another connection.
    peer.reconnect().await;
    let third = peer.post(ops).await;
    assert_eq!(peer.raw.answer(third).await.rest, first.rest);
}

#[tokio::test]
async fn a_kept_failure_comes_again_too() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(3, true), putfh(&peer.root), remove("nothing")];
    let first = peer.post(ops.clone()).await;
    let first = peer.raw.answer(first).await;
    assert_eq!(first.compound().status, Status::NoEnt);
    let root = peer.root.clone();
    peer.mkdir(&root, "nothing").await;
    let again = peer.post(ops).await;
    assert_eq!(peer.raw.answer(again).await.rest, first.rest);
    assert_eq!(peer.names(&root).await, ["nothing"]);
}

#[tokio::test]
async fn a_retry_of_a_reply_that_was_not_kept_is_told_so_behind_its_sequence() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(1, false), putfh(&peer.root), mkdir("d")];
    let _ = peer.compound(ops.clone()).await.ok();
    let again = peer.compound(ops).await.fails(Status::RetryUncachedRep);
    assert_eq!(again.all().len(), 2);
    assert_eq!(again.all()[0].status(), Status::Ok);
    assert_eq!(again.all()[1].num(), OpNum::Putfh);
    let _ = peer.run_on(1, false, vec![putfh(&peer.root.clone()), lookup("d")]).await.ok();
}

#[tokio::test]
async fn a_lone_sequence_is_answered_again() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let op = peer.sequence(2, false);
    let first = peer.compound(vec![op.clone()]).await.ok().sequence();
    let again = peer.compound(vec![op]).await.ok().sequence();
    assert_eq!((first.sequenceid, first.slotid), (again.sequenceid, again.slotid));
}

#[tokio::test]
async fn a_slot_that_is_not_there_is_badslot() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for slot in [10_000, u32::MAX] {
        let op = peer.sequence_of(slot, 1, false);
        let _ = peer.compound(vec![op]).await.fails_at(OpNum::Sequence, Status::BadSlot);
    }
}

#[tokio::test]
async fn an_unknown_session_is_badsession() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let known = peer.session;
    for session in [[0; 16], [0xff; 16]] {
        peer.session = session;
        let op = peer.sequence_of(0, 1, false);
        let _ = peer.compound(vec![op, ArgOp::Putrootfh]).await.fails_at(OpNum::Sequence, Status::BadSession);
    }
    peer.session = known;
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn all_slots_may_be_in_use_at_once() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let slots = u32::try_from(peer.slots.len()).unwrap();
    assert_eq!(slots, 16);
    let mut posted = Vec::new();
    for round in 0..8 {
        for slot in 0..slots {
            let ops = vec![
                peer.sequence(slot, round % 2 == 0),
                putfh(&peer.root),
                mkdir(format!("{round}-{slot}")),
            ];
            posted.push(peer.post(ops).await);
        }
    }
    for xid in posted {
        assert_eq!(peer.raw.answer(xid).await.compound().status, Status::Ok);
    }
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await.len(), 128);
}

#[tokio::test]
async fn a_session_belongs_to_whoever_has_it_but_a_retry_to_the_same_user() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(0, true), putfh(&peer.root), mkdir("d")];
    let _ = peer.compound(ops.clone()).await.ok();
    peer.spec.cred = cred(2000, 2000, &[]);
    let _ = peer.compound(ops).await.fails_at(OpNum::Sequence, Status::SeqFalseRetry);
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn the_answer_to_many_connections_is_the_same_as_to_one() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let mut others = Vec::new();
    for slot in 1..8 {
        let mut raw = Raw::connect(server.address).await;
        let ops = vec![peer.sequence(slot, false), putfh(&peer.root), getattr(&[Attr::Fileid, Attr::Fsid])];
        let compound = nfs4_proto::Compound::new(2, ops).unwrap();
        let reply = raw.call(&peer.spec.cred, &compound).await;
        let ResOp::Getattr(Ok(ok)) = reply.ops[2].clone() else { panic!("{reply}") };
        others.push(ok.obj_attributes);
    }
    assert!(others.windows(2).all(|pair| pair[0] == pair[1]));
}
