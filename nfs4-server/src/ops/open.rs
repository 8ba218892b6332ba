//! OPEN, OPEN_DOWNGRADE, CLOSE.

use std::sync::Arc;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Claim, Effect, Intent, Share};
use nfs4_proto::{
    AttrSet, ChangeInfo, ClientId, CloseArgs, CreateHow, OpenArgs, OpenClaim, OpenDelegation,
    OpenDowngradeArgs, OpenDowngradeOk, OpenHow, OpenOk, OpenResultFlags, ShareAccess, ShareDeny, StateId,
    Status,
};
use smallvec::{SmallVec, smallvec};

use super::access::open_file;
use super::attrs::{exclusive_set, settable};
use super::file_io::{covering, key_of};
use super::grants::{Asked, asked, claimed, offer};
use super::{convert, names};
use crate::backend::{Create, CreateMode, FileKind, Oid, OpenAccess, Opened, SetMeta};
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
    let asked = asked(args.share_access, ctx.minor)?;
    ctx.current()?;
    let owner = args.owner.owner.clone();
    let mut claim = Claim::Fresh;
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
            if let Some(kind) = claimed(*delegation)? {
                claim = Claim::Previous(kind);
            }
            by_handle(ctx)?
        }
        OpenClaim::DelegateCur { stateid, file } => {
            no_create(&args.openhow)?;
            claim = Claim::Current;
            let found = by_name(ctx, file).await?;
            covered(ctx, *stateid, &found.place, shares)?;
            found
        }
        OpenClaim::DelegCurFh(stateid) => {
            no_create(&args.openhow)?;
            claim = Claim::Current;
            let found = by_handle(ctx)?;
            covered(ctx, *stateid, &found.place, shares)?;
            found
        }
        OpenClaim::DelegatePrev(_) | OpenClaim::DelegPrevFh => return Err(Status::NotSupp),
    };
    let name = match &args.claim {
        OpenClaim::Null(name) | OpenClaim::DelegateCur { file: name, .. } => Some(name),
        OpenClaim::Previous(_)
        | OpenClaim::DelegatePrev(_)
        | OpenClaim::Fh
        | OpenClaim::DelegCurFh(_)
        | OpenClaim::DelegPrevFh => None,
    };
    let reclaim = matches!(args.claim, OpenClaim::Previous(_));
    let opening = Opening { client, owner: &owner, shares, asked, claim, name, reclaim };
    let done = finish(ctx, opening, found).await?;
    let mut rflags = OpenResultFlags::LOCKTYPE_POSIX | OpenResultFlags::MAY_NOTIFY_LOCK;
    if done.place.export.backend.facts().keeps_unlinked {
        rflags |= OpenResultFlags::PRESERVE_UNLINKED;
    }
    if done.stateid.is_none() {
        rflags |= OpenResultFlags::NO_OPEN_STATEID;
    }
    ctx.set_current(done.place);
    // One that is none is no current stateid either (RFC 9754).
    ctx.set_stateid(done.stateid);
    Ok(OpenOk {
        stateid: done.stateid.unwrap_or(StateId::ANONYMOUS),
        cinfo: done.cinfo,
        rflags,
        attrset: done.attrset,
        delegation: done.delegation,
    })
}

/// CLAIM_DELEGATE_CUR and CLAIM_DELEG_CUR_FH: the client's delegation must allow what is opened.
fn covered(ctx: &Ctx<'_>, stateid: StateId, place: &Place, shares: Shares) -> Result<(), Status> {
    let stateid = ctx.stateid(stateid, false)?;
    covering(ctx, place, stateid, shares.write).map(|_| ())
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
    ctx.writable(&dir.export)?;
    let (mode, attrs) = match how {
        CreateHow::Unchecked(attrs) => (CreateMode::Unchecked, Some(attrs)),
        CreateHow::Guarded(attrs) => (CreateMode::Guarded, Some(attrs)),
        CreateHow::Exclusive(verifier) => (CreateMode::Exclusive(*verifier), None),
        CreateHow::Exclusive41 { verifier, attrs } => {
            exclusive_set(ctx, &dir.export, attrs)?;
            (CreateMode::Exclusive(*verifier), Some(attrs))
        }
    };
    let set = attrs.map_or(Ok(SetMeta::default()), |attrs| settable(ctx, &dir.export, attrs, false))?;
    let what = Create::File { mode, access: access_of(shares) };
    let permit = ctx.admit(&dir.export, &Intent::Create { dir: dir.node.oid }).await?;
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
    /// None where a delegation stands for it.
    stateid: Option<StateId>,
    cinfo: ChangeInfo,
    attrset: AttrSet,
    delegation: OpenDelegation,
}

