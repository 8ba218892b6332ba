//! Sockets: listeners, connections, calls and replies as bytes.

mod call;
mod connection;
mod limits;
mod listener;
mod out;
mod pending;

#[cfg(test)]
mod tests;

pub use call::{Call, begin_reply, end_reply};
pub use connection::{Conn, Service};
pub use limits::NetLimits;
pub use listener::{ListenError, Net};

pub use crate::state::ConnId;
