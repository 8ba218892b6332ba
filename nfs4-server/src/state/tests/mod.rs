//! One rule each, by name.

mod back;
mod bind;
mod create;
mod exchange;
mod grace;
mod leases;
mod records;
mod sequence;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use nfs4_proto::{ClientId, SessionId, Status};
use nfs4_xdr::Segments;

use super::*;

/// Who holds what, and what was dropped.
#[derive(Default)]
pub(super) struct Holder {
    holding: Mutex<BTreeSet<u64>>,
    dropped: Mutex<Vec<(ClientId, Why)>>,
}

impl Holder {
    fn hold(&self, client: ClientId) {
        self.holding.lock().unwrap().insert(client.0);
    }

    fn dropped(&self) -> Vec<(ClientId, Why)> {
        std::mem::take(&mut self.dropped.lock().unwrap())
    }
}

impl StateHolder for Holder {
    fn client_has_state(&self, client: ClientId) -> bool {
        self.holding.lock().unwrap().contains(&client.0)
    }

    fn drop_client(&self, client: ClientId, why: Why) {
        self.holding.lock().unwrap().remove(&client.0);
        self.dropped.lock().unwrap().push((client, why));
    }
}

/// Records that outlive a server, and can fail.
#[derive(Default)]
pub(super) struct Shelf {
    epoch: AtomicU64,
    owners: Mutex<BTreeMap<Bytes, (u32, bool)>>,
    fails: AtomicBool,
}

/// One boot's view of a shelf.
struct Boot(Arc<Shelf>);

impl Boot {
    fn write(&self, f: impl FnOnce(&mut BTreeMap<Bytes, (u32, bool)>)) -> io::Result<()> {
        if self.0.fails.load(Ordering::SeqCst) {
            return Err(io::Error::other("no room"));
        }
        f(&mut self.0.owners.lock().unwrap());
        Ok(())
    }
}

impl Records for Boot {
    fn epoch(&self) -> u32 {
        u32::try_from(self.0.epoch.load(Ordering::SeqCst)).unwrap()
    }

    fn load(&self) -> Vec<Record> {
        let owners = self.0.owners.lock().unwrap();
        owners.iter().map(|(o, &(boot, reclaimed))| Record { owner: o.clone(), boot, reclaimed }).collect()
    }

    fn confirm(&self, owner: &[u8], keeps: bool) -> io::Result<()> {
        let boot = self.epoch();
        self.write(|o| {
            o.insert(Bytes::copy_from_slice(owner), (boot, keeps));
        })
    }

    fn reclaimed(&self, owner: &[u8]) -> io::Result<()> {
        self.confirm(owner, true)
    }

    fn forget(&self, owners: &[Bytes]) -> io::Result<()> {
        self.write(|o| o.retain(|owner, _| !owners.contains(owner)))
    }

    fn durable(&self) -> bool {
        false
    }
}

/// A server's state with everything around it in hand.
pub(super) struct Kit {
    state: State,
    holder: Arc<Holder>,
    shelf: Arc<Shelf>,
}

const LEASE: u64 = 90_000;
const C1: ConnId = ConnId(1);
const C2: ConnId = ConnId(2);
const C3: ConnId = ConnId(3);

fn at(ms: u64) -> Now {
    Now::from_millis(ms)
}

fn settings() -> Settings {
    Settings::new(&Limits::default(), 90, 90, [7; 16])
}

const fn channel(n: u32) -> ChannelAttrs {
    ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: n,
        maxresponsesize: n,
        maxresponsesize_cached: 4096,
        maxoperations: 16,
        maxrequests: 8,
    }
}

impl Kit {
    fn new() -> Self {
        Self::with(settings())
    }

    fn with(settings: Settings) -> Self {
        Self::boot(at(0), settings, Arc::default())
    }

    fn boot(now: Now, settings: Settings, shelf: Arc<Shelf>) -> Self {
        shelf.epoch.fetch_add(1, Ordering::SeqCst);
        let holder = Arc::<Holder>::default();
        let records = Box::new(Boot(Arc::clone(&shelf)));
        let state = State::new(now, settings, 42, records, Arc::clone(&holder) as _).unwrap();
        for conn in [C1, C2, C3] {
            state.connected(conn);
        }
        Self { state, holder, shelf }
    }

