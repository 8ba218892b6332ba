//! Rules of opens, shares and locks on the tables.

use std::sync::Arc;

use nfs4_proto::{ClientId, StateId, Status};
use proptest::prelude::*;

use super::{Committed, Files, LockAnswer, LockAsk, LockFor, ObjectKey, Range, Reserve, Shares};
use crate::backend::{FileKind, Node, Oid, OpenAccess, Opened};
use crate::config::Limits;

pub(super) const A: ClientId = ClientId(1);
pub(super) const B: ClientId = ClientId(2);
const READ: OpenAccess = OpenAccess { read: true, write: false };
const WRITE: OpenAccess = OpenAccess { read: false, write: true };

pub(super) fn key(n: u128) -> ObjectKey {
    ObjectKey { export: 1, oid: Oid(n) }
}

pub(super) fn files() -> Files {
    Files::new(7, &Limits::default())
}

fn shares(access: &str, deny: &str) -> Shares {
    Shares {
        read: access.contains('r'),
        write: access.contains('w'),
        deny_read: deny.contains('r'),
        deny_write: deny.contains('w'),
    }
}

fn opened(n: u128, s: Shares) -> Opened {
    let node = Node::new(Oid(n), FileKind::File, Arc::new(()));
    Opened::new(node, OpenAccess { read: s.read, write: s.write }, Arc::new(()))
}

fn try_open(files: &Files, client: ClientId, owner: &str, n: u128, s: Shares) -> Result<Committed, Status> {
    match files.reserve(client, owner.as_bytes(), key(n), s)? {
        Reserve::Ok(reserved) => reserved.commit(opened(n, s)),
        Reserve::Conflict(_) => Err(Status::ShareDenied),
    }
}

pub(super) fn open(files: &Files, client: ClientId, owner: &str, n: u128, access: &str) -> StateId {
    try_open(files, client, owner, n, shares(access, "")).unwrap().stateid
}

pub(super) fn range(offset: u64, length: u64) -> Range {
    Range::new(offset, length).unwrap()
}

pub(super) fn ask(range: Range, write: bool) -> LockAsk {
    LockAsk { range, write, wait: None }
}

fn lock(
    files: &Files,
    client: ClientId,
    open: StateId,
    owner: &str,
    n: u128,
    r: Range,
    write: bool,
) -> Result<StateId, Status> {
    match files.lock_range(client, open, LockFor::NewOwner(owner.as_bytes()), key(n), ask(r, write))? {
        LockAnswer::Granted(stateid) => Ok(stateid),
        LockAnswer::Denied(_) => Err(Status::Denied),
    }
}

#[test]
fn an_upgrade_has_the_same_other_and_the_next_seqid() {
    let files = files();
    let first = open(&files, A, "o", 1, "r");
    let second = try_open(&files, A, "o", 1, shares("w", "")).unwrap();
    assert_eq!(second.stateid.other, first.other);
    assert_eq!((first.seqid, second.stateid.seqid), (1, 2));
    assert_eq!((second.was_write, second.write), (Some(false), true));
    assert!(files.check(A, second.stateid, key(1), WRITE).is_ok());
    assert!(files.check(A, second.stateid, key(1), READ).is_ok());
}

#[test]
fn another_owner_or_file_has_a_state_of_its_own() {
    let files = files();
    let one = open(&files, A, "o", 1, "r");
    assert_ne!(open(&files, A, "p", 1, "r").other, one.other);
    assert_ne!(open(&files, A, "o", 2, "r").other, one.other);
    assert_ne!(open(&files, B, "o", 1, "r").other, one.other);
}

#[test]
fn a_deny_keeps_others_out_and_not_the_owner_itself() {
    let files = files();
    try_open(&files, A, "o", 1, shares("r", "w")).unwrap();
    assert_eq!(try_open(&files, B, "o", 1, shares("w", "")), Err(Status::ShareDenied));
    assert_eq!(try_open(&files, A, "p", 1, shares("w", "")), Err(Status::ShareDenied), "owners, not clients");
    assert!(try_open(&files, A, "o", 1, shares("w", "")).is_ok());
    assert!(try_open(&files, B, "o", 1, shares("r", "")).is_ok());
    assert_eq!(try_open(&files, B, "q", 1, shares("r", "r")), Err(Status::ShareDenied));
}

