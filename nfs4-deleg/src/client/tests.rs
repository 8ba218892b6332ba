//! The scenarios FC-1 to FC-25, by number, and what they leave out.

use alloc::vec;
use alloc::vec::Vec;

use nfs4_proto::{NfsTime, SeqStatusFlags, StateId, Status};

use super::*;
use crate::server::Share;

const F: Oid = Oid(7);
const G: Oid = Oid(8);
const A: OwnerKey = OwnerKey(1);
const B: OwnerKey = OwnerKey(2);
const READ: Share = Share { read: true, write: false, deny_read: false, deny_write: false };
const WRITE: Share = Share { read: false, write: true, deny_read: false, deny_write: false };
const BOTH: Share = Share { read: true, write: true, deny_read: false, deny_write: false };
const LEASE: u64 = 90_000;

fn at(ms: u64) -> Now {
    Now::from_millis(ms)
}

fn sid(other: u8, seqid: u32) -> StateId {
    StateId { seqid, other: [other; 12] }
}

fn triple(slot: u32) -> Triple {
    Triple { session: [9; 16], slot, seq: 1 }
}

fn grant(kind: Kind, stateid: StateId) -> Grant {
    Grant {
        stateid,
        kind,
        times: false,
        recall: false,
        limit: SpaceLimit::Size(u64::MAX),
        ace: None,
        change: 100,
        size: 4096,
    }
}

fn lock(owner: OwnerKey, start: u64, last: u64, write: bool) -> Lock {
    Lock { open: owner, owner, start, last, write }
}

fn open(oid: Oid, owner: OwnerKey, share: Share) -> Query<'static> {
    Query::Open { oid, owner, share, who: "u@d", allowed: true, create: false, truncate: false }
}

/// A client with a lease, and a word for each thing that tests do.
struct Client {
    h: Holdings,
    now: u64,
    calls: u64,
}

impl Client {
    fn new() -> Self {
        Self::with(Config::default())
    }

    fn with(config: Config) -> Self {
        let mut client = Self { h: Holdings::new(config), now: 1_000, calls: 0 };
        client.sequence(SeqStatusFlags::empty());
        client
    }

    fn sequence(&mut self, flags: SeqStatusFlags) {
        self.event(ClientEvent::Sequence { sent: at(self.now), flags });
    }

    fn event(&mut self, event: ClientEvent) {
        self.h.handle_event(at(self.now), event);
        self.h.check().unwrap();
    }

    fn ask(&mut self, query: &Query<'_>) -> Serve {
        let answer = self.h.may_serve(at(self.now), query);
        self.h.check().unwrap();
        answer
    }

    fn local(&mut self, query: &Query<'_>) -> bool {
        matches!(self.ask(query), Serve::Local(_))
    }

    fn send_open(&mut self, oid: Option<Oid>, slot: u32) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.h.sending(at(self.now), call, &OwnOp::Open { oid, triple: triple(slot) });
        call
    }

    fn send_io(&mut self, oid: Oid, changes: bool) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.h.sending(at(self.now), call, &OwnOp::Io { oid, delegated: true, changes });
        call
    }

    fn reply(&mut self, call: CallId, reply: &OwnReply) -> Advice {
        let advice = self.h.replied(at(self.now), call, reply);
        self.h.check().unwrap();
        advice
    }

    fn granted(&mut self, oid: Oid, open: Option<Opened>, grant: Grant) {
        let call = self.send_open(Some(oid), 1);
        self.reply(call, &OwnReply::Opened { oid, open, grant: Some(grant) });
    }

    fn holds(&mut self, oid: Oid, kind: Kind, stateid: StateId) {
        self.granted(oid, None, grant(kind, stateid));
    }

    fn callback(&mut self, cb: CbOp, referring: &[Triple]) -> CbAnswer {
        let answer = self.h.callback(at(self.now), &cb, &CbSequence { referring });
        self.h.check().unwrap();
        answer
    }

    fn recall(&mut self, oid: Oid, stateid: StateId, truncate: bool) -> Status {
        match self.callback(CbOp::Recall { oid: Some(oid), stateid, truncate }, &[]) {
            CbAnswer::Status(status) => status,
            other @ (CbAnswer::Attrs(_) | CbAnswer::Later(_)) => panic!("{other:?}"),
        }
    }

    fn actions(&mut self) -> Vec<ClientAction> {
        core::iter::from_fn(|| self.h.poll_action()).collect()
    }

    /// All steps that are out now, in order.
    fn steps(&mut self) -> Vec<(StepKey, StateId, Step)> {
        self.actions()
            .into_iter()
            .filter_map(|action| {
                if let ClientAction::Step { key, stateid, step, .. } = action {
                    Some((key, stateid, step))
                } else {
                    None
                }
            })
            .collect()
    }

    fn done(&mut self, key: StepKey, status: Status) {
        self.event(ClientEvent::StepDone { key, status });
    }

    /// Carries out all steps, each with success, and tells them in order.
    fn carry_out(&mut self) -> Vec<Step> {
        let mut all = Vec::new();
        loop {
            let steps = self.steps();
            if steps.is_empty() {
                return all;
            }
            for (key, _, step) in steps {
                all.push(step);
                self.done(key, Status::Ok);
            }
        }
    }

    fn sleep(&mut self, ms: u64) {
        self.now += ms;
        self.h.handle_timeout(at(self.now));
        self.h.check().unwrap();
    }
}

