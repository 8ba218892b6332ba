//! Operations in short.

use bytes::Bytes;
use nfs4_proto::{
    AccessArgs, AccessFlags, AllocateArgs, ArgOp, Attr, AttrSet, Attrs, ClientId, CloneArgs, CloseArgs,
    CommitArgs, Component, CopyArgs, CreateArgs, CreateHow, CreateType, Data, DataContent, Fh, GetattrArgs,
    GetxattrArgs, LinkArgs, LinkText, ListxattrsArgs, LockArgs, LockType, Locker, LocktArgs, LockuArgs,
    LookupArgs, OpenArgs, OpenClaim, OpenDowngradeArgs, OpenHow, PutfhArgs, ReadArgs, ReaddirArgs,
    RemoveArgs, RemovexattrArgs, RenameArgs, SecinfoArgs, SeekArgs, SetattrArgs, SetxattrArgs,
    SetxattrOption, ShareAccess, ShareDeny, StableHow, StateId, StateOwner, TestStateidArgs, Verifier,
    VerifyArgs, WriteArgs, XattrValue,
};
use nfs4_xdr::{List, Opaque};

/// A name.
#[must_use]
pub fn name(bytes: impl AsRef<[u8]>) -> Component {
    Component::new(Bytes::copy_from_slice(bytes.as_ref())).unwrap()
}

/// Attributes by a closure.
#[must_use]
pub fn attrs(fill: impl FnOnce(&mut Attrs)) -> Attrs {
    let mut attrs = Attrs::new();
    fill(&mut attrs);
    attrs
}

/// A mode alone.
#[must_use]
pub fn mode(mode: u32) -> Attrs {
    attrs(|a| {
        a.set_mode(mode);
    })
}

/// A size alone.
#[must_use]
pub fn size(size: u64) -> Attrs {
    attrs(|a| {
        a.set_size(size);
    })
}

/// PUTFH.
#[must_use]
pub fn putfh(fh: &Fh) -> ArgOp {
    ArgOp::Putfh(PutfhArgs { object: fh.clone() })
}

/// LOOKUP.
#[must_use]
pub fn lookup(at: impl AsRef<[u8]>) -> ArgOp {
    ArgOp::Lookup(LookupArgs { objname: name(at) })
}

/// GETATTR.
#[must_use]
pub fn getattr(want: &[Attr]) -> ArgOp {
    getattr_set(AttrSet::of(want))
}

/// GETATTR of any set.
#[must_use]
pub fn getattr_set(attr_request: AttrSet) -> ArgOp {
    ArgOp::Getattr(GetattrArgs { attr_request })
}

/// SETATTR.
#[must_use]
pub fn setattr(stateid: StateId, attrs: Attrs) -> ArgOp {
    ArgOp::Setattr(SetattrArgs { stateid, obj_attributes: Box::new(attrs) })
}

/// VERIFY.
#[must_use]
pub fn verify(attrs: Attrs) -> ArgOp {
    ArgOp::Verify(VerifyArgs { obj_attributes: Box::new(attrs) })
}

/// NVERIFY.
#[must_use]
pub fn nverify(attrs: Attrs) -> ArgOp {
    ArgOp::Nverify(VerifyArgs { obj_attributes: Box::new(attrs) })
}

/// ACCESS.
#[must_use]
pub fn access(access: AccessFlags) -> ArgOp {
    ArgOp::Access(AccessArgs { access })
}

/// READDIR.
#[must_use]
pub fn readdir(cookie: u64, cookieverf: Verifier, maxcount: u32, want: &[Attr]) -> ArgOp {
    ArgOp::Readdir(ReaddirArgs {
        cookie,
        cookieverf,
        dircount: maxcount,
        maxcount,
        attr_request: AttrSet::of(want),
    })
}

/// CREATE.
#[must_use]
pub fn create(objtype: CreateType, at: impl AsRef<[u8]>, attrs: Attrs) -> ArgOp {
    ArgOp::Create(CreateArgs { objtype, objname: name(at), createattrs: Box::new(attrs) })
}

/// CREATE of a directory.
#[must_use]
pub fn mkdir(at: impl AsRef<[u8]>) -> ArgOp {
    create(CreateType::Dir, at, mode(0o755))
}

