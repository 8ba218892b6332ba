//! Grace and reclaim: RFC 8881 §8.4.2.1, §8.4.3, §18.51.

use super::*;

fn may(kit: &Kit, id: ClientId, reclaim: bool) -> Result<(), Status> {
    kit.state.may_lock(&kit.state.client(id).unwrap(), reclaim)
}

fn complete(kit: &Kit, id: ClientId) -> Result<(), Status> {
    kit.state.reclaim_complete(&kit.state.client(id).unwrap(), false)
}

/// A server that was restarted at 0 with these clients on record.
fn after_restart(names: &[&str]) -> Kit {
    let kit = Kit::new();
    for name in names {
        kit.client(at(0), name);
    }
    kit.restart(at(0))
}

#[test]
fn there_is_no_grace_where_nobody_is_on_record() {
    let kit = Kit::new();
    assert!(!kit.state.in_grace());
    let (id, _) = kit.client(at(0), "a");
    assert_eq!(may(&kit, id, false), Ok(()));
}

#[test]
fn grace_ends_as_soon_as_all_on_record_have_reclaimed() {
    let kit = after_restart(&["a", "b"]);
    assert!(kit.state.in_grace());
    let (a, _) = kit.fresh(at(1), "a");
    let (b, _) = kit.fresh(at(1), "b");
    complete(&kit, a).unwrap();
    assert!(kit.state.in_grace());
    assert_eq!(may(&kit, a, false), Err(Status::Grace));
    complete(&kit, b).unwrap();
    assert!(!kit.state.in_grace());
    assert_eq!(may(&kit, a, false), Ok(()));
}

#[test]
fn grace_ends_at_its_time_and_those_who_are_late_may_never_reclaim() {
    let kit = after_restart(&["a", "b"]);
    let (a, _) = kit.fresh(at(1), "a");
    complete(&kit, a).unwrap();
    assert_eq!(kit.state.next_deadline(at(2)), Some(at(LEASE)));
    kit.state.expire(at(LEASE - 1));
    assert!(kit.state.in_grace());
    kit.state.expire(at(LEASE));
    assert!(!kit.state.in_grace());
    assert_eq!(kit.on_record("b"), None);
    // Also not after another restart: the second edge condition.
    let kit = kit.restart(at(0));
    let (b, _) = kit.fresh(at(1), "b");
    assert_eq!(may(&kit, b, true), Err(Status::ReclaimBad));
}

#[test]
fn grace_goes_on_where_its_end_cannot_be_recorded() {
    let kit = after_restart(&["a"]);
    kit.shelf.fails.store(true, Ordering::SeqCst);
    kit.state.expire(at(LEASE));
    assert!(kit.state.in_grace());
    assert_eq!(kit.state.next_deadline(at(LEASE)), Some(at(LEASE + 1000)));
    kit.shelf.fails.store(false, Ordering::SeqCst);
    kit.state.expire(at(LEASE + 1000));
    assert!(!kit.state.in_grace());
}

#[test]
fn reclaims_are_for_clients_on_record_and_in_grace_only() {
    let kit = after_restart(&["a", "b"]);
    let (a, _) = kit.fresh(at(1), "a");
    let (stranger, _) = kit.fresh(at(1), "stranger");
    assert_eq!(may(&kit, a, true), Ok(()));
    assert_eq!(may(&kit, stranger, true), Err(Status::ReclaimBad));
    kit.state.expire(at(LEASE));
    assert_eq!(may(&kit, a, true), Err(Status::NoGrace));
}

#[test]
fn trap_22_before_its_reclaim_complete_a_client_gets_grace_also_after_grace() {
    let kit = Kit::new();
    let (id, _) = kit.fresh(at(0), "a");
    assert!(!kit.state.in_grace());
    assert_eq!(may(&kit, id, false), Err(Status::Grace));
    assert_eq!(may(&kit, id, true), Err(Status::NoGrace));
    complete(&kit, id).unwrap();
    assert_eq!(may(&kit, id, false), Ok(()));
}

#[test]
fn trap_22_a_reclaim_after_reclaim_complete_is_no_grace_also_in_grace() {
    let kit = after_restart(&["a", "b"]);
    let (a, _) = kit.fresh(at(1), "a");
    complete(&kit, a).unwrap();
    assert!(kit.state.in_grace());
    assert_eq!(may(&kit, a, true), Err(Status::NoGrace));
}

#[test]
fn trap_22_reclaim_complete_twice_is_complete_already() {
    let kit = Kit::new();
    let (id, _) = kit.client(at(0), "a");
    assert_eq!(complete(&kit, id), Err(Status::CompleteAlready));
}

