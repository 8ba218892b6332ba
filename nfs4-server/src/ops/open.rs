//! OPEN, OPEN_DOWNGRADE, CLOSE.

use std::sync::Arc;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Effect, Intent, Share};
use nfs4_proto::{
    AttrSet, ChangeInfo, ClientId, CloseArgs, CreateHow, DelegationType, NoDelegation, OpenArgs, OpenClaim,
    OpenDelegation, OpenDowngradeArgs, OpenDowngradeOk, OpenHow, OpenOk, OpenResultFlags, ShareAccess,
    ShareDeny, StateId, Status,
};

use super::access::open_file;
use super::attrs::{exclusive_set, settable};
use super::file_io::key_of;
use super::{convert, names};
use crate::backend::{Create, CreateMode, FileKind, OpenAccess, Opened, SetMeta};
use crate::compound::Ctx;
use crate::export::Place;
use crate::state::{Committed, Reserve, Reserved, Shares};

/// The bits of access and deny, checked.
fn shares(access: ShareAccess, deny: ShareDeny) -> Result<Shares, Status> {
    let shares = Shares {
        read: access.contains(ShareAccess::READ),
        write: access.contains(ShareAccess::WRITE),
        deny_read: deny.contains(ShareDeny::READ),
        deny_write: deny.contains(ShareDeny::WRITE),
    };
    let unknown = deny.bits() & !(ShareDeny::READ | ShareDeny::WRITE).bits() != 0;
    if !(shares.read || shares.write) || unknown { Err(Status::Inval) } else { Ok(shares) }
}

fn access_of(shares: Shares) -> OpenAccess {
    OpenAccess { read: shares.read, write: shares.write }
}

/// What one OPEN found or made.
struct Found {
    place: Place,
    cinfo: ChangeInfo,
    attrset: AttrSet,
    /// Open already, where it was made.
    opened: Option<Opened>,
    /// Cut to this size once it is open.
    truncate: bool,
}

/// RFC 8881 §18.16.
pub(crate) async fn open(ctx: &mut Ctx<'_>, args: OpenArgs) -> Result<OpenOk, Status> {
    let client = ctx.client()?;
    let shares = shares(args.share_access, args.share_deny)?;
    ctx.current()?;
    let owner = args.owner.owner.clone();
    let found = match &args.claim {
        OpenClaim::Null(name) => {
            ctx.may_lock(false)?;
            match &args.openhow {
                OpenHow::NoCreate => by_name(ctx, name).await?,
                OpenHow::Create(how) => create(ctx, name, how, shares).await?,
            }
        }
        OpenClaim::Fh => {
            ctx.may_lock(false)?;
            no_create(&args.openhow)?;
            by_handle(ctx)?
        }
        OpenClaim::Previous(delegation) => {
            no_create(&args.openhow)?;
            ctx.may_lock(true)?;
            if *delegation != DelegationType::None {
                // A delegation that we never gave.
                return Err(Status::ReclaimBad);
            }
            by_handle(ctx)?
        }
        // No delegation was given, so no stateid names one.
        OpenClaim::DelegateCur { .. } | OpenClaim::DelegCurFh(_) => return Err(Status::BadStateId),
        OpenClaim::DelegatePrev(_) | OpenClaim::DelegPrevFh => return Err(Status::NotSupp),
    };
    let reclaim = matches!(args.claim, OpenClaim::Previous(_));
    let done = finish(ctx, client, &owner, shares, found, reclaim).await?;
    let mut rflags = OpenResultFlags::LOCKTYPE_POSIX | OpenResultFlags::MAY_NOTIFY_LOCK;
    if done.place.export.backend.facts().keeps_unlinked {
        rflags |= OpenResultFlags::PRESERVE_UNLINKED;
    }
    ctx.set_current(done.place);
    ctx.set_stateid(Some(done.stateid));
    Ok(OpenOk {
        stateid: done.stateid,
        cinfo: done.cinfo,
        rflags,
        attrset: done.attrset,
        delegation: no_delegation(args.share_access),
    })
}

/// Why there is none, where the client said what it wants (§18.16.3).
fn no_delegation(access: ShareAccess) -> OpenDelegation {
    /// OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    const WANT: u32 = 0xff00;
    /// OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    const NO_DELEG: u32 = 0x0400;
    /// OPEN4_SHARE_ACCESS_WANT_CANCEL
    const CANCEL: u32 = 0x0500;
    match access.bits() & WANT {
        0 => OpenDelegation::None,
        NO_DELEG => OpenDelegation::NoneExt(NoDelegation::NotWanted),
        CANCEL => OpenDelegation::NoneExt(NoDelegation::Cancelled),
        _ => OpenDelegation::NoneExt(NoDelegation::Resource { will_signal: false }),
    }
}

