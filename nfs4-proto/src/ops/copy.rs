//! Copies on the server: COPY, COPY_NOTIFY, OFFLOAD_CANCEL, OFFLOAD_STATUS, CLONE (RFC 7862).

use nfs4_xdr::{List, Text, xdr_enum, xdr_struct, xdr_union};

use crate::outcome::op_error;
use crate::{NfsTime, StateId, Status, Utf8Str};

use super::sparse::WriteResponse;

xdr_enum! {
    /// RFC 7862 §7.
    pub enum netloc_type4 as NetLocType {
        /// A host's name.
        Name = 1 "NL4_NAME",
        /// A URL.
        Url = 2 "NL4_URL",
        /// A network address.
        NetAddr = 3 "NL4_NETADDR",
    }
}

xdr_struct! {
    /// A network address. RFC 8881 §3.3.9.
    pub struct netaddr4 as NetAddr {
        /// Kind of network, such as `tcp`.
        pub netid: Text<1024>,
        /// Universal address.
        pub addr: Text<1024>,
    }
}

xdr_union! {
    /// Where another server is. RFC 7862 §7.
    pub union netloc4 as NetLoc switch (NetLocType) {
        /// A host's name.
        Name => Name(Utf8Str),
        /// A URL.
        Url => Url(Utf8Str),
        /// A network address.
        NetAddr => NetAddr(NetAddr),
    }
}

xdr_struct! {
    /// From the saved file to the current one. RFC 7862 §15.2.1.
    pub struct COPY4args as CopyArgs {
        /// By what right the source is read.
        pub src_stateid: StateId,
        /// By what right the destination is written.
        pub dst_stateid: StateId,
        /// First byte of the source.
        pub src_offset: u64,
        /// First byte of the destination.
        pub dst_offset: u64,
        /// Bytes; 0: to the source's end.
        pub count: u64,
        /// In ascending order.
        pub consecutive: bool,
        /// Before the reply.
        pub synchronous: bool,
        /// Where the source is; empty: here.
        pub source_server: List<NetLoc, 64>,
    }

    /// RFC 7862 §15.2.2.
    #[derive(Copy)]
    pub struct copy_requirements4 as CopyRequirements {
        /// In ascending order.
        pub consecutive: bool,
        /// Before the reply.
        pub synchronous: bool,
    }

    /// RFC 7862 §15.2.2.
    #[derive(Copy)]
    pub struct COPY4resok as CopyOk {
        /// What was written.
        pub response: WriteResponse,
        /// How.
        pub requirements: CopyRequirements,
    }

    /// RFC 7862 §15.3.1.
    pub struct COPY_NOTIFY4args as CopyNotifyArgs {
        /// By what right the source is read.
        pub src_stateid: StateId,
        /// Who will read it.
        pub destination_server: NetLoc,
    }

    /// RFC 7862 §15.3.2.
    pub struct COPY_NOTIFY4resok as CopyNotifyOk {
        /// How long it may take to begin.
        pub lease_time: NfsTime,
        /// What the other server reads with.
        pub stateid: StateId,
        /// Where it reads.
        pub source_server: List<NetLoc, 64>,
    }

    /// OFFLOAD_CANCEL and OFFLOAD_STATUS. RFC 7862 §15.8.1, §15.9.1.
    #[derive(Copy)]
    pub struct OFFLOAD_STATUS4args as OffloadArgs {
        /// The work.
        pub stateid: StateId,
    }

    /// RFC 7862 §15.9.2.
    #[derive(Copy)]
    pub struct OFFLOAD_STATUS4resok as OffloadStatusOk {
        /// Bytes so far.
        pub count: u64,
        /// How it ended, if it has.
        pub complete: Option<Status>,
    }

    /// From the saved file to the current one. RFC 7862 §15.13.1.
    #[derive(Copy)]
    pub struct CLONE4args as CloneArgs {
        /// By what right the source is read.
        pub src_stateid: StateId,
        /// By what right the destination is written.
        pub dst_stateid: StateId,
        /// First byte of the source.
        pub src_offset: u64,
        /// First byte of the destination.
        pub dst_offset: u64,
        /// Bytes; 0: to the source's end.
        pub count: u64,
    }
}

op_error! {
    /// Why COPY failed. RFC 7862 §15.2.2.
    pub enum CopyError {
        /// NFS4ERR_OFFLOAD_NO_REQS with what could be done.
        OffloadNoReqs => OffloadNoReqs(CopyRequirements)
    }
}
