//! SEQUENCE: RFC 8881 §18.46, §2.10.6.

use super::*;

#[test]
fn the_first_use_of_a_slot_is_1() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    for wrong in [0, 2, u32::MAX] {
        assert_eq!(error(kit.seq(at(1), s, 0, wrong, 1)), Status::SeqMisordered, "{wrong}");
    }
    kit.run(at(1), s, 0, 1);
}

#[test]
fn s1_a_failing_sequence_leaves_no_trace_and_a_gap_is_not_fatal() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let crowds = [0, 7];
    for busy in crowds {
        let _held: Vec<_> = (1..=busy).map(|slot| new(kit.seq(at(1), s, slot, 1, 1))).collect();
        let slot = 0;
        let n = if busy == 0 { 1 } else { 3 };
        kit.run(at(1), s, slot, n);
        assert_eq!(error(kit.seq(at(2), s, slot, n + 2, 9)), Status::SeqMisordered);
        let again = kit.seq(at(3), s, slot, n, u64::from(n)).unwrap();
        assert_eq!(kept(again), format!("reply {n}"));
        kit.run(at(4), s, slot, n + 1);
    }
}

#[test]
fn s2_another_request_on_the_same_slot_and_seqid_is_a_false_retry() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    new(kit.seq(at(1), s, 2, 1, 0xaaaa)).finish(at(1), &reply(1), true);
    assert_eq!(error(kit.seq(at(2), s, 2, 1, 0xbbbb)), Status::SeqFalseRetry);
    assert_eq!(kept(kit.seq(at(2), s, 2, 1, 0xaaaa).unwrap()), "reply 1");
    // Also where the reply was not kept, and while it runs.
    let running = new(kit.seq(at(3), s, 2, 2, 0xaaaa));
    assert_eq!(error(kit.seq(at(3), s, 2, 2, 0xbbbb)), Status::SeqFalseRetry);
    running.finish(at(3), &reply(2), false);
    assert_eq!(error(kit.seq(at(4), s, 2, 2, 0xbbbb)), Status::SeqFalseRetry);
    kit.run(at(5), s, 2, 3);
}

#[test]
fn s3_a_failing_sequence_renews_nothing() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.holder.hold(id);
    let good = sequence(s, 0, 1);
    let fails = [
        (Sequence { seqid: 5, ..good }, Status::SeqMisordered),
        (Sequence { operations: 17, ..good }, Status::TooManyOps),
        (Sequence { bytes: (1 << 20) + 1, ..good }, Status::ReqTooBig),
        (Sequence { slot: 8, highest: 8, ..good }, Status::BadSlot),
        (Sequence { highest: 8, ..good }, Status::BadHighSlot),
    ];
    for t in [1, LEASE / 2, LEASE] {
        for (args, want) in &fails {
            assert_eq!(error(kit.state.sequence(at(t), C1, args, 1)), *want);
        }
    }
    assert!(kit.state.evict_courtesy(at(LEASE + 1), id).unwrap());
}

#[test]
fn where_not_even_sequences_result_may_be_kept_keeping_it_is_refused_and_nothing_else() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let with = |sequence, maxresponsesize_cached| {
        let fore = ChannelAttrs { maxresponsesize_cached, ..channel(4096) };
        let args = CreateSession { sequence, fore, ..session_of(id) };
        kit.state.create_session(at(0), C1, &args).unwrap().session
    };
    let narrow = sequence(with(id.sequence, 79), 0, 1);
    let keep = Sequence { cachethis: true, ..narrow };
    assert_eq!(error(kit.state.sequence(at(1), C1, &keep, 1)), Status::RepTooBigToCache);
    new(kit.state.sequence(at(1), C1, &narrow, 1));
    let enough = Sequence { cachethis: true, ..sequence(with(id.sequence + 1, 80), 0, 1) };
    new(kit.state.sequence(at(1), C1, &enough, 1));
}

#[test]
fn the_limits_of_a_session_hold_at_n_and_n_plus_1() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let good = Sequence { operations: 16, bytes: 1 << 20, slot: 7, highest: 7, ..sequence(s, 7, 1) };
    new(kit.state.sequence(at(1), C1, &good, 1));
}

#[test]
fn a_successful_sequence_renews_the_lease_of_the_client_not_of_the_session() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    let again = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let other = kit.create(at(0), C1, again).unwrap().session;
    kit.run(at(LEASE), other, 0, 1);
    assert!(!kit.state.is_expired(at(2 * LEASE), id));
    kit.run(at(2 * LEASE), s, 0, 1);
}

#[test]
fn a_replay_renews_the_lease_too() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.run(at(1), s, 0, 1);
    kept(kit.seq(at(LEASE), s, 0, 1, 1).unwrap());
    assert!(!kit.state.is_expired(at(2 * LEASE), id));
}

#[test]
fn trap_1_seqids_wrap_from_the_highest_to_0() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let session = kit.state.session(&s).unwrap();
    lock(session.slots.at(0).unwrap()).start(u32::MAX - 1, 0);
    lock(session.slots.at(0).unwrap()).finish(false, Bytes::new);
    kit.run(at(1), s, 0, u32::MAX);
    assert_eq!(error(kit.seq(at(1), s, 0, 1, 1)), Status::SeqMisordered);
    kit.run(at(1), s, 0, 0);
    assert_eq!(kept(kit.seq(at(1), s, 0, 0, 0).unwrap()), "reply 0");
    kit.run(at(1), s, 0, 1);
}

