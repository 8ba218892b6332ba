//! A client ID with one session: slots, sequence numbers, the lease.

mod slots;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nfs4_proto::{
    ArgOp, ChannelAttrs, ClientId, ClientOwner, CompoundRes, CreateSessionArgs, CreateSessionFlags,
    CreateSessionOk, DestroyClientidArgs, DestroySessionArgs, ExchangeIdArgs, ExchangeIdFlags, ExchangeIdOk,
    OpNum, ReclaimCompleteArgs, ResOp, SeqStatusFlags, SequenceArgs, SessionId, StateProtectArgs, Status,
};
use nfs4_xdr::rpc::{AuthSys, OpaqueAuth};
use nfs4_xdr::{List, Opaque, Text};
use tokio::task::AbortHandle;

use crate::compound::{Compound, Results};
use crate::net::{Callbacks, Connection, NoDelegations, dial};
use crate::{CallError, ConnectError};
use slots::{Slot, Slots};

/// The program number that we serve callbacks under.
const CB_PROGRAM: u32 = 0x4000_0000;

/// How a session is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Minor version, 1 or 2. A server that refuses 2 is asked for 1.
    pub minor: u32,
    /// User and groups of AUTH_SYS.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Further groups, at most 16.
    pub gids: Vec<u32>,
    /// Slots asked for.
    pub slots: u32,
    /// Bytes of a request and of a reply asked for.
    pub message_bytes: u32,
    /// Asks for a back channel on the same connection.
    pub back_channel: bool,
    /// For connecting and for each call of the set-up.
    pub timeout: Duration,
    /// Client owner; by default random, so that two clients of one machine are two.
    pub owner: Option<Vec<u8>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            minor: 2,
            uid: 0,
            gid: 0,
            gids: Vec::new(),
            slots: 64,
            message_bytes: (1 << 20) + 4096,
            back_channel: true,
            timeout: Duration::from_secs(10),
            owner: None,
        }
    }
}

impl Options {
    /// The credential.
    #[must_use]
    pub fn cred(&self) -> OpaqueAuth {
        OpaqueAuth::sys(&AuthSys {
            stamp: 0,
            machinename: Text::new(&b"nfs4-client"[..]).unwrap_or_default(),
            uid: self.uid,
            gid: self.gid,
            gids: List::new(self.gids.clone()).unwrap_or_default(),
        })
    }
}

/// A session. Cheap to clone.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    conn: Connection,
    cred: OpaqueAuth,
    minor: u32,
    client: ExchangeIdOk,
    session: CreateSessionOk,
    slots: Slots,
    lease: Mutex<Lease>,
    ended: AtomicBool,
    renewer: Mutex<Option<AbortHandle>>,
}

struct Lease {
    seconds: u32,
    renewed: Instant,
    status: SeqStatusFlags,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let renewer = self.renewer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(renewer) = renewer {
            renewer.abort();
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({:02x?})", self.0.session.sessionid)
    }
}

/// One operation of a compound that has no session.
async fn alone(conn: &Connection, options: &Options, minor: u32, op: ArgOp) -> Result<ResOp, CallError> {
    let num = op.num();
    let compound = nfs4_proto::Compound::new(minor, vec![op]).ok_or(CallError::TooLong)?;
    let reply = tokio::time::timeout(options.timeout, conn.compound(options.cred(), &compound))
        .await
        .map_err(|_| CallError::TimedOut(options.timeout))??;
    let status = reply.status;
    match reply.ops.into_iter().next() {
        Some(result) if result.status() == Status::Ok => Ok(result),
        Some(result) => Err(CallError::Status { op: num, status: result.status() }),
        None => Err(CallError::Status { op: num, status }),
    }
}

/// EXCHANGE_ID.
async fn exchange_id(conn: &Connection, options: &Options, minor: u32) -> Result<ExchangeIdOk, ConnectError> {
    let mut random = [0; 24];
    getrandom::fill(&mut random).map_err(ConnectError::Random)?;
    let (verifier, name) = random.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let owner = options.owner.clone().unwrap_or_else(|| [b"nfs4-client/", name].concat());
    let args = ExchangeIdArgs {
        clientowner: ClientOwner { verifier: *verifier, ownerid: Opaque::new(owner).unwrap_or_default() },
        flags: ExchangeIdFlags::empty(),
        state_protect: StateProtectArgs::None,
        client_impl_id: None,
    };
    let result = alone(conn, options, minor, ArgOp::ExchangeId(args)).await?;
    if let ResOp::ExchangeId(Ok(ok)) = result { Ok(ok) } else { Err(CallError::Missing(result.num()).into()) }
}

