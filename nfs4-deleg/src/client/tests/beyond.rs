//! What the numbered scenarios leave out.

use super::*;

#[test]
fn a_grant_validates_no_older_copy() {
    let mut c = Client::new();
    let before = at(c.now);
    c.now += 10;
    c.holds(F, Kind::Read, sid(1, 1));
    let read = |copy| Query::Read { oid: F, copy };
    assert_eq!(c.ask(&read(Copy::Sent(before))), Serve::Ask(WhyNot::NotValidated));
    assert_eq!(c.ask(&read(Copy::Change(99))), Serve::Ask(WhyNot::NotValidated));
    assert!(c.local(&read(Copy::Change(100))), "the OPEN's own GETATTR says that it is the same");
    assert!(c.local(&read(Copy::Sent(at(c.now)))));
}

#[test]
fn attributes_wait_for_own_changes() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let fetched = at(c.now);
    let stat = |copy| Query::Attrs { oid: F, copy, access_time: false };
    assert!(c.local(&stat(Copy::Sent(fetched))));
    let call = c.send_io(F, true);
    assert_eq!(c.ask(&stat(Copy::Sent(fetched))), Serve::Ask(WhyNot::OwnChange));
    c.now += 5;
    assert_eq!(c.reply(call, &OwnReply::Done), Advice::Done);
    assert_eq!(c.ask(&stat(Copy::Sent(fetched))), Serve::Ask(WhyNot::NotValidated));
    assert_eq!(c.ask(&stat(Copy::Change(100))), Serve::Ask(WhyNot::NotValidated));
    assert!(c.local(&stat(Copy::Sent(at(c.now)))));
}

#[test]
fn access_time_is_served_only_where_it_is_delegated() {
    for times in [false, true] {
        let mut c = Client::new();
        c.granted(F, None, Grant { times, ..grant(Kind::Read, sid(1, 1)) });
        assert_eq!(c.local(&Query::Attrs { oid: F, copy: Copy::Change(100), access_time: true }), times);
    }
}

#[test]
fn an_open_needs_somebodys_word_that_the_user_may() {
    let mut c = Client::new();
    let ace = Ace::from_wire(0, 0, 1, "u@d");
    assert!(ace.is_some());
    c.granted(F, None, Grant { ace, ..grant(Kind::Write, sid(1, 1)) });
    let by = |who, allowed, share| Query::Open {
        oid: F,
        owner: A,
        share,
        who,
        allowed,
        create: false,
        truncate: false,
    };
    assert!(c.local(&by("u@d", false, READ)));
    assert_eq!(c.ask(&by("v@d", false, READ)), Serve::Ask(WhyNot::Access));
    assert_eq!(c.ask(&by("u@d", false, WRITE)), Serve::Ask(WhyNot::Access));
    assert!(c.local(&by("v@d", true, READ)));
}

#[test]
fn an_ace_that_says_nothing_clear_says_ask() {
    assert_eq!(Ace::from_wire(0, 0, 0, ""), None, "as Linux sends it");
    assert_eq!(Ace::from_wire(1, 0, 3, "u@d"), None, "DENY");
    assert_eq!(Ace::from_wire(0, 0x40, 3, "staff@d"), None, "a group");
    assert_eq!(Ace::from_wire(0, 0, 3, "OWNER@"), None);
    assert!(Ace::from_wire(0, 0, 3, "EVERYONE@").is_some_and(|ace| ace.allows("anybody", BOTH)));
}

#[test]
fn own_opens_and_locks_conflict_among_themselves() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    assert!(c.local(&open(F, A, Share { deny_write: true, ..READ })));
    assert_eq!(c.ask(&open(F, B, WRITE)), Serve::Denied);
    assert!(c.local(&open(F, B, READ)));
    assert!(c.local(&Query::Lock { oid: F, lock: lock(A, 0, 9, true) }));
    assert_eq!(c.ask(&Query::Lock { oid: F, lock: lock(B, 9, 20, false) }), Serve::Denied);
    assert_eq!(c.ask(&Query::LockTest { oid: F, lock: lock(B, 0, 0, false) }), Serve::Denied);
    assert!(c.local(&Query::Unlock { oid: F, owner: A, start: 5, last: 9 }));
    assert!(c.local(&Query::Lock { oid: F, lock: lock(B, 5, 20, false) }));
}

