//! READDIR.

use nfs4_xdr::{Chain, xdr_struct};

use crate::{AttrSet, Attrs, Component, Verifier};

xdr_struct! {
    /// RFC 8881 §18.23.1.
    pub struct READDIR4args as ReaddirArgs {
        /// 0, or the cookie of the last entry had.
        pub cookie: u64,
        /// 0, or what came with that cookie.
        pub cookieverf: Verifier,
        /// A hint: most bytes of names and cookies; 0: none.
        pub dircount: u32,
        /// Most bytes of the whole result.
        pub maxcount: u32,
        /// Attributes of each entry.
        pub attr_request: AttrSet,
    }

    /// One name. RFC 8881 §18.23.2. On the wire it is a link of a chain.
    pub struct entry4 as Entry {
        /// Where the next READDIR goes on.
        pub cookie: u64,
        /// The name.
        pub name: Component,
        /// Its attributes.
        pub attrs: Attrs,
    }

    /// RFC 8881 §18.23.2 (`dirlist4`).
    pub struct dirlist4 as DirList {
        /// The names.
        pub entries: Chain<Entry>,
        /// There are no more.
        pub eof: bool,
    }

    /// RFC 8881 §18.23.2.
    pub struct READDIR4resok as ReaddirOk {
        /// To be sent with the cookies.
        pub cookieverf: Verifier,
        /// The names.
        pub reply: DirList,
    }
}
