//! Stateids, recalls, revocation, recovery.

use super::*;

#[test]
fn fs_25_to_28_what_a_stateid_covers() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.m.check(A, a, F, true), Err(Status::OpenMode));
    assert!(w.m.check(A, DelegRef { seqid: 0, ..a }, F, false).is_ok());
    assert_eq!(w.m.check(A, DelegRef { seqid: 7, ..a }, F, false), Err(Status::BadStateId));
    assert_eq!(w.m.check(B, a, F, false), Err(Status::BadStateId));
    assert_eq!(w.m.check(A, a, G, false), Err(Status::BadStateId));
}

#[test]
fn fs_29_30_32_who_does_not_return_is_revoked_after_a_lease_until_freed() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.m.free(w.now, A, a.id), Err(Status::LocksHeld));
    let id = w.waits(B, &open_intent(WRITE));
    let recalls = w.recalls();
    w.done(recalls[0].1, CbOutcome::Ok);
    w.go_on(20_000);
    assert_eq!(w.out(), [Action::GiveUp(id)], "patience ends before the lease");
    w.go_on(60_000);
    let id = w.waits(B, &open_intent(WRITE));
    assert_eq!(w.out(), [], "one recall");
    w.go_on(10_000);
    let revoked = Action::Revoked { client: A, id: a.id, cause: Cause::Late };
    assert_eq!(w.out(), [revoked, Action::Resume(id)]);
    assert_eq!(w.m.check(A, a, F, false), Err(Status::DelegRevoked));
    assert_eq!(w.back(A, a), Err(Status::DelegRevoked));
    assert_eq!(w.m.flags(A), SeqStatusFlags::RECALLABLE_STATE_REVOKED);
    assert_eq!(w.m.test(A, a), Err(Status::DelegRevoked));
    w.m.forget(w.now, id);
    assert_eq!(w.open(A, READ, Wanted::Read), Err(Refusal::Resource { will_signal: false }));
    assert_eq!(w.m.free(w.now, A, a.id), Ok(()));
    assert_eq!((w.m.test(A, a), w.m.flags(A)), (Err(Status::BadStateId), SeqStatusFlags::empty()));
}

#[test]
fn fs_31_nobody_gets_a_delegation_before_whoever_waits() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    let id = w.waits(B, &open_intent(WRITE));
    assert_eq!(w.open(C, READ, Wanted::Read), Err(grant::CONTENTION));
    w.close(C, READ);
    w.back(A, a).unwrap();
    assert_eq!(w.open(C, READ, Wanted::Read), Err(grant::CONTENTION), "resumed, but not back yet");
    w.close(C, READ);
    let Admit::Permit(permit) = w.m.admit_again(w.now, id) else { panic!() };
    assert_eq!(w.open(C, READ, Wanted::Read), Err(grant::CONTENTION), "running");
    w.m.commit(w.now, permit, &[]);
}

#[test]
fn fs_33_a_recall_is_repeated_later_and_later_and_its_deadline_stands() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.waits(B, &open_intent(WRITE));
    let first = w.recalls();
    w.done(first[0].1, CbOutcome::Delay);
    w.go_on(2_000);
    let second = w.recalls();
    w.done(second[0].1, CbOutcome::Lost);
    w.go_on(2_000);
    assert_eq!(w.recalls(), []);
    w.go_on(2_000);
    let third = w.recalls();
    w.done(first[0].1, CbOutcome::Unknown);
    assert_eq!(w.m.len(), 1, "the answer to a callback that is over");
    w.done(third[0].1, CbOutcome::Ok);
    w.go_on(83_999);
    assert!(w.m.check(A, a, F, false).is_ok());
    w.go_on(1);
    assert_eq!(w.m.check(A, a, F, false), Err(Status::DelegRevoked));
}

