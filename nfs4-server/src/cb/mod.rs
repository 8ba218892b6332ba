//! Calls to clients, over the connections that they opened.

use std::sync::Arc;
use std::time::Duration;

use nfs4_proto::{CbArgOp, CbCompound, CbCompoundRes, CbResOp, CbSequenceArgs, SessionId, Status};
use nfs4_xdr::rpc::{Accepted, OpaqueAuth, Reply};
use nfs4_xdr::{Decode, Input, List};

use crate::core::Core;
use crate::net::Conn;
use crate::state::{CallbackCred, CallbackTurn, Session};

/// The version of the callback program. RFC 8881 §18.36.3 says 4, the XDR says 1, and every client serves 1.
const CB_VERSION: u32 = 1;
const CB_COMPOUND: u32 = 1;
/// A client that says nothing for so long has no working back channel.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a callback brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CbError {
    /// No connection carries the back channel, or no slot or credential is there.
    #[error("the session has no back channel")]
    NoPath,
    /// The connection ended, or the time did.
    #[error("the client did not answer")]
    NoAnswer,
    /// An answer that is none.
    #[error("the client's answer cannot be understood")]
    Nonsense,
    /// CB_SEQUENCE was refused.
    #[error("the client refused CB_SEQUENCE: {0}")]
    Refused(Status),
}

fn credential(cred: &CallbackCred) -> OpaqueAuth {
    match cred {
        CallbackCred::Sys(sys) => OpaqueAuth::sys(sys),
        CallbackCred::None | CallbackCred::Gss => OpaqueAuth::none(),
    }
}

/// Sends CB_SEQUENCE with `ops` behind it over the session's back channel; the results behind CB_SEQUENCE.
pub async fn call(core: &Core, session: &Session, ops: Vec<CbArgOp>) -> Result<Vec<CbResOp>, CbError> {
    let (program, cred) = session.callback().ok_or(CbError::NoPath)?;
    let conn = session.back_connections().into_iter().find_map(|id| core.conn(id)).ok_or(CbError::NoPath)?;
    let turn = session.callback_turn().ok_or(CbError::NoPath)?;
    let answer = send(session, &conn, program, &cred, turn, ops).await;
    // The client's slot moved only where CB_SEQUENCE succeeded; the next callback uses the same number otherwise.
    session.callback_done(turn, answer.is_ok());
    answer
}

async fn send(
    session: &Session,
    conn: &Conn,
    program: u32,
    cred: &CallbackCred,
    turn: CallbackTurn,
    ops: Vec<CbArgOp>,
) -> Result<Vec<CbResOp>, CbError> {
    let mut all = vec![CbArgOp::Sequence(CbSequenceArgs {
        sessionid: *session.id(),
        sequenceid: turn.seqid,
        slotid: turn.slot,
        highest_slotid: turn.highest,
        cachethis: false,
        referring_call_lists: List::default(),
    })];
    all.extend(ops);
    let compound = CbCompound::new(session.minor(), all).ok_or(CbError::Nonsense)?;
    let answer = conn
        .call_back(program, CB_VERSION, CB_COMPOUND, credential(cred), |w| w.put(&compound))
        .ok_or(CbError::NoPath)?;
    let Ok(Ok(record)) = tokio::time::timeout(TIMEOUT, answer).await else { return Err(CbError::NoAnswer) };
    let (rest, reply) = Reply::decode(Input::new(&record)).map_err(|_| CbError::Nonsense)?;
    if reply.body != Ok(Accepted::Success) {
        return Err(CbError::Nonsense);
    }
    let (_, results) = CbCompoundRes::decode(rest).map_err(|_| CbError::Nonsense)?;
    let mut results = results.ops.into_iter();
    match results.next() {
        Some(CbResOp::Sequence(Ok(_))) => Ok(results.collect()),
        Some(first) => Err(CbError::Refused(first.status())),
        None => Err(CbError::Nonsense),
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
    let core = Arc::clone(core);
    tokio::spawn(async move {
        // After the reply to CREATE_SESSION, without which the client does not know the session.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let answer = call(&core, &session, Vec::new()).await;
        if let Err(error) = &answer {
            tracing::debug!(client = session.client().id().0, %error, "back channel probe failed");
        }
        session.probed(answer.is_ok());
    });
}
