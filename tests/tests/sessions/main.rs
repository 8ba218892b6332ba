//! Client IDs, sessions, slots, and the reply cache. RFC 8881 §2.4, §2.10, §18.33–§18.37, §18.46, §18.50, §18.51.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod channels;
mod identity;
mod lifetime;
mod limits;
mod reclaims;
mod sizes;
mod slots;
