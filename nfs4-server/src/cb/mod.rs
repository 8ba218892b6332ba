//! Calls to clients, over the connections that they opened. RFC 8881 §2.10.6, §20.

pub(crate) mod lock;
mod send;

use std::sync::Arc;
use std::time::Duration;

use nfs4_proto::{CbArgOp, CbResOp, ClientId, ReferringCall, ReferringCallList, SessionId, Status};
use nfs4_xdr::List;
use tokio::time::{Instant, timeout_at};

use crate::core::Core;
use crate::net::Conn;
use crate::state::{CallbackFate, CallbackTurn, Session};
use send::Outgoing;

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
    /// An answer that is none, or results of callbacks that were not asked for.
    #[error("the client's answer cannot be understood")]
    Nonsense,
    /// CB_SEQUENCE was refused. NFS4ERR_DELAY: nothing was done, and the caller may ask again later.
    #[error("the client refused CB_SEQUENCE: {0}")]
    Refused(Status),
    /// It was sent a second time, and the client has done it, but keeps no answer.
    #[error("the client's answer is lost")]
    AnswerLost,
    /// More operations or bytes than the back channels of all sessions take. Nothing was sent.
    #[error("the callback is larger than the client takes")]
    TooBig,
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
            Self::AnswerLost => "answer-lost",
            Self::TooBig => "too-big",
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

/// A request as callbacks refer to it (RFC 8881 §2.10.6.3).
pub(crate) fn referring(sessionid: SessionId, request: ReferringCall) -> ReferringCallList {
    ReferringCallList { sessionid, referring_calls: List::new(vec![request]).unwrap_or_default() }
}

/// Sends a callback to a client over whichever of its sessions has a working back channel; the results behind
/// CB_SEQUENCE, which may be fewer than were asked for.
///
/// A call that gets no answer goes again with the same slot and sequence ID over the session's other connections. Where
/// none answers, the slot is used no more until the client has told whether it took that sequence ID; so it is where
/// this future is dropped. NFS4ERR_DELAY, of CB_SEQUENCE or of an operation, is an answer: when to ask again is the
/// caller's to know. Another session may carry a second copy of a callback that got no answer: callbacks are idempotent.
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

/// [`call`] beside what goes on; `report` is told what came of it.
pub fn tell(
    core: &Arc<Core>,
    client: ClientId,
    callback: Callback,
    report: impl FnOnce(Result<Vec<CbResOp>, CbError>) + Send + 'static,
) {
    let beside = Arc::clone(core);
    core.beside(async move { report(call(&beside, client, callback).await) });
}

async fn by_any_session(core: &Core, client: ClientId, callback: Callback) -> Result<Vec<CbResOp>, CbError> {
    let mut sessions = core.state.sessions_of(client);
    sessions.retain(|session| !session.back_connections().is_empty() && session.callback().is_some());
    // Those that worked last time first.
    sessions.sort_by_key(|session| !session.back_up());
    let counted = sessions.first().ok_or(CbError::NoPath)?.client().clone();
    let _one = counted.calling(core.limits().callbacks_per_client).ok_or(CbError::TooMany)?;
    let mut last = CbError::NoPath;
    for session in sessions {
        match by_session(core, &session, &callback).await {
            Err(
                error @ (CbError::NoPath
                | CbError::NoAnswer
                | CbError::TooMany
                | CbError::TooBig
                // It ends at this moment.
                | CbError::Refused(Status::BadSession | Status::DeadSession)),
            ) => last = error,
            other => return other,
        }
    }
    Err(last)
}

fn patience(core: &Core) -> Duration {
    Duration::from_secs(core.limits().callback_timeout.into())
}

/// A slot in use. Dropped before its fate is known, it is lost.
struct Held<'a> {
    session: &'a Session,
    turn: CallbackTurn,
    fate: CallbackFate,
}

impl<'a> Held<'a> {
    fn new(session: &'a Session, turn: CallbackTurn) -> Self {
        Self { session, turn, fate: CallbackFate::Unknown }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.session.callback_done(self.turn, self.fate);
    }
}

/// A free slot, waiting for one as long as a client may take to answer; lost ones are settled meanwhile.
async fn free_slot<'a>(core: &Core, session: &'a Session) -> Result<Held<'a>, CbError> {
    let until = Instant::now() + patience(core);
    loop {
        if let Some(turn) = session.callback_turn() {
            return Ok(Held::new(session, turn));
        }
        if let Some(lost) = session.callback_lost_turn() {
            settle(core, Held::new(session, lost)).await?;
            continue;
        }
        if timeout_at(until, session.callback_freed()).await.is_err() {
            return Err(CbError::TooMany);
        }
    }
}

/// Finds out whether the client took the sequence ID before this turn's.
async fn settle(core: &Core, mut lost: Held<'_>) -> Result<(), CbError> {
    let Tried { answer, fate } = over_connections(core, &lost, &Callback::default()).await;
    match (answer, fate) {
        (_, CallbackFate::Taken) => lost.fate = CallbackFate::Taken,
        (Err(CbError::Refused(Status::SeqMisordered)), _) => lost.fate = CallbackFate::Refused,
        (Err(error), _) => return Err(error),
        (Ok(_), CallbackFate::Refused | CallbackFate::Unknown) => return Err(CbError::Nonsense),
    }
    Ok(())
}

