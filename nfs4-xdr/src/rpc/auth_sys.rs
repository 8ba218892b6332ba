//! AUTH_SYS. RFC 5531 appendix A.

use crate::{List, Text, xdr_struct};

xdr_struct! {
    /// A user on the client's word.
    pub struct authsys_parms as AuthSys {
        /// An arbitrary number of the client.
        pub stamp: u32,
        /// The client's name for itself.
        pub machinename: Text<255>,
        /// User.
        pub uid: u32,
        /// Group.
        pub gid: u32,
        /// Further groups.
        pub gids: List<u32, 16>,
    }
}
