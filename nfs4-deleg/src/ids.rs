//! What the machine calls things.

use core::fmt;

/// A confirmed client ID (`clientid4`, RFC 8881 §2.4). The holder of a delegation is a client, not a session, an
/// owner or a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientKey(pub u64);

/// An object's identity within its export, chosen by the server: the same for all its names and handles, not used
/// again within a boot. Two hard links are thus one object by construction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub u128);

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oid:{:x}", self.0)
    }
}
