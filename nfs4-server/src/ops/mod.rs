//! The operations, by family: the same names as in `nfs4_proto`.

mod access;
mod acl;
mod attrs;
mod collect;
mod convert;
mod copy;
mod deleg;
mod dispatch;
mod faults;
mod file_io;
mod filehandle;
mod grants;
mod io;
mod lock;
mod lookup;
mod names;
mod namespace;
mod offload;
mod open;
mod readdir;
mod security;
mod session;
mod sparse;
mod told;
mod xattr;

pub(crate) use dispatch::dispatch;
pub(crate) use told::Told;
