//! FC-17 to FC-25: upgrades, loss, reclaim, CB_RECALL_ANY.

use super::*;

#[test]
fn fc_17_an_upgrade_in_place_keeps_the_stateid_and_moves_its_seqid() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    assert!(c.local(&open(F, A, READ)));
    c.holds(F, Kind::Write, sid(1, 2));
    assert_eq!(c.h.held(F), Some((Kind::Write, sid(1, 2))));
    assert!(c.local(&open(F, A, WRITE)));
    assert_eq!(c.h.len(), 1);
    assert!(c.local(&Query::Close { oid: F, owner: A, share: WRITE }));
    assert!(c.local(&Query::Close { oid: F, owner: A, share: READ }));
    assert_eq!(c.recall(F, sid(1, 0), false), Status::Ok);
    let steps = c.steps();
    assert_eq!((steps[0].1, steps[0].2), (sid(1, 2), Step::DelegReturn));
}

#[test]
fn fc_18_an_older_seqid_never_overwrites_a_newer_across_the_wrap_too() {
    for (old, new) in [(1, 2), (0xFFFF_FFFF, 1)] {
        let mut c = Client::new();
        c.holds(F, Kind::Write, sid(1, new));
        c.holds(F, Kind::Read, sid(1, old));
        assert_eq!(c.h.held(F), Some((Kind::Write, sid(1, new))));
        assert_eq!(c.h.counts().stale, 1);
        assert_eq!(c.actions(), []);
    }
}

#[test]
fn fc_19_of_two_delegations_on_a_file_the_stronger_stays_and_the_other_goes_back() {
    for (first, second, kept, back) in [
        (Kind::Read, Kind::Read, sid(1, 1), sid(2, 1)),
        (Kind::Read, Kind::Write, sid(2, 1), sid(1, 1)),
        (Kind::Write, Kind::Read, sid(1, 1), sid(2, 1)),
        (Kind::Write, Kind::Write, sid(1, 1), sid(2, 1)),
    ] {
        let mut c = Client::new();
        c.holds(F, first, sid(1, 1));
        c.holds(F, second, sid(2, 1));
        assert_eq!(c.h.held(F).unwrap().1, kept);
        assert_eq!(c.h.counts().duplicates, 1);
        let steps = c.steps();
        let [(key, stateid, Step::DelegReturn)] = steps[..] else { panic!("{steps:?}") };
        assert_eq!(stateid, back);
        assert_eq!(c.recall(F, back, false), Status::Ok, "it is going back");
        c.done(key, Status::Ok);
        assert_eq!(c.h.len(), 1);
        assert_eq!(c.steps(), []);
    }
}

#[test]
fn fc_20_a_return_refused_as_old_is_tried_with_the_newest_seqid() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let upgrade = c.send_open(Some(F), 1);
    c.recall(F, sid(1, 0), false);
    let steps = c.steps();
    assert_eq!(steps[0].1, sid(1, 1));
    c.done(steps[0].0, Status::OldStateId);
    assert_eq!(c.steps(), [], "the upgrade's reply is on its way");
    let later = c.send_open(Some(F), 2);
    c.reply(upgrade, &OwnReply::Opened { oid: F, open: None, grant: Some(grant(Kind::Write, sid(1, 2))) });
    let steps = c.steps();
    assert_eq!((steps[0].1, steps[0].2), (sid(1, 2), Step::DelegReturn), "later calls are not waited for");
    c.done(steps[0].0, Status::Ok);
    assert_eq!(c.h.held(F), None);
    c.reply(later, &OwnReply::Failed(Status::Access));
    // With nothing in flight, any seqid.
    c.holds(G, Kind::Read, sid(3, 1));
    c.recall(G, sid(3, 0), false);
    let steps = c.steps();
    c.done(steps[0].0, Status::OldStateId);
    assert_eq!(c.steps()[0].1, sid(3, 0));
}

