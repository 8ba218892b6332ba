//! EXCHANGE_ID: every case of RFC 8881 §18.35.4.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use nfs4_proto::{ClientId, Status, Verifier};

use super::clients::{Entry, Removal, Table, record_failed};
use super::{Client, Now, Principal, State, Why, lock};

/// `EXCHGID4_FLAG_*`: RFC 8881 §18.35.1, RFC 7862 §14.1.
pub mod exchgid {
    /// The client understands referrals.
    pub const SUPP_MOVED_REFER: u32 = 0x1;
    /// The client understands migration.
    pub const SUPP_MOVED_MIGR: u32 = 0x2;
    /// 4.2: operations in progress are fenced.
    pub const SUPP_FENCE_OPS: u32 = 0x4;
    /// Stateids bound to principals.
    pub const BIND_PRINC_STATEID: u32 = 0x100;
    /// Not for pNFS.
    pub const USE_NON_PNFS: u32 = 0x1_0000;
    /// pNFS metadata server.
    pub const USE_PNFS_MDS: u32 = 0x2_0000;
    /// pNFS data server.
    pub const USE_PNFS_DS: u32 = 0x4_0000;
    /// Arguments only: updates a confirmed record.
    pub const UPD_CONFIRMED_REC_A: u32 = 0x4000_0000;
    /// Results only: the record is confirmed.
    pub const CONFIRMED_R: u32 = 0x8000_0000;

    /// What arguments may have in 4.1.
    pub const MASK_A: u32 = SUPP_MOVED_REFER
        | SUPP_MOVED_MIGR
        | BIND_PRINC_STATEID
        | USE_NON_PNFS
        | USE_PNFS_MDS
        | USE_PNFS_DS
        | UPD_CONFIRMED_REC_A;
}

/// `state_protect_how4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protect {
    /// `SP4_NONE`.
    None,
    /// `SP4_MACH_CRED`: NFS4ERR_INVAL, as it needs RPCSEC_GSS.
    MachCred,
    /// `SP4_SSV`: NFS4ERR_ENCR_ALG_UNSUPP.
    Ssv,
}

/// EXCHANGE_ID's arguments.
#[derive(Clone, Debug)]
pub struct ExchangeId {
    /// `co_verifier`.
    pub verifier: Verifier,
    /// `co_ownerid`.
    pub owner: Bytes,
    /// `eia_flags`, see [`exchgid`].
    pub flags: u32,
    /// `eia_state_protect`.
    pub protect: Protect,
    /// Who sends.
    pub principal: Principal,
    /// Minor version of the compound.
    pub minor: u32,
    /// Where from, for the log.
    pub peer: Option<SocketAddr>,
}

/// EXCHANGE_ID's result; protection is `SP4_NONE`, owner and scope are [`State::identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangedId {
    /// `eir_clientid`.
    pub client: ClientId,
    /// `eir_sequenceid`: what the first CREATE_SESSION says.
    pub sequence: u32,
    /// `eir_flags`.
    pub flags: u32,
}

/// `eir_sequenceid` of a new client ID.
const FIRST: u32 = 1;

/// What to do before trying again.
enum Step {
    Done(ExchangedId),
    /// This record is in the way, and nothing protects it.
    Remove(ClientId, Why),
}

impl State {
    /// EXCHANGE_ID. May remove a client whose lease is over, and write a record then.
    ///
    /// NFS4ERR_INVAL for undefined flags and SP4_MACH_CRED; NFS4ERR_ENCR_ALG_UNSUPP for SP4_SSV; NFS4ERR_CLID_INUSE,
    /// NOENT, NOT_SAME, PERM as the table of §18.35.4 says; NFS4ERR_DELAY at the limit of client records.
    pub fn exchange_id(&self, now: Now, args: &ExchangeId) -> Result<ExchangedId, Status> {
        let defined = exchgid::MASK_A | if args.minor >= 2 { exchgid::SUPP_FENCE_OPS } else { 0 };
        if args.flags & !defined != 0 {
            return Err(Status::Inval);
        }
        match args.protect {
            Protect::None => {}
            Protect::MachCred => return Err(Status::Inval),
            Protect::Ssv => return Err(Status::EncrAlgUnsupp),
        }
        if args.flags & exchgid::UPD_CONFIRMED_REC_A != 0 {
            return self.update(args);
        }
        // Each turn removes a record; two are possible (the colliding one, and one for the limit). More means that
        // others come and go at the same time.
        for _ in 0..4 {
            let (victim, why) = match self.exchange(now, args)? {
                Step::Done(ok) => return Ok(ok),
                Step::Remove(victim, why) => (victim, why),
            };
            let may = |e: &Entry| self.unprotected(e, now, why);
            match self.remove_if(victim, why, may) {
                Ok(Removal::Gone | Removal::Kept) => {}
                Err(error) => return Err(record_failed(&error)),
            }
        }
        Err(Status::Delay)
    }

