//! The bodies of all fuzz targets: any bytes, and what must hold. The kept corpus (`tests/corpus`) runs through them as
//! plain tests too.

#[allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a panic is the finding"
)]
mod live;
#[allow(clippy::missing_panics_doc, reason = "a panic is the finding")]
mod rpc;
#[allow(clippy::missing_panics_doc, reason = "a panic is the finding")]
mod wire;

pub use live::{compound_bytes, compound_sequence, furnish};
pub use rpc::{record_marking, rpc_header};
pub use wire::{callback_args, callback_results, operation_args, operation_results};

/// A target by its name, which is that of its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 8] = [
    ("record_marking", record_marking),
    ("rpc_header", rpc_header),
    ("operation_args", operation_args),
    ("operation_results", operation_results),
    ("callback_args", callback_args),
    ("callback_results", callback_results),
    ("compound_bytes", compound_bytes),
    ("compound_sequence", compound_sequence),
];
