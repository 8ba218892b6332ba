//! The model against the sheet's scenarios FS, by number, and against itself.

use alloc::vec;

use super::*;

const A: ClientKey = ClientKey(1);
const B: ClientKey = ClientKey(2);
const C: ClientKey = ClientKey(3);
const F: Oid = Oid(7);
const G: Oid = Oid(8);
const READ: Share = Share { read: true, write: false, deny_read: false, deny_write: false };
const WRITE: Share = Share { read: false, write: true, deny_read: false, deny_write: false };

fn at(ms: u64) -> Now {
    Now::from_millis(ms)
}

struct World {
    m: Model,
    now: u64,
    seq: u32,
}

impl World {
    fn new() -> Self {
        Self::with(Config { quiet: Millis(0), ..Config::default() })
    }

    fn with(config: Config) -> Self {
        let mut m = Model::new(config);
        for client in [A, B, C] {
            m.client(client);
            m.back_channel(client, true);
        }
        Self { m, now: 1_000, seq: 0 }
    }

    fn want(&mut self, client: ClientKey, share: Share, wanted: Wanted) -> Want {
        self.seq += 1;
        let call = Call { slot: 1, seq: self.seq };
        Want { client, oid: F, share, wanted, times: false, claim: Claim::Fresh, call, change: 100 }
    }

    fn admit(&mut self, client: ClientKey, intent: &Intent) -> Admit {
        let answer = self.m.admit(at(self.now), Party::Client(client), intent);
        self.m.check_facts().unwrap();
        answer
    }

    /// An OPEN that goes through, and what it brings.
    fn open(&mut self, client: ClientKey, share: Share, wanted: Wanted) -> Result<Granted, Why> {
        let want = self.want(client, share, wanted);
        self.open_with(&want)
    }

    fn open_with(&mut self, want: &Want) -> Result<Granted, Why> {
        let intent = Intent::Open { oid: F, share: want.share, truncate: false };
        let Admit::Go(id) = self.admit(want.client, &intent) else { panic!("not admitted") };
        let granted = self.m.grant(at(self.now), id, want);
        self.m.opened(want.client, F, want.share);
        self.m.finish(id);
        self.m.check_facts().unwrap();
        granted
    }

    /// A delegation whose reply was seen and whose open is closed.
    fn holds(&mut self, client: ClientKey, kind: Kind) -> Sid {
        let wanted = if kind == Kind::Read { Wanted::Read } else { Wanted::Write };
        let granted = self.open(client, READ, wanted).unwrap();
        assert_eq!(granted.kind, kind);
        self.m.closed(client, F, READ);
        self.m.reply_seen(client, Call { slot: 1, seq: self.seq });
        granted.sid
    }

    fn recalls(&mut self) -> Vec<(ClientKey, u64)> {
        let recall =
            |out| if let Out::Recall { client, sid, .. } = out { Some((client, sid.other)) } else { None };
        self.m.take_out().into_iter().filter_map(recall).collect()
    }

    fn go_on(&mut self, ms: u64) {
        self.now += ms;
        self.m.timeout(at(self.now));
        self.m.check_facts().unwrap();
    }
}

fn open_intent(share: Share) -> Intent {
    Intent::Open { oid: F, share, truncate: false }
}

#[test]
fn fs_3_and_4_not_wanted_and_cancelled_are_two_reasons() {
    let mut w = World::new();
    assert_eq!(w.open(A, READ, Wanted::No), Err(Why::NotWanted));
    assert_eq!(w.open(A, READ, Wanted::Cancel), Err(Why::Cancelled));
}

#[test]
fn fs_2_without_a_back_channel_nothing_is_granted() {
    let mut w = World::new();
    w.m.back_channel(A, false);
    assert_eq!(w.open(A, READ, Wanted::Read), Err(Why::Resource));
}

#[test]
fn fs_7_two_readers_share() {
    let mut w = World::new();
    let (a, b) = (w.holds(A, Kind::Read), w.holds(B, Kind::Read));
    assert_ne!(a.other, b.other);
    assert_eq!(w.recalls(), []);
}