/// What does not depend on what was found.
#[derive(Clone, Copy)]
struct Opening<'a> {
    client: ClientId,
    owner: &'a [u8],
    shares: Shares,
    asked: Asked,
    claim: Claim,
    /// In the current directory.
    name: Option<&'a nfs4_proto::Component>,
    reclaim: bool,
}

/// After a wait: the name must still lead to the file.
async fn still_named(ctx: &Ctx<'_>, opening: Opening<'_>, place: &Place) -> Result<(), Status> {
    let Some(name) = opening.name else { return Ok(()) };
    match by_name(ctx, name).await {
        Ok(found) if found.place.node.oid == place.node.oid => Ok(()),
        // The client looks again.
        Ok(_) | Err(_) => Err(Status::Delay),
    }
}

/// Permission and share reservations, the delegations' leave, and only then the state.
async fn finish(ctx: &Ctx<'_>, opening: Opening<'_>, found: Found) -> Result<Done, Status> {
    let Found { place, cinfo, mut attrset, opened, truncate } = found;
    let Opening { client, owner, shares, asked, claim, reclaim, .. } = opening;
    if shares.write || truncate {
        ctx.writable(&place.export)?;
    }
    if asked.wants_again(ctx, &place)? {
        return Err(Status::DelegAlreadyWanted);
    }
    // What fails anyway calls nobody back; and while a holder is waited for nothing is reserved: it may open first.
    let mut reserved = Some(reserve(ctx, client, owner, &place, shares).await?);
    let share = Share {
        read: shares.read,
        write: shares.write,
        deny_read: shares.deny_read,
        deny_write: shares.deny_write,
    };
    let oid = place.node.oid;
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
    if place.export.delegations.is_some() {
        reserved = None;
    }
    let permit = ctx.admit(&place.export, &Intent::Open { oid, share, truncate }).await?;
    if permit.waited() {
        still_named(ctx, opening, &place).await?;
    }
    let reserved = match reserved {
        Some(reserved) => reserved,
        None => reserve(ctx, client, owner, &place, shares).await?,
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
    // One is enough for who says so; but a deny bit needs an open, and so does the seqid of one that is there
    // (RFC 9754).
    let instead = asked.xor
        && claim == Claim::Fresh
        && !(shares.deny_read || shares.deny_write)
        && !ctx.core.files.client_has_open(client, key_of(&place));
    let (mut held, mut delegation) = (false, OpenDelegation::None);
    if instead {
        (held, delegation) = offer(ctx, &place, &permit, asked, share, claim).await?;
    }
    let stateid = if held {
        drop(reserved);
        permit.commit(&[]);
        None
    } else {
        let (stateid, effects) = opened_by(reserved, opened, client, oid)?;
        if !instead {
            let offered = offer(ctx, &place, &permit, asked, share, claim).await;
            // The open is there, and so is told: only the delegation failed.
            (_, delegation) = offered.unwrap_or((false, OpenDelegation::None));
        }
        permit.commit(&effects);
        Some(stateid)
    };
    if let Some(attached) = &ctx.attached {
        ctx.core.refuse_if_gone(attached.session.client(), &place.export)?;
    }
    Ok(Done { place, stateid, cinfo, attrset, delegation })
}

/// The open becomes state; what the delegations are to know of it.
fn opened_by(
    reserved: Reserved<'_>,
    opened: Opened,
    client: ClientId,
    oid: Oid,
) -> Result<(StateId, SmallVec<[Effect; 2]>), Status> {
    let Committed { stateid, was_write, write } = reserved.commit(opened)?;
    let client = ClientKey(client.0);
    let opened = Effect::Opened { oid, client, write };
    // Opens are counted by state, not by OPEN: an upgrade is one that was there.
    let effects = match was_write {
        Some(before) if before == write => smallvec![],
        Some(before) => smallvec![Effect::Closed { oid, client, write: before }, opened],
        None => smallvec![opened],
    };
    Ok((stateid, effects))
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
        place.export.effect(Effect::Opened { oid, client, write: done.write });
        place.export.effect(Effect::Closed { oid, client, write: done.was_write });
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
    place.export.effect(effect);
    ctx.set_stateid(None);
    Ok(StateId::INVALID)
}
