//! Values of attributes that belong to objects. RFC 8881 §5.8, §5.13, §6.2.

use nfs4_xdr::{Opaque, xdr_enum, xdr_flags, xdr_struct, xdr_union};

use crate::NfsTime;

/// `mode4`: set user ID on execution. RFC 8881 §6.2.4.
pub const MODE4_SUID: u32 = 0o4000;
/// `mode4`: set group ID on execution.
pub const MODE4_SGID: u32 = 0o2000;
/// `mode4`: the sticky bit.
pub const MODE4_SVTX: u32 = 0o1000;
/// All bits that a mode may have. Others are `NFS4ERR_INVAL`.
pub const MODE4_ALL: u32 = 0o7777;
/// `retention_set4` and `retention_get4`: for ever. RFC 8881 §5.13.
pub const RET4_DURATION_INFINITE: u64 = u64::MAX;

xdr_enum! {
    /// Whose clock gives a time. RFC 8881 §5.8.2.38 (`time_how4`).
    pub enum time_how4 as TimeHow {
        /// The server's: write permission is enough.
        SetToServerTime = 0 "SET_TO_SERVER_TIME4",
        /// The client's: needs ownership.
        SetToClientTime = 1 "SET_TO_CLIENT_TIME4",
    }
}

xdr_union! {
    /// A time to set. RFC 8881 §5.8.2.38.
    #[derive(Copy)]
    pub union settime4 as SetTime switch (TimeHow) {
        /// Now, by the server's clock.
        SetToServerTime => Server,
        /// This time.
        SetToClientTime => Client(NfsTime),
    }
}

xdr_flags! {
    /// `fh_expire_type`: when filehandles expire; none of the bits means never. RFC 8881 §4.2.3.
    pub struct FhExpire: u32 {
        /// Not while the file is open.
        const NOEXPIRE_WITH_OPEN = 0x1;
        /// At any time.
        const VOLATILE_ANY = 0x2;
        /// When the file system migrates.
        const VOL_MIGRATION = 0x4;
        /// When the object is renamed.
        const VOL_RENAME = 0x8;
    }

    /// `fs_charset_cap4`: what names may hold. RFC 8881 §14.4.
    pub struct FsCharsetCap: u32 {
        /// Names that are not UTF-8 may exist.
        const CONTAINS_NON_UTF8 = 0x1;
        /// Names that are not UTF-8 are refused.
        const ALLOWS_ONLY_UTF8 = 0x2;
    }
}

xdr_enum! {
    /// What two values of `change` say about order. RFC 7862 §12.2.3.
    pub enum change_attr_type4 as ChangeAttrType {
        /// It only grows.
        MonotonicIncr = 0 "NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR",
        /// It counts changes.
        VersionCounter = 1 "NFS4_CHANGE_TYPE_IS_VERSION_COUNTER",
        /// It counts changes, but not those through pNFS.
        VersionCounterNoPnfs = 2 "NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS",
        /// It is `time_metadata`.
        TimeMetadata = 3 "NFS4_CHANGE_TYPE_IS_TIME_METADATA",
        /// Nothing.
        Undefined = 4 "NFS4_CHANGE_TYPE_IS_UNDEFINED",
    }
}

xdr_struct! {
    /// Some bits of a mode. RFC 8881 §6.2.5.
    #[derive(Copy, Default)]
    pub struct mode_masked4 as ModeMasked {
        /// Their new values. A bit outside `mask_bits` is `NFS4ERR_INVAL`.
        pub value_to_set: u32,
        /// Which bits. One outside 0o7777 is `NFS4ERR_INVAL`.
        pub mask_bits: u32,
    }

    /// The mode of a new object and the creator's umask. RFC 8275 §5.
    #[derive(Copy, Default)]
    pub struct mode_umask4 as ModeUmask {
        /// Mode before the umask.
        pub mode: u32,
        /// Bits that are taken away, unless the directory has an inheritable ACL.
        pub umask: u32,
    }

    /// How long a file is kept. RFC 8881 §5.13.1.
    #[derive(Copy, Default)]
    pub struct retention_get4 as RetentionGet {
        /// Seconds; [`RET4_DURATION_INFINITE`] is for ever.
        pub duration: u64,
        /// When retention began; `None` before.
        pub begin_time: Option<NfsTime>,
    }

    /// How long a file shall be kept. RFC 8881 §5.13.2.
    #[derive(Copy, Default)]
    pub struct retention_set4 as RetentionSet {
        /// Whether retention begins now.
        pub enable: bool,
        /// Seconds.
        pub duration: Option<u64>,
    }

    /// Which policy a label is of. RFC 7862 §12.2.4.
    #[derive(Copy, Default)]
    pub struct labelformat_spec4 as LabelFormat {
        /// Label format specifier, of the IANA registry of RFC 7569.
        pub lfs: u32,
        /// Policy identifier.
        pub pi: u32,
    }

    /// A security label. RFC 7862 §12.2.4.
    #[derive(Default)]
    pub struct sec_label4 as SecLabel {
        /// Format.
        pub lfs: LabelFormat,
        /// The label, opaque to the protocol.
        pub data: Opaque<65_536>,
    }
}
