//! GETATTR, SETATTR, VERIFY, NVERIFY, and the attributes that create operations set.

use nfs4_deleg::server::{Effect, Intent};
use nfs4_proto::{
    Attr, AttrSet, Attrs, GetattrArgs, GetattrOk, Owner, SetTime, SetattrArgs, SetattrError, StateId, Status,
    VerifyArgs,
};

use super::collect::{collect, suppattr_exclcreat, supported, to_set};
use super::file_io::{Named, Use, covering, delegation_of, key_of, opened};
use super::{acl, convert};
use crate::backend::{self, FileKind, Marks, SetMeta, Time, Who};
use crate::compound::Ctx;
use crate::deleg::{Times, vetted};
use crate::export::{Export, Place};
use crate::identity::number_of;

/// RFC 8881 §18.7. What is not supported is left out of the answer.
pub(crate) async fn getattr(ctx: &mut Ctx<'_>, args: GetattrArgs) -> Result<GetattrOk, Status> {
    args.attr_request.check_get()?;
    let place = ctx.current()?;
    Ok(GetattrOk { obj_attributes: collect(ctx, place, &args.attr_request, None).await? })
}

async fn same(ctx: &Ctx<'_>, wanted: &Attrs) -> Result<bool, Status> {
    let place = ctx.current()?;
    wanted.mask().check_verify(&supported(ctx, &place.export))?;
    let is = collect(ctx, place, wanted.mask(), None).await?;
    Ok(wanted.matches(&is))
}

/// RFC 8881 §18.31.
pub(crate) async fn verify(ctx: &mut Ctx<'_>, args: VerifyArgs) -> Result<(), Status> {
    if same(ctx, &args.obj_attributes).await? { Ok(()) } else { Err(Status::NotSame) }
}

/// RFC 8881 §18.15.
pub(crate) async fn nverify(ctx: &mut Ctx<'_>, args: VerifyArgs) -> Result<(), Status> {
    if same(ctx, &args.obj_attributes).await? { Err(Status::Same) } else { Ok(()) }
}

fn time_to_set(time: SetTime) -> Result<backend::SetTime, Status> {
    match time {
        SetTime::Server => Ok(backend::SetTime::Now),
        SetTime::Client(time) => checked(time).map(backend::SetTime::To),
    }
}

pub(super) fn id_of(owner: &Owner) -> Result<u32, Status> {
    match (owner.as_number(), owner.as_name()) {
        (Some(number), _) => Ok(number),
        (None, Some(name)) => number_of(name),
        (None, None) => Err(Status::BadOwner),
    }
}

/// Permission bits, and nothing else.
const MODE: u32 = 0o7777;

fn masked(value: u32, mask: u32) -> Result<(u32, u32), Status> {
    if value & !MODE != 0 || mask & !MODE != 0 { Err(Status::Inval) } else { Ok((value & mask, mask)) }
}

fn plain_mode(mode: u32) -> Result<(u32, u32), Status> {
    // Type bits come along from careless clients; the permission bits are what counts (§5.8.2.15).
    masked(mode & MODE, MODE)
}

fn checked(time: Time) -> Result<Time, Status> {
    if time.is_valid() { Ok(time) } else { Err(Status::Inval) }
}

fn marks(attrs: &Attrs) -> (Marks, Marks) {
    let (mut values, mut mask) = (Marks::empty(), Marks::empty());
    for (mark, value) in
        [(Marks::ARCHIVE, attrs.archive()), (Marks::HIDDEN, attrs.hidden()), (Marks::SYSTEM, attrs.system())]
    {
        mask.set(mark, value.is_some());
        values.set(mark, value == Some(true));
    }
    (values, mask)
}

/// Values common to SETATTR and to what creates.
fn common(ctx: &Ctx<'_>, attrs: &Attrs, dir: bool) -> Result<SetMeta, Status> {
    let most = ctx.core.limits().acl_entries;
    Ok(SetMeta {
        size: attrs.size(),
        mode: attrs.mode().map(plain_mode).transpose()?,
        uid: attrs.owner().map(id_of).transpose()?,
        gid: attrs.owner_group().map(id_of).transpose()?,
        atime: attrs.time_access_set().map(time_to_set).transpose()?,
        mtime: attrs.time_modify_set().map(time_to_set).transpose()?,
        btime: attrs.time_create().map(checked).transpose()?,
        marks: marks(attrs),
        acl: attrs.acl().map(|acl| acl::from_wire(acl, dir, most)).transpose()?,
        unmasked: None,
    })
}

/// The initial attributes of CREATE and OPEN. `mode_umask` (RFC 8275 §5) is the mode less the umask, unless entries are
/// inherited, which the backend sees; `mode_set_masked` is for SETATTR alone (§6.2.5).
pub(crate) fn settable(ctx: &Ctx<'_>, export: &Export, attrs: &Attrs, dir: bool) -> Result<SetMeta, Status> {
    attrs.mask().check_set(&to_set(ctx, export))?;
    if attrs.mode_set_masked().is_some() {
        return Err(Status::Inval);
    }
    let mut set = common(ctx, attrs, dir)?;
    if let Some(umask) = attrs.mode_umask() {
        if set.mode.is_some() || umask.umask & !0o777 != 0 {
            return Err(Status::Inval);
        }
        set.mode = Some(plain_mode(umask.mode & !umask.umask)?);
        set.unmasked = Some(umask.mode & MODE);
    }
    Ok(set)
}

