//! CREATE, LINK, REMOVE, RENAME.

use std::sync::Arc;

use nfs4_deleg::server::{Effect, Intent};
use nfs4_proto::{
    CreateArgs, CreateOk, CreateType, LinkArgs, LinkOk, RemoveArgs, RemoveOk, RenameArgs, RenameOk, Status,
};

use super::attrs::settable;
use super::{convert, names};
use crate::backend::{Backend, ChangeInfo, Create, Fault, FileKind, Moving, Oid, Rights, Who};
use crate::compound::{Ctx, must_be_dir};
use crate::export::Place;

/// Most bytes of a symbolic link's target.
const MOST_TARGET: usize = 4095;

/// How often a name that leads to another object by now is looked up again.
const TRIES: usize = 8;

fn entry(dir: Oid, info: ChangeInfo) -> Effect {
    Effect::Entry { dir, before: info.before, after: info.after }
}

/// RFC 8881 §18.4: everything but regular files.
pub(crate) async fn create(ctx: &mut Ctx<'_>, args: CreateArgs) -> Result<CreateOk, Status> {
    let dir = ctx.directory()?.clone();
    ctx.writable(&dir.export)?;
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
    let set = settable(ctx, &dir.export, &args.createattrs, matches!(what, Create::Dir))?;
    if set.size.is_some() {
        return Err(Status::Inval);
    }
    let permit = ctx.admit(&dir.export, &Intent::Create { dir: dir.node.oid }).await?;
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
    ctx.writable(&dir.export)?;
    let intent = Intent::Link { dir: dir.node.oid, target: source.node.oid };
    may_change(ctx, &dir, &intent).await?;
    let permit = ctx.admit(&dir.export, &intent).await?;
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
    ctx.writable(&dir.export)?;
    in_grace(ctx)?;
    let who = ctx.who(&dir.export);
    for _ in 0..TRIES {
        // Leave is asked for one object, and the name must lead to it still when it goes.
        let only = if dir.export.delegations.is_some() {
            Some(backend.lookup(&who, &dir.node, name).await.map_err(refused)?.oid)
        } else {
            None
        };
        let intent = Intent::Remove { dir: dir.node.oid, target: only };
        may_change(ctx, &dir, &intent).await?;
        let permit = ctx.admit(&dir.export, &intent).await?;
        let removed = match backend.remove_only(&who, &dir.node, name, only).await {
            Err(Fault::Delay) => continue,
            removed => removed.map_err(refused)?,
        };
        permit.commit(&[entry(dir.node.oid, removed.dir), Effect::Changed { oid: removed.node.oid }]);
        return Ok(RemoveOk { cinfo: removed.dir });
    }
    Err(Status::Delay)
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
    ctx.writable(&to.export)?;
    in_grace(ctx)?;
    let who = ctx.who(&to.export);
    let backend = &to.export.backend;
    for _ in 0..TRIES {
        let only = match to.export.delegations {
            Some(_) => Some(moving(backend.as_ref(), &who, (&from, oldname), (&to, newname)).await?),
            None => None,
        };
        let intent = Intent::Rename {
            from: from.node.oid,
            to: to.node.oid,
            source: only.map(|only| only.source),
            victim: only.and_then(|only| only.victim),
        };
        for dir in [&from, &to] {
            may_change(ctx, dir, &intent).await?;
        }
        let permit = ctx.admit(&to.export, &intent).await?;
        let done = match backend.rename_only(&who, (&from.node, oldname), (&to.node, newname), only).await {
            Err(Fault::Delay) => continue,
            done => done.map_err(refused)?,
        };
        if done.same {
            permit.commit(&[]);
        } else {
            permit.commit(&[
                entry(from.node.oid, done.from),
                entry(to.node.oid, done.to),
                Effect::Changed { oid: done.node.oid },
            ]);
        }
        return Ok(RenameOk { source_cinfo: done.from, target_cinfo: done.to });
    }
    Err(Status::Delay)
}

/// What the two names lead to.
async fn moving(
    backend: &dyn Backend,
    who: &Who,
    (from, oldname): (&Place, &[u8]),
    (to, newname): (&Place, &[u8]),
) -> Result<Moving, Status> {
    let source = backend.lookup(who, &from.node, oldname).await.map_err(refused)?.oid;
    let victim = match backend.lookup(who, &to.node, newname).await {
        Ok(victim) => Some(victim.oid),
        Err(Fault::NoEnt) => None,
        Err(fault) => return Err(refused(fault)),
    };
    Ok(Moving { source, victim })
}

/// Whoever may not change the directory fails before a delegation is called back for it. Where there are ACLs the directory
/// alone does not decide: the entry's own may let somebody take its name (RFC 8881 §6.2.1.3.2).
async fn may_change(ctx: &Ctx<'_>, dir: &Place, intent: &Intent) -> Result<(), Status> {
    let Some(machine) = dir.export.delegations.as_ref().filter(|_| !dir.export.backend.facts().acls) else {
        return Ok(());
    };
    if machine.in_the_way(ctx.party(), intent).is_empty() {
        return Ok(());
    }
    let given = dir.export.backend.access(&ctx.who(&dir.export), &dir.node, Rights::MODIFY).await?;
    if given.contains(Rights::MODIFY) { Ok(()) } else { Err(Status::Access) }
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
