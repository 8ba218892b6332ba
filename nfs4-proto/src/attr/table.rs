//! The attribute table: numbers, names, types, who may read or write, and where values come from. RFC 8881 §5.6–§5.7,
//! RFC 7862 §12.2, RFC 8275 §5, RFC 8276 §8.2, RFC 9754.

/// Hands the attribute table to the macro `$then`: one row for each attribute, ascending. Columns: number, RFC name,
/// variant of [`Attr`], getter and setter of `Attrs`, how the getter gives the value (`copy` or `ref`), type, access,
/// scope, group, and which half of `Attrs` stores it (`common`: in place; `rest`: boxed).
macro_rules! fattr4_table {
    ($then:ident) => {
        $then! {
    /// Which attributes the object's file system has.
    0, "supported_attrs", SupportedAttrs, supported_attrs, set_supported_attrs, ref crate::AttrSet, Get, FileSystem, Server, rest;
    /// Kind of object. It never changes.
    1, "type", Type, file_type, set_file_type, copy crate::FileType, Get, Object, Fixed, common;
    /// How filehandles expire.
    2, "fh_expire_type", FhExpireType, fh_expire_type, set_fh_expire_type, copy super::FhExpire, Get, Server, Server, rest;
    /// Moves with every change of data, attributes or entries.
    3, "change", Change, change, set_change, copy u64, Get, Object, Data, common;
    /// Bytes.
    4, "size", Size, size, set_size, copy u64, GetSet, Object, Data, common;
    /// Whether the file system has hard links.
    5, "link_support", LinkSupport, link_support, set_link_support, copy bool, Get, FileSystem, Limits, rest;
    /// Whether the file system has symbolic links.
    6, "symlink_support", SymlinkSupport, symlink_support, set_symlink_support, copy bool, Get, FileSystem, Limits, rest;
    /// Whether the object has named attributes.
    7, "named_attr", NamedAttr, named_attr, set_named_attr, copy bool, Get, Object, Server, rest;
    /// Which file system the object is in.
    8, "fsid", Fsid, fsid, set_fsid, copy crate::Fsid, Get, FileSystem, Export, common;
    /// Whether two different handles are always two different objects.
    9, "unique_handles", UniqueHandles, unique_handles, set_unique_handles, copy bool, Get, Server, Server, rest;
    /// Length of a lease, in seconds.
    10, "lease_time", LeaseTime, lease_time, set_lease_time, copy u32, Get, Server, Server, rest;
    /// Why READDIR could not get the attributes of this entry.
    11, "rdattr_error", RdattrError, rdattr_error, set_rdattr_error, copy crate::Status, Get, Object, Reply, common;
    /// Access control list in the form of 4.0.
    12, "acl", Acl, acl, set_acl, ref super::Acl, GetSet, Object, Meta, rest;
    /// Which kinds of access control entries the file system has.
    13, "aclsupport", AclSupport, aclsupport, set_aclsupport, copy super::AclSupport, Get, FileSystem, Server, rest;
    /// Whether the file was archived since it was changed. Deprecated by the RFC.
    14, "archive", Archive, archive, set_archive, copy bool, GetSet, Object, Meta, rest;
    /// Whether times can be set.
    15, "cansettime", CanSetTime, cansettime, set_cansettime, copy bool, Get, FileSystem, Limits, rest;
    /// Whether names are compared without regard to case.
    16, "case_insensitive", CaseInsensitive, case_insensitive, set_case_insensitive, copy bool, Get, FileSystem, Limits, rest;
    /// Whether names keep their case.
    17, "case_preserving", CasePreserving, case_preserving, set_case_preserving, copy bool, Get, FileSystem, Limits, rest;
    /// Whether only a privileged user may give files away.
    18, "chown_restricted", ChownRestricted, chown_restricted, set_chown_restricted, copy bool, Get, FileSystem, Limits, rest;
    /// The object's filehandle.
    19, "filehandle", Filehandle, filehandle, set_filehandle, ref crate::Fh, Get, Object, Reply, common;
    /// Number of the object, unique in its file system.
    20, "fileid", Fileid, fileid, set_fileid, copy u64, Get, Object, Fixed, common;
    /// File slots that this user may use.
    21, "files_avail", FilesAvail, files_avail, set_files_avail, copy u64, Get, FileSystem, Space, rest;
    /// File slots that are free.
    22, "files_free", FilesFree, files_free, set_files_free, copy u64, Get, FileSystem, Space, rest;
    /// File slots in all.
    23, "files_total", FilesTotal, files_total, set_files_total, copy u64, Get, FileSystem, Space, rest;
    /// Where the file system may be found.
    24, "fs_locations", FsLocations, fs_locations, set_fs_locations, ref super::FsLocations, Get, FileSystem, Export, rest;
    /// Whether the file is hidden, in the Windows sense.
    25, "hidden", Hidden, hidden, set_hidden, copy bool, GetSet, Object, Meta, rest;
    /// Whether all objects of the file system have the same per-file-system attributes.
    26, "homogeneous", Homogeneous, homogeneous, set_homogeneous, copy bool, Get, FileSystem, Limits, rest;
    /// Largest size of a file, in bytes.
    27, "maxfilesize", MaxFileSize, maxfilesize, set_maxfilesize, copy u64, Get, FileSystem, Limits, rest;
    /// Most names of an object.
    28, "maxlink", MaxLink, maxlink, set_maxlink, copy u32, Get, Object, Limits, rest;
    /// Longest name, in bytes.
    29, "maxname", MaxName, maxname, set_maxname, copy u32, Get, FileSystem, Limits, rest;
    /// Most bytes of a READ.
    30, "maxread", MaxRead, maxread, set_maxread, copy u64, Get, FileSystem, Server, rest;
    /// Most bytes of a WRITE.
    31, "maxwrite", MaxWrite, maxwrite, set_maxwrite, copy u64, Get, FileSystem, Server, rest;
    /// MIME type of the contents.
    32, "mimetype", MimeType, mimetype, set_mimetype, ref crate::Utf8Str, GetSet, Object, Meta, rest;
    /// Permission bits, 0o7777.
    33, "mode", Mode, mode, set_mode, copy u32, GetSet, Object, Meta, common;
    /// Whether a name that is too long is refused and not cut.
    34, "no_trunc", NoTrunc, no_trunc, set_no_trunc, copy bool, Get, FileSystem, Limits, rest;
    /// Names of the object.
    35, "numlinks", NumLinks, numlinks, set_numlinks, copy u32, Get, Object, Meta, common;
    /// Owner. RFC 8881 §5.9.
    36, "owner", Owner, owner, set_owner, ref super::Owner, GetSet, Object, Meta, common;
    /// Group. RFC 8881 §5.9.
    37, "owner_group", OwnerGroup, owner_group, set_owner_group, ref super::Owner, GetSet, Object, Meta, common;
    /// Bytes beyond the present use that the quota would never allow.
    38, "quota_avail_hard", QuotaAvailHard, quota_avail_hard, set_quota_avail_hard, copy u64, Get, Object, Space, rest;
    /// Bytes that may be used before the quota warns.
    39, "quota_avail_soft", QuotaAvailSoft, quota_avail_soft, set_quota_avail_soft, copy u64, Get, Object, Space, rest;
    /// Bytes charged to this quota.
    40, "quota_used", QuotaUsed, quota_used, set_quota_used, copy u64, Get, Object, Space, rest;
    /// Device numbers of a device.
    41, "rawdev", RawDev, rawdev, set_rawdev, copy crate::SpecData, Get, Object, Fixed, common;
    /// Bytes that this user may use.
    42, "space_avail", SpaceAvail, space_avail, set_space_avail, copy u64, Get, FileSystem, Space, rest;
    /// Bytes that are free.
    43, "space_free", SpaceFree, space_free, set_space_free, copy u64, Get, FileSystem, Space, rest;
    /// Bytes in all.
    44, "space_total", SpaceTotal, space_total, set_space_total, copy u64, Get, FileSystem, Space, rest;
    /// Bytes that the object takes on the medium.
    45, "space_used", SpaceUsed, space_used, set_space_used, copy u64, Get, Object, Data, common;
    /// Whether this is a system file, in the Windows sense.
    46, "system", System, system, set_system, copy bool, GetSet, Object, Meta, rest;
    /// Last access.
    47, "time_access", TimeAccess, time_access, set_time_access, copy crate::NfsTime, Get, Object, Access, common;
    /// Sets the last access.
    48, "time_access_set", TimeAccessSet, time_access_set, set_time_access_set, copy super::SetTime, Set, Object, Request, common;
    /// Last backup.
    49, "time_backup", TimeBackup, time_backup, set_time_backup, copy crate::NfsTime, GetSet, Object, Meta, rest;
    /// Creation.
    50, "time_create", TimeCreate, time_create, set_time_create, copy crate::NfsTime, GetSet, Object, Meta, common;
    /// Smallest step of times.
    51, "time_delta", TimeDelta, time_delta, set_time_delta, copy crate::NfsTime, Get, FileSystem, Limits, rest;
    /// Last change of attributes.
    52, "time_metadata", TimeMetadata, time_metadata, set_time_metadata, copy crate::NfsTime, Get, Object, Meta, common;
    /// Last change of data.
    53, "time_modify", TimeModify, time_modify, set_time_modify, copy crate::NfsTime, Get, Object, Data, common;
    /// Sets the last change of data.
    54, "time_modify_set", TimeModifySet, time_modify_set, set_time_modify_set, copy super::SetTime, Set, Object, Request, common;
    /// Like `fileid`; at a file system's root the number of the directory that it is mounted on.
    55, "mounted_on_fileid", MountedOnFileid, mounted_on_fileid, set_mounted_on_fileid, copy u64, Get, Object, Export, common;
    /// Longest delay of notifications about a directory's attributes. RFC 8881 §5.11.1.
    56, "dir_notif_delay", DirNotifDelay, dir_notif_delay, set_dir_notif_delay, copy crate::NfsTime, Get, Object, Delegation, rest;
    /// Longest delay of notifications about the attributes of entries. RFC 8881 §5.11.2.
    57, "dirent_notif_delay", DirentNotifDelay, dirent_notif_delay, set_dirent_notif_delay, copy crate::NfsTime, Get, Object, Delegation, rest;
    /// Access control list for access decisions. RFC 8881 §6.2.2.
    58, "dacl", Dacl, dacl, set_dacl, ref super::Acl41, GetSet, Object, Meta, rest;
    /// Access control list for audit and alarm. RFC 8881 §6.2.3.
    59, "sacl", Sacl, sacl, set_sacl, ref super::Acl41, GetSet, Object, Meta, rest;
    /// Moves when the policies behind other attributes change.
    60, "change_policy", ChangePolicy, change_policy, set_change_policy, copy super::ChangePolicy, Get, FileSystem, Export, rest;
    /// Whether the file system is here, writable, a copy. RFC 8881 §11.18.
    61, "fs_status", FsStatus, fs_status, set_fs_status, ref super::FsStatus, Get, FileSystem, Export, rest;
    /// Layout types of the file system.
    62, "fs_layout_type", FsLayoutType, fs_layout_type, set_fs_layout_type, ref super::LayoutTypes, Get, FileSystem, Layout, rest;
    /// What layout a file should get.
    63, "layout_hint", LayoutHint, layout_hint, set_layout_hint, ref super::LayoutHint, Set, Object, Layout, rest;
    /// Layout types of the file.
    64, "layout_type", LayoutTypeList, layout_type, set_layout_type, ref super::LayoutTypes, Get, Object, Layout, rest;
    /// Preferred block size, in bytes.
    65, "layout_blksize", LayoutBlksize, layout_blksize, set_layout_blksize, copy u32, Get, FileSystem, Layout, rest;
    /// Preferred alignment, in bytes.
    66, "layout_alignment", LayoutAlignment, layout_alignment, set_layout_alignment, copy u32, Get, FileSystem, Layout, rest;
    /// Where the file system may be found, in full. RFC 8881 §11.17.
    67, "fs_locations_info", FsLocationsInfo, fs_locations_info, set_fs_locations_info, ref super::FsLocationsInfo, Get, FileSystem, Export, rest;
    /// From which sizes on pNFS pays. RFC 8881 §5.12.4.
    68, "mdsthreshold", MdsThreshold, mdsthreshold, set_mdsthreshold, ref super::MdsThreshold, Get, Object, Layout, rest;
    /// Retention. RFC 8881 §5.13.1.
    69, "retention_get", RetentionGet, retention_get, set_retention_get, copy super::RetentionGet, Get, Object, Retention, rest;
    /// Sets the retention. RFC 8881 §5.13.2.
    70, "retention_set", RetentionSet, retention_set, set_retention_set, copy super::RetentionSet, Set, Object, Retention, rest;
    /// Event-based retention. RFC 8881 §5.13.3.
    71, "retentevt_get", RetentevtGet, retentevt_get, set_retentevt_get, copy super::RetentionGet, Get, Object, Retention, rest;
    /// Sets the event-based retention. RFC 8881 §5.13.4.
    72, "retentevt_set", RetentevtSet, retentevt_set, set_retentevt_set, copy super::RetentionSet, Set, Object, Retention, rest;
    /// Administrative holds, one a bit. RFC 8881 §5.13.5.
    73, "retention_hold", RetentionHold, retention_hold, set_retention_hold, copy u64, GetSet, Object, Retention, rest;
    /// Sets some bits of the mode. RFC 8881 §6.2.5.
    74, "mode_set_masked", ModeSetMasked, mode_set_masked, set_mode_set_masked, copy super::ModeMasked, Set, Object, Request, rest;
    /// Which attributes an `EXCLUSIVE4_1` create may give.
    75, "suppattr_exclcreat", SuppattrExclcreat, suppattr_exclcreat, set_suppattr_exclcreat, ref crate::AttrSet, Get, FileSystem, Server, rest;
    /// Which characters names may have. RFC 8881 §14.4.
    76, "fs_charset_cap", FsCharsetCap, fs_charset_cap, set_fs_charset_cap, copy super::FsCharsetCap, Get, FileSystem, Limits, rest;
    /// Block size of CLONE, in bytes. RFC 7862 §12.2.1.
    77, "clone_blksize", CloneBlksize, clone_blksize, set_clone_blksize, copy u32, Get, FileSystem, Limits, rest;
    /// Bytes that removing the file would free. RFC 7862 §12.2.2.
    78, "space_freed", SpaceFreed, space_freed, set_space_freed, copy u64, Get, Object, Data, rest;
    /// What `change` says about order. RFC 7862 §12.2.3.
    79, "change_attr_type", ChangeAttrType, change_attr_type, set_change_attr_type, copy super::ChangeAttrType, Get, FileSystem, Limits, rest;
    /// Security label. RFC 7862 §12.2.4.
    80, "sec_label", SecLabel, sec_label, set_sec_label, ref super::SecLabel, GetSet, Object, Meta, rest;
    /// Mode and umask of a new object. RFC 8275 §5.
    81, "mode_umask", ModeUmask, mode_umask, set_mode_umask, copy super::ModeUmask, Set, Object, Request, rest;
    /// Whether the file system has extended attributes. RFC 8276 §8.2.1.
    82, "xattr_support", XattrSupport, xattr_support, set_xattr_support, copy bool, Get, FileSystem, Limits, rest;
    /// Whether the data are not at hand (on tape). RFC 9754.
    83, "offline", Offline, offline, set_offline, copy bool, Get, Object, Data, rest;
    /// Last access as the holder of a delegation knows it. RFC 9754.
    84, "time_deleg_access", TimeDelegAccess, time_deleg_access, set_time_deleg_access, copy crate::NfsTime, Set, Object, Delegation, rest;
    /// Last change of data as the holder of a delegation knows it. RFC 9754.
    85, "time_deleg_modify", TimeDelegModify, time_deleg_modify, set_time_deleg_modify, copy crate::NfsTime, Set, Object, Delegation, rest;
    /// Which arguments of OPEN the server knows. RFC 9754.
    86, "open_arguments", OpenArguments, open_arguments, set_open_arguments, ref super::OpenArguments, Get, FileSystem, Server, rest;
        }
    };
}

