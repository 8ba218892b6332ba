//! The kept corpora run through their targets.

use std::fs;
use std::path::Path;

use nfs4_tests::fuzzing::TARGETS;

#[test]
fn every_kept_input_passes_its_target() {
    for (name, target) in TARGETS {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut count = 0;
        for entry in fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            target(&fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 1, "{name} has a corpus of {count}");
    }
}

#[test]
fn every_kept_input_with_any_byte_changed_or_cut_passes_its_target() {
    for (name, target) in TARGETS {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        for entry in fs::read_dir(dir).unwrap() {
            let input = fs::read(entry.unwrap().path()).unwrap();
            for at in 0..input.len() {
                target(&input[..at]);
                for value in [0, 1, 0x7f, 0xff] {
                    let mut changed = input.clone();
                    changed[at] = value;
                    target(&changed);
                }
            }
        }
    }
}
