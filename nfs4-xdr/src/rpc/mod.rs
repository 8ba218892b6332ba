//! ONC RPC version 2 (RFC 5531): calls, replies, credentials.

mod auth;
mod auth_sys;
mod call;
mod reply;

pub use auth::{AuthStat, Credentials, Flavor, OpaqueAuth, authenticate};
pub use auth_sys::AuthSys;
pub use call::{Call, MsgType, message_type};
pub use reply::{AcceptStat, Accepted, Rejected, Reply, put_accepted, put_rejected};

/// The version of RPC.
pub const RPC_VERSION: u32 = 2;
/// The program number of NFS.
pub const NFS_PROGRAM: u32 = 100_003;
/// NFSv4, all minor versions.
pub const NFS_V4: u32 = 4;
