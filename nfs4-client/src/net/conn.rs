//! One connection: a task that reads, a task that writes, and the calls that wait.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use nfs4_proto::{CbCall, CompoundRes};
use nfs4_xdr::record::{Deframer, LAST_FRAGMENT, RecordLimits};
use nfs4_xdr::rpc::{
    Accepted, Call as RpcCall, MsgType, NFS_PROGRAM, NFS_V4, OpaqueAuth, Reply, message_type, put_accepted,
};
use nfs4_xdr::{Decode, EncodeError, Input, Segments, Writer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::callbacks::{Back, Callbacks};
use crate::{CallError, ConnectError};

/// Messages that may wait to be written.
const QUEUE: usize = 1024;

type Waiting = Mutex<Option<HashMap<u32, oneshot::Sender<Bytes>>>>;

/// A connection to a server. Cheap to clone; ends when the last clone goes.
#[derive(Clone)]
pub struct Connection(Arc<Inner>);

struct Inner {
    out: mpsc::Sender<Segments>,
    /// `None` once the connection has ended.
    waiting: Arc<Waiting>,
    xid: AtomicU32,
    tasks: [AbortHandle; 2],
}

impl Drop for Inner {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connection")
    }
}

/// Connects to `HOST:PORT` within `timeout`.
pub async fn dial(address: &str, timeout: Duration) -> Result<TcpStream, ConnectError> {
    if !address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
        return Err(ConnectError::Address(address.to_owned()));
    }
    let failed = |error| ConnectError::Dial { address: address.to_owned(), error };
    let stream = tokio::time::timeout(timeout, TcpStream::connect(address))
        .await
        .map_err(|_| ConnectError::TimedOut { address: address.to_owned(), after: timeout })?
        .map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, Option<HashMap<u32, oneshot::Sender<Bytes>>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message with its record mark.
fn message(put: impl FnOnce(&mut Writer) -> Result<(), EncodeError>) -> Result<Segments, EncodeError> {
    let mut w = Writer::unlimited();
    let mark = w.later_u32()?;
    put(&mut w)?;
    let len = w.since(mark);
    let word = u32::try_from(len).map_err(|_| EncodeError::Bound { len, max: 0x7fff_ffff })?;
    w.fill(mark, word | LAST_FRAGMENT);
    Ok(w.finish())
}

impl Connection {
    /// Runs a connection over a stream.
    #[must_use]
    pub fn new(stream: TcpStream, callbacks: Box<dyn Callbacks>) -> Self {
        let (read_half, write_half) = stream.into_split();
        let (out, queue) = mpsc::channel(QUEUE);
        let waiting: Arc<Waiting> = Arc::new(Mutex::new(Some(HashMap::new())));
        let reader = tokio::spawn(read(read_half, Arc::clone(&waiting), out.clone(), Back::new(callbacks)));
        let writer = tokio::spawn(write(write_half, queue));
        let tasks = [reader.abort_handle(), writer.abort_handle()];
        Self(Arc::new(Inner { out, waiting, xid: AtomicU32::new(1), tasks }))
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.0.waiting).is_none()
    }

    /// Sends one call and waits for its reply's record. When this is dropped the reply is dropped when it comes.
    pub async fn call(
        &self,
        program: u32,
        version: u32,
        procedure: u32,
        cred: OpaqueAuth,
        body: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
    ) -> Result<Bytes, CallError> {
        let xid = self.0.xid.fetch_add(1, Ordering::Relaxed);
        let request = message(|w| {
            w.put(&RpcCall::new(xid, program, version, procedure, cred))?;
            body(w)
        })?;
        let (sender, receiver) = oneshot::channel();
        match lock(&self.0.waiting).as_mut() {
            Some(waiting) => drop(waiting.insert(xid, sender)),
            None => return Err(CallError::Lost),
        }
        self.0.out.send(request).await.map_err(|_| CallError::Lost)?;
        receiver.await.map_err(|_| CallError::Lost)
    }

    /// The NULL procedure.
    pub async fn null(&self) -> Result<(), CallError> {
        let record = self.call(NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none(), |_| Ok(())).await?;
        accepted(&record).map(|_| ())
    }

    /// A COMPOUND without regard to sessions; tag empty.
    pub async fn compound(
        &self,
        cred: OpaqueAuth,
        compound: &nfs4_proto::Compound,
    ) -> Result<CompoundRes, CallError> {
        let record = self.call(NFS_PROGRAM, NFS_V4, 1, cred, |w| w.put(compound)).await?;
        decode_reply(&record)
    }
}

