//! Names made, moved and removed: CREATE, LINK, REMOVE, RENAME.

use alloc::boxed::Box;

use nfs4_xdr::{xdr_struct, xdr_union};

use crate::{AttrSet, Attrs, ChangeInfo, Component, FileType, LinkText, SpecData};

xdr_union! {
    /// What CREATE makes. RFC 8881 §18.4.1.
    pub union createtype4 as CreateType switch (FileType) {
        /// A symbolic link with its target.
        Lnk => Lnk(LinkText),
        /// A block device.
        Blk => Blk(SpecData),
        /// A character device.
        Chr => Chr(SpecData),
        /// A socket.
        Sock => Sock,
        /// A FIFO.
        Fifo => Fifo,
        /// A directory.
        Dir => Dir,
        ;
        /// A kind that CREATE does not make: NFS4ERR_BADTYPE.
        else Other
    }
}

xdr_struct! {
    /// RFC 8881 §18.4.1.
    pub struct CREATE4args as CreateArgs {
        /// The kind of object.
        pub objtype: CreateType,
        /// Its name in the current directory.
        pub objname: Component,
        /// Its first attributes.
        pub createattrs: Box<Attrs>,
    }

    /// RFC 8881 §18.4.2.
    pub struct CREATE4resok as CreateOk {
        /// The directory's change.
        pub cinfo: ChangeInfo,
        /// The attributes that were set.
        pub attrset: AttrSet,
    }

    /// RFC 8881 §18.9.1. The source is the saved filehandle, the directory the current one.
    pub struct LINK4args as LinkArgs {
        /// The new name.
        pub newname: Component,
    }

    /// RFC 8881 §18.9.2.
    #[derive(Copy)]
    pub struct LINK4resok as LinkOk {
        /// The directory's change.
        pub cinfo: ChangeInfo,
    }

    /// RFC 8881 §18.25.1.
    pub struct REMOVE4args as RemoveArgs {
        /// The name in the current directory.
        pub target: Component,
    }

    /// RFC 8881 §18.25.2.
    #[derive(Copy)]
    pub struct REMOVE4resok as RemoveOk {
        /// The directory's change.
        pub cinfo: ChangeInfo,
    }

    /// RFC 8881 §18.26.1. From the saved directory to the current one.
    pub struct RENAME4args as RenameArgs {
        /// The name in the saved directory.
        pub oldname: Component,
        /// The name in the current directory.
        pub newname: Component,
    }

    /// RFC 8881 §18.26.2.
    #[derive(Copy)]
    pub struct RENAME4resok as RenameOk {
        /// The source directory's change.
        pub source_cinfo: ChangeInfo,
        /// The target directory's change.
        pub target_cinfo: ChangeInfo,
    }
}
