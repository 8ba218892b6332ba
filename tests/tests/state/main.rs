//! Opens, share reservations, byte-range locks, and stateids. RFC 8881 §8, §9, §18.2, §18.10–§18.12, §18.16, §18.18,
//! §18.38, §18.48.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

mod admin;
mod back_channel;
mod create;
mod limits;
mod limits_of_sizes;
mod limits_of_waiting;
mod lock_waits;
mod locks;
mod opens;
mod stateids;
