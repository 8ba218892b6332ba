//! Between the backend's words and the protocol's.

use nfs4_proto::{Attr, AttrSet, Attrs, FileType};

use crate::backend::{Applied, FileKind};

pub(crate) fn file_type(kind: FileKind) -> FileType {
    match kind {
        FileKind::File => FileType::Reg,
        FileKind::Dir => FileType::Dir,
        FileKind::Symlink => FileType::Lnk,
        FileKind::Block => FileType::Blk,
        FileKind::Char => FileType::Chr,
        FileKind::Fifo => FileType::Fifo,
        FileKind::Socket => FileType::Sock,
    }
}

/// What was applied, in the words of the request: a mode may have come in three ways.
pub(crate) fn applied(applied: Applied, asked: &Attrs) -> AttrSet {
    let mut set = AttrSet::new();
    let mut add = |done: bool, attr: Attr| {
        if done && asked.mask().contains(attr) {
            set.insert(attr);
        }
    };
    add(applied.size, Attr::Size);
    add(applied.mode, Attr::Mode);
    add(applied.mode, Attr::ModeSetMasked);
    add(applied.mode, Attr::ModeUmask);
    add(applied.uid, Attr::Owner);
    add(applied.gid, Attr::OwnerGroup);
    add(applied.atime, Attr::TimeAccessSet);
    add(applied.mtime, Attr::TimeModifySet);
    add(applied.btime, Attr::TimeCreate);
    add(applied.marks, Attr::Archive);
    add(applied.marks, Attr::Hidden);
    add(applied.marks, Attr::System);
    add(applied.acl, Attr::Acl);
    set
}

/// The attributes in which an exclusive create keeps its verifier.
pub(crate) fn verifier_attrs() -> AttrSet {
    AttrSet::of(&[Attr::TimeAccess, Attr::TimeModify])
}

pub(crate) fn size_only() -> AttrSet {
    AttrSet::of(&[Attr::Size])
}
