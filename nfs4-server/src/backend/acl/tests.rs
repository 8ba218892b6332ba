//! The rules over lists, one by one.

use nfs4_proto::{AceFlags, AceMask};

use super::super::Who;
use super::super::kit::user;
use super::{Ace, AceWho, INHERITANCE, MODE_BITS, allowed, from_mode, inherited, mode_of, said, with_mode};

const UID: u32 = 1_000;
const GID: u32 = 2_000;
const NAMED: u32 = 1_001;
const TEAM: u32 = 2_001;

fn ace(allow: bool, who: AceWho, mask: AceMask) -> Ace {
    Ace { allow, who, flags: AceFlags::empty(), mask }
}

fn flagged(flags: AceFlags, ace: Ace) -> Ace {
    Ace { flags, ..ace }
}

/// The owner, the owner in the group too, a member of the group, one who is named, one of a named group, and another.
fn callers() -> [Who; 6] {
    [
        user(UID, 9, &[]),
        user(UID, GID, &[]),
        user(5, 9, &[8, GID]),
        user(NAMED, GID, &[]),
        user(6, 9, &[TEAM]),
        user(7, 9, &[]),
    ]
}

/// What a mode allows, by POSIX.
fn posix(mode: u32, who: &Who) -> AceMask {
    let bits = match who {
        who if who.uid == UID => mode >> 6,
        who if who.in_group(GID) => mode >> 3,
        _ => mode,
    };
    let mut mask = AceMask::empty();
    for (bit, part) in
        [(4, AceMask::READ_DATA), (2, AceMask::WRITE_DATA | AceMask::APPEND_DATA), (1, AceMask::EXECUTE)]
    {
        if bits & bit != 0 {
            mask |= part;
        }
    }
    mask
}

#[test]
fn the_list_of_a_mode_says_what_the_mode_says() {
    for mode in 0..0o1000 {
        let acl = from_mode(mode);
        assert_eq!(mode_of(&acl), mode, "{mode:o}: {acl:?}");
        for who in callers() {
            assert_eq!(said(&acl, &who, (UID, GID), MODE_BITS).0, posix(mode, &who), "{mode:o} {who:?}");
        }
    }
}

#[test]
fn the_first_entry_that_has_a_bit_decides_it() {
    let read = AceMask::READ_DATA;
    let both = read | AceMask::WRITE_DATA;
    let acl = [
        ace(false, AceWho::User(NAMED), read),
        ace(true, AceWho::Group(TEAM), both),
        ace(false, AceWho::OwnerGroup, AceMask::WRITE_DATA),
        ace(true, AceWho::Everyone, both),
    ];
    let owners = (UID, GID);
    assert_eq!(said(&acl, &user(NAMED, TEAM, &[]), owners, both), (AceMask::WRITE_DATA, read));
    assert!(allowed(&acl, &user(6, TEAM, &[GID]), owners, both));
    assert_eq!(said(&acl, &user(6, GID, &[]), owners, both), (read, AceMask::WRITE_DATA));
    // EVERYONE@ is the owner too, and what nobody mentions is neither.
    assert!(allowed(&acl, &user(UID, 9, &[]), owners, both));
    assert_eq!(said(&acl, &user(UID, 9, &[]), owners, AceMask::DELETE), Default::default());
    assert!(!allowed(&acl, &user(UID, 9, &[]), owners, both | AceMask::DELETE));
    assert!(!allowed(&[], &user(UID, 9, &[]), owners, read));
}

#[test]
fn what_is_for_children_only_counts_for_them_only() {
    let acl = [
        flagged(AceFlags::INHERIT_ONLY | AceFlags::FILE_INHERIT, ace(false, AceWho::Everyone, MODE_BITS)),
        ace(true, AceWho::Everyone, MODE_BITS),
    ];
    assert!(allowed(&acl, &user(7, 9, &[]), (UID, GID), MODE_BITS));
    assert_eq!(mode_of(&acl), 0o777);
}

