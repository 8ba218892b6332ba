//! What happened, and what is to be done about it.

use alloc::vec::Vec;

use nfs4_proto::{NfsTime, SeqStatusFlags, StateId, Status};

use super::facts::{CbAnswer, CbKey, Grant, Kind, Lock, Opened, OwnerKey, StepKey};
use crate::server::Share;
use crate::{Now, Oid};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// A SEQUENCE succeeded.
    Sequence {
        /// When it was sent.
        sent: Now,
        /// `sr_status_flags`
        flags: SeqStatusFlags,
    },
    /// Dirty data reached stable storage.
    Flushed {
        /// The file.
        oid: Oid,
        /// Bytes that are still dirty.
        left: u64,
    },
    /// A pending truncation was done by SETATTR.
    SizeSet {
        /// The file.
        oid: Oid,
    },
    /// A delegated time moved.
    Times {
        /// The file.
        oid: Oid,
        /// To this `time_access`.
        access: Option<NfsTime>,
        /// To this `time_modify`.
        modify: Option<NfsTime>,
    },
    /// A step of a return ended so.
    StepDone {
        /// The step.
        key: StepKey,
        /// Its status.
        status: Status,
    },
    /// TEST_STATEID answered.
    Tested {
        /// One for each, in the order of [`ClientAction::Test`]; empty where the call failed.
        results: Vec<(Oid, StateId, Status)>,
    },
    /// FREE_STATEID answered.
    Freed {
        /// The stateid.
        stateid: StateId,
    },
    /// The server restarted, and this client may reclaim.
    Restarted,
    /// A reclaim ended. Where it was a call told by [`OwnOp::Open`], this comes before that call's
    /// [`OwnReply::Done`].
    Reclaimed {
        /// The file.
        oid: Oid,
        /// What came; `Ok(None)` where the opens were reclaimed without a delegation.
        result: Result<Option<Grant>, Status>,
    },
    /// The server knows this client no more, or dropped all its state.
    AllLost,
    /// The back channel came or went.
    BackChannel {
        /// It works.
        up: bool,
    },
    /// Return this one: its name is gone, or the credentials to flush it will be.
    Return {
        /// The file.
        oid: Oid,
    },
    /// Return all: unmount.
    ReturnAll,
}

/// What the client must do. A fact, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAction {
    /// A step of a return (RFC 8881 §10.4.4). Steps given out together may run side by side.
    Step {
        /// To be named in [`ClientEvent::StepDone`].
        key: StepKey,
        /// The file.
        oid: Oid,
        /// The delegation's stateid: what the step is done with, or what is returned.
        stateid: StateId,
        /// The step.
        step: Step,
    },
    /// The answer to a callback that had to wait.
    Answer {
        /// The callback.
        key: CbKey,
        /// Its answer.
        answer: CbAnswer,
    },
    /// Throw dirty data away: the file is being cut to nothing.
    Discard {
        /// The file.
        oid: Oid,
    },
    /// The delegation went back; from here the ordinary close-to-open regime.
    Forget {
        /// The file.
        oid: Oid,
    },
    /// The delegation is lost. Drop caches; dirty data must not be written (RFC 8881 §10.5.1) and is an error at fsync
    /// and close. Opens that only the delegation stood for are to be made anew; those that the server knew stay in the
    /// account until [`Holdings::closed`](super::Holdings::closed) says otherwise.
    Lost {
        /// The file.
        oid: Oid,
        /// There was dirty data.
        dirty: bool,
        /// Opens in use.
        opens: Vec<Opened>,
        /// Locks that only this client knew.
        locks: Vec<Lock>,
    },
    /// The opens could not be made real: an error to its user.
    OpenLost {
        /// The file.
        oid: Oid,
        /// The open.
        open: Opened,
        /// Why.
        status: Status,
    },
    /// A lock could not be made real: an error to its user.
    LockLost {
        /// The file.
        oid: Oid,
        /// The lock.
        lock: Lock,
        /// Why.
        status: Status,
    },
    /// A write delegation became a read delegation, or went without being lost, while there was more than that covers:
    /// make it real by ordinary OPEN, SETATTR, WRITE and LOCK.
    Downgraded {
        /// The file.
        oid: Oid,
        /// There is dirty data.
        dirty: bool,
        /// A truncation is due.
        truncate: Option<u64>,
        /// Opens that the server does not know.
        opens: Vec<Opened>,
        /// Locks that the server does not know.
        locks: Vec<Lock>,
    },
    /// TEST_STATEID of these.
    Test {
        /// At most [`Config::batch`](super::Config::batch).
        stateids: Vec<(Oid, StateId)>,
    },
    /// FREE_STATEID.
    Free {
        /// This one.
        stateid: StateId,
    },
    /// Reclaim: each open by OPEN CLAIM_PREVIOUS with this kind; without opens by WANT_DELEGATION CLAIM_PREVIOUS, or an
    /// OPEN and its CLOSE (RFC 8881 §10.2.1).
    Reclaim {
        /// The file.
        oid: Oid,
        /// What was held.
        kind: Kind,
        /// The opens in use.
        opens: Vec<Opened>,
    },
    /// All delegations are reclaimed or lost: as far as they go, RECLAIM_COMPLETE may follow.
    ReclaimDone,
}

/// A step of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// SETATTR of the size.
    Truncate {
        /// To this, in bytes.
        size: u64,
    },
    /// WRITE and COMMIT of all dirty data.
    Flush,
    /// OPEN CLAIM_DELEG_CUR_FH.
    Open(Opened),
    /// LOCK under its open.
    Lock(Lock),
    /// SETATTR of the delegated times (RFC 9754).
    Times {
        /// `time_deleg_access`
        access: Option<NfsTime>,
        /// `time_deleg_modify`
        modify: Option<NfsTime>,
    },
    /// CLOSE of an open that has no user.
    Close {
        /// Its owner.
        owner: OwnerKey,
    },
    /// OPEN_DOWNGRADE to what is still in use.
    Downgrade {
        /// The owner.
        owner: OwnerKey,
        /// What is left.
        share: Share,
    },
    /// DELEGRETURN.
    DelegReturn,
}
