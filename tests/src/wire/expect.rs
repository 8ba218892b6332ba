//! A reply beside its request, and what is expected of it.

use nfs4_proto::{
    AccessOk, ArgOp, AttrSet, Attrs, CompoundRes, CopyOk, Fh, GetfhOk, GetxattrOk, ListxattrsOk, LockDenied,
    LockError, OpNum, OpenOk, ReadOk, ReaddirOk, ResOp, SeekOk, SequenceOk, SetattrError, StateId, Status,
    TestStateidOk, WriteOk,
};

/// A compound and its reply.
#[derive(Clone, Debug)]
pub struct Done {
    request: String,
    reply: CompoundRes,
}

/// The results behind SEQUENCE.
#[derive(Clone, Debug)]
pub struct Results {
    shown: String,
    all: Vec<ResOp>,
}

impl Done {
    /// Puts them together, and checks what holds of every reply (RFC 8881 §16.2.3).
    #[must_use]
    pub fn new(request: String, sent: &[ArgOp], reply: CompoundRes) -> Self {
        let done = Self { request, reply };
        let results = &done.reply.ops;
        assert!(results.len() <= sent.len(), "more results than operations: {done}");
        for (i, (op, result)) in sent.iter().zip(results.iter()).enumerate() {
            let (num, status) = (result.num(), result.status());
            assert!(num == op.num() || num == OpNum::Illegal, "result {i} is of another operation: {done}");
            assert!(num.may_answer(status), "{} must not answer {status}: {done}", num.name());
            assert!(status != Status::Resource, "NFS4ERR_RESOURCE is not of 4.1: {done}");
            let last = i + 1 == results.len();
            assert!(last || status == Status::Ok, "it went on after a failure: {done}");
        }
        match results.last() {
            Some(last) => assert_eq!(done.reply.status, last.status(), "{done}"),
            None => assert!(sent.is_empty() || done.reply.status != Status::Ok, "{done}"),
        }
        if done.reply.status == Status::Ok {
            assert_eq!(results.len(), sent.len(), "too few results: {done}");
        }
        done
    }

    /// The compound's status.
    #[must_use]
    pub fn status(&self) -> Status {
        self.reply.status
    }

    /// The reply.
    #[must_use]
    pub fn reply(&self) -> &CompoundRes {
        &self.reply
    }

    /// All succeeded.
    #[track_caller]
    #[must_use]
    pub fn ok(self) -> Results {
        assert_eq!(self.reply.status, Status::Ok, "{self}");
        self.results()
    }

    /// The last one that was tried failed like this.
    #[track_caller]
    pub fn fails(self, status: Status) -> Results {
        assert_eq!(self.reply.status, status, "{self}");
        self.results()
    }

    /// The operation `num` failed like this.
    #[track_caller]
    pub fn fails_at(self, num: OpNum, status: Status) -> Results {
        assert_eq!(self.reply.status, status, "{self}");
        assert_eq!(self.reply.ops.last().map(ResOp::num), Some(num), "{self}");
        self.results()
    }

    /// The results behind SEQUENCE, whatever they are.
    #[must_use]
    pub fn results(self) -> Results {
        let shown = self.to_string();
        let all = self.reply.ops.into_vec();
        Results { shown, all }
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n  call  {}\n  reply {}", self.request, self.reply)
    }
}

impl Results {
    /// All of them, SEQUENCE's too.
    #[must_use]
    pub fn all(&self) -> &[ResOp] {
        &self.all
    }

    #[track_caller]
    fn last<T>(&self, what: &str, take: impl Fn(&ResOp) -> Option<T>) -> T {
        self.all.iter().rev().find_map(take).unwrap_or_else(|| panic!("no {what} in {}", self.shown))
    }

    /// The last GETATTR's attributes.
    #[track_caller]
    #[must_use]
    pub fn attrs(&self) -> Attrs {
        self.last("GETATTR", |op| match op {
            ResOp::Getattr(Ok(ok)) => Some(ok.obj_attributes.clone()),
            _ => None,
        })
    }

