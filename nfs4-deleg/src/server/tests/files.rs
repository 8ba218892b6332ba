//! Grants, conflicts and what others see.

use super::*;

#[test]
fn fs_1_2_3_4_grants_and_reasons() {
    let mut w = World::new();
    assert!(w.open(A, READ, Wanted::Read).is_ok_and(|g| g.deleg.seqid == 1 && !g.recall));
    assert_eq!(w.open(B, READ, Wanted::No), Err(Refusal::NotWanted));
    assert_eq!(w.open(B, READ, Wanted::Cancel), Err(Refusal::Cancelled));
    w.event(Event::BackChannel { client: B, up: false });
    assert_eq!(w.open(B, READ, Wanted::Read), Err(Refusal::Resource { will_signal: false }));
}

#[test]
fn what_is_no_regular_file_has_a_reason_of_its_own() {
    let mut w = World::new();
    let read = w.want(A, READ, Wanted::Read);
    let write = Want { wanted: Wanted::Write, ..read };
    let on = |file, want| Want { file, ..want };
    assert_eq!(w.open_with(&on(FileType::Directory, read)), Err(Refusal::IsDir));
    assert_eq!(w.open_with(&on(FileType::Other, read)), Err(Refusal::NotSuppFtype));
    assert_eq!(w.open_with(&on(FileType::Other, write)), Err(Refusal::WriteNotSuppFtype));
}

#[test]
fn fs_7_two_readers_share() {
    let mut w = World::new();
    let (a, b) = (w.holds(A, Kind::Read), w.holds(B, Kind::Read));
    assert_ne!(a.id, b.id);
    assert_eq!(w.out(), []);
}

#[test]
fn fs_8_9_a_writer_recalls_all_readers_at_once_and_waits_for_the_last() {
    let mut w = World::new();
    let (a, c) = (w.holds(A, Kind::Read), w.holds(C, Kind::Read));
    let id = w.waits(B, &open_intent(WRITE));
    let recalls = w.recalls();
    assert_eq!(recalls.iter().map(|r| r.0).collect::<Vec<_>>(), [A, C]);
    w.done(recalls[0].1, CbOutcome::Ok);
    assert_eq!(w.out(), [], "an answer is no return");
    assert_eq!(w.back(A, a), Ok(()));
    assert_eq!(w.out(), []);
    assert_eq!(w.back(C, DelegRef { seqid: 0, ..c }), Ok(()));
    assert_eq!(w.out(), [Action::Resume(id)]);
    let Admit::Permit(permit) = w.m.admit_again(w.now, id) else { panic!() };
    w.m.commit(w.now, permit, &[]);
}

#[test]
fn fs_10_11_an_upgrade_keeps_the_name_and_moves_the_seqid() {
    for wanted in [Wanted::Write, Wanted::NoPreference] {
        let mut w = World::new();
        let a = w.holds(A, Kind::Read);
        let up = w.open(A, WRITE, wanted).unwrap();
        assert_eq!((up.kind, up.deleg, up.changed), (Kind::Write, DelegRef { seqid: 2, ..a }, true));
        assert_eq!(w.back(A, a), Err(Status::OldStateId));
        assert_eq!(w.back(A, up.deleg), Ok(()));
        assert_eq!(w.out(), []);
    }
}

#[test]
fn fs_12_to_15_what_is_no_change_or_is_contended_leaves_the_delegation_alone() {
    let mut w = World::with(Config { upgrade: false, ..calm() });
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.open(A, READ, Wanted::Write), Err(Refusal::NotSuppUpgrade));
    assert!(w.m.check(A, a, F, false).is_ok());
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.holds(B, Kind::Read);
    assert_eq!(w.open(A, READ, Wanted::Write), Err(grant::CONTENTION));
    assert_eq!(w.open(A, READ, Wanted::Read), Err(grant::CONTENTION));
    assert_eq!((w.out(), w.m.check(A, a, F, false).is_ok()), (vec![], true));
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let down = w.open(A, READ, Wanted::Read).unwrap();
    assert_eq!((down.kind, down.deleg), (Kind::Read, DelegRef { seqid: 2, ..a }));
}

#[test]
fn fs_16_17_change_moves_with_each_answer_while_the_holder_has_more() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let ask = |w: &mut World, change, size, own| {
        let AttrsFrom::Ask(id) = w.m.attrs_of(w.now, Party::Client(B), F) else { panic!() };
        let Some(Action::GetAttr { cb, client: A, .. }) = w.m.poll_action() else { panic!() };
        w.done(cb, CbOutcome::Attrs { change, size, access: None, modify: None });
        assert_eq!(w.out(), [Action::Resume(id)]);
        let AttrsFrom::Overlay(o) = w.m.attrs_again(w.now, id, own) else { panic!() };
        w.m.check_invariants().unwrap();
        (o.change, o.size, o.touched)
    };
    let own = |change| OwnAttrs { change, size: 50 };
    assert_eq!(ask(&mut w, 100, 50, own(100)), (100, 50, false));
    assert_eq!(ask(&mut w, 101, 9_000, own(100)), (101, 9_000, true));
    assert_eq!(ask(&mut w, 101, 9_000, own(100)), (102, 9_000, true));
    assert_eq!(ask(&mut w, 101, 9_000, own(200)), (201, 9_000, true));
    assert_eq!(ask(&mut w, 100, 50, own(205)), (205, 50, false), "after a flush it stands still");
    assert_eq!(w.back(A, a), Ok(()));
    let out = w.out();
    let advance = matches!(out.as_slice(), [Action::Advance { oid: F, change: 205, .. }]);
    assert!(advance, "what was told outlives it: {out:?}");
}

