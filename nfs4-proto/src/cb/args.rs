//! Arguments and results of callbacks.

use nfs4_xdr::{
    Decode, Encode, EncodeError, Input, List, Parsed, Writer, xdr_enum, xdr_flags, xdr_struct, xdr_union,
};

use crate::{
    AttrSet, Bitmap4, Fh, Fsid, LayoutIoMode, LayoutType, NotifyList, NotifyRaw, OpenDelegation, SessionId,
    StateId, StateOwner, Status, WriteResponse,
};

xdr_struct! {
    /// RFC 8881 §20.1.1.
    pub struct CB_GETATTR4args as CbGetattrArgs {
        /// The file.
        pub fh: Fh,
        /// The attributes wanted.
        pub attr_request: AttrSet,
    }

    /// RFC 8881 §20.2.1.
    pub struct CB_RECALL4args as CbRecallArgs {
        /// The delegation.
        pub stateid: StateId,
        /// The file is about to be truncated: written data need not be flushed.
        pub truncate: bool,
        /// The file or directory.
        pub fh: Fh,
    }
}

xdr_enum! {
    /// What is recalled. RFC 8881 §20.3.1.
    pub enum layoutrecall_type4 as LayoutRecallType {
        /// Of one file.
        File = 1 "LAYOUTRECALL4_FILE",
        /// Of one file system.
        Fsid = 2 "LAYOUTRECALL4_FSID",
        /// All.
        All = 3 "LAYOUTRECALL4_ALL",
    }
}

xdr_union! {
    /// RFC 8881 §20.3.1.
    pub union layoutrecall4 as LayoutRecall switch (LayoutRecallType) {
        /// Of one file.
        File => File {
            /// The file.
            fh: Fh,
            /// First byte.
            offset: u64,
            /// Bytes.
            length: u64,
            /// The layout.
            stateid: StateId,
        },
        /// Of one file system.
        Fsid => Fsid(Fsid),
        /// All.
        All => All,
    }
}

xdr_flags! {
    /// Kinds of objects in CB_RECALL_ANY and CB_RECALLABLE_OBJ_AVAIL; on the wire a `bitmap4` of which this is the
    /// first word. RFC 8881 §20.6.1, RFC 8435 §12.
    pub struct RecallTypes: u32 {
        /// Delegations of files for reading.
        const RDATA_DLG = 1;
        /// Delegations of files for writing.
        const WDATA_DLG = 1 << 1;
        /// Delegations of directories.
        const DIR_DLG = 1 << 2;
        /// Layouts of files.
        const FILE_LAYOUT = 1 << 3;
        /// Layouts of blocks.
        const BLK_LAYOUT = 1 << 4;
        /// Flexible file layouts for reading.
        const FF_LAYOUT_READ = 1 << 16;
        /// Flexible file layouts for reading and writing.
        const FF_LAYOUT_RW = 1 << 17;
    }
}

impl RecallTypes {
    /// The kinds of a bitmap, as far as they have names.
    #[must_use]
    pub fn from_bitmap(map: &Bitmap4) -> Self {
        Self::from_bits_truncate(map.words().first().copied().unwrap_or(0))
    }

    /// As a bitmap.
    #[must_use]
    pub fn to_bitmap(self) -> Bitmap4 {
        Bitmap4::from_words(&[self.bits()])
    }
}

