//! Wrong decisions on purpose, one at a time, to see whether the tests notice. Without the feature `faults` none can be
//! switched on, and the compiler removes them.

use super::{Delegations, Row};

/// A decision made wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// OpenRead needs nothing of anybody.
    NoOpenReadConflict,
    /// OpenWrite needs nothing of anybody.
    NoOpenWriteConflict,
    /// OpenTruncate needs nothing of anybody.
    NoOpenTruncateConflict,
    /// Read needs nothing of anybody.
    NoReadConflict,
    /// Write needs nothing of anybody.
    NoWriteConflict,
    /// SetAttr needs nothing of anybody.
    NoSetAttrConflict,
    /// Xattr needs nothing of anybody.
    NoXattrConflict,
    /// Lock needs nothing of anybody.
    NoLockConflict,
    /// Link needs nothing of anybody.
    NoLinkConflict,
    /// Remove needs nothing of anybody.
    NoRemoveConflict,
    /// RenameSource needs nothing of anybody.
    NoRenameSourceConflict,
    /// RenameVictim needs nothing of anybody.
    NoRenameVictimConflict,
    /// GETATTR needs nothing of anybody.
    NoGetAttrConflict,
    /// An operation goes on before the delegation is back.
    AdmittedWhileRecalling,
    /// CB_GETATTR goes to whoever asks.
    AskerAsked,
    /// WANT_CANCEL is answered NOT_WANTED.
    CancelIsNotWanted,
    /// WANT_CANCEL leaves the want.
    CancelKeepsWant,
    /// The change number goes back.
    ChangeGoesBack,
    /// A second question gets the same change number.
    ChangeStandsStill,
    /// An expired client's delegation is called back instead of taken.
    CourtesyWaits,
    /// A repeated recall moves the deadline.
    DeadlineMoved,
    /// The SEQ4 flag goes before the last is freed.
    FlagClearedEarly,
    /// Another client's stateid is accepted.
    ForeignStateid,
    /// FREE_STATEID frees what is held.
    FreeLive,
    /// GETATTR does not ask the writer.
    GetAttrIgnoresWriter,
    /// A client that did not return is granted again.
    GrantAfterRevocation,
    /// A grant comes between the last return and whoever waits.
    GrantBeforeWaiter,
    /// There are grants in grace.
    GrantInGrace,
    /// There are grants without a back channel.
    GrantToDeaf,
    /// Other holders do not hinder a grant.
    HoldersIgnored,
    /// The change number moves on after a flush.
    ModifiedForEver,
    /// What is not returned is never taken.
    NeverRevoked,
    /// Whoever waits is not told to give up.
    NoPatience,
    /// A file is granted again right after a recall.
    NoQuiet,
    /// A recall that was not taken is not repeated.
    NoRetry,
    /// An old seqid is accepted.
    OldSeqidAccepted,
    /// Only the first of two holders is called back.
    OnlyFirstHolderRecalled,
    /// Other opens do not hinder a grant.
    OpensIgnored,
    /// Another file's stateid is accepted.
    OtherFilesStateid,
    /// A client's own delegation stands in its way.
    OwnDelegationRecalled,
    /// The file's own size is told while the holder has more.
    OwnSizeWhileModified,
    /// Running operations do not hinder a grant.
    PermitsIgnored,
    /// A promised push does not come.
    PushForgotten,
    /// CB_RECALL is not sent.
    RecallNotSent,
    /// The answer to CB_RECALL is taken for the return.
    RecallOkIsReturn,
    /// A reclaim after RECLAIM_COMPLETE is granted.
    ReclaimAfterComplete,
    /// A reclaim gets nothing.
    ReclaimGrantsNone,
    /// A reclaim outside of grace is granted.
    ReclaimOutsideGrace,
    /// The referring call is never dropped.
    ReferringForEver,
    /// The referring call is left out.
    ReferringOmitted,
    /// A rejected push is kept.
    RejectedKept,
    /// A revoked stateid answers BAD_STATEID.
    RevokedAnswersBad,
    /// A revoked delegation is dropped at once.
    RevokedForgotten,
    /// A revoked stateid still covers.
    RevokedStillCovers,
    /// CB_RECALL carries a seqid.
    SeqidInRecall,
    /// A promised signal does not come.
    SignalForgotten,
    /// A holder that does not answer CB_GETATTR is not called back.
    SilentHolderKept,
    /// CB_RECALL always says truncate.
    TruncateAlways,
    /// A client that has not seen the grant is believed to have none.
    UnknownBelievedUnseen,
    /// An upgrade keeps the change number of the first grant.
    UpgradeKeepsChange,
    /// An upgrade keeps the seqid.
    UpgradeKeepsSeqid,
    /// An upgrade gets another `other`.
    UpgradeRenames,
    /// A delegation that is called back is upgraded.
    UpgradeWhileRecalling,
    /// Whoever can go on is not told.
    WaiterForgotten,
    /// A read delegation covers a WRITE.
    WriteUnderRead,
}

