//! The back channel's own state: RFC 8881 §20.9, §18.33.

use super::*;
use nfs4_xdr::rpc::AuthSys;
use nfs4_xdr::{List, Text};

fn session(kit: &Kit) -> Arc<Session> {
    let (_, s) = kit.client(at(0), "a");
    kit.state.session(&s).unwrap()
}

#[test]
fn trap_12_a_refused_callback_leaves_its_slot_and_a_taken_one_moves_it() {
    let kit = Kit::new();
    let session = session(&kit);
    let first = session.callback_turn().unwrap();
    assert_eq!((first.slot, first.seqid), (0, 1));
    session.callback_done(first, CallbackFate::Refused);
    let again = session.callback_turn().unwrap();
    assert_eq!((again.slot, again.seqid), (0, 1));
    session.callback_done(again, CallbackFate::Taken);
    let next = session.callback_turn().unwrap();
    assert_eq!((next.slot, next.seqid), (0, 2));
}

#[test]
fn trap_12_a_slot_whose_callback_was_lost_carries_no_other_one_until_that_is_settled() {
    let kit = Kit::new();
    let session = session(&kit);
    let lost = session.callback_turn().unwrap();
    session.callback_done(lost, CallbackFate::Unknown);
    let other = session.callback_turn().unwrap();
    assert_eq!((other.slot, other.seqid), (1, 1), "another request under slot 0 could be a false retry");
    // The client had taken it: the one behind it succeeds.
    let probe = session.callback_lost_turn().unwrap();
    assert_eq!((probe.slot, probe.seqid), (0, 2));
    assert_eq!(session.callback_lost_turn(), None);
    session.callback_done(probe, CallbackFate::Taken);
    let next = session.callback_turn().unwrap();
    assert_eq!((next.slot, next.seqid), (0, 3));
    // The client had not: the one behind it is misordered, and the lost one is still to come.
    session.callback_done(next, CallbackFate::Unknown);
    let probe = session.callback_lost_turn().unwrap();
    assert_eq!((probe.slot, probe.seqid), (0, 4));
    session.callback_done(probe, CallbackFate::Refused);
    let next = session.callback_turn().unwrap();
    assert_eq!((next.slot, next.seqid), (0, 3));
}

#[test]
fn callback_slots_are_as_many_as_the_client_offered() {
    let kit = Kit::new();
    let session = session(&kit);
    let turns: Vec<_> = (0..4).map(|_| session.callback_turn().unwrap()).collect();
    assert_eq!(
        turns.iter().map(|t| (t.slot, t.highest)).collect::<Vec<_>>(),
        [(0, 0), (1, 1), (2, 2), (3, 3)]
    );
    assert_eq!(session.callback_turn(), None);
    session.callback_done(turns[1], CallbackFate::Taken);
    let again = session.callback_turn().unwrap();
    assert_eq!((again.slot, again.seqid, again.highest), (1, 2, 3));
}

#[test]
fn callback_slots_start_anew_with_each_session() {
    let kit = Kit::new();
    let first = session(&kit);
    first.callback_done(first.callback_turn().unwrap(), CallbackFate::Taken);
    let again = kit.exchange(at(0), &owner("a", 1)).unwrap();
    let second = kit.create(at(0), C1, again).unwrap().session;
    assert_eq!(kit.state.session(&second).unwrap().callback_turn().unwrap().seqid, 1);
}

#[test]
fn a_failed_probe_sets_path_down_and_a_good_one_clears_it() {
    let kit = Kit::new();
    let session = session(&kit);
    session.probed(false);
    assert!(!session.back_up());
    let down = seq4::CB_PATH_DOWN | seq4::CB_PATH_DOWN_SESSION;
    assert_eq!(kit.state.status_flags(&session), down);
    session.probed(true);
    assert_eq!(kit.state.status_flags(&session), 0);
}

#[test]
fn a_fault_of_the_back_channel_is_told_until_the_session_goes() {
    let kit = Kit::new();
    let session = session(&kit);
    session.back_channel_fault();
    assert_eq!(kit.run(at(1), *session.id(), 0, 1).flags, seq4::BACKCHANNEL_FAULT);
    assert_eq!(kit.run(at(1), *session.id(), 0, 2).flags, seq4::BACKCHANNEL_FAULT);
}

#[test]
fn backchannel_ctl_changes_program_and_credential_of_later_calls() {
    let kit = Kit::new();
    let session = session(&kit);
    let sys = CallbackCred::Sys(AuthSys {
        stamp: 0,
        machinename: Text::default(),
        uid: 1,
        gid: 2,
        gids: List::new(vec![3]).unwrap(),
    });
    session.backchannel_ctl(77, vec![sys.clone()]).unwrap();
    assert_eq!(session.callback(), Some((77, sys.clone())));
    assert_eq!(session.backchannel_ctl(78, vec![CallbackCred::Gss]), Err(Status::NoEnt));
    assert_eq!(session.callback(), Some((77, sys.clone())), "a failure changes nothing");
    session.backchannel_ctl(79, vec![]).unwrap();
    assert_eq!(session.callback(), Some((79, sys)));
}
