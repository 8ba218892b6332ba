//! The basic data types of RFC 8881 §3.2 and §3.3.

use core::fmt;

use nfs4_xdr::{Bitmap, Opaque, Text, xdr_enum, xdr_newtype, xdr_struct};

/// NFS4_FHSIZE: most bytes of a filehandle.
pub const NFS4_FHSIZE: usize = 128;
/// NFS4_OPAQUE_LIMIT: most bytes of an owner.
pub const NFS4_OPAQUE_LIMIT: usize = 1024;
/// Most bytes of a name or link target that the codec takes; the executor's own limits are tighter and answer
/// NFS4ERR_NAMETOOLONG.
pub const NAME_LIMIT: usize = 65_536;

/// `nfs_fh4`: a filehandle, opaque to the client. RFC 8881 §3.2.
pub type Fh = Opaque<NFS4_FHSIZE>;
/// `component4`: one name. RFC 8881 §3.2.
pub type Component = Text<NAME_LIMIT>;
/// `linktext4`: the target of a symbolic link.
pub type LinkText = Text<NAME_LIMIT>;
/// `utf8str_cs` and `utf8str_cis` in attributes (owners, tags).
pub type Utf8Str = Text<4096>;
/// `verifier4`.
pub type Verifier = [u8; 8];
/// `sessionid4`.
pub type SessionId = [u8; 16];
/// `bitmap4` of attributes and other small numbers.
pub type Bitmap4 = Bitmap;

xdr_newtype! {
    /// `clientid4`: the server's name for a client. RFC 8881 §3.2.
    #[derive(Copy, Hash, PartialOrd, Ord)]
    pub struct clientid4 as ClientId(pub u64);
}

xdr_struct! {
    /// A time: seconds (may be negative) and nanoseconds since 1970. RFC 8881 §3.3.1. `nseconds` of 10⁹ and more are
    /// NFS4ERR_INVAL, not a decode error.
    #[derive(Copy, Default, PartialOrd, Ord, Hash)]
    pub struct nfstime4 as NfsTime {
        /// Seconds.
        pub seconds: i64,
        /// Nanoseconds.
        pub nseconds: u32,
    }

    /// Device numbers. RFC 8881 §3.3.2.
    #[derive(Copy, Default)]
    pub struct specdata4 as SpecData {
        /// Major.
        pub specdata1: u32,
        /// Minor.
        pub specdata2: u32,
    }

    /// `fsid`. RFC 8881 §3.3.3.
    #[derive(Copy, Default, Hash)]
    pub struct fsid4 as Fsid {
        /// Major.
        pub major: u64,
        /// Minor.
        pub minor: u64,
    }

    /// What changed in a directory. RFC 8881 §3.3.8.
    #[derive(Copy)]
    pub struct change_info4 as ChangeInfo {
        /// Nobody came between `before` and `after`.
        pub atomic: bool,
        /// `change` before the operation.
        pub before: u64,
        /// `change` after it.
        pub after: u64,
    }

    /// A state: its age and its name. RFC 8881 §3.3.12, §8.2.
    #[derive(Copy, Hash)]
    pub struct stateid4 as StateId {
        /// Moves by one with each change; 0 means "the current one". Wraps to 1.
        pub seqid: u32,
        /// Which state.
        pub other: [u8; 12],
    }

    /// Who opens or locks: a client and its own word. RFC 8881 §3.3.10.
    pub struct state_owner4 as StateOwner {
        /// Ignored in 4.1: the session says it.
        pub clientid: ClientId,
        /// The client's word for the owner.
        pub owner: Opaque<NFS4_OPAQUE_LIMIT>,
    }

    /// Who a client says it is. RFC 8881 §3.3.10.1 (`client_owner4`).
    pub struct client_owner4 as ClientOwner {
        /// Changes when the client restarts.
        pub verifier: Verifier,
        /// Stays the same.
        pub ownerid: Opaque<NFS4_OPAQUE_LIMIT>,
    }

    /// Who a server says it is. RFC 8881 §3.3.10.2 (`server_owner4`).
    pub struct server_owner4 as ServerOwner {
        /// Equal in two servers only where they may share a session's connections.
        pub minor_id: u64,
        /// Equal in two servers only where they share clients.
        pub major_id: Opaque<NFS4_OPAQUE_LIMIT>,
    }

    /// `nfs_impl_id4`. RFC 8881 §3.3.9.
    pub struct nfs_impl_id4 as ImplId {
        /// DNS domain of the implementor.
        pub domain: Text<NFS4_OPAQUE_LIMIT>,
        /// Product.
        pub name: Text<NFS4_OPAQUE_LIMIT>,
        /// Build date.
        pub date: NfsTime,
    }
}

impl NfsTime {
    /// Whether the nanoseconds are fewer than a second's. Operations answer NFS4ERR_INVAL to one that is not.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.nseconds < 1_000_000_000
    }
}

impl StateId {
    /// All zeros: the anonymous stateid. RFC 8881 §8.2.3.
    pub const ANONYMOUS: Self = Self { seqid: 0, other: [0; 12] };
    /// All ones: READ bypass. RFC 8881 §8.2.3.
    pub const READ_BYPASS: Self = Self { seqid: u32::MAX, other: [0xff; 12] };
    /// (1, zeros): the current stateid. RFC 8881 §8.2.3.
    pub const CURRENT: Self = Self { seqid: 1, other: [0; 12] };
    /// (ones, zeros): the invalid stateid. RFC 8881 §8.2.3.
    pub const INVALID: Self = Self { seqid: u32::MAX, other: [0; 12] };

    /// Whether `other` is all zeros or all ones: reserved for special meanings.
    #[must_use]
    pub fn is_special(&self) -> bool {
        self.other == [0; 12] || self.other == [0xff; 12]
    }
}

impl fmt::Display for StateId {
    /// Four hex digits of the end of `other`, and the seqid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ANONYMOUS => f.write_str("anon"),
            Self::READ_BYPASS => f.write_str("bypass"),
            Self::CURRENT => f.write_str("current"),
            Self { seqid, other: [.., a, b] } => write!(f, "{a:02x}{b:02x}:{seqid}"),
        }
    }
}

xdr_enum! {
    /// Kinds of objects. RFC 8881 §3.2 (`nfs_ftype4`).
    pub enum nfs_ftype4 as FileType {
        /// Regular file.
        Reg = 1 "NF4REG",
        /// Directory.
        Dir = 2 "NF4DIR",
        /// Block device.
        Blk = 3 "NF4BLK",
        /// Character device.
        Chr = 4 "NF4CHR",
        /// Symbolic link.
        Lnk = 5 "NF4LNK",
        /// Socket.
        Sock = 6 "NF4SOCK",
        /// FIFO.
        Fifo = 7 "NF4FIFO",
        /// Directory of named attributes.
        AttrDir = 8 "NF4ATTRDIR",
        /// Named attribute.
        NamedAttr = 9 "NF4NAMEDATTR",
    }
}
