//! One connection: a loop that reads records, runs each as far as it goes at once, and writes all replies of one read
//! together.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

use bytes::Bytes;
use nfs4_xdr::record::Deframer;
use nfs4_xdr::rpc::{Call as RpcCall, MsgType, OpaqueAuth, message_type};
use nfs4_xdr::{EncodeError, Segments, Writer};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot, watch};

use super::call::{Asked, end_reply, look_at};
use super::out::Out;
use super::pending::Pending;
use super::{Call, NetLimits};
use crate::backend::in_place;
use crate::state::ConnId;

/// What carries out calls.
pub trait Service: Send + Sync + 'static {
    /// Carries out one COMPOUND. The result is the whole message with its record mark ([`super::begin_reply`]); `None`
    /// says nothing, and the call is never answered.
    fn compound(
        self: Arc<Self>,
        conn: Arc<Conn>,
        call: Call,
    ) -> impl Future<Output = Option<Segments>> + Send;

    /// A connection begins.
    fn opened(&self, conn: &Arc<Conn>);

    /// The connection has ended.
    fn closed(&self, conn: ConnId);
}

/// A client's connection, as the service sees it.
#[derive(Debug)]
pub struct Conn {
    id: ConnId,
    peer: SocketAddr,
    stream: TcpStream,
    out: Out,
    pending: Pending,
    inflight: AtomicUsize,
    inflight_bytes: AtomicUsize,
    /// A request ended.
    ended: Notify,
    closed: AtomicBool,
    back_channel: AtomicBool,
}

