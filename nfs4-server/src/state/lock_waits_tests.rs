//! Blocking locks on the tables: who is told, when, and what is held for whom.

use nfs4_proto::{ClientId, Fh, StateId};
use proptest::prelude::*;

use super::files_tests::{A, B, ask, files, key, open, range};
use super::{Files, LockAnswer, LockAsk, LockCall, LockFor, Millis, Now, Range, Wait};
use crate::config::Limits;

const C: ClientId = ClientId(3);
const HOLD: Millis = Millis(100);
const LEASE: u64 = 1000;

fn at(ms: u64) -> Now {
    Now::from_millis(ms)
}

struct Kit {
    files: Files,
    opens: Vec<(ClientId, StateId)>,
}

impl Kit {
    fn new() -> Self {
        Self::with(files())
    }

    fn with(files: Files) -> Self {
        let opens = [A, B, C].map(|client| (client, open(&files, client, "o", 1, "rw"))).to_vec();
        Self { files, opens }
    }

    fn opened(&self, client: ClientId) -> StateId {
        self.opens.iter().find(|(c, _)| *c == client).unwrap().1
    }

    fn try_lock(&self, client: ClientId, owner: &str, ask: LockAsk) -> LockAnswer {
        let open = self.opened(client);
        self.files.lock_range(client, open, LockFor::NewOwner(owner.as_bytes()), key(1), ask).unwrap()
    }

    fn wants(&self, now: u64, client: ClientId, owner: &str, r: Range, write: bool) -> LockAnswer {
        let wait = Wait { fh: Fh::default(), until: at(now + LEASE) };
        self.try_lock(client, owner, LockAsk { range: r, write, wait: Some(wait) })
    }

    fn waits(&self, now: u64, client: ClientId, owner: &str, r: Range, write: bool) {
        assert!(matches!(self.wants(now, client, owner, r, write), LockAnswer::Denied(_)));
    }

    fn gets(&self, client: ClientId, owner: &str, r: Range, write: bool) -> StateId {
        match self.try_lock(client, owner, ask(r, write)) {
            LockAnswer::Granted(stateid) => stateid,
            LockAnswer::Denied(by) => panic!("{by:?}"),
        }
    }

    fn denied(&self, client: ClientId, owner: &str, r: Range, write: bool) -> ClientId {
        match self.try_lock(client, owner, ask(r, write)) {
            LockAnswer::Granted(_) => panic!("granted"),
            LockAnswer::Denied(by) => by.client,
        }
    }

    fn frees(&self, client: ClientId, held: StateId) {
        let held = StateId { seqid: 0, ..held };
        self.files.unlock_range(client, held, key(1), range(0, u64::MAX)).unwrap();
    }

    fn calls(&self, now: u64) -> Vec<LockCall> {
        self.files.take_lock_calls(at(now), HOLD)
    }

    /// Clients and owners that are told now.
    fn told(&self, now: u64) -> Vec<(ClientId, String)> {
        let name = |call: LockCall| (call.client, String::from_utf8(call.owner.to_vec()).unwrap());
        self.calls(now).into_iter().map(name).collect()
    }
}

#[test]
fn the_first_waiter_is_told_and_what_it_asked_for_is_held_for_it() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(1, C, "c", range(5, 1), true);
    kit.waits(2, B, "b", range(0, 10), true);
    assert_eq!(kit.told(3), []);
    kit.frees(A, held);
    assert_eq!(kit.told(4), [(B, "b".into())]);
    assert_eq!(kit.denied(A, "a", range(9, 1), false), B, "it is held for B");
    assert!(kit.files.lock_test(A, b"a", key(1), range(9, 1), false).is_none(), "but nobody has it");
    let held = kit.gets(B, "b", range(0, 10), true);
    assert_eq!(kit.told(5), []);
    kit.frees(B, held);
    assert_eq!(kit.told(6), [(C, "c".into())]);
}

#[test]
fn what_is_held_is_held_for_a_while() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(0, C, "c", range(0, 10), true);
    kit.frees(A, held);
    assert_eq!(kit.told(10), [(B, "b".into())]);
    kit.files.forget_waiters(at(109));
    assert_eq!(kit.told(109), []);
    kit.files.forget_waiters(at(110));
    assert_eq!(kit.told(110), [(C, "c".into())]);
    kit.files.forget_waiters(at(210));
    kit.gets(A, "a", range(0, 10), true);
}

#[test]
fn one_that_cannot_be_told_makes_way() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(0, C, "c", range(0, 10), true);
    kit.frees(A, held);
    let calls = kit.calls(1);
    assert_eq!(calls.len(), 1);
    kit.files.lock_call_failed(&calls[0]);
    assert_eq!(kit.told(2), [(C, "c".into())]);
}

#[test]
fn a_nonblocking_request_that_is_denied_ends_the_wait() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 5), true);
    kit.denied(B, "b", range(0, 10), true);
    kit.frees(A, held);
    assert_eq!(kit.calls(1).len(), 1, "the other one still waits");
    let held = kit.gets(B, "b", range(0, 5), true);
    kit.frees(B, held);
    kit.gets(A, "a", range(0, 10), true);
}

#[test]
fn who_does_not_ask_again_within_a_lease_is_forgotten() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(0, C, "c", range(0, 10), true);
    kit.waits(500, C, "c", range(0, 10), true);
    kit.files.forget_waiters(at(LEASE));
    kit.frees(A, held);
    assert_eq!(kit.told(1001), [(C, "c".into())]);
}