#[test]
fn fs_8_and_9_a_writer_recalls_all_readers_at_once_and_waits_for_the_last() {
    let mut w = World::new();
    let (a, c) = (w.holds(A, Kind::Read), w.holds(C, Kind::Read));
    let Admit::Wait(id) = w.admit(B, &open_intent(WRITE)) else { panic!() };
    assert_eq!(w.recalls(), [(A, a.other), (C, c.other)]);
    w.m.recall_answered(at(w.now), A, a.other, CbOutcome::Ok);
    assert_eq!(w.m.take_out(), [], "an answer is no return");
    assert_eq!(w.m.give_back(at(w.now), A, F, a), Status::Ok);
    assert_eq!(w.m.take_out(), []);
    assert_eq!(w.m.give_back(at(w.now), C, F, Sid { seqid: 0, ..c }), Status::Ok);
    assert_eq!(w.m.take_out(), [Out::Resume(id)]);
    assert_eq!(w.m.admit_again(at(w.now), id), Admit::Go(id));
}

#[test]
fn fs_10_and_11_an_upgrade_keeps_the_name_and_moves_the_seqid() {
    for wanted in [Wanted::Write, Wanted::NoPreference] {
        let mut w = World::new();
        let a = w.holds(A, Kind::Read);
        let up = w.open(A, WRITE, wanted).unwrap();
        assert_eq!((up.kind, up.sid), (Kind::Write, Sid { other: a.other, seqid: 2 }));
        assert_eq!(w.m.give_back(at(w.now), A, F, a), Status::OldStateId);
        assert_eq!(w.m.give_back(at(w.now), A, F, up.sid), Status::Ok);
    }
}

#[test]
fn fs_12_to_15_what_is_no_change_or_is_contended_leaves_the_delegation_alone() {
    let mut w = World::with(Config { upgrade: false, quiet: Millis(0), ..Config::default() });
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.open(A, READ, Wanted::Write), Err(Why::NotSuppUpgrade));
    assert_eq!(w.m.check(A, a, F, false), Status::Ok);
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.holds(B, Kind::Read);
    assert_eq!(w.open(A, READ, Wanted::Write), Err(Why::Contention));
    assert_eq!(w.open(A, READ, Wanted::Read), Err(Why::Contention));
    assert_eq!((w.recalls(), w.m.check(A, a, F, false)), (vec![], Status::Ok));
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let down = w.open(A, READ, Wanted::Read).unwrap();
    assert_eq!((down.kind, down.sid), (Kind::Read, Sid { seqid: 2, ..a }));
}

#[test]
fn fs_16_and_17_change_moves_with_each_answer_while_the_holder_has_more() {
    let mut w = World::new();
    w.holds(A, Kind::Write);
    let mut ask = |answer, own: (u64, u64)| {
        let AttrsFrom::Ask(id) = w.m.attrs_of(at(w.now), Party::Client(B), F) else { panic!() };
        w.m.attrs_answered(at(w.now), A, F, Some(answer));
        w.m.attrs_again(id, own.0, own.1)
    };
    let clean = Overlay { change: 100, size: 50, touched: false };
    assert_eq!(ask((100, 50), (100, 50)), AttrsFrom::Overlay(clean));
    let dirty = |change| AttrsFrom::Overlay(Overlay { change, size: 9_000, touched: true });
    assert_eq!(ask((101, 9_000), (100, 50)), dirty(101));
    assert_eq!(ask((101, 9_000), (100, 50)), dirty(102));
    assert_eq!(ask((101, 9_000), (200, 50)), dirty(201), "above what the holder's own flushes made");
    let flushed = AttrsFrom::Overlay(Overlay { change: 205, size: 9_000, touched: false });
    assert_eq!(ask((100, 9_000), (205, 9_000)), flushed);
    assert_eq!(ask((100, 9_000), (205, 9_000)), flushed, "and stands still");
}

