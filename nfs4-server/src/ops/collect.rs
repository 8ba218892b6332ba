//! The attribute collector: from a set of attributes to their values, group by group.

use nfs4_proto::{
    AclSupport, Attr, AttrGroup, AttrSet, AttrWords, Attrs, ChangeAttrType, FhExpire, FsCharsetCap,
    OpenArguments, Owner, SpecData, Status, attr_words,
};

use super::{acl, convert};
use crate::backend::{ChangeType, Marks, Meta};
use crate::compound::Ctx;
use crate::deleg::{Asking, data_wanted};
use crate::export::{Export, Place};

/// What every export supports in 4.1.
const BASE: AttrWords = attr_words(&[
    Attr::SupportedAttrs,
    Attr::Type,
    Attr::FhExpireType,
    Attr::Change,
    Attr::Size,
    Attr::LinkSupport,
    Attr::SymlinkSupport,
    Attr::NamedAttr,
    Attr::Fsid,
    Attr::UniqueHandles,
    Attr::LeaseTime,
    Attr::RdattrError,
    Attr::AclSupport,
    Attr::CanSetTime,
    Attr::CaseInsensitive,
    Attr::CasePreserving,
    Attr::ChownRestricted,
    Attr::Filehandle,
    Attr::Fileid,
    Attr::FilesAvail,
    Attr::FilesFree,
    Attr::FilesTotal,
    Attr::Homogeneous,
    Attr::MaxFileSize,
    Attr::MaxLink,
    Attr::MaxName,
    Attr::MaxRead,
    Attr::MaxWrite,
    Attr::Mode,
    Attr::NoTrunc,
    Attr::NumLinks,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::RawDev,
    Attr::SpaceAvail,
    Attr::SpaceFree,
    Attr::SpaceTotal,
    Attr::SpaceUsed,
    Attr::TimeAccess,
    Attr::TimeAccessSet,
    Attr::TimeDelta,
    Attr::TimeMetadata,
    Attr::TimeModify,
    Attr::TimeModifySet,
    Attr::MountedOnFileid,
    Attr::ModeSetMasked,
    Attr::SuppattrExclcreat,
    Attr::FsCharsetCap,
]);

/// What 4.2 adds.
const IN_42: AttrWords =
    attr_words(&[Attr::ChangeAttrType, Attr::ModeUmask, Attr::XattrSupport, Attr::OpenArguments]);

/// `supported_attrs` of an export in the compound's minor version.
pub(crate) fn supported(ctx: &Ctx<'_>, export: &Export) -> AttrSet {
    let facts = export.backend.facts();
    let mut set = AttrSet::from(BASE);
    if ctx.minor >= 2 {
        set = set.or(&AttrSet::from(IN_42));
        if facts.clones {
            set.insert(Attr::CloneBlksize);
        }
        if export.delegations.is_some() {
            set.insert(Attr::TimeDelegAccess).insert(Attr::TimeDelegModify);
        }
    }
    if facts.birth_time {
        set.insert(Attr::TimeCreate);
    }
    if facts.marks {
        set.insert(Attr::Archive).insert(Attr::Hidden).insert(Attr::System);
    }
    if facts.acls {
        // Neither dacl nor sacl: there is no automatic inheritance, nor an entry that logs (§6.2.2, §6.2.3).
        set.insert(Attr::Acl);
    }
    set
}

/// What may be set: a birth time is often only told.
pub(crate) fn to_set(ctx: &Ctx<'_>, export: &Export) -> AttrSet {
    let mut set = supported(ctx, export);
    if !export.backend.facts().sets_birth_time {
        set.remove(Attr::TimeCreate);
    }
    set
}

/// What EXCLUSIVE4_1 may set: not those in which the verifier may be kept (RFC 8881 §5.8.1.14).
const EXCLUSIVE: AttrWords = attr_words(&[
    Attr::Size,
    Attr::Acl,
    Attr::Archive,
    Attr::Hidden,
    Attr::System,
    Attr::Mode,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::TimeCreate,
    Attr::ModeUmask,
]);

/// `suppattr_exclcreat` of an export in the compound's minor version: nothing that `supported_attrs` leaves out.
pub(crate) fn suppattr_exclcreat(ctx: &Ctx<'_>, export: &Export) -> AttrSet {
    AttrSet::from(EXCLUSIVE).and(&to_set(ctx, export))
}