#[test]
fn fc_1_under_a_read_delegation_opens_for_reading_and_closes_are_local() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    assert!(c.local(&open(F, A, READ)));
    assert!(c.local(&open(F, A, READ)));
    assert!(c.local(&Query::Close { oid: F, owner: A, share: READ }));
    assert!(c.local(&Query::Close { oid: F, owner: A, share: READ }));
    assert_eq!(c.actions(), []);
}

#[test]
fn fc_2_under_a_read_delegation_an_open_that_writes_denies_or_cuts_goes_to_the_server() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let ask = Serve::Ask(WhyNot::ReadOnly);
    assert_eq!(c.ask(&open(F, A, WRITE)), ask);
    assert_eq!(c.ask(&open(F, A, BOTH)), ask);
    assert_eq!(c.ask(&open(F, A, Share { deny_read: true, ..READ })), ask);
    assert_eq!(c.ask(&open(F, A, Share { deny_write: true, ..READ })), ask);
    let cut =
        Query::Open { oid: F, owner: A, share: READ, who: "", allowed: true, create: false, truncate: true };
    assert_eq!(c.ask(&cut), ask);
}

#[test]
fn fc_3_under_a_write_delegation_all_of_a_files_life_is_local() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    assert!(c.local(&open(F, A, BOTH)));
    assert!(c.local(&Query::Lock { oid: F, lock: lock(A, 0, 9, true) }));
    assert!(c.local(&Query::Unlock { oid: F, owner: A, start: 0, last: 9 }));
    assert!(c.local(&Query::Truncate { oid: F, size: 0 }));
    assert!(c.local(&Query::Write { oid: F, end: 10, bytes: 10 }));
    assert!(c.local(&Query::Attrs { oid: F, copy: Copy::Own, access_time: false }));
    assert!(c.local(&Query::Close { oid: F, owner: A, share: BOTH }));
    assert_eq!(c.actions(), []);
}

#[test]
fn fc_4_under_a_read_delegation_locks_go_to_the_server() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let read = lock(A, 0, 9, false);
    assert_eq!(c.ask(&Query::Lock { oid: F, lock: read }), Serve::Ask(WhyNot::ReadOnly));
    assert_eq!(c.ask(&Query::LockTest { oid: F, lock: read }), Serve::Ask(WhyNot::ReadOnly));
}

#[test]
fn fc_5_beyond_the_space_limit_a_close_waits_for_the_flush() {
    let mut c = Client::new();
    c.granted(F, None, Grant { limit: SpaceLimit::Size(0), ..grant(Kind::Write, sid(1, 1)) });
    assert!(c.local(&open(F, A, WRITE)));
    assert!(c.local(&Query::Write { oid: F, end: 1, bytes: 1 }));
    let close = Query::Close { oid: F, owner: A, share: WRITE };
    assert_eq!(c.ask(&close), Serve::Ask(WhyNot::SpaceLimit));
    c.event(ClientEvent::Flushed { oid: F, left: 0 });
    assert!(c.local(&close));
}

#[test]
fn fc_6_a_space_limit_in_blocks_is_a_product_of_64_bits() {
    let mut c = Client::new();
    let limit = SpaceLimit::Blocks { blocks: 0x1_0000, bytes_per_block: 0x1_0000 };
    c.granted(F, None, Grant { limit, ..grant(Kind::Write, sid(1, 1)) });
    assert!(c.local(&open(F, A, WRITE)));
    let close = Query::Close { oid: F, owner: A, share: WRITE };
    assert!(c.local(&Query::Write { oid: F, end: 1 << 32, bytes: 1 << 32 }));
    assert!(c.local(&close), "2³² bytes are within");
    assert!(c.local(&open(F, A, WRITE)));
    assert!(c.local(&Query::Write { oid: F, end: (1 << 32) + 1, bytes: 1 }));
    assert_eq!(c.ask(&close), Serve::Ask(WhyNot::SpaceLimit));
}

/// A write delegation with dirty data, two local opens, one lock.
fn busy() -> Client {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    assert!(c.local(&open(F, A, READ)));
    assert!(c.local(&open(F, B, BOTH)));
    assert!(c.local(&Query::Lock { oid: F, lock: lock(B, 5, 6, true) }));
    assert!(c.local(&Query::Write { oid: F, end: 10, bytes: 10 }));
    c
}

