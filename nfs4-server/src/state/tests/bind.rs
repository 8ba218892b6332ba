//! Connections and channels: RFC 8881 §18.34, §2.10.3.1.

use super::*;

use ChannelDir::{Back, BackOrBoth, Fore, ForeOrBoth};

/// A client whose session has no back channel, created on C1.
fn without_back(kit: &Kit, name: &str) -> SessionId {
    let id = kit.exchange(at(0), &owner(name, 1)).unwrap();
    let args = CreateSession { flags: 0, ..session_of(id) };
    kit.state.create_session(at(0), C1, &args).unwrap().session
}

fn backs(kit: &Kit, s: &SessionId) -> Vec<ConnId> {
    kit.state.session(s).unwrap().back_connections()
}

#[test]
fn trap_8_sequence_binds_to_the_fore_channel_and_never_to_the_back_channel() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    new(kit.state.sequence(at(1), C2, &sequence(s, 0, 1), 1));
    assert_eq!(backs(&kit, &s), [C1]);
    // It is bound: DESTROY_SESSION says so.
    kit.state.destroy_session(C2, &s, None).unwrap();
}

#[test]
fn every_direction_gets_an_answer_that_it_allows() {
    for (dir, want, back) in [
        (Fore, Fore, false),
        (Back, Back, true),
        (ForeOrBoth, ForeOrBoth, true),
        (BackOrBoth, ForeOrBoth, true),
    ] {
        let kit = Kit::new();
        let s = without_back(&kit, "a");
        assert_eq!(kit.state.bind_conn_to_session(C2, &s, dir), Ok(want));
        assert_eq!(backs(&kit, &s).contains(&C2), back);
        // The same again has no effect.
        assert_eq!(kit.state.bind_conn_to_session(C2, &s, dir), Ok(want));
    }
}

#[test]
fn a_change_of_channels_is_inval() {
    let kit = Kit::new();
    let s = without_back(&kit, "a");
    kit.state.bind_conn_to_session(C2, &s, Fore).unwrap();
    for dir in [Back, BackOrBoth] {
        assert_eq!(kit.state.bind_conn_to_session(C2, &s, dir), Err(Status::Inval), "{dir:?}");
    }
    assert_eq!(kit.state.bind_conn_to_session(C2, &s, ForeOrBoth), Ok(Fore));
    kit.state.bind_conn_to_session(C3, &s, BackOrBoth).unwrap();
    for dir in [Fore, Back] {
        assert_eq!(kit.state.bind_conn_to_session(C3, &s, dir), Err(Status::Inval), "{dir:?}");
    }
}

#[test]
fn a_connection_bound_by_use_may_get_the_back_channel_too() {
    for dir in [ForeOrBoth, BackOrBoth] {
        let kit = Kit::new();
        let (_, s) = kit.client(at(0), "a");
        new(kit.state.sequence(at(1), C2, &sequence(s, 0, 1), 1));
        assert_eq!(kit.state.bind_conn_to_session(C2, &s, dir), Ok(ForeOrBoth));
        assert_eq!(backs(&kit, &s), [C1, C2]);
    }
}

#[test]
fn a_session_without_usable_back_channel_binds_fore_or_refuses() {
    let kit = Kit::new();
    let id = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let args = CreateSession { flags: 0, back: ChannelAttrs::default(), ..session_of(id) };
    let s = kit.state.create_session(at(0), C1, &args).unwrap().session;
    assert_eq!(kit.state.bind_conn_to_session(C2, &s, ForeOrBoth), Ok(Fore));
    assert_eq!(kit.state.bind_conn_to_session(C3, &s, BackOrBoth), Err(Status::Inval));
}

#[test]
fn binding_to_an_unknown_session_is_badsession() {
    let kit = Kit::new();
    assert_eq!(kit.state.bind_conn_to_session(C1, &[9; 16], Fore), Err(Status::BadSession));
}

#[test]
fn a_closed_connection_is_unbound_everywhere_and_cannot_be_bound_again() {
    let kit = Kit::new();
    let (_, a) = kit.client(at(0), "a");
    let (_, b) = kit.client(at(0), "b");
    assert!(kit.state.carries_back_channel(C1));
    kit.state.disconnected(C1);
    assert!(!kit.state.carries_back_channel(C1));
    assert!(backs(&kit, &a).is_empty() && backs(&kit, &b).is_empty());
    // A compound of it that still runs binds nothing.
    new(kit.seq(at(1), a, 0, 1, 1));
    assert_eq!(kit.state.destroy_session(C1, &a, None), Err(Status::ConnNotBoundToSession));
}

#[test]
fn path_down_flags_follow_the_connections() {
    let kit = Kit::new();
    let (_, s) = kit.client(at(0), "a");
    assert_eq!(kit.run(at(1), s, 0, 1).flags, 0);
    kit.state.disconnected(C1);
    let via = |conn, seqid| new(kit.state.sequence(at(2), conn, &sequence(s, 0, seqid), 1)).ok().flags;
    let down = seq4::CB_PATH_DOWN | seq4::CB_PATH_DOWN_SESSION;
    assert_eq!(via(C2, 2), down);
    assert_eq!(via(C2, 2), down, "a level");
    kit.state.bind_conn_to_session(C2, &s, BackOrBoth).unwrap();
    assert_eq!(via(C2, 2), 0);
}

#[test]
fn one_session_with_a_back_channel_is_enough_for_the_client() {
    let kit = Kit::new();
    let (_, first) = kit.client(at(0), "a");
    let again = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let second = kit.create(at(0), C2, again).unwrap().session;
    kit.state.disconnected(C1);
    let flags = |s| new(kit.state.sequence(at(1), C3, &sequence(s, 0, 1), 1)).ok().flags;
    assert_eq!(flags(first), seq4::CB_PATH_DOWN_SESSION);
    assert_eq!(flags(second), 0);
    kit.state.destroy_session(C2, &second, None).unwrap();
    assert_eq!(flags(first), seq4::CB_PATH_DOWN | seq4::CB_PATH_DOWN_SESSION);
}

#[test]
fn a_client_that_never_wanted_a_back_channel_is_not_told_that_it_is_down() {
    let kit = Kit::new();
    let s = without_back(&kit, "a");
    assert_eq!(kit.run(at(1), s, 0, 1).flags, 0);
}