#[test]
fn trap_22_reclaim_complete_of_one_file_system_changes_nothing() {
    let kit = Kit::new();
    let (id, _) = kit.fresh(at(0), "a");
    let client = kit.state.client(id).unwrap();
    assert_eq!(kit.state.reclaim_complete(&client, true), Ok(()));
    assert_eq!(kit.state.reclaim_complete(&client, true), Ok(()));
    assert_eq!(may(&kit, id, false), Err(Status::Grace));
    assert_eq!(complete(&kit, id), Ok(()));
    assert_eq!(kit.state.reclaim_complete(&client, true), Ok(()));
}

#[test]
fn reclaim_complete_counts_only_when_it_is_on_the_medium() {
    let kit = Kit::new();
    let (id, _) = kit.fresh(at(0), "a");
    kit.shelf.fails.store(true, Ordering::SeqCst);
    assert_eq!(complete(&kit, id), Err(Status::ServerFault));
    assert_eq!(may(&kit, id, false), Err(Status::Grace));
    kit.shelf.fails.store(false, Ordering::SeqCst);
    assert_eq!(complete(&kit, id), Ok(()));
}

#[test]
fn a_crash_during_grace_lets_everybody_reclaim_again() {
    let kit = after_restart(&["a", "b"]);
    let (a, _) = kit.fresh(at(1), "a");
    assert_eq!(may(&kit, a, true), Ok(()));
    let kit = kit.restart(at(0));
    for name in ["a", "b"] {
        let (id, _) = kit.fresh(at(1), name);
        assert_eq!(may(&kit, id, true), Ok(()), "{name}");
    }
}

#[test]
fn a_client_that_could_get_nothing_is_not_waited_for() {
    let kit = Kit::new();
    kit.fresh(at(0), "a");
    assert!(!kit.restart(at(0)).state.in_grace());
}

#[test]
fn a_new_incarnation_that_holds_nothing_yet_may_not_reclaim_after_a_crash() {
    let kit = Kit::new();
    kit.client(at(0), "a");
    let restart = kit.exchange(at(1), &owner("a", 2)).unwrap();
    kit.create(at(1), C1, restart).unwrap();
    assert_eq!(kit.on_record("a"), Some(false));
    assert!(!kit.restart(at(0)).state.in_grace());
}

#[test]
fn a_client_evicted_for_a_conflict_may_not_reclaim_after_a_restart() {
    let kit = Kit::new();
    let (a, _) = kit.client(at(0), "a");
    kit.client(at(LEASE), "b");
    kit.holder.hold(a);
    assert!(kit.state.evict_courtesy(at(LEASE + 1), a).unwrap());
    let kit = kit.restart(at(0));
    let (a, _) = kit.fresh(at(1), "a");
    assert_eq!(may(&kit, a, true), Err(Status::ReclaimBad));
}

#[test]
fn grace_0_is_no_grace_and_forgets_everybody() {
    let kit = Kit::new();
    kit.client(at(0), "a");
    let kit = Kit::boot(at(0), Settings { grace: Millis(0), ..settings() }, kit.shelf);
    assert!(!kit.state.in_grace());
    assert_eq!(kit.on_record("a"), None);
    let (a, _) = kit.fresh(at(1), "a");
    assert_eq!(may(&kit, a, true), Err(Status::NoGrace));
}

#[test]
fn a_client_on_record_that_destroys_its_id_is_not_waited_for() {
    let kit = after_restart(&["a"]);
    let (a, s) = kit.fresh(at(1), "a");
    kit.state.destroy_session(C1, &s, None).unwrap();
    kit.state.destroy_clientid(at(2), a).unwrap();
    assert!(!kit.state.in_grace());
}

#[test]
fn restart_reclaim_needed_is_told_until_reclaim_complete() {
    let kit = after_restart(&["a", "b"]);
    let (a, s) = kit.fresh(at(1), "a");
    assert_eq!(kit.run(at(2), s, 0, 1).flags, seq4::RESTART_RECLAIM_NEEDED);
    assert_eq!(kit.run(at(2), s, 0, 2).flags, seq4::RESTART_RECLAIM_NEEDED);
    complete(&kit, a).unwrap();
    assert_eq!(kit.run(at(2), s, 0, 3).flags, 0);
}

#[test]
fn grace_goes_on_while_somebody_reclaims_and_not_for_ever() {
    let kit = after_restart(&["a", "b"]);
    let _ = kit.fresh(at(1), "a");
    // Long before the end it changes nothing.
    kit.state.reclaiming(at(1));
    assert_eq!(kit.state.next_deadline(at(2)), Some(at(LEASE)));
    let mut now = LEASE - 100;
    while now < 2 * LEASE {
        kit.state.reclaiming(at(now));
        kit.state.expire(at(now));
        assert!(kit.state.in_grace(), "{now}");
        now += 900;
    }
    kit.state.reclaiming(at(2 * LEASE));
    kit.state.expire(at(2 * LEASE));
    assert!(!kit.state.in_grace());
}
