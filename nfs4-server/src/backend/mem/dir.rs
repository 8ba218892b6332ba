//! A directory: by name, and by cookie in the order of making.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Weak};

use bytes::Bytes;

use super::super::Fault;
use super::inode::Inode;
use super::space::ENTRY_COST;

/// Cookies 0, 1 and 2 are reserved by the protocol (§18.23.3); some distance makes mistakes visible.
pub(super) const FIRST_COOKIE: u64 = 16;

/// Entries of one directory. A cookie is never used twice, so a listing under change is exact.
pub(super) struct Dir {
    names: HashMap<Bytes, (u64, Arc<Inode>)>,
    cookies: BTreeMap<u64, (Bytes, Arc<Inode>)>,
    next: u64,
    /// The directory above; dead for the root.
    pub(super) parent: Weak<Inode>,
    /// What [`Space`](super::space::Space) counts for the entries.
    pub(super) charged: u64,
}

/// What one entry costs.
pub(super) fn entry_cost(name: &[u8]) -> u64 {
    ENTRY_COST + name.len() as u64
}

impl Dir {
    pub(super) fn new(parent: Weak<Inode>) -> Self {
        Self { names: HashMap::new(), cookies: BTreeMap::new(), next: FIRST_COOKIE, parent, charged: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<&Arc<Inode>> {
        self.names.get(name).map(|(_, inode)| inode)
    }

    /// Adds a name that is not there; the caller has charged [`entry_cost`].
    pub(super) fn insert(&mut self, name: &[u8], inode: &Arc<Inode>) -> u64 {
        let cookie = self.next;
        self.next += 1;
        // A copy: a slice of the request would keep the whole record in memory.
        let name = Bytes::copy_from_slice(name);
        self.charged += entry_cost(&name);
        self.names.insert(name.clone(), (cookie, Arc::clone(inode)));
        self.cookies.insert(cookie, (name, Arc::clone(inode)));
        cookie
    }

    /// Takes a name away; the caller releases the cost that is returned with the object.
    pub(super) fn remove(&mut self, name: &[u8]) -> Option<(Arc<Inode>, u64)> {
        let (cookie, inode) = self.names.remove(name)?;
        self.cookies.remove(&cookie);
        let cost = entry_cost(name);
        self.charged -= cost;
        Some((inode, cost))
    }

    /// Entries after `cookie`; [`Fault::BadCookie`] for one that was never given out.
    pub(super) fn after(
        &self,
        cookie: u64,
    ) -> Result<impl Iterator<Item = (u64, &Bytes, &Arc<Inode>)>, Fault> {
        if cookie != 0 && !(FIRST_COOKIE..self.next).contains(&cookie) {
            return Err(Fault::BadCookie);
        }
        let range = (Bound::Excluded(cookie), Bound::Unbounded);
        Ok(self.cookies.range(range).map(|(&cookie, (name, inode))| (cookie, name, inode)))
    }
}
