//! The cases that failed elsewhere, series S, as tests: `s13_…` is case S-13. Those of one operation's arguments on the
//! wire (S-24, S-25) are with RPC's.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::many_single_char_names,
    reason = "tests fail by panicking"
)]

mod copies;
mod data;
mod leases;
mod names;
mod offload;
mod opens;
mod restart;
mod retries;
mod sizes;
mod stateids;
