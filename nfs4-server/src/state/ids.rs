//! Client IDs and session IDs that are never valid across restarts.
//!
//! Both carry the boot epoch: a counter kept with the records, or a random number where nothing is kept; never a clock
//! (two starts within one second must differ). RFC 8881 §2.10.13, §8.4.2.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nfs4_proto::{ClientId, SessionId};
use siphasher::sip::SipHasher13;

/// Makes identifiers of one boot.
#[derive(Debug)]
pub struct Ids {
    epoch: u32,
    seed: u64,
    clients: AtomicU32,
    sessions: AtomicU64,
}

impl Ids {
    /// Identifiers of the boot `epoch`; `seed` makes the guessable part of session IDs unguessable.
    #[must_use]
    pub fn new(epoch: u32, seed: u64) -> Self {
        Self { epoch, seed, clients: AtomicU32::new(0), sessions: AtomicU64::new(0) }
    }

    /// The boot epoch, for identifiers made elsewhere.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A client ID: epoch and a counter. After 2³² of them the counter starts again, so the caller skips those in use.
    pub fn client(&self) -> ClientId {
        let n = self.clients.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        ClientId(u64::from(self.epoch) << 32 | u64::from(n))
    }

    /// A session ID: epoch, a counter that does not come back, and 32 bits that cannot be guessed from others.
    pub fn session(&self) -> SessionId {
        let n = self.sessions.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut hash = SipHasher13::new_with_keys(self.seed, u64::from(self.epoch));
        hash.write_u64(n);
        let tail = hash.finish().to_be_bytes();
        let mut id = [0; 16];
        let parts = self.epoch.to_be_bytes().into_iter().chain(n.to_be_bytes()).chain(tail);
        for (to, from) in id.iter_mut().zip(parts) {
            *to = from;
        }
        id
    }
}

/// Which of `shards` a session ID lives in: the low byte of its counter, so that sessions spread evenly.
pub(super) fn shard(id: &SessionId, shards: usize) -> usize {
    let [.., low, _, _, _, _] = *id;
    usize::from(low) % shards
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_two_boots_never_meet() {
        let (a, b) = (Ids::new(7, 1), Ids::new(8, 1));
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1000 {
            assert!(seen.insert(a.client()) && seen.insert(b.client()));
        }
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1000 {
            assert!(seen.insert(a.session()) && seen.insert(b.session()));
        }
    }

    #[test]
    fn session_ids_depend_on_a_secret() {
        assert_ne!(Ids::new(7, 1).session(), Ids::new(7, 2).session());
    }

    #[test]
    fn sessions_spread_over_the_shards() {
        let ids = Ids::new(1, 1);
        let mut used = [0; 16];
        for _ in 0..160 {
            used[shard(&ids.session(), 16)] += 1;
        }
        assert_eq!(used, [10; 16]);
    }
}
