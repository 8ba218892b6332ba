//! EXCHANGE_ID, CREATE_SESSION, BIND_CONN_TO_SESSION, BACKCHANNEL_CTL, DESTROY_SESSION, DESTROY_CLIENTID,
//! RECLAIM_COMPLETE.

use std::sync::Arc;

use nfs4_proto::{
    BackchannelCtlArgs, BindConnToSessionArgs, BindConnToSessionOk, CallbackSecParms, ChannelAttrs,
    ChannelDirFromClient, ChannelDirFromServer, CreateSessionArgs, CreateSessionFlags, CreateSessionOk,
    DestroyClientidArgs, DestroySessionArgs, ExchangeIdArgs, ExchangeIdFlags, ExchangeIdOk, ImplId, NfsTime,
    ReclaimCompleteArgs, ServerOwner, StateProtectArgs, StateProtectRes, Status,
};
use nfs4_xdr::rpc::AuthSys;
use nfs4_xdr::{Opaque, Text};

use crate::cb;
use crate::compound::Ctx;
use crate::state::{self, CallbackCred, ChannelDir, CreateSession, ExchangeId, Principal, Protect};

fn principal(ctx: &Ctx<'_>) -> Principal {
    ctx.caller.map_or_else(Principal::none, |who| Principal::sys(who.uid))
}

fn impl_id() -> Option<ImplId> {
    Some(ImplId {
        // A reserved name (RFC 2606): the project has no domain of its own.
        domain: Text::new(&b"nfs4.invalid"[..])?,
        name: Text::new(concat!("nfs4-server ", env!("CARGO_PKG_VERSION")).as_bytes())?,
        date: NfsTime::default(),
    })
}

/// RFC 8881 §18.35.
pub(crate) async fn exchange_id(ctx: &mut Ctx<'_>, args: ExchangeIdArgs) -> Result<ExchangeIdOk, Status> {
    let request = ExchangeId {
        verifier: args.clientowner.verifier,
        owner: args.clientowner.ownerid.detach().into_bytes(),
        flags: args.flags.bits(),
        protect: match args.state_protect {
            StateProtectArgs::None => Protect::None,
            StateProtectArgs::MachCred(_) => Protect::MachCred,
            StateProtectArgs::Ssv(_) => Protect::Ssv,
        },
        principal: principal(ctx),
        minor: ctx.minor,
        peer: Some(ctx.conn.peer()),
    };
    let now = ctx.now;
    let done = ctx.core.blocking(move |core| core.state.exchange_id(now, &request)).await?;
    let identity = ctx.core.state.identity();
    Ok(ExchangeIdOk {
        clientid: done.client,
        sequenceid: done.sequence,
        flags: ExchangeIdFlags::from_bits_retain(done.flags),
        state_protect: StateProtectRes::None,
        server_owner: ServerOwner {
            minor_id: 0,
            major_id: Opaque::new(identity.to_vec()).unwrap_or_default(),
        },
        server_scope: Opaque::new(identity.to_vec()).unwrap_or_default(),
        server_impl_id: impl_id(),
    })
}

fn channel(attrs: &ChannelAttrs) -> state::ChannelAttrs {
    state::ChannelAttrs {
        headerpadsize: attrs.headerpadsize,
        maxrequestsize: attrs.maxrequestsize,
        maxresponsesize: attrs.maxresponsesize,
        maxresponsesize_cached: attrs.maxresponsesize_cached,
        maxoperations: attrs.maxoperations,
        maxrequests: attrs.maxrequests,
    }
}

fn channel_told(attrs: &state::ChannelAttrs) -> ChannelAttrs {
    ChannelAttrs {
        headerpadsize: attrs.headerpadsize,
        maxrequestsize: attrs.maxrequestsize,
        maxresponsesize: attrs.maxresponsesize,
        maxresponsesize_cached: attrs.maxresponsesize_cached,
        maxoperations: attrs.maxoperations,
        maxrequests: attrs.maxrequests,
        rdma_ird: None,
    }
}