fn opened(owner: OwnerKey, share: Share) -> Opened {
    Opened { owner, share, on_server: false }
}

#[test]
fn fc_7_a_recall_flushes_then_makes_opens_and_locks_real_then_returns() {
    let mut c = busy();
    assert_eq!(c.recall(F, sid(1, 0), false), Status::Ok);
    let steps = c.steps();
    let [(flush, under, Step::Flush)] = steps[..] else { panic!("{steps:?}") };
    assert_eq!(under, sid(1, 0), "under the delegation");
    assert_eq!(c.ask(&open(F, A, READ)), Serve::Ask(WhyNot::Returning), "nothing new from here");
    let own = Query::Read { oid: F, copy: Copy::Own };
    assert!(c.local(&own), "the server does not have it yet");
    c.done(flush, Status::Ok);
    let opens = c.steps();
    assert_eq!(
        opens.iter().map(|s| s.2).collect::<Vec<_>>(),
        [Step::Open(opened(A, READ)), Step::Open(opened(B, BOTH))]
    );
    c.done(opens[0].0, Status::Ok);
    assert_eq!(c.steps(), [], "a lock needs its open");
    c.done(opens[1].0, Status::Ok);
    let locks = c.steps();
    assert_eq!(locks.iter().map(|s| s.2).collect::<Vec<_>>(), [Step::Lock(lock(B, 5, 6, true))]);
    assert!(c.local(&own));
    c.done(locks[0].0, Status::Ok);
    assert_eq!(c.ask(&own), Serve::Ask(WhyNot::Returning), "DELEGRETURN may be executed at any moment");
    assert_eq!(c.carry_out(), [Step::DelegReturn]);
    assert_eq!(c.h.held(F), None);
    // The opens are the server's now.
    assert_eq!(c.ask(&Query::Close { oid: F, owner: A, share: READ }), Serve::Ask(WhyNot::NoDelegation));
}

#[test]
fn fc_8_a_recall_for_truncation_spares_the_flush() {
    let mut c = busy();
    assert_eq!(c.recall(F, sid(1, 0), true), Status::Ok);
    let actions = c.actions();
    assert_eq!(actions[0], ClientAction::Discard { oid: F });
    for action in actions {
        if let ClientAction::Step { key, step, .. } = action {
            assert!(matches!(step, Step::Open(_)));
            c.done(key, Status::Ok);
        }
    }
    assert_eq!(c.carry_out(), [Step::Lock(lock(B, 5, 6, true)), Step::DelegReturn]);
}

#[test]
fn fc_9_a_pending_truncation_goes_before_any_write() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    assert!(c.local(&Query::Truncate { oid: F, size: 100 }));
    assert!(c.local(&Query::Write { oid: F, end: 150, bytes: 50 }));
    assert!(c.local(&Query::Truncate { oid: F, size: 200 }));
    assert_eq!(c.recall(F, sid(1, 0), false), Status::Ok);
    let all = c.carry_out();
    assert_eq!(
        all,
        [Step::Truncate { size: 100 }, Step::Flush, Step::Truncate { size: 200 }, Step::DelegReturn],
        "cut, written, then stretched to where it ends"
    );
}

#[test]
fn fc_10_two_recalls_make_one_return() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    assert_eq!(c.recall(F, sid(1, 0), false), Status::Ok);
    assert_eq!(c.recall(F, sid(1, 0), false), Status::Ok);
    assert_eq!(c.carry_out(), [Step::DelegReturn]);
}

#[test]
fn fc_11_a_recall_of_what_is_not_held_is_refused() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let unknown = CbOp::Recall { oid: None, stateid: sid(1, 0), truncate: false };
    assert_eq!(c.callback(unknown, &[]), CbAnswer::Status(Status::BadHandle));
    assert_eq!(c.recall(G, sid(1, 0), false), Status::BadHandle);
    assert_eq!(c.recall(F, sid(2, 0), false), Status::BadStateId);
    let call = c.send_open(Some(F), 1);
    assert_eq!(c.recall(F, sid(2, 0), false), Status::Delay, "an OPEN in flight may explain it");
    c.reply(call, &OwnReply::Failed(Status::Access));
    assert_eq!(c.recall(F, sid(2, 0), false), Status::BadStateId);
}

#[test]
fn fc_12_a_recall_may_carry_any_seqid() {
    for seqid in [0, 1] {
        let mut c = Client::new();
        c.holds(F, Kind::Read, sid(1, 1));
        assert_eq!(c.recall(F, sid(1, seqid), false), Status::Ok);
        let steps = c.steps();
        assert_eq!(steps[0].1, sid(1, 1), "returned by its own");
    }
}