#[test]
fn a_return_waits_for_own_operations_under_it() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let call = c.send_io(F, false);
    c.recall(F, sid(1, 0), false);
    assert_eq!(c.steps(), []);
    assert_eq!(c.reply(call, &OwnReply::Done), Advice::Done);
    assert_eq!(c.carry_out(), [Step::DelegReturn]);
    assert_eq!(c.h.stateid(F, false), None);
}

#[test]
fn a_reply_that_comes_after_the_return_resurrects_nothing() {
    let mut c = Client::new();
    let first = c.send_open(Some(F), 1);
    let second = c.send_open(Some(F), 2);
    let reply =
        |kind, seqid| OwnReply::Opened { oid: F, open: None, grant: Some(grant(kind, sid(1, seqid))) };
    c.reply(second, &reply(Kind::Write, 2));
    c.recall(F, sid(1, 0), false);
    c.carry_out();
    c.reply(first, &reply(Kind::Read, 1));
    assert_eq!(c.h.held(F), None);
    assert_eq!(c.h.counts().stale, 1);
}

#[test]
fn a_grant_that_overtakes_the_reply_to_the_return_is_kept() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    c.recall(F, sid(1, 0), false);
    let steps = c.steps();
    c.holds(F, Kind::Read, sid(2, 1));
    assert_eq!(c.h.counts().duplicates, 0, "no mistake of the server");
    c.done(steps[0].0, Status::Ok);
    assert_eq!(c.h.held(F), Some((Kind::Read, sid(2, 1))));
}

#[test]
fn idle_delegations_go_back_and_open_ones_stay() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    c.holds(G, Kind::Read, sid(2, 1));
    assert!(c.local(&open(G, A, READ)));
    assert_eq!(c.h.poll_timeout(), Some(at(c.now + 90_000)));
    c.sleep(90_000);
    assert_eq!(c.carry_out(), [Step::DelegReturn]);
    assert_eq!((c.h.held(F), c.h.len()), (None, 1));
    assert_eq!(c.h.poll_timeout(), None);
}

#[test]
fn beyond_the_limit_the_least_recently_used_goes_back() {
    let mut c = Client::with(Config { holdings: 2, ..Config::default() });
    for n in 1..=3_u8 {
        c.now += 1;
        c.holds(Oid(u128::from(n)), Kind::Read, sid(n, 1));
        if n == 2 {
            c.now += 1;
            assert!(c.local(&Query::Read { oid: Oid(1), copy: Copy::Own }));
        }
    }
    c.carry_out();
    assert!(c.h.held(Oid(1)).is_some() && c.h.held(Oid(2)).is_none() && c.h.held(Oid(3)).is_some());
}

#[test]
fn a_closed_open_that_the_server_knows_is_closed_before_the_return() {
    let mut c = Client::new();
    let known = |share| Some(Opened { owner: A, share, on_server: true });
    c.granted(F, known(READ), grant(Kind::Write, sid(1, 1)));
    assert!(c.local(&Query::Close { oid: F, owner: A, share: READ }));
    assert_eq!(c.actions(), [], "at leisure");
    c.recall(F, sid(1, 0), false);
    assert_eq!(c.carry_out(), [Step::Close { owner: A }, Step::DelegReturn]);
    // Half of it still in use.
    c.granted(G, known(BOTH), grant(Kind::Write, sid(2, 1)));
    assert!(c.local(&open(G, A, READ)));
    assert!(c.local(&Query::Close { oid: G, owner: A, share: BOTH }));
    c.recall(G, sid(2, 0), false);
    let expected =
        [Step::Open(opened(A, READ)), Step::Downgrade { owner: A, share: READ }, Step::DelegReturn];
    assert_eq!(c.carry_out(), expected);
}

