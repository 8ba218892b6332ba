//! Who may do what: the POSIX rules over owner, group and mode.

use super::super::{Fault, FileKind, Rights, Who};
use super::inode::Body;

pub(super) const READ: u32 = 4;
pub(super) const WRITE: u32 = 2;
pub(super) const SEARCH: u32 = 1;

pub(super) const SETUID: u32 = 0o4000;
pub(super) const SETGID: u32 = 0o2000;
pub(super) const STICKY: u32 = 0o1000;
pub(super) const GROUP_EXECUTE: u32 = 0o010;

impl Who {
    /// Privileged: no check of permission bits but for execution.
    pub(super) fn privileged(&self) -> bool {
        self.uid == 0
    }
}

impl Body {
    /// Whether `who` has all of `want` (bits of [`READ`], [`WRITE`], [`SEARCH`]).
    pub(super) fn allows(&self, who: &Who, want: u32) -> bool {
        if who.privileged() {
            return want & SEARCH == 0 || self.kind == FileKind::Dir || self.mode & 0o111 != 0;
        }
        let class = if who.uid == self.uid {
            self.mode >> 6
        } else if who.in_group(self.gid) {
            self.mode >> 3
        } else {
            self.mode
        };
        class & want == want
    }

    /// [`allows`](Self::allows) as a result.
    pub(super) fn check(&self, who: &Who, want: u32) -> Result<(), Fault> {
        if self.allows(who, want) { Ok(()) } else { Err(Fault::Access) }
    }

    /// The owner, or privileged.
    pub(super) fn owned_by(&self, who: &Who) -> bool {
        who.privileged() || who.uid == self.uid
    }

    /// In a sticky directory (`self`) only the owner of the entry or of the directory takes an entry away.
    pub(super) fn check_sticky(&self, who: &Who, entry: &Body) -> Result<(), Fault> {
        if self.mode & STICKY == 0 || self.owned_by(who) || entry.owned_by(who) {
            Ok(())
        } else {
            Err(Fault::Perm)
        }
    }

    /// What a write, a truncation or a change of owner takes away: setuid, and setgid where it means execution
    /// (without group execution it is no privilege).
    pub(super) fn drop_privilege_bits(&mut self) {
        if self.kind == FileKind::Dir {
            return;
        }
        self.mode &= !SETUID;
        if self.mode & GROUP_EXECUTE != 0 {
            self.mode &= !SETGID;
        }
    }

    /// ACCESS (§18.1.3, RFC 8276 §8.5): bits that make no sense for the kind are never granted.
    pub(super) fn rights(&self, who: &Who, asked: Rights) -> Rights {
        let mut granted = Rights::empty();
        let mut grant = |want: u32, rights: Rights| {
            if self.allows(who, want) {
                granted |= rights;
            }
        };
        grant(READ, Rights::READ | Rights::XAREAD | Rights::XALIST);
        if self.kind == FileKind::Dir {
            grant(SEARCH, Rights::LOOKUP);
            grant(WRITE | SEARCH, Rights::MODIFY | Rights::EXTEND | Rights::DELETE);
            grant(WRITE, Rights::XAWRITE);
        } else {
            grant(WRITE, Rights::MODIFY | Rights::EXTEND | Rights::XAWRITE);
            grant(SEARCH, Rights::EXECUTE);
        }
        granted & asked
    }
}
