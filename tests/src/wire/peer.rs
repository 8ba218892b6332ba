//! A client with a session, whose every number can be chosen.

use std::net::{IpAddr, SocketAddr};

use nfs4_proto::{
    ArgOp, CallbackSecParms, ChannelAttrs, ClientId, ClientOwner, Compound, CompoundRes, CreateSessionArgs,
    CreateSessionFlags, CreateSessionOk, ExchangeIdArgs, ExchangeIdFlags, ExchangeIdOk, Fh,
    ReclaimCompleteArgs, ResOp, SequenceArgs, SessionId, StateProtectArgs, Status, Verifier,
};
use nfs4_xdr::rpc::OpaqueAuth;
use nfs4_xdr::{List, Opaque};

use super::raw::cred;
use super::{Done, Raw};

/// Who a client is and what it asks for.
#[derive(Clone, Debug)]
pub struct Spec {
    /// `co_ownerid`.
    pub owner: Vec<u8>,
    /// `co_verifier`.
    pub verifier: Verifier,
    /// Minor version.
    pub minor: u32,
    /// Credentials of all calls.
    pub cred: OpaqueAuth,
    /// `eia_flags`.
    pub id_flags: ExchangeIdFlags,
    /// `csa_flags`.
    pub session_flags: CreateSessionFlags,
    /// Fore channel.
    pub fore: ChannelAttrs,
    /// Back channel.
    pub back: ChannelAttrs,
    /// Credentials for callbacks.
    pub callbacks: Vec<CallbackSecParms>,
    /// Whether RECLAIM_COMPLETE follows at once.
    pub complete: bool,
    /// The address of this machine that it connects from; another host, for the server.
    pub from: Option<IpAddr>,
}

impl Spec {
    /// A client of user 1000, with 4.2, 16 slots, and no back channel.
    #[must_use]
    pub fn new(owner: &str) -> Self {
        Self {
            owner: owner.as_bytes().to_vec(),
            verifier: [1; 8],
            minor: 2,
            cred: cred(1000, 1000, &[]),
            id_flags: ExchangeIdFlags::empty(),
            session_flags: CreateSessionFlags::empty(),
            fore: ChannelAttrs {
                headerpadsize: 0,
                maxrequestsize: 1 << 20,
                maxresponsesize: 1 << 20,
                maxresponsesize_cached: 8 << 10,
                maxoperations: 64,
                maxrequests: 16,
                rdma_ird: None,
            },
            back: ChannelAttrs {
                headerpadsize: 0,
                maxrequestsize: 4096,
                maxresponsesize: 4096,
                maxresponsesize_cached: 0,
                maxoperations: 8,
                maxrequests: 4,
                rdma_ird: None,
            },
            callbacks: vec![CallbackSecParms::None],
            complete: true,
            from: None,
        }
    }

    /// As this user.
    #[must_use]
    pub fn user(mut self, uid: u32, gid: u32, groups: &[u32]) -> Self {
        self.cred = cred(uid, gid, groups);
        self
    }

    /// With this incarnation's verifier.
    #[must_use]
    pub fn incarnation(mut self, n: u8) -> Self {
        self.verifier = [n; 8];
        self
    }

    /// With this minor version.
    #[must_use]
    pub fn minor(mut self, minor: u32) -> Self {
        self.minor = minor;
        self
    }

    /// That does not send RECLAIM_COMPLETE by itself.
    #[must_use]
    pub fn reclaiming(mut self) -> Self {
        self.complete = false;
        self
    }
}

async fn alone(raw: &mut Raw, spec: &Spec, op: ArgOp) -> Done {
    let compound = Compound::new(spec.minor, vec![op]).unwrap();
    let reply = raw.call(&spec.cred, &compound).await;
    Done::new(compound.to_string(), &compound.ops, reply)
}

/// EXCHANGE_ID, alone in its compound.
pub async fn exchange_id(raw: &mut Raw, spec: &Spec) -> Result<ExchangeIdOk, Status> {
    let op = ArgOp::ExchangeId(ExchangeIdArgs {
        clientowner: ClientOwner {
            verifier: spec.verifier,
            ownerid: Opaque::new(spec.owner.clone()).unwrap(),
        },
        flags: spec.id_flags,
        state_protect: StateProtectArgs::None,
        client_impl_id: None,
    });
    match alone(raw, spec, op).await.results().all() {
        [ResOp::ExchangeId(result)] => result.clone(),
        other => panic!("{other:?}"),
    }
}

/// CREATE_SESSION, alone in its compound.
pub async fn create_session(
    raw: &mut Raw,
    spec: &Spec,
    client: ClientId,
    sequence: u32,
) -> Result<CreateSessionOk, Status> {
    let op = ArgOp::CreateSession(CreateSessionArgs {
        clientid: client,
        sequence,
        flags: spec.session_flags,
        fore_chan_attrs: spec.fore,
        back_chan_attrs: spec.back,
        cb_program: 0x4000_0000,
        sec_parms: List::new(spec.callbacks.clone()).unwrap(),
    });
    match alone(raw, spec, op).await.results().all() {
        [ResOp::CreateSession(result)] => *result,
        other => panic!("{other:?}"),
    }
}