fn channel(options: &Options, slots: u32) -> ChannelAttrs {
    ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: options.message_bytes,
        maxresponsesize: options.message_bytes,
        maxresponsesize_cached: 4096,
        maxoperations: 64,
        maxrequests: slots,
        rdma_ird: None,
    }
}

/// CREATE_SESSION.
async fn create_session(
    conn: &Connection,
    options: &Options,
    minor: u32,
    client: &ExchangeIdOk,
) -> Result<CreateSessionOk, CallError> {
    let mut flags = CreateSessionFlags::empty();
    flags.set(CreateSessionFlags::CONN_BACK_CHAN, options.back_channel);
    let args = CreateSessionArgs {
        clientid: client.clientid,
        sequence: client.sequenceid,
        flags,
        fore_chan_attrs: channel(options, options.slots),
        back_chan_attrs: ChannelAttrs {
            maxrequestsize: 64 << 10,
            maxresponsesize: 64 << 10,
            ..channel(options, crate::net::CALLBACK_SLOTS)
        },
        cb_program: CB_PROGRAM,
        sec_parms: List::new(vec![nfs4_proto::CallbackSecParms::None]).unwrap_or_default(),
    };
    let result = alone(conn, options, minor, ArgOp::CreateSession(args)).await?;
    if let ResOp::CreateSession(Ok(ok)) = result { Ok(ok) } else { Err(CallError::Missing(result.num())) }
}

impl Session {
    /// Connects to `HOST:PORT`, and makes a client ID and a session; nothing is reclaimed.
    pub async fn connect(address: &str, options: &Options) -> Result<Self, ConnectError> {
        let stream = dial(address, options.timeout).await?;
        Self::over(Connection::new(stream, Box::new(NoDelegations)), options).await
    }

    /// The same with callbacks answered by `callbacks`.
    pub async fn connect_with(
        address: &str,
        options: &Options,
        callbacks: Box<dyn Callbacks>,
    ) -> Result<Self, ConnectError> {
        let stream = dial(address, options.timeout).await?;
        Self::over(Connection::new(stream, callbacks), options).await
    }