/// Refuses attributes outside of `suppattr_exclcreat`: INVAL where they are known otherwise (§18.16.3).
pub(crate) fn exclusive_set(ctx: &Ctx<'_>, export: &Export, attrs: &Attrs) -> Result<(), Status> {
    attrs.mask().check_set(&to_set(ctx, export))?;
    if suppattr_exclcreat(ctx, export).is_superset(attrs.mask()) { Ok(()) } else { Err(Status::Inval) }
}

/// What is no file has no size to set: SETATTR knows neither ISDIR nor SYMLINK (RFC 8881 §15.2).
fn not_sizable(status: Status) -> Status {
    if matches!(status, Status::IsDir | Status::Symlink) { Status::Inval } else { status }
}

const DELEGATED: [Attr; 2] = [Attr::TimeDelegAccess, Attr::TimeDelegModify];

/// What a SETATTR says of delegated times.
struct Delegated {
    of: Named,
    /// Those that count.
    set: SetMeta,
    /// What the holder's are measured by from now on.
    times: Times,
}

/// Times that the holder of a delegation sets (RFC 9754): they count where they are later than the file's own, and not
/// beyond now. BAD_STATEID without a delegation that has them.
fn delegated_times(
    ctx: &Ctx<'_>,
    place: &Place,
    stateid: StateId,
    attrs: &Attrs,
) -> Result<Option<Delegated>, Status> {
    let (access, modify) = (attrs.time_deleg_access(), attrs.time_deleg_modify());
    if access.is_none() && modify.is_none() {
        return Ok(None);
    }
    if [access, modify].into_iter().flatten().any(|time| !time.is_valid())
        || attrs.time_access_set().is_some()
        || attrs.time_modify_set().is_some()
    {
        return Err(Status::Inval);
    }
    // For reading, the access time alone is delegated.
    let (delegation, covers) = covering(ctx, place, stateid, modify.is_some())?;
    if !covers.times {
        return Err(Status::BadStateId);
    }
    let (mut times, mut set) = (delegation.times(), SetMeta::default());
    if let Some(later) = access.and_then(|given| vetted(given, times.access)) {
        times.access = later;
        set.atime = Some(backend::SetTime::To(later));
    }
    if let Some(later) = modify.and_then(|given| vetted(given, times.modify)) {
        times.modify = later;
        set.mtime = Some(backend::SetTime::To(later));
    }
    Ok(Some(Delegated { of: delegation, set, times }))
}

/// RFC 8881 §18.30. `attrsset` is true also where it fails.
pub(crate) async fn setattr(ctx: &mut Ctx<'_>, args: SetattrArgs) -> Result<AttrSet, SetattrError> {
    let place = ctx.current()?.clone();
    let attrs = &args.obj_attributes;
    attrs.mask().check_set(&to_set(ctx, &place.export))?;
    if attrs.mode_umask().is_some() {
        // Only what creates has a umask (RFC 8275 §5).
        return Err(Status::Inval.into());
    }
    let mut set = common(ctx, attrs, place.node.kind == FileKind::Dir)?;
    if let Some(masked_mode) = attrs.mode_set_masked() {
        if set.mode.is_some() {
            return Err(Status::Inval.into());
        }
        set.mode = Some(masked(masked_mode.value_to_set, masked_mode.mask_bits)?);
    }
    ctx.writable(&place.export)?;
    let stateid = ctx.stateid(args.stateid, false)?;
    let delegated = delegated_times(ctx, &place, stateid, attrs)?;
    let mut file = None;
    if set.size.is_some() {
        ctx.file().map_err(not_sizable)?;
        if set.size > Some(place.export.backend.facts().max_file_size) {
            return Err(Status::FBig.into());
        }
        file = Some(opened(ctx, &place, stateid, Use::Write).await?);
    } else if !stateid.is_special() && stateid != StateId::INVALID {
        // Without a size the stateid is not needed, but a wrong one is wrong (§18.30.3).
        match delegation_of(ctx, &place, stateid) {
            Some(delegation) => drop(delegation.check(ctx.client()?, false)?),
            None => ctx.core.files.check_any(ctx.client()?, stateid, key_of(&place))?,
        }
    }
    let oid = place.node.oid;
    let permit = ctx.admit(&place.export, &Intent::SetAttr { oid, size: set.size.is_some() }).await?;
    let backend = &place.export.backend;
    let mut attrsset = AttrSet::default();
    if let Some(delegated) = delegated {
        // Permission to set them came with the delegation.
        if delegated.set != SetMeta::default() {
            let done = backend.setattr(&Who::server(), &place.node, None, &delegated.set).await;
            if let Some(fault) = done.map_err(Status::from)?.fault {
                return Err(Status::from(fault).into());
            }
        }
        delegated.of.set_times(delegated.times);
        // What is not later was heard, too.
        attrsset = AttrSet::of(&DELEGATED).and(attrs.mask());
        if set == SetMeta::default() {
            permit.commit(&[Effect::Changed { oid }]);
            return Ok(attrsset);
        }
    }
    let who = ctx.who(&place.export);
    let done = backend.setattr(&who, &place.node, file.as_ref(), &set).await.map_err(Status::from)?;
    permit.commit(&[Effect::Changed { oid }]);
    let attrsset = attrsset.or(&convert::applied(done.applied, attrs));
    match done.fault {
        None => Ok(attrsset),
        Some(fault) => Err(SetattrError { status: fault.into(), attrsset }),
    }
}