/// CREATE of a symbolic link.
#[must_use]
pub fn symlink(at: impl AsRef<[u8]>, target: &str) -> ArgOp {
    let target = LinkText::new(target.as_bytes().to_vec()).unwrap();
    create(CreateType::Lnk(target), at, Attrs::new())
}

/// REMOVE.
#[must_use]
pub fn remove(at: impl AsRef<[u8]>) -> ArgOp {
    ArgOp::Remove(RemoveArgs { target: name(at) })
}

/// RENAME.
#[must_use]
pub fn rename(from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> ArgOp {
    ArgOp::Rename(RenameArgs { oldname: name(from), newname: name(to) })
}

/// LINK.
#[must_use]
pub fn link(to: impl AsRef<[u8]>) -> ArgOp {
    ArgOp::Link(LinkArgs { newname: name(to) })
}

/// SECINFO.
#[must_use]
pub fn secinfo(of: impl AsRef<[u8]>) -> ArgOp {
    ArgOp::Secinfo(SecinfoArgs { name: name(of) })
}

/// An owner of opens or locks.
#[must_use]
pub fn owner(word: &str) -> StateOwner {
    StateOwner { clientid: ClientId(0), owner: Opaque::new(word.as_bytes().to_vec()).unwrap() }
}

/// OPEN.
#[must_use]
pub fn open(word: &str, access: ShareAccess, deny: ShareDeny, openhow: OpenHow, claim: OpenClaim) -> ArgOp {
    ArgOp::Open(OpenArgs {
        seqid: 0,
        share_access: access,
        share_deny: deny,
        owner: owner(word),
        openhow,
        claim,
    })
}

/// OPEN by name, of a file that exists.
#[must_use]
pub fn open_name(word: &str, at: impl AsRef<[u8]>, access: ShareAccess, deny: ShareDeny) -> ArgOp {
    open(word, access, deny, OpenHow::NoCreate, OpenClaim::Null(name(at)))
}

/// OPEN that creates, for reading and writing.
#[must_use]
pub fn open_create(word: &str, at: impl AsRef<[u8]>, how: CreateHow) -> ArgOp {
    open(word, ShareAccess::BOTH, ShareDeny::NONE, OpenHow::Create(how), OpenClaim::Null(name(at)))
}

/// UNCHECKED4.
#[must_use]
pub fn unchecked(attrs: Attrs) -> CreateHow {
    CreateHow::Unchecked(Box::new(attrs))
}

/// GUARDED4.
#[must_use]
pub fn guarded(attrs: Attrs) -> CreateHow {
    CreateHow::Guarded(Box::new(attrs))
}

/// EXCLUSIVE4_1.
#[must_use]
pub fn exclusive(verifier: Verifier, attrs: Attrs) -> CreateHow {
    CreateHow::Exclusive41 { verifier, attrs: Box::new(attrs) }
}

/// CLOSE.
#[must_use]
pub fn close(open_stateid: StateId) -> ArgOp {
    ArgOp::Close(CloseArgs { seqid: 0, open_stateid })
}

/// OPEN_DOWNGRADE.
#[must_use]
pub fn downgrade(open_stateid: StateId, share_access: ShareAccess, share_deny: ShareDeny) -> ArgOp {
    ArgOp::OpenDowngrade(OpenDowngradeArgs { open_stateid, seqid: 0, share_access, share_deny })
}

/// READ.
#[must_use]
pub fn read(stateid: StateId, offset: u64, count: u32) -> ArgOp {
    ArgOp::Read(ReadArgs { stateid, offset, count })
}

/// WRITE, unstable.
#[must_use]
pub fn write(stateid: StateId, offset: u64, data: &[u8]) -> ArgOp {
    write_how(stateid, offset, data, StableHow::Unstable)
}

/// WRITE.
#[must_use]
pub fn write_how(stateid: StateId, offset: u64, data: &[u8], stable: StableHow) -> ArgOp {
    ArgOp::Write(WriteArgs { stateid, offset, stable, data: Data::new(data.to_vec()).unwrap() })
}

/// COMMIT.
#[must_use]
pub fn commit(offset: u64, count: u32) -> ArgOp {
    ArgOp::Commit(CommitArgs { offset, count })
}

/// LOCK by an owner without a lock stateid of this file.
#[must_use]
pub fn lock(open: StateId, word: &str, locktype: LockType, offset: u64, length: u64) -> ArgOp {
    let locker = Locker::New { open_seqid: 0, open_stateid: open, lock_seqid: 0, lock_owner: owner(word) };
    ArgOp::Lock(LockArgs { locktype, reclaim: false, offset, length, locker })
}

/// LOCK with a lock stateid.
#[must_use]
pub fn lock_more(lock_stateid: StateId, locktype: LockType, offset: u64, length: u64) -> ArgOp {
    let locker = Locker::Exist { lock_stateid, lock_seqid: 0 };
    ArgOp::Lock(LockArgs { locktype, reclaim: false, offset, length, locker })
}

/// LOCKT.
#[must_use]
pub fn lockt(word: &str, locktype: LockType, offset: u64, length: u64) -> ArgOp {
    ArgOp::Lockt(LocktArgs { locktype, offset, length, owner: owner(word) })
}

/// LOCKU.
#[must_use]
pub fn locku(lock_stateid: StateId, offset: u64, length: u64) -> ArgOp {
    ArgOp::Locku(LockuArgs { locktype: LockType::Write, seqid: 0, lock_stateid, offset, length })
}

/// FREE_STATEID.
#[must_use]
pub fn free_stateid(stateid: StateId) -> ArgOp {
    ArgOp::FreeStateid(nfs4_proto::FreeStateidArgs { stateid })
}

/// TEST_STATEID.
#[must_use]
pub fn test_stateid(stateids: Vec<StateId>) -> ArgOp {
    ArgOp::TestStateid(TestStateidArgs { stateids: List::new(stateids).unwrap() })
}

/// SEEK.
#[must_use]
pub fn seek(stateid: StateId, offset: u64, what: DataContent) -> ArgOp {
    ArgOp::Seek(SeekArgs { stateid, offset, what })
}

/// ALLOCATE.
#[must_use]
pub fn allocate(stateid: StateId, offset: u64, length: u64) -> ArgOp {
    ArgOp::Allocate(AllocateArgs { stateid, offset, length })
}

/// DEALLOCATE.
#[must_use]
pub fn deallocate(stateid: StateId, offset: u64, length: u64) -> ArgOp {
    ArgOp::Deallocate(AllocateArgs { stateid, offset, length })
}

/// COPY on this server, synchronous.
#[must_use]
pub fn copy(src: StateId, dst: StateId, src_offset: u64, dst_offset: u64, count: u64) -> ArgOp {
    ArgOp::Copy(CopyArgs {
        src_stateid: src,
        dst_stateid: dst,
        src_offset,
        dst_offset,
        count,
        consecutive: true,
        synchronous: true,
        source_server: List::default(),
    })
}

/// CLONE.
#[must_use]
pub fn clone(src: StateId, dst: StateId, src_offset: u64, dst_offset: u64, count: u64) -> ArgOp {
    ArgOp::Clone(CloneArgs { src_stateid: src, dst_stateid: dst, src_offset, dst_offset, count })
}

/// GETXATTR.
#[must_use]
pub fn getxattr(key: &str) -> ArgOp {
    ArgOp::Getxattr(GetxattrArgs { name: name(key) })
}

/// SETXATTR.
#[must_use]
pub fn setxattr(option: SetxattrOption, key: &str, value: &[u8]) -> ArgOp {
    let value = XattrValue::new(value.to_vec()).unwrap();
    ArgOp::Setxattr(SetxattrArgs { option, key: name(key), value })
}

/// LISTXATTRS.
#[must_use]
pub fn listxattrs(cookie: u64, maxcount: u32) -> ArgOp {
    ArgOp::Listxattrs(ListxattrsArgs { cookie, maxcount })
}

/// REMOVEXATTR.
#[must_use]
pub fn removexattr(key: &str) -> ArgOp {
    ArgOp::Removexattr(RemovexattrArgs { name: name(key) })
}
