//! What a client gets, and why it does not (RFC 8881 §10.4, §18.16.3, §18.49; RFC 9754).

use super::object::{Deleg, State};
use super::{DelegId, DelegRef, Delegations, Fault, Kind, Permit, Share, Triple};
use crate::{ClientKey, Now, Oid};

/// The want field of `share_access` (RFC 8881 §18.16.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// WANT_NO_PREFERENCE
    NoPreference,
    /// WANT_READ_DELEG
    Read,
    /// WANT_WRITE_DELEG
    Write,
    /// WANT_ANY_DELEG
    Any,
    /// WANT_NO_DELEG
    No,
    /// WANT_CANCEL
    Cancel,
}

/// How an OPEN or WANT_DELEGATION came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// CLAIM_NULL, CLAIM_FH.
    Fresh,
    /// CLAIM_PREVIOUS with what was held.
    Previous(Kind),
    /// CLAIM_DELEGATE_CUR, CLAIM_DELEG_CUR_FH: it has one, and gets no other.
    Current,
}

/// What the object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// Anything else: what it is does not change, so nothing is delegated.
    Other,
}

/// What an OPEN or WANT_DELEGATION says about delegations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Who.
    pub client: ClientKey,
    /// On what.
    pub oid: Oid,
    /// What that is.
    pub file: FileType,
    /// How it is opened.
    pub share: Share,
    /// What is wanted.
    pub wanted: Wanted,
    /// WANT_DELEG_TIMESTAMPS
    pub times: bool,
    /// WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL
    pub signal: bool,
    /// WANT_PUSH_DELEG_WHEN_UNCONTENDED
    pub push: bool,
    /// How it came.
    pub claim: Claim,
    /// The call.
    pub call: Triple,
    /// The file's change number.
    pub change: u64,
}

/// A delegation, as the reply brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its stateid.
    pub deleg: DelegRef,
    /// Read or write.
    pub kind: Kind,
    /// With times: OPEN_DELEGATE_READ_ATTRS_DELEG or OPEN_DELEGATE_WRITE_ATTRS_DELEG.
    pub times: bool,
    /// It was held before, in another kind: the same stateid with the next seqid.
    pub changed: bool,
    /// To be returned at once: a reclaim by a client that cannot be called.
    pub recall: bool,
}

/// `why_no_delegation4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// WND4_NOT_WANTED
    NotWanted,
    /// WND4_CANCELLED
    Cancelled,
    /// WND4_CONTENTION
    Contention {
        /// `ond_server_will_push_deleg`
        will_push: bool,
    },
    /// WND4_RESOURCE
    Resource {
        /// `ond_server_will_signal_avail`
        will_signal: bool,
    },
    /// WND4_NOT_SUPP_FTYPE
    NotSuppFtype,
    /// WND4_WRITE_DELEG_NOT_SUPP_FTYPE
    WriteNotSuppFtype,
    /// WND4_IS_DIR
    IsDir,
    /// WND4_NOT_SUPP_UPGRADE
    NotSuppUpgrade,
    /// WND4_NOT_SUPP_DOWNGRADE
    NotSuppDowngrade,
    /// NFS4ERR_DELEG_ALREADY_WANTED; ask [`already_wanted`](Delegations::already_wanted) before anything is done.
    AlreadyWanted,
}

pub(super) const CONTENTION: Refusal = Refusal::Contention { will_push: false };

impl Delegations {
    /// Under the permit of its OPEN or WANT_DELEGATION: a delegation, or why not. Never calls anybody back. One that is
    /// held changes its kind in place.
    ///
    /// # Errors
    /// Why not. Where no want bit was sent the reply is OPEN_DELEGATE_NONE.
    pub fn grant(&mut self, now: Now, permit: &Permit, want: &Want) -> Result<Grant, Refusal> {
        if self.permits.get(permit).is_none() {
            return Err(CONTENTION);
        }
        let answer = self.decide(now, permit, want);
        let answer = match answer {
            Ok(grant) => {
                self.drop_want(want.client, want.oid);
                Ok(grant)
            }
            Err(why) => Err(self.register(want, why)),
        };
        self.settle(now);
        answer
    }

