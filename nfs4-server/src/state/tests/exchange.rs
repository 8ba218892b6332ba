//! RFC 8881 §18.35.4, case by case.

use super::*;

#[test]
fn case_1_a_new_owner_gets_a_new_unconfirmed_client_id() {
    let kit = Kit::new();
    let a = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let b = kit.exchange(at(0), &owner("b", 1)).unwrap();
    assert_ne!(a.client, b.client);
    assert_eq!(a.flags, exchgid::USE_NON_PNFS);
}

#[test]
fn case_2_the_same_incarnation_gets_the_same_client_id_confirmed() {
    let kit = Kit::new();
    let (id, session) = kit.client(at(0), "a");
    let again = kit.exchange(at(1), &owner("a", 1)).unwrap();
    assert_eq!(again.client, id);
    assert_eq!(again.flags, exchgid::USE_NON_PNFS | exchgid::CONFIRMED_R);
    kit.run(at(2), session, 0, 1);
    // The sequence is that of the next CREATE_SESSION.
    kit.create(at(3), C1, again).unwrap();
}

#[test]
fn case_2_voids_a_restart_that_was_not_confirmed() {
    let kit = Kit::new();
    let (id, _) = kit.client(at(0), "a");
    let restart = kit.exchange(at(1), &owner("a", 2)).unwrap();
    assert_eq!(kit.exchange(at(2), &owner("a", 1)).unwrap().client, id);
    assert_eq!(kit.create(at(3), C1, restart), Err(Status::StaleClientId));
}

#[test]
fn case_3_another_principal_is_refused_while_there_is_state() {
    let kit = Kit::new();
    let (id, session) = kit.client(at(0), "a");
    kit.holder.hold(id);
    for verifier in [1, 2] {
        assert_eq!(kit.exchange(at(1), &other(owner("a", verifier))), Err(Status::ClidInUse));
    }
    assert!(kit.holder.dropped().is_empty());
    kit.run(at(2), session, 0, 1);
}

#[test]
fn case_3_an_idle_session_protects_the_name_too() {
    let kit = Kit::new();
    kit.client(at(0), "a");
    assert_eq!(kit.exchange(at(1), &other(owner("a", 1))), Err(Status::ClidInUse));
}

#[test]
fn case_3_another_principal_takes_the_name_of_a_client_without_state() {
    let kit = Kit::new();
    let (id, session) = kit.client(at(0), "a");
    kit.state.destroy_session(C1, &session, None).unwrap();
    let taken = kit.exchange(at(1), &other(owner("a", 1))).unwrap();
    assert_ne!(taken.client, id);
    assert_eq!(taken.flags & exchgid::CONFIRMED_R, 0);
    assert!(kit.state.client(id).is_none());
    assert_eq!(kit.holder.dropped(), [(id, Why::Replaced)]);
}

#[test]
fn case_3_another_principal_takes_the_name_when_the_lease_is_over() {
    let kit = Kit::new();
    let (id, session) = kit.client(at(0), "a");
    kit.holder.hold(id);
    assert_eq!(kit.exchange(at(LEASE), &other(owner("a", 1))), Err(Status::ClidInUse));
    kit.exchange(at(LEASE + 1), &other(owner("a", 1))).unwrap();
    assert_eq!(kit.holder.dropped(), [(id, Why::Replaced)]);
    assert_eq!(error(kit.seq(at(LEASE + 2), session, 0, 1, 1)), Status::BadSession);
    assert_eq!(kit.on_record("a"), None);
}

#[test]
fn case_4_an_unconfirmed_record_is_replaced_by_whoever_asks() {
    let kit = Kit::new();
    let first = kit.exchange(at(0), &owner("a", 1)).unwrap();
    for args in [owner("a", 1), owner("a", 2), other(owner("a", 1))] {
        let next = kit.exchange(at(1), &args).unwrap();
        assert_ne!(next.client, first.client);
    }
    assert_eq!(kit.create(at(2), C1, first), Err(Status::StaleClientId));
    assert_eq!(kit.state.clients_used(), 1);
}

#[test]
fn case_5_a_restart_takes_effect_with_create_session_and_not_before() {
    let kit = Kit::new();
    let (old, session) = kit.client(at(0), "a");
    kit.holder.hold(old);
    let restart = kit.exchange(at(1), &owner("a", 2)).unwrap();
    assert_ne!(restart.client, old);
    assert_eq!(restart.flags & exchgid::CONFIRMED_R, 0);
    kit.run(at(2), session, 0, 1);
    assert!(kit.holder.dropped().is_empty());

    kit.create(at(3), C2, restart).unwrap();
    assert_eq!(kit.holder.dropped(), [(old, Why::Restarted)]);
    assert!(kit.state.client(old).is_none());
    assert_eq!(error(kit.seq(at(4), session, 0, 2, 2)), Status::BadSession);
}

#[test]
fn case_5_two_incarnations_in_turn_never_share_a_client_id() {
    let kit = Kit::new();
    let mut seen = BTreeSet::new();
    for n in 0..10 {
        let id = kit.exchange(at(n), &owner("twin", 1 + (n % 2) as u8)).unwrap();
        kit.create(at(n), C1, id).unwrap();
        assert!(seen.insert(id.client.0));
    }
    assert_eq!(kit.state.clients_used(), 1);
}

#[test]
fn case_6_an_update_leaves_the_record_and_says_confirmed() {
    let kit = Kit::new();
    let (id, _) = kit.client(at(0), "a");
    let updated = kit.exchange(at(1), &update("a", 1)).unwrap();
    assert_eq!(updated.client, id);
    assert_eq!(updated.flags, exchgid::USE_NON_PNFS | exchgid::CONFIRMED_R);
}