    /// The last GETFH's handle.
    #[track_caller]
    #[must_use]
    pub fn fh(&self) -> Fh {
        self.last("GETFH", |op| match op {
            ResOp::Getfh(Ok(GetfhOk { object })) => Some(object.clone()),
            _ => None,
        })
    }

    /// The stateid that the last LOCK, LOCKU, OPEN_DOWNGRADE, or CLOSE told.
    #[track_caller]
    #[must_use]
    pub fn stateid(&self) -> StateId {
        self.last("stateid", |op| match op {
            ResOp::Lock(Ok(ok)) => Some(ok.lock_stateid),
            ResOp::Locku(Ok(stateid)) | ResOp::Close(Ok(stateid)) => Some(*stateid),
            ResOp::OpenDowngrade(Ok(ok)) => Some(ok.open_stateid),
            ResOp::Open(Ok(ok)) => Some(ok.stateid),
            _ => None,
        })
    }

    /// The last LOCK's or LOCKT's conflict.
    #[track_caller]
    #[must_use]
    pub fn denied(&self) -> LockDenied {
        self.last("LOCK4denied", |op| match op {
            ResOp::Lock(Err(LockError::Denied(denied))) | ResOp::Lockt(Err(LockError::Denied(denied))) => {
                Some(denied.clone())
            }
            _ => None,
        })
    }

    /// What SETATTR did, on success and on failure.
    #[track_caller]
    #[must_use]
    pub fn attrsset(&self) -> AttrSet {
        self.last("SETATTR", |op| match op {
            ResOp::Setattr(Ok(set) | Err(SetattrError { attrsset: set, .. })) => Some(set.clone()),
            _ => None,
        })
    }
}

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident -> $type:ty;)*) => {
        impl Results {$(
            $(#[$doc])*
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> $type {
                self.last(stringify!($variant), |op| match op {
                    ResOp::$variant(Ok(ok)) => Some(ok.clone()),
                    _ => None,
                })
            }
        )*}
    };
}

getters! {
    /// SEQUENCE.
    sequence: Sequence -> SequenceOk;
    /// OPEN.
    open: Open -> OpenOk;
    /// READ.
    read: Read -> ReadOk;
    /// WRITE.
    write: Write -> WriteOk;
    /// READDIR.
    readdir: Readdir -> ReaddirOk;
    /// ACCESS.
    access: Access -> AccessOk;
    /// SEEK.
    seek: Seek -> SeekOk;
    /// COPY.
    copy: Copy -> CopyOk;
    /// GETXATTR.
    getxattr: Getxattr -> GetxattrOk;
    /// LISTXATTRS.
    listxattrs: Listxattrs -> ListxattrsOk;
    /// TEST_STATEID.
    test_stateid: TestStateid -> TestStateidOk;
    /// CREATE.
    create: Create -> nfs4_proto::CreateOk;
    /// REMOVE.
    remove: Remove -> nfs4_proto::RemoveOk;
    /// RENAME.
    rename: Rename -> nfs4_proto::RenameOk;
    /// COMMIT.
    commit: Commit -> nfs4_proto::CommitOk;
    /// READLINK.
    readlink: Readlink -> nfs4_proto::ReadlinkOk;
    /// SECINFO.
    secinfo: Secinfo -> nfs4_proto::SecinfoOk;
    /// LINK.
    link: Link -> nfs4_proto::LinkOk;
    /// BIND_CONN_TO_SESSION.
    bind: BindConnToSession -> nfs4_proto::BindConnToSessionOk;
    /// GET_DIR_DELEGATION.
    dir_delegation: GetDirDelegation -> nfs4_proto::GetDirDelegationRes;
    /// SETXATTR.
    setxattr: Setxattr -> nfs4_proto::SetxattrOk;
    /// REMOVEXATTR.
    removexattr: Removexattr -> nfs4_proto::RemovexattrOk;
}