/// What OPEN takes (RFC 9754). The _PREV claims are known and not served, so they are not told.
fn open_arguments(delegations: bool) -> OpenArguments {
    use nfs4_proto::{OaClaim, OaCreateMode, OaShareAccess, OaShareDeny, OaWant};
    const WANTS: &[OaWant] = &[
        OaWant::AnyDeleg,
        OaWant::NoDeleg,
        OaWant::Cancel,
        OaWant::SignalDelegWhenResrcAvail,
        OaWant::PushDelegWhenUncontended,
        OaWant::DelegTimestamps,
        OaWant::OpenXorDelegation,
    ];
    OpenArguments::new(
        &[OaShareAccess::Read, OaShareAccess::Write, OaShareAccess::Both],
        &[OaShareDeny::None, OaShareDeny::Read, OaShareDeny::Write, OaShareDeny::Both],
        if delegations { WANTS } else { &[] },
        &[OaClaim::Null, OaClaim::Previous, OaClaim::DelegateCur, OaClaim::Fh, OaClaim::DelegCurFh],
        &[OaCreateMode::Unchecked, OaCreateMode::Guarded, OaCreateMode::Exclusive, OaCreateMode::Exclusive41],
    )
}

fn is_meta(group: AttrGroup) -> bool {
    matches!(group, AttrGroup::Fixed | AttrGroup::Data | AttrGroup::Meta | AttrGroup::Access)
}

/// What a request asks for, looked at once: what of it an export has, and which sources that needs.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "one for each source of values")]
pub(crate) struct Wanted {
    set: AttrSet,
    meta: bool,
    data: bool,
    space: bool,
    limits: bool,
    server: bool,
}

impl Wanted {
    /// Those attributes of `want` that are supported.
    pub(crate) fn new(ctx: &Ctx<'_>, export: &Export, want: &AttrSet) -> Self {
        let set = want.and(&supported(ctx, export));
        let meta = set.iter().any(|attr| is_meta(attr.group()) || attr == Attr::MountedOnFileid);
        Self {
            meta,
            data: data_wanted(&set),
            space: set.any_of(AttrGroup::Space),
            limits: set.any_of(AttrGroup::Limits),
            server: set.any_of(AttrGroup::Server),
            set,
        }
    }

    /// Whether attributes are asked for that the holder of a write delegation knows better.
    pub(crate) fn data(&self) -> bool {
        self.data
    }

    /// Whether what is asked for takes the object itself, and not only its attributes.
    pub(crate) fn nodes(&self) -> bool {
        self.set.contains(Attr::Filehandle) || self.set.contains(Attr::Acl)
    }

    /// Fewest bytes that the values take on the wire.
    pub(crate) fn least_bytes(&self) -> usize {
        self.set.iter().map(Attr::min_wire).fold(0, usize::saturating_add)
    }
}

/// The values of those attributes of `want` that are supported. `meta` is what a listing brought along.
pub(crate) async fn collect(
    ctx: &Ctx<'_>,
    place: &Place,
    want: &AttrSet,
    meta: Option<Meta>,
) -> Result<Attrs, Status> {
    collect_wanted(ctx, place, &Wanted::new(ctx, &place.export, want), meta).await
}

/// The same for many objects of one export.
pub(crate) async fn collect_wanted(
    ctx: &Ctx<'_>,
    place: &Place,
    wanted: &Wanted,
    meta: Option<Meta>,
) -> Result<Attrs, Status> {
    let want = &wanted.set;
    let mut attrs = Attrs::new();
    if wanted.meta {
        let meta = match meta {
            Some(meta) => meta,
            None if wanted.data => {
                Asking::begin(ctx, &place.export, place.node.kind, place.node.oid)?.end(ctx, place).await?
            }
            None => place.export.backend.getattr(&place.node).await?,
        };
        put_meta(&mut attrs, want, &meta);
        if want.contains(Attr::MountedOnFileid) {
            attrs.set_mounted_on_fileid(mounted_on_fileid(ctx, place, &meta).await);
        }
    }
    if want.contains(Attr::Acl) {
        // After `change`: a client that keeps the list asks again where it moved meanwhile.
        let acl = place.export.backend.acl(&ctx.who(&place.export), &place.node).await?;
        attrs.set_acl(acl::to_wire(&acl)?);
    }
    if wanted.space {
        put_space(&mut attrs, want, &place.export.backend.statfs(&ctx.who(&place.export)).await?);
    }
    put_known(&mut attrs, wanted, ctx, &place.export);
    if want.contains(Attr::Filehandle) {
        attrs.set_filehandle(ctx.core.exports.handle(place));
    }
    Ok(attrs)
}

