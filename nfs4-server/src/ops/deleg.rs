//! DELEGRETURN, GET_DIR_DELEGATION, TEST_STATEID, FREE_STATEID.

use nfs4_proto::{
    DelegreturnArgs, FreeStateidArgs, GetDirDelegationArgs, GetDirDelegationRes, Status, TestStateidArgs,
    TestStateidOk,
};
use nfs4_xdr::List;

use crate::compound::Ctx;
use crate::state::seq4;

/// RFC 8881 §18.6. No delegation was given, so no stateid names one.
pub(crate) fn delegreturn(ctx: &mut Ctx<'_>, args: DelegreturnArgs) -> Result<(), Status> {
    ctx.current()?;
    ctx.client()?;
    ctx.stateid(args.deleg_stateid, false)?;
    Err(Status::BadStateId)
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
    let codes = args.stateids.iter().map(|stateid| ctx.core.files.test(client, *stateid)).collect();
    Ok(TestStateidOk { status_codes: List::new(codes).ok_or(Status::ServerFault)? })
}

/// RFC 8881 §18.38.
pub(crate) fn free_stateid(ctx: &mut Ctx<'_>, args: FreeStateidArgs) -> Result<(), Status> {
    let client = ctx.client()?;
    let stateid = ctx.stateid(args.stateid, false)?;
    let last_revoked = ctx.core.files.free(client, stateid)?;
    if last_revoked && let Some(attached) = &ctx.attached {
        attached.session.client().clear_flags(seq4::ADMIN_STATE_REVOKED);
    }
    Ok(())
}
