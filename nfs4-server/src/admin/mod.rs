//! What an administrator may see and do, over a Unix socket: one JSON object a line, question and answer.

mod ask;
mod rows;
mod socket;

pub use ask::{AskError, ask, show};
pub use rows::{ClientRow, DelegationRow, LockRow, OpenRow, Page, Row, SessionRow};
pub use socket::AdminError;

pub(crate) use socket::{Socket, number};

use serde::{Deserialize, Serialize};

/// What is asked. `after` is the `next` of the page before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Clients.
    Clients {
        /// Where to go on.
        after: Option<String>,
    },
    /// Sessions.
    Sessions {
        /// Where to go on.
        after: Option<String>,
    },
    /// Opens.
    Opens {
        /// Where to go on.
        after: Option<String>,
    },
    /// Lock owners' locks, by file.
    Locks {
        /// Where to go on.
        after: Option<String>,
    },
    /// Delegations.
    Delegations {
        /// Where to go on.
        after: Option<String>,
    },
    /// Frees all that a client has, as the end of its lease does.
    Evict {
        /// The client ID, as it is listed.
        client: String,
    },
    /// Takes an open, or the locks of one owner on one file, away from its client.
    Revoke {
        /// The stateid, as it is listed.
        stateid: String,
    },
}

/// Most rows of one page.
pub const PAGE: usize = 256;
