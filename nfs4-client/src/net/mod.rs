//! Connections: bytes and transaction IDs.

mod callbacks;
mod conn;

pub(crate) use callbacks::SLOTS as CALLBACK_SLOTS;
pub use callbacks::{Callbacks, NoDelegations};
pub use conn::{Connection, dial};
pub(crate) use conn::{decode_reply, outcome};