#[test]
fn fs_34_35_a_client_is_believed_once_it_has_seen_the_grant() {
    let mut w = World::new();
    let granted = w.open(A, READ, Wanted::Read).unwrap();
    let call = w.call();
    w.close(A, READ);
    let id = w.waits(B, &open_intent(WRITE));
    let out = w.out();
    let [Action::Recall { cb, referring: Some(refers), .. }] = out[..] else { panic!("{out:?}") };
    assert_eq!(refers, call);
    w.done(cb, CbOutcome::Unknown);
    assert!(w.m.check(A, granted.deleg, F, false).is_ok());
    w.event(Event::ReplySeen { client: A, call });
    w.go_on(2_000);
    let out = w.out();
    let [Action::Recall { cb, referring: None, .. }] = out[..] else { panic!("{out:?}") };
    w.done(cb, CbOutcome::Unknown);
    assert_eq!((w.m.len(), w.m.flags(A)), (0, SeqStatusFlags::empty()));
    assert_eq!(w.out(), [Action::Resume(id)]);
}

#[test]
fn fs_36_37_38_in_grace_only_what_was_held_is_granted() {
    let mut w = World::new();
    w.event(Event::Grace(true));
    let want = Want { claim: Claim::Previous(Kind::Write), ..w.want(A, READ, Wanted::NoPreference) };
    assert!(w.open_with(&want).is_ok_and(|g| g.kind == Kind::Write && !g.recall));
    let current = Want { claim: Claim::Current, ..w.want(A, READ, Wanted::NoPreference) };
    assert_eq!(w.open_with(&current), Err(grant::CONTENTION), "it goes on, and brings no second one");
    let fresh = Want { oid: G, ..w.want(A, READ, Wanted::Read) };
    assert!(w.open_with(&fresh).is_err());
    w.event(Event::ReclaimComplete(A));
    let late = Want { oid: Oid(9), claim: Claim::Previous(Kind::Read), ..fresh };
    assert!(w.open_with(&late).is_err());
    w.event(Event::Grace(false));
    let late = Want { client: B, ..late };
    assert!(w.open_with(&late).is_err());
}

#[test]
fn fs_39_a_lease_that_passed_costs_no_wait() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.event(Event::Expired(A));
    assert_eq!(w.out(), [], "kept until somebody needs it");
    w.does(B, &open_intent(WRITE));
    assert_eq!(w.out(), [Action::Revoked { client: A, id: a.id, cause: Cause::Expired }]);
    w.event(Event::Renewed(A));
    assert_eq!(w.m.check(A, a, F, false), Err(Status::Expired));
    assert_eq!(w.m.flags(A), SeqStatusFlags::EXPIRED_SOME_STATE_REVOKED);
}

#[test]
fn an_administrator_takes_one() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let id = w.waits(B, &Intent::Read { oid: F });
    w.out();
    w.event(Event::AdminRevoke(a.id));
    let revoked = Action::Revoked { client: A, id: a.id, cause: Cause::Admin };
    assert_eq!(w.out(), [revoked, Action::Resume(id)]);
    assert_eq!(w.m.flags(A), SeqStatusFlags::ADMIN_STATE_REVOKED);
}

#[test]
fn x_14_the_seqid_after_the_last_is_one() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.m.held.get_mut(a.id).unwrap().seqid = u32::MAX;
    let up = w.open(A, WRITE, Wanted::Write).unwrap();
    assert_eq!(up.deleg, DelegRef { seqid: 1, ..a });
    let old = DelegRef { seqid: u32::MAX, ..a };
    assert_eq!(w.m.check(A, old, F, false), Err(Status::OldStateId));
}

#[test]
fn a_file_is_left_alone_for_a_while_after_a_recall() {
    let mut w = World::with(Config::default());
    let a = w.holds(A, Kind::Read);
    let id = w.waits(B, &open_intent(WRITE));
    w.m.forget(w.now, id);
    w.back(A, a).unwrap();
    assert_eq!(w.open(A, READ, Wanted::Read), Err(grant::CONTENTION));
    w.go_on(30_000);
    assert!(w.open(A, READ, Wanted::Read).is_ok());
}