#[test]
fn fc_13_a_recall_waits_a_round_trip_for_the_reply_it_refers_to() {
    let mut c = Client::new();
    let call = c.send_open(None, 3);
    let cb = CbOp::Recall { oid: Some(F), stateid: sid(1, 0), truncate: false };
    let CbAnswer::Later(first) = c.callback(cb, &[triple(3)]) else { panic!("not parked") };
    let until = c.h.poll_timeout().unwrap();
    assert!(until > at(c.now) && until <= at(c.now + 500), "about one round trip");
    c.now = until.as_millis();
    c.sleep(0);
    let delay = CbAnswer::Status(Status::Delay);
    assert_eq!(c.actions(), [ClientAction::Answer { key: first, answer: delay }]);
    // Called again; this time the reply comes.
    let CbAnswer::Later(second) = c.callback(cb, &[triple(3)]) else { panic!("not parked") };
    let opened = Opened { owner: A, share: READ, on_server: true };
    c.reply(
        call,
        &OwnReply::Opened { oid: F, open: Some(opened), grant: Some(grant(Kind::Read, sid(1, 1))) },
    );
    let actions = c.actions();
    let Some(ClientAction::Step { step: Step::DelegReturn, .. }) = actions.first() else {
        panic!("{actions:?}")
    };
    assert_eq!(actions[1], ClientAction::Answer { key: second, answer: CbAnswer::Status(Status::Ok) });
}

#[test]
fn fc_14_a_triple_of_no_call_in_flight_is_no_race() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let cb = CbOp::Recall { oid: Some(F), stateid: sid(1, 0), truncate: false };
    let gone = Triple { session: [1; 16], ..triple(1) };
    assert_eq!(c.callback(cb, &[gone]), CbAnswer::Status(Status::Ok));
}

const ALL: CbMask = CbMask { change: true, size: true, access: true, modify: true };

fn attrs(change: u64, size: u64) -> CbAnswer {
    CbAnswer::Attrs(CbAttrs { change: Some(change), size: Some(size), access: None, modify: None })
}

#[test]
fn fc_15_cb_getattr_answers_the_grants_change_and_one_more_while_dirty() {
    let mut c = Client::new();
    c.holds(F, Kind::Write, sid(1, 1));
    let cb = CbOp::GetAttr { oid: Some(F), mask: ALL };
    assert_eq!(c.callback(cb, &[]), attrs(100, 4096));
    assert!(c.local(&Query::Write { oid: F, end: 9_000, bytes: 10 }));
    assert_eq!(c.callback(cb, &[]), attrs(101, 9_000));
    assert!(c.local(&Query::Write { oid: F, end: 9_001, bytes: 1 }));
    assert_eq!(c.callback(cb, &[]), attrs(101, 9_001));
    c.event(ClientEvent::Flushed { oid: F, left: 0 });
    assert_eq!(c.callback(cb, &[]), attrs(100, 9_001), "clean again, never a newer base");
    let none = CbOp::GetAttr { oid: Some(F), mask: CbMask { size: true, ..CbMask::default() } };
    assert_eq!(
        c.callback(none, &[]),
        CbAnswer::Attrs(CbAttrs { size: Some(9_001), ..CbAttrs::default() }),
        "only what was asked"
    );
}

#[test]
fn fc_15_cb_getattr_answers_delegated_times_only_where_they_are_delegated() {
    for times in [false, true] {
        let mut c = Client::new();
        c.granted(F, None, Grant { times, ..grant(Kind::Write, sid(1, 1)) });
        let moved = Some(NfsTime { seconds: 5, nseconds: 6 });
        c.event(ClientEvent::Times { oid: F, access: None, modify: moved });
        let CbAnswer::Attrs(got) = c.callback(CbOp::GetAttr { oid: Some(F), mask: ALL }, &[]) else {
            panic!()
        };
        assert_eq!(got.modify, moved.filter(|_| times));
        c.recall(F, sid(1, 0), false);
        let told = Step::Times { access: None, modify: moved };
        let expected = if times { vec![told, Step::DelegReturn] } else { vec![Step::DelegReturn] };
        assert_eq!(c.carry_out(), expected, "and sets them before the return");
    }
}

#[test]
fn fc_16_cb_getattr_under_a_read_delegation_is_a_bad_handle() {
    let mut c = Client::new();
    c.holds(F, Kind::Read, sid(1, 1));
    let bad = CbAnswer::Status(Status::BadHandle);
    assert_eq!(c.callback(CbOp::GetAttr { oid: Some(F), mask: ALL }, &[]), bad);
    assert_eq!(c.callback(CbOp::GetAttr { oid: None, mask: ALL }, &[]), bad);
}

mod beyond;
mod chance;
mod later;