    fn decide(&mut self, now: Now, permit: &Permit, want: &Want) -> Result<Grant, Refusal> {
        match want.file {
            _ if matches!(want.claim, Claim::Previous(_)) => {}
            FileType::Directory if !matches!(want.wanted, Wanted::No | Wanted::Cancel) => {
                return Err(Refusal::IsDir);
            }
            FileType::Other if want.wanted == Wanted::Write => return Err(Refusal::WriteNotSuppFtype),
            FileType::Other if !matches!(want.wanted, Wanted::No | Wanted::Cancel) => {
                return Err(Refusal::NotSuppFtype);
            }
            FileType::Regular | FileType::Directory | FileType::Other => {}
        }
        if let Claim::Previous(kind) = want.claim {
            return self.reclaim(now, permit, want, kind);
        }
        match want.wanted {
            Wanted::No => return Err(Refusal::NotWanted),
            Wanted::Cancel if self.fault(Fault::CancelIsNotWanted) => return Err(Refusal::NotWanted),
            Wanted::Cancel => return Err(Refusal::Cancelled),
            Wanted::NoPreference | Wanted::Read | Wanted::Write | Wanted::Any => {}
        }
        let kind = self.kind_for(want);
        if let Some(mine) = self.held.mine(want.client, want.oid) {
            let id = mine.id;
            return self.change_kind(permit, want, id, kind);
        }
        if want.claim == Claim::Current
            || self.disturbed(Some(permit.key), want.client, want.oid, kind)
            || self.awaited(want.oid)
            || (self.quiet.is(now, want.oid) && !self.fault(Fault::NoQuiet))
        {
            return Err(CONTENTION);
        }
        if !self.may_hold(want.client) || !self.room(want.client) || !self.enabled(kind) {
            return Err(Refusal::Resource { will_signal: false });
        }
        Ok(self.enter(now, want, kind))
    }

    fn kind_for(&self, want: &Want) -> Kind {
        let write = match want.wanted {
            Wanted::Write => true,
            Wanted::NoPreference | Wanted::Any => want.share.write && self.config.writes,
            Wanted::Read | Wanted::No | Wanted::Cancel => false,
        };
        if write { Kind::Write } else { Kind::Read }
    }

    pub(super) fn enabled(&self, kind: Kind) -> bool {
        match kind {
            Kind::Read => self.config.reads,
            Kind::Write => self.config.writes,
        }
    }

    pub(super) fn enter(&mut self, now: Now, want: &Want, kind: Kind) -> Grant {
        let times = want.times && self.config.times;
        let client = self.clients.entry(want.client).or_default();
        client.held = client.held.saturating_add(1);
        let recall = !client.back_channel;
        let id = self.held.insert(Deleg {
            id: DelegId(0),
            seqid: 1,
            client: want.client,
            oid: want.oid,
            kind,
            times,
            pushed: false,
            state: State::Held,
            unseen: Some(want.call),
            sc: want.change,
            told: want.change,
        });
        self.pressed(now);
        Grant { deleg: DelegRef { id, seqid: 1 }, kind, times, changed: false, recall }
    }

    /// In grace what was held is granted as claimed (RFC 8881 §10.2.1).
    fn reclaim(&mut self, now: Now, permit: &Permit, want: &Want, kind: Kind) -> Result<Grant, Refusal> {
        if self.fault(Fault::ReclaimGrantsNone) {
            return Err(CONTENTION);
        }
        let complete = self.clients.get(&want.client).is_some_and(|c| c.reclaim_complete)
            && !self.fault(Fault::ReclaimAfterComplete);
        if !(self.grace || self.fault(Fault::ReclaimOutsideGrace))
            || complete
            || self.held.mine(want.client, want.oid).is_some()
            || self.disturbed(Some(permit.key), want.client, want.oid, kind)
        {
            return Err(CONTENTION);
        }
        Ok(self.enter(now, want, kind))
    }