#[test]
fn fc_21_a_flag_of_lost_state_stops_serving_until_each_was_tested_and_the_lost_are_freed() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    c.holds(G, Kind::Read, sid(2, 1));
    let lost = SeqStatusFlags::RECALLABLE_STATE_REVOKED;
    c.sequence(lost);
    assert_eq!(c.ask(&open(F, A, READ)), Serve::Ask(WhyNot::Doubt));
    let both = vec![(F, sid(1, 0)), (G, sid(2, 0))];
    assert_eq!(c.actions(), [ClientAction::Test { stateids: both }]);
    c.now += 10;
    c.sequence(lost);
    assert_eq!(c.actions(), [], "the test's own SEQUENCE says the same");
    c.event(ClientEvent::Tested {
        results: vec![(F, sid(1, 0), Status::Ok), (G, sid(2, 0), Status::DelegRevoked)],
    });
    assert!(c.local(&open(F, A, READ)), "cleared");
    assert_eq!(c.ask(&open(G, A, READ)), Serve::Ask(WhyNot::NoDelegation));
    assert_eq!(
        c.actions(),
        [
            ClientAction::Lost { oid: G, dirty: false, opens: vec![], locks: vec![] },
            ClientAction::Free { stateid: sid(2, 0) }
        ]
    );
    c.event(ClientEvent::Freed { stateid: sid(2, 0) });
    c.now += 10;
    c.sequence(SeqStatusFlags::empty());
    c.now += 10;
    c.sequence(lost);
    assert_eq!(c.ask(&open(F, A, READ)), Serve::Ask(WhyNot::Doubt), "a new loss is a new round");
}

#[test]
fn fc_21_a_flag_that_stays_is_tested_again_but_not_without_end() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let lost = SeqStatusFlags::ADMIN_STATE_REVOKED;
    let clear = |c: &mut Client| c.event(ClientEvent::Tested { results: vec![(F, sid(1, 0), Status::Ok)] });
    c.sequence(lost);
    assert_eq!(c.actions().len(), 1);
    clear(&mut c);
    for _ in 0..10 {
        c.now += 10;
        c.sequence(lost);
    }
    assert_eq!(c.actions(), []);
    c.sleep(5_000);
    assert_eq!(c.actions().len(), 1, "once in a while");
}

#[test]
fn fc_22_dirty_data_of_a_revoked_delegation_is_never_written() {
    let mut c = busy();
    c.sequence(SeqStatusFlags::RECALLABLE_STATE_REVOKED);
    c.actions();
    c.event(ClientEvent::Tested { results: vec![(F, sid(1, 0), Status::DelegRevoked)] });
    let actions = c.actions();
    let ClientAction::Lost { oid: F, dirty: true, opens, locks } = &actions[0] else { panic!("{actions:?}") };
    assert_eq!((opens.len(), locks.len()), (2, 1));
    assert_eq!(actions[1..], [ClientAction::Free { stateid: sid(1, 0) }]);
    assert_eq!(c.recall(F, sid(1, 0), false), Status::BadHandle);
    c.sleep(1_000_000);
    assert_eq!(c.actions(), [], "no write of it ever");
}

#[test]
fn fc_22_a_delegation_that_turns_out_revoked_while_it_is_flushed_is_lost() {
    let mut c = busy();
    c.recall(F, sid(1, 0), false);
    let steps = c.steps();
    c.done(steps[0].0, Status::DelegRevoked);
    let actions = c.actions();
    assert!(matches!(actions[0], ClientAction::Lost { dirty: true, .. }), "{actions:?}");
    assert_eq!(actions[1..], [ClientAction::Free { stateid: sid(1, 0) }]);
}

#[test]
fn fc_23_past_the_leases_end_nothing_is_served_until_a_sequence_succeeds() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    assert!(c.local(&open(F, A, READ)));
    let stat = Query::Attrs { oid: F, copy: Copy::Change(100), access_time: false };
    c.now += LEASE - 1_001;
    assert!(c.local(&stat));
    c.now += 1;
    assert_eq!(c.ask(&stat), Serve::Ask(WhyNot::Lease), "a second before the end, for clocks that drift");
    assert!(c.local(&Query::Close { oid: F, owner: A, share: READ }), "what tells nothing");
    c.event(ClientEvent::Sequence { sent: at(1_000), flags: SeqStatusFlags::empty() });
    assert_eq!(c.ask(&stat), Serve::Ask(WhyNot::Lease), "it counts from when it was sent");
    c.sequence(SeqStatusFlags::EXPIRED_ALL_STATE_REVOKED);
    assert_eq!(c.ask(&stat), Serve::Ask(WhyNot::NoDelegation), "loss flags");
    assert!(c.actions().contains(&ClientAction::Free { stateid: sid(1, 0) }));
}