/// The same for an entry of a directory, from what the listing brought; false where that is not enough. `attrs` holds
/// what an entry before had.
pub(crate) async fn collect_entry(
    ctx: &Ctx<'_>,
    export: &Export,
    wanted: &Wanted,
    meta: Option<&Meta>,
    attrs: &mut Attrs,
) -> Result<bool, Status> {
    let want = &wanted.set;
    if wanted.nodes() {
        return Ok(false);
    }
    // What is not set again below must not stay.
    if !attrs.is_empty() && (attrs.mask() != want || want.contains(Attr::TimeCreate)) {
        *attrs = Attrs::new();
    }
    if wanted.meta {
        let Some(meta) = meta else { return Ok(false) };
        put_meta(attrs, want, meta);
        if want.contains(Attr::MountedOnFileid) {
            // No entry is the root of its export.
            attrs.set_mounted_on_fileid(meta.fileid);
        }
    }
    if wanted.space {
        put_space(attrs, want, &export.backend.statfs(&ctx.who(export)).await?);
    }
    put_known(attrs, wanted, ctx, export);
    Ok(true)
}

/// What is known without asking the backend.
fn put_known(attrs: &mut Attrs, wanted: &Wanted, ctx: &Ctx<'_>, export: &Export) {
    let want = &wanted.set;
    if wanted.limits {
        put_limits(attrs, want, export, ctx.core.limits().name_bytes);
    }
    if wanted.server {
        put_server(attrs, want, ctx, export);
    }
    if want.contains(Attr::Fsid) {
        attrs.set_fsid(export.fsid);
    }
    if want.contains(Attr::RdattrError) {
        attrs.set_rdattr_error(Status::Ok);
    }
}

/// At the root of an export that is mounted somewhere: the directory it is mounted on.
async fn mounted_on_fileid(ctx: &Ctx<'_>, place: &Place, meta: &Meta) -> u64 {
    // Where one export is the root of all there is nothing below, and nothing to compare.
    if let Some(below) = ctx.core.exports.below(&place.export)
        && place.node.oid == place.export.backend.root().oid
        && let Ok(meta) = below.export.backend.getattr(&below.node).await
    {
        return meta.fileid;
    }
    meta.fileid
}

fn put_meta(attrs: &mut Attrs, want: &AttrSet, meta: &Meta) {
    for attr in want.iter() {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other groups are put elsewhere")]
        match attr {
            Attr::Type => attrs.set_file_type(convert::file_type(meta.kind)),
            Attr::Change => attrs.set_change(meta.change),
            Attr::Size => attrs.set_size(meta.size),
            Attr::Fileid => attrs.set_fileid(meta.fileid),
            Attr::Mode => attrs.set_mode(meta.mode),
            Attr::NumLinks => attrs.set_numlinks(meta.nlink),
            Attr::Owner => attrs.set_owner(Owner::number(meta.uid)),
            Attr::OwnerGroup => attrs.set_owner_group(Owner::number(meta.gid)),
            Attr::RawDev => {
                let (specdata1, specdata2) = meta.rdev;
                attrs.set_rawdev(SpecData { specdata1, specdata2 })
            }
            Attr::Archive => attrs.set_archive(meta.marks.contains(Marks::ARCHIVE)),
            Attr::Hidden => attrs.set_hidden(meta.marks.contains(Marks::HIDDEN)),
            Attr::System => attrs.set_system(meta.marks.contains(Marks::SYSTEM)),
            Attr::SpaceUsed => attrs.set_space_used(meta.space_used),
            Attr::TimeAccess => attrs.set_time_access(meta.atime),
            Attr::TimeMetadata => attrs.set_time_metadata(meta.ctime),
            Attr::TimeModify => attrs.set_time_modify(meta.mtime),
            Attr::TimeCreate => match meta.btime {
                Some(time) => attrs.set_time_create(time),
                None => continue,
            },
            _ => continue,
        };
    }
}

