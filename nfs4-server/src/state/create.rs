//! CREATE_SESSION. RFC 8881 §18.36.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use nfs4_proto::{ClientId, SessionId, Status};

use super::channels::{Back, usable};
use super::clients::{Created, record_failed};
use super::slots::Slots;
use super::{CallbackCred, ChannelAttrs, ConnId, Now, Principal, Session, State, Why, lock};

/// `CREATE_SESSION4_FLAG_*`: RFC 8881 §18.36.1.
pub mod create_flags {
    /// A reply cache that outlives restarts: never granted.
    pub const PERSIST: u32 = 0x1;
    /// The connection carries the back channel too.
    pub const CONN_BACK_CHAN: u32 = 0x2;
    /// RDMA: never granted.
    pub const CONN_RDMA: u32 = 0x4;
}

/// CREATE_SESSION's arguments.
#[derive(Clone, Debug)]
pub struct CreateSession {
    /// `csa_clientid`.
    pub client: ClientId,
    /// `csa_sequence`.
    pub sequence: u32,
    /// `csa_flags`, see [`create_flags`].
    pub flags: u32,
    /// `csa_fore_chan_attrs`.
    pub fore: ChannelAttrs,
    /// `csa_back_chan_attrs`.
    pub back: ChannelAttrs,
    /// `csa_cb_program`.
    pub cb_program: u32,
    /// `csa_sec_parms`.
    pub cb_creds: Vec<CallbackCred>,
    /// Who sends.
    pub principal: Principal,
    /// Minor version of the compound.
    pub minor: u32,
}

/// CREATE_SESSION's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreatedSession {
    /// `csr_sessionid`.
    pub session: SessionId,
    /// `csr_sequence`.
    pub sequence: u32,
    /// `csr_flags`.
    pub flags: u32,
    /// `csr_fore_chan_attrs`.
    pub fore: ChannelAttrs,
    /// `csr_back_chan_attrs`.
    pub back: ChannelAttrs,
}

/// A client record's reply cache of one slot for CREATE_SESSION. §18.36.4.
#[derive(Debug)]
pub(super) struct CreateSlot {
    seqid: u32,
    cached: Created,
    /// One is in progress: its record is being written.
    pub(super) running: bool,
}

impl CreateSlot {
    /// Before `first`, with a contrived result.
    pub(super) fn new(first: u32) -> Self {
        Self { seqid: first.wrapping_sub(1), cached: Err(Status::SeqMisordered), running: false }
    }

    /// What the next CREATE_SESSION says.
    pub(super) fn next(&self) -> u32 {
        self.seqid.wrapping_add(1)
    }
}

impl State {
    /// CREATE_SESSION. Confirms a client record with its first session, and then writes a stable record; what a former
    /// incarnation held is freed before this returns.
    ///
    /// NFS4ERR_STALE_CLIENTID, SEQ_MISORDERED, CLID_INUSE, DELAY (one is in progress) change nothing. INVAL, TOOSMALL,
    /// NOENT, NOSPC, SERVERFAULT take the sequence ID as a success does (RFC 8881 §18.36.4). But there are clients that
    /// count successes only: what comes under the sequence ID of arguments that were refused is looked at anew.
    pub fn create_session(&self, now: Now, conn: ConnId, args: &CreateSession) -> Created {
        let mut table = lock(&self.clients);
        let entry = table.entry_mut(args.client).ok_or(Status::StaleClientId)?;
        if entry.create.running {
            return Err(Status::Delay);
        }
        // Arguments that were refused changed nothing, so others may be tried under the same sequence ID.
        let refused = matches!(
            entry.create.cached,
            Err(Status::TooSmall | Status::Inval | Status::NoEnt | Status::NoSpc)
        );
        if args.sequence == entry.create.seqid && !refused {
            return entry.create.cached;
        }
        if args.sequence != entry.create.seqid && args.sequence != entry.create.next() {
            return Err(Status::SeqMisordered);
        }
        if !entry.confirmed && entry.client.principal != args.principal {
            return Err(Status::ClidInUse);
        }
        entry.create.seqid = args.sequence;
        let session = match self.new_session(now, entry, args) {
            Ok(session) => Arc::new(session),
            Err(status) => {
                entry.create.cached = Err(status);
                return Err(status);
            }
        };
        let client = Arc::clone(&entry.client);
        if !entry.confirmed {
            entry.create.running = true;
            drop(table);
            // The record is on the medium before the client can know that it is confirmed.
            let keeps = self.grace.may_reclaim(&client.owner);
            let written = self.records.confirm(&client.owner, keeps);
            table = lock(&self.clients);
            let entry = table.entry_mut(args.client).ok_or(Status::StaleClientId)?;
            entry.create.running = false;
            if let Err(error) = written {
                entry.create.cached = Err(record_failed(&error));
                return entry.create.cached;
            }
            client.on_record.store(keeps, Ordering::Relaxed);
        }
        let old = if table.entry(args.client).is_some_and(|e| e.confirmed) {
            None
        } else {
            table.confirm(args.client)
        };
        let entry = table.entry_mut(args.client).ok_or(Status::StaleClientId)?;
        client.renew(now);
        let wants = args.flags & create_flags::CONN_BACK_CHAN != 0 && session.back_usable();
        let back = self.bind_creator(&session, conn, wants);
        let created = CreatedSession {
            session: *session.id(),
            sequence: args.sequence,
            flags: if back { create_flags::CONN_BACK_CHAN } else { 0 },
            fore: *session.fore(),
            back: *session.back(),
        };
        entry.create.cached = Ok(created);
        entry.sessions.push(Arc::clone(&session));
        self.sessions.insert(session);
        drop(table);
        if let Some(old) = old {
            self.buried(&old, Why::Restarted);
        }
        Ok(created)
    }

    /// Phase 4: the session, not yet known to anybody.
    fn new_session(
        &self,
        now: Now,
        entry: &super::clients::Entry,
        args: &CreateSession,
    ) -> Result<Session, Status> {
        const DEFINED: u32 = create_flags::PERSIST | create_flags::CONN_BACK_CHAN | create_flags::CONN_RDMA;
        if args.flags & !DEFINED != 0 {
            return Err(Status::Inval);
        }
        let fore = args.fore.fore(&self.settings())?;
        let back = args.back.back(&self.settings());
        // All zeros without the flag say that there is no back channel at all.
        let none = args.flags & create_flags::CONN_BACK_CHAN == 0 && args.back == ChannelAttrs::default();
        if !none && !back.carries_callbacks() {
            return Err(Status::TooSmall);
        }
        let cred = usable(args.cb_creds.clone())?;
        if entry.sessions.len() >= self.settings().sessions_per_client {
            return Err(Status::NoSpc);
        }
        let most = args.fore.maxrequests.min(self.settings().slots_most);
        let slots = Slots::new(now, fore.maxrequests, most, self.settings().lease);
        let back = Back::new(back, args.cb_program, cred);
        let id = self.ids.session();
        Ok(Session::new(id, Arc::clone(&entry.client), args.minor, fore, back, slots))
    }
}
