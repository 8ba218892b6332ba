//! Copies that go on after their COPY was answered. RFC 7862 §4.8, §15.2, §15.8, §15.9.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nfs4_proto::{ClientId, StateId, Status};

use super::files::ObjectKey;
use super::stateids::{COPY, Table, pack, unpack};

/// How far a copy is.
#[derive(Debug, Default)]
pub struct Progress {
    copied: AtomicU64,
    stopped: AtomicBool,
    ended: OnceLock<Status>,
}

impl Progress {
    /// Bytes so far.
    #[must_use]
    pub fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// More bytes were copied.
    pub fn add(&self, bytes: u64) {
        self.copied.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether nobody wants it any more.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// It has ended.
    pub fn end(&self, status: Status) {
        let _ = self.ended.set(status);
    }
}

#[derive(Debug)]
struct Copy {
    client: ClientId,
    target: ObjectKey,
    progress: Arc<Progress>,
}

/// All copies that go on, and those that have ended and whose end their client has not been told.
pub struct Copies {
    epoch: u32,
    most: usize,
    most_of_one: usize,
    table: Mutex<Table<Copy>>,
}

impl Copies {
    /// None yet; at most `most`, a quarter of them one client's.
    #[must_use]
    pub fn new(epoch: u32, most: u32) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { epoch, most, most_of_one: (most / 4).max(1), table: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Table<Copy>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy begins; none at the limit, so that it is done before the answer.
    pub fn begin(&self, client: ClientId, target: ObjectKey) -> Option<(StateId, Arc<Progress>)> {
        let mut table = self.lock();
        let own = table.iter().filter(|(_, copy)| copy.client == client).count();
        if table.len() >= self.most || own >= self.most_of_one {
            return None;
        }
        let progress = Arc::new(Progress::default());
        let place = table.insert(Copy { client, target, progress: Arc::clone(&progress) })?;
        Some((StateId { seqid: 1, other: pack(COPY, place, self.epoch) }, progress))
    }

    fn with<R>(
        &self,
        client: ClientId,
        target: ObjectKey,
        stateid: StateId,
        f: impl FnOnce(&mut Table<Copy>, (u32, u32)) -> R,
    ) -> Result<R, Status> {
        // A seqid of 0 does not mean the newest copy (RFC 7862 §4.8).
        if stateid.seqid != 1 {
            return Err(Status::BadStateId);
        }
        let (kind, place) = unpack(stateid.other, self.epoch)?;
        let mut table = self.lock();
        let copy = table.get(place.0, place.1).ok_or(Status::BadStateId)?;
        if kind != COPY || copy.client != client || copy.target != target {
            return Err(Status::BadStateId);
        }
        Ok(f(&mut table, place))
    }

    /// Bytes so far, and how it ended if it has.
    pub fn status(
        &self,
        client: ClientId,
        target: ObjectKey,
        stateid: StateId,
    ) -> Result<(u64, Option<Status>), Status> {
        self.with(client, target, stateid, |table, place| {
            table
                .get(place.0, place.1)
                .map_or((0, None), |copy| (copy.progress.copied(), copy.progress.ended.get().copied()))
        })
    }

    /// The client gives a copy up, or has been told its end.
    pub fn end(&self, client: ClientId, target: ObjectKey, stateid: StateId) -> Result<(), Status> {
        self.with(client, target, stateid, |table, place| {
            if let Some(copy) = table.remove(place.0, place.1) {
                copy.progress.stopped.store(true, Ordering::Relaxed);
            }
        })
    }

    /// The client is gone.
    pub(super) fn drop_client(&self, client: ClientId) {
        let mut table = self.lock();
        let places: Vec<_> =
            table.iter().filter(|(_, copy)| copy.client == client).map(|(place, _)| place).collect();
        for place in places {
            if let Some(copy) = table.remove(place.0, place.1) {
                copy.progress.stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Oid;

    const TARGET: ObjectKey = ObjectKey { export: 1, oid: Oid(7) };

    #[test]
    fn a_copy_is_known_to_its_client_on_its_file_by_its_whole_stateid() {
        let copies = Copies::new(9, 8);
        let (client, other) = (ClientId(1), ClientId(2));
        let (stateid, progress) = copies.begin(client, TARGET).unwrap();
        progress.add(5);
        assert_eq!(copies.status(client, TARGET, stateid), Ok((5, None)));
        let wrong = [
            (other, TARGET, stateid),
            (client, ObjectKey { export: 2, ..TARGET }, stateid),
            (client, TARGET, StateId { seqid: 0, ..stateid }),
            (client, TARGET, StateId { seqid: 2, ..stateid }),
            (client, TARGET, StateId { seqid: 1, other: [0; 12] }),
        ];
        for (client, target, stateid) in wrong {
            assert_eq!(copies.status(client, target, stateid), Err(Status::BadStateId));
            assert_eq!(copies.end(client, target, stateid), Err(Status::BadStateId));
        }
        progress.end(Status::NoSpc);
        assert_eq!(copies.status(client, TARGET, stateid), Ok((5, Some(Status::NoSpc))));
        copies.end(client, TARGET, stateid).unwrap();
        assert!(progress.stopped());
        assert_eq!(copies.status(client, TARGET, stateid), Err(Status::BadStateId));
    }

    #[test]
    fn copies_are_limited_in_all_and_for_one_client_and_go_with_it() {
        let copies = Copies::new(9, 8);
        let begun: Vec<_> = (0..3).map(|_| copies.begin(ClientId(1), TARGET)).collect();
        assert!(begun[1].is_some() && begun[2].is_none(), "a quarter is one client's");
        let others = (2..9).filter(|n| copies.begin(ClientId(*n), TARGET).is_some()).count();
        assert_eq!((others, copies.len()), (6, 8));
        copies.drop_client(ClientId(1));
        assert!(begun[0].as_ref().unwrap().1.stopped());
        assert_eq!(copies.len(), 6);
        assert!(copies.begin(ClientId(1), TARGET).is_some());
    }
}
