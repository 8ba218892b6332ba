//! What a client gets, and why it does not.

use super::rules::{Conflict, conflict};
use super::{Call, Deleg, Kind, Model, Sid, State};
use crate::server::{Intent, Party, Share};
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

/// How an OPEN came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// CLAIM_NULL, CLAIM_FH.
    Fresh,
    /// CLAIM_PREVIOUS with what was held.
    Previous(Kind),
    /// CLAIM_DELEGATE_CUR, CLAIM_DELEG_CUR_FH.
    Current,
}

/// What an OPEN says about delegations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// Who.
    pub client: ClientKey,
    /// On what.
    pub oid: Oid,
    /// How it is opened.
    pub share: Share,
    /// What is wanted.
    pub wanted: Wanted,
    /// WANT_DELEG_TIMESTAMPS.
    pub times: bool,
    /// How it came.
    pub claim: Claim,
    /// The call.
    pub call: Call,
    /// The file's change number.
    pub change: u64,
}

/// `why_no_delegation4`, without its promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// WND4_NOT_WANTED
    NotWanted,
    /// WND4_CANCELLED
    Cancelled,
    /// WND4_CONTENTION
    Contention,
    /// WND4_RESOURCE
    Resource,
    /// WND4_NOT_SUPP_UPGRADE
    NotSuppUpgrade,
    /// WND4_NOT_SUPP_DOWNGRADE
    NotSuppDowngrade,
}

/// A delegation, as the reply brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Its stateid.
    pub sid: Sid,
    /// Read or write.
    pub kind: Kind,
    /// With times.
    pub times: bool,
}

impl Model {
    /// Under the permit of its OPEN, numbered `permit`: a delegation, or why not.
    ///
    /// # Errors
    /// Why not.
    pub fn grant(&mut self, now: Now, permit: u64, want: &Want) -> Result<Granted, Why> {
        if let Claim::Previous(kind) = want.claim {
            return self.reclaim(permit, want, kind);
        }
        match want.wanted {
            Wanted::No => return Err(Why::NotWanted),
            Wanted::Cancel => return Err(Why::Cancelled),
            Wanted::NoPreference | Wanted::Read | Wanted::Write | Wanted::Any => {}
        }
        let kind = match want.wanted {
            Wanted::Write => Kind::Write,
            Wanted::NoPreference | Wanted::Any if want.share.write => Kind::Write,
            Wanted::NoPreference | Wanted::Any | Wanted::Read | Wanted::No | Wanted::Cancel => Kind::Read,
        };
        let mine = self.delegs.iter().position(|d| d.lives() && d.client == want.client && d.oid == want.oid);
        if let Some(mine) = mine {
            return self.change_kind(now, permit, want, mine, kind);
        }
        if want.claim == Claim::Current {
            return Err(Why::Contention);
        }
        if self.others_disturb(permit, want, kind) || self.awaited(want.oid) || self.quiet(now, want.oid) {
            return Err(Why::Contention);
        }
        if !self.may_hold(want.client) || self.count() >= self.config.delegations {
            return Err(Why::Resource);
        }
        Ok(self.enter(want, kind))
    }

    fn enter(&mut self, want: &Want, kind: Kind) -> Granted {
        let sid = Sid { other: self.number(), seqid: 1 };
        self.delegs.push(Deleg {
            client: want.client,
            oid: want.oid,
            sid,
            kind,
            times: want.times,
            state: State::Held,
            unseen: Some(want.call),
            sc: want.change,
            told: want.change,
        });
        Granted { sid, kind, times: want.times }
    }

    /// In grace what was held is granted as claimed (RFC 8881 §10.2.1).
    fn reclaim(&mut self, permit: u64, want: &Want, kind: Kind) -> Result<Granted, Why> {
        let complete = self.clients.iter().any(|c| c.key == want.client && c.reclaim_complete);
        let mine = self.delegs.iter().any(|d| d.lives() && d.client == want.client && d.oid == want.oid);
        if !self.grace || complete || mine || self.others_disturb(permit, want, kind) {
            return Err(Why::Contention);
        }
        Ok(self.enter(want, kind))
    }

    /// It holds one: the same stateid in another kind, with the next seqid, or nothing (RFC 8881 §18.16.3, §8.2.2).
    fn change_kind(
        &mut self,
        now: Now,
        permit: u64,
        want: &Want,
        mine: usize,
        kind: Kind,
    ) -> Result<Granted, Why> {
        let Some(held) = self.delegs.get(mine).copied() else { return Err(Why::Contention) };
        let explicit = matches!(want.wanted, Wanted::Read | Wanted::Write);
        let can = match (held.kind, kind) {
            (Kind::Read, Kind::Read) | (Kind::Write, Kind::Write) => return Err(Why::Contention),
            (Kind::Read, Kind::Write) if explicit && !self.config.upgrade => return Err(Why::NotSuppUpgrade),
            (Kind::Write, Kind::Read) if explicit && !self.config.downgrade => {
                return Err(Why::NotSuppDowngrade);
            }
            (Kind::Read, Kind::Write) => {
                self.config.upgrade
                    && (explicit || self.config.eager_upgrade)
                    && !self.others_disturb(permit, want, Kind::Write)
                    && !self.awaited(want.oid)
            }
            (Kind::Write, Kind::Read) => explicit,
        };
        if !can || !self.may_hold(want.client) || held.state != State::Held || want.claim == Claim::Current {
            return Err(Why::Contention);
        }
        let Some(held) = self.delegs.get_mut(mine) else { return Err(Why::Contention) };
        held.kind = kind;
        held.sid.seqid = if held.sid.seqid == u32::MAX { 1 } else { held.sid.seqid.wrapping_add(1) };
        held.unseen = Some(want.call);
        held.sc = want.change;
        held.told = held.told.max(want.change);
        let granted = Granted { sid: held.sid, kind, times: held.times };
        // Whoever asked the writer for attributes need not any more.
        self.forget_questions();
        self.wake(now);
        Ok(granted)
    }

    /// Whether what others have, hold or are doing forbids a delegation of this kind.
    fn others_disturb(&self, permit: u64, want: &Want, kind: Kind) -> bool {
        for deleg in self.delegs.iter().filter(|d| d.lives() && d.oid == want.oid && d.client != want.client)
        {
            if kind == Kind::Write || deleg.kind == Kind::Write {
                return true;
            }
        }
        for open in self.opens.iter().filter(|o| o.oid == want.oid && o.client != want.client) {
            let intent = Intent::Open { oid: want.oid, share: open.share, truncate: false };
            if conflict(&intent, want.oid, kind) != Conflict::None {
                return true;
            }
        }
        for running in self.running.iter().filter(|r| r.id != permit && r.party != Party::Client(want.client))
        {
            if conflict(&running.intent, want.oid, kind) != Conflict::None {
                return true;
            }
        }
        false
    }

    fn quiet(&self, now: Now, oid: Oid) -> bool {
        self.recalled.iter().any(|(on, at)| *on == oid && at.plus(self.config.quiet) > now)
    }

    /// A client that can be called, has its lease, and has returned what it was asked to.
    fn may_hold(&self, key: ClientKey) -> bool {
        !self.grace
            && self.clients.iter().any(|c| c.key == key && c.back_channel && !c.expired)
            && !self.delegs.iter().any(|d| d.client == key && !d.lives())
    }

    fn count(&self) -> usize {
        self.delegs.len()
    }
}
