//! Access control lists as a file system keeps them, and the rules over them. RFC 8881 §6.
//!
//! Nothing here knows an object: owner, group and mode are given. What a list says beside the mode is told by
//! [`allowed`] and [`said`]; mode and list are kept in step by [`mode_of`], [`with_mode`] and [`from_mode`]; what
//! comes down from a directory is [`inherited`].

use nfs4_proto::{AceFlags, AceMask};

use super::Who;

/// Whom an entry names. RFC 8881 §6.2.1.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AceWho {
    /// `OWNER@`
    Owner,
    /// `GROUP@`
    OwnerGroup,
    /// `EVERYONE@`: the owner and the group too.
    Everyone,
    /// A user by number.
    User(u32),
    /// A group by number.
    Group(u32),
}

/// An entry. RFC 8881 §6.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ace {
    /// ALLOW; else DENY. Others are not kept.
    pub allow: bool,
    /// Whom it names.
    pub who: AceWho,
    /// Inheritance.
    pub flags: AceFlags,
    /// What it allows or denies.
    pub mask: AceMask,
}

/// The bits that a mode has a word for.
pub const MODE_BITS: AceMask =
    AceMask::READ_DATA.union(AceMask::WRITE_DATA).union(AceMask::APPEND_DATA).union(AceMask::EXECUTE);

/// What makes an entry go down.
pub const INHERITS: AceFlags = AceFlags::FILE_INHERIT.union(AceFlags::DIRECTORY_INHERIT);

/// All flags of inheritance.
pub const INHERITANCE: AceFlags =
    INHERITS.union(AceFlags::NO_PROPAGATE_INHERIT).union(AceFlags::INHERIT_ONLY);

/// What a mode gives to everybody.
const BASE: AceMask = AceMask::READ_ATTRIBUTES.union(AceMask::READ_ACL).union(AceMask::SYNCHRONIZE);

/// What a mode gives to the owner.
const OWNERS: AceMask = BASE.union(AceMask::WRITE_ATTRIBUTES).union(AceMask::WRITE_ACL);

impl Ace {
    fn effective(&self) -> bool {
        !self.flags.contains(AceFlags::INHERIT_ONLY)
    }

    fn names(&self, who: &Who, uid: u32, gid: u32) -> bool {
        match self.who {
            AceWho::Owner => who.uid == uid,
            AceWho::OwnerGroup => who.in_group(gid),
            AceWho::Everyone => true,
            AceWho::User(user) => who.uid == user,
            AceWho::Group(group) => who.in_group(group),
        }
    }
}

/// What of `asked` the first entries that name it allow, and what they deny; `names` tells which do.
fn evaluate(acl: &[Ace], asked: AceMask, names: impl Fn(&Ace) -> bool) -> (AceMask, AceMask) {
    let (mut given, mut refused) = (AceMask::empty(), AceMask::empty());
    for ace in acl.iter().filter(|ace| ace.effective() && names(ace)) {
        let left = asked.difference(given | refused);
        if left.is_empty() {
            break;
        }
        if ace.allow {
            given |= ace.mask & left;
        } else {
            refused |= ace.mask & left;
        }
    }
    (given, refused)
}

/// What of `asked` the list of an object of `uid` and `gid` allows to `who`, and what it denies: the entries count in
/// order, each bit by the first that names the caller and has it. RFC 8881 §6.2.1.
#[must_use]
pub fn said(acl: &[Ace], who: &Who, (uid, gid): (u32, u32), asked: AceMask) -> (AceMask, AceMask) {
    evaluate(acl, asked, |ace| ace.names(who, uid, gid))
}

/// Whether the list allows all of `asked`. A bit that no entry has is not allowed.
#[must_use]
pub fn allowed(acl: &[Ace], who: &Who, owners: (u32, u32), asked: AceMask) -> bool {
    said(acl, who, owners, asked).0.contains(asked)
}

/// Whether anybody may execute: what the privileged are asked for.
#[must_use]
pub fn executable(acl: &[Ace]) -> bool {
    acl.iter().any(|ace| ace.allow && ace.effective() && ace.mask.contains(AceMask::EXECUTE))
}

/// The nine low bits of a list's mode. RFC 8881 §6.3.2.
#[must_use]
pub fn mode_of(acl: &[Ace]) -> u32 {
    [AceWho::Owner, AceWho::OwnerGroup, AceWho::Everyone].into_iter().fold(0, |mode, class| {
        let (given, _) = evaluate(acl, MODE_BITS, |ace| ace.who == AceWho::Everyone || ace.who == class);
        let mut bits = 0;
        for (bit, mask) in WORDS {
            if given.contains(mask) {
                bits |= bit;
            }
        }
        mode << 3 | bits
    })
}

/// The three bits of a class, and what each stands for.
const WORDS: [(u32, AceMask); 3] =
    [(4, AceMask::READ_DATA), (2, AceMask::WRITE_DATA.union(AceMask::APPEND_DATA)), (1, AceMask::EXECUTE)];

