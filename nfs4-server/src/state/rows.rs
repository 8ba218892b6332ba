//! Lists for the administrator, a page at a time.

use std::fmt::Write as _;
use std::sync::Arc;

use nfs4_proto::{ClientId, SessionId, StateId};

use super::files::{Files, SHARDS, Shares};
use super::stateids::Kind;
use super::{Now, Session, State, lock, read};
use crate::admin::{ClientRow, LockRow, OpenRow, Page, SessionRow};

/// Ranges that are told of one owner's locks.
const RANGES: usize = 8;

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn client_text(id: ClientId) -> String {
    format!("{:#018x}", id.0)
}

fn bits(read: bool, write: bool) -> String {
    match (read, write) {
        (true, true) => "rw",
        (true, false) => "r",
        (false, true) => "w",
        (false, false) => "-",
    }
    .to_owned()
}

/// At most `most` rows, and where there was one more, the cursor that the last one gives.
fn page<T>(mut rows: Vec<T>, most: usize, cursor: impl Fn(&T) -> String) -> Page<T> {
    let more = rows.len() > most;
    rows.truncate(most);
    let next = rows.last().filter(|_| more).map(cursor);
    Page { rows, next }
}

impl State {
    /// Clients by number, those above `after`. What they hold is for others to fill in.
    pub(crate) fn client_rows(&self, now: Now, after: Option<ClientId>, most: usize) -> Page<ClientRow> {
        let lease = self.settings().lease;
        let table = lock(&self.clients);
        let mut entries: Vec<_> =
            table.entries().filter(|e| after.is_none_or(|after| e.client.id > after)).collect();
        entries.sort_unstable_by_key(|e| e.client.id);
        let row = |e: &&super::clients::Entry| ClientRow {
            client: client_text(e.client.id),
            address: e.client.peer.map(|peer| peer.to_string()),
            principal: format!("{:?}", e.client.principal),
            confirmed: e.confirmed,
            lease_left: if e.expired(now, lease) {
                0
            } else {
                lease.0.saturating_sub(now.since(e.client.renewed()).0).div_ceil(1000).max(1)
            },
            sessions: e.sessions.len(),
            opens: 0,
            ranges: 0,
            owner: e.client.owner.escape_ascii().to_string(),
        };
        let rows = entries.iter().take(most.saturating_add(1)).map(row).collect();
        page(rows, most, |row| row.client.clone())
    }

    /// Sessions by ID, those above `after`.
    pub(crate) fn session_rows(&self, after: Option<SessionId>, most: usize) -> Page<SessionRow> {
        let mut sessions: Vec<Arc<Session>> = {
            let table = lock(&self.clients);
            let all = table.entries().flat_map(|e| &e.sessions);
            all.filter(|s| after.is_none_or(|after| *s.id() > after)).cloned().collect()
        };
        sessions.sort_unstable_by_key(|s| *s.id());
        let row = |s: &Arc<Session>| SessionRow {
            session: hex(s.id()),
            client: client_text(s.client().id),
            minor: s.minor(),
            slots: s.slots.highest().0.saturating_add(1),
            connections: read(&s.bound).len(),
            back_channel: s.back_up(),
            busy: s.busy(),
        };
        let rows = sessions.iter().take(most.saturating_add(1)).map(row).collect();
        page(rows, most, |row| row.session.clone())
    }
}

impl Files {
    /// Shards and indices behind `after`'s.
    fn behind(&self, after: Option<[u8; 12]>) -> (u32, u32) {
        match after.and_then(|other| self.place_of(StateId { seqid: 0, other }).ok()) {
            None => (0, 0),
            Some((shard, _, (index, _))) => (shard, index.saturating_add(1)),
        }
    }

    /// Opens by their place in the tables, those behind `after`.
    pub(crate) fn open_rows(&self, after: Option<[u8; 12]>, most: usize) -> Page<OpenRow> {
        let mut rows = Vec::new();
        let (first, mut index) = self.behind(after);
        for number in first..SHARDS {
            let Ok(shard) = self.lock(number) else { break };
            let room = most.saturating_add(1).saturating_sub(rows.len());
            rows.extend(shard.opens.iter_from(index).take(room).map(|(place, open)| {
                let Shares { read, write, deny_read, deny_write } = open.shares();
                OpenRow {
                    stateid: hex(&self.stateid(Kind::Open, number, place, 0).other),
                    client: client_text(open.client),
                    export: open.key.export,
                    object: format!("{:x}", open.key.oid.0),
                    access: bits(read, write),
                    deny: bits(deny_read, deny_write),
                    owner: open.owner.escape_ascii().to_string(),
                }
            }));
            index = 0;
        }
        page(rows, most, |row| row.stateid.clone())
    }

    /// Lock owners' locks by their place in the tables, those behind `after`.
    pub(crate) fn lock_rows(&self, after: Option<[u8; 12]>, most: usize) -> Page<LockRow> {
        let mut rows = Vec::new();
        let (first, mut index) = self.behind(after);
        for number in first..SHARDS {
            let Ok(shard) = self.lock(number) else { break };
            let room = most.saturating_add(1).saturating_sub(rows.len());
            rows.extend(shard.locks.iter_from(index).take(room).map(|(place, locks)| {
                let held = shard.files.get(&locks.key).map(|file| &file.locks);
                let text = |lock: &super::ranges::Lock<_>| {
                    let (kind, at) = (if lock.write { "w" } else { "r" }, lock.range.offset());
                    match lock.range.length() {
                        u64::MAX => format!("{kind} {at}+end"),
                        length => format!("{kind} {at}+{length}"),
                    }
                };
                LockRow {
                    stateid: hex(&self.stateid(Kind::Lock, number, place, 0).other),
                    client: client_text(locks.client),
                    export: locks.key.export,
                    object: format!("{:x}", locks.key.oid.0),
                    ranges: held.map_or(0, |held| held.count(place)),
                    first: held
                        .map(|held| held.of(place).take(RANGES).map(text).collect())
                        .unwrap_or_default(),
                    owner: locks.owner.escape_ascii().to_string(),
                }
            }));
            index = 0;
        }
        page(rows, most, |row| row.stateid.clone())
    }
}
