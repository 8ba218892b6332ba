//! Slots and client IDs: S-1, S-2, S-5. RFC 8881 §2.10.6, §18.35, §18.46.

use nfs4_proto::{ArgOp, Compound, OpNum, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::ops::{getattr, mkdir, mode, open_create, putfh, unchecked};
use nfs4_tests::wire::{Peer, TestServer, bytes_of, create_session, cred, exchange_id};
use nfs4_xdr::record::LAST_FRAGMENT;

#[tokio::test]
async fn s1_a_misordered_sequence_leaves_no_trace_and_the_slot_goes_on() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for busy in [false, true] {
        let mut posted = Vec::new();
        if busy {
            for slot in 1..16 {
                let ops = vec![peer.sequence(slot, true), putfh(&root), mkdir(format!("slot-{slot}"))];
                posted.push(peer.post(ops).await);
            }
        }
        let kept = vec![peer.sequence(0, true), putfh(&root), mkdir(format!("kept-{busy}"))];
        let n = peer.slots[0];
        let first = peer.post(kept.clone()).await;
        let first = peer.raw.answer(first).await;
        assert_eq!(first.compound().status, Status::Ok);

        let jump = peer.sequence_of(0, n.wrapping_add(2), true);
        let ops = vec![jump, ArgOp::Putrootfh, getattr(&[])];
        let failed = peer.compound(ops).await.fails_at(OpNum::Sequence, Status::SeqMisordered);
        assert_eq!(failed.all().len(), 1);
        let behind = peer.sequence_of(0, n.wrapping_sub(1), true);
        let ops = vec![behind, ArgOp::Putrootfh];
        let _ = peer.compound(ops).await.fails_at(OpNum::Sequence, Status::SeqMisordered);

        let again = peer.post(kept).await;
        assert_eq!(peer.raw.answer(again).await.rest, first.rest, "the retry gets the reply that was kept");
        let next = vec![peer.sequence(0, true), putfh(&root), mkdir(format!("next-{busy}"))];
        let _ = peer.compound(next).await.ok();
        for xid in posted {
            assert_eq!(peer.raw.answer(xid).await.compound().status, Status::Ok);
        }
    }
}

#[tokio::test]
async fn s2_another_request_with_the_number_of_the_last_is_a_false_retry() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let sequence = peer.sequence(2, true);
    let open = |name: &str| open_create("o", name, unchecked(mode(0o644)));
    let first = vec![sequence.clone(), putfh(&root), open("f")];
    let _ = peer.compound(first.clone()).await.ok();
    // Another operation; the same with another argument; fewer and more operations.
    for other in [
        vec![sequence.clone(), putfh(&root), mkdir("d")],
        vec![sequence.clone(), putfh(&root), open("g")],
        vec![sequence.clone(), putfh(&root)],
        vec![sequence.clone(), putfh(&root), open("f"), ArgOp::Getfh],
    ] {
        let _ = peer.compound(other).await.fails_at(OpNum::Sequence, Status::SeqFalseRetry);
    }
    let own = std::mem::replace(&mut peer.spec.cred, cred(4321, 4321, &[]));
    let _ = peer.compound(first.clone()).await.fails_at(OpNum::Sequence, Status::SeqFalseRetry);
    peer.spec.cred = own;
    assert_eq!(peer.names(&root).await, ["f"], "none of them ran");
    let _ = peer.compound(first).await.ok();
    let _ = peer.run_on(2, true, vec![putfh(&root), mkdir("e")]).await.ok();
}

#[tokio::test]
async fn s1_a_retry_that_comes_while_its_request_runs_does_nothing_twice() {
    let server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let mut delayed = 0;
    for n in 0..100 {
        let ops = vec![peer.sequence(0, true), putfh(&root), mkdir(format!("d{n}")), ArgOp::Getfh];
        let body = bytes_of(&Compound::new(peer.spec.minor, ops).unwrap());
        let who = peer.spec.cred.clone();
        let (mut posted, mut stream) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let (xid, record) = peer.raw.record(&who, &body);
            stream.extend((u32::try_from(record.len()).unwrap() | LAST_FRAGMENT).to_be_bytes());
            stream.extend(record);
            posted.push(xid);
        }
        // In one write, so that the retries are there while the first runs.
        peer.raw.send_bytes(&stream).await;
        let mut kept = None;
        for xid in posted {
            let answer = peer.raw.answer(xid).await;
            let reply = answer.compound();
            if reply.status == Status::Delay {
                assert_eq!((reply.ops.len(), reply.ops[0].num()), (1, OpNum::Sequence), "{reply}");
                delayed += 1;
            } else {
                assert_eq!(reply.status, Status::Ok, "{reply}");
                assert_eq!(*kept.get_or_insert(answer.rest.clone()), answer.rest);
            }
        }
        assert!(kept.is_some(), "the request itself was not answered");
    }
    assert_eq!(peer.names(&root).await.len(), 100);
    assert!(delayed > 0, "no retry met its running request: this says nothing");
}

#[tokio::test]
async fn s5_a_restarted_clients_former_state_goes_when_its_session_confirms_it() {
    let server = TestServer::mem().await;
    let mut first = server.peer("a").await;
    let root = first.root.clone();
    let file = first.create(&root, "f").await;
    let held = first.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::BOTH).await.unwrap();

    let spec = server.spec("a").incarnation(2);
    let mut raw = server.raw().await;
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    assert_ne!(id.clientid, first.client);
    first.write(&held, 0, b"not confirmed yet: the first is as it was").await;
    create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
    let op = first.sequence(0, false);
    let _ = first.compound(vec![op]).await.fails(Status::BadSession);
    // The deny of the former is in nobody's way.
    let mut other = server.peer("b").await;
    let open = other.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::NONE).await.unwrap();
    assert_eq!(open.fh, file.fh);
}

#[tokio::test]
async fn s5_two_that_take_turns_with_one_name_end_each_others_sessions_and_nothing_else() {
    let server = TestServer::mem().await;
    let mut last = server.peer("twin").await;
    let root = last.root.clone();
    for turn in 2..12 {
        let mut next = Peer::connect(server.address, server.spec("twin").incarnation(turn)).await;
        let op = last.sequence(0, false);
        let _ = last.compound(vec![op]).await.fails(Status::BadSession);
        let file = next.create(&root, format!("f{turn}")).await;
        next.write(&file, 0, b"x").await;
        last = next;
    }
    assert_eq!(last.names(&root).await.len(), 10);
}

#[tokio::test]
async fn s5_another_principal_with_the_same_name_is_refused_while_the_first_has_state() {
    let server = TestServer::mem().await;
    let mut first = server.peer("a").await;
    let root = first.root.clone();
    let file = first.create(&root, "f").await;
    let stranger = server.spec("a").user(2000, 2000, &[]).incarnation(9);
    let mut raw = server.raw().await;
    assert_eq!(exchange_id(&mut raw, &stranger).await.unwrap_err(), Status::ClidInUse);
    first.write(&file, 0, b"nothing of the first is lost").await;
}
