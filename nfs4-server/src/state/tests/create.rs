//! CREATE_SESSION and DESTROY_SESSION: RFC 8881 §18.36, §18.37.

use super::*;
use nfs4_xdr::rpc::AuthSys;
use nfs4_xdr::{List, Text};

#[test]
fn a_replay_gets_the_same_session_and_a_jump_is_misordered() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let first = kit.create(at(1), C1, id).unwrap();
    assert_eq!(kit.create(at(2), C2, id), Ok(first));
    assert_eq!(kit.state.sessions_of(id.client).len(), 1);
    let with = |sequence| kit.create(at(3), C1, ExchangedId { sequence, ..id });
    assert_eq!(with(id.sequence.wrapping_sub(1)), Err(Status::SeqMisordered));
    assert_eq!(with(id.sequence + 2), Err(Status::SeqMisordered));
    let second = with(id.sequence + 1).unwrap();
    assert_ne!(second.session, first.session);
    assert_eq!(second.sequence, id.sequence + 1);
}

#[test]
fn before_the_first_create_session_its_predecessor_is_misordered() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let before = ExchangedId { sequence: id.sequence.wrapping_sub(1), ..id };
    assert_eq!(kit.create(at(0), C1, before), Err(Status::SeqMisordered));
    kit.create(at(0), C1, id).unwrap();
}

#[test]
fn refused_arguments_take_the_sequence_id_and_others_may_be_tried_under_it_or_the_next() {
    for further in [0, 1] {
        let kit = Kit::new();
        let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
        let good = session_of(id);
        let bad = CreateSession { flags: 0x8, ..good.clone() };
        assert_eq!(kit.state.create_session(at(0), C1, &bad), Err(Status::Inval));
        assert_eq!(kit.state.create_session(at(0), C1, &bad), Err(Status::Inval), "a retry");
        assert!(kit.exchange(at(0), &update("a", 1)).is_err(), "not confirmed");
        let jump = CreateSession { sequence: id.sequence + 2, ..good.clone() };
        assert_eq!(kit.state.create_session(at(0), C1, &jump), Err(Status::SeqMisordered));
        let next = CreateSession { sequence: id.sequence + further, ..good };
        let made = kit.state.create_session(at(0), C1, &next).unwrap();
        assert_eq!(kit.state.create_session(at(0), C1, &next), Ok(made), "a retry");
    }
}

#[test]
fn an_unknown_client_id_is_stale() {
    let kit = Kit::new();
    let id = ExchangedId { client: ClientId(77), sequence: 1, flags: 0 };
    assert_eq!(kit.create(at(0), C1, id), Err(Status::StaleClientId));
}

#[test]
fn another_principal_cannot_confirm_and_changes_nothing() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let stranger = CreateSession { principal: Principal::sys(1000), ..session_of(id) };
    assert_eq!(kit.state.create_session(at(0), C1, &stranger), Err(Status::ClidInUse));
    kit.create(at(0), C1, id).unwrap();
}

#[test]
fn an_unconfirmed_record_that_failed_to_confirm_leaves_the_old_incarnation_alone() {
    let kit = Kit::new();
    let (old, session) = kit.client(at(0), "a");
    let restart = kit.exchange(at(1), &owner("a", 2)).unwrap();
    kit.shelf.fails.store(true, Ordering::SeqCst);
    assert_eq!(kit.create(at(2), C1, restart), Err(Status::ServerFault));
    kit.shelf.fails.store(false, Ordering::SeqCst);
    assert!(kit.state.client(old).is_some());
    kit.run(at(3), session, 0, 1);
    assert_eq!(kit.create(at(4), C1, restart), Err(Status::ServerFault), "a retry");
    kit.create(at(5), C1, ExchangedId { sequence: restart.sequence + 1, ..restart }).unwrap();
    assert_eq!(kit.holder.dropped(), [(old, Why::Restarted)]);
}

