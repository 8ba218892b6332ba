#![no_std]
#![forbid(unsafe_code)]
#![doc = include_str!("../README.md")]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod bitmap;
mod decode;
mod encode;
mod error;
mod input;
mod list;
mod macros;
mod opaque;
pub mod record;
pub mod rpc;
mod segments;
mod text;
mod writer;

pub use bitmap::Bitmap;
pub use decode::{Decode, ParseError, Parsed, from_record, into_error, take_bytes, take_opaque, take_slice};
pub use encode::{Encode, padded};
pub use error::{DecodeError, DecodeKind, EncodeError, Step};
pub use input::Input;
pub use list::{Chain, List};
pub use macros::XdrEnum;
pub use opaque::Opaque;
pub use segments::Segments;
pub use text::Text;
pub use writer::{Mark, Patch, SHARE_MIN, Writer};

/// What the macros of this crate refer to; not for direct use.
#[doc(hidden)]
pub mod private {
    pub use bitflags;
    pub use nom;
}
