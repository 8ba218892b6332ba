//! READ, WRITE, COMMIT, sparse files, extended attributes. RFC 8881 §18.3, §18.22, §18.32; RFC 7862 §15; RFC 8276.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod io;
mod read_plus;
mod sparse;
mod xattrs;