pub(super) use fattr4_table;

/// Who may use an attribute how. RFC 8881 §5.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttrAccess {
    /// GETATTR, READDIR, VERIFY and NVERIFY; `NFS4ERR_INVAL` in SETATTR.
    Get,
    /// SETATTR and creation; `NFS4ERR_INVAL` in GETATTR, READDIR, VERIFY and NVERIFY.
    Set,
    /// Both.
    GetSet,
}

impl AttrAccess {
    /// Whether a value can be had.
    #[must_use]
    pub const fn may_get(self) -> bool {
        matches!(self, Self::Get | Self::GetSet)
    }

    /// Whether a value can be given.
    #[must_use]
    pub const fn may_set(self) -> bool {
        matches!(self, Self::Set | Self::GetSet)
    }
}

/// What has one value. RFC 8881 §5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttrScope {
    /// Each object.
    Object,
    /// Each file system.
    FileSystem,
    /// The server.
    Server,
}

/// What an attribute belongs with: who supplies it, and what change makes a cached value wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttrGroup {
    /// Backend; never changes while the object lives.
    Fixed,
    /// Backend; moves when data or entries change.
    Data,
    /// Backend; moves when the object's attributes or names change.
    Meta,
    /// Backend; moves when the object is read.
    Access,
    /// Backend, of the file system: what is used and free; moves at any time.
    Space,
    /// Backend, of the file system: what it can do; moves with its configuration.
    Limits,
    /// The export that the object is reached by.
    Export,
    /// The server itself.
    Server,
    /// The delegation machine.
    Delegation,
    /// The reply that it stands in (the handle, an entry's error).
    Reply,
    /// Only requests have it.
    Request,
    /// pNFS.
    Layout,
    /// Retention.
    Retention,
}

