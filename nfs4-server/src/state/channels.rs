//! Channel attributes (RFC 8881 §18.36.3), and the back channel's own side.

use std::sync::Mutex;

use nfs4_proto::Status;
use nfs4_xdr::rpc::AuthSys;

use tokio::sync::Notify;

use super::{Settings, lock};

/// `channel_attrs4` without RDMA. Sizes include RPC headers, not the record mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelAttrs {
    /// Always 0 in answers.
    pub headerpadsize: u32,
    /// Bytes of a request.
    pub maxrequestsize: u32,
    /// Bytes of a reply.
    pub maxresponsesize: u32,
    /// Bytes of a reply that is kept.
    pub maxresponsesize_cached: u32,
    /// Operations of a compound.
    pub maxoperations: u32,
    /// Slots.
    pub maxrequests: u32,
}

/// RPC call header with AUTH_NONE (40), empty tag, minor version and count (12), SEQUENCE (36).
const LEAST_REQUEST: u32 = 88;
/// RPC reply header with AUTH_NONE (24), status, empty tag and count (12), SEQUENCE's result (44).
const LEAST_RESPONSE: u32 = 80;
/// RPC call header with AUTH_NONE (40), CB_COMPOUND's own (16), CB_SEQUENCE without referring calls (40).
const LEAST_CB_REQUEST: u32 = 96;
/// RPC reply header (24), CB_COMPOUND's own (12), CB_SEQUENCE's result (40).
const LEAST_CB_RESPONSE: u32 = 76;
/// CB_SEQUENCE and one more.
const LEAST_CB_OPERATIONS: u32 = 2;

impl ChannelAttrs {
    /// What is granted of a fore channel: never more than is asked for. NFS4ERR_TOOSMALL where not even SEQUENCE fits,
    /// NFS4ERR_INVAL for no operation or no slot.
    pub(super) fn fore(self, settings: &Settings) -> Result<Self, Status> {
        if self.maxrequestsize < LEAST_REQUEST || self.maxresponsesize < LEAST_RESPONSE {
            return Err(Status::TooSmall);
        }
        if self.maxoperations == 0 || self.maxrequests == 0 {
            return Err(Status::Inval);
        }
        let maxresponsesize = self.maxresponsesize.min(settings.record_bytes);
        Ok(Self {
            headerpadsize: 0,
            maxrequestsize: self.maxrequestsize.min(settings.record_bytes),
            maxresponsesize,
            maxresponsesize_cached: self
                .maxresponsesize_cached
                .min(settings.reply_cached_bytes)
                .min(maxresponsesize),
            maxoperations: self.maxoperations.min(settings.operations),
            maxrequests: self.maxrequests.min(settings.slots_start).max(1),
        })
    }

    /// What is granted of a back channel: operations and slots are the client's and not changed. Kept replies are of no
    /// use: callbacks are idempotent.
    pub(super) fn back(self, settings: &Settings) -> Self {
        Self {
            headerpadsize: 0,
            maxrequestsize: self.maxrequestsize.min(settings.record_bytes),
            maxresponsesize: self.maxresponsesize.min(settings.record_bytes),
            maxresponsesize_cached: 0,
            maxoperations: self.maxoperations,
            maxrequests: self.maxrequests,
        }
    }

    /// Whether a reply with nothing but SEQUENCE's result may be kept (RFC 8881 §2.10.6.4).
    pub(super) fn keeps_replies(&self) -> bool {
        self.maxresponsesize_cached >= LEAST_RESPONSE
    }

    /// Whether a callback fits at all.
    pub(super) fn carries_callbacks(&self) -> bool {
        self.maxrequestsize >= LEAST_CB_REQUEST
            && self.maxresponsesize >= LEAST_CB_RESPONSE
            && self.maxoperations >= LEAST_CB_OPERATIONS
            && self.maxrequests > 0
    }
}

/// `channel_dir_from_client4`: RFC 8881 §18.34.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelDir {
    /// `CDFC4_FORE`; as an answer `CDFS4_FORE`.
    Fore,
    /// `CDFC4_BACK`; as an answer `CDFS4_BACK`.
    Back,
    /// `CDFC4_FORE_OR_BOTH`; as an answer `CDFS4_BOTH`.
    ForeOrBoth,
    /// `CDFC4_BACK_OR_BOTH`; never an answer.
    BackOrBoth,
}

impl ChannelDir {
    /// The number on the wire of a server's answer.
    #[must_use]
    pub fn from_server(self) -> u32 {
        match self {
            Self::Fore => 1,
            Self::Back => 2,
            Self::ForeOrBoth | Self::BackOrBoth => 3,
        }
    }
}

/// One of `csa_sec_parms`: a credential that the client takes in callbacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackCred {
    /// AUTH_NONE.
    None,
    /// AUTH_SYS.
    Sys(AuthSys),
    /// RPCSEC_GSS, which this server does not speak.
    Gss,
}

