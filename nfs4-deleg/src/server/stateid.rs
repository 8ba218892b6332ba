//! Stateids of delegations: using, returning, testing, freeing them (RFC 8881 §8.2.4, §18.6, §18.38, §18.48).

use nfs4_proto::{SeqStatusFlags, Status};

use super::object::Deleg;
use super::{Cause, DelegId, DelegRef, Delegations, Fault, Kind};
use crate::{ClientKey, Now, Oid};

/// What a stateid stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covers {
    /// Read or write.
    pub kind: Kind,
    /// SETATTR of the delegated times is allowed (RFC 9754).
    pub times: bool,
}

impl Delegations {
    fn named(&self, client: ClientKey, oid: Oid, deleg: DelegRef) -> Result<&Deleg, Status> {
        let known = self.held.get(deleg.id).filter(|d| {
            (d.client == client || self.fault(Fault::ForeignStateid))
                && (d.oid == oid || self.fault(Fault::OtherFilesStateid))
        });
        let known = known.ok_or(Status::BadStateId)?;
        if let Some(cause) = known.revoked() {
            return match () {
                () if self.fault(Fault::RevokedAnswersBad) => Err(Status::BadStateId),
                () if self.fault(Fault::RevokedStillCovers) => Ok(known),
                () => Err(cause.status()),
            };
        }
        if !self.fault(Fault::OldSeqidAccepted) {
            known.seqid_fits(deleg.seqid)?;
        }
        Ok(known)
    }

    /// Whether a delegation's stateid covers a READ, or with `write` a WRITE or a SETATTR of the size.
    ///
    /// # Errors
    /// BAD_STATEID, OLD_STATEID, OPENMODE; DELEG_REVOKED, EXPIRED, ADMIN_REVOKED.
    pub fn check(&self, client: ClientKey, deleg: DelegRef, oid: Oid, write: bool) -> Result<Covers, Status> {
        let known = self.named(client, oid, deleg)?;
        if write && !known.writes() && !self.fault(Fault::WriteUnderRead) {
            return Err(Status::OpenMode);
        }
        Ok(Covers { kind: known.kind, times: known.times })
    }

    /// DELEGRETURN (RFC 8881 §18.6). A revoked delegation is not freed by it.
    ///
    /// # Errors
    /// BAD_STATEID, OLD_STATEID; DELEG_REVOKED, EXPIRED, ADMIN_REVOKED.
    pub fn give_back(
        &mut self,
        now: Now,
        client: ClientKey,
        oid: Oid,
        deleg: DelegRef,
    ) -> Result<(), Status> {
        let id = self.named(client, oid, deleg)?.id;
        self.drop_deleg(id);
        self.settle(now);
        Ok(())
    }

    /// FREE_STATEID (RFC 8881 §18.38).
    ///
    /// # Errors
    /// BAD_STATEID; LOCKS_HELD for one that is held.
    pub fn free(&mut self, now: Now, client: ClientKey, id: DelegId) -> Result<(), Status> {
        let known = self.held.get(id).filter(|d| d.client == client).ok_or(Status::BadStateId)?;
        if known.lives() && !self.fault(Fault::FreeLive) {
            return Err(Status::LocksHeld);
        }
        self.drop_deleg(id);
        self.settle(now);
        Ok(())
    }

    /// One of TEST_STATEID (RFC 8881 §18.48): what using it would answer, whatever the file.
    ///
    /// # Errors
    /// BAD_STATEID, OLD_STATEID; DELEG_REVOKED, EXPIRED, ADMIN_REVOKED.
    pub fn test(&self, client: ClientKey, deleg: DelegRef) -> Result<(), Status> {
        let oid = self.held.get(deleg.id).map(|d| d.oid).ok_or(Status::BadStateId)?;
        self.named(client, oid, deleg).map(|_| ())
    }

    /// What SEQUENCE tells a client of revoked delegations: levels, each until the last of its cause is freed
    /// (RFC 8881 §18.46.3).
    #[must_use]
    pub fn flags(&self, client: ClientKey) -> SeqStatusFlags {
        let mut flags = SeqStatusFlags::empty();
        let Some(client) = self.clients.get(&client) else { return flags };
        let least = usize::from(self.fault(Fault::FlagClearedEarly));
        let all = [
            (client.late > least, SeqStatusFlags::RECALLABLE_STATE_REVOKED),
            (client.lapsed > least, SeqStatusFlags::EXPIRED_SOME_STATE_REVOKED),
            (client.admin > least, SeqStatusFlags::ADMIN_STATE_REVOKED),
        ];
        for (set, flag) in all {
            if set {
                flags |= flag;
            }
        }
        flags
    }

    /// A delegation's cause of revocation; `None` for one that is held, or not known.
    #[must_use]
    pub fn revoked(&self, id: DelegId) -> Option<Cause> {
        self.held.get(id)?.revoked()
    }
}
