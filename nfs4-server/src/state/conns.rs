//! Which connections there are, and which sessions each is bound to. RFC 8881 §2.10.3.1.

use std::collections::HashMap;
use std::sync::Mutex;

use nfs4_proto::SessionId;

use super::sessions::Session;
use super::{State, lock, write};

/// A connection, numbered by whoever accepts it; a number is not used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u64);

/// Open connections and their sessions. Locked after a session's bindings.
#[derive(Debug, Default)]
pub(super) struct Conns(Mutex<HashMap<ConnId, Vec<SessionId>>>);

/// One connection bound to a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) conn: ConnId,
    pub(super) fore: bool,
    pub(super) back: bool,
    /// BIND_CONN_TO_SESSION asked for the fore channel and nothing else.
    pub(super) fore_only: bool,
}

impl Conns {
    /// Notes a session; false where the connection has gone, so that nothing is bound to it.
    pub(super) fn add(&self, conn: ConnId, session: SessionId) -> bool {
        lock(&self.0).get_mut(&conn).map(|sessions| sessions.push(session)).is_some()
    }

    fn remove(&self, conn: ConnId, session: &SessionId) {
        if let Some(sessions) = lock(&self.0).get_mut(&conn) {
            sessions.retain(|s| s != session);
        }
    }
}

impl State {
    /// A connection was accepted. Until this is told, nothing is bound to it.
    pub fn connected(&self, conn: ConnId) {
        lock(&self.conns.0).insert(conn, Vec::new());
    }

    /// A connection was closed: it carries no channel any more.
    pub fn disconnected(&self, conn: ConnId) {
        let sessions = lock(&self.conns.0).remove(&conn).unwrap_or_default();
        for session in sessions.iter().filter_map(|id| self.sessions.get(id)) {
            let mut bound = write(&session.bound);
            bound.retain(|b| b.conn != conn);
            session.back_changed(&bound);
        }
    }

    /// Whether a back channel uses the connection: such a one is not closed for being idle.
    #[must_use]
    pub fn carries_back_channel(&self, conn: ConnId) -> bool {
        let sessions = lock(&self.conns.0).get(&conn).cloned().unwrap_or_default();
        let mut sessions = sessions.iter().filter_map(|id| self.sessions.get(id));
        sessions.any(|s| super::read(&s.bound).iter().any(|b| b.conn == conn && b.back))
    }

    /// Takes a session out of the tables: nothing runs on it that was not running.
    pub(super) fn remove_session(&self, session: &Session) {
        session.close();
        self.sessions.remove(session.id());
        let mut bound = write(&session.bound);
        for b in bound.drain(..) {
            self.conns.remove(b.conn, session.id());
        }
        session.back_changed(&bound);
    }
}