async fn by_session(core: &Core, session: &Session, callback: &Callback) -> Result<Vec<CbResOp>, CbError> {
    let mut held = free_slot(core, session).await?;
    let Tried { answer, fate } = over_connections(core, &held, callback).await;
    held.fate = fate;
    match &answer {
        Ok(_) | Err(CbError::AnswerLost) => session.probed(true),
        Err(CbError::NoAnswer | CbError::NoPath | CbError::Nonsense) => session.probed(false),
        // The two do not agree on the slots, which only another session mends (§18.46.3).
        Err(CbError::Refused(Status::SeqMisordered | Status::SeqFalseRetry | Status::BadSlot)) => {
            session.back_channel_fault();
        }
        Err(CbError::Refused(_) | CbError::TooMany | CbError::TooBig) => {}
    }
    answer
}

/// What came of one call, and of its slot.
struct Tried {
    answer: Result<Vec<CbResOp>, CbError>,
    fate: CallbackFate,
}

/// The same call over one connection after the other, the newest first.
async fn over_connections(core: &Core, held: &Held<'_>, callback: &Callback) -> Tried {
    let not_sent = |error| Tried { answer: Err(error), fate: CallbackFate::Refused };
    let session = held.session;
    let Some((program, cred)) = session.callback() else { return not_sent(CbError::NoPath) };
    let call = match Outgoing::new(session, held.turn, program, &cred, callback) {
        Ok(call) => call,
        Err(error) => return not_sent(error),
    };
    let mut tried = Vec::new();
    let mut sent = false;
    loop {
        // Asked for anew each time: a client that lost its connection binds another one.
        let next = session.back_connections().into_iter().rev().find(|id| !tried.contains(id));
        let Some(id) = next else {
            let answer = Err(if sent { CbError::NoAnswer } else { CbError::NoPath });
            return Tried { fate: fate(&answer, sent), answer };
        };
        tried.push(id);
        let Some(conn) = core.conn(id) else { continue };
        match call.send(&conn, patience(core), &core.metrics).await {
            Err(CbError::NoPath) => {}
            Err(CbError::NoAnswer) => sent = true,
            answer => return Tried { fate: fate(&answer, sent), answer: answer.or_else(lost) },
        }
    }
}

/// What an answer says of the slot. `again`: the call had been sent before.
fn fate(answer: &Result<Vec<CbResOp>, CbError>, again: bool) -> CallbackFate {
    match answer {
        // §2.10.6.1.3 has the second operation say that no answer is kept, Linux says it in CB_SEQUENCE.
        Ok(_) | Err(CbError::AnswerLost | CbError::Refused(Status::RetryUncachedRep)) => CallbackFate::Taken,
        // The first one is still being carried out (§2.10.6.2).
        Err(CbError::Refused(Status::Delay)) if again => CallbackFate::Unknown,
        Err(CbError::Refused(_) | CbError::NoPath | CbError::TooMany | CbError::TooBig) => {
            CallbackFate::Refused
        }
        Err(CbError::NoAnswer | CbError::Nonsense) => CallbackFate::Unknown,
    }
}

fn lost(error: CbError) -> Result<Vec<CbResOp>, CbError> {
    Err(if error == CbError::Refused(Status::RetryUncachedRep) { CbError::AnswerLost } else { error })
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

/// How long the first request that depends on it waits for a back channel to be found to work.
const FIRST_ANSWER: Duration = Duration::from_millis(500);

/// Whether a client can be called: some session of it has a back channel that was found to work. Where this session's was
/// not asked yet, it is asked now, and waited for a moment: once.
pub(crate) async fn can_be_called(core: &Arc<Core>, session: &Arc<Session>) -> bool {
    let proven = || {
        session.back_proven() || {
            let others = core.state.sessions_of(session.client().id());
            others.iter().any(|other| other.back_proven())
        }
    };
    if proven() || !session.first_question() {
        return proven();
    }
    let (beside, asked) = (Arc::clone(core), Arc::clone(session));
    let (told, answered) = tokio::sync::oneshot::channel();
    // Beside this request: a slot whose callback is given up is lost.
    core.beside(async move {
        let answer = by_session(&beside, &asked, &Callback::default()).await;
        let _ = told.send(answer.is_ok());
    });
    matches!(tokio::time::timeout(FIRST_ANSWER, answered).await, Ok(Ok(true))) || proven()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_12_what_an_answer_says_of_a_slot() {
        let refused = |status| Err(CbError::Refused(status));
        for (answer, again, says) in [
            (Ok(Vec::new()), false, CallbackFate::Taken),
            (refused(Status::Delay), false, CallbackFate::Refused),
            (refused(Status::Delay), true, CallbackFate::Unknown),
            (refused(Status::BadSession), true, CallbackFate::Refused),
            (refused(Status::RetryUncachedRep), true, CallbackFate::Taken),
            (Err(CbError::NoAnswer), true, CallbackFate::Unknown),
            (Err(CbError::Nonsense), false, CallbackFate::Unknown),
            (Err(CbError::NoPath), false, CallbackFate::Refused),
        ] {
            assert_eq!(fate(&answer, again), says, "{answer:?} {again}");
        }
    }
}