fn put_space(attrs: &mut Attrs, want: &AttrSet, fs: &crate::backend::FsStat) {
    for (attr, value) in [
        (Attr::FilesAvail, fs.files_avail),
        (Attr::FilesFree, fs.files_free),
        (Attr::FilesTotal, fs.files_total),
        (Attr::SpaceAvail, fs.space_avail),
        (Attr::SpaceFree, fs.space_free),
        (Attr::SpaceTotal, fs.space_total),
    ] {
        if want.contains(attr) {
            #[expect(clippy::wildcard_enum_match_arm, reason = "the six of the list above")]
            match attr {
                Attr::FilesAvail => attrs.set_files_avail(value),
                Attr::FilesFree => attrs.set_files_free(value),
                Attr::FilesTotal => attrs.set_files_total(value),
                Attr::SpaceAvail => attrs.set_space_avail(value),
                Attr::SpaceFree => attrs.set_space_free(value),
                _ => attrs.set_space_total(value),
            };
        }
    }
}

fn put_limits(attrs: &mut Attrs, want: &AttrSet, export: &Export, name_bytes: u32) {
    let facts = export.backend.facts();
    for attr in want.iter() {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other groups are put elsewhere")]
        match attr {
            Attr::LinkSupport => attrs.set_link_support(facts.max_link > 1),
            Attr::SymlinkSupport => attrs.set_symlink_support(true),
            Attr::CanSetTime => attrs.set_cansettime(true),
            Attr::CaseInsensitive => attrs.set_case_insensitive(false),
            Attr::CasePreserving => attrs.set_case_preserving(true),
            Attr::ChownRestricted => attrs.set_chown_restricted(true),
            Attr::Homogeneous => attrs.set_homogeneous(true),
            Attr::MaxFileSize => attrs.set_maxfilesize(facts.max_file_size),
            Attr::MaxLink => attrs.set_maxlink(facts.max_link),
            Attr::MaxName => attrs.set_maxname(facts.max_name.min(name_bytes)),
            Attr::NoTrunc => attrs.set_no_trunc(true),
            Attr::TimeDelta => attrs.set_time_delta(facts.time_delta),
            Attr::FsCharsetCap => attrs.set_fs_charset_cap(if facts.any_bytes {
                FsCharsetCap::CONTAINS_NON_UTF8
            } else {
                FsCharsetCap::ALLOWS_ONLY_UTF8
            }),
            Attr::CloneBlksize => attrs.set_clone_blksize(4096),
            Attr::ChangeAttrType => attrs.set_change_attr_type(match facts.change_type {
                ChangeType::Monotonic => ChangeAttrType::MonotonicIncr,
                ChangeType::Counter => ChangeAttrType::VersionCounterNoPnfs,
                ChangeType::Undefined => ChangeAttrType::Undefined,
            }),
            Attr::XattrSupport => attrs.set_xattr_support(facts.xattrs),
            _ => continue,
        };
    }
}

fn put_server(attrs: &mut Attrs, want: &AttrSet, ctx: &Ctx<'_>, export: &Export) {
    for attr in want.iter() {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the other groups are put elsewhere")]
        match attr {
            Attr::SupportedAttrs => attrs.set_supported_attrs(supported(ctx, export)),
            // Never announced volatile: no client recovers from FHEXPIRED by name in practice.
            Attr::FhExpireType => attrs.set_fh_expire_type(FhExpire::empty()),
            Attr::NamedAttr => attrs.set_named_attr(false),
            Attr::UniqueHandles => attrs.set_unique_handles(true),
            Attr::LeaseTime => attrs.set_lease_time(ctx.core.lease),
            Attr::AclSupport => attrs.set_aclsupport(if export.backend.facts().acls {
                AclSupport::ALLOW_ACL | AclSupport::DENY_ACL
            } else {
                AclSupport::empty()
            }),
            Attr::MaxRead => attrs.set_maxread(u64::from(ctx.max_read())),
            Attr::MaxWrite => attrs.set_maxwrite(u64::from(ctx.max_write())),
            Attr::OpenArguments => attrs.set_open_arguments(open_arguments(export.delegations.is_some())),
            Attr::SuppattrExclcreat => attrs.set_suppattr_exclcreat(suppattr_exclcreat(ctx, export)),
            _ => continue,
        };
    }
}
