//! Clients and sessions: EXCHANGE_ID, CREATE_SESSION, SEQUENCE and their like.

use nfs4_xdr::{List, Opaque, xdr_enum, xdr_struct, xdr_union};

use crate::{
    Bitmap4, CallbackSecParms, ClientId, ClientOwner, CreateSessionFlags, ExchangeIdFlags, GssHandle, ImplId,
    NFS4_OPAQUE_LIMIT, SecOid, SeqStatusFlags, ServerOwner, SessionId,
};

xdr_enum! {
    /// How state is protected. RFC 8881 §18.35.1.
    pub enum state_protect_how4 as StateProtectHow {
        /// Not.
        None = 0 "SP4_NONE",
        /// By the machine's credential.
        MachCred = 1 "SP4_MACH_CRED",
        /// By a shared secret.
        Ssv = 2 "SP4_SSV",
    }
}

xdr_struct! {
    /// Which operations are protected; bits are operation numbers. RFC 8881 §18.35.1.
    pub struct state_protect_ops4 as StateProtectOps {
        /// They need the machine's credential.
        pub must_enforce: Bitmap4,
        /// They may use it.
        pub must_allow: Bitmap4,
    }

    /// RFC 8881 §18.35.1.
    pub struct ssv_sp_parms4 as SsvSpParms {
        /// Which operations.
        pub ops: StateProtectOps,
        /// Hashes offered.
        pub hash_algs: List<SecOid, 64>,
        /// Ciphers offered.
        pub encr_algs: List<SecOid, 64>,
        /// Secrets kept.
        pub window: u32,
        /// Handles wanted.
        pub num_gss_handles: u32,
    }

    /// RFC 8881 §18.35.2.
    pub struct ssv_prot_info4 as SsvProtInfo {
        /// Which operations.
        pub ops: StateProtectOps,
        /// Which of the hashes offered.
        pub hash_alg: u32,
        /// Which of the ciphers offered.
        pub encr_alg: u32,
        /// Length of the secret.
        pub ssv_len: u32,
        /// Secrets kept.
        pub window: u32,
        /// Handles.
        pub handles: List<GssHandle, 64>,
    }
}

xdr_union! {
    /// Protection wanted. RFC 8881 §18.35.1.
    pub union state_protect4_a as StateProtectArgs switch (StateProtectHow) {
        /// None.
        None => None,
        /// By the machine's credential.
        MachCred => MachCred(StateProtectOps),
        /// By a shared secret.
        Ssv => Ssv(SsvSpParms),
    }
}

xdr_union! {
    /// Protection given. RFC 8881 §18.35.2.
    pub union state_protect4_r as StateProtectRes switch (StateProtectHow) {
        /// None.
        None => None,
        /// By the machine's credential.
        MachCred => MachCred(StateProtectOps),
        /// By a shared secret.
        Ssv => Ssv(SsvProtInfo),
    }
}