impl Conn {
    pub(super) fn new(id: ConnId, peer: SocketAddr, stream: TcpStream) -> Self {
        Self {
            id,
            peer,
            stream,
            out: Out::default(),
            pending: Pending::default(),
            inflight: AtomicUsize::new(0),
            inflight_bytes: AtomicUsize::new(0),
            ended: Notify::new(),
            closed: AtomicBool::new(false),
            back_channel: AtomicBool::new(false),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> ConnId {
        self.id
    }

    /// The client's address.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Says whether it carries a back channel: then it is not closed for being idle.
    pub fn set_back_channel(&self, carries: bool) {
        self.back_channel.store(carries, Ordering::Relaxed);
    }

    /// Sends a call of our own; its reply's record comes through the receiver, which fails when the connection ends.
    /// `None`: it has ended, or too many wait.
    pub fn call_back(
        &self,
        program: u32,
        version: u32,
        procedure: u32,
        cred: OpaqueAuth,
        body: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
    ) -> Option<oneshot::Receiver<Bytes>> {
        let (xid, receiver) = self.pending.begin()?;
        let mut w = Writer::unlimited();
        let mark = w.later_u32().ok()?;
        w.put(&RpcCall::new(xid, program, version, procedure, cred)).ok()?;
        body(&mut w).ok()?;
        self.out.add(end_reply(w, mark));
        self.out.write(&self.stream);
        Some(receiver)
    }

    fn begin(&self, bytes: usize) {
        self.inflight.fetch_add(1, Ordering::Relaxed);
        self.inflight_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn end(&self, bytes: usize) {
        self.inflight.fetch_sub(1, Ordering::Relaxed);
        self.inflight_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.ended.notify_waiters();
    }

    fn over(&self, limits: &NetLimits) -> bool {
        self.inflight.load(Ordering::Relaxed) >= limits.inflight
            || self.inflight_bytes.load(Ordering::Relaxed) >= limits.inflight_bytes
            || self.out.waiting() >= limits.inflight_bytes
    }

    /// Waits until another request may be taken up. What the peer does not read counts as well.
    async fn room(&self, limits: &NetLimits) {
        while self.over(limits) && !self.is_closed() {
            let (ended, drained) = (self.ended.notified(), self.out.drained.notified());
            tokio::pin!(ended, drained);
            // Registered before the check, so that no wake-up is missed.
            ended.as_mut().enable();
            drained.as_mut().enable();
            if !self.over(limits) {
                return;
            }
            tokio::select! { () = ended => {}, () = drained => {} }
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // Now, and not when the last one who knows the connection lets it go. One that is gone already is what was wanted.
        let _ = rustix::net::shutdown(&self.stream, rustix::net::Shutdown::Both);
        self.pending.close();
        self.ended.notify_waiters();
        self.out.full.notify_one();
    }
}

/// Serves one connection to its end.
pub(super) async fn serve<S: Service>(
    service: Arc<S>,
    conn: Arc<Conn>,
    limits: NetLimits,
    mut stop: watch::Receiver<bool>,
) {
    service.opened(&conn);
    let flusher = tokio::spawn(flush(Arc::clone(&conn)));
    let ended = tokio::select! {
        ended = read(&service, &conn, &limits) => ended,
        _ = stop.wait_for(|stop| *stop) => End::Stopping,
    };
    if let End::Refused(why) = &ended {
        tracing::info!(peer = %conn.peer, "connection closed: {why}");
    }
    // What was taken is answered; a peer that has gone, or sent nonsense, gets nothing more.
    if !matches!(ended, End::Refused(_)) {
        let rest = async {
            while conn.inflight.load(Ordering::Relaxed) > 0 || conn.out.waiting() > 0 {
                let (done, drained) = (conn.ended.notified(), conn.out.drained.notified());
                tokio::pin!(done, drained);
                done.as_mut().enable();
                drained.as_mut().enable();
                if conn.inflight.load(Ordering::Relaxed) == 0 && conn.out.waiting() == 0 {
                    return;
                }
                tokio::select! { () = done => {}, () = drained => {} }
            }
        };
        // A peer that hung up may have closed one direction only.
        drop(tokio::time::timeout(limits.stop, rest).await);
    }
    conn.close();
    flusher.abort();
    service.closed(conn.id);
}

enum End {
    /// The peer closed, or the socket failed.
    Closed,
    /// It broke a rule of the stream, or was idle.
    Refused(String),
    /// The server stops.
    Stopping,
}

/// Writes what the socket did not take at first.
async fn flush(conn: Arc<Conn>) {
    loop {
        conn.out.full.notified().await;
        if conn.is_closed() || conn.stream.writable().await.is_err() {
            return;
        }
        conn.out.write(&conn.stream);
    }
}

/// After so many reads without a wait, the other tasks of this thread have their turn: a client that always has more to
/// say must not keep them out.
const STREAK: u32 = 16;

async fn read<S: Service>(service: &Arc<S>, conn: &Arc<Conn>, limits: &NetLimits) -> End {
    let mut deframer = Deframer::new(limits.record);
    let mut patience = limits.first_request;
    // Reads that found something without waiting, in a row.
    let mut streak = 0;
    loop {
        if streak == STREAK {
            streak = 0;
            tokio::task::yield_now().await;
        }
        deframer.reserve();
        let got = loop {
            match conn.stream.try_read_buf(deframer.buffer()) {
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => streak = 0,
                other => break other,
            }
            match tokio::time::timeout(patience, conn.stream.readable()).await {
                Ok(Ok(())) => {}
                Ok(Err(e)) => break Err(e),
                Err(_) if conn.back_channel.load(Ordering::Relaxed) => {}
                Err(_) if conn.inflight.load(Ordering::Relaxed) > 0 => {}
                Err(_) => return End::Refused(format!("no request for {} s", patience.as_secs())),
            }
        };
        match got {
            Ok(0) | Err(_) => return End::Closed,
            Ok(_) => streak += 1,
        }
        let mut first = true;
        loop {
            let record = match deframer.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(e) => {
                    conn.out.write(&conn.stream);
                    return End::Refused(e.to_string());
                }
            };
            patience = limits.idle;
            if conn.over(limits) {
                conn.out.write(&conn.stream);
                conn.room(limits).await;
            }
            let alone = first && deframer.pending() == 0 && conn.inflight.load(Ordering::Relaxed) == 0;
            first = false;
            take_up(service, conn, record, alone).await;
        }
        conn.out.write(&conn.stream);
    }
}

/// Runs one record's call in place as far as it goes; what has to wait goes on in a task of its own. `alone`: nothing
/// else of this connection waits.
async fn take_up<S: Service>(service: &Arc<S>, conn: &Arc<Conn>, record: Bytes, alone: bool) {
    match message_type(&record) {
        Some((xid, MsgType::Reply)) => return conn.pending.reply(xid, record),
        Some((_, MsgType::Call)) => {}
        // Not even a header: nothing to answer to.
        None => return,
    }
    let bytes = record.len();
    let call = match look_at(record) {
        Asked::Compound(call) => call,
        Asked::Answer(message) => return conn.out.add(message),
        Asked::Nothing => return,
    };
    conn.begin(bytes);
    let mut work: Pin<Box<dyn Future<Output = Option<Segments>> + Send>> =
        Box::pin(Arc::clone(service).compound(Arc::clone(conn), call));
    let first = poll_fn(|cx| Poll::Ready(in_place::run(alone, || work.as_mut().poll(cx)))).await;
    match first {
        Poll::Ready(message) => {
            if let Some(message) = message {
                conn.out.add(message);
            }
            conn.end(bytes);
        }
        Poll::Pending => {
            let conn = Arc::clone(conn);
            tokio::spawn(async move {
                let message = work.await;
                if let Some(message) = message {
                    conn.out.add(message);
                    conn.out.write(&conn.stream);
                }
                conn.end(bytes);
            });
        }
    }
}
