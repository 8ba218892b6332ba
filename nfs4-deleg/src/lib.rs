#![no_std]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

extern crate alloc;

mod ids;
pub mod server;
mod time;

pub use ids::{ClientKey, Oid};
pub use time::{Millis, Now};
