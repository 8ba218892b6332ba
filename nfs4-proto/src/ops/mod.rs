//! The operation table, and the arguments and results of all operations by family.

mod attrs;
mod copy;
mod deleg;
mod io;
mod layout;
mod legal;
mod lock;
mod lookup;
mod namespace;
mod open;
mod readdir;
mod removed;
mod room;
mod security;
mod served;
mod session;
mod show;
mod sparse;
mod xattr;

pub use attrs::*;
pub use copy::*;
pub use deleg::*;
pub use io::*;
pub use layout::*;
pub use lock::*;
pub use lookup::*;
pub use namespace::*;
pub use open::*;
pub use readdir::*;
pub use removed::*;
pub use security::*;
pub use served::Served;
pub use session::*;
pub use sparse::*;
pub use xattr::*;

use crate::outcome::Outcome;
use crate::table::nfs4_ops;
use crate::{AttrSet, StateId, Status};

bitflags::bitflags! {
    /// The rules that hold for an operation, as far as they are the same for all its arguments.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct OpFlags: u16 {
        /// Needs a current filehandle.
        const CFH = 1;
        /// That must be a directory.
        const DIR = 1 << 1;
        /// Needs a saved filehandle.
        const SFH = 1 << 2;
        /// Sets the current filehandle.
        const SETS_CFH = 1 << 3;
        /// Takes a stateid, which may be the current one. RFC 8881 §16.2.3.1.2.
        const STATEID = 1 << 4;
        /// Changes something that others can see, on disk or in the server's state: its reply must be known to fit
        /// before it runs.
        const MUTATES = 1 << 5;
        /// Must be the first, and only there. RFC 8881 §2.10.6.
        const FIRST = 1 << 6;
        /// May come without SEQUENCE, then as the only one. RFC 8881 §15.1.3.3.
        const SESSIONLESS = 1 << 7;
        /// Must be the only one. RFC 8881 §18.34.3.
        const ONLY = 1 << 8;
        /// Not in 4.1 and later: NFS4ERR_NOTSUPP. RFC 8881 §15.2.
        const REMOVED = 1 << 9;
    }
}