#[test]
fn trap_3_a_retry_of_a_running_request_gets_its_reply_and_does_not_run() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let running = new(kit.seq(at(1), s, 0, 1, 1));
    let mut retry = waits(kit.state.sequence(at(2), C2, &sequence(s, 0, 1), 1));
    assert!(retry.try_recv().is_err());
    running.finish(at(3), &reply(1), true);
    assert_eq!(retry.try_recv().unwrap(), "reply 1");
    assert_eq!(kept(kit.seq(at(4), s, 0, 1, 1).unwrap()), "reply 1");
}

#[test]
fn only_the_newest_retry_of_a_running_request_waits() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let running = new(kit.seq(at(1), s, 0, 1, 1));
    let mut first = waits(kit.seq(at(2), s, 0, 1, 1));
    let mut second = waits(kit.seq(at(2), s, 0, 1, 1));
    assert_eq!(first.try_recv(), Err(tokio::sync::oneshot::error::TryRecvError::Closed));
    running.finish(at(3), &reply(1), false);
    assert_eq!(second.try_recv().unwrap(), "reply 1", "also where it is not kept");
}

#[test]
fn the_next_request_on_a_slot_in_use_is_misordered() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let _running = new(kit.seq(at(1), s, 0, 1, 1));
    assert_eq!(error(kit.seq(at(1), s, 0, 2, 2)), Status::SeqMisordered);
}

#[test]
fn trap_4_a_retry_of_what_was_not_kept_is_recognised() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    new(kit.seq(at(1), s, 3, 1, 1)).finish(at(1), &reply(1), false);
    let turn = kit.seq(at(2), s, 3, 1, 1).unwrap();
    let Turn::Replay(Reply::NotKept(ok)) = turn else { panic!("{turn:?}") };
    assert_eq!((ok.slot, ok.seqid, ok.session), (3, 1, s));
    kit.run(at(3), s, 3, 2);
}

#[test]
fn a_reply_larger_than_agreed_is_not_kept() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    let bytes = |n| {
        let mut all = Segments::new();
        all.push(Bytes::from(vec![0; n]));
        all
    };
    new(kit.seq(at(1), s, 0, 1, 1)).finish(at(1), &bytes(4096), true);
    assert_eq!(kept(kit.seq(at(1), s, 0, 1, 1).unwrap()).len(), 4096);
    new(kit.seq(at(1), s, 0, 2, 2)).finish(at(1), &bytes(4097), true);
    assert!(matches!(kit.seq(at(1), s, 0, 2, 2), Ok(Turn::Replay(Reply::NotKept(_)))));
}

#[test]
fn trap_5_slots_belong_to_the_session_and_not_to_the_connection() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    kit.run(at(1), s, 0, 1);
    let via = |conn, seqid, print| kit.state.sequence(at(2), conn, &sequence(s, 0, seqid), print);
    assert_eq!(kept(via(C2, 1, 1).unwrap()), "reply 1");
    assert_eq!(error(via(C3, 1, 2)), Status::SeqFalseRetry);
    new(via(C3, 2, 2)).finish(at(2), &reply(2), true);
}

#[test]
fn a_request_dropped_without_reply_runs_again_when_it_comes_again() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    kit.run(at(1), s, 0, 1);
    let running = new(kit.seq(at(2), s, 0, 2, 2));
    let mut waiter = waits(kit.seq(at(2), s, 0, 2, 2));
    drop(running);
    assert_eq!(waiter.try_recv(), Err(tokio::sync::oneshot::error::TryRecvError::Closed));
    assert_eq!(error(kit.seq(at(3), s, 0, 1, 1)), Status::SeqMisordered, "its reply was seen");
    kit.run(at(3), s, 0, 2);
}

#[test]
fn an_unknown_session_is_badsession() {
    let kit = Kit::new();
    assert_eq!(error(kit.seq(at(1), [9; 16], 0, 1, 1)), Status::BadSession);
}

#[test]
fn s6_ids_of_a_boot_are_not_valid_in_the_next() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    let kit = kit.restart(at(0));
    let (other, other_session) = kit.fresh(at(0), "b");
    assert_ne!(other, id);
    assert_ne!(other_session, s);
    assert_eq!(error(kit.seq(at(0), s, 0, 1, 1)), Status::BadSession);
    let old = ExchangedId { client: id, sequence: 2, flags: 0 };
    assert_eq!(kit.create(at(0), C1, old), Err(Status::StaleClientId));
    assert_eq!(kit.state.destroy_clientid(at(0), id), Err(Status::StaleClientId));
    let new = kit.exchange(at(0), &owner("a", 1)).unwrap();
    assert_ne!(new.client, id);
    assert_eq!(new.flags & exchgid::CONFIRMED_R, 0);
}

#[test]
fn trap_10_status_flags_stay_until_they_are_cleared() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    let client = kit.state.client(id).unwrap();
    client.set_flags(seq4::RECALLABLE_STATE_REVOKED);
    for seqid in 1..4 {
        assert_eq!(kit.run(at(1), s, 0, seqid).flags, seq4::RECALLABLE_STATE_REVOKED);
    }
    client.clear_flags(seq4::RECALLABLE_STATE_REVOKED);
    assert_eq!(kit.run(at(1), s, 0, 4).flags, 0);
}

#[test]
fn a_client_that_is_told_that_all_is_lost_does_not_renew() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.state.client(id).unwrap().set_flags(seq4::EXPIRED_ALL_STATE_REVOKED);
    kit.run(at(LEASE), s, 0, 1);
    assert!(kit.state.is_expired(at(LEASE + 1), id));
}
