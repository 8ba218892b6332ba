//! What can go wrong with a call.

use nfs4_proto::{OpNum, Status};
use nfs4_xdr::DecodeError;
use nfs4_xdr::rpc::{Accepted, Rejected};

/// Why a call brought no results.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The connection ended before the reply came.
    #[error("the connection was lost")]
    Lost,
    /// No reply within the time given.
    #[error("no answer within {0:?}")]
    TimedOut(std::time::Duration),
    /// The server refused the call at the level of RPC.
    #[error("the server refused the call: {0:?}")]
    Rejected(Rejected),
    /// The server does not carry out such calls.
    #[error("the server does not carry out the call: {0:?}")]
    NotAccepted(Accepted),
    /// The reply cannot be decoded.
    #[error("the reply cannot be decoded: {0}")]
    Nonsense(#[from] DecodeError),
    /// The request cannot be encoded.
    #[error("the request cannot be encoded: {0}")]
    Encode(#[from] nfs4_xdr::EncodeError),
    /// An operation failed that the call cannot do without.
    #[error("{op} failed: {status}{hint}", op = op.name(), hint = hint(*status))]
    Status {
        /// Which.
        op: OpNum,
        /// How.
        status: Status,
    },
    /// The reply lacks a result that it should have.
    #[error("the reply has no result of {}", .0.name())]
    Missing(OpNum),
    /// More operations or bytes than a compound may have.
    #[error("the compound has too many operations")]
    TooLong,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No connection.
    #[error("cannot connect to {address}: {error}")]
    Dial {
        /// Where to.
        address: String,
        /// Why.
        error: std::io::Error,
    },
    /// Not within the time given.
    #[error("{address} did not answer within {after:?}")]
    TimedOut {
        /// Where to.
        address: String,
        /// How long was waited.
        after: std::time::Duration,
    },
    /// The address is none.
    #[error("{0:?} is no HOST:PORT")]
    Address(String),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    Random(getrandom::Error),
}

/// What to try, for some statuses.
#[expect(clippy::wildcard_enum_match_arm, reason = "hints for some only")]
fn hint(status: Status) -> &'static str {
    match status {
        Status::Access | Status::Perm => " (try another user; root may be squashed)",
        Status::RoFs => " (the export is read-only)",
        Status::Grace => " (the server was restarted; it goes on when clients have reclaimed)",
        Status::NoSpc => " (the file system is full)",
        Status::WrongSec => " (the server wants another security flavor)",
        _ => "",
    }
}