#[test]
fn a_share_counts_from_the_reservation_on_and_not_beyond_its_end() {
    let files = files();
    let Ok(Reserve::Ok(reserved)) = files.reserve(A, b"o", key(1), shares("r", "w")) else {
        panic!("refused")
    };
    assert_eq!(try_open(&files, B, "o", 1, shares("w", "")), Err(Status::ShareDenied));
    drop(reserved);
    assert!(try_open(&files, B, "o", 1, shares("w", "")).is_ok());
}

#[test]
fn downgrade_goes_to_unions_of_what_was_opened_and_nowhere_else() {
    let files = files();
    try_open(&files, A, "o", 1, shares("r", "")).unwrap();
    let all = try_open(&files, A, "o", 1, shares("rw", "w")).unwrap();
    assert_eq!(
        files.downgrade(A, all.stateid, key(1), shares("w", "")),
        Err(Status::Inval),
        "w alone was never opened"
    );
    assert_eq!(files.downgrade(A, all.stateid, key(1), shares("r", "w")), Err(Status::Inval));
    let down = files.downgrade(A, all.stateid, key(1), shares("r", "")).unwrap();
    assert_eq!(down.stateid.seqid, all.stateid.seqid + 1);
    assert!(files.check(A, down.stateid, key(1), READ).is_ok());
    assert_eq!(files.check(A, down.stateid, key(1), WRITE).err(), Some(Status::OpenMode));
    assert!(try_open(&files, B, "o", 1, shares("w", "")).is_ok(), "the deny is gone");
}

#[test]
fn close_ends_the_state_and_its_share() {
    let files = files();
    let open = try_open(&files, A, "o", 1, shares("r", "w")).unwrap().stateid;
    assert!(files.client_has_state(A));
    let closed = files.close(A, open, key(1)).unwrap();
    assert_eq!((closed.key, closed.client, closed.write), (key(1), A, false));
    assert!(!files.client_has_state(A));
    assert_eq!(files.close(A, open, key(1)).err(), Some(Status::BadStateId));
    assert!(try_open(&files, B, "o", 1, shares("w", "")).is_ok());
    assert_eq!(files.counts(), (1, 0));
}

#[test]
fn stateids_of_others_of_other_files_and_of_other_boots_are_bad() {
    let files = files();
    let open = open(&files, A, "o", 1, "r");
    assert_eq!(files.check(B, open, key(1), READ).err(), Some(Status::BadStateId));
    assert_eq!(files.check(A, open, key(2), READ).err(), Some(Status::BadStateId));
    let restarted = Files::new(8, &Limits::default());
    assert_eq!(restarted.test(A, open), Status::BadStateId);
    assert_eq!(files.test(A, open), Status::Ok);
    assert_eq!(files.test(B, open), Status::BadStateId);
    assert_eq!(files.test(A, StateId::ANONYMOUS), Status::BadStateId);
}

#[test]
fn an_old_seqid_is_old_a_future_one_is_bad_and_zero_is_current() {
    let files = files();
    let first = open(&files, A, "o", 1, "r");
    let second = open(&files, A, "o", 1, "r");
    assert_eq!(files.check(A, first, key(1), READ).err(), Some(Status::OldStateId));
    let future = StateId { seqid: second.seqid + 5, ..second };
    assert_eq!(files.check(A, future, key(1), READ).err(), Some(Status::BadStateId));
    assert!(files.check(A, StateId { seqid: 0, ..second }, key(1), READ).is_ok());
    assert_eq!(files.test(A, first), Status::OldStateId);
}

#[test]
fn an_open_for_reading_does_not_write() {
    let files = files();
    let open = open(&files, A, "o", 1, "r");
    assert_eq!(files.check(A, open, key(1), WRITE).err(), Some(Status::OpenMode));
    assert_eq!(lock(&files, A, open, "l", 1, range(0, 1), true), Err(Status::OpenMode));
    assert!(lock(&files, A, open, "l", 1, range(0, 1), false).is_ok());
}

#[test]
fn a_lock_is_denied_with_its_holder() {
    let files = files();
    let (a, b) = (open(&files, A, "o", 1, "rw"), open(&files, B, "o", 1, "rw"));
    lock(&files, A, a, "l", 1, range(10, 10), true).unwrap();
    let answer = files.lock_range(B, b, LockFor::NewOwner(b"m"), key(1), ask(range(15, 1), false)).unwrap();
    let LockAnswer::Denied(denied) = answer else { panic!("granted") };
    assert_eq!((denied.client, denied.owner.as_slice(), denied.write), (A, &b"l"[..], true));
    assert_eq!((denied.range.offset(), denied.range.length()), (10, 10));
    assert!(files.lock_test(B, b"m", key(1), range(20, 1), true).is_none());
    assert!(
        files.lock_test(A, b"l", key(1), range(10, 1), true).is_none(),
        "one's own lock is not in the way"
    );
    assert!(!files.client_has_state(ClientId(3)));
}