#[test]
fn channel_attributes_are_never_more_than_asked_for_and_never_more_than_the_limits() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let huge = ChannelAttrs {
        headerpadsize: 64,
        maxrequestsize: u32::MAX,
        maxresponsesize: u32::MAX,
        maxresponsesize_cached: u32::MAX,
        maxoperations: u32::MAX,
        maxrequests: u32::MAX,
    };
    let made = kit.state.create_session(at(0), C1, &CreateSession { fore: huge, ..session_of(id) }).unwrap();
    let limits = Limits::default();
    let want = ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: limits.record_bytes,
        maxresponsesize: limits.record_bytes,
        maxresponsesize_cached: limits.reply_cached_bytes,
        maxoperations: limits.operations,
        maxrequests: SLOTS_START,
    };
    assert_eq!(made.fore, want);

    let small = ChannelAttrs {
        maxrequestsize: 1000,
        maxresponsesize: 900,
        maxresponsesize_cached: 800,
        maxoperations: 3,
        maxrequests: 2,
        ..huge
    };
    let args = CreateSession { fore: small, sequence: id.sequence + 1, ..session_of(id) };
    let made = kit.state.create_session(at(0), C1, &args).unwrap();
    assert_eq!(made.fore, ChannelAttrs { headerpadsize: 0, ..small });
}

#[test]
fn the_back_channel_keeps_the_clients_operations_and_slots() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let back = ChannelAttrs { maxoperations: 1000, maxrequests: 1000, ..channel(4096) };
    let made = kit.state.create_session(at(0), C1, &CreateSession { back, ..session_of(id) }).unwrap();
    assert_eq!((made.back.maxoperations, made.back.maxrequests), (1000, 1000));
}

#[test]
fn channels_that_cannot_carry_a_sequence_are_toosmall_and_empty_ones_inval() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let fore = channel(4096);
    let cases = [
        (ChannelAttrs { maxrequestsize: 87, ..fore }, Status::TooSmall),
        (ChannelAttrs { maxresponsesize: 79, ..fore }, Status::TooSmall),
        (ChannelAttrs { maxoperations: 0, ..fore }, Status::Inval),
        (ChannelAttrs { maxrequests: 0, ..fore }, Status::Inval),
    ];
    for (sequence, (fore, want)) in (id.sequence..).zip(cases) {
        let args = CreateSession { sequence, fore, ..session_of(id) };
        assert_eq!(kit.state.create_session(at(0), C1, &args), Err(want), "{fore:?}");
    }
    let least =
        ChannelAttrs { maxrequestsize: 88, maxresponsesize: 80, maxoperations: 1, maxrequests: 1, ..fore };
    let args = CreateSession { fore: least, sequence: id.sequence + 4, ..session_of(id) };
    kit.state.create_session(at(0), C1, &args).unwrap();
}

#[test]
fn a_back_channel_that_cannot_carry_a_callback_is_toosmall_unless_there_is_to_be_none() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let args = CreateSession { back: ChannelAttrs::default(), ..session_of(id) };
    assert_eq!(kit.state.create_session(at(0), C1, &args), Err(Status::TooSmall));
    let back = channel(4096);
    let narrow = [ChannelAttrs { maxrequestsize: 10, ..back }, ChannelAttrs { maxoperations: 1, ..back }];
    for (sequence, back) in (id.sequence + 1..).zip(narrow) {
        let args = CreateSession { flags: 0, sequence, back, ..session_of(id) };
        assert_eq!(kit.state.create_session(at(0), C1, &args), Err(Status::TooSmall), "{back:?}");
    }
    let args = CreateSession { flags: 0, sequence: id.sequence + 3, ..args };
    let made = kit.state.create_session(at(0), C1, &args).unwrap();
    assert_eq!(made.flags, 0);
}