/// What stands behind the header of a call that was carried out.
pub(crate) fn accepted(record: &Bytes) -> Result<Input<'_>, CallError> {
    let (rest, reply) = Reply::decode(Input::new(record)).map_err(nonsense)?;
    match reply.body {
        Ok(Accepted::Success) => Ok(rest),
        Ok(how) => Err(CallError::NotAccepted(how)),
        Err(why) => Err(CallError::Rejected(why)),
    }
}

/// Whether a call was carried out.
pub(crate) fn outcome(record: &Bytes) -> Result<(), CallError> {
    accepted(record).map(|_| ())
}

/// A COMPOUND's results.
pub(crate) fn decode_reply(record: &Bytes) -> Result<CompoundRes, CallError> {
    let rest = accepted(record)?;
    let (rest, results) = CompoundRes::decode(rest).map_err(nonsense)?;
    if rest.remaining() > 0 {
        let kind = nfs4_xdr::DecodeKind::Trailing(rest.remaining());
        return Err(CallError::Nonsense(nfs4_xdr::DecodeError::new(rest, kind)));
    }
    Ok(results)
}

fn nonsense(e: nfs4_xdr::ParseError) -> CallError {
    CallError::Nonsense(nfs4_xdr::into_error(e))
}

async fn write(mut half: OwnedWriteHalf, mut queue: mpsc::Receiver<Segments>) {
    let mut batch = Vec::new();
    let mut small = BytesMut::new();
    while queue.recv_many(&mut batch, 256).await > 0 {
        // Short messages go together; long data are written from where they lie.
        for mut message in batch.drain(..) {
            if message.len() <= 4096 {
                for part in message {
                    small.extend_from_slice(&part);
                }
                continue;
            }
            if !small.is_empty() && half.write_all_buf(&mut small).await.is_err() {
                return;
            }
            while message.has_remaining() {
                if half.write_buf(&mut message).await.is_err() {
                    return;
                }
            }
        }
        if !small.is_empty() && half.write_all_buf(&mut small).await.is_err() {
            return;
        }
    }
}

async fn read(mut half: OwnedReadHalf, waiting: Arc<Waiting>, out: mpsc::Sender<Segments>, back: Back) {
    let limits = RecordLimits { bytes: 16 << 20, ..RecordLimits::default() };
    let mut deframer = Deframer::new(limits);
    'stream: loop {
        deframer.reserve();
        match half.read_buf(deframer.buffer()).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        loop {
            let record = match deframer.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "the server's stream cannot be followed");
                    break 'stream;
                }
            };
            match message_type(&record) {
                Some((xid, MsgType::Reply)) => {
                    let sender = lock(&waiting).as_mut().and_then(|w| w.remove(&xid));
                    if let Some(sender) = sender {
                        // Who called may have gone.
                        drop(sender.send(record));
                    }
                }
                Some((xid, MsgType::Call)) => {
                    let answer = callback(&back, xid, &record);
                    if let Ok(answer) = answer
                        && out.send(answer).await.is_err()
                    {
                        break 'stream;
                    }
                }
                None => break 'stream,
            }
        }
    }
    // All who wait are told, by the drop of their sender.
    let all = lock(&waiting).take();
    drop(all);
}

/// Answers a call of the server: CB_NULL or CB_COMPOUND.
fn callback(back: &Back, xid: u32, record: &Bytes) -> Result<Segments, EncodeError> {
    let Ok((rest, call)) = RpcCall::decode(Input::new(record)) else {
        return message(|w| put_accepted(w, xid, Accepted::GarbageArgs));
    };
    match call.proc {
        0 => message(|w| put_accepted(w, xid, Accepted::Success)),
        1 => match CbCall::decode(rest, 64) {
            Ok(cb) => {
                let results = back.answer(&cb);
                message(|w| {
                    put_accepted(w, xid, Accepted::Success)?;
                    w.put(&results)
                })
            }
            Err(_) => message(|w| put_accepted(w, xid, Accepted::GarbageArgs)),
        },
        _ => message(|w| put_accepted(w, xid, Accepted::ProcUnavail)),
    }
}
