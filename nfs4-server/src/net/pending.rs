//! Calls of our own over a client's connection that wait for their reply.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

/// Most callbacks that wait at one time on one connection.
const MOST: usize = 1024;

#[derive(Debug, Default)]
struct Table {
    next: u32,
    waiting: HashMap<u32, oneshot::Sender<Bytes>>,
    closed: bool,
}

/// Callbacks by their xid. Those of the peer's own calls have nothing to do with them.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Table>);

impl Pending {
    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new xid and where its reply comes; `None` when closed or full.
    pub(super) fn begin(&self) -> Option<(u32, oneshot::Receiver<Bytes>)> {
        let mut table = self.table();
        if table.closed {
            return None;
        }
        table.waiting.retain(|_, sender| !sender.is_closed());
        if table.waiting.len() >= MOST {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        loop {
            table.next = table.next.wrapping_add(1);
            let xid = table.next;
            if let std::collections::hash_map::Entry::Vacant(place) = table.waiting.entry(xid) {
                place.insert(sender);
                return Some((xid, receiver));
            }
        }
    }

    /// A reply came; one that nobody waits for is dropped.
    pub(super) fn reply(&self, xid: u32, record: Bytes) {
        let sender = self.table().waiting.remove(&xid);
        if let Some(sender) = sender {
            // Who waited may have gone.
            drop(sender.send(record));
        }
    }

    /// The connection ends: all who wait are told, by the drop of their sender.
    pub(super) fn close(&self) {
        let mut table = self.table();
        table.closed = true;
        let waiting = std::mem::take(&mut table.waiting);
        drop(table);
        drop(waiting);
    }
}
