//! Names, attributes, directories, exports. RFC 8881 §4, §5, §7, §18.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod acls;
mod attributes;
mod exports;
mod listing;
mod names;
mod reload;
mod verify;