    /// Whether a record may go for another's sake: its lease is over, or (for the same name) it holds nothing. Sessions
    /// count as something: a client that has one and is idle is not thrown out by a guess at its name.
    fn unprotected(&self, e: &Entry, now: Now, why: Why) -> bool {
        e.expired(now, self.settings().lease)
            || (why == Why::Replaced
                && !e.busy()
                && e.sessions.is_empty()
                && !self.holder.client_has_state(e.client.id))
    }

    /// Cases 6 to 9: an update of a confirmed record. There is nothing that an update could change.
    fn update(&self, args: &ExchangeId) -> Result<ExchangedId, Status> {
        let table = lock(&self.clients);
        let confirmed = table.owner(&args.owner).confirmed.and_then(|id| table.entry(id));
        let Some(entry) = confirmed else { return Err(Status::NoEnt) };
        if entry.client.verifier != args.verifier {
            return Err(Status::NotSame);
        }
        if entry.client.principal != args.principal {
            return Err(Status::Perm);
        }
        Ok(confirmed_result(entry))
    }

    /// Cases 1 to 5.
    fn exchange(&self, now: Now, args: &ExchangeId) -> Result<Step, Status> {
        let mut table = lock(&self.clients);
        let owner = table.owner(&args.owner);
        if let Some(entry) = owner.confirmed.and_then(|id| table.entry(id)) {
            if entry.client.principal != args.principal {
                // Case 3: collision.
                let was = entry.client.peer;
                if self.unprotected(entry, now, Why::Replaced) {
                    return Ok(Step::Remove(entry.client.id, Why::Replaced));
                }
                tracing::warn!(owner = ?args.owner, from = ?args.peer, holder = ?was, "client owner in use by another principal");
                return Err(Status::ClidInUse);
            }
            if entry.client.verifier == args.verifier {
                // Case 2: the same incarnation. A restart that was not confirmed is void.
                let result = confirmed_result(entry);
                if let Some(old) = owner.unconfirmed {
                    table.remove(old);
                }
                return Ok(Step::Done(result));
            }
            // Case 5: restart. The old record stays until the new one is confirmed.
            tracing::info!(owner = ?args.owner, from = ?args.peer, was = ?entry.client.peer, "client owner with a new verifier");
        }
        // Case 4: an unconfirmed record is replaced, whoever made it.
        if let Some(entry) = owner.unconfirmed.and_then(|old| table.remove(old)) {
            entry.client.kill_now();
        }
        // Case 1, and the new record of 3, 4 and 5.
        if table.len() >= self.settings().clients {
            return match self.oldest_expired(&table, now) {
                Some(victim) => Ok(Step::Remove(victim, Why::Expired)),
                None => Err(Status::Delay),
            };
        }
        let mut id = self.ids.client();
        while table.entry(id).is_some() {
            id = self.ids.client();
        }
        // Kept for long, so not as a slice of the request.
        let owner = Bytes::copy_from_slice(&args.owner);
        let client = Client::new(now, id, owner, args.verifier, args.principal.clone(), args.peer);
        table.add(Entry::new(Arc::new(client), FIRST));
        Ok(Step::Done(ExchangedId { client: id, sequence: FIRST, flags: exchgid::USE_NON_PNFS }))
    }

    /// Of the records whose lease is over an unconfirmed one, else the oldest.
    fn oldest_expired(&self, table: &Table, now: Now) -> Option<ClientId> {
        table
            .entries()
            .filter(|e| e.expired(now, self.settings().lease))
            .min_by_key(|e| (e.confirmed, e.client.renewed()))
            .map(|e| e.client.id)
    }
}

fn confirmed_result(entry: &Entry) -> ExchangedId {
    ExchangedId {
        client: entry.client.id,
        sequence: entry.create.next(),
        flags: exchgid::USE_NON_PNFS | exchgid::CONFIRMED_R,
    }
}