    /// It holds one: the same stateid in another kind, with the next seqid, or nothing (RFC 8881 §18.16.3, §8.2.2).
    fn change_kind(
        &mut self,
        permit: &Permit,
        want: &Want,
        id: DelegId,
        kind: Kind,
    ) -> Result<Grant, Refusal> {
        let Some(held) = self.held.get(id) else { return Err(CONTENTION) };
        let explicit = matches!(want.wanted, Wanted::Read | Wanted::Write);
        let can = match (held.kind, kind) {
            (Kind::Read, Kind::Read) | (Kind::Write, Kind::Write) => return Err(CONTENTION),
            (Kind::Read, Kind::Write) if explicit && !self.config.upgrade => {
                return Err(Refusal::NotSuppUpgrade);
            }
            (Kind::Write, Kind::Read) if explicit && !self.config.downgrade => {
                return Err(Refusal::NotSuppDowngrade);
            }
            (Kind::Read, Kind::Write) => {
                self.config.upgrade
                    && self.enabled(kind)
                    && (explicit || self.config.eager_upgrade)
                    && !self.disturbed(Some(permit.key), want.client, want.oid, Kind::Write)
                    && !self.awaited(want.oid)
            }
            (Kind::Write, Kind::Read) => explicit,
        };
        let held_still =
            held.state == State::Held && !held.pushed || self.fault(Fault::UpgradeWhileRecalling);
        if !can || !self.may_hold(want.client) || !held_still || want.claim == Claim::Current {
            return Err(CONTENTION);
        }
        if self.fault(Fault::UpgradeRenames) {
            let mut next = held.clone();
            next.kind = kind;
            self.held.remove(id);
            let (times, id) = (next.times, self.held.insert(next));
            let deleg = DelegRef { id, seqid: 1 };
            return Ok(Grant { deleg, kind, times, changed: true, recall: false });
        }
        let (same_seqid, same_sc) =
            (self.fault(Fault::UpgradeKeepsSeqid), self.fault(Fault::UpgradeKeepsChange));
        self.held.set_kind(id, kind);
        let Some(held) = self.held.get_mut(id) else { return Err(CONTENTION) };
        if !same_seqid {
            held.next_seqid();
        }
        if !same_sc {
            held.sc = want.change;
        }
        held.told = held.told.max(want.change);
        let grant = Grant { deleg: held.named(), kind, times: held.times, changed: true, recall: false };
        self.held.refer(id, Some(want.call));
        // Whoever asked the writer for attributes need not any more.
        if kind == Kind::Read {
            self.unask(id);
            self.advance(id);
        }
        self.dirty.insert(want.oid);
        Ok(grant)
    }

    /// Whether what others have, hold or are doing forbids a delegation of this kind.
    pub(super) fn disturbed(&self, but: Option<usize>, client: ClientKey, oid: Oid, kind: Kind) -> bool {
        let write = kind == Kind::Write;
        let held = self.held.on(oid).any(|d| d.lives() && d.client != client && (write || d.writes()))
            && !self.fault(Fault::HoldersIgnored);
        let open = self.opens.elsewhere(oid, client, !write) && !self.fault(Fault::OpensIgnored);
        let running = self.permits.forbid(oid, client, but, write) && !self.fault(Fault::PermitsIgnored);
        held || open || running
    }

    /// A client that can be called, has its lease, and has returned what it was asked to.
    pub(super) fn may_hold(&self, client: ClientKey) -> bool {
        let grace = self.grace && !self.fault(Fault::GrantInGrace);
        let deaf = self.fault(Fault::GrantToDeaf);
        let sinner = self.fault(Fault::GrantAfterRevocation);
        !grace
            && self
                .clients
                .get(&client)
                .is_some_and(|c| (c.back_channel || deaf) && !c.expired && (c.revoked() == 0 || sinner))
    }

    /// Within the bounds.
    pub(super) fn room(&self, client: ClientKey) -> bool {
        let mine = self.clients.get(&client).map_or(0, |c| c.held);
        self.held.len() < self.budget && mine < self.config.per_client
    }
}
