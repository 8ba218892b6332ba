#![no_std]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

extern crate alloc;

pub mod client;
mod ids;
#[cfg(any(test, feature = "model"))]
pub mod model;
pub mod server;
mod time;

pub use ids::{ClientKey, Oid};
pub use time::{Millis, Now};
