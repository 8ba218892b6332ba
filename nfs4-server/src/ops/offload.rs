//! Copies that go on after the answer: OFFLOAD_STATUS, OFFLOAD_CANCEL and CB_OFFLOAD (RFC 7862 §15.8, §15.9, §16.1).

use std::sync::Arc;
use std::time::Duration;

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Effect, Intent, Party};
use nfs4_proto::{
    CbArgOp, CbOffloadArgs, ClientId, Fh, OffloadArgs, OffloadInfo, OffloadStatusOk, ReferringCallList,
    StableHow, StateId, Status, Verifier, WriteResponse,
};

use super::file_io::{Use, key_of};
use crate::backend::Opened;
use crate::cb::{self, Callback, CbError};
use crate::compound::{Admitted, Ctx};
use crate::core::Core;
use crate::export::{Export, Place};
use crate::state::{ObjectKey, Progress};

/// Between two tries to tell the end.
const RETRY: Duration = Duration::from_secs(1);

/// What is to be copied.
pub(crate) struct Work {
    pub(crate) source: Arc<Export>,
    pub(crate) target: Place,
    pub(crate) from: Opened,
    pub(crate) to: Opened,
    pub(crate) src_offset: u64,
    pub(crate) dst_offset: u64,
    pub(crate) count: u64,
    pub(crate) writeverf: Verifier,
}

/// Whose work it is, and how its end is told.
struct Told {
    client: ClientId,
    key: ObjectKey,
    stateid: StateId,
    fh: Fh,
    referring: ReferringCallList,
}

/// Lets a copy go on beside the answer; none where too many go on, or the client has no back channel to be told by.
pub(crate) fn begin(ctx: &Ctx<'_>, work: Work) -> Result<Option<StateId>, Status> {
    let attached = ctx.attached.as_ref().ok_or(Status::OpNotInSession)?;
    if !attached.session.back_up() {
        return Ok(None);
    }
    let (client, key) = (attached.client, key_of(&work.target));
    let Some((stateid, progress)) = ctx.core.files.copies.begin(client, key) else { return Ok(None) };
    let told = Told {
        client,
        key,
        stateid,
        fh: ctx.core.exports.handle(&work.target),
        referring: attached.referring(),
    };
    let core = Arc::clone(ctx.core);
    ctx.core.beside(async move {
        let status = copy(&core, client, &work, &progress).await.err().unwrap_or(Status::Ok);
        progress.end(status);
        tell(&core, &told, &work, &progress, status).await;
    });
    Ok(Some(stateid))
}

/// Copies piece by piece. Each has a permit of its own: a delegation is not kept away for as long as a copy takes.
async fn copy(core: &Arc<Core>, client: ClientId, work: &Work, progress: &Progress) -> Result<(), Status> {
    let backend = &work.source.backend;
    let (reads, writes) = (Intent::Read { oid: work.from.node.oid }, Use::Write.intent(&work.target));
    let export = &work.target.export;
    while progress.copied() < work.count {
        if progress.stopped() {
            return Ok(());
        }
        let party = Party::Client(ClientKey(client.0));
        let read = Admitted::ask(core, None, party, export, &reads).await;
        let written = Admitted::ask(core, None, party, export, &writes).await;
        let (Ok(read), Ok(permit)) = (read, written) else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let done = progress.copied();
        let (from, to) = (work.src_offset.saturating_add(done), work.dst_offset.saturating_add(done));
        let copied = backend.copy(&work.from, from, &work.to, to, work.count.saturating_sub(done)).await;
        read.commit(&[]);
        permit.commit(&[Effect::Changed { oid: work.target.node.oid }]);
        match copied.map_err(Status::from)? {
            // The source was cut off meanwhile: that is all there is.
            0 => return Ok(()),
            bytes => progress.add(bytes),
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// CB_OFFLOAD, again and again while the client does not answer: for a lease. Then OFFLOAD_STATUS tells it, until the
/// client lets go or is gone.
async fn tell(core: &Core, told: &Told, work: &Work, progress: &Progress, status: Status) {
    let info = if status == Status::Ok {
        OffloadInfo::Ok(WriteResponse {
            callback_id: None,
            count: progress.copied(),
            committed: StableHow::Unstable,
            writeverf: work.writeverf,
        })
    } else {
        OffloadInfo::Failed { status, bytes_copied: progress.copied() }
    };
    for _ in 0..core.lease {
        if progress.stopped() {
            return;
        }
        let op = CbArgOp::Offload(CbOffloadArgs { fh: told.fh.clone(), stateid: told.stateid, info });
        let callback = Callback { ops: vec![op], referring: vec![told.referring.clone()] };
        match cb::call(core, told.client, callback).await {
            Ok(results) if results.first().is_some_and(|result| result.status() != Status::Delay) => {
                let _ = core.files.copies.end(told.client, told.key, told.stateid);
                return;
            }
            Ok(_)
            | Err(
                CbError::NoPath
                | CbError::TooMany
                | CbError::NoAnswer
                | CbError::Nonsense
                | CbError::Refused(_)
                // It may have been NFS4ERR_DELAY. Who knows the end already says BAD_STATEID.
                | CbError::AnswerLost
                | CbError::TooBig,
            ) => tokio::time::sleep(RETRY).await,
        }
    }
    tracing::debug!(client = told.client.0, "a copy's end could not be told by CB_OFFLOAD");
}

/// RFC 7862 §15.9.
pub(crate) fn offload_status(ctx: &Ctx<'_>, args: OffloadArgs) -> Result<OffloadStatusOk, Status> {
    let key = key_of(ctx.current()?);
    let (count, complete) = ctx.core.files.copies.status(ctx.client()?, key, args.stateid)?;
    Ok(OffloadStatusOk { count, complete })
}

/// RFC 7862 §15.8.
pub(crate) fn offload_cancel(ctx: &Ctx<'_>, args: OffloadArgs) -> Result<(), Status> {
    let key = key_of(ctx.current()?);
    ctx.core.files.copies.end(ctx.client()?, key, args.stateid)
}
