//! Stable records in files: they survive crashes, and damage is not taken for one.

use std::fs;
use std::path::Path;

use super::super::records::StateDirError;
use super::*;

fn open(path: &Path) -> Result<FileRecords, StateDirError> {
    FileRecords::open(Arc::new(StateDir::open(path)?))
}

fn record(records: &FileRecords, owner: &str) -> Option<bool> {
    records.load().iter().find(|r| r.owner == owner).map(|r| r.reclaimed)
}

/// A directory with three clients on record, and their epoch.
fn three() -> (tempfile::TempDir, u32) {
    let dir = tempfile::tempdir().unwrap();
    let records = open(dir.path()).unwrap();
    for owner in ["a", "b", "c"] {
        records.confirm(owner.as_bytes(), false).unwrap();
        records.reclaimed(owner.as_bytes()).unwrap();
    }
    (dir, records.epoch())
}

#[test]
fn records_survive_and_every_boot_has_its_own_number() {
    let (dir, epoch) = three();
    let records = open(dir.path()).unwrap();
    assert_ne!(records.epoch(), epoch);
    assert_eq!(records.load().len(), 3);
    assert!(records.load().iter().all(|r| r.reclaimed && r.boot == epoch));
    records.forget(&[Bytes::from_static(b"a")]).unwrap();
    records.confirm(b"b", false).unwrap();
    let second = records.epoch();
    drop(records);
    let records = open(dir.path()).unwrap();
    assert!(records.epoch() != epoch && records.epoch() != second);
    assert_eq!(["a", "b", "c"].map(|o| record(&records, o)), [None, Some(false), Some(true)]);
}

#[test]
fn an_emptied_directory_does_not_repeat_boot_numbers() {
    let epochs: BTreeSet<_> = (0..8).map(|_| three().1).collect();
    assert_eq!(epochs.len(), 8);
}

#[test]
fn a_torn_last_entry_is_cut_wherever_it_was_torn() {
    let (dir, _) = three();
    let file = dir.path().join("clients");
    let whole = fs::read(&file).unwrap();
    // The last entry is the RECLAIM_COMPLETE of c.
    let last = whole.len() - (9 + 1 + 8);
    for cut in last..whole.len() {
        for tail in [&[][..], &[0; 40]] {
            fs::write(&file, [&whole[..cut], tail].concat()).unwrap();
            let records = open(dir.path()).unwrap();
            assert_eq!(
                ["a", "b", "c"].map(|o| record(&records, o)),
                [Some(true), Some(true), Some(false)],
                "cut at {cut}"
            );
            // What is written next is whole again.
            records.reclaimed(b"d").unwrap();
            drop(records);
            assert_eq!(record(&open(dir.path()).unwrap(), "d"), Some(true));
        }
    }
}

#[test]
fn any_other_damage_is_refused_with_the_path_and_left_alone() {
    let (dir, _) = three();
    let file = dir.path().join("clients");
    let whole = fs::read(&file).unwrap();
    let last = whole.len() - (9 + 1 + 8);
    for at in 0..last {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        fs::write(&file, &bad).unwrap();
        let error = open(dir.path()).unwrap_err();
        assert!(matches!(error, StateDirError::Damaged { .. }), "byte {at}: {error}");
        assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
        assert_eq!(fs::read(&file).unwrap(), bad);
    }
}

#[test]
fn an_empty_or_foreign_file_is_refused() {
    for content in [&b""[..], b"#!/bin/sh\n", b"nfs4rec1"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("clients"), content).unwrap();
        assert!(matches!(open(dir.path()), Err(StateDirError::Damaged { .. })), "{content:?}");
    }
}

#[test]
fn the_file_does_not_grow_with_the_number_of_mounts() {
    let dir = tempfile::tempdir().unwrap();
    let records = open(dir.path()).unwrap();
    let size = || fs::metadata(dir.path().join("clients")).unwrap().len();
    for _ in 0..3000 {
        records.reclaimed(b"the same client").unwrap();
    }
    assert!(size() < 1500 * 32, "{}", size());
    drop(records);
    assert_eq!(record(&open(dir.path()).unwrap(), "the same client"), Some(true));
}

#[test]
fn many_are_forgotten_in_one_rewrite() {
    let (dir, _) = three();
    let records = open(dir.path()).unwrap();
    records.forget(&["a", "c", "unknown"].map(|o| Bytes::from_static(o.as_bytes()))).unwrap();
    records.reclaimed(b"d").unwrap();
    drop(records);
    let records = open(dir.path()).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(|o| record(&records, o)), [None, Some(true), None, Some(true)]);
}

#[test]
fn a_half_written_replacement_is_no_harm() {
    let (dir, _) = three();
    fs::write(dir.path().join("clients.new"), b"nfs4re").unwrap();
    assert_eq!(open(dir.path()).unwrap().load().len(), 3);
}

#[test]
fn the_longest_owner_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let owner = "x".repeat(1024);
    open(dir.path()).unwrap().reclaimed(owner.as_bytes()).unwrap();
    assert_eq!(record(&open(dir.path()).unwrap(), &owner), Some(true));
}

#[test]
fn a_second_server_on_the_same_directory_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let first = StateDir::open(dir.path()).unwrap();
    let error = StateDir::open(dir.path()).unwrap_err();
    assert!(matches!(error, StateDirError::InUse(_)));
    let text = error.to_string();
    assert!(text.contains(dir.path().to_str().unwrap()) && text.contains("in use"), "{text}");
    drop(first);
    StateDir::open(dir.path()).unwrap();
}

#[test]
fn secrets_stay_the_same_and_differ_from_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let first = StateDir::open(dir.path()).unwrap();
    let (identity, key) = (first.secret("identity").unwrap(), first.secret("handle-key").unwrap());
    assert_ne!(identity, key);
    drop(first);
    let second = StateDir::open(dir.path()).unwrap();
    assert_eq!(second.secret("identity").unwrap(), identity);
    fs::write(dir.path().join("identity"), b"short").unwrap();
    assert!(matches!(second.secret("identity"), Err(StateDirError::Damaged { .. })));
}

#[test]
fn a_server_with_files_goes_through_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let start = || {
        let records = Box::new(open(dir.path()).unwrap());
        let state = State::new(at(0), settings(), 1, records, Arc::<Holder>::default() as _).unwrap();
        state.connected(C1);
        state
    };
    let join = |state: &State| {
        let id = state.exchange_id(at(1), &owner("a", 1)).unwrap();
        state.create_session(at(1), C1, &session_of(id)).unwrap();
        state.client(id.client).unwrap()
    };
    let state = start();
    assert!(state.durable());
    let client = join(&state);
    state.reclaim_complete(&client, false).unwrap();
    drop(state);

    let state = start();
    assert!(state.in_grace());
    assert_eq!(state.may_lock(&join(&state), true), Ok(()));
}
