//! CREATE, LINK, REMOVE, RENAME.

use std::sync::Arc;

use nfs4_deleg::server::{Effect, Intent};
use nfs4_proto::{
    CreateArgs, CreateOk, CreateType, LinkArgs, LinkOk, RemoveArgs, RemoveOk, RenameArgs, RenameOk, Status,
};

use super::attrs::settable;
use super::{convert, names};
use crate::backend::{ChangeInfo, Create, Fault, FileKind, Oid};
use crate::compound::{Ctx, must_be_dir};
use crate::export::Place;

/// Most bytes of a symbolic link's target.
const MOST_TARGET: usize = 4095;

fn entry(dir: Oid, info: ChangeInfo) -> Effect {
    Effect::Entry { dir, before: info.before, after: info.after }
}

/// RFC 8881 §18.4: everything but regular files.
pub(crate) async fn create(ctx: &mut Ctx<'_>, args: CreateArgs) -> Result<CreateOk, Status> {
    let dir = ctx.directory()?.clone();
    dir.export.writable()?;
    let backend = &dir.export.backend;
    let name = names::check(&args.objname, backend.facts(), ctx.core.limits().name_bytes)?;
    let what = match args.objtype {
        CreateType::Lnk(target) => {
            if target.is_empty() || target.contains(&0) {
                return Err(Status::Inval);
            }
            if target.len() > MOST_TARGET {
                return Err(Status::NameTooLong);
            }
            Create::Symlink(bytes::Bytes::copy_from_slice(&target))
        }
        CreateType::Blk(dev) => Create::Block(dev.specdata1, dev.specdata2),
        CreateType::Chr(dev) => Create::Char(dev.specdata1, dev.specdata2),
        CreateType::Sock => Create::Socket,
        CreateType::Fifo => Create::Fifo,
        CreateType::Dir => Create::Dir,
        CreateType::Other(_) => return Err(Status::BadType),
    };
    let set = settable(ctx, &dir.export, &args.createattrs)?;
    if set.size.is_some() {
        return Err(Status::Inval);
    }
    let permit = ctx.admit(&dir.export, &Intent::Create { dir: dir.node.oid })?;
    let made = backend.create(&ctx.who(&dir.export), &dir.node, name, what, &set).await?;
    permit.commit(&[entry(dir.node.oid, made.dir)]);
    let attrset = convert::applied(made.applied, &args.createattrs);
    ctx.set_current(Place { export: Arc::clone(&dir.export), node: made.node });
    Ok(CreateOk { cinfo: made.dir, attrset })
}

/// RFC 8881 §18.9: the saved filehandle gets one more name, in the current directory.
pub(crate) async fn link(ctx: &mut Ctx<'_>, args: LinkArgs) -> Result<LinkOk, Status> {
    let (source, dir) = (ctx.saved()?.clone(), ctx.current()?.clone());
    must_be_dir(&dir)?;
    let backend = &dir.export.backend;
    let name = names::check(&args.newname, backend.facts(), ctx.core.limits().name_bytes)?;
    if source.export.id != dir.export.id {
        return Err(Status::XDev);
    }
    if source.node.kind == FileKind::Dir {
        return Err(Status::IsDir);
    }
    dir.export.writable()?;
    let permit = ctx.admit(&dir.export, &Intent::Link { dir: dir.node.oid, target: source.node.oid })?;
    let linked = backend.link(&ctx.who(&dir.export), &source.node, &dir.node, name).await.map_err(refused)?;
    permit.commit(&[entry(dir.node.oid, linked.dir), Effect::Changed { oid: source.node.oid }]);
    Ok(LinkOk { cinfo: linked.dir })
}

/// RFC 8881 §18.25. An open file goes on (`OPEN4_RESULT_PRESERVE_UNLINKED`).
pub(crate) async fn remove(ctx: &mut Ctx<'_>, args: RemoveArgs) -> Result<RemoveOk, Status> {
    let dir = ctx.current()?.clone();
    must_be_dir(&dir)?;
    let backend = &dir.export.backend;
    let name = names::check(&args.target, backend.facts(), ctx.core.limits().name_bytes)?;
    dir.export.writable()?;
    in_grace(ctx)?;
    let permit = ctx.admit(&dir.export, &Intent::Remove { dir: dir.node.oid, target: None })?;
    let removed = backend.remove(&ctx.who(&dir.export), &dir.node, name).await.map_err(refused)?;
    permit.commit(&[entry(dir.node.oid, removed.dir), Effect::Changed { oid: removed.node.oid }]);
    Ok(RemoveOk { cinfo: removed.dir })
}

/// RFC 8881 §18.26: from the saved directory to the current one.
pub(crate) async fn rename(ctx: &mut Ctx<'_>, args: RenameArgs) -> Result<RenameOk, Status> {
    let (from, to) = (ctx.saved()?.clone(), ctx.current()?.clone());
    for dir in [&from, &to] {
        must_be_dir(dir)?;
    }
    let most = ctx.core.limits().name_bytes;
    let oldname = names::check(&args.oldname, from.export.backend.facts(), most)?;
    let newname = names::check(&args.newname, to.export.backend.facts(), most)?;
    if from.export.id != to.export.id {
        return Err(Status::XDev);
    }
    to.export.writable()?;
    in_grace(ctx)?;
    let intent = Intent::Rename { from: from.node.oid, to: to.node.oid, source: None, victim: None };
    let permit = ctx.admit(&to.export, &intent)?;
    let who = ctx.who(&to.export);
    let done =
        to.export.backend.rename(&who, (&from.node, oldname), (&to.node, newname)).await.map_err(refused)?;
    if done.same {
        permit.commit(&[]);
    } else {
        permit.commit(&[
            entry(from.node.oid, done.from),
            entry(to.node.oid, done.to),
            Effect::Changed { oid: done.node.oid },
        ]);
    }
    Ok(RenameOk { source_cinfo: done.from, target_cinfo: done.to })
}

/// LINK, REMOVE, and RENAME know ACCESS and not PERM (RFC 8881 §15.2), whatever the system below says of a sticky
/// directory or an immutable file.
fn refused(fault: Fault) -> Status {
    if fault == Fault::Perm { Status::Access } else { fault.into() }
}

/// In grace a name may be that of a file whose opens are about to be reclaimed (case of §8.4.2.1).
fn in_grace(ctx: &Ctx<'_>) -> Result<(), Status> {
    if ctx.core.state.in_grace() { Err(Status::Grace) } else { Ok(()) }
}
