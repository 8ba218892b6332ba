//! Calls to clients, over the connections that they opened. RFC 8881 §2.10.6, §20.

mod send;

use std::sync::Arc;
use std::time::Duration;

use nfs4_proto::{CbArgOp, CbResOp, ClientId, ReferringCallList, SessionId, Status};
use tokio::time::{Instant, timeout_at};

use crate::core::Core;
use crate::net::Conn;
use crate::state::{CallbackFate, CallbackTurn, Session};
use send::{Sent, send};

/// Why a callback brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CbError {
    /// No connection carries a back channel of the client, or there is no credential for it.
    #[error("the client has no back channel")]
    NoPath,
    /// `callbacks-per-client` wait already, or every slot stayed in use.
    #[error("too many callbacks wait for the client")]
    TooMany,
    /// The connections ended, or the time did.
    #[error("the client did not answer")]
    NoAnswer,
    /// An answer that is none.
    #[error("the client's answer cannot be understood")]
    Nonsense,
    /// CB_SEQUENCE was refused.
    #[error("the client refused CB_SEQUENCE: {0}")]
    Refused(Status),
}

impl CbError {
    /// As a label of a metric.
    fn label(self) -> &'static str {
        match self {
            Self::NoPath => "no-path",
            Self::TooMany => "too-many",
            Self::NoAnswer => "no-answer",
            Self::Nonsense => "nonsense",
            Self::Refused(_) => "refused",
        }
    }
}

/// What a callback carries.
#[derive(Clone, Debug, Default)]
pub struct Callback {
    /// Behind CB_SEQUENCE; none to ask only whether the path works.
    pub ops: Vec<CbArgOp>,
    /// Requests that these operations refer to and whose replies the client may not have seen (§2.10.6.3).
    pub referring: Vec<ReferringCallList>,
}

/// Sends a callback to a client over whichever of its sessions has a working back channel; the results behind
/// CB_SEQUENCE, which may be fewer than were asked for.
///
/// A call that gets no answer goes again with the same slot and sequence ID over the session's other connections. Where
/// none answers, the slot is used no more until the client has told whether it took that sequence ID.
pub async fn call(core: &Core, client: ClientId, callback: Callback) -> Result<Vec<CbResOp>, CbError> {
    let name = callback.ops.first().map_or("CB_SEQUENCE", |op| op.num().name());
    let answer = by_any_session(core, client, callback).await;
    let outcome = match &answer {
        Ok(_) => "answered",
        Err(error) => error.label(),
    };
    core.metrics.callback(name, outcome);
    answer
}

async fn by_any_session(core: &Core, client: ClientId, callback: Callback) -> Result<Vec<CbResOp>, CbError> {
    let mut sessions = core.state.sessions_of(client);
    sessions.retain(|session| !session.back_connections().is_empty() && session.callback().is_some());
    // Those that worked last time first.
    sessions.sort_by_key(|session| !session.back_up());
    let counted = sessions.first().ok_or(CbError::NoPath)?.client().clone();
    let _one = counted.calling(core.limits.callbacks_per_client).ok_or(CbError::TooMany)?;
    let mut last = CbError::NoPath;
    for session in sessions {
        match by_session(core, &session, &callback).await {
            Err(error @ (CbError::NoPath | CbError::NoAnswer)) => last = error,
            other => return other,
        }
    }
    Err(last)
}

fn patience(core: &Core) -> Duration {
    Duration::from_secs(core.limits.callback_timeout.into())
}

/// A free slot, waiting for one as long as a client may take to answer; lost ones are settled meanwhile.
async fn turn(core: &Core, session: &Session) -> Result<CallbackTurn, CbError> {
    let until = Instant::now() + patience(core);
    loop {
        if let Some(turn) = session.callback_turn() {
            return Ok(turn);
        }
        if let Some(lost) = session.callback_lost_turn() {
            settle(core, session, lost).await?;
            continue;
        }
        if timeout_at(until, session.callback_freed()).await.is_err() {
            return Err(CbError::TooMany);
        }
    }
}

/// Finds out whether the client took the sequence ID before this turn's.
async fn settle(core: &Core, session: &Session, lost: CallbackTurn) -> Result<(), CbError> {
    let answer = over_connections(core, session, lost, &Callback::default()).await;
    let (fate, done) = match answer {
        Ok(_) => (CallbackFate::Taken, Ok(())),
        Err(CbError::Refused(Status::SeqMisordered)) => (CallbackFate::Refused, Ok(())),
        Err(error) => (CallbackFate::Unknown, Err(error)),
    };
    session.callback_done(lost, fate);
    done
}

async fn by_session(core: &Core, session: &Session, callback: &Callback) -> Result<Vec<CbResOp>, CbError> {
    let turn = turn(core, session).await?;
    let answer = over_connections(core, session, turn, callback).await;
    let fate = match &answer {
        Ok(_) => CallbackFate::Taken,
        Err(CbError::Refused(_)) => CallbackFate::Refused,
        Err(CbError::NoPath | CbError::TooMany | CbError::NoAnswer | CbError::Nonsense) => {
            CallbackFate::Unknown
        }
    };
    session.callback_done(turn, fate);
    match &answer {
        Ok(_) => session.probed(true),
        Err(CbError::NoAnswer | CbError::NoPath | CbError::Nonsense) => session.probed(false),
        // The two do not agree on the slots, which only another session mends (§18.46.3).
        Err(CbError::Refused(Status::SeqMisordered | Status::SeqFalseRetry | Status::BadSlot)) => {
            session.back_channel_fault();
        }
        Err(CbError::Refused(_) | CbError::TooMany) => {}
    }
    answer
}

/// The same call over one connection after the other, the newest first.
async fn over_connections(
    core: &Core,
    session: &Session,
    turn: CallbackTurn,
    callback: &Callback,
) -> Result<Vec<CbResOp>, CbError> {
    let (program, cred) = session.callback().ok_or(CbError::NoPath)?;
    let mut tried = Vec::new();
    let mut last = CbError::NoPath;
    loop {
        // Asked for anew each time: a client that lost its connection binds another one.
        let next = session.back_connections().into_iter().rev().find(|id| !tried.contains(id));
        let Some(id) = next else { return Err(last) };
        tried.push(id);
        let Some(conn) = core.conn(id) else { continue };
        let sent = Sent { session, program, cred: &cred, turn };
        match send(&conn, &sent, callback, patience(core)).await {
            Err(CbError::NoPath | CbError::NoAnswer) => last = CbError::NoAnswer,
            other => return other,
        }
    }
}

/// Finds out whether a session's back channel works, beside what goes on.
pub(crate) fn probe(core: &Arc<Core>, session: &SessionId, conn: &Arc<Conn>) {
    let carries = core.state.carries_back_channel(conn.id());
    conn.set_back_channel(carries);
    if !carries {
        return;
    }
    let Some(session) = core.state.session(session) else { return };
    let beside = Arc::clone(core);
    core.beside(async move {
        // After the reply to CREATE_SESSION, without which the client does not know the session.
        tokio::time::sleep(Duration::from_millis(50)).await;
        if let Err(error) = by_session(&beside, &session, &Callback::default()).await {
            tracing::debug!(client = session.client().id().0, %error, "back channel probe failed");
            session.probed(false);
        }
    });
}