xdr_struct! {
    /// RFC 8881 §18.35.1.
    pub struct EXCHANGE_ID4args as ExchangeIdArgs {
        /// Who the client is.
        pub clientowner: ClientOwner,
        /// What it can do.
        pub flags: ExchangeIdFlags,
        /// Protection wanted.
        pub state_protect: StateProtectArgs,
        /// Its make.
        pub client_impl_id: Option<ImplId>,
    }

    /// RFC 8881 §18.35.2.
    pub struct EXCHANGE_ID4resok as ExchangeIdOk {
        /// The client's ID.
        pub clientid: ClientId,
        /// The first CREATE_SESSION's sequence.
        pub sequenceid: u32,
        /// What the server can do.
        pub flags: ExchangeIdFlags,
        /// Protection given.
        pub state_protect: StateProtectRes,
        /// Who the server is.
        pub server_owner: ServerOwner,
        /// Where its names of clients and files hold.
        pub server_scope: Opaque<NFS4_OPAQUE_LIMIT>,
        /// Its make.
        pub server_impl_id: Option<ImplId>,
    }

    /// Sizes of one channel. RFC 8881 §18.36.1.
    #[derive(Copy)]
    pub struct channel_attrs4 as ChannelAttrs {
        /// Padding before WRITE data (RDMA).
        pub headerpadsize: u32,
        /// Most bytes of a request, RPC header included.
        pub maxrequestsize: u32,
        /// Most bytes of a reply, RPC header included.
        pub maxresponsesize: u32,
        /// Most bytes of a reply that is kept for a retry.
        pub maxresponsesize_cached: u32,
        /// Most operations of a compound.
        pub maxoperations: u32,
        /// Slots.
        pub maxrequests: u32,
        /// RDMA read queue.
        pub rdma_ird: Option<u32>,
    }

    /// RFC 8881 §18.36.1.
    pub struct CREATE_SESSION4args as CreateSessionArgs {
        /// The client.
        pub clientid: ClientId,
        /// Recognises the same creation sent again.
        pub sequence: u32,
        /// What is wanted.
        pub flags: CreateSessionFlags,
        /// Sizes of the fore channel.
        pub fore_chan_attrs: ChannelAttrs,
        /// Sizes of the backchannel.
        pub back_chan_attrs: ChannelAttrs,
        /// RPC program of the backchannel.
        pub cb_program: u32,
        /// Credentials for the backchannel; any of them will do.
        pub sec_parms: List<CallbackSecParms, 64>,
    }

    /// RFC 8881 §18.36.2.
    #[derive(Copy)]
    pub struct CREATE_SESSION4resok as CreateSessionOk {
        /// The session's ID.
        pub sessionid: SessionId,
        /// As in the request.
        pub sequence: u32,
        /// What is given.
        pub flags: CreateSessionFlags,
        /// Sizes of the fore channel.
        pub fore_chan_attrs: ChannelAttrs,
        /// Sizes of the backchannel.
        pub back_chan_attrs: ChannelAttrs,
    }

    /// RFC 8881 §18.37.1.
    #[derive(Copy)]
    pub struct DESTROY_SESSION4args as DestroySessionArgs {
        /// The session.
        pub sessionid: SessionId,
    }

    /// RFC 8881 §18.50.1.
    #[derive(Copy)]
    pub struct DESTROY_CLIENTID4args as DestroyClientidArgs {
        /// The client.
        pub clientid: ClientId,
    }

    /// RFC 8881 §18.33.1.
    pub struct BACKCHANNEL_CTL4args as BackchannelCtlArgs {
        /// RPC program of the backchannel.
        pub cb_program: u32,
        /// Credentials for the backchannel.
        pub sec_parms: List<CallbackSecParms, 64>,
    }

    /// RFC 8881 §18.34.1.
    #[derive(Copy)]
    pub struct BIND_CONN_TO_SESSION4args as BindConnToSessionArgs {
        /// The session.
        pub sessid: SessionId,
        /// For which channel.
        pub dir: ChannelDirFromClient,
        /// RDMA.
        pub use_conn_in_rdma_mode: bool,
    }

    /// RFC 8881 §18.34.2.
    #[derive(Copy)]
    pub struct BIND_CONN_TO_SESSION4resok as BindConnToSessionOk {
        /// The session.
        pub sessid: SessionId,
        /// For which channel.
        pub dir: ChannelDirFromServer,
        /// RDMA.
        pub use_conn_in_rdma_mode: bool,
    }

    /// RFC 8881 §18.51.1.
    #[derive(Copy)]
    pub struct RECLAIM_COMPLETE4args as ReclaimCompleteArgs {
        /// For the current file system only.
        pub one_fs: bool,
    }

    /// RFC 8881 §18.46.1.
    #[derive(Copy)]
    pub struct SEQUENCE4args as SequenceArgs {
        /// The session.
        pub sessionid: SessionId,
        /// One more than the slot's last; wraps to 0.
        pub sequenceid: u32,
        /// The slot.
        pub slotid: u32,
        /// The highest slot in use.
        pub highest_slotid: u32,
        /// Keep the reply for a retry.
        pub cachethis: bool,
    }

    /// RFC 8881 §18.46.2.
    #[derive(Copy)]
    pub struct SEQUENCE4resok as SequenceOk {
        /// As in the request.
        pub sessionid: SessionId,
        /// As in the request.
        pub sequenceid: u32,
        /// As in the request.
        pub slotid: u32,
        /// The highest slot that may be used.
        pub highest_slotid: u32,
        /// The highest slot that should be used.
        pub target_highest_slotid: u32,
        /// What the client should know.
        pub status_flags: SeqStatusFlags,
    }
}

xdr_enum! {
    /// RFC 8881 §18.34.1.
    pub enum channel_dir_from_client4 as ChannelDirFromClient {
        /// The fore channel.
        Fore = 1 "CDFC4_FORE",
        /// The backchannel.
        Back = 2 "CDFC4_BACK",
        /// The fore channel, both if it can be.
        ForeOrBoth = 3 "CDFC4_FORE_OR_BOTH",
        /// The backchannel, both if it can be.
        BackOrBoth = 7 "CDFC4_BACK_OR_BOTH",
    }
}

xdr_enum! {
    /// RFC 8881 §18.34.2.
    pub enum channel_dir_from_server4 as ChannelDirFromServer {
        /// The fore channel.
        Fore = 1 "CDFS4_FORE",
        /// The backchannel.
        Back = 2 "CDFS4_BACK",
        /// Both.
        Both = 3 "CDFS4_BOTH",
    }
}