/// Three bits of a mode as a mask.
fn mask_of(bits: u32) -> AceMask {
    let mut mask = AceMask::empty();
    for (bit, part) in WORDS {
        if bits & bit != 0 {
            mask |= part;
        }
    }
    mask
}

/// A list that says what a mode says. RFC 8881 §6.4.2. DELETE and `DELETE_CHILD` are not mentioned, so that write
/// permission and the sticky bit of the directory decide (§6.2.1.3.2).
#[must_use]
pub fn from_mode(mode: u32) -> Vec<Ace> {
    let [owner, group, _] = classes(mode);
    let mut acl: Vec<Ace> = Vec::with_capacity(5);
    head(&mut acl, mode, OWNERS, owner.complement());
    tail(&mut acl, mode, BASE, group.complement());
    acl
}

fn classes(mode: u32) -> [AceMask; 3] {
    [mask_of(mode >> 6), mask_of(mode >> 3), mask_of(mode)]
}

fn push(acl: &mut Vec<Ace>, allow: bool, who: AceWho, mask: AceMask) {
    if !mask.is_empty() {
        acl.push(Ace { allow, who, flags: AceFlags::empty(), mask });
    }
}

/// The owner's entries. Of `deny` only what an entry behind could give.
fn head(acl: &mut Vec<Ace>, mode: u32, more: AceMask, deny: AceMask) {
    let [owner, group, others] = classes(mode);
    push(acl, false, AceWho::Owner, (group | others) & deny & MODE_BITS);
    push(acl, true, AceWho::Owner, owner | more);
}

/// The group's and everybody's.
fn tail(acl: &mut Vec<Ace>, mode: u32, more: AceMask, deny: AceMask) {
    let [_, group, others] = classes(mode);
    push(acl, false, AceWho::OwnerGroup, others & deny & MODE_BITS);
    push(acl, true, AceWho::OwnerGroup, group | more);
    push(acl, true, AceWho::Everyone, others | more);
}

/// The list after its object got a mode: [`mode_of`] it is the mode's nine low bits, who is named gets no more than
/// the group, and what is for children only stays as it is. `None` where nothing is left that the mode doesn't say.
/// RFC 8881 §6.4.1.1.
///
/// At most twice as many entries, and five.
#[must_use]
pub fn with_mode(acl: &[Ace], mode: u32) -> Option<Vec<Ace>> {
    let [owner, group, _] = classes(mode);
    let mut kept = Vec::with_capacity(acl.len() + 5);
    for ace in acl {
        let mask = match ace.who {
            AceWho::Owner | AceWho::OwnerGroup | AceWho::Everyone => ace.mask.difference(MODE_BITS),
            AceWho::User(_) | AceWho::Group(_) if ace.allow => {
                ace.mask.difference(MODE_BITS.difference(group))
            }
            AceWho::User(_) | AceWho::Group(_) => ace.mask,
        };
        if !ace.effective() || mask == ace.mask {
            kept.push(*ace);
            continue;
        }
        // What goes down goes down as it was.
        if ace.flags.intersects(INHERITS) {
            kept.push(Ace { flags: ace.flags | AceFlags::INHERIT_ONLY, ..*ace });
        }
        if !mask.is_empty() {
            kept.push(Ace { flags: ace.flags.difference(INHERITANCE), mask, ..*ace });
        }
    }
    if kept.is_empty() {
        return None;
    }
    let mut all = Vec::with_capacity(kept.len() + 5);
    head(&mut all, mode, AceMask::empty(), owner.complement());
    all.append(&mut kept);
    tail(&mut all, mode, AceMask::empty(), group.complement());
    Some(all)
}

/// The entries that a new object gets from its directory's list; none: it inherits nothing. RFC 8881 §6.4.3.1.
#[must_use]
pub fn inherited(parent: &[Ace], dir: bool) -> Vec<Ace> {
    let down = |ace: &Ace| {
        let flags = ace.flags;
        if !dir {
            let plain = Ace { flags: flags.difference(INHERITANCE), ..*ace };
            return flags.contains(AceFlags::FILE_INHERIT).then_some(plain);
        }
        let for_dirs = flags.contains(AceFlags::DIRECTORY_INHERIT);
        if flags.contains(AceFlags::NO_PROPAGATE_INHERIT) {
            return for_dirs.then(|| Ace { flags: flags.difference(INHERITANCE), ..*ace });
        }
        let mut flags = flags.difference(AceFlags::INHERIT_ONLY);
        if !for_dirs {
            flags |= AceFlags::INHERIT_ONLY;
        }
        flags.intersects(INHERITS).then_some(Ace { flags, ..*ace })
    };
    parent.iter().filter_map(down).collect()
}

#[cfg(test)]
mod tests;
