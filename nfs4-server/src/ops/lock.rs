//! LOCK, LOCKT, LOCKU.

use nfs4_deleg::server::Intent;
use nfs4_proto::{
    LockArgs, LockDenied, LockError, LockOk, LockType, Locker, LocktArgs, LockuArgs, StateId, StateOwner,
    Status,
};
use nfs4_xdr::Opaque;

use super::file_io::key_of;
use crate::compound::Ctx;
use crate::state::{Denied, LockAnswer, LockAsk, LockFor, Range, Wait};

/// The holder, as it is told to the one who was refused. Owners of other clients are theirs: only the bytes are told.
fn denied(holder: Denied) -> LockError {
    LockError::Denied(LockDenied {
        offset: holder.range.offset(),
        length: holder.range.length(),
        locktype: if holder.write { LockType::Write } else { LockType::Read },
        owner: StateOwner { clientid: holder.client, owner: Opaque::new(holder.owner).unwrap_or_default() },
    })
}

/// RFC 8881 §18.10. A blocking lock (READW, WRITEW) that conflicts is denied like any other, and its owner is told when
/// it comes free; the client asks again then, or by itself.
pub(crate) async fn lock(ctx: &mut Ctx<'_>, args: LockArgs) -> Result<LockOk, LockError> {
    let place = ctx.file()?.clone();
    let client = ctx.client()?;
    let range = Range::new(args.offset, args.length)?;
    let write = args.locktype.is_write();
    if write {
        ctx.writable(&place.export).map_err(|_| Status::OpenMode)?;
    }
    ctx.may_lock(args.reclaim)?;
    let owner_bytes;
    let (stateid, locker) = match &args.locker {
        Locker::New { open_stateid, lock_owner, .. } => {
            let stateid = ctx.stateid(*open_stateid, false)?;
            owner_bytes = lock_owner.owner.to_vec();
            (stateid, LockFor::NewOwner(&owner_bytes))
        }
        Locker::Exist { lock_stateid, .. } => (ctx.stateid(*lock_stateid, false)?, LockFor::Existing),
    };
    not_special(stateid)?;
    let blocking = matches!(args.locktype, LockType::ReadW | LockType::WriteW) && !args.reclaim;
    // A client that does not come back within a lease has given up.
    let until = ctx.now.plus(ctx.core.state.settings().lease);
    let wait = blocking.then(|| Wait { fh: ctx.core.exports.handle(&place), until });
    let permit = ctx.admit(&place.export, &Intent::Lock { oid: place.node.oid }).await?;
    loop {
        let ask = LockAsk { range, write, wait: wait.clone() };
        match ctx.core.files.lock_range(client, stateid, locker, key_of(&place), ask)? {
            LockAnswer::Granted(lock_stateid) => {
                permit.commit(&[]);
                if let Some(attached) = &ctx.attached {
                    ctx.core.refuse_if_gone(attached.session.client(), &place.export)?;
                }
                ctx.set_stateid(Some(lock_stateid));
                return Ok(LockOk { lock_stateid });
            }
            LockAnswer::Denied(holder) => {
                if !ctx.core.evict_if_courtesy(ctx.now, holder.client).await? {
                    return Err(denied(holder));
                }
            }
        }
    }
}

/// RFC 8881 §18.11. A range that came free and is held for who was told of it (§20.11) is in the way of LOCK and not told
/// here: "If no lock is held, nothing other than NFS4_OK is returned" (§18.11.3).
pub(crate) async fn lockt(ctx: &mut Ctx<'_>, args: LocktArgs) -> Result<(), LockError> {
    let place = ctx.file()?.clone();
    let client = ctx.client()?;
    let range = Range::new(args.offset, args.length)?;
    ctx.may_lock(false)?;
    // A holder's locks are its own to know.
    let _permit = ctx.admit(&place.export, &Intent::Lock { oid: place.node.oid }).await?;
    loop {
        let Some(holder) = ctx.core.files.lock_test(
            client,
            &args.owner.owner,
            key_of(&place),
            range,
            args.locktype.is_write(),
        ) else {
            return Ok(());
        };
        if !ctx.core.evict_if_courtesy(ctx.now, holder.client).await? {
            return Err(denied(holder));
        }
    }
}

/// RFC 8881 §18.12.
pub(crate) fn locku(ctx: &mut Ctx<'_>, args: LockuArgs) -> Result<StateId, Status> {
    // What is no file has no lock, so it is the stateid that is wrong: LOCKU knows no ISDIR (§15.2).
    let place = ctx.current()?.clone();
    let client = ctx.client()?;
    let range = Range::new(args.offset, args.length)?;
    let stateid = ctx.stateid(args.lock_stateid, false)?;
    not_special(stateid)?;
    let stateid = ctx.core.files.unlock_range(client, stateid, key_of(&place), range)?;
    ctx.set_stateid(Some(stateid));
    Ok(stateid)
}

fn not_special(stateid: StateId) -> Result<(), Status> {
    if stateid.is_special() { Err(Status::BadStateId) } else { Ok(()) }
}
