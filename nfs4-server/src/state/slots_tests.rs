//! The slot machine against a model, and the number of slots.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// A request with `last + jump`, and one of few fingerprints.
    Request {
        jump: u32,
        print: u64,
    },
    Finish {
        keep: bool,
    },
    Abandon,
    Retire,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let jump =
        prop_oneof![4 => Just(1u32), 3 => Just(0), 1 => Just(2), 1 => Just(u32::MAX), 1 => any::<u32>()];
    let step = prop_oneof![
        6 => (jump, 0..3u64).prop_map(|(jump, print)| Step::Request { jump, print }),
        4 => any::<bool>().prop_map(|keep| Step::Finish { keep }),
        1 => Just(Step::Abandon),
        1 => Just(Step::Retire),
    ];
    proptest::collection::vec(step, 1..80)
}

/// What a client may expect of a slot, said without the slot's own words.
#[derive(Default)]
struct Model {
    /// Sequence ID and fingerprint of each execution that ended with a reply.
    executed: Vec<(u32, u64, bool)>,
    running: Option<(u32, u64)>,
    last: u32,
    /// The last execution can be asked for again.
    repeatable: bool,
    reused: bool,
}

proptest! {
    #[test]
    fn a_slot_executes_each_request_once_and_answers_retries_with_what_was_answered(
        start in prop_oneof![Just(0u32), Just(u32::MAX - 3), any::<u32>()],
        steps in steps(),
    ) {
        let mut slot = Slot { seqid: start, ..Slot::default() };
        let mut model = Model { last: start, ..Model::default() };
        let mut waiting: Option<oneshot::Receiver<Bytes>> = None;
        for step in steps {
            match step {
                Step::Request { jump, print } => {
                    let seqid = model.last.wrapping_add(jump);
                    let look = slot.look(seqid, print);
                    if let Some((running, by)) = model.running {
                        if seqid != running {
                            prop_assert_eq!(look.unwrap_err(), Status::SeqMisordered);
                        } else if print != by {
                            prop_assert_eq!(look.unwrap_err(), Status::SeqFalseRetry);
                        } else {
                            let Ok(Look::Wait(rx)) = look else { panic!("{look:?}") };
                            if let Some(mut older) = waiting.replace(rx) {
                                prop_assert_eq!(
                                    older.try_recv(),
                                    Err(oneshot::error::TryRecvError::Closed)
                                );
                            }
                        }
                    } else if jump == 1 || (model.reused && seqid == 1) {
                        let Ok(Look::New) = look else { panic!("{look:?}") };
                        slot.start(seqid, print);
                        model.running = Some((seqid, print));
                        model.last = seqid;
                        model.reused = false;
                    } else if jump == 0 && model.repeatable {
                        let &(_, by, keep) = model.executed.last().unwrap();
                        match look {
                            Ok(Look::Retry(Kept::Reply(reply))) => {
                                prop_assert!(keep && by == print);
                                prop_assert_eq!(reply, format!("{}", model.executed.len()));
                            }
                            Ok(Look::Retry(Kept::Nothing)) => prop_assert!(!keep && by == print),
                            Err(Status::SeqFalseRetry) => prop_assert!(by != print),
                            other => panic!("{other:?}"),
                        }
                    } else {
                        prop_assert_eq!(look.unwrap_err(), Status::SeqMisordered);
                    }
                }
                Step::Finish { keep } => {
                    let Some((seqid, print)) = model.running.take() else { continue };
                    model.executed.push((seqid, print, keep));
                    model.repeatable = true;
                    let reply = format!("{}", model.executed.len());
                    slot.finish(keep, || Bytes::from(reply.clone()));
                    if let Some(mut waiter) = waiting.take() {
                        prop_assert_eq!(waiter.try_recv().unwrap(), reply);
                    }
                }
                Step::Abandon => {
                    slot.abandon();
                    if let Some((seqid, _)) = model.running.take() {
                        model.last = seqid.wrapping_sub(1);
                        model.repeatable = false;
                        if let Some(mut waiter) = waiting.take() {
                            prop_assert_eq!(
                                waiter.try_recv(),
                                Err(oneshot::error::TryRecvError::Closed)
                            );
                        }
                    }
                }
                Step::Retire => {
                    prop_assert_eq!(slot.retire(), model.running.is_none());
                    if model.running.is_none() {
                        model.repeatable = false;
                        model.reused |= model.last != 0;
                    }
                }
            }
        }
    }
}

const IDLE: Millis = Millis(1000);

fn at(ms: u64) -> Now {
    Now::from_millis(ms)
}

fn slots() -> Slots {
    Slots::new(at(0), 64, 512, IDLE)
}

