//! CB_NOTIFY_LOCK: RFC 8881 §20.11.

use std::sync::Arc;
use std::time::Duration;

use nfs4_deleg::Millis;
use nfs4_proto::{CbArgOp, CbNotifyLockArgs, CbResOp, StateOwner, Status};
use nfs4_xdr::Opaque;

use super::{Callback, CbError, call};
use crate::core::Core;
use crate::state::LockCall;

/// Tells lock owners that what they wait for may be had, for as long as the server runs.
pub(crate) async fn tell_waiters(core: Arc<Core>) {
    loop {
        core.files.lock_calls_due().await;
        // A reload may have changed it.
        let hold = Millis::from_secs(core.limits().lock_hold.into());
        for due in core.files.take_lock_calls(core.now(), hold) {
            let beside = Arc::clone(&core);
            core.beside(async move {
                if let Err(reason) = tell(&beside, &due).await {
                    tracing::debug!(client = due.client.0, reason, "CB_NOTIFY_LOCK in vain");
                    beside.files.lock_call_failed(&due);
                }
            });
        }
    }
}

/// How often a client is asked that says NFS4ERR_DELAY; the time between doubles from 50 ms.
const TRIES: u32 = 5;

async fn tell(core: &Core, due: &LockCall) -> Result<(), String> {
    let owner = Opaque::new(due.owner.to_vec()).ok_or("an owner that is too long")?;
    let args =
        CbNotifyLockArgs { fh: due.fh.clone(), lock_owner: StateOwner { clientid: due.client, owner } };
    let callback = Callback { ops: vec![CbArgOp::NotifyLock(args)], referring: Vec::new() };
    let mut pause = Duration::from_millis(50);
    for _ in 0..TRIES {
        let status = match call(core, due.client, callback.clone()).await {
            // It is the hint that counts, not the answer.
            Err(CbError::AnswerLost) => return Ok(()),
            Err(CbError::Refused(status)) => status,
            Err(error) => return Err(error.to_string()),
            Ok(results) => results.first().map_or(Status::ServerFault, CbResOp::status),
        };
        if status == Status::Ok {
            return Ok(());
        }
        if status != Status::Delay {
            return Err(status.to_string());
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
    Err(Status::Delay.to_string())
}