#[test]
fn fc_24_after_a_restart_each_delegation_is_reclaimed_before_reclaim_complete() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    c.holds(G, Kind::Write, sid(2, 1));
    assert!(c.local(&open(G, A, BOTH)));
    assert!(c.local(&Query::Write { oid: G, end: 1, bytes: 1 }));
    c.event(ClientEvent::Restarted);
    assert_eq!(c.ask(&open(F, A, READ)), Serve::Ask(WhyNot::Reclaiming));
    assert_eq!(
        c.actions(),
        [
            ClientAction::Reclaim { oid: F, kind: Kind::Write, opens: vec![] },
            ClientAction::Reclaim { oid: G, kind: Kind::Write, opens: vec![opened(A, BOTH)] }
        ]
    );
    let back = Grant { recall: true, ..grant(Kind::Write, sid(5, 1)) };
    c.event(ClientEvent::Reclaimed { oid: F, result: Ok(Some(back)) });
    assert_eq!(c.carry_out(), [Step::DelegReturn], "recall = TRUE");
    c.event(ClientEvent::Reclaimed { oid: G, result: Ok(Some(grant(Kind::Write, sid(6, 1)))) });
    assert_eq!(c.actions(), [ClientAction::ReclaimDone]);
    assert!(c.local(&Query::Write { oid: G, end: 2, bytes: 1 }));
    assert_eq!(c.h.held(G), Some((Kind::Write, sid(6, 1))));
    c.recall(G, sid(6, 0), false);
    assert_eq!(c.carry_out(), [Step::Flush, Step::DelegReturn], "its open was reclaimed");
}

#[test]
fn fc_24_what_was_being_returned_is_not_claimed_and_what_is_refused_is_lost() {
    let mut c = busy();
    c.holds(G, Kind::Read, sid(2, 1));
    c.recall(G, sid(2, 0), false);
    c.actions();
    c.event(ClientEvent::Restarted);
    let actions = c.actions();
    assert!(matches!(actions[0], ClientAction::Reclaim { oid: F, .. }), "{actions:?}");
    assert_eq!(actions[1..], [ClientAction::Forget { oid: G }]);
    c.event(ClientEvent::Reclaimed { oid: F, result: Err(Status::NoGrace) });
    let actions = c.actions();
    assert!(matches!(actions[0], ClientAction::Lost { oid: F, dirty: true, .. }), "{actions:?}");
    assert_eq!(actions[1..], [ClientAction::ReclaimDone]);
}

#[test]
fn fc_24_a_reclaim_that_brings_less_hands_over_what_that_does_not_cover() {
    for result in [Ok(None), Ok(Some(grant(Kind::Read, sid(5, 1))))] {
        let mut c = busy();
        c.event(ClientEvent::Restarted);
        c.actions();
        c.event(ClientEvent::Reclaimed { oid: F, result });
        let actions = c.actions();
        let ClientAction::Downgraded { dirty: true, locks, .. } = &actions[0] else { panic!("{actions:?}") };
        assert_eq!(locks[..], [lock(B, 5, 6, true)]);
    }
}

#[test]
fn fc_25_cb_recall_any_returns_the_least_used_and_takes_nothing_back() {
    let mut c = Client::new();
    for n in 0..20 {
        c.now += 1;
        c.holds(Oid(u128::from(n)), Kind::Read, sid(n, 1));
    }
    assert!(c.local(&open(Oid(0), A, READ)), "the oldest, but open");
    let any = |keep, mask| CbOp::RecallAny { keep, mask, beyond: false };
    assert_eq!(c.callback(any(5, 0b10), &[]), CbAnswer::Status(Status::Ok), "no write delegation is held");
    assert_eq!(c.actions(), []);
    assert_eq!(c.callback(any(5, 0b11), &[]), CbAnswer::Status(Status::Ok));
    assert_eq!(c.callback(any(9, 0b11), &[]), CbAnswer::Status(Status::Ok));
    c.carry_out();
    let kept: Vec<u128> = (0..20).filter(|n| c.h.held(Oid(*n)).is_some()).collect();
    assert_eq!(kept, [0, 16, 17, 18, 19]);
    assert_eq!(c.callback(any(0, 1 << 20), &[]), CbAnswer::Status(Status::Inval));
    assert_eq!(c.callback(any(0, 1 << 9), &[]), CbAnswer::Status(Status::Ok), "defined, though none of ours");
    let beyond = CbOp::RecallAny { keep: 0, mask: 1, beyond: true };
    assert_eq!(c.callback(beyond, &[]), CbAnswer::Status(Status::Inval));
    assert_eq!(c.h.len(), 5);
}
