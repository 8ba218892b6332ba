#![no_std]
#![forbid(unsafe_code)]
//! The NFSv4.1 and 4.2 protocol as types: RFC 8881, 7862, 7863, 8276, 8275, 9754.

#[cfg(feature = "std")]
extern crate std;

mod basic;
mod status;

pub use basic::*;
pub use status::Status;