macro_rules! attr_enum {
    ($(
        $(#[$doc:meta])*
        $bit:literal, $name:literal, $attr:ident, $get:ident, $set:ident, $how:ident $value:ty,
        $access:ident, $scope:ident, $group:ident, $store:ident;
    )*) => {
        /// A file attribute that this crate has a type for. The discriminant is its number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
        #[repr(u32)]
        pub enum Attr {
            $( $(#[$doc])* $attr = $bit, )*
        }

        impl Attr {
            /// All attributes, ascending.
            pub const ALL: &'static [Self] = &[ $( Self::$attr ),* ];

            /// The attribute with a number; `None` where this crate has none.
            #[must_use]
            pub const fn from_number(number: u32) -> Option<Self> {
                match number { $( $bit => Some(Self::$attr), )* _ => None }
            }

            /// The RFC's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$attr => $name, )* }
            }

            /// Whether it can be read and written.
            #[must_use]
            pub const fn access(self) -> AttrAccess {
                match self { $( Self::$attr => AttrAccess::$access, )* }
            }

            /// What has one value.
            #[must_use]
            pub const fn scope(self) -> AttrScope {
                match self { $( Self::$attr => AttrScope::$scope, )* }
            }

            /// What it belongs with.
            #[must_use]
            pub const fn group(self) -> AttrGroup {
                match self { $( Self::$attr => AttrGroup::$group, )* }
            }
        }
    };
}

fattr4_table!(attr_enum);

impl Attr {
    /// Its number: the bit in `bitmap4`.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

impl core::fmt::Display for Attr {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
