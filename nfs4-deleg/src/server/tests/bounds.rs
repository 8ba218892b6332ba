//! Permits, opens, bounds.

use super::*;

#[test]
fn a_permit_stands_until_it_is_committed_or_abandoned() {
    let mut w = World::new();
    let (a, b) = (w.goes(A, &Intent::Write { oid: F }), w.goes(B, &Intent::Write { oid: F }));
    assert_eq!(w.m.permits(), 2, "permits exclude grants, not each other");
    w.m.commit(w.now, a, &[]);
    w.m.abandon(w.now, b);
    assert_eq!(w.m.permits(), 0);
}

#[test]
fn beyond_the_bound_of_permits_an_operation_is_delayed() {
    let mut w = World::with(Config { permits: 1, ..calm() });
    let a = w.goes(A, &Intent::Write { oid: F });
    assert!(matches!(w.admit(A, &Intent::Write { oid: G }), Admit::Delay));
    w.m.abandon(w.now, a);
    w.does(A, &Intent::Write { oid: G });
}

#[test]
fn beyond_the_bound_of_waiters_an_operation_is_delayed() {
    let mut w = World::with(Config { waiters: 2, waiters_per_object: 1, ..calm() });
    w.holds(A, Kind::Read);
    w.waits(B, &Intent::Write { oid: F });
    assert!(matches!(w.admit(C, &Intent::Write { oid: F }), Admit::Delay));
}

#[test]
fn opens_are_counted_by_object_and_client() {
    let mut w = World::new();
    w.m.effect(Effect::Closed { oid: F, client: A, write: true });
    w.m.effect(Effect::Opened { oid: F, client: A, write: false });
    w.m.effect(Effect::Opened { oid: F, client: A, write: true });
    assert!(!w.m.open_elsewhere(F, A) && w.m.open_elsewhere(F, B) && w.m.written_elsewhere(F, B));
    w.m.effect(Effect::Closed { oid: F, client: A, write: true });
    assert!(w.m.open_elsewhere(F, B) && !w.m.written_elsewhere(F, B));
    w.m.effect(Effect::Closed { oid: F, client: A, write: false });
    assert!(!w.m.open_elsewhere(F, B));
}

#[test]
fn near_the_bound_whoever_holds_most_is_asked_for_some() {
    let mut w = World::with(Config { delegations: 20, ..calm() });
    for oid in 100..118 {
        let want = Want { oid: Oid(oid), ..w.want(A, READ, Wanted::Read) };
        w.open_with(&want).unwrap();
    }
    assert_eq!(w.out(), [Action::RecallAny { client: A, keep: 13 }]);
}

#[test]
fn a_machine_of_none_grants_nothing() {
    let mut w = World::with(Config::none());
    assert!(w.open(A, READ, Wanted::Read).is_err() && w.open(A, WRITE, Wanted::Write).is_err());
    assert!(w.m.is_empty());
}
