//! Extended attributes: GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR (RFC 8276).

use nfs4_xdr::{List, Opaque, xdr_enum, xdr_struct};

use crate::{ChangeInfo, Component};

/// `xattrvalue4`. The record's size bounds it; the executor's limit answers NFS4ERR_XATTR2BIG.
pub type XattrValue = Opaque<0x7fff_ffff>;

xdr_enum! {
    /// RFC 8276 §8.4.2.1.
    pub enum setxattr_option4 as SetxattrOption {
        /// New or replaced.
        Either = 0 "SETXATTR4_EITHER",
        /// New.
        Create = 1 "SETXATTR4_CREATE",
        /// Replaced.
        Replace = 2 "SETXATTR4_REPLACE",
    }
}

xdr_struct! {
    /// RFC 8276 §8.4.1.1.
    pub struct GETXATTR4args as GetxattrArgs {
        /// The attribute.
        pub name: Component,
    }

    /// RFC 8276 §8.4.1.2.
    pub struct GETXATTR4resok as GetxattrOk {
        /// Its value.
        pub value: XattrValue,
    }

    /// RFC 8276 §8.4.2.1.
    pub struct SETXATTR4args as SetxattrArgs {
        /// New or replaced.
        pub option: SetxattrOption,
        /// The attribute.
        pub key: Component,
        /// Its value.
        pub value: XattrValue,
    }

    /// RFC 8276 §8.4.2.2.
    #[derive(Copy)]
    pub struct SETXATTR4resok as SetxattrOk {
        /// The object's change.
        pub info: ChangeInfo,
    }

    /// RFC 8276 §8.4.3.1.
    #[derive(Copy)]
    pub struct LISTXATTRS4args as ListxattrsArgs {
        /// 0, or where the last list ended.
        pub cookie: u64,
        /// Most bytes of names.
        pub maxcount: u32,
    }

    /// RFC 8276 §8.4.3.2.
    pub struct LISTXATTRS4resok as ListxattrsOk {
        /// Where the next list goes on.
        pub cookie: u64,
        /// The attributes.
        pub names: List<Component, 65_536>,
        /// There are no more.
        pub eof: bool,
    }

    /// RFC 8276 §8.4.4.1.
    pub struct REMOVEXATTR4args as RemovexattrArgs {
        /// The attribute.
        pub name: Component,
    }

    /// RFC 8276 §8.4.4.2.
    #[derive(Copy)]
    pub struct REMOVEXATTR4resok as RemovexattrOk {
        /// The object's change.
        pub info: ChangeInfo,
    }
}