#[test]
fn a_denied_lock_leaves_no_lock_owner_behind() {
    let files = files();
    let (a, b) = (open(&files, A, "o", 1, "rw"), open(&files, B, "o", 1, "rw"));
    lock(&files, A, a, "l", 1, range(0, 1), true).unwrap();
    assert_eq!(lock(&files, B, b, "m", 1, range(0, 1), true), Err(Status::Denied));
    assert_eq!(files.counts(), (2, 1));
}

#[test]
fn a_known_lock_owner_keeps_its_stateid() {
    let files = files();
    let open = open(&files, A, "o", 1, "rw");
    let first = lock(&files, A, open, "l", 1, range(0, 1), true).unwrap();
    let again = lock(&files, A, open, "l", 1, range(5, 1), true).unwrap();
    assert_eq!((again.other, again.seqid), (first.other, first.seqid + 1));
    let answer = files.lock_range(A, again, LockFor::Existing, key(1), ask(range(9, 1), false)).unwrap();
    assert!(matches!(answer, LockAnswer::Granted(stateid) if stateid.seqid == 3));
    let freed = files.unlock_range(A, StateId { seqid: 0, ..first }, key(1), range(0, u64::MAX)).unwrap();
    assert_eq!(freed.seqid, 4);
    assert!(files.free(A, freed).is_ok());
    assert_eq!(files.test(A, freed), Status::BadStateId);
}

#[test]
fn a_state_with_locks_and_an_open_are_not_freed() {
    let files = files();
    let open = open(&files, A, "o", 1, "rw");
    let locked = lock(&files, A, open, "l", 1, range(0, 1), true).unwrap();
    assert_eq!(files.free(A, locked), Err(Status::LocksHeld));
    assert_eq!(files.free(A, open), Err(Status::LocksHeld));
    assert_eq!(files.free(B, locked), Err(Status::BadStateId));
}

#[test]
fn a_lock_stateid_reads_and_writes_with_its_opens_access() {
    let files = files();
    let open = open(&files, A, "o", 1, "r");
    let locked = lock(&files, A, open, "l", 1, range(0, 1), false).unwrap();
    assert!(files.check(A, locked, key(1), READ).is_ok());
    assert_eq!(files.check(A, locked, key(1), WRITE).err(), Some(Status::OpenMode));
    assert_eq!(files.close(A, locked, key(1)).err(), Some(Status::BadStateId), "a lock is no open");
}

#[test]
fn close_frees_the_locks_that_came_by_the_open() {
    let files = files();
    let (a, b) = (open(&files, A, "o", 1, "rw"), open(&files, B, "o", 1, "rw"));
    let locked = lock(&files, A, a, "l", 1, range(0, 1), true).unwrap();
    files.close(A, a, key(1)).unwrap();
    assert_eq!(files.test(A, locked), Status::BadStateId);
    assert!(lock(&files, B, b, "m", 1, range(0, 1), true).is_ok());
}

#[test]
fn special_stateids_meet_the_deny_bits() {
    let files = files();
    try_open(&files, A, "o", 1, shares("r", "w")).unwrap();
    assert_eq!(files.check_anonymous(key(1), WRITE), Err(Status::Locked));
    assert_eq!(files.check_anonymous(key(1), READ), Ok(()));
    assert_eq!(files.check_anonymous(key(2), WRITE), Ok(()));
}

#[test]
fn the_end_of_a_client_frees_all_that_it_held() {
    let files = files();
    let a = open(&files, A, "o", 1, "rw");
    open(&files, A, "p", 2, "r");
    lock(&files, A, a, "l", 1, range(0, 1), true).unwrap();
    let b = open(&files, B, "o", 1, "rw");
    let closed = files.drop_client(A);
    assert_eq!(closed.len(), 2);
    assert!(!files.client_has_state(A));
    assert_eq!(files.counts(), (1, 0));
    assert!(lock(&files, B, b, "m", 1, range(0, 1), true).is_ok());
    assert!(files.drop_client(A).is_empty());
}