xdr_struct! {
    /// RFC 8881 §20.3.1.
    pub struct CB_LAYOUTRECALL4args as CbLayoutrecallArgs {
        /// The layout type.
        pub layout_type: LayoutType,
        /// For what.
        pub iomode: LayoutIoMode,
        /// The layout will change: don't write through it.
        pub changed: bool,
        /// Which.
        pub recall: LayoutRecall,
    }

    /// RFC 8881 §20.4.1.
    pub struct CB_NOTIFY4args as CbNotifyArgs {
        /// The delegation.
        pub stateid: StateId,
        /// The directory.
        pub fh: Fh,
        /// What happened, in order.
        pub changes: NotifyList,
    }

    /// RFC 8881 §20.5.1.
    pub struct CB_PUSH_DELEG4args as CbPushDelegArgs {
        /// The file.
        pub fh: Fh,
        /// The delegation.
        pub delegation: OpenDelegation,
    }

    /// CB_RECALL_ANY and CB_RECALLABLE_OBJ_AVAIL. RFC 8881 §20.6.1, §20.7.1.
    pub struct CB_RECALL_ANY4args as CbRecallAnyArgs {
        /// Objects of these kinds that may be kept, or can be had.
        pub objects_to_keep: u32,
        /// Which kinds; see [`RecallTypes`].
        pub type_mask: Bitmap4,
    }

    /// RFC 8881 §20.8.1.
    #[derive(Copy)]
    pub struct CB_RECALL_SLOT4args as CbRecallSlotArgs {
        /// The highest slot that may be kept.
        pub target_highest_slotid: u32,
    }

    /// A request whose reply the callback may have overtaken. RFC 8881 §20.9.1.
    #[derive(Copy)]
    pub struct referring_call4 as ReferringCall {
        /// The slot's sequence; it comes first on the wire.
        pub sequenceid: u32,
        /// The slot.
        pub slotid: u32,
    }

    /// RFC 8881 §20.9.1.
    pub struct referring_call_list4 as ReferringCallList {
        /// The session.
        pub sessionid: SessionId,
        /// Its requests.
        pub referring_calls: List<ReferringCall, 65_536>,
    }

    /// RFC 8881 §20.9.1.
    pub struct CB_SEQUENCE4args as CbSequenceArgs {
        /// The session.
        pub sessionid: SessionId,
        /// One more than the slot's last; wraps to 0.
        pub sequenceid: u32,
        /// The slot.
        pub slotid: u32,
        /// The highest slot in use.
        pub highest_slotid: u32,
        /// Keep the reply for a retry.
        pub cachethis: bool,
        /// Requests whose replies this may have overtaken.
        pub referring_call_lists: List<ReferringCallList, 65_536>,
    }

    /// RFC 8881 §20.9.2.
    #[derive(Copy)]
    pub struct CB_SEQUENCE4resok as CbSequenceOk {
        /// As in the request.
        pub sessionid: SessionId,
        /// As in the request.
        pub sequenceid: u32,
        /// As in the request.
        pub slotid: u32,
        /// The highest slot that may be used.
        pub highest_slotid: u32,
        /// The highest slot that should be used.
        pub target_highest_slotid: u32,
    }

    /// RFC 8881 §20.10.1.
    #[derive(Copy)]
    pub struct CB_WANTS_CANCELLED4args as CbWantsCancelledArgs {
        /// Wants that waited for others to close.
        pub contended_wants_cancelled: bool,
        /// Wants that waited for resources.
        pub resourced_wants_cancelled: bool,
    }

    /// RFC 8881 §20.11.1.
    pub struct CB_NOTIFY_LOCK4args as CbNotifyLockArgs {
        /// The file.
        pub fh: Fh,
        /// Who wanted the lock.
        pub lock_owner: StateOwner,
    }

    /// RFC 8881 §20.12.1.
    pub struct CB_NOTIFY_DEVICEID4args as CbNotifyDeviceidArgs {
        /// What happened.
        pub changes: List<NotifyRaw, 65_536>,
    }

    /// RFC 7862 §16.1.1.
    pub struct CB_OFFLOAD4args as CbOffloadArgs {
        /// The destination.
        pub fh: Fh,
        /// The work.
        pub stateid: StateId,
        /// How it ended.
        pub info: OffloadInfo,
    }
}

/// How a copy ended (`offload_info4`). RFC 7862 §16.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffloadInfo {
    /// Well.
    Ok(WriteResponse),
    /// Not well.
    Failed {
        /// Why; not NFS4_OK.
        status: Status,
        /// Bytes until then.
        bytes_copied: u64,
    },
}

impl Decode for OffloadInfo {
    const MIN_WIRE: usize = 12;
    fn decode(input: Input<'_>) -> Parsed<'_, Self> {
        let (rest, status) = Status::decode(input)?;
        if status == Status::Ok {
            let (rest, response) = WriteResponse::decode(rest)?;
            return Ok((rest, Self::Ok(response)));
        }
        let (rest, bytes_copied) = u64::decode(rest)?;
        Ok((rest, Self::Failed { status, bytes_copied }))
    }
}

impl OffloadInfo {
    fn status(&self) -> Status {
        match self {
            Self::Ok(_) => Status::Ok,
            Self::Failed { status, .. } => crate::OpError::status(status),
        }
    }
}

impl Encode for OffloadInfo {
    fn encoded_len(&self) -> usize {
        match self {
            Self::Ok(response) => response.encoded_len().saturating_add(4),
            Self::Failed { .. } => 12,
        }
    }
    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        self.status().encode(w)?;
        match self {
            Self::Ok(response) => response.encode(w),
            Self::Failed { bytes_copied, .. } => bytes_copied.encode(w),
        }
    }
}

#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for OffloadInfo {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let status: Status = u.arbitrary()?;
        if status == Status::Ok {
            return Ok(Self::Ok(u.arbitrary()?));
        }
        Ok(Self::Failed { status, bytes_copied: u.arbitrary()? })
    }
}
