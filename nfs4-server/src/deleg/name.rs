//! Stateids of delegations: which machine, and which delegation of it.
//!
//! `other` is made as an open's is, with a kind of its own; its index is the machine's number (8 bits) and the place in
//! the machine (20 bits).

use nfs4_deleg::server::{DelegId, DelegRef};
use nfs4_proto::StateId;

use crate::state::{pack, unpack};

/// The bits of a delegation's stateid, beside those of opens, locks and copies.
const DELEGATION: u64 = 4;
const KEY_BITS: u32 = 20;
/// Most delegations of one export: places that a stateid can name.
pub(crate) const MOST: u32 = 1 << KEY_BITS;

/// The stateid of a delegation in this boot.
pub(crate) fn stateid(machine: u8, deleg: DelegRef, epoch: u32) -> StateId {
    let generation = u32::try_from(deleg.id.0 >> 32).unwrap_or(0);
    let key = u32::try_from(deleg.id.0 & u64::from(MOST - 1)).unwrap_or(0);
    let index = u32::from(machine) << KEY_BITS | key;
    StateId { seqid: deleg.seqid, other: pack(DELEGATION, (index, generation), epoch) }
}

/// The machine's number and the delegation that a stateid names; `None` for any other stateid.
pub(crate) fn named(stateid: StateId, epoch: u32) -> Option<(u8, DelegRef)> {
    if stateid.is_special() {
        return None;
    }
    let (kind, (index, generation)) = unpack(stateid.other, epoch).ok()?;
    if kind != DELEGATION {
        return None;
    }
    let id = DelegId(u64::from(generation) << 32 | u64::from(index & (MOST - 1)));
    Some((u8::try_from(index >> KEY_BITS).ok()?, DelegRef { id, seqid: stateid.seqid }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_delegation_in_its_boot_only() {
        for (machine, generation, key) in [(0, 1, 0), (255, u32::MAX, MOST - 1), (7, 9, 12_345)] {
            let id = DelegId(u64::from(generation) << 32 | u64::from(key));
            let deleg = DelegRef { id, seqid: 3 };
            let name = stateid(machine, deleg, 77);
            assert_eq!(named(name, 77), Some((machine, deleg)));
            assert_eq!(named(name, 78), None);
        }
        assert_eq!(named(StateId::ANONYMOUS, 0), None);
    }
}