nfs4_ops! {
    /// All operations of 4.1 and 4.2, and the five of 4.0 that were removed. RFC 8881 §16.2.1, RFC 7863, RFC 8276.
    numbers nfs_opnum4 as OpNum;
    /// An operation and its arguments. RFC 8881 §16.2.1.
    arguments nfs_argop4 as ArgOp;
    /// An operation and its result. RFC 8881 §16.2.2.
    results nfs_resop4 as ResOp;

    3, "ACCESS", Access(AccessArgs) -> AccessOk,
        1, [CFH], 3, ACCESS, "Checks access rights. RFC 8881 §18.1.";
    4, "CLOSE", Close(CloseArgs) -> StateId,
        1, [CFH STATEID MUTATES], 50, CLOSE, "Closes a file. RFC 8881 §18.2.";
    5, "COMMIT", Commit(CommitArgs) -> CommitOk,
        1, [CFH], 55, COMMIT, "Makes written data safe. RFC 8881 §18.3.";
    6, "CREATE", Create(CreateArgs) -> CreateOk,
        1, [CFH DIR SETS_CFH MUTATES], 60, CREATE, "Creates all but regular files. RFC 8881 §18.4.";
    7, "DELEGPURGE", Delegpurge(DelegpurgeArgs) -> (),
        1, [MUTATES], 10, DELEGPURGE, "Gives up delegations of before a restart of the client. RFC 8881 §18.5.";
    8, "DELEGRETURN", Delegreturn(DelegreturnArgs) -> (),
        1, [CFH STATEID MUTATES], 50, DELEGRETURN, "Returns a delegation. RFC 8881 §18.6.";
    9, "GETATTR", Getattr(GetattrArgs) -> GetattrOk,
        1, [CFH], 2, GETATTR, "Reads attributes. RFC 8881 §18.7.";
    10, "GETFH", Getfh -> GetfhOk,
        1, [CFH], 0, GETFH, "Tells the current filehandle. RFC 8881 §18.8.";
    11, "LINK", Link(LinkArgs) -> LinkOk,
        1, [CFH DIR SFH MUTATES], 60, LINK, "Gives an object one more name. RFC 8881 §18.9.";
    12, "LOCK", Lock(LockArgs) -> LockOk | LockError,
        1, [CFH STATEID MUTATES], 60, LOCK, "Locks a range of bytes. RFC 8881 §18.10.";
    13, "LOCKT", Lockt(LocktArgs) -> () | LockError,
        1, [CFH], 60, LOCKT, "Tests for a lock. RFC 8881 §18.11.";
    14, "LOCKU", Locku(LockuArgs) -> StateId,
        1, [CFH STATEID MUTATES], 60, LOCKU, "Unlocks a range of bytes. RFC 8881 §18.12.";
    15, "LOOKUP", Lookup(LookupArgs) -> (),
        1, [CFH DIR SETS_CFH], 20, LOOKUP, "Goes to a name in the current directory. RFC 8881 §18.13.";
    16, "LOOKUPP", Lookupp -> (),
        1, [CFH DIR SETS_CFH], 20, LOOKUPP, "Goes to the parent directory. RFC 8881 §18.14.";
    17, "NVERIFY", Nverify(VerifyArgs) -> (),
        1, [CFH], 2, NVERIFY, "Fails if attributes are the same. RFC 8881 §18.15.";
    18, "OPEN", Open(OpenArgs) -> OpenOk,
        1, [CFH SETS_CFH STATEID MUTATES], 60, OPEN, "Opens a regular file, and may create it. RFC 8881 §18.16.";
    19, "OPENATTR", Openattr(OpenattrArgs) -> (),
        1, [CFH SETS_CFH MUTATES], 20, OPENATTR, "Goes to the directory of named attributes. RFC 8881 §18.17.";
    20, "OPEN_CONFIRM", OpenConfirm(OpenConfirmArgs) -> StateId,
        0, [CFH REMOVED], 10, OPEN_CONFIRM, "Confirms an open (4.0 only). RFC 7530 §16.18.";
    21, "OPEN_DOWNGRADE", OpenDowngrade(OpenDowngradeArgs) -> OpenDowngradeOk,
        1, [CFH STATEID MUTATES], 50, OPEN_DOWNGRADE, "Reduces an open's access. RFC 8881 §18.18.";
    22, "PUTFH", Putfh(PutfhArgs) -> (),
        1, [SETS_CFH], 0, PUTFH, "Goes to a filehandle. RFC 8881 §18.19.";
    23, "PUTPUBFH", Putpubfh -> (),
        1, [SETS_CFH], 0, PUTPUBFH, "Goes to the public filehandle. RFC 8881 §18.20.";
    24, "PUTROOTFH", Putrootfh -> (),
        1, [SETS_CFH], 0, PUTROOTFH, "Goes to the root. RFC 8881 §18.21.";
    25, "READ", Read(ReadArgs) -> ReadOk,
        1, [CFH STATEID], 55, READ, "Reads data. RFC 8881 §18.22.";
    26, "READDIR", Readdir(ReaddirArgs) -> ReaddirOk,
        1, [CFH DIR], 30, READDIR, "Lists a directory. RFC 8881 §18.23.";
    27, "READLINK", Readlink -> ReadlinkOk,
        1, [CFH], 30, READLINK, "Reads a symbolic link. RFC 8881 §18.24.";
    28, "REMOVE", Remove(RemoveArgs) -> RemoveOk,
        1, [CFH DIR MUTATES], 60, REMOVE, "Removes a name. RFC 8881 §18.25.";
    29, "RENAME", Rename(RenameArgs) -> RenameOk,
        1, [CFH DIR SFH MUTATES], 60, RENAME, "Moves a name. RFC 8881 §18.26.";
    30, "RENEW", Renew(RenewArgs) -> (),
        0, [REMOVED], 10, RENEW, "Renews a lease (4.0 only). RFC 7530 §16.28.";
    31, "RESTOREFH", Restorefh -> (),
        1, [SFH SETS_CFH], 0, RESTOREFH, "Goes to the saved filehandle. RFC 8881 §18.27.";
    32, "SAVEFH", Savefh -> (),
        1, [CFH], 0, SAVEFH, "Saves the current filehandle. RFC 8881 §18.28.";
    33, "SECINFO", Secinfo(SecinfoArgs) -> SecinfoOk,
        1, [CFH DIR], 20, SECINFO, "Tells the security flavors for a name. RFC 8881 §18.29.";
    34, "SETATTR", Setattr(SetattrArgs) -> AttrSet | SetattrError,
        1, [CFH STATEID MUTATES], 45, SETATTR, "Sets attributes. RFC 8881 §18.30.";
    35, "SETCLIENTID", Setclientid(SetclientidArgs) -> SetclientidOk | SetclientidError,
        0, [REMOVED], 10, SETCLIENTID, "Makes a client known (4.0 only). RFC 7530 §16.33.";
    36, "SETCLIENTID_CONFIRM", SetclientidConfirm(SetclientidOk) -> (),
        0, [REMOVED], 10, SETCLIENTID_CONFIRM, "Confirms a client (4.0 only). RFC 7530 §16.34.";
    37, "VERIFY", Verify(VerifyArgs) -> (),
        1, [CFH], 2, VERIFY, "Fails if attributes differ. RFC 8881 §18.31.";
    38, "WRITE", Write(WriteArgs) -> WriteOk,
        1, [CFH STATEID MUTATES], 55, WRITE, "Writes data. RFC 8881 §18.32.";
    39, "RELEASE_LOCKOWNER", ReleaseLockowner(ReleaseLockownerArgs) -> (),
        0, [REMOVED], 10, RELEASE_LOCKOWNER, "Forgets a lock owner (4.0 only). RFC 7530 §16.37.";
    40, "BACKCHANNEL_CTL", BackchannelCtl(BackchannelCtlArgs) -> (),
        1, [MUTATES], 10, BACKCHANNEL_CTL, "Changes the backchannel's program and credentials. RFC 8881 §18.33.";
    41, "BIND_CONN_TO_SESSION", BindConnToSession(BindConnToSessionArgs) -> BindConnToSessionOk,
        1, [SESSIONLESS ONLY MUTATES], 10, BIND_CONN_TO_SESSION, "Gives a session one more connection. RFC 8881 §18.34.";
    42, "EXCHANGE_ID", ExchangeId(ExchangeIdArgs) -> ExchangeIdOk,
        1, [SESSIONLESS MUTATES], 10, EXCHANGE_ID, "Makes client and server known to each other. RFC 8881 §18.35.";
    43, "CREATE_SESSION", CreateSession(CreateSessionArgs) -> CreateSessionOk,
        1, [SESSIONLESS MUTATES], 10, CREATE_SESSION, "Creates a session and confirms the client. RFC 8881 §18.36.";
    44, "DESTROY_SESSION", DestroySession(DestroySessionArgs) -> (),
        1, [SESSIONLESS MUTATES], 10, DESTROY_SESSION, "Destroys a session. RFC 8881 §18.37.";
    45, "FREE_STATEID", FreeStateid(FreeStateidArgs) -> (),
        1, [STATEID MUTATES], 10, FREE_STATEID, "Forgets a state without locks. RFC 8881 §18.38.";
    46, "GET_DIR_DELEGATION", GetDirDelegation(GetDirDelegationArgs) -> GetDirDelegationRes,
        1, [CFH DIR MUTATES], 1, GET_DIR_DELEGATION, "Asks for a delegation of a directory. RFC 8881 §18.39.";
    47, "GETDEVICEINFO", Getdeviceinfo(GetdeviceinfoArgs) -> GetdeviceinfoOk | GetdeviceinfoError,
        1, [], 1, GETDEVICEINFO, "Tells the address of a device (pNFS). RFC 8881 §18.40.";
    48, "GETDEVICELIST", Getdevicelist(GetdevicelistArgs) -> GetdevicelistOk,
        1, [CFH], 1, GETDEVICELIST, "Lists the devices of a file system (pNFS). RFC 8881 §18.41.";
    49, "LAYOUTCOMMIT", Layoutcommit(LayoutcommitArgs) -> LayoutcommitOk,
        1, [CFH STATEID MUTATES], 1, LAYOUTCOMMIT, "Makes writes through a layout known (pNFS). RFC 8881 §18.42.";
    50, "LAYOUTGET", Layoutget(LayoutgetArgs) -> LayoutgetOk | LayoutgetError,
        1, [CFH STATEID MUTATES], 1, LAYOUTGET, "Asks for a layout (pNFS). RFC 8881 §18.43.";
    51, "LAYOUTRETURN", Layoutreturn(LayoutreturnArgs) -> LayoutreturnOk,
        1, [CFH STATEID MUTATES], 1, LAYOUTRETURN, "Returns a layout (pNFS). RFC 8881 §18.44.";
    52, "SECINFO_NO_NAME", SecinfoNoName(SecinfoStyle) -> SecinfoOk,
        1, [CFH], 20, SECINFO_NO_NAME, "Tells the security flavors for the current object. RFC 8881 §18.45.";
    53, "SEQUENCE", Sequence(SequenceArgs) -> SequenceOk,
        1, [FIRST], 0, SEQUENCE, "Names session and slot, and renews the lease. RFC 8881 §18.46.";
    54, "SET_SSV", SetSsv(SetSsvArgs) -> SetSsvOk,
        1, [MUTATES], 10, SET_SSV, "Changes the shared secret. RFC 8881 §18.47.";
    55, "TEST_STATEID", TestStateid(TestStateidArgs) -> TestStateidOk,
        1, [STATEID], 10, TEST_STATEID, "Tests whether states are valid. RFC 8881 §18.48.";
    56, "WANT_DELEGATION", WantDelegation(WantDelegationArgs) -> OpenDelegation,
        1, [CFH MUTATES], 50, WANT_DELEGATION, "Asks for a delegation without an open. RFC 8881 §18.49.";
    57, "DESTROY_CLIENTID", DestroyClientid(DestroyClientidArgs) -> (),
        1, [SESSIONLESS MUTATES], 10, DESTROY_CLIENTID, "Forgets a client. RFC 8881 §18.50.";
    58, "RECLAIM_COMPLETE", ReclaimComplete(ReclaimCompleteArgs) -> (),
        1, [MUTATES], 10, RECLAIM_COMPLETE, "Ends a client's reclaims. RFC 8881 §18.51.";
    59, "ALLOCATE", Allocate(AllocateArgs) -> (),
        2, [CFH STATEID MUTATES], 55, ALLOCATE, "Reserves space. RFC 7862 §15.1.";
    60, "COPY", Copy(CopyArgs) -> CopyOk | CopyError,
        2, [CFH SFH STATEID MUTATES], 55, COPY, "Copies data on the server. RFC 7862 §15.2.";
    61, "COPY_NOTIFY", CopyNotify(CopyNotifyArgs) -> CopyNotifyOk,
        2, [CFH STATEID MUTATES], 55, COPY_NOTIFY, "Lets another server read a file. RFC 7862 §15.3.";
    62, "DEALLOCATE", Deallocate(AllocateArgs) -> (),
        2, [CFH STATEID MUTATES], 55, DEALLOCATE, "Makes a hole. RFC 7862 §15.4.";
    63, "IO_ADVISE", IoAdvise(IoAdviseArgs) -> IoAdviseOk,
        2, [CFH STATEID], 55, IO_ADVISE, "Tells how a file will be used. RFC 7862 §15.5.";
    64, "LAYOUTERROR", Layouterror(LayouterrorArgs) -> (),
        2, [CFH STATEID], 1, LAYOUTERROR, "Tells errors of devices (pNFS). RFC 7862 §15.6.";
    65, "LAYOUTSTATS", Layoutstats(LayoutstatsArgs) -> (),
        2, [CFH STATEID], 1, LAYOUTSTATS, "Tells how a layout is used (pNFS). RFC 7862 §15.7.";
    66, "OFFLOAD_CANCEL", OffloadCancel(OffloadArgs) -> (),
        2, [CFH STATEID MUTATES], 55, OFFLOAD_CANCEL, "Stops a copy that goes on. RFC 7862 §15.8.";
    67, "OFFLOAD_STATUS", OffloadStatus(OffloadArgs) -> OffloadStatusOk,
        2, [CFH STATEID], 55, OFFLOAD_STATUS, "Asks how far a copy is. RFC 7862 §15.9.";
    68, "READ_PLUS", ReadPlus(ReadPlusArgs) -> ReadPlusOk,
        2, [CFH STATEID], 55, READ_PLUS, "Reads data and holes. RFC 7862 §15.10.";
    69, "SEEK", Seek(SeekArgs) -> SeekOk,
        2, [CFH STATEID], 55, SEEK, "Finds the next data or hole. RFC 7862 §15.11.";
    70, "WRITE_SAME", WriteSame(WriteSameArgs) -> WriteResponse,
        2, [CFH STATEID MUTATES], 55, WRITE_SAME, "Writes a pattern. RFC 7862 §15.12.";
    71, "CLONE", Clone(CloneArgs) -> (),
        2, [CFH SFH STATEID MUTATES], 55, CLONE, "Shares a range with another file. RFC 7862 §15.13.";
    72, "GETXATTR", Getxattr(GetxattrArgs) -> GetxattrOk,
        2, [CFH], 55, GETXATTR, "Reads an extended attribute. RFC 8276 §8.4.1.";
    73, "SETXATTR", Setxattr(SetxattrArgs) -> SetxattrOk,
        2, [CFH MUTATES], 55, SETXATTR, "Sets an extended attribute. RFC 8276 §8.4.2.";
    74, "LISTXATTRS", Listxattrs(ListxattrsArgs) -> ListxattrsOk,
        2, [CFH], 55, LISTXATTRS, "Lists extended attributes. RFC 8276 §8.4.3.";
    75, "REMOVEXATTR", Removexattr(RemovexattrArgs) -> RemovexattrOk,
        2, [CFH MUTATES], 55, REMOVEXATTR, "Removes an extended attribute. RFC 8276 §8.4.4.";
    10044, "ILLEGAL", Illegal -> (),
        0, [], 0, ILLEGAL, "What an unknown operation is answered with. RFC 8881 §18.52.";
}

