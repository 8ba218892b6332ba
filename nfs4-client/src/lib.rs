#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

pub mod bench;
pub mod cli;
pub mod compound;
mod error;
pub mod net;
pub mod session;

pub use compound::{At, Compound, Results};
pub use error::{CallError, ConnectError};
pub use net::{Callbacks, Connection};
pub use session::{Options, Session};
