//! Leases and courtesy: RFC 8881 §8.3, §8.4.3.

use super::*;

#[test]
fn an_unconfirmed_record_goes_after_a_lease() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    assert_eq!(kit.state.next_deadline(at(0)), Some(at(LEASE + 1)));
    kit.state.expire(at(LEASE));
    assert!(kit.state.client(id.client).is_some());
    kit.state.expire(at(LEASE + 1));
    assert_eq!(kit.create(at(LEASE + 1), C1, id), Err(Status::StaleClientId));
    assert!(kit.holder.dropped().is_empty(), "it could hold nothing");
}

#[test]
fn trap_21_an_expired_lease_keeps_its_state_until_somebody_needs_it() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.holder.hold(id);
    for days in 1..4 {
        let done = kit.state.expire(at(days * 86_400_000));
        assert_eq!(done, Expired { removed: vec![], courtesy: vec![id] });
    }
    kit.run(at(4 * 86_400_000), s, 0, 1);
    assert_eq!(kit.state.expire(at(4 * 86_400_000)), Expired::default());
    assert!(kit.holder.dropped().is_empty());
}

#[test]
fn a_client_that_holds_nothing_goes_with_its_lease() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    assert_eq!(kit.state.expire(at(LEASE)), Expired::default());
    assert_eq!(kit.state.expire(at(LEASE + 1)).removed, [id]);
    assert_eq!(error(kit.seq(at(LEASE + 2), s, 0, 1, 1)), Status::BadSession);
    assert_eq!(kit.on_record("a"), None);
}

#[test]
fn s9_courtesy_ends_at_the_conflict_and_all_goes_at_once() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.holder.hold(id);
    assert_eq!(kit.state.evict_courtesy(at(LEASE), id), Ok(false), "it is alive");
    assert_eq!(kit.state.evict_courtesy(at(LEASE + 1), id), Ok(true));
    assert_eq!(kit.holder.dropped(), [(id, Why::Expired)]);
    assert_eq!(kit.on_record("a"), None, "no restart lets it reclaim");
    assert_eq!(error(kit.seq(at(LEASE + 2), s, 0, 1, 1)), Status::BadSession);
    let old = ExchangedId { client: id, sequence: 2, flags: 0 };
    assert_eq!(kit.create(at(LEASE + 2), C1, old), Err(Status::StaleClientId));
    assert_eq!(kit.state.evict_courtesy(at(LEASE + 2), id), Ok(true), "nothing is in the way");
}

#[test]
fn a_conflict_is_not_granted_where_the_record_cannot_be_removed() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.holder.hold(id);
    kit.shelf.fails.store(true, Ordering::SeqCst);
    assert_eq!(kit.state.evict_courtesy(at(LEASE + 1), id), Err(Status::ServerFault));
    assert!(kit.holder.dropped().is_empty());
    kit.run(at(LEASE + 2), s, 0, 1);
}

#[test]
fn a_request_in_progress_keeps_the_lease() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    kit.holder.hold(id);
    let running = new(kit.seq(at(1), s, 0, 1, 1));
    assert_eq!(kit.state.evict_courtesy(at(10 * LEASE), id), Ok(false));
    assert_eq!(kit.state.expire(at(10 * LEASE)), Expired::default());
    running.finish(at(10 * LEASE), &reply(1), true);
    assert_eq!(kit.state.evict_courtesy(at(11 * LEASE), id), Ok(false), "it starts anew at the end");
    assert_eq!(kit.state.evict_courtesy(at(11 * LEASE + 1), id), Ok(true));
}

#[test]
fn a_compound_that_still_runs_sees_that_its_client_is_gone() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(0), "a");
    let running = new(kit.seq(at(1), s, 0, 1, 1));
    assert!(!running.client().is_gone());
    let restart = kit.exchange(at(2), &owner("a", 2)).unwrap();
    kit.create(at(3), C2, restart).unwrap();
    assert!(running.client().is_gone());
    running.finish(at(4), &reply(1), true);
    assert!(kit.state.client(id).is_none());
}

#[test]
fn s7_a_time_that_goes_back_ends_no_lease_and_lengthens_none() {
    let kit = Kit::new();
    let (id, s) = kit.client(at(1_000_000), "a");
    kit.run(at(1_000_000), s, 0, 1);
    kit.run(at(1000), s, 0, 2);
    assert!(!kit.state.is_expired(at(0), id));
    assert!(!kit.state.is_expired(at(1_000_000 + LEASE), id));
    assert!(kit.state.is_expired(at(1_000_001 + LEASE), id));
}

#[test]
fn the_next_deadline_is_the_first_lease_that_is_not_over() {
    let kit = Kit::new();
    assert_eq!(kit.state.next_deadline(at(0)), None);
    let (a, _) = kit.client(at(0), "a");
    kit.holder.hold(a);
    kit.client(at(500), "b");
    assert_eq!(kit.state.next_deadline(at(600)), Some(at(LEASE + 1)));
    assert_eq!(kit.state.next_deadline(at(LEASE + 1)), Some(at(500 + LEASE + 1)));
}

#[test]
fn evictions_and_renewals_at_once_never_lose_a_client_that_was_answered() {
    for round in 0..200 {
        let kit = Kit::new();
        let (id, s) = kit.client(at(0), "a");
        kit.holder.hold(id);
        let late = at(LEASE + 1);
        let (evicted, ran) = std::thread::scope(|scope| {
            let evict = scope.spawn(|| kit.state.evict_courtesy(late, id).unwrap());
            let ran = kit.seq(late, s, 0, 1, round).map(|turn| match turn {
                Turn::New(guard) => guard.finish(late, &reply(1), true),
                other @ (Turn::Replay(_) | Turn::Wait(_)) => panic!("{other:?}"),
            });
            (evict.join().unwrap(), ran)
        });
        // Answered and evicted: only where the request was over before.
        assert_eq!(kit.holder.dropped().len(), usize::from(evicted));
        if evicted {
            assert!(kit.state.client(id).is_none());
            assert_eq!(ran, Err(Status::BadSession));
            assert_eq!(kit.on_record("a"), None);
        } else {
            assert_eq!(ran, Ok(()));
            assert_eq!(kit.on_record("a"), Some(true));
        }
    }
}