#[test]
fn an_upgraded_holder_is_measured_by_the_change_of_the_upgrade() {
    let mut w = World::new();
    let read = w.holds(A, Kind::Read);
    // Its own WRITEs by an open moved the file on.
    let want = Want { change: 300, ..w.want(A, WRITE, Wanted::Write) };
    assert_eq!(w.open_with(&want).map(|grant| grant.deleg), Ok(DelegRef { seqid: 2, ..read }));
    let AttrsFrom::Ask(id) = w.m.attrs_of(w.now, Party::Client(B), F) else { panic!() };
    let Some(Action::GetAttr { cb, .. }) = w.m.poll_action() else { panic!() };
    w.done(cb, CbOutcome::Attrs { change: 300, size: 50, access: None, modify: None });
    let own = OwnAttrs { change: 300, size: 50 };
    let AttrsFrom::Overlay(seen) = w.m.attrs_again(w.now, id, own) else { panic!() };
    assert_eq!((seen.change, seen.touched), (300, false), "it has changed nothing since");
}

#[test]
fn fs_18_19_20_a_silent_holder_is_recalled_and_the_holder_itself_is_never_asked() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    assert_eq!(w.m.attrs_of(w.now, Party::Client(A), F), AttrsFrom::Backend);
    let AttrsFrom::Ask(first) = w.m.attrs_of(w.now, Party::Client(B), F) else { panic!() };
    let AttrsFrom::Ask(second) = w.m.attrs_of(w.now, Party::Client(C), F) else { panic!() };
    assert_eq!(w.out().len(), 1, "one question however many ask");
    w.go_on(2_000);
    assert_eq!(w.recalls().len(), 1);
    assert_eq!(w.back(A, a), Ok(()));
    assert_eq!(w.out(), [Action::Resume(first), Action::Resume(second)]);
    assert_eq!(w.m.attrs_again(w.now, first, OwnAttrs::default()), AttrsFrom::Backend);
}

#[test]
fn fs_21_to_24_who_conflicts_and_who_does_not() {
    let readers = [
        (Intent::Read { oid: F }, false),
        (Intent::Lock { oid: F }, false),
        (open_intent(READ), false),
        (open_intent(Share { deny_write: true, ..READ }), false),
        (open_intent(Share { deny_read: true, ..READ }), true),
        (open_intent(WRITE), true),
        (Intent::Open { oid: F, share: READ, truncate: true }, true),
        (Intent::Write { oid: F }, true),
        (Intent::SetAttr { oid: F, size: false }, true),
        (Intent::Xattr { oid: F }, true),
        (Intent::Link { dir: G, target: F }, true),
        (Intent::Remove { dir: G, target: Some(F) }, true),
        (Intent::Rename { from: G, to: G, source: Some(F), victim: None }, true),
        (Intent::Rename { from: G, to: G, source: None, victim: Some(F) }, true),
    ];
    for (intent, recalls) in readers {
        for (kind, who) in [(Kind::Read, B), (Kind::Read, A), (Kind::Write, B), (Kind::Write, A)] {
            let mut w = World::new();
            w.holds(A, kind);
            let waits = who == B && (recalls || kind == Kind::Write);
            if waits {
                w.waits(who, &intent);
            } else {
                w.does(who, &intent);
            }
            let recalls = w.out();
            assert_eq!(recalls.len(), usize::from(waits), "{intent:?} by {who:?} on {kind:?}");
            let cut = matches!(intent, Intent::Open { truncate: true, .. });
            let fits = |a: &Action| matches!(a, Action::Recall { truncate, deleg, .. } if *truncate == cut && deleg.seqid == 0);
            assert!(recalls.iter().all(fits));
        }
    }
    let mut w = World::new();
    w.holds(A, Kind::Write);
    w.does(B, &Intent::Create { dir: F });
}

#[test]
fn fs_40_times_only_where_wanted_and_kept_by_an_upgrade() {
    let mut w = World::new();
    let want = Want { times: true, ..w.want(A, READ, Wanted::Read) };
    assert!(w.open_with(&want).is_ok_and(|g| g.times));
    let up = w.open(A, WRITE, Wanted::Write).unwrap();
    assert!(up.times);
    assert!(w.m.check(A, up.deleg, F, true).is_ok_and(|covers| covers.times));
    let at = |seconds| Stamp { seconds, nanos: 0 };
    assert_eq!(vet_time(at(5), at(7), at(9)), at(7), "earlier than the file's own");
    assert_eq!(vet_time(at(8), at(7), at(9)), at(8));
    assert_eq!(vet_time(at(12), at(7), at(9)), at(9), "in the future");
}
