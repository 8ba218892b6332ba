//! What the server must do, and what it tells.

use super::{Cause, CbId, DelegId, DelegRef, Grant, Kind, Triple, WaitId};
use crate::{ClientKey, Oid};

/// A fact that the server must carry out. What became of a callback comes back as [`Event::CbDone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// CB_RECALL (RFC 8881 §20.2).
    Recall {
        /// Names the callback.
        cb: CbId,
        /// To whom.
        client: ClientKey,
        /// What; with seqid 0 (§8.2.2).
        deleg: DelegRef,
        /// The file.
        oid: Oid,
        /// Dirty data needs no flush: the file will be cut to nothing.
        truncate: bool,
        /// The referring call.
        referring: Option<Triple>,
    },
    /// CB_GETATTR of change and size, and with `times` of time_deleg_access and time_deleg_modify (§20.1).
    GetAttr {
        /// Names the callback.
        cb: CbId,
        /// To whom.
        client: ClientKey,
        /// The file.
        oid: Oid,
        /// The delegated times too.
        times: bool,
        /// The referring call.
        referring: Option<Triple>,
    },
    /// CB_PUSH_DELEG (§20.5).
    Push {
        /// Names the callback.
        cb: CbId,
        /// To whom.
        client: ClientKey,
        /// The file.
        oid: Oid,
        /// What.
        grant: Grant,
    },
    /// CB_RECALL_ANY (§20.6), best effort: nothing comes back.
    RecallAny {
        /// To whom.
        client: ClientKey,
        /// Most file delegations that it is to keep.
        keep: usize,
    },
    /// CB_RECALLABLE_OBJ_AVAIL (§20.7), best effort.
    Available {
        /// To whom.
        client: ClientKey,
        /// Of which kind.
        kind: Kind,
    },
    /// CB_WANTS_CANCELLED (§20.10), best effort.
    WantsCancelled {
        /// To whom.
        client: ClientKey,
        /// Wants that waited for contention to end.
        contended: bool,
        /// Wants that waited for room.
        resourced: bool,
    },
    /// The file's own change number must be at least this from now on: others were told it while a delegation stood
    /// that is no more.
    Advance {
        /// The delegation.
        id: DelegId,
        /// The file.
        oid: Oid,
        /// At least.
        change: u64,
    },
    /// The waiting operation comes again: [`admit_again`](super::Delegations::admit_again), or
    /// [`attrs_again`](super::Delegations::attrs_again).
    Resume(WaitId),
    /// The waiting operation answers NFS4ERR_DELAY.
    GiveUp(WaitId),
    /// A delegation was taken; [`flags`](super::Delegations::flags) tells what SEQUENCE says.
    Revoked {
        /// From whom.
        client: ClientKey,
        /// What.
        id: DelegId,
        /// Why.
        cause: Cause,
    },
}

/// Seconds and nanoseconds (`nfstime4`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Since 1970.
    pub seconds: i64,
    /// Below 10⁹.
    pub nanos: u32,
}

/// How a callback ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbOutcome {
    /// NFS4_OK
    Ok,
    /// NFS4_OK of CB_GETATTR.
    Attrs {
        /// `change`
        change: u64,
        /// `size`
        size: u64,
        /// `time_deleg_access`
        access: Option<Stamp>,
        /// `time_deleg_modify`
        modify: Option<Stamp>,
    },
    /// NFS4ERR_DELAY
    Delay,
    /// NFS4ERR_BADHANDLE, NFS4ERR_BAD_STATEID: the client says that it has none.
    Unknown,
    /// NFS4ERR_REJECT_DELEG
    Rejected,
    /// Another status.
    Refused,
    /// No answer.
    Lost,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A client was confirmed.
    Client(ClientKey),
    /// Its back channel was proven to work, or is known not to.
    BackChannel {
        /// Whose.
        client: ClientKey,
        /// It works.
        up: bool,
    },
    /// A callback ended.
    CbDone {
        /// Which.
        cb: CbId,
        /// How.
        outcome: CbOutcome,
    },
    /// The client used the slot again, so it has seen the reply of this call.
    ReplySeen {
        /// Whose.
        client: ClientKey,
        /// Which.
        call: Triple,
    },
    /// A client's lease has passed. All is kept until somebody needs it.
    Expired(ClientKey),
    /// It came back before all was taken.
    Renewed(ClientKey),
    /// It is gone, with all that it had.
    Gone(ClientKey),
    /// RECLAIM_COMPLETE.
    ReclaimComplete(ClientKey),
    /// Grace began, or is over.
    Grace(bool),
    /// The administrator takes a delegation.
    AdminRevoke(DelegId),
    /// Something other than an operation of a client touched a file: whoever must return it is called.
    OutOfBand {
        /// The file.
        oid: Oid,
        /// For writing: readers' delegations are called back too.
        write: bool,
    },
    /// Less room: most delegations from now on, up to the configured number.
    Pressure(usize),
    /// The server drops the wants of a client.
    DropWants(ClientKey),
    /// Other switches and bounds. What is held stays.
    Config(super::Config),
}
