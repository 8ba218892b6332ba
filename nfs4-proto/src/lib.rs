#![no_std]
#![forbid(unsafe_code)]
#![allow(clippy::doc_markdown, reason = "the RFCs' names are words here")]
#![doc = include_str!("../README.md")]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod attr;
mod basic;
mod cb;
mod compound;
mod count;
mod flags;
mod notify;
mod ops;
mod outcome;
mod show;
mod status;
mod table;

pub use attr::*;
pub use basic::*;
pub use cb::*;
pub use compound::{
    Call, CbCall, CbCompound, CbCompoundRes, Compound, CompoundRes, Fault, OPS_LIMIT, ReplyHead, knows_minor,
};
pub use count::{MainOp, main_op};
pub use flags::*;
pub use notify::*;
pub use ops::*;
pub use outcome::OpError;
pub use status::{Status, StatusClass};