#[test]
fn fs_18_to_20_a_silent_holder_is_recalled_and_the_holder_itself_is_never_asked() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    assert_eq!(w.m.attrs_of(at(w.now), Party::Client(A), F), AttrsFrom::Backend);
    let AttrsFrom::Ask(first) = w.m.attrs_of(at(w.now), Party::Client(B), F) else { panic!() };
    let AttrsFrom::Ask(second) = w.m.attrs_of(at(w.now), Party::Client(C), F) else { panic!() };
    assert_eq!(w.m.take_out().len(), 1, "one question however many ask");
    w.m.attrs_answered(at(w.now), A, F, None);
    assert_eq!(w.recalls(), [(A, a.other)]);
    assert_eq!(w.m.give_back(at(w.now), A, F, a), Status::Ok);
    assert_eq!(w.m.take_out(), [Out::Resume(first), Out::Resume(second)]);
    assert_eq!(w.m.attrs_again(first, 1, 1), AttrsFrom::Backend);
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
        (Intent::Remove { dir: F, target: Some(G) }, false),
        (Intent::Rename { from: G, to: G, source: Some(F), victim: None }, true),
        (Intent::Rename { from: G, to: G, source: None, victim: Some(F) }, true),
        (Intent::Create { dir: F }, false),
    ];
    for (intent, recalls) in readers {
        for (kind, who) in [(Kind::Read, B), (Kind::Read, A), (Kind::Write, B), (Kind::Write, A)] {
            let mut w = World::new();
            w.holds(A, kind);
            let own_names = matches!(intent, Intent::Create { .. } | Intent::Remove { dir: F, .. });
            let waits = who == B && (recalls || (kind == Kind::Write && !own_names));
            assert_eq!(
                matches!(w.admit(who, &intent), Admit::Wait(_)),
                waits,
                "{intent:?} by {who:?} on {kind:?}"
            );
            assert_eq!(w.recalls().len(), usize::from(waits));
        }
    }
}

#[test]
fn fs_25_to_28_what_a_stateid_covers() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.m.check(A, a, F, true), Status::OpenMode);
    assert_eq!(w.m.check(A, Sid { seqid: 0, ..a }, F, false), Status::Ok);
    assert_eq!(w.m.check(A, Sid { seqid: 7, ..a }, F, false), Status::BadStateId);
    assert_eq!(w.m.check(B, a, F, false), Status::BadStateId);
    assert_eq!(w.m.check(A, a, G, false), Status::BadStateId);
}

#[test]
fn fs_29_to_32_who_does_not_return_is_revoked_after_a_lease_until_freed() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    assert_eq!(w.m.free(A, a.other), Status::LocksHeld);
    w.now += 80_000;
    let Admit::Wait(id) = w.admit(B, &open_intent(WRITE)) else { panic!() };
    w.m.take_out();
    w.go_on(20_000);
    assert_eq!(w.m.take_out(), [Out::GiveUp(id)], "patience ends before the lease");
    w.go_on(60_000);
    let Admit::Wait(id) = w.admit(B, &open_intent(WRITE)) else { panic!() };
    assert_eq!(w.m.take_out(), [], "one recall");
    w.go_on(10_000);
    assert_eq!(
        w.m.take_out(),
        [Out::Revoked { client: A, other: a.other, cause: Cause::Late }, Out::Resume(id)]
    );
    assert_eq!(w.m.check(A, a, F, false), Status::DelegRevoked);
    assert_eq!(w.m.give_back(at(w.now), A, F, a), Status::DelegRevoked);
    assert_eq!((w.m.test(A, a), w.m.flags(A)), (Status::DelegRevoked, vec![Cause::Late]));
    assert_eq!(w.m.free(A, a.other), Status::Ok);
    assert_eq!((w.m.test(A, a), w.m.flags(A)), (Status::BadStateId, vec![]));
}

#[test]
fn fs_31_nobody_gets_a_delegation_before_whoever_waits() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    let Admit::Wait(id) = w.admit(B, &open_intent(WRITE)) else { panic!() };
    assert_eq!(w.open(C, READ, Wanted::Read), Err(Why::Contention));
    w.m.closed(C, F, READ);
    w.m.give_back(at(w.now), A, F, a);
    assert_eq!(w.open(C, READ, Wanted::Read), Err(Why::Contention), "resumed, but not back yet");
    w.m.closed(C, F, READ);
    assert_eq!(w.m.admit_again(at(w.now), id), Admit::Go(id));
    assert_eq!(w.open(C, READ, Wanted::Read), Err(Why::Contention), "running");
}

