//! Record marking on streams (RFC 5531 §11).

#[cfg(feature = "codec")]
mod codec;
mod deframer;

pub use deframer::{Deframer, RecordError, RecordLimits};

#[cfg(feature = "codec")]
pub use codec::RecordCodec;

/// The bit of a fragment header that ends a record.
pub const LAST_FRAGMENT: u32 = 0x8000_0000;