/// The first credential that we can use. None where the list is empty, NFS4ERR_NOENT where all are GSS contexts: we
/// have none of them.
pub(super) fn usable(creds: Vec<CallbackCred>) -> Result<Option<CallbackCred>, Status> {
    if creds.is_empty() {
        return Ok(None);
    }
    let found = creds.into_iter().find(|cred| *cred != CallbackCred::Gss);
    found.map(Some).ok_or(Status::NoEnt)
}

/// Callback slots in use of one session at most, whatever the client offers: what is sent at once is bounded by us.
const CALLBACK_SLOTS: u32 = 64;

/// The server as the sender of callbacks on one session.
#[derive(Debug)]
pub(super) struct Back {
    /// As granted.
    pub(super) attrs: ChannelAttrs,
    inner: Mutex<Inner>,
    /// A slot came free.
    pub(super) freed: Notify,
}

#[derive(Debug)]
struct Inner {
    program: u32,
    cred: Option<CallbackCred>,
    slots: Vec<CallbackSlot>,
}

#[derive(Clone, Copy, Debug)]
struct CallbackSlot {
    /// Last sequence ID that the client has taken.
    taken: u32,
    is: SlotIs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotIs {
    Free,
    Busy,
    /// Nobody knows whether the client took the next sequence ID. Another request under it could be taken for a retry,
    /// so nothing is sent until [`CallbackTurn`] of [`Back::take_lost`] has settled it.
    Lost,
}

/// A callback's slot: what CB_SEQUENCE says. Sequence IDs start at 1 with each session and outlive connections; a lost
/// call is sent again with the same ones. RFC 8881 §2.10.6.2, §20.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackTurn {
    /// `csa_slotid`.
    pub slot: u32,
    /// `csa_sequenceid`.
    pub seqid: u32,
    /// `csa_highest_slotid`.
    pub highest: u32,
}

/// What became of a callback's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackFate {
    /// CB_SEQUENCE was answered with NFS4_OK: the next one is new.
    Taken,
    /// The client refused CB_SEQUENCE, so its slot did not move.
    Refused,
    /// No answer came.
    Unknown,
}

impl Back {
    pub(super) fn new(attrs: ChannelAttrs, program: u32, cred: Option<CallbackCred>) -> Self {
        let slots = attrs.maxrequests.min(CALLBACK_SLOTS) as usize;
        let slots = vec![CallbackSlot { taken: 0, is: SlotIs::Free }; slots];
        Self { attrs, inner: Mutex::new(Inner { program, cred, slots }), freed: Notify::new() }
    }

    /// Whether callbacks can be made, given a connection.
    pub(super) fn usable(&self) -> bool {
        self.attrs.carries_callbacks() && lock(&self.inner).cred.is_some()
    }

    /// Program number and credential for the next call.
    pub(super) fn how(&self) -> Option<(u32, CallbackCred)> {
        let inner = lock(&self.inner);
        inner.cred.clone().map(|cred| (inner.program, cred))
    }

    /// BACKCHANNEL_CTL: program and credential for later calls.
    pub(super) fn control(&self, program: u32, cred: Option<CallbackCred>) {
        let mut inner = lock(&self.inner);
        inner.program = program;
        if cred.is_some() {
            inner.cred = cred;
        }
    }

    /// The lowest slot of that kind, for the sequence ID that is `ahead` of the last one taken.
    fn occupy(&self, kind: SlotIs, ahead: u32) -> Option<CallbackTurn> {
        let mut inner = lock(&self.inner);
        let at = inner.slots.iter().position(|slot| slot.is == kind)?;
        let slot = inner.slots.get_mut(at)?;
        slot.is = SlotIs::Busy;
        let seqid = slot.taken.wrapping_add(ahead);
        let highest = inner.slots.iter().rposition(|slot| slot.is == SlotIs::Busy).unwrap_or(at);
        Some(CallbackTurn { slot: u32::try_from(at).ok()?, seqid, highest: u32::try_from(highest).ok()? })
    }

    /// The lowest free slot.
    pub(super) fn take(&self) -> Option<CallbackTurn> {
        self.occupy(SlotIs::Free, 1)
    }

    /// A slot of unknown fate, with the sequence ID behind the one that was lost: a CB_SEQUENCE with it succeeds where
    /// the client took that one, and is misordered where it did not.
    pub(super) fn take_lost(&self) -> Option<CallbackTurn> {
        self.occupy(SlotIs::Lost, 2)
    }

    /// Ends a turn. One of [`take_lost`](Self::take_lost) is refused where the sequence ID was misordered: then the
    /// client has not taken the one that was lost.
    pub(super) fn put(&self, turn: CallbackTurn, fate: CallbackFate) {
        let mut inner = lock(&self.inner);
        let Some(slot) = inner.slots.get_mut(turn.slot as usize) else { return };
        match fate {
            CallbackFate::Taken => *slot = CallbackSlot { taken: turn.seqid, is: SlotIs::Free },
            CallbackFate::Refused => slot.is = SlotIs::Free,
            CallbackFate::Unknown => slot.is = SlotIs::Lost,
        }
        drop(inner);
        if fate != CallbackFate::Unknown {
            self.freed.notify_one();
        }
    }
}
