//! What is listed, for people and for programs.

use serde::{Deserialize, Serialize};

/// Some rows, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// There may be more: what the next question's `after` is.
    pub next: Option<String>,
}

/// A row of a table.
pub trait Row {
    /// Names of the columns.
    const HEAD: &'static [&'static str];

    /// One cell for each.
    fn cells(&self) -> Vec<String>;
}

/// A client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRow {
    /// Client ID.
    pub client: String,
    /// Where it came from first.
    pub address: Option<String>,
    /// Flavor and user.
    pub principal: String,
    /// Whether it was confirmed by CREATE_SESSION.
    pub confirmed: bool,
    /// Seconds that its lease lasts; 0: it is over.
    pub lease_left: u64,
    /// Sessions.
    pub sessions: usize,
    /// Opens.
    pub opens: usize,
    /// Locked ranges.
    pub ranges: usize,
    /// `co_ownerid`, printable.
    pub owner: String,
}

impl Row for ClientRow {
    const HEAD: &'static [&'static str] =
        &["CLIENT", "ADDRESS", "PRINCIPAL", "CONFIRMED", "LEASE", "SESSIONS", "OPENS", "RANGES", "OWNER"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.client.clone(),
            self.address.clone().unwrap_or_else(|| "-".into()),
            self.principal.clone(),
            if self.confirmed { "yes" } else { "no" }.into(),
            if self.lease_left == 0 { "over".into() } else { format!("{} s", self.lease_left) },
            self.sessions.to_string(),
            self.opens.to_string(),
            self.ranges.to_string(),
            self.owner.clone(),
        ]
    }
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Session ID.
    pub session: String,
    /// Client ID.
    pub client: String,
    /// Minor version.
    pub minor: u32,
    /// Slots that the client may use.
    pub slots: u32,
    /// Connections bound to it.
    pub connections: usize,
    /// Its back channel works.
    pub back_channel: bool,
    /// A request is in progress.
    pub busy: bool,
}

impl Row for SessionRow {
    const HEAD: &'static [&'static str] =
        &["SESSION", "CLIENT", "MINOR", "SLOTS", "CONNECTIONS", "CALLBACKS", "BUSY"];

    fn cells(&self) -> Vec<String> {
        let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        vec![
            self.session.clone(),
            self.client.clone(),
            self.minor.to_string(),
            self.slots.to_string(),
            self.connections.to_string(),
            word(self.back_channel),
            word(self.busy),
        ]
    }
}

/// An open: all that one owner has open on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRow {
    /// `other` of its stateid.
    pub stateid: String,
    /// Client ID.
    pub client: String,
    /// The export's number, as in `fsid`.
    pub export: u32,
    /// The object, as the server knows it.
    pub object: String,
    /// `r`, `w`, `rw`.
    pub access: String,
    /// What others may not do.
    pub deny: String,
    /// The open owner, printable.
    pub owner: String,
}

impl Row for OpenRow {
    const HEAD: &'static [&'static str] =
        &["STATEID", "CLIENT", "EXPORT", "OBJECT", "ACCESS", "DENY", "OWNER"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.stateid.clone(),
            self.client.clone(),
            self.export.to_string(),
            self.object.clone(),
            self.access.clone(),
            self.deny.clone(),
            self.owner.clone(),
        ]
    }
}

/// The locks of one owner on one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRow {
    /// `other` of their stateid.
    pub stateid: String,
    /// Client ID.
    pub client: String,
    /// The export's number, as in `fsid`.
    pub export: u32,
    /// The object, as the server knows it.
    pub object: String,
    /// Locked ranges.
    pub ranges: usize,
    /// The first few: kind, first byte, length (`end`: all that follows).
    pub first: Vec<String>,
    /// The lock owner, printable.
    pub owner: String,
}

impl Row for LockRow {
    const HEAD: &'static [&'static str] =
        &["STATEID", "CLIENT", "EXPORT", "OBJECT", "RANGES", "FIRST", "OWNER"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.stateid.clone(),
            self.client.clone(),
            self.export.to_string(),
            self.object.clone(),
            self.ranges.to_string(),
            self.first.join(", "),
            self.owner.clone(),
        ]
    }
}

/// A delegation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelegationRow {
    /// `other` of its stateid.
    pub stateid: String,
    /// Client ID.
    pub client: String,
    /// The export's number, as in `fsid`.
    pub export: u32,
    /// The object, as the server knows it.
    pub object: String,
    /// `read`, `write`.
    pub kind: String,
    /// `held`, `recalled`, `revoked`.
    pub state: String,
}

impl Row for DelegationRow {
    const HEAD: &'static [&'static str] = &["STATEID", "CLIENT", "EXPORT", "OBJECT", "KIND", "STATE"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.stateid.clone(),
            self.client.clone(),
            self.export.to_string(),
            self.object.clone(),
            self.kind.clone(),
            self.state.clone(),
        ]
    }
}