    /// Killed and started again.
    fn restart(self, now: Now) -> Self {
        let settings = self.state.settings();
        Self::boot(now, settings, self.shelf)
    }

    fn on_record(&self, owner: &str) -> Option<bool> {
        self.shelf.owners.lock().unwrap().get(owner.as_bytes()).map(|(_, may)| *may)
    }

    fn exchange(&self, now: Now, args: &ExchangeId) -> Result<ExchangedId, Status> {
        self.state.exchange_id(now, args)
    }

    fn create(&self, now: Now, conn: ConnId, of: ExchangedId) -> Result<CreatedSession, Status> {
        self.state.create_session(now, conn, &session_of(of))
    }

    /// A confirmed client with a session on C1 and its RECLAIM_COMPLETE.
    fn client(&self, now: Now, name: &str) -> (ClientId, SessionId) {
        let (id, session) = self.fresh(now, name);
        self.state.reclaim_complete(&self.state.client(id).unwrap(), false).unwrap();
        (id, session)
    }

    /// The same without RECLAIM_COMPLETE.
    fn fresh(&self, now: Now, name: &str) -> (ClientId, SessionId) {
        let id = self.exchange(now, &owner(name, 1)).unwrap();
        (id.client, self.create(now, C1, id).unwrap().session)
    }

    fn seq(&self, now: Now, s: SessionId, slot: u32, seqid: u32, print: u64) -> Result<Turn, Status> {
        self.state.sequence(now, C1, &sequence(s, slot, seqid), print)
    }

    /// Runs a request to its end.
    fn run(&self, now: Now, s: SessionId, slot: u32, seqid: u32) -> SequenceOk {
        match self.seq(now, s, slot, seqid, u64::from(seqid)).unwrap() {
            Turn::New(guard) => {
                let ok = *guard.ok();
                guard.finish(now, &reply(seqid), true);
                ok
            }
            other @ (Turn::Replay(_) | Turn::Wait(_)) => panic!("not new: {other:?}"),
        }
    }
}

fn owner(name: &str, verifier: u8) -> ExchangeId {
    ExchangeId {
        verifier: [verifier; 8],
        owner: Bytes::copy_from_slice(name.as_bytes()),
        flags: 0,
        protect: Protect::None,
        principal: Principal::sys(0),
        minor: 2,
        peer: None,
    }
}

fn update(name: &str, verifier: u8) -> ExchangeId {
    ExchangeId { flags: exchgid::UPD_CONFIRMED_REC_A, ..owner(name, verifier) }
}

/// The same sent by another user.
fn other(args: ExchangeId) -> ExchangeId {
    ExchangeId { principal: Principal::sys(1000), ..args }
}

fn session_of(of: ExchangedId) -> CreateSession {
    CreateSession {
        client: of.client,
        sequence: of.sequence,
        flags: create_flags::CONN_BACK_CHAN,
        fore: channel(1 << 20),
        back: ChannelAttrs { maxoperations: 2, maxrequests: 4, ..channel(4096) },
        cb_program: 0x4000_0000,
        cb_creds: vec![CallbackCred::None],
        principal: Principal::sys(0),
        minor: 2,
    }
}

fn sequence(session: SessionId, slot: u32, seqid: u32) -> Sequence {
    Sequence { session, seqid, slot, highest: slot, operations: 2, bytes: 200, cachethis: false }
}

fn reply(n: u32) -> Segments {
    let mut all = Segments::new();
    all.push(Bytes::from_static(b"reply "));
    all.push(Bytes::from(format!("{n}")));
    all
}

fn kept(turn: Turn) -> Bytes {
    let Turn::Replay(Reply::Kept(bytes)) = turn else { panic!("not a kept reply: {turn:?}") };
    bytes
}

fn new(turn: Result<Turn, Status>) -> SlotGuard {
    match turn {
        Ok(Turn::New(guard)) => guard,
        other => panic!("not new: {other:?}"),
    }
}

fn waits(turn: Result<Turn, Status>) -> tokio::sync::oneshot::Receiver<Bytes> {
    match turn {
        Ok(Turn::Wait(rx)) => rx,
        other => panic!("does not wait: {other:?}"),
    }
}

fn error(turn: Result<Turn, Status>) -> Status {
    match turn {
        Err(status) => status,
        Ok(turn) => panic!("accepted: {turn:?}"),
    }
}