impl Fault {
    /// All.
    pub const ALL: &[Self] = &[
        Self::NoOpenReadConflict,
        Self::NoOpenWriteConflict,
        Self::NoOpenTruncateConflict,
        Self::NoReadConflict,
        Self::NoWriteConflict,
        Self::NoSetAttrConflict,
        Self::NoXattrConflict,
        Self::NoLockConflict,
        Self::NoLinkConflict,
        Self::NoRemoveConflict,
        Self::NoRenameSourceConflict,
        Self::NoRenameVictimConflict,
        Self::AdmittedWhileRecalling,
        Self::AskerAsked,
        Self::CancelIsNotWanted,
        Self::CancelKeepsWant,
        Self::ChangeGoesBack,
        Self::ChangeStandsStill,
        Self::CourtesyWaits,
        Self::DeadlineMoved,
        Self::FlagClearedEarly,
        Self::ForeignStateid,
        Self::FreeLive,
        Self::GetAttrIgnoresWriter,
        Self::GrantAfterRevocation,
        Self::GrantBeforeWaiter,
        Self::GrantInGrace,
        Self::GrantToDeaf,
        Self::HoldersIgnored,
        Self::ModifiedForEver,
        Self::NeverRevoked,
        Self::NoPatience,
        Self::NoQuiet,
        Self::NoRetry,
        Self::OldSeqidAccepted,
        Self::OnlyFirstHolderRecalled,
        Self::OpensIgnored,
        Self::OtherFilesStateid,
        Self::OwnDelegationRecalled,
        Self::OwnSizeWhileModified,
        Self::PermitsIgnored,
        Self::PushForgotten,
        Self::RecallNotSent,
        Self::RecallOkIsReturn,
        Self::ReclaimAfterComplete,
        Self::ReclaimGrantsNone,
        Self::ReclaimOutsideGrace,
        Self::ReferringForEver,
        Self::ReferringOmitted,
        Self::RejectedKept,
        Self::RevokedAnswersBad,
        Self::RevokedForgotten,
        Self::RevokedStillCovers,
        Self::SeqidInRecall,
        Self::SignalForgotten,
        Self::SilentHolderKept,
        Self::TruncateAlways,
        Self::UnknownBelievedUnseen,
        Self::UpgradeKeepsChange,
        Self::UpgradeKeepsSeqid,
        Self::UpgradeRenames,
        Self::UpgradeWhileRecalling,
        Self::WaiterForgotten,
        Self::WriteUnderRead,
    ];

    /// The one that leaves out a row of the conflict table.
    pub(super) const fn row(row: Row) -> Self {
        match row {
            Row::OpenRead => Self::NoOpenReadConflict,
            Row::OpenWrite => Self::NoOpenWriteConflict,
            Row::OpenTruncate => Self::NoOpenTruncateConflict,
            Row::Read => Self::NoReadConflict,
            Row::Write => Self::NoWriteConflict,
            Row::SetAttr => Self::NoSetAttrConflict,
            Row::Xattr => Self::NoXattrConflict,
            Row::Lock => Self::NoLockConflict,
            Row::Link => Self::NoLinkConflict,
            Row::Remove => Self::NoRemoveConflict,
            Row::RenameSource => Self::NoRenameSourceConflict,
            Row::RenameVictim => Self::NoRenameVictimConflict,
            Row::GetAttr => Self::NoGetAttrConflict,
        }
    }
}

/// The fault that the tests of this run are to find: `NFS4_FAULT`, by its name. For `cargo xtask faults`.
#[cfg(all(test, feature = "faults"))]
pub(super) fn of_this_run() -> Option<Fault> {
    extern crate std;
    let name = std::env::var("NFS4_FAULT").ok()?;
    let known = Fault::ALL.iter().copied().find(|fault| alloc::format!("{fault:?}") == name);
    Some(known.unwrap_or_else(|| panic!("NFS4_FAULT={name}: no such fault")))
}

#[cfg(all(not(test), feature = "faults"))]
pub(super) const fn of_this_run() -> Option<Fault> {
    None
}

/// Whether faults can be switched on in this build. Never in a server.
pub const SEEDABLE: bool = cfg!(feature = "faults");

impl Delegations {
    /// Makes a decision wrongly from now on.
    #[cfg(feature = "faults")]
    pub fn seed(&mut self, fault: Option<Fault>) {
        self.seeded = fault;
    }

    #[cfg(feature = "faults")]
    pub(super) fn fault(&self, fault: Fault) -> bool {
        self.seeded == Some(fault)
    }

    #[cfg(not(feature = "faults"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    pub(super) const fn fault(&self, _fault: Fault) -> bool {
        false
    }
}
