//! A compound to be sent.

use bytes::Bytes;
use nfs4_proto::{
    AccessArgs, AccessFlags, AccessOk, ArgOp, AttrSet, Attrs, ClientId, CloseArgs, Component, CreateArgs,
    CreateHow, CreateOk, CreateType, Data, Fh, GetattrArgs, GetattrOk, GetfhOk, LookupArgs, OpNum, OpenArgs,
    OpenClaim, OpenHow, OpenOk, PutfhArgs, ReadArgs, ReadOk, ReaddirArgs, ReaddirOk, RemoveArgs, RemoveOk,
    RenameArgs, RenameOk, ResOp, SetattrArgs, ShareAccess, ShareDeny, StableHow, StateId, StateOwner, Status,
    Verifier, Want, WriteArgs, WriteOk,
};
use nfs4_xdr::Opaque;

use super::At;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFor {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Both.
    Both,
}

impl OpenFor {
    fn access(self) -> ShareAccess {
        let access = match self {
            Self::Read => ShareAccess::READ,
            Self::Write => ShareAccess::WRITE,
            Self::Both => ShareAccess::READ | ShareAccess::WRITE,
        };
        // Nobody here would return a delegation.
        access.with_want(Want::No)
    }
}

/// Operations in order. SEQUENCE is the session's to add.
#[derive(Clone, Debug, Default)]
pub struct Compound(Vec<ArgOp>);

macro_rules! result_of {
    ($variant:ident) => {
        |result: &ResOp| {
            if let ResOp::$variant(r) = result {
                Some(r.as_ref().map_err(nfs4_proto::OpError::status))
            } else {
                None
            }
        }
    };
}

/// A name. One that is longer than the codec takes becomes empty, which the server refuses.
fn component(name: &[u8]) -> Component {
    Component::new(Bytes::copy_from_slice(name)).unwrap_or_default()
}

impl Compound {
    /// No operation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operation as it is.
    pub fn push(&mut self, op: ArgOp) -> &mut Self {
        self.0.push(op);
        self
    }

    /// The operations.
    #[must_use]
    pub fn into_ops(self) -> Vec<ArgOp> {
        self.0
    }

    fn add<T>(&mut self, op: ArgOp, of: fn(&ResOp) -> Option<Result<&T, Status>>) -> At<T> {
        let at = At { index: self.0.len(), num: op.num(), of };
        self.0.push(op);
        at
    }

    /// PUTROOTFH.
    pub fn putrootfh(&mut self) -> &mut Self {
        self.push(ArgOp::Putrootfh)
    }

    /// PUTFH.
    pub fn putfh(&mut self, fh: &Fh) -> &mut Self {
        self.push(ArgOp::Putfh(PutfhArgs { object: fh.clone() }))
    }

    /// SAVEFH.
    pub fn savefh(&mut self) -> &mut Self {
        self.push(ArgOp::Savefh)
    }

    /// LOOKUP.
    pub fn lookup(&mut self, name: impl AsRef<[u8]>) -> At<()> {
        self.add(ArgOp::Lookup(LookupArgs { objname: component(name.as_ref()) }), result_of!(Lookup))
    }

    /// GETFH.
    pub fn getfh(&mut self) -> At<GetfhOk> {
        self.add(ArgOp::Getfh, result_of!(Getfh))
    }

    /// GETATTR.
    pub fn getattr(&mut self, attrs: AttrSet) -> At<GetattrOk> {
        self.add(ArgOp::Getattr(GetattrArgs { attr_request: attrs }), result_of!(Getattr))
    }

    /// SETATTR.
    pub fn setattr(&mut self, stateid: StateId, attrs: Attrs) -> At<AttrSet> {
        let args = SetattrArgs { stateid, obj_attributes: Box::new(attrs) };
        self.add(ArgOp::Setattr(args), result_of!(Setattr))
    }

