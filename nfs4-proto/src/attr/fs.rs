//! Values of attributes that belong to file systems, and those of pNFS. RFC 8881 §5.12, §11.

use nfs4_xdr::{Bitmap, List, Opaque, xdr_enum, xdr_flags, xdr_struct};

use crate::{Component, NfsTime, Utf8Str};

/// `pathname4`: a path as its components.
pub type Pathname = List<Component, 1024>;

/// `layouttype4<>`, for `fs_layout_type` and `layout_type`.
pub type LayoutTypes = List<LayoutType, 64>;

xdr_enum! {
    /// Kinds of layouts. RFC 8881 §3.3.13, RFC 8154, RFC 8435.
    pub open enum layouttype4 as LayoutType {
        /// Files.
        Files = 1 "LAYOUT4_NFSV4_1_FILES",
        /// Objects.
        Objects = 2 "LAYOUT4_OSD2_OBJECTS",
        /// Blocks.
        Blocks = 3 "LAYOUT4_BLOCK_VOLUME",
        /// Flexible files.
        FlexFiles = 4 "LAYOUT4_FLEX_FILES",
        /// SCSI.
        Scsi = 5 "LAYOUT4_SCSI",
    }
}

xdr_enum! {
    /// How the data of a file system came to be. RFC 8881 §11.18.
    pub enum fs4_status_type as FsStatusType {
        /// A copy that does not change.
        Fixed = 1 "STATUS4_FIXED",
        /// A copy that is updated.
        Updated = 2 "STATUS4_UPDATED",
        /// A copy of one version.
        Versioned = 3 "STATUS4_VERSIONED",
        /// It may be written.
        Writable = 4 "STATUS4_WRITABLE",
        /// It is elsewhere.
        Referral = 5 "STATUS4_REFERRAL",
    }
}

xdr_flags! {
    /// `fli_flags`. RFC 8881 §11.17.3.
    pub struct FsLocationsFlags: u32 {
        /// Variables in paths are to be replaced.
        const VAR_SUB = 0x1;
    }
}

xdr_struct! {
    /// `change_policy4`. RFC 8881 §5.8.2.6.
    #[derive(Copy, Default)]
    pub struct change_policy4 as ChangePolicy {
        /// Major.
        pub major: u64,
        /// Minor.
        pub minor: u64,
    }

    /// One place of a file system. RFC 8881 §11.16.
    #[derive(Default)]
    pub struct fs_location4 as FsLocation {
        /// Names or addresses of servers.
        pub server: List<Utf8Str, 1024>,
        /// Where the file system is there.
        pub rootpath: Pathname,
    }

    /// All places of a file system. RFC 8881 §11.16.
    #[derive(Default)]
    pub struct fs_locations4 as FsLocations {
        /// Where the file system is here.
        pub fs_root: Pathname,
        /// Elsewhere.
        pub locations: List<FsLocation, 1024>,
    }

    /// One replica. RFC 8881 §11.17.1.
    #[derive(Default)]
    pub struct fs_locations_server4 as FsLocationsServer {
        /// How far behind, in seconds; negative: unknown.
        pub currency: i32,
        /// Flags, classes, ranks, by byte index.
        pub info: Opaque<1024>,
        /// Name or address.
        pub server: Utf8Str,
    }

    /// Replicas with one path. RFC 8881 §11.17.2.
    #[derive(Default)]
    pub struct fs_locations_item4 as FsLocationsItem {
        /// The replicas.
        pub entries: List<FsLocationsServer, 1024>,
        /// Their path.
        pub rootpath: Pathname,
    }

    /// All replicas. RFC 8881 §11.17.3.
    #[derive(Default)]
    pub struct fs_locations_info4 as FsLocationsInfo {
        /// About the whole.
        pub flags: FsLocationsFlags,
        /// Seconds until it should be asked for again.
        pub valid_for: i32,
        /// Where the file system is here.
        pub fs_root: Pathname,
        /// The replicas.
        pub items: List<FsLocationsItem, 1024>,
    }

    /// What state a file system is in. RFC 8881 §11.18.
    pub struct fs4_status as FsStatus {
        /// It is not here.
        pub absent: bool,
        /// How its data came to be.
        pub status_type: FsStatusType,
        /// Where from.
        pub source: Utf8Str,
        /// Which version of the source.
        pub current: Utf8Str,
        /// Seconds behind the source; negative: unknown.
        pub age: i32,
        /// Version.
        pub version: NfsTime,
    }

    /// What layout a file should get. RFC 8881 §5.12.4.
    pub struct layouthint4 as LayoutHint {
        /// Kind.
        pub layout_type: LayoutType,
        /// In that kind's own form.
        pub body: Opaque<65_536>,
    }

    /// From which sizes on one layout type pays. RFC 8881 §5.12.4.
    pub struct threshold_item4 as ThresholdItem {
        /// Kind.
        pub layout_type: LayoutType,
        /// Which hints `hintlist` has: [`TH4_READ_SIZE`] and the others.
        pub hintset: Bitmap,
        /// A `u64` for each, ascending.
        pub hintlist: Opaque<1024>,
    }

    /// From which sizes on pNFS pays. RFC 8881 §5.12.4.
    #[derive(Default)]
    pub struct mdsthreshold4 as MdsThreshold {
        /// One for each layout type.
        pub hints: List<ThresholdItem, 64>,
    }
}

/// Hint: smallest file to be read through a layout.
pub const TH4_READ_SIZE: u32 = 0;
/// Hint: smallest file to be written through a layout.
pub const TH4_WRITE_SIZE: u32 = 1;
/// Hint: smallest READ through a layout.
pub const TH4_READ_IOSIZE: u32 = 2;
/// Hint: smallest WRITE through a layout.
pub const TH4_WRITE_IOSIZE: u32 = 3;