impl OpNum {
    /// Whether the RFCs let this operation answer `status`: by their tables, or by prose that goes beyond them.
    #[must_use]
    pub fn may_answer(self, status: Status) -> bool {
        self.legal().contains(&status) || self.more(status)
    }

    /// What prose allows beyond the tables.
    fn more(self, status: Status) -> bool {
        use Status as S;
        // Any operation may be the one whose result does not fit, or the second of a retry whose reply was not kept
        // (RFC 8881 §2.10.6.1.3, §2.10.6.4), and any may be malformed (§15.1.1.1).
        matches!(status, S::BadXdr | S::RepTooBig | S::RepTooBigToCache | S::RetryUncachedRep)
            // RFC 7862 §11.2 forgets it for OFFLOAD_CANCEL and OFFLOAD_STATUS, which need a current filehandle.
            || status == S::NoFileHandle && self.flags().intersects(OpFlags::CFH.union(OpFlags::SFH))
            // §18.16.4: a server without the _PREV claims. RFC 8276 §8.4 names it for two of its four operations.
            // Copies between servers are optional (RFC 7862 §13), which its table of errors forgets.
            || status == S::NotSupp
                && matches!(self, Self::Open | Self::Setxattr | Self::Removexattr | Self::Copy | Self::CopyNotify)
            // §18.35.4, case 8: an update by another principal.
            || status == S::Perm && self == Self::ExchangeId
            // RFC 8276 §8.4.3.2: cookies and sizes are handled as in READDIR.
            || matches!(status, S::BadCookie | S::TooSmall) && self == Self::Listxattrs
            // RFC 7862 §15.11.3: nothing to be found behind the offset.
            || status == S::NxIo && self == Self::Seek
            // §15.2.3 there: what a copy demands cannot be had.
            || status == S::OffloadNoReqs && self == Self::Copy
            // Nor, as CLONE, between file systems (§15.13.3 there).
            || status == S::XDev && self == Self::Copy
            // §11.1.1.1 there: a union whose arm came with a later extension.
            || status == S::UnionNotSupp && matches!(self, Self::Copy | Self::CopyNotify)
    }
}