/// A new request on a slot, from start to end.
fn request(slots: &Slots, now: u64, slot: u32, highest: u32) -> Result<(u32, u32), Status> {
    let seqid = {
        let mut s = lock(slots.get(slot, highest)?);
        let seqid = s.seqid.wrapping_add(1);
        s.start(seqid, 0);
        s.finish(true, || Bytes::from_static(b"kept"));
        seqid
    };
    slots.adjust(at(now), slot, seqid, highest);
    Ok(slots.highest())
}

#[test]
fn slots_outside_what_is_granted_are_badslot_and_bad_high_slot() {
    let slots = slots();
    assert!(slots.get(63, 63).is_ok());
    assert_eq!(slots.get(64, 64).unwrap_err(), Status::BadSlot);
    assert_eq!(slots.get(0, 64).unwrap_err(), Status::BadHighSlot);
}

#[test]
fn the_target_doubles_while_the_highest_slot_is_used_up_to_the_most() {
    let slots = slots();
    assert_eq!(request(&slots, 1, 0, 62), Ok((63, 63)));
    assert_eq!(request(&slots, 2, 0, 63), Ok((127, 127)));
    assert_eq!(request(&slots, 3, 127, 127), Ok((255, 255)));
    assert_eq!(request(&slots, 4, 255, 255), Ok((511, 511)));
    assert_eq!(request(&slots, 5, 511, 511), Ok((511, 511)));
    assert_eq!(slots.get(512, 512).unwrap_err(), Status::BadSlot);
}

#[test]
fn the_target_never_exceeds_what_the_client_asked_for() {
    let slots = Slots::new(at(0), 64, 100, IDLE);
    assert_eq!(request(&slots, 1, 63, 63), Ok((99, 99)));
    assert_eq!(request(&slots, 2, 99, 99), Ok((99, 99)));
    assert!(slots.at(100).is_none());
}

/// 128 slots granted, all used once, idle since 10.
fn grown() -> Slots {
    let slots = slots();
    request(&slots, 5, 63, 63).unwrap();
    request(&slots, 10, 100, 100).unwrap();
    slots
}

#[test]
fn an_idle_upper_half_lowers_the_target_and_is_enforced_when_the_client_has_seen_it() {
    let slots = grown();
    assert_eq!(request(&slots, 1010, 0, 0), Ok((127, 127)));
    assert_eq!(request(&slots, 1011, 0, 0), Ok((127, 63)), "told");
    assert_eq!(request(&slots, 1012, 1, 1), Ok((127, 63)), "may have been sent before that was seen");
    assert_eq!(request(&slots, 1014, 0, 1), Ok((63, 63)));
    assert_eq!(slots.get(100, 100).unwrap_err(), Status::BadSlot);
}

#[test]
fn slots_in_use_above_a_lowered_target_raise_it_again() {
    let slots = grown();
    assert_eq!(request(&slots, 1011, 0, 0), Ok((127, 63)));
    assert_eq!(request(&slots, 1012, 0, 100), Ok((127, 127)));
    assert_eq!(request(&slots, 1013, 0, 0), Ok((127, 127)), "what was told before does not count");
}

#[test]
fn a_request_in_progress_above_the_target_keeps_the_slots() {
    let slots = grown();
    request(&slots, 1011, 0, 0).unwrap();
    let seqid = lock(slots.at(100).unwrap()).seqid + 1;
    lock(slots.at(100).unwrap()).start(seqid, 0);
    assert_eq!(request(&slots, 1012, 0, 0), Ok((127, 63)));
    lock(slots.at(100).unwrap()).finish(true, Bytes::new);
    assert_eq!(request(&slots, 1013, 0, 0), Ok((63, 63)));
}

#[test]
fn the_target_does_not_go_below_the_start() {
    let slots = grown();
    request(&slots, 1011, 0, 0).unwrap();
    assert_eq!(request(&slots, 9000, 0, 0), Ok((63, 63)));
    assert_eq!(request(&slots, 20_000, 0, 0), Ok((63, 63)));
}

#[test]
fn a_slot_given_again_goes_on_with_its_seqid_or_starts_at_1_and_keeps_no_reply() {
    let slots = grown();
    request(&slots, 11, 100, 100).unwrap();
    for now in [2000, 2001] {
        request(&slots, now, 0, 0).unwrap();
    }
    assert_eq!(request(&slots, 2002, 63, 63), Ok((127, 127)));
    let mut slot = lock(slots.get(100, 100).unwrap());
    assert_eq!(slot.seqid, 2);
    assert_eq!(slot.look(2, 0).unwrap_err(), Status::SeqMisordered, "its reply was seen");
    assert!(matches!(slot.look(3, 0), Ok(Look::New)));
    assert!(matches!(slot.look(1, 0), Ok(Look::New)));
    slot.start(1, 0);
    slot.finish(true, Bytes::new);
    assert!(matches!(slot.look(1, 0), Ok(Look::Retry(_))));
    assert_eq!(slot.look(3, 0).unwrap_err(), Status::SeqMisordered);
}
