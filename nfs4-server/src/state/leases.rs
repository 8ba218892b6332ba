//! Leases that run out. RFC 8881 §8.3, §8.4.3.
//!
//! A client whose lease is over and that holds something is a courtesy client: it keeps all until somebody needs it,
//! and loses all of it then. One that holds nothing goes at once: it has nothing to lose, and its sessions' replies take
//! room.

use nfs4_proto::{ClientId, Status};

use super::clients::{Entry, Removal, record_failed};
use super::{Millis, Now, State, Why, lock};

/// What [`State::expire`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Confirmed clients that were removed.
    pub removed: Vec<ClientId>,
    /// Clients whose lease is over and that keep their state.
    pub courtesy: Vec<ClientId>,
}

impl State {
    /// Ends what has run out by `now`: grace, unconfirmed records, leases of clients that hold nothing. Writes records.
    /// To be called at [`State::next_deadline`], and no harm at other times.
    pub fn expire(&self, now: Now) -> Expired {
        if let Err(error) = self.grace.expire(now, |late| self.records.forget(late)) {
            record_failed(&error);
        }
        let lease = self.settings().lease;
        let over: Vec<_> = {
            let table = lock(&self.clients);
            let over = table.entries().filter(|e| e.expired(now, lease));
            over.map(|e| (e.client.id, e.confirmed)).collect()
        };
        let mut done = Expired::default();
        for (id, confirmed) in over {
            let useless =
                |e: &Entry| e.expired(now, lease) && !(confirmed && self.holder.client_has_state(id));
            match self.remove_if(id, Why::Expired, useless) {
                Ok(Removal::Gone) if confirmed => done.removed.push(id),
                Ok(Removal::Gone) => {}
                Ok(Removal::Kept) => done.courtesy.push(id),
                Err(error) => {
                    record_failed(&error);
                }
            }
        }
        done
    }

    /// When [`State::expire`] has something to do next: the end of a lease that is not over, or of grace.
    #[must_use]
    pub fn next_deadline(&self, now: Now) -> Option<Now> {
        let lease = self.settings().lease;
        let table = lock(&self.clients);
        let leases = table.entries().map(|e| e.client.renewed().plus(lease).plus(Millis(1)));
        // If grace could not be ended at its time, it is tried again a second later.
        let grace = self.grace.deadline().map(|end| if end > now { end } else { now.plus(Millis(1000)) });
        leases.filter(|end| *end > now).chain(grace).min()
    }

    /// Whether the client's lease is over: what it holds does not stand against anybody. Also true of a client that is
    /// gone.
    #[must_use]
    pub fn is_expired(&self, now: Now, client: ClientId) -> bool {
        lock(&self.clients).entry(client).is_none_or(|e| e.expired(now, self.settings().lease))
    }

    /// A client lost state while its lease was good: what it may have held before cannot be told from what it lost, so it
    /// reclaims nothing after a restart (the edge conditions of §8.4.3), until it is [`whole`](Self::whole). Writes a
    /// record.
    pub fn lost_state(&self, client: ClientId) -> Result<(), Status> {
        let Some(client) = self.client(client).filter(|client| client.reclaim_complete()) else {
            return Ok(());
        };
        self.records.confirm(client.owner(), false).map_err(|error| record_failed(&error))
    }

    /// A client knows of all that it lost. Writes a record.
    pub fn whole(&self, client: ClientId) -> Result<(), Status> {
        let Some(client) = self.client(client).filter(|client| client.reclaim_complete()) else {
            return Ok(());
        };
        self.records.reclaimed(client.owner()).map_err(|error| record_failed(&error))
    }

    /// Removes a client at the wish of an administrator, whatever it does: all that it holds is freed, as at the end of
    /// its lease. False where there is none. Fails where its record cannot be removed; then nothing has changed. Writes
    /// a record.
    pub fn evict(&self, client: ClientId) -> std::io::Result<bool> {
        while lock(&self.clients).entry(client).is_some() {
            // A renewal in between makes it another try.
            if self.remove_if(client, Why::Evicted, |_| true)? == Removal::Gone {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Called for the holder of something that somebody else needs. Where its lease is over, all that it holds is freed
    /// before this returns true. False where it is alive. NFS4ERR_SERVERFAULT where its record cannot be removed: then
    /// nothing has changed. Writes a record.
    pub fn evict_courtesy(&self, now: Now, client: ClientId) -> Result<bool, Status> {
        if lock(&self.clients).entry(client).is_none() {
            return Ok(true);
        }
        let lease = self.settings().lease;
        match self.remove_if(client, Why::Expired, |e| e.expired(now, lease)) {
            Ok(Removal::Gone) => Ok(true),
            Ok(Removal::Kept) => Ok(false),
            Err(error) => Err(record_failed(&error)),
        }
    }
}
