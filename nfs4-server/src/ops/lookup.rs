//! LOOKUP, LOOKUPP, READLINK.

use std::sync::Arc;

use nfs4_proto::{LinkText, LookupArgs, ReadlinkOk, Status};

use super::names;
use crate::backend::{FileKind, Who};
use crate::compound::Ctx;
use crate::export::Place;

/// RFC 8881 §18.13.
pub(crate) async fn lookup(ctx: &mut Ctx<'_>, args: LookupArgs) -> Result<(), Status> {
    let dir = ctx.directory_to_walk()?.clone();
    let name = names::check(&args.objname, dir.export.backend.facts(), ctx.core.limits().name_bytes)?;
    let who = ctx.who(&dir.export);
    let node = dir.export.backend.lookup(&who, &dir.node, name).await?;
    let found = ctx.core.exports.cross(Place { export: dir.export, node }, ctx.peer());
    let found = found.ok_or(Status::NoEnt)?;
    ctx.set_current(found);
    Ok(())
}

/// RFC 8881 §18.14. Above the root of an export lies the pseudo file system; above the root of all, nothing.
pub(crate) async fn lookupp(ctx: &mut Ctx<'_>) -> Result<(), Status> {
    let dir = ctx.directory_to_walk()?.clone();
    let parent = parent(ctx, &dir).await?;
    ctx.set_current(parent);
    Ok(())
}

/// The directory above; NFS4ERR_NOENT at the root of all.
pub(crate) async fn parent(ctx: &Ctx<'_>, dir: &Place) -> Result<Place, Status> {
    let mut at = dir.clone();
    if dir.node.oid == dir.export.backend.root().oid {
        at = ctx.core.exports.below(&dir.export).ok_or(Status::NoEnt)?;
    }
    let who: Who = ctx.who(&at.export);
    let node = at.export.backend.parent(&who, &at.node).await?;
    Ok(Place { export: Arc::clone(&at.export), node })
}

/// RFC 8881 §18.24.
pub(crate) async fn readlink(ctx: &mut Ctx<'_>) -> Result<ReadlinkOk, Status> {
    let place = ctx.current()?;
    if place.node.kind != FileKind::Symlink {
        // §18.24.4 knows WRONG_TYPE; 4.0's INVAL is no more.
        return Err(Status::WrongType);
    }
    let who = ctx.who(&place.export);
    let target = place.export.backend.readlink(&who, &place.node).await?;
    Ok(ReadlinkOk { link: LinkText::new(target).ok_or(Status::ServerFault)? })
}