    /// A client ID and a session over a connection.
    pub async fn over(conn: Connection, options: &Options) -> Result<Self, ConnectError> {
        let mut minor = options.minor;
        let client = match exchange_id(&conn, options, minor).await {
            Err(ConnectError::Call(CallError::Status { status: Status::MinorVersMismatch, .. }))
                if minor > 1 =>
            {
                minor = 1;
                exchange_id(&conn, options, minor).await?
            }
            other => other?,
        };
        let session = create_session(&conn, options, minor, &client).await?;
        let slots = Slots::new(session.fore_chan_attrs.maxrequests);
        let lease =
            Mutex::new(Lease { seconds: 90, renewed: Instant::now(), status: SeqStatusFlags::empty() });
        let inner = Inner {
            conn,
            cred: options.cred(),
            minor,
            client,
            session,
            slots,
            lease,
            ended: AtomicBool::new(false),
            renewer: Mutex::new(None),
        };
        let this = Self(Arc::new(inner));
        let mut c = Compound::new();
        c.push(ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false }));
        this.call(c).await?;
        let mut c = Compound::new();
        c.putrootfh();
        let at = c.getattr(nfs4_proto::AttrSet::of(&[nfs4_proto::Attr::LeaseTime]));
        if let Ok(ok) = this.call(c).await?.get(at) {
            this.lease().seconds = ok.obj_attributes.lease_time().unwrap_or(90).max(1);
        }
        this.renew_when_idle();
        Ok(this)
    }

    fn lease(&self) -> std::sync::MutexGuard<'_, Lease> {
        self.0.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle session sends a SEQUENCE when two thirds of its lease are over.
    fn renew_when_idle(&self) {
        let weak = Arc::downgrade(&self.0);
        let task = tokio::spawn(async move {
            loop {
                let wait = {
                    let Some(inner) = weak.upgrade() else { return };
                    let this = Self(inner);
                    let (period, idle) = {
                        let lease = this.lease();
                        (Duration::from_millis(u64::from(lease.seconds) * 667), lease.renewed.elapsed())
                    };
                    if idle >= period && this.call(Compound::new()).await.is_err() {
                        return;
                    }
                    period.saturating_sub(this.lease().renewed.elapsed()).max(Duration::from_millis(100))
                };
                tokio::time::sleep(wait).await;
            }
        });
        let mut renewer = self.0.renewer.lock().unwrap_or_else(PoisonError::into_inner);
        *renewer = Some(task.abort_handle());
    }

    /// The minor version spoken.
    #[must_use]
    pub fn minor(&self) -> u32 {
        self.0.minor
    }

    /// What EXCHANGE_ID told.
    #[must_use]
    pub fn server(&self) -> &ExchangeIdOk {
        &self.0.client
    }

    /// What CREATE_SESSION granted.
    #[must_use]
    pub fn granted(&self) -> &CreateSessionOk {
        &self.0.session
    }

    /// Its ID.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.0.session.sessionid
    }

    /// The client ID.
    #[must_use]
    pub fn client_id(&self) -> ClientId {
        self.0.client.clientid
    }

    /// Seconds of the lease.
    #[must_use]
    pub fn lease_seconds(&self) -> u32 {
        self.lease().seconds
    }

    /// The flags of the last SEQUENCE.
    #[must_use]
    pub fn status_flags(&self) -> SeqStatusFlags {
        self.lease().status
    }

    /// Carries out a compound; SEQUENCE is added in front. Results come also where an operation failed.
    ///
    /// When the future is dropped the call goes on, and its slot stays taken until the reply has come: a slot whose
    /// request is unknown is never used for another one.
    pub async fn call(&self, compound: Compound) -> Result<Results, CallError> {
        let reply = self.call_raw(compound.into_ops()).await?;
        let mut results = reply.ops.into_iter();
        match results.next() {
            Some(ResOp::Sequence(Ok(_))) => Ok(Results::new(reply.status, results.collect())),
            Some(first) => Err(CallError::Status { op: OpNum::Sequence, status: first.status() }),
            None => Err(CallError::Status { op: OpNum::Sequence, status: reply.status }),
        }
    }

    /// The same with operations as they are, and all results, SEQUENCE's first.
    pub async fn call_raw(&self, ops: Vec<ArgOp>) -> Result<CompoundRes, CallError> {
        if self.0.ended.load(Ordering::Relaxed) {
            return Err(CallError::Lost);
        }
        let slot = self.0.slots.take().await.ok_or(CallError::Lost)?;
        let inner = Arc::clone(&self.0);
        // A task of its own: it ends with the reply and not with the caller.
        let running = tokio::spawn(async move { inner.run(slot, ops).await });
        running.await.unwrap_or(Err(CallError::Lost))
    }

    /// DESTROY_SESSION and DESTROY_CLIENTID: the server frees what it kept.
    pub async fn close(self) -> Result<(), CallError> {
        self.0.ended.store(true, Ordering::Relaxed);
        let destroy = ArgOp::DestroySession(DestroySessionArgs { sessionid: self.id() });
        let options = Options::default();
        alone(&self.0.conn, &options, self.0.minor, destroy).await?;
        let destroy = ArgOp::DestroyClientid(DestroyClientidArgs { clientid: self.client_id() });
        alone(&self.0.conn, &options, self.0.minor, destroy).await?;
        Ok(())
    }
}

impl Inner {
    async fn run(&self, mut slot: Slot, ops: Vec<ArgOp>) -> Result<CompoundRes, CallError> {
        let mut all = Vec::with_capacity(ops.len().saturating_add(1));
        all.push(ArgOp::Sequence(SequenceArgs {
            sessionid: self.session.sessionid,
            sequenceid: slot.next_seqid(),
            slotid: slot.number(),
            highest_slotid: self.slots.highest_used(),
            cachethis: false,
        }));
        all.extend(ops);
        let compound = nfs4_proto::Compound::new(self.minor, all).ok_or(CallError::TooLong);
        let compound = match compound {
            Ok(compound) => compound,
            Err(error) => {
                self.slots.give_back(slot);
                return Err(error);
            }
        };
        match self.conn.compound(self.cred.clone(), &compound).await {
            Ok(reply) => {
                if let Some(ResOp::Sequence(Ok(ok))) = reply.ops.first() {
                    slot.used();
                    self.slots.target(ok.target_highest_slotid);
                    let mut lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
                    lease.renewed = Instant::now();
                    lease.status = ok.status_flags;
                }
                self.slots.give_back(slot);
                Ok(reply)
            }
            // Whether the server ran it is unknown: the slot is not used again on this session.
            Err(error) => {
                self.slots.poison(slot);
                Err(error)
            }
        }
    }
}