#[test]
fn fs_33_to_35_recalls_are_repeated_believed_and_referred() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    assert!(matches!(w.admit(B, &open_intent(WRITE)), Admit::Wait(_)));
    w.m.take_out();
    w.m.recall_answered(at(w.now), A, a.other, CbOutcome::Delay);
    assert_eq!(w.m.next_deadline(), Some(at(w.now + 2_000)));
    w.go_on(2_000);
    assert_eq!(w.recalls(), [(A, a.other)]);
    w.m.recall_answered(at(w.now), A, a.other, CbOutcome::Unknown);
    assert_eq!(w.m.delegations(), [], "it has seen the grant: it knows");
    assert_eq!(w.m.flags(A), []);
    let mut w = World::new();
    let granted = w.open(A, READ, Wanted::Read).unwrap();
    w.m.closed(A, F, READ);
    assert!(matches!(w.admit(B, &open_intent(WRITE)), Admit::Wait(_)));
    let out = w.m.take_out();
    let call = Call { slot: 1, seq: 1 };
    assert!(matches!(out[..], [Out::Recall { referring: Some(c), .. }] if c == call), "{out:?}");
    w.m.recall_answered(at(w.now), A, granted.sid.other, CbOutcome::Unknown);
    assert_eq!(w.m.delegations().len(), 1, "it may not have seen the grant yet");
    w.m.reply_seen(A, call);
    w.go_on(2_000);
    assert!(matches!(w.m.take_out()[..], [Out::Recall { referring: None, .. }]));
}

#[test]
fn fs_36_and_38_in_grace_only_what_was_held_is_granted() {
    let mut w = World::new();
    w.m.set_grace(true);
    let want = Want { claim: Claim::Previous(Kind::Write), ..w.want(A, READ, Wanted::NoPreference) };
    assert_eq!(w.open_with(&want).unwrap().kind, Kind::Write);
    w.m.set_grace(false);
    let late = Want { claim: Claim::Previous(Kind::Read), ..w.want(A, READ, Wanted::NoPreference) };
    assert!(w.open_with(&late).is_err());
}

#[test]
fn fs_39_a_lease_that_passed_costs_no_wait() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.m.expired(at(w.now), A);
    assert_eq!(w.m.take_out(), [], "kept until somebody needs it");
    assert!(matches!(w.admit(B, &open_intent(WRITE)), Admit::Go(_)));
    assert_eq!(w.m.take_out(), [Out::Revoked { client: A, other: a.other, cause: Cause::Expired }]);
    w.m.renewed(A);
    assert_eq!(w.m.check(A, a, F, false), Status::Expired);
}

#[test]
fn fs_39_a_holder_whose_lease_passed_is_not_asked_for_attributes() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    w.m.expired(at(w.now), A);
    assert_eq!(w.m.attrs_of(at(w.now), Party::Client(B), F), AttrsFrom::Backend);
    assert_eq!(w.m.take_out(), [Out::Revoked { client: A, other: a.other, cause: Cause::Expired }]);
    let mut w = World::new();
    let a = w.holds(A, Kind::Write);
    let AttrsFrom::Ask(id) = w.m.attrs_of(at(w.now), Party::Client(B), F) else { panic!() };
    w.m.take_out();
    w.m.expired(at(w.now), A);
    let taken = Out::Revoked { client: A, other: a.other, cause: Cause::Expired };
    assert_eq!(w.m.take_out(), [taken, Out::Resume(id)]);
    assert_eq!(w.m.attrs_again(id, 7, 8), AttrsFrom::Backend);
}

#[test]
fn a_file_is_left_alone_for_a_while_after_a_recall() {
    let mut w = World::with(Config::default());
    let a = w.holds(A, Kind::Read);
    assert!(matches!(w.admit(B, &open_intent(WRITE)), Admit::Wait(id) if { w.m.forget_waiter(id); true }));
    w.m.give_back(at(w.now), A, F, a);
    assert_eq!(w.open(A, READ, Wanted::Read), Err(Why::Contention));
    w.go_on(30_000);
    assert!(w.open(A, READ, Wanted::Read).is_ok());
}

#[test]
fn x_14_the_seqid_after_the_last_is_one() {
    let mut w = World::new();
    let a = w.holds(A, Kind::Read);
    w.m.delegs[0].sid.seqid = u32::MAX;
    let up = w.open(A, WRITE, Wanted::Write).unwrap();
    assert_eq!(up.sid, Sid { seqid: 1, ..a });
    assert_eq!(w.m.check(A, Sid { seqid: u32::MAX, ..a }, F, false), Status::OldStateId);
}
mod chance;