#[test]
fn case_7_an_update_without_confirmed_record_is_noent_and_keeps_the_unconfirmed_one() {
    let kit = Kit::new();
    assert_eq!(kit.exchange(at(0), &update("a", 1)), Err(Status::NoEnt));
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    assert_eq!(kit.exchange(at(1), &update("a", 1)), Err(Status::NoEnt));
    kit.create(at(2), C1, id).unwrap();
}

#[test]
fn case_8_an_update_with_another_verifier_is_not_same_whoever_sends_it() {
    let kit = Kit::new();
    kit.client(at(0), "a");
    assert_eq!(kit.exchange(at(1), &update("a", 2)), Err(Status::NotSame));
    assert_eq!(kit.exchange(at(1), &other(update("a", 2))), Err(Status::NotSame));
}

#[test]
fn case_9_an_update_by_another_principal_is_perm() {
    let kit = Kit::new();
    kit.client(at(0), "a");
    assert_eq!(kit.exchange(at(1), &other(update("a", 1))), Err(Status::Perm));
}

#[test]
fn undefined_flags_are_inval_and_fence_ops_exists_from_minor_version_2_on() {
    let kit = Kit::new();
    for bit in (0..32).map(|n| 1u32 << n) {
        let args = ExchangeId { flags: bit, ..owner("a", 1) };
        let defined = exchgid::MASK_A | exchgid::SUPP_FENCE_OPS;
        let want = if bit == exchgid::UPD_CONFIRMED_REC_A {
            Err(Status::NoEnt)
        } else if bit & defined == 0 {
            Err(Status::Inval)
        } else {
            Ok(exchgid::USE_NON_PNFS)
        };
        assert_eq!(kit.exchange(at(0), &args).map(|ok| ok.flags), want, "{bit:#x}");
    }
    let args = ExchangeId { flags: exchgid::SUPP_FENCE_OPS, minor: 1, ..owner("a", 1) };
    assert_eq!(kit.exchange(at(0), &args), Err(Status::Inval));
}

#[test]
fn state_protection_is_refused_by_its_own_errors() {
    let kit = Kit::new();
    let with = |protect| kit.exchange(at(0), &ExchangeId { protect, ..owner("a", 1) });
    assert_eq!(with(Protect::Ssv), Err(Status::EncrAlgUnsupp));
    assert_eq!(with(Protect::MachCred), Err(Status::Inval));
    assert_eq!(kit.state.clients_used(), 0);
}

#[test]
fn the_limit_of_clients_is_delay_at_n_plus_1() {
    let kit = Kit::with(Settings { clients: 2, ..settings() });
    let a = kit.exchange(at(0), &owner("a", 1)).unwrap();
    kit.create(at(0), C1, a).unwrap();
    kit.exchange(at(0), &owner("b", 1)).unwrap();
    assert_eq!(kit.exchange(at(0), &owner("c", 1)), Err(Status::Delay));
    // Those known are served all the same.
    assert_eq!(kit.exchange(at(0), &owner("a", 1)).unwrap().client, a.client);
    kit.exchange(at(0), &owner("b", 1)).unwrap();
}

#[test]
fn at_the_limit_unconfirmed_records_go_first_then_the_oldest_courtesy_client() {
    let kit = Kit::with(Settings { clients: 3, ..settings() });
    let (old, _) = kit.client(at(0), "old");
    let (younger, _) = kit.client(at(10), "younger");
    for id in [old, younger] {
        kit.holder.hold(id);
    }
    let unconfirmed = kit.exchange(at(20), &owner("x", 1)).unwrap();
    let late = at(20 + LEASE + 1);
    kit.exchange(late, &owner("c", 1)).unwrap();
    assert!(kit.state.client(unconfirmed.client).is_none());
    assert!(kit.holder.dropped().is_empty());
    kit.exchange(late, &owner("d", 1)).unwrap();
    assert_eq!(kit.holder.dropped(), [(old, Why::Expired)]);
    assert_eq!(kit.on_record("old"), None);
    assert_eq!(kit.on_record("younger"), Some(true));
}

#[test]
fn destroy_clientid_asks_for_sessions_and_state_first() {
    let kit = Kit::new();
    let (id, session) = kit.client(at(0), "a");
    kit.holder.hold(id);
    assert_eq!(kit.state.destroy_clientid(at(1), id), Err(Status::ClientIdBusy));
    kit.state.destroy_session(C1, &session, None).unwrap();
    assert_eq!(kit.state.destroy_clientid(at(1), id), Err(Status::ClientIdBusy));
    kit.holder.holding.lock().unwrap().clear();
    assert_eq!(kit.on_record("a"), Some(true));
    assert_eq!(kit.state.destroy_clientid(at(1), id), Ok(()));
    assert_eq!(kit.on_record("a"), None);
    assert_eq!(kit.state.destroy_clientid(at(1), id), Err(Status::StaleClientId));
}

#[test]
fn destroy_clientid_takes_an_unconfirmed_one_and_an_expired_one() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("u", 1)).unwrap().client;
    assert_eq!(kit.state.destroy_clientid(at(1), id), Ok(()));
    let (id, session) = kit.client(at(0), "a");
    kit.holder.hold(id);
    assert_eq!(kit.state.destroy_clientid(at(LEASE + 1), id), Ok(()));
    assert_eq!(kit.holder.dropped(), [(id, Why::Destroyed)]);
    assert!(kit.state.session(&session).is_none());
}
