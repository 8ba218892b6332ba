//! What comes before and around a COMPOUND: RPC, record marking, connections, and everything that is malformed.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod arbitrary_operations;
mod calls;
mod compounds;
mod hostile;
mod net;
