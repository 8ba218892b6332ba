//! Compounds against a live server in this process, with its export in memory.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use arbitrary::{Arbitrary as _, Unstructured};
use bytes::Bytes;
use nfs4_client::compound::OpenFor;
use nfs4_client::{CallError, Compound, Options, Session};
use nfs4_proto::{
    ArgOp, Attrs, CompoundRes, CreateHow, CreateType, Fh, LinkText, OpNum, PutfhArgs, ResOp, StableHow,
    StateId,
};
use nfs4_server::Server;
use nfs4_server::config::{Config, File, Flags};
use nfs4_xdr::rpc::{Accepted, Call, MsgType, NFS_PROGRAM, NFS_V4, Reply, message_type};
use nfs4_xdr::{Decode as _, Input, from_record};
use tokio::runtime::Runtime;

use crate::wire::{PATIENCE, bytes_of, cred};

/// After so many inputs everything starts anew, so that what they made does not pile up.
const INPUTS: u32 = 2000;
/// Compounds of one input, and operations of one compound.
const COMPOUNDS: usize = 6;
const OPERATIONS: usize = 8;

/// A server, and what is in its export.
struct Live {
    runtime: Runtime,
    server: Option<Server>,
    address: SocketAddr,
    session: Session,
    stream: TcpStream,
    handles: Vec<Fh>,
    stateid: StateId,
    inputs: u32,
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

/// Runs `f` with the server, which is started where none is.
fn with_live(f: impl FnOnce(&mut Live)) {
    let mut held = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    if held.as_ref().is_none_or(|live| live.inputs >= INPUTS) {
        *held = None;
        *held = Some(Live::start());
    }
    if let Some(live) = held.as_mut() {
        live.inputs += 1;
        f(live);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

/// A file, a directory and the other kinds (those that are not there yet), and the file open for both.
pub async fn furnish(session: &Session) -> Result<(Vec<Fh>, StateId), CallError> {
    let mut c = Compound::new();
    c.putrootfh();
    let root = c.getfh();
    let file = c.create_file(b"o", "f", OpenFor::Both, CreateHow::Unchecked(Box::default()));
    c.write(StateId::CURRENT, 0, StableHow::Unstable, Bytes::from_static(b"some data"));
    let fh = c.getfh();
    let results = session.call(c).await?;
    let mut handles = vec![results.get(root)?.object.clone(), results.get(fh)?.object.clone()];
    let stateid = results.get(file)?.stateid;
    let link = LinkText::new(&b"f"[..]).unwrap_or_default();
    for (what, name) in [(CreateType::Dir, "d"), (CreateType::Fifo, "p"), (CreateType::Lnk(link), "l")] {
        let mut c = Compound::new();
        c.putrootfh();
        c.create(what, name, Attrs::new());
        let at = c.getfh();
        if let Ok(fh) = session.call(c).await?.get(at) {
            handles.push(fh.object.clone());
        }
    }
    Ok((handles, stateid))
}

impl Live {
    fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let text = "listen = [\"127.0.0.1:0\"]\nmem-limit = \"64MiB\"\nlog = \"off\"\n\
                    [limits]\nopens-per-client = 1000\nlocks-per-client = 1000\nclients = 100\n";
        let file: File = toml::from_str(text).unwrap();
        let config = Config::merge(&Flags::default(), file).unwrap();
        let (server, session, handles, stateid) = runtime.block_on(async {
            let server = Server::start(&config).await.unwrap();
            let session = Self::session(server.addresses()[0]).await;
            let (handles, stateid) = furnish(&session).await.unwrap();
            (server, session, handles, stateid)
        });
        let address = server.addresses()[0];
        let stream = connect(address);
        Self { runtime, server: Some(server), address, session, stream, handles, stateid, inputs: 0 }
    }

    async fn session(address: SocketAddr) -> Session {
        Session::connect(&address.to_string(), &Options::default()).await.unwrap()
    }

    /// Operations that would mostly end at a bad handle or stateid get real ones.
    fn furnished(&self, op: ArgOp, u: &mut Unstructured<'_>) -> ArgOp {
        let choice: u8 = u.arbitrary().unwrap_or(0);
        let handle = self.handles.get(usize::from(choice) % self.handles.len().max(1)).cloned();
        let stateid = match choice >> 6 {
            0 => StateId { seqid: 0, ..self.stateid },
            1 => StateId::CURRENT,
            2 => StateId::ANONYMOUS,
            _ => return op,
        };
        with_stateid(op, stateid, handle.unwrap_or_default())
    }

    /// One compound behind a good SEQUENCE. What ends the session gets another one.
    fn call(&mut self, ops: Vec<ArgOp>) {
        let shown = ops.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        match self.runtime.block_on(self.session.call_raw(ops)) {
            Ok(reply) => check(&reply, &shown),
            Err(CallError::Nonsense(error)) => panic!("{error}: {shown}"),
            Err(_) => {
                let address = self.address;
                self.session = self.runtime.block_on(Self::session(address));
                if let Ok(furnished) = self.runtime.block_on(furnish(&self.session)) {
                    (self.handles, self.stateid) = furnished;
                }
            }
        }
    }

    /// Any bytes as the arguments of a COMPOUND.
    fn bytes(&mut self, data: &[u8]) {
        let mut record = bytes_of(&Call::new(7, NFS_PROGRAM, NFS_V4, 1, cred(1000, 1000, &[]))).to_vec();
        record.extend_from_slice(data);
        let mark = 0x8000_0000 | u32::try_from(record.len()).unwrap();
        record.splice(0..0, mark.to_be_bytes());
        self.stream.write_all(&record).unwrap();
        loop {
            let reply = receive(&mut self.stream);
            if matches!(message_type(&reply), Some((_, MsgType::Call))) {
                continue;
            }
            let (rest, head) =
                Reply::decode(Input::new(&reply)).unwrap_or_else(|e| panic!("no reply: {e:?}"));
            match head.body {
                Ok(Accepted::Success) => {
                    let body = Bytes::copy_from_slice(rest.as_slice());
                    let result = from_record::<CompoundRes>(&body).unwrap_or_else(|e| panic!("{e}"));
                    check(&result, "bytes");
                }
                Ok(Accepted::GarbageArgs) => {}
                other => panic!("{other:?}"),
            }
            return;
        }
    }
}

/// Every status is one that the RFCs list.
fn check(reply: &CompoundRes, shown: &str) {
    for result in &reply.ops {
        let (num, status) = (result.num(), ResOp::status(result));
        assert!(num.may_answer(status), "{} {status}: {shown}", num.name());
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn receive(stream: &mut TcpStream) -> Bytes {
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).unwrap_or_else(|e| panic!("the server does not answer: {e}"));
    let len = u32::from_be_bytes(mark) & 0x7fff_ffff;
    let mut record = vec![0; usize::try_from(len).unwrap()];
    stream.read_exact(&mut record).unwrap();
    record.into()
}

fn with_stateid(op: ArgOp, stateid: StateId, object: Fh) -> ArgOp {
    match op {
        ArgOp::Putfh(_) => ArgOp::Putfh(PutfhArgs { object }),
        ArgOp::Read(args) => ArgOp::Read(nfs4_proto::ReadArgs { stateid, ..args }),
        ArgOp::Write(args) => ArgOp::Write(nfs4_proto::WriteArgs { stateid, ..args }),
        ArgOp::Setattr(args) => ArgOp::Setattr(nfs4_proto::SetattrArgs { stateid, ..args }),
        ArgOp::Allocate(args) => ArgOp::Allocate(nfs4_proto::AllocateArgs { stateid, ..args }),
        ArgOp::Deallocate(args) => ArgOp::Deallocate(nfs4_proto::AllocateArgs { stateid, ..args }),
        ArgOp::Seek(args) => ArgOp::Seek(nfs4_proto::SeekArgs { stateid, ..args }),
        ArgOp::Copy(args) => {
            ArgOp::Copy(nfs4_proto::CopyArgs { src_stateid: stateid, dst_stateid: stateid, ..args })
        }
        ArgOp::Close(args) => ArgOp::Close(nfs4_proto::CloseArgs { open_stateid: stateid, ..args }),
        other => other,
    }
}

/// Any bytes behind an RPC header: what the server answers is a reply, with statuses that the RFCs list.
pub fn compound_bytes(data: &[u8]) {
    with_live(|live| live.bytes(data));
}

/// A sequence of compounds with a valid session, their operations made from the bytes.
pub fn compound_sequence(data: &[u8]) {
    let mut u = Unstructured::new(data);
    with_live(|live| {
        for _ in 0..COMPOUNDS {
            if u.is_empty() {
                return;
            }
            let mut ops = Vec::new();
            let count = u.int_in_range(1..=OPERATIONS).unwrap_or(1);
            for _ in 0..count {
                if u.ratio(1, 3).unwrap_or(false)
                    && let Ok(at) = u.choose_index(live.handles.len())
                    && let Some(object) = live.handles.get(at).cloned()
                {
                    ops.push(ArgOp::Putfh(PutfhArgs { object }));
                }
                let Ok(op) = ArgOp::arbitrary(&mut u) else { break };
                ops.push(live.furnished(op, &mut u));
            }
            // To make and end sessions is what `compound_bytes` is for.
            ops.retain(|op| !matches!(op.num(), OpNum::DestroySession | OpNum::DestroyClientid));
            live.call(ops);
        }
    });
}
