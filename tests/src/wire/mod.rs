//! A client for tests: every byte can be chosen, and what a rule is about can be said in one line. It speaks to a real
//! server over loopback. Whatever the server answers is checked on the way: the statuses against the RFCs' tables, the
//! shape of the reply against the request. A failed expectation panics and prints request and reply.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod expect;
mod file;
mod holder;
pub mod ops;
mod peer;
mod raw;
mod server;

pub use expect::{Done, Results};
pub use file::Opened;
pub use holder::{Begun, Delegation, delegation_of, give_back, want, wanting};
pub use peer::{Peer, Spec, create_session, exchange_id};
pub use raw::{Answer, Callback, Raw, bytes_of, cred};
pub use server::TestServer;

/// How long a test waits for an answer that must come.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);