#[test]
fn at_the_limit_of_opens_one_more_is_refused_and_a_close_makes_room() {
    let files = Files::new(7, &Limits { opens_per_client: 2, ..Limits::default() });
    let one = open(&files, A, "o", 1, "r");
    open(&files, A, "o", 2, "r");
    assert_eq!(try_open(&files, A, "o", 3, shares("r", "")), Err(Status::ServerFault));
    assert!(try_open(&files, A, "o", 1, shares("w", "")).is_ok(), "an upgrade is no further open");
    assert!(try_open(&files, B, "o", 3, shares("r", "")).is_ok(), "others are served");
    files.close(A, StateId { seqid: 0, ..one }, key(1)).unwrap();
    assert!(try_open(&files, A, "o", 3, shares("r", "")).is_ok());
}

#[test]
fn at_the_limit_of_locks_one_more_is_refused_and_an_unlock_makes_room() {
    let files = Files::new(7, &Limits { locks_per_client: 4, ..Limits::default() });
    let open = open(&files, A, "o", 1, "rw");
    let mut last = StateId::ANONYMOUS;
    for n in 0..3 {
        last = lock(&files, A, open, "l", 1, range(n * 10, 1), true).unwrap();
    }
    assert_eq!(lock(&files, A, open, "l", 1, range(100, 1), true), Err(Status::ServerFault));
    files.unlock_range(A, last, key(1), range(0, 15)).unwrap();
    assert!(lock(&files, A, open, "l", 1, range(100, 1), true).is_ok());
}

/// S-16.
#[test]
fn lock_state_does_not_pile_up() {
    let files = files();
    for round in 0..20_000_u64 {
        let (n, owner) = (u128::from(round % 10), format!("l{}", round % 1000));
        let open = open(&files, A, "o", n, "rw");
        let locked = lock(&files, A, open, &owner, n, range(round, 1), true).unwrap();
        if round % 2 == 0 {
            files.unlock_range(A, locked, key(n), range(0, u64::MAX)).unwrap();
        }
        files.close(A, StateId { seqid: 0, ..open }, key(n)).unwrap();
    }
    assert_eq!(files.counts(), (0, 0));
    assert!(!files.client_has_state(A));
}

/// What one owner has open on one file, by the RFC's words: the combinations opened.
type Model = Vec<(ClientId, usize, Vec<Shares>)>;

fn union(all: &[Shares]) -> Shares {
    all.iter().fold(Shares::default(), |sum, one| sum.union(*one))
}

proptest! {
    #[test]
    fn share_reservations_agree_with_a_plain_list(
        steps in prop::collection::vec((0..2_u64, 0..3_usize, 0..8_u8, 1..16_u8), 1..60)
    ) {
        let files = files();
        let mut model: Model = Vec::new();
        let mut stateids = std::collections::HashMap::new();
        for (client, owner, what, bits) in steps {
            let client = ClientId(client + 1);
            let s = Shares { read: bits & 1 != 0, write: bits & 2 != 0, deny_read: bits & 4 != 0, deny_write: bits & 8 != 0 };
            let at = model.iter().position(|(c, o, _)| (*c, *o) == (client, owner));
            match what {
                0..=4 if s.read || s.write => {
                    let conflict = model.iter()
                        .any(|(c, o, all)| (*c, *o) != (client, owner) && union(all).conflict(s));
                    let answer = try_open(&files, client, &owner.to_string(), 1, s);
                    prop_assert_eq!(answer.is_err(), conflict);
                    if let Ok(done) = answer {
                        stateids.insert((client, owner), done.stateid);
                        match at {
                            Some(at) => model[at].2.push(s),
                            None => model.push((client, owner, vec![s])),
                        }
                    }
                }
                5 | 6 if s.read || s.write => {
                    let Some(at) = at else { continue };
                    let inside: Vec<Shares> = model[at].2.iter().copied().filter(|one| one.union(s) == s).collect();
                    let answer = files.downgrade(client, stateids[&(client, owner)], key(1), s);
                    prop_assert_eq!(answer.is_ok(), union(&inside) == s);
                    if let Ok(done) = answer {
                        model[at].2 = inside;
                        stateids.insert((client, owner), done.stateid);
                    }
                }
                7 => {
                    let Some(at) = at else { continue };
                    prop_assert!(files.close(client, stateids[&(client, owner)], key(1)).is_ok());
                    model.swap_remove(at);
                }
                _ => {}
            }
            for (c, o, all) in &model {
                let all = union(all);
                let stateid = stateids[&(*c, *o)];
                prop_assert_eq!(files.check(*c, stateid, key(1), READ).is_ok(), all.read);
                prop_assert_eq!(files.check(*c, stateid, key(1), WRITE).is_ok(), all.write);
            }
        }
    }
}
