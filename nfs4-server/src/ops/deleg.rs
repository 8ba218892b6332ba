//! DELEGRETURN, WANT_DELEGATION, GET_DIR_DELEGATION, TEST_STATEID, FREE_STATEID.

use std::time::Duration;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Claim, Intent, Share};
use nfs4_proto::{
    ClientId, DelegClaim, DelegreturnArgs, FreeStateidArgs, GetDirDelegationArgs, GetDirDelegationRes,
    OpenDelegation, StateId, Status, TestStateidArgs, TestStateidOk, WantDelegationArgs,
};
use nfs4_xdr::List;

use super::file_io::delegation_of;
use super::grants::{asked, claimed, offer};
use crate::compound::Ctx;
use crate::deleg::named;
use crate::state::seq4;

/// RFC 8881 §18.6. A revoked one is not freed by it: FREE_STATEID does that.
pub(crate) fn delegreturn(ctx: &mut Ctx<'_>, args: DelegreturnArgs) -> Result<(), Status> {
    let place = ctx.current()?;
    let client = ctx.client()?;
    let stateid = ctx.stateid(args.deleg_stateid, false)?;
    let delegation = delegation_of(ctx, place, stateid).ok_or(Status::BadStateId)?;
    if let Some(recalled) = delegation.give_back(client)? {
        let taken = Duration::from_millis(ctx.core.now().since(recalled).0);
        ctx.core.metrics.recall(taken.as_secs_f64());
        ctx.core.metrics.delegation("returned", "recalled");
    } else {
        ctx.core.metrics.delegation("returned", "by-itself");
    }
    Ok(())
}

/// RFC 8881 §18.49. Calls nobody back.
pub(crate) async fn want_delegation(
    ctx: &mut Ctx<'_>,
    args: &WantDelegationArgs,
) -> Result<OpenDelegation, Status> {
    let place = ctx.current()?.clone();
    let asked = asked(args.want, ctx.minor)?;
    let claim = match &args.claim {
        DelegClaim::Fh => Claim::Fresh,
        DelegClaim::Previous(delegation) => Claim::Previous(claimed(*delegation)?.ok_or(Status::Inval)?),
        DelegClaim::DelegPrevFh => return Err(Status::NotSupp),
    };
    if claim == Claim::Fresh && !asked.by_name() {
        return Err(Status::Inval);
    }
    ctx.may_lock(claim != Claim::Fresh)?;
    if asked.wants_again(ctx, &place)? {
        return Err(Status::DelegAlreadyWanted);
    }
    // A wish is in nobody's way: the permit is of something that touches no file.
    let permit = ctx.admit(&place.export, &Intent::Create { dir: place.node.oid }).await?;
    let (held, delegation) = offer(ctx, &place, &permit, asked, Share::default(), claim).await?;
    permit.commit(&[]);
    if held && let Some(attached) = &ctx.attached {
        ctx.core.refuse_if_gone(attached.session.client(), &place.export)?;
    }
    Ok(delegation)
}

/// RFC 8881 §18.39. None is given yet. A Linux client asks in front of its GETATTR: an error would fail that.
pub(crate) fn get_dir_delegation(
    ctx: &mut Ctx<'_>,
    _: &GetDirDelegationArgs,
) -> Result<GetDirDelegationRes, Status> {
    ctx.directory()?;
    Ok(GetDirDelegationRes::Unavail { will_signal: false })
}

/// RFC 8881 §18.48. The operation succeeds; each stateid has its own status.
pub(crate) fn test_stateid(ctx: &mut Ctx<'_>, args: &TestStateidArgs) -> Result<TestStateidOk, Status> {
    let client = ctx.client()?;
    if args.stateids.len().saturating_mul(4).saturating_add(8) > ctx.room {
        return Err(ctx.too_big);
    }
    let codes = args.stateids.iter().map(|stateid| test(ctx, client, *stateid)).collect();
    Ok(TestStateidOk { status_codes: List::new(codes).ok_or(Status::ServerFault)? })
}

fn test(ctx: &Ctx<'_>, client: ClientId, stateid: StateId) -> Status {
    match named(stateid, ctx.core.state.epoch()) {
        None => ctx.core.files.test(client, stateid),
        Some((number, deleg)) => ctx
            .core
            .exports
            .machine(number)
            .ok_or(Status::BadStateId)
            .and_then(|machine| machine.test(ClientKey(client.0), deleg))
            .err()
            .unwrap_or(Status::Ok),
    }
}

/// RFC 8881 §18.38.
pub(crate) async fn free_stateid(ctx: &mut Ctx<'_>, args: FreeStateidArgs) -> Result<(), Status> {
    let client = ctx.client()?;
    let stateid = ctx.stateid(args.stateid, false)?;
    if let Some((number, deleg)) = named(stateid, ctx.core.state.epoch()) {
        let machine = ctx.core.exports.machine(number).ok_or(Status::BadStateId)?;
        machine.free(ClientKey(client.0), deleg)?;
        return ctx.core.delegation_freed(client).await;
    }
    let last_revoked = ctx.core.files.free(client, stateid)?;
    if last_revoked && let Some(attached) = &ctx.attached {
        attached.session.client().clear_flags(seq4::ADMIN_STATE_REVOKED);
    }
    Ok(())
}
