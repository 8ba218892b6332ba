#![no_std]
#![forbid(unsafe_code)]
//! The NFSv4.1 and 4.2 protocol as types: RFC 8881, 7862, 7863, 8276, 8275, 9754.

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod attr;
mod basic;
mod notify;
mod status;

pub use attr::*;
pub use basic::*;
pub use notify::*;
pub use status::{Status, StatusClass};