    /// ACCESS.
    pub fn access(&mut self, access: AccessFlags) -> At<AccessOk> {
        self.add(ArgOp::Access(AccessArgs { access }), result_of!(Access))
    }

    fn open_with(&mut self, owner: &[u8], what: OpenFor, openhow: OpenHow, claim: OpenClaim) -> At<OpenOk> {
        let args = OpenArgs {
            seqid: 0,
            share_access: what.access(),
            share_deny: ShareDeny::empty(),
            owner: StateOwner {
                clientid: ClientId(0),
                owner: Opaque::new(Bytes::copy_from_slice(owner)).unwrap_or_default(),
            },
            openhow,
            claim,
        };
        self.add(ArgOp::Open(args), result_of!(Open))
    }

    /// OPEN of a name that exists.
    pub fn open(&mut self, owner: &[u8], name: impl AsRef<[u8]>, what: OpenFor) -> At<OpenOk> {
        self.open_with(owner, what, OpenHow::NoCreate, OpenClaim::Null(component(name.as_ref())))
    }

    /// OPEN of the current filehandle.
    pub fn open_fh(&mut self, owner: &[u8], what: OpenFor) -> At<OpenOk> {
        self.open_with(owner, what, OpenHow::NoCreate, OpenClaim::Fh)
    }

    /// OPEN that creates.
    pub fn create_file(
        &mut self,
        owner: &[u8],
        name: impl AsRef<[u8]>,
        what: OpenFor,
        how: CreateHow,
    ) -> At<OpenOk> {
        self.open_with(owner, what, OpenHow::Create(how), OpenClaim::Null(component(name.as_ref())))
    }

    /// CREATE.
    pub fn create(&mut self, what: CreateType, name: impl AsRef<[u8]>, attrs: Attrs) -> At<CreateOk> {
        let args =
            CreateArgs { objtype: what, objname: component(name.as_ref()), createattrs: Box::new(attrs) };
        self.add(ArgOp::Create(args), result_of!(Create))
    }

    /// CLOSE.
    pub fn close(&mut self, stateid: StateId) -> At<StateId> {
        self.add(ArgOp::Close(CloseArgs { seqid: 0, open_stateid: stateid }), result_of!(Close))
    }

    /// READ.
    pub fn read(&mut self, stateid: StateId, offset: u64, count: u32) -> At<ReadOk> {
        self.add(ArgOp::Read(ReadArgs { stateid, offset, count }), result_of!(Read))
    }

    /// WRITE. The data are not copied.
    pub fn write(&mut self, stateid: StateId, offset: u64, stable: StableHow, data: Bytes) -> At<WriteOk> {
        let args = WriteArgs { stateid, offset, stable, data: Data::new(data).unwrap_or_default() };
        self.add(ArgOp::Write(args), result_of!(Write))
    }

    /// READDIR.
    pub fn readdir(
        &mut self,
        cookie: u64,
        cookieverf: Verifier,
        maxcount: u32,
        attrs: AttrSet,
    ) -> At<ReaddirOk> {
        let args = ReaddirArgs { cookie, cookieverf, dircount: maxcount, maxcount, attr_request: attrs };
        self.add(ArgOp::Readdir(args), result_of!(Readdir))
    }

    /// REMOVE.
    pub fn remove(&mut self, name: impl AsRef<[u8]>) -> At<RemoveOk> {
        self.add(ArgOp::Remove(RemoveArgs { target: component(name.as_ref()) }), result_of!(Remove))
    }

    /// RENAME, from the saved directory to the current one.
    pub fn rename(&mut self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> At<RenameOk> {
        let args = RenameArgs { oldname: component(from.as_ref()), newname: component(to.as_ref()) };
        self.add(ArgOp::Rename(args), result_of!(Rename))
    }

    /// Which operations it has.
    pub fn nums(&self) -> impl Iterator<Item = OpNum> + '_ {
        self.0.iter().map(ArgOp::num)
    }
}