/// A client with a session.
#[derive(Debug)]
pub struct Peer {
    /// Its connection.
    pub raw: Raw,
    /// Who it is.
    pub spec: Spec,
    /// The server.
    pub address: SocketAddr,
    /// Client ID.
    pub client: ClientId,
    /// CREATE_SESSION's next sequence ID.
    pub create_sequence: u32,
    /// Session ID.
    pub session: SessionId,
    /// The fore channel as granted.
    pub fore: ChannelAttrs,
    /// The last sequence ID of each slot.
    pub slots: Vec<u32>,
    /// PUTROOTFH's handle.
    pub root: Fh,
}

impl Peer {
    /// Makes itself known, takes a session, reclaims nothing.
    pub async fn connect(address: SocketAddr, spec: Spec) -> Self {
        Self::try_connect(address, spec).await.unwrap()
    }

    /// Like [`connect`](Self::connect), or the status of the first operation that fails.
    pub async fn try_connect(address: SocketAddr, spec: Spec) -> Result<Self, Status> {
        let mut raw = match spec.from {
            Some(from) => Raw::connect_from(from, address).await,
            None => Raw::connect(address).await,
        };
        let id = exchange_id(&mut raw, &spec).await?;
        let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await?;
        let mut peer = Self {
            raw,
            address,
            client: id.clientid,
            create_sequence: id.sequenceid + 1,
            session: made.sessionid,
            fore: made.fore_chan_attrs,
            slots: vec![0; usize::try_from(made.fore_chan_attrs.maxrequests).unwrap()],
            root: Fh::default(),
            spec,
        };
        if peer.spec.complete {
            let _ = peer.run(vec![ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })]).await.ok();
        }
        peer.root = peer.run(vec![ArgOp::Putrootfh, ArgOp::Getfh]).await.ok().fh();
        Ok(peer)
    }

    /// A further session of the same client on a connection of its own.
    pub async fn another_session(&mut self) -> Self {
        let mut raw = Raw::connect(self.address).await;
        let made = create_session(&mut raw, &self.spec, self.client, self.create_sequence).await.unwrap();
        self.create_sequence += 1;
        Self {
            raw,
            spec: self.spec.clone(),
            address: self.address,
            client: self.client,
            create_sequence: self.create_sequence,
            session: made.sessionid,
            fore: made.fore_chan_attrs,
            slots: vec![0; usize::try_from(made.fore_chan_attrs.maxrequests).unwrap()],
            root: self.root.clone(),
        }
    }

    /// Goes on over a new connection; the old one is closed.
    pub async fn reconnect(&mut self) {
        self.raw = Raw::connect(self.address).await;
    }

    /// Goes on with a server at another address, as with the same one.
    pub async fn reconnect_to(&mut self, address: SocketAddr) {
        self.address = address;
        self.reconnect().await;
    }

    /// SEQUENCE with the next number of a slot, which counts as used.
    pub fn sequence(&mut self, slot: u32, cachethis: bool) -> ArgOp {
        let last = &mut self.slots[usize::try_from(slot).unwrap()];
        *last = last.wrapping_add(1);
        let sequenceid = *last;
        self.sequence_of(slot, sequenceid, cachethis)
    }

    /// SEQUENCE with any number.
    #[must_use]
    pub fn sequence_of(&self, slot: u32, sequenceid: u32, cachethis: bool) -> ArgOp {
        let highest_slotid = u32::try_from(self.slots.len()).unwrap() - 1;
        ArgOp::Sequence(SequenceArgs {
            sessionid: self.session,
            sequenceid,
            slotid: slot,
            highest_slotid: highest_slotid.max(slot),
            cachethis,
        })
    }

    /// Runs operations behind SEQUENCE on slot 0, without keeping the reply.
    pub async fn run(&mut self, ops: Vec<ArgOp>) -> Done {
        self.run_on(0, false, ops).await
    }

    /// Runs operations behind SEQUENCE on a slot.
    pub async fn run_on(&mut self, slot: u32, cachethis: bool, ops: Vec<ArgOp>) -> Done {
        let mut all = vec![self.sequence(slot, cachethis)];
        all.extend(ops);
        let done = self.compound(all).await;
        if matches!(done.reply().ops.first(), Some(ResOp::Sequence(Err(_))) | None) {
            // A failed SEQUENCE changes nothing in the slot (RFC 8881 §18.46.3).
            let last = &mut self.slots[usize::try_from(slot).unwrap()];
            *last = last.wrapping_sub(1);
        }
        done
    }

    /// Runs a compound as it is.
    pub async fn compound(&mut self, ops: Vec<ArgOp>) -> Done {
        let compound = Compound::new(self.spec.minor, ops).unwrap();
        let reply: CompoundRes = self.raw.call(&self.spec.cred, &compound).await;
        Done::new(compound.to_string(), &compound.ops, reply)
    }

    /// Sends a compound without waiting.
    pub async fn post(&mut self, ops: Vec<ArgOp>) -> u32 {
        let compound = Compound::new(self.spec.minor, ops).unwrap();
        self.raw.send(&self.spec.cred, &compound).await
    }

    /// Runs operations as another user.
    pub async fn run_as(&mut self, who: &OpaqueAuth, ops: Vec<ArgOp>) -> Done {
        let own = std::mem::replace(&mut self.spec.cred, who.clone());
        let done = self.run(ops).await;
        self.spec.cred = own;
        done
    }

    /// The status of operations behind SEQUENCE.
    pub async fn status(&mut self, ops: Vec<ArgOp>) -> Status {
        self.run(ops).await.status()
    }
}