#[test]
fn a_wait_ends_with_its_open_and_with_its_client() {
    let kit = Kit::new();
    let held = kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.waits(0, C, "c", range(0, 10), true);
    kit.files.close(B, kit.opened(B), key(1)).unwrap();
    kit.frees(A, held);
    assert_eq!(kit.told(1), [(C, "c".into())]);
    drop(kit.files.drop_client(C));
    kit.gets(A, "a", range(0, 10), true);
    drop(kit.files.drop_client(A));
    assert_eq!(kit.files.counts(), (0, 0));
}

#[test]
fn a_close_and_the_end_of_a_client_free_for_those_who_wait() {
    let kit = Kit::new();
    kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 10), true);
    kit.files.close(A, kit.opened(A), key(1)).unwrap();
    assert_eq!(kit.told(1), [(B, "b".into())]);
    kit.gets(B, "b", range(0, 10), true);
    kit.waits(2, C, "c", range(0, 10), true);
    drop(kit.files.drop_client(B));
    assert_eq!(kit.told(3), [(C, "c".into())]);
}

#[test]
fn a_downgrade_lets_readers_in() {
    let kit = Kit::new();
    kit.gets(A, "a", range(0, 10), true);
    kit.waits(0, B, "b", range(0, 5), false);
    kit.waits(0, C, "c", range(0, 5), false);
    kit.waits(0, C, "w", range(0, 5), true);
    kit.gets(A, "a", range(0, 10), false);
    assert_eq!(kit.told(1), [(B, "b".into()), (C, "c".into())]);
}

#[test]
fn at_the_limits_a_lock_is_denied_and_nobody_waits() {
    let per_client = Limits { lock_waiters_per_client: 1, ..Limits::default() };
    let per_file = Limits { lock_waiters_per_file: 1, ..Limits::default() };
    for limits in [per_client, per_file] {
        let kit = Kit::with(Files::new(7, &limits));
        let held = kit.gets(A, "a", range(0, 10), true);
        kit.waits(0, B, "b", range(0, 1), true);
        kit.waits(0, B, "x", range(5, 1), true);
        kit.frees(A, held);
        assert_eq!(kit.told(1), [(B, "b".into())]);
        kit.gets(B, "b", range(0, 1), true);
        kit.waits(2, C, "c", range(0, 1), true);
        drop(kit.files.drop_client(B));
        assert_eq!(kit.told(3), [(C, "c".into())], "there is room again");
    }
}

/// S-16.
#[test]
fn who_waits_does_not_pile_up() {
    let kit = Kit::new();
    for round in 0..5000_u64 {
        let owner = format!("l{}", round % 100);
        let opened = open(&kit.files, B, "x", 1, "rw");
        let held = kit.gets(A, "a", range(0, 10), true);
        let wait = Wait { fh: Fh::default(), until: at(round + LEASE) };
        let ask = LockAsk { range: range(round % 10, 1), write: true, wait: Some(wait) };
        let by = LockFor::NewOwner(owner.as_bytes());
        assert!(matches!(kit.files.lock_range(B, opened, by, key(1), ask), Ok(LockAnswer::Denied(_))));
        assert_eq!(kit.files.waiters(), 1);
        kit.frees(A, held);
        // Every other one is gone before it is told.
        assert!(round % 2 == 1 || kit.calls(round).len() == 1);
        kit.files.close(B, StateId { seqid: 0, ..opened }, key(1)).unwrap();
        assert!(kit.calls(round).is_empty());
    }
    assert_eq!(kit.files.waiters(), 0);
    drop([A, B, C].map(|client| kit.files.drop_client(client)));
    assert_eq!(kit.files.counts(), (0, 0));
}

type Wanting = (ClientId, String, Range, bool);

/// Who got the one need not wait for the other.
fn gives(got: &Wanting, other: &Wanting) -> bool {
    let (end, others) = (got.2.offset() + got.2.length(), other.2.offset() + other.2.length());
    got.0 == other.0
        && got.1 == other.1
        && got.2.offset() <= other.2.offset()
        && others <= end
        && (got.3 || !other.3)
}

proptest! {
    /// Whatever happened before: once all locks are freed, everybody who still waits is told in turn.
    #[test]
    fn nobody_waits_for_ever(
        steps in prop::collection::vec((0..3_usize, 0..3_u8, 0..4_u64, 1..4_u64, 0..6_u8), 1..60)
    ) {
        let kit = Kit::new();
        let clients = [A, B, C];
        let mut held = std::collections::HashMap::new();
        let mut waiting: Vec<Wanting> = Vec::new();
        for (client, owner, first, len, what) in steps {
            let (client, owner) = (clients[client], owner.to_string());
            let one = (client, owner.clone(), range(first, len), what % 2 == 0);
            if what < 4 {
                match kit.wants(0, client, &owner, one.2, one.3) {
                    LockAnswer::Granted(stateid) => {
                        held.insert((client, owner), stateid);
                        waiting.retain(|other| !gives(&one, other));
                    }
                    LockAnswer::Denied(_) if waiting.contains(&one) => {}
                    LockAnswer::Denied(_) => waiting.push(one),
                }
            } else if let Some(stateid) = held.get(&(client, owner)) {
                kit.frees(client, *stateid);
            }
        }
        for ((client, _), stateid) in &held {
            kit.frees(*client, *stateid);
        }
        loop {
            let told = kit.told(1);
            if told.is_empty() {
                break;
            }
            for (client, owner) in told {
                for one in waiting.clone().into_iter().filter(|one| (one.0, &one.1) == (client, &owner)) {
                    if !waiting.contains(&one) {
                        continue;
                    }
                    if let LockAnswer::Granted(stateid) = kit.wants(1, client, &owner, one.2, one.3) {
                        kit.frees(client, stateid);
                        waiting.retain(|other| !gives(&one, other));
                    }
                }
            }
        }
        prop_assert_eq!(waiting, vec![]);
    }
}
