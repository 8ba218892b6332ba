//! Wants: pushed, signalled, cancelled.

use super::*;

/// WANT_DELEGATION: under a permit that needs nothing.
fn wants(w: &mut World, want: &Want) -> Result<Grant, Refusal> {
    let permit = w.goes(want.client, &Intent::Create { dir: G });
    let answer = w.m.grant(w.now, &permit, want);
    w.m.commit(w.now, permit, &[]);
    w.m.check_invariants().unwrap();
    answer
}

fn pushed(w: &mut World) -> (CbId, Grant) {
    let out = w.out();
    let [Action::Push { cb, client: B, grant, .. }] = out[..] else { panic!("{out:?}") };
    (cb, grant)
}

#[test]
fn fs_41_what_was_wanted_is_pushed_when_the_holder_returns() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let want = Want { push: true, ..w.want(B, READ, Wanted::Read) };
    assert_eq!(wants(&mut w, &want), Err(Refusal::Contention { will_push: true }));
    assert_eq!(w.out(), [], "a wish recalls nobody");
    w.back(A, a).unwrap();
    let (cb, grant) = pushed(&mut w);
    assert_eq!((grant.kind, grant.deleg.seqid), (Kind::Read, 1));
    w.done(cb, CbOutcome::Ok);
    assert!(w.m.check(B, grant.deleg, F, false).is_ok());
    assert!(!w.m.already_wanted(B, F));
}

#[test]
fn fs_42_a_push_may_be_put_off_and_rejected() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let want = Want { push: true, ..w.want(B, READ, Wanted::Read) };
    assert!(wants(&mut w, &want).is_err());
    w.back(A, a).unwrap();
    let (cb, _) = pushed(&mut w);
    w.done(cb, CbOutcome::Delay);
    assert!(w.m.is_empty() && w.m.already_wanted(B, F));
    w.go_on(2_000);
    let (cb, _) = pushed(&mut w);
    w.done(cb, CbOutcome::Rejected);
    assert!(w.m.is_empty() && !w.m.already_wanted(B, F));
}

#[test]
fn fs_43_room_is_signalled() {
    let mut w = World::with(Config { delegations: 1, ..calm() });
    let a = w.holds(A, Kind::Read);
    let want = Want { signal: true, ..w.want(B, READ, Wanted::Read) };
    assert_eq!(w.open_with(&want), Err(Refusal::Resource { will_signal: true }));
    w.back(A, a).unwrap();
    assert_eq!(w.out(), [Action::Available { client: B, kind: Kind::Read }]);
    assert!(w.open(B, READ, Wanted::Read).is_ok());
}

#[test]
fn fs_44_a_second_want_is_refused_and_wants_are_cancelled() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let want = Want { push: true, ..w.want(B, READ, Wanted::Read) };
    assert!(wants(&mut w, &want).is_err());
    assert_eq!(wants(&mut w, &want), Err(Refusal::AlreadyWanted));
    assert_eq!(w.m.state_of(B), (0, 1));
    let cancel = Want { wanted: Wanted::Cancel, ..want };
    assert_eq!(wants(&mut w, &cancel), Err(Refusal::Cancelled));
    assert!(!w.m.already_wanted(B, F));
    assert!(wants(&mut w, &want).is_err());
    w.event(Event::DropWants(B));
    assert_eq!(w.out(), [Action::WantsCancelled { client: B, contended: true, resourced: false }]);
    w.back(A, a).unwrap();
    assert_eq!(w.out(), [], "no push later");
}

#[test]
fn what_is_needed_while_it_is_being_pushed_is_recalled_once_it_is_taken() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let want = Want { push: true, ..w.want(B, READ, Wanted::Read) };
    assert!(wants(&mut w, &want).is_err());
    w.back(A, a).unwrap();
    let (cb, _) = pushed(&mut w);
    w.waits(C, &open_intent(WRITE));
    assert_eq!(w.out(), []);
    w.done(cb, CbOutcome::Ok);
    assert_eq!(w.recalls().len(), 1);
}