#[test]
fn persistence_and_rdma_are_not_granted_and_the_back_channel_only_when_asked_for() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let with = |flags, n| {
        let args = CreateSession { flags, sequence: id.sequence + n, ..session_of(id) };
        kit.state.create_session(at(0), C1, &args).map(|made| made.flags)
    };
    let all = create_flags::PERSIST | create_flags::CONN_BACK_CHAN | create_flags::CONN_RDMA;
    assert_eq!(with(all, 0), Ok(create_flags::CONN_BACK_CHAN));
    assert_eq!(with(create_flags::PERSIST, 1), Ok(0));
    assert_eq!(with(0x10, 2), Err(Status::Inval));
}

#[test]
fn callback_credentials_are_the_first_that_we_speak() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let sys = CallbackCred::Sys(AuthSys {
        stamp: 1,
        machinename: Text::new(&b"m"[..]).unwrap(),
        uid: 7,
        gid: 11,
        gids: List::default(),
    });
    let with = |creds: &[CallbackCred], n| {
        let args = CreateSession { cb_creds: creds.to_vec(), sequence: id.sequence + n, ..session_of(id) };
        kit.state.create_session(at(0), C1, &args)
    };
    assert_eq!(with(&[CallbackCred::Gss], 0), Err(Status::NoEnt));
    let made = with(&[CallbackCred::Gss, sys.clone(), CallbackCred::None], 1).unwrap();
    let session = kit.state.session(&made.session).unwrap();
    assert_eq!(session.callback(), Some((0x4000_0000, sys)));
    let made = with(&[], 2).unwrap();
    assert_eq!(made.flags & create_flags::CONN_BACK_CHAN, 0, "no credential, no callbacks");
}

#[test]
fn sessions_of_one_client_are_limited_and_another_client_is_not_touched_by_that() {
    let kit = Kit::with(Settings { sessions_per_client: 2, ..settings() });
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let with = |n| kit.create(at(0), C1, ExchangedId { sequence: id.sequence + n, ..id });
    let first = with(0).unwrap();
    with(1).unwrap();
    assert_eq!(with(2), Err(Status::NoSpc));
    kit.client(at(0), "b");
    kit.state.destroy_session(C1, &first.session, None).unwrap();
    with(3).unwrap();
}

#[test]
fn destroy_session_needs_a_connection_of_the_session() {
    let kit = Kit::new();
    let (_, session) = kit.client(at(0), "a");
    assert_eq!(kit.state.destroy_session(C2, &session, None), Err(Status::ConnNotBoundToSession));
    kit.state.destroy_session(C1, &session, None).unwrap();
    assert_eq!(kit.state.destroy_session(C1, &session, None), Err(Status::BadSession));
}

#[test]
fn destroy_session_waits_for_requests_in_progress_except_its_own() {
    let kit = Kit::new();
    let (_, session) = kit.client(at(0), "a");
    let busy = new(kit.seq(at(1), session, 0, 1, 1));
    assert_eq!(kit.state.destroy_session(C1, &session, None), Err(Status::Delay));
    let own = new(kit.seq(at(1), session, 1, 1, 1));
    assert_eq!(kit.state.destroy_session(C1, &session, Some(&session)), Err(Status::Delay));
    busy.finish(at(2), &reply(1), true);
    kit.run(at(2), session, 0, 2);
    assert_eq!(kit.state.destroy_session(C1, &session, Some(&session)), Ok(()));
    own.finish(at(3), &reply(2), true);
    assert_eq!(error(kit.seq(at(4), session, 0, 3, 3)), Status::BadSession);
}

#[test]
fn destroy_session_leaves_the_clients_state_and_its_other_sessions() {
    let kit = Kit::new();
    let (id, first) = kit.client(at(0), "a");
    kit.holder.hold(id);
    let again = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let second = kit.create(at(0), C1, again).unwrap().session;
    kit.state.destroy_session(C1, &first, None).unwrap();
    assert!(kit.holder.dropped().is_empty());
    kit.run(at(1), second, 0, 1);
    kit.state.destroy_session(C1, &second, None).unwrap();
    assert!(kit.holder.dropped().is_empty());
    assert_eq!(kit.exchange(at(2), &owner("a", 1)).unwrap().client, id);
}
