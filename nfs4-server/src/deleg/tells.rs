//! Grants and refusals as replies tell them (RFC 8881 §18.16.2, RFC 9754).

use nfs4_deleg::server::{Grant, Kind, Refusal};
use nfs4_proto::{
    Ace, AceFlags, AceMask, AceType, NoDelegation, OpenDelegation, Owner, ReadDelegation, SpaceLimit,
    StateId, WriteDelegation,
};
use nfs4_xdr::Text;

/// Nobody is let in without being asked for: clients ask ACCESS (§10.4).
fn nobody() -> Ace {
    Ace {
        ace_type: AceType::Allowed,
        flag: AceFlags::empty(),
        access_mask: AceMask::empty(),
        who: Owner::from(Text::default()),
    }
}

/// A delegation.
pub(crate) fn granted(stateid: StateId, grant: &Grant) -> OpenDelegation {
    let recall = grant.recall;
    match (grant.kind, grant.times) {
        (Kind::Read, times) => {
            let read = ReadDelegation { stateid, recall, permissions: nobody() };
            if times { OpenDelegation::ReadAttrs(read) } else { OpenDelegation::Read(read) }
        }
        (Kind::Write, times) => {
            // No space is promised beyond what the file has: a holder flushes as it closes (§10.4.1).
            let space_limit = SpaceLimit::Size(0);
            let write = WriteDelegation { stateid, recall, space_limit, permissions: nobody() };
            if times { OpenDelegation::WriteAttrs(write) } else { OpenDelegation::Write(write) }
        }
    }
}

/// Why there is none.
pub(crate) fn refused(why: Refusal) -> NoDelegation {
    match why {
        Refusal::NotWanted => NoDelegation::NotWanted,
        Refusal::Cancelled => NoDelegation::Cancelled,
        Refusal::Contention { will_push } => NoDelegation::Contention { will_push },
        // A second want is refused before anything is done; one that comes between is not promised anything.
        Refusal::AlreadyWanted => NoDelegation::Contention { will_push: false },
        Refusal::Resource { will_signal } => NoDelegation::Resource { will_signal },
        Refusal::NotSuppFtype => NoDelegation::NotSuppFtype,
        Refusal::WriteNotSuppFtype => NoDelegation::WriteDelegNotSuppFtype,
        Refusal::IsDir => NoDelegation::IsDir,
        Refusal::NotSuppUpgrade => NoDelegation::NotSuppUpgrade,
        Refusal::NotSuppDowngrade => NoDelegation::NotSuppDowngrade,
    }
}

/// As a label of a metric.
pub(crate) fn refusal_label(why: Refusal) -> &'static str {
    match why {
        Refusal::NotWanted => "not-wanted",
        Refusal::Cancelled => "cancelled",
        Refusal::Contention { .. } | Refusal::AlreadyWanted => "contention",
        Refusal::Resource { .. } => "resource",
        Refusal::NotSuppFtype | Refusal::WriteNotSuppFtype | Refusal::IsDir => "file-type",
        Refusal::NotSuppUpgrade => "no-upgrade",
        Refusal::NotSuppDowngrade => "no-downgrade",
    }
}