#[test]
fn the_mode_of_a_list_is_computed_of_the_three_special_names() {
    let all = MODE_BITS;
    let cases: [(&[Ace], u32); 6] = [
        (&[], 0),
        (&[ace(true, AceWho::Everyone, all)], 0o777),
        (&[ace(false, AceWho::OwnerGroup, all), ace(true, AceWho::Everyone, all)], 0o707),
        (&[ace(true, AceWho::User(NAMED), all), ace(true, AceWho::Owner, AceMask::READ_DATA)], 0o400),
        // Both bits of writing make the one of the mode.
        (&[ace(true, AceWho::Everyone, AceMask::WRITE_DATA)], 0),
        (&[ace(false, AceWho::Everyone, AceMask::EXECUTE), ace(true, AceWho::Owner, all)], 0o600),
    ];
    for (acl, mode) in cases {
        assert_eq!(mode_of(acl), mode, "{acl:?}");
    }
}

#[test]
fn a_mode_that_is_set_is_the_mode_of_the_list_and_bounds_who_is_named() {
    let inherit = AceFlags::FILE_INHERIT | AceFlags::DIRECTORY_INHERIT;
    let acl = [
        flagged(inherit, ace(true, AceWho::User(NAMED), MODE_BITS | AceMask::DELETE)),
        ace(false, AceWho::Group(TEAM), AceMask::WRITE_DATA),
        flagged(inherit | AceFlags::INHERIT_ONLY, ace(true, AceWho::Everyone, MODE_BITS)),
        ace(true, AceWho::User(UID), MODE_BITS),
        ace(true, AceWho::Everyone, MODE_BITS),
    ];
    for mode in 0..0o1000 {
        let new = with_mode(&acl, mode).expect("somebody is named");
        assert_eq!(mode_of(&new), mode, "{mode:o}");
        assert!(new.len() <= 2 * acl.len() + 5);
        let named = user(NAMED, 9, &[]);
        let [_, _, member, ..] = callers();
        let most = posix(mode, &member) | posix(mode, &named);
        assert!(most.contains(said(&new, &named, (UID, GID), MODE_BITS).0), "{mode:o}");
        assert!(allowed(&new, &named, (UID, GID), AceMask::DELETE));
        // Neither the owner nor the group gets more by another name.
        for who in [user(UID, 9, &[]), user(5, GID, &[])] {
            assert_eq!(said(&new, &who, (UID, GID), MODE_BITS).0, posix(mode, &who), "{mode:o} {who:?}");
        }
        // What goes down goes down as before.
        assert_eq!(inherited(&new, false), inherited(&acl, false), "{mode:o}");
        // Again and again makes it no longer.
        let again = with_mode(&with_mode(&new, 0o777).unwrap(), mode).unwrap();
        assert!(again.len() <= new.len().max(2 * acl.len() + 5), "{}", again.len());
        assert_eq!(mode_of(&again), mode);
    }
    assert_eq!(with_mode(&[ace(true, AceWho::Everyone, MODE_BITS)], 0o644), None, "the mode says it all");
}

#[test]
fn entries_go_down_as_their_flags_say() {
    let (file, dir) = (AceFlags::FILE_INHERIT, AceFlags::DIRECTORY_INHERIT);
    let (stop, only) = (AceFlags::NO_PROPAGATE_INHERIT, AceFlags::INHERIT_ONLY);
    let none = AceFlags::empty();
    // Flags in the directory; then of a file's entry, and of a directory's.
    let cases: [(AceFlags, Option<AceFlags>, Option<AceFlags>); 10] = [
        (none, None, None),
        (file, Some(none), Some(file | only)),
        (dir, None, Some(dir)),
        (file | dir, Some(none), Some(file | dir)),
        (file | only, Some(none), Some(file | only)),
        (dir | only, None, Some(dir)),
        (file | dir | only, Some(none), Some(file | dir)),
        (file | stop, Some(none), None),
        (dir | stop | only, None, Some(none)),
        (file | dir | stop, Some(none), Some(none)),
    ];
    for (flags, of_file, of_dir) in cases {
        let parent = [flagged(flags, ace(true, AceWho::User(NAMED), MODE_BITS))];
        for (is_dir, expected) in [(false, of_file), (true, of_dir)] {
            let got: Vec<AceFlags> =
                inherited(&parent, is_dir).iter().map(|ace| ace.flags & INHERITANCE).collect();
            assert_eq!(got, Vec::from_iter(expected), "{flags:?}, directory: {is_dir}");
        }
    }
}
