//! Who may do what: the access control list where there is one (RFC 8881 §6), else the POSIX rules over owner,
//! group and mode.

use nfs4_proto::AceMask;

use super::super::acl::{allowed, executable, said};
use super::super::{Ace, Fault, FileKind, Rights, Who};
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
            return want & SEARCH == 0
                || self.kind == FileKind::Dir
                || self.mode & 0o111 != 0
                || self.acl.as_deref().is_some_and(executable);
        }
        if let Some(acl) = &self.acl {
            return self.listed(acl, who, self.mask_of(want));
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

    /// The bits of a list for those of a mode. To write a file is to append to it too; in a directory that is for
    /// directories.
    fn mask_of(&self, want: u32) -> AceMask {
        let mut mask = AceMask::empty();
        if want & READ != 0 {
            mask |= AceMask::READ_DATA;
        }
        if want & WRITE != 0 {
            mask |= AceMask::WRITE_DATA;
            if self.kind != FileKind::Dir {
                mask |= AceMask::APPEND_DATA;
            }
        }
        if want & SEARCH != 0 {
            mask |= AceMask::EXECUTE;
        }
        mask
    }

    fn listed(&self, acl: &[Ace], who: &Who, mask: AceMask) -> bool {
        allowed(acl, who, (self.uid, self.gid), mask)
    }

    /// Whether the list, and not only ownership or the mode, gives `who` a bit that no mode has.
    pub(super) fn granted(&self, who: &Who, mask: AceMask) -> bool {
        who.privileged() || self.acl.as_ref().is_some_and(|acl| self.listed(acl, who, mask))
    }

    /// Whether `who` may see the list: what is only the mode everybody may, and its owner always.
    pub(super) fn check_read_acl(&self, who: &Who) -> Result<(), Fault> {
        let may = self.acl.is_none() || self.owned_by(who) || self.granted(who, AceMask::READ_ACL);
        if may { Ok(()) } else { Err(Fault::Access) }
    }

    /// Whether `who` may add an entry to this directory.
    pub(super) fn check_add(&self, who: &Who, dir: bool) -> Result<(), Fault> {
        match &self.acl {
            Some(acl) if dir && !who.privileged() => {
                if self.listed(acl, who, AceMask::APPEND_DATA) {
                    Ok(())
                } else {
                    Err(Fault::Access)
                }
            }
            Some(_) | None => self.check(who, WRITE),
        }
    }

    /// Whether `who` may take `entry` out of this directory: DELETE of the one or `DELETE_CHILD` of the other; where
    /// neither is mentioned, write permission and the sticky bit decide. RFC 8881 §6.2.1.3.2.
    pub(super) fn check_remove(&self, who: &Who, entry: &Body) -> Result<(), Fault> {
        self.check(who, SEARCH)?;
        if !who.privileged() && (self.acl.is_some() || entry.acl.is_some()) {
            let (mut given, mut refused) = (false, false);
            for (body, mask) in [(entry, AceMask::DELETE), (self, AceMask::DELETE_CHILD)] {
                if let Some(acl) = &body.acl {
                    let (yes, no) = said(acl, who, (body.uid, body.gid), mask);
                    given |= !yes.is_empty();
                    refused |= !no.is_empty();
                }
            }
            if given {
                return Ok(());
            }
            if refused {
                return Err(Fault::Access);
            }
        }
        self.check(who, WRITE)?;
        self.check_sticky(who, entry)
    }

    /// In a sticky directory (`self`) only the owner of the entry or of the directory takes an entry away.
    fn check_sticky(&self, who: &Who, entry: &Body) -> Result<(), Fault> {
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

    /// In a directory with a list, adding files, adding directories and taking away are told apart.
    fn rights_of_entries(&self, acl: &[Ace], who: &Who, mut granted: Rights) -> Rights {
        let asked = AceMask::APPEND_DATA | AceMask::DELETE_CHILD | AceMask::EXECUTE;
        let (yes, no) = said(acl, who, (self.uid, self.gid), asked);
        if !yes.contains(AceMask::EXECUTE) {
            return granted;
        }
        if yes.contains(AceMask::APPEND_DATA) {
            granted |= Rights::MODIFY | Rights::EXTEND;
        }
        if yes.contains(AceMask::DELETE_CHILD) {
            granted |= Rights::MODIFY | Rights::DELETE;
        }
        if no.contains(AceMask::DELETE_CHILD) {
            granted -= Rights::DELETE;
        }
        granted
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
            if let Some(acl) = &self.acl
                && !who.privileged()
            {
                granted = self.rights_of_entries(acl, who, granted);
            }
        } else {
            grant(WRITE, Rights::MODIFY | Rights::EXTEND | Rights::XAWRITE);
            grant(SEARCH, Rights::EXECUTE);
        }
        granted & asked
    }
}