fn no_create(how: &OpenHow) -> Result<(), Status> {
    match how {
        OpenHow::NoCreate => Ok(()),
        OpenHow::Create(_) => Err(Status::Inval),
    }
}

fn must_be_file(place: &Place) -> Result<(), Status> {
    match place.node.kind {
        FileKind::File => Ok(()),
        FileKind::Dir => Err(Status::IsDir),
        FileKind::Symlink => Err(Status::Symlink),
        FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => Err(Status::WrongType),
    }
}

fn by_handle(ctx: &Ctx<'_>) -> Result<Found, Status> {
    let place = ctx.current()?.clone();
    must_be_file(&place)?;
    Ok(Found { place, cinfo: unchanged(0), attrset: AttrSet::default(), opened: None, truncate: false })
}

fn unchanged(change: u64) -> ChangeInfo {
    ChangeInfo { atomic: true, before: change, after: change }
}

async fn by_name(ctx: &Ctx<'_>, name: &nfs4_proto::Component) -> Result<Found, Status> {
    let dir = open_dir(ctx)?;
    let backend = &dir.export.backend;
    let name = names::check(name, backend.facts(), ctx.core.limits().name_bytes)?;
    let change = backend.getattr(&dir.node).await?.change;
    let node = backend.lookup(&ctx.who(&dir.export), &dir.node, name).await?;
    let place =
        ctx.core.exports.cross(Place { export: dir.export, node }, ctx.peer()).ok_or(Status::NoEnt)?;
    must_be_file(&place)?;
    Ok(Found { place, cinfo: unchanged(change), attrset: AttrSet::default(), opened: None, truncate: false })
}

/// OPEN by name in something that is no directory: NOTDIR, and SYMLINK for a link (§18.16.3).
fn open_dir(ctx: &Ctx<'_>) -> Result<Place, Status> {
    Ok(ctx.directory_to_walk()?.clone())
}

async fn create(
    ctx: &Ctx<'_>,
    name: &nfs4_proto::Component,
    how: &CreateHow,
    shares: Shares,
) -> Result<Found, Status> {
    let dir = open_dir(ctx)?;
    let backend = &dir.export.backend;
    let name = names::check(name, backend.facts(), ctx.core.limits().name_bytes)?;
    dir.export.writable()?;
    let (mode, attrs) = match how {
        CreateHow::Unchecked(attrs) => (CreateMode::Unchecked, Some(attrs)),
        CreateHow::Guarded(attrs) => (CreateMode::Guarded, Some(attrs)),
        CreateHow::Exclusive(verifier) => (CreateMode::Exclusive(*verifier), None),
        CreateHow::Exclusive41 { verifier, attrs } => {
            exclusive_set(ctx, &dir.export, attrs)?;
            (CreateMode::Exclusive(*verifier), Some(attrs))
        }
    };
    let set = attrs.map_or(Ok(SetMeta::default()), |attrs| settable(ctx, &dir.export, attrs))?;
    let what = Create::File { mode, access: access_of(shares) };
    let permit = ctx.admit(&dir.export, &Intent::Create { dir: dir.node.oid })?;
    let made = backend.create(&ctx.who(&dir.export), &dir.node, name, what, &set).await?;
    let place = Place { export: Arc::clone(&dir.export), node: made.node };
    if made.existed {
        permit.commit(&[]);
        let place = ctx.core.exports.cross(place, ctx.peer()).ok_or(Status::NoEnt)?;
        must_be_file(&place)?;
        // Of all attributes only a size of 0 counts for a file that is there (§18.16.3).
        let truncate = mode == CreateMode::Unchecked && set.size == Some(0);
        return Ok(Found {
            place,
            cinfo: made.dir,
            attrset: AttrSet::default(),
            opened: made.opened,
            truncate,
        });
    }
    permit.commit(&[Effect::Entry { dir: dir.node.oid, before: made.dir.before, after: made.dir.after }]);
    let mut attrset = attrs.map(|attrs| convert::applied(made.applied, attrs)).unwrap_or_default();
    if matches!(how, CreateHow::Exclusive(_)) {
        // What holds the verifier: the client is to set it afterwards.
        attrset = convert::verifier_attrs();
    }
    Ok(Found { place, cinfo: made.dir, attrset, opened: made.opened, truncate: false })
}

struct Done {
    place: Place,
    stateid: StateId,
    cinfo: ChangeInfo,
    attrset: AttrSet,
}

