//! Filehandles, names, access: PUTFH, LOOKUP, ACCESS, READLINK.

use nfs4_xdr::xdr_struct;

use crate::{AccessFlags, Component, Fh, LinkText};

xdr_struct! {
    /// RFC 8881 §18.1.1.
    #[derive(Copy)]
    pub struct ACCESS4args as AccessArgs {
        /// What is asked.
        pub access: AccessFlags,
    }

    /// RFC 8881 §18.1.2.
    #[derive(Copy)]
    pub struct ACCESS4resok as AccessOk {
        /// What of it can be checked.
        pub supported: AccessFlags,
        /// What of that is allowed.
        pub access: AccessFlags,
    }

    /// RFC 8881 §18.8.2.
    pub struct GETFH4resok as GetfhOk {
        /// The current filehandle.
        pub object: Fh,
    }

    /// RFC 8881 §18.13.1.
    pub struct LOOKUP4args as LookupArgs {
        /// The name in the current directory.
        pub objname: Component,
    }

    /// RFC 8881 §18.19.1.
    pub struct PUTFH4args as PutfhArgs {
        /// The new current filehandle.
        pub object: Fh,
    }

    /// RFC 8881 §18.24.2.
    pub struct READLINK4resok as ReadlinkOk {
        /// The target of the symbolic link.
        pub link: LinkText,
    }

    /// RFC 8881 §18.17.1.
    #[derive(Copy)]
    pub struct OPENATTR4args as OpenattrArgs {
        /// Make the directory of named attributes if it is not there.
        pub createdir: bool,
    }
}
