//! Every bound that a peer can reach, with its default.

use serde::{Deserialize, Serialize};

/// `[limits]`. What happens at each: `docs/limits.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limits {
    /// Connections in all; a further one is closed.
    pub connections: u32,
    /// Connections of one address; a further one is closed.
    pub connections_per_address: u32,
    /// Seconds without a request after which a connection that carries no back channel is closed.
    pub idle_connection: u32,
    /// Seconds to the first request.
    pub first_request: u32,
    /// Bytes of one RPC record; a larger one closes the connection.
    pub record_bytes: u32,
    /// Bytes of requests in progress for one connection; beyond it the connection is not read.
    pub inflight_bytes_per_connection: u32,
    /// Requests in progress for one connection; beyond it the connection is not read.
    pub inflight_per_connection: u32,
    /// Client records.
    pub clients: u32,
    /// Sessions of one client.
    pub sessions_per_client: u32,
    /// Slots of a session, at most.
    pub slots_per_session: u32,
    /// Operations of one compound.
    pub operations: u32,
    /// Bytes of a cached reply.
    pub reply_cached_bytes: u32,
    /// Opens of one client.
    pub opens_per_client: u32,
    /// Byte-range locks of one client.
    pub locks_per_client: u32,
    /// Lock owners of one client that wait for a lock and are told.
    pub lock_waiters_per_client: u32,
    /// Lock owners that wait for a lock of one file and are told.
    pub lock_waiters_per_file: u32,
    /// Seconds for which a lock that came free is held for who was told.
    pub lock_hold: u32,
    /// Callbacks that wait at one time for one client.
    pub callbacks_per_client: u32,
    /// Seconds that a client may take to answer a callback on one connection.
    pub callback_timeout: u32,
    /// Copies that go on after their COPY was answered; a quarter of them one client's.
    pub copies: u32,
    /// Delegations of one export.
    pub delegations: u32,
    /// Delegations of one client on one export.
    pub delegations_per_client: u32,
    /// Promises of delegations (CB_PUSH_DELEG, CB_RECALLABLE_OBJ_AVAIL) on one export.
    pub wants: u32,
    /// Those of one client.
    pub wants_per_client: u32,
    /// Requests on one export that wait for delegations to come back.
    pub parked: u32,
    /// Those that wait for one file.
    pub parked_per_file: u32,
    /// Seconds for which one waits; never more than a quarter of the lease.
    pub patience: u32,
    /// Most bytes of one name.
    pub name_bytes: u32,
    /// Most bytes of one entry of READDIR, its attributes included.
    pub readdir_entry_bytes: u32,
    /// Most bytes of an extended attribute's value that is set.
    pub xattr_bytes: u32,
    /// Most entries of one access control list.
    pub acl_entries: u32,
    /// Open descriptors kept for objects of directories; 0: half of what the process may have.
    pub descriptors: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: 512,
            idle_connection: 15 * 60,
            first_request: 10,
            record_bytes: (1 << 20) + (64 << 10),
            inflight_bytes_per_connection: 16 << 20,
            inflight_per_connection: 1024,
            clients: 16_384,
            sessions_per_client: 16,
            slots_per_session: 512,
            operations: 64,
            reply_cached_bytes: 8 << 10,
            opens_per_client: 200_000,
            locks_per_client: 200_000,
            lock_waiters_per_client: 1024,
            lock_waiters_per_file: 256,
            lock_hold: 5,
            callbacks_per_client: 1024,
            callback_timeout: 5,
            copies: 64,
            delegations: 1_000_000,
            delegations_per_client: 250_000,
            wants: 65_536,
            wants_per_client: 1024,
            parked: 10_000,
            parked_per_file: 1024,
            patience: 20,
            name_bytes: 255,
            readdir_entry_bytes: 32 << 10,
            xattr_bytes: 64 << 10,
            acl_entries: 256,
            descriptors: 0,
        }
    }
}