/// Share reservations, the permit, the backend's open, and only then the state.
async fn finish(
    ctx: &Ctx<'_>,
    client: ClientId,
    owner: &[u8],
    shares: Shares,
    found: Found,
    reclaim: bool,
) -> Result<Done, Status> {
    let Found { place, cinfo, mut attrset, opened, truncate } = found;
    if shares.write || truncate {
        place.export.writable()?;
    }
    let reserved = reserve(ctx, client, owner, &place, shares).await?;
    let share = Share {
        read: shares.read,
        write: shares.write,
        deny_read: shares.deny_read,
        deny_write: shares.deny_write,
    };
    let oid = place.node.oid;
    let permit = ctx.admit(&place.export, &Intent::Open { oid, share, truncate })?;
    let who = ctx.who(&place.export);
    let access = access_of(shares);
    let opened = match opened {
        Some(opened) if opened.access == access => opened,
        // A reclaim restores what was granted before; permission was checked then.
        _ if reclaim => {
            place.export.backend.open(&crate::backend::Who::server(), &place.node, access).await?
        }
        _ => open_file(&who, &place, access).await?,
    };
    if truncate {
        let writing = if access.write {
            opened.clone()
        } else {
            open_file(&who, &place, OpenAccess { read: false, write: true }).await?
        };
        let set = SetMeta { size: Some(0), ..SetMeta::default() };
        let done = place.export.backend.setattr(&who, &place.node, Some(&writing), &set).await?;
        if let Some(fault) = done.fault {
            return Err(fault.into());
        }
        attrset = convert::size_only();
    }
    let Committed { stateid, was_write, write } = reserved.commit(opened)?;
    let client = ClientKey(client.0);
    let opened = Effect::Opened { oid, client, write };
    // Opens are counted by state, not by OPEN: an upgrade is one that was there.
    match was_write {
        Some(before) if before == write => permit.commit(&[]),
        Some(before) => permit.commit(&[Effect::Closed { oid, client, write: before }, opened]),
        None => permit.commit(&[opened]),
    }
    if let Some(attached) = &ctx.attached {
        ctx.core.refuse_if_gone(attached.session.client(), &place.export)?;
    }
    Ok(Done { place, stateid, cinfo, attrset })
}

/// Reserves the share; clients whose lease is over and that stand in the way go first (RFC 8881 §8.4.3).
async fn reserve<'a>(
    ctx: &Ctx<'a>,
    client: ClientId,
    owner: &[u8],
    place: &Place,
    shares: Shares,
) -> Result<Reserved<'a>, Status> {
    loop {
        match ctx.core.files.reserve(client, owner, key_of(place), shares)? {
            Reserve::Ok(reserved) => return Ok(reserved),
            Reserve::Conflict(holders) => {
                let mut evicted = false;
                for holder in holders {
                    evicted |= ctx.core.evict_if_courtesy(ctx.now, holder).await?;
                }
                if !evicted {
                    return Err(Status::ShareDenied);
                }
            }
        }
    }
}

/// RFC 8881 §18.18.
pub(crate) fn open_downgrade(ctx: &mut Ctx<'_>, args: OpenDowngradeArgs) -> Result<OpenDowngradeOk, Status> {
    let place = ctx.current()?.clone();
    let client = ctx.client()?;
    let stateid = ctx.stateid(args.open_stateid, true)?;
    // Bits about delegations are allowed and mean nothing here.
    let shares = shares(args.share_access, args.share_deny)?;
    let done = ctx.core.files.downgrade(client, stateid, key_of(&place), shares)?;
    if done.was_write != done.write {
        let (oid, client) = (place.node.oid, ClientKey(client.0));
        let mut machine = place.export.machine();
        machine.effect(Effect::Closed { oid, client, write: done.was_write });
        machine.effect(Effect::Opened { oid, client, write: done.write });
    }
    let open_stateid = done.stateid;
    ctx.set_stateid(Some(open_stateid));
    Ok(OpenDowngradeOk { open_stateid })
}

/// RFC 8881 §18.2. Locks that are still held are freed with it. The result is the invalid stateid.
pub(crate) fn close(ctx: &mut Ctx<'_>, args: CloseArgs) -> Result<StateId, Status> {
    let place = ctx.current()?.clone();
    let client = ctx.client()?;
    let stateid = ctx.stateid(args.open_stateid, true)?;
    let closed = ctx.core.files.close(client, stateid, key_of(&place))?;
    let effect = Effect::Closed { oid: place.node.oid, client: ClientKey(client.0), write: closed.write };
    place.export.machine().effect(effect);
    ctx.set_stateid(None);
    Ok(StateId::INVALID)
}