fn credentials(parms: &[CallbackSecParms]) -> Vec<CallbackCred> {
    parms
        .iter()
        .map(|parm| match parm {
            CallbackSecParms::None => CallbackCred::None,
            CallbackSecParms::Sys(sys) => {
                // It outlives the request: the name must not hold on to the record.
                CallbackCred::Sys(AuthSys { machinename: sys.machinename.detach(), ..sys.clone() })
            }
            CallbackSecParms::Gss(_) => CallbackCred::Gss,
        })
        .collect()
}

/// RFC 8881 §18.36.
pub(crate) async fn create_session(
    ctx: &mut Ctx<'_>,
    args: CreateSessionArgs,
) -> Result<CreateSessionOk, Status> {
    let request = CreateSession {
        client: args.clientid,
        sequence: args.sequence,
        flags: args.flags.bits(),
        fore: channel(&args.fore_chan_attrs),
        back: channel(&args.back_chan_attrs),
        cb_program: args.cb_program,
        cb_creds: credentials(&args.sec_parms),
        principal: principal(ctx),
        minor: ctx.minor,
    };
    let (now, conn) = (ctx.now, ctx.conn.id());
    let done = ctx.core.blocking(move |core| core.state.create_session(now, conn, &request)).await?;
    cb::probe(ctx.core, &done.session, ctx.conn);
    Ok(CreateSessionOk {
        sessionid: done.session,
        sequence: done.sequence,
        flags: CreateSessionFlags::from_bits_retain(done.flags),
        fore_chan_attrs: channel_told(&done.fore),
        back_chan_attrs: channel_told(&done.back),
    })
}

/// RFC 8881 §18.34. RDMA is never granted.
pub(crate) fn bind_conn_to_session(
    ctx: &mut Ctx<'_>,
    args: BindConnToSessionArgs,
) -> Result<BindConnToSessionOk, Status> {
    let dir = match args.dir {
        ChannelDirFromClient::Fore => ChannelDir::Fore,
        ChannelDirFromClient::Back => ChannelDir::Back,
        ChannelDirFromClient::ForeOrBoth => ChannelDir::ForeOrBoth,
        ChannelDirFromClient::BackOrBoth => ChannelDir::BackOrBoth,
    };
    let bound = ctx.core.state.bind_conn_to_session(ctx.conn.id(), &args.sessid, dir)?;
    cb::probe(ctx.core, &args.sessid, ctx.conn);
    Ok(BindConnToSessionOk {
        sessid: args.sessid,
        dir: match bound {
            ChannelDir::Fore => ChannelDirFromServer::Fore,
            ChannelDir::Back => ChannelDirFromServer::Back,
            ChannelDir::ForeOrBoth | ChannelDir::BackOrBoth => ChannelDirFromServer::Both,
        },
        use_conn_in_rdma_mode: false,
    })
}

/// RFC 8881 §18.33.
pub(crate) fn backchannel_ctl(ctx: &mut Ctx<'_>, args: &BackchannelCtlArgs) -> Result<(), Status> {
    let attached = ctx.attached.as_ref().ok_or(Status::OpNotInSession)?;
    attached.session.backchannel_ctl(args.cb_program, credentials(&args.sec_parms))
}

/// RFC 8881 §18.37.
pub(crate) fn destroy_session(ctx: &mut Ctx<'_>, args: DestroySessionArgs) -> Result<(), Status> {
    let own = ctx.attached.as_ref().map(|a| *a.session.id());
    ctx.core.state.destroy_session(ctx.conn.id(), &args.sessionid, own.as_ref())
}

/// RFC 8881 §18.50.
pub(crate) async fn destroy_clientid(ctx: &mut Ctx<'_>, args: DestroyClientidArgs) -> Result<(), Status> {
    let now = ctx.now;
    ctx.core.blocking(move |core| core.state.destroy_clientid(now, args.clientid)).await
}

/// RFC 8881 §18.51.
pub(crate) async fn reclaim_complete(ctx: &mut Ctx<'_>, args: ReclaimCompleteArgs) -> Result<(), Status> {
    if args.one_fs {
        ctx.current()?;
    }
    let attached = ctx.attached.as_ref().ok_or(Status::OpNotInSession)?;
    let client = Arc::clone(attached.session.client());
    ctx.core
        .blocking(move |core| {
            core.state.reclaim_complete(&client, args.one_fs)?;
            if !args.one_fs {
                core.reclaimed(client.id());
            }
            Ok(())
        })
        .await
}