#[test]
fn an_open_by_delegation_alone_is_made_real_at_the_recall() {
    let mut c = Client::new();
    c.granted(F, Some(opened(A, BOTH)), grant(Kind::Write, sid(1, 1)));
    c.recall(F, sid(1, 0), false);
    assert_eq!(c.carry_out(), [Step::Open(opened(A, BOTH)), Step::DelegReturn]);
}

#[test]
fn an_error_of_a_step_is_its_users_and_never_keeps_the_delegation() {
    let mut c = busy();
    c.recall(F, sid(1, 0), false);
    let flush = c.steps();
    c.done(flush[0].0, Status::NoSpc);
    let opens = c.steps();
    c.done(opens[0].0, Status::Delay);
    c.done(opens[1].0, Status::Access);
    let lost = c.actions();
    assert!(matches!(lost[..], [ClientAction::OpenLost { status: Status::Access, .. }]), "{lost:?}");
    c.sleep(100);
    assert_eq!(
        c.carry_out(),
        [Step::Open(opened(A, READ)), Step::Lock(lock(B, 5, 6, true)), Step::DelegReturn]
    );
}

#[test]
fn a_bad_stateid_is_tried_once_more_where_an_upgrade_may_explain_it() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let upgrade = c.send_open(Some(F), 1);
    let call = c.send_io(F, false);
    assert_eq!(c.reply(call, &OwnReply::Failed(Status::BadStateId)), Advice::Again);
    let call = c.send_io(F, false);
    assert_eq!(c.reply(call, &OwnReply::Failed(Status::BadStateId)), Advice::Lost);
    assert_eq!(c.h.held(F), None);
    c.reply(upgrade, &OwnReply::Failed(Status::Access));
    let actions = c.actions();
    assert!(matches!(actions[..], [ClientAction::Lost { .. }]), "nothing to free: {actions:?}");
}

#[test]
fn with_the_back_channel_down_write_delegations_go_first() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    c.holds(G, Kind::Read, sid(2, 1));
    assert!(c.local(&open(G, A, READ)));
    c.sequence(SeqStatusFlags::CB_PATH_DOWN);
    c.sleep(LEASE / 4);
    assert_eq!((c.carry_out().len(), c.h.held(F)), (1, None));
    c.sequence(SeqStatusFlags::empty());
    c.sleep(LEASE / 2);
    assert_eq!(c.h.len(), 1, "it came back");
    c.event(ClientEvent::BackChannel { up: false });
    c.sequence(SeqStatusFlags::empty());
    c.sleep(LEASE / 2);
    c.carry_out();
    assert_eq!(c.h.len(), 0);
}

#[test]
fn what_denies_locally_is_bounded() {
    let mut c = Client::with(Config { opens: 2, locks: 1, ..Config::default() });
    c.holds(F, Kind::Write, sid(1, 1));
    assert!(c.local(&open(F, A, READ)) && c.local(&open(F, B, READ)) && c.local(&open(F, A, READ)));
    assert_eq!(c.ask(&open(F, OwnerKey(3), READ)), Serve::Ask(WhyNot::Full));
    assert!(c.local(&Query::Lock { oid: F, lock: lock(A, 0, 1, true) }));
    assert_eq!(c.ask(&Query::Lock { oid: F, lock: lock(A, 5, 6, true) }), Serve::Ask(WhyNot::Full));
}

#[test]
fn callbacks_that_wait_are_bounded() {
    let mut c = Client::with(Config { parked: 1, ..Config::default() });
    c.send_open(None, 3);
    let cb = CbOp::Recall { oid: None, stateid: sid(1, 0), truncate: false };
    assert!(matches!(c.callback(cb, &[triple(3)]), CbAnswer::Later(_)));
    assert_eq!(c.callback(cb, &[triple(3)]), CbAnswer::Status(Status::Delay));
}
