//! Rules of connections, with a service that does what the test needs.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use nfs4_xdr::record::{Deframer, LAST_FRAGMENT, RecordLimits};
use nfs4_xdr::rpc::{
    Accepted, Call as RpcCall, MsgType, NFS_PROGRAM, OpaqueAuth, Reply, message_type, put_accepted,
};
use nfs4_xdr::{Decode, Input, Segments, Writer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};

use super::{Call, Conn, ConnId, Net, NetLimits, Service, begin_reply, end_reply};

/// Answers with the first word of the body: 0 at once, 1 when it is let go, 2 with as much data as the second word says.
#[derive(Default)]
struct Toy {
    go: Notify,
    running: AtomicUsize,
    most: AtomicUsize,
    conns: Mutex<Vec<Arc<Conn>>>,
    closed: AtomicUsize,
}

impl Service for Toy {
    async fn compound(self: Arc<Self>, _: Arc<Conn>, call: Call) -> Option<Segments> {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let word = |at: usize| {
            let bytes = call.record.get(call.body_at + at..call.body_at + at + 4).unwrap();
            u32::from_be_bytes(bytes.try_into().unwrap())
        };
        let (mut w, mark) = begin_reply(call.xid).unwrap();
        w.put(&word(0)).unwrap();
        match word(0) {
            1 => self.go.notified().await,
            2 => w.put_shared(&Bytes::from(vec![7; word(4) as usize])).unwrap(),
            _ => {}
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        Some(end_reply(w, mark))
    }

    fn opened(&self, conn: &Arc<Conn>) {
        self.conns.lock().unwrap().push(Arc::clone(conn));
    }

    fn closed(&self, _: ConnId) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

struct Rig {
    toy: Arc<Toy>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    running: tokio::task::JoinHandle<()>,
}

async fn rig(limits: NetLimits) -> Rig {
    let net = Net::bind(&["127.0.0.1:0".parse().unwrap()], limits).await.unwrap();
    let address = net.addresses()[0];
    let (stop, stopping) = watch::channel(false);
    let toy = Arc::new(Toy::default());
    let service = Arc::clone(&toy);
    let running = tokio::spawn(async move { net.run(service, stopping).await });
    Rig { toy, address, stop, running }
}

fn request(xid: u32, prog: u32, vers: u32, proc: u32, words: &[u32]) -> Vec<u8> {
    let mut w = Writer::unlimited();
    w.put(&RpcCall::new(xid, prog, vers, proc, OpaqueAuth::none())).unwrap();
    for word in words {
        w.put(word).unwrap();
    }
    framed(&w.finish().to_bytes())
}

fn framed(body: &[u8]) -> Vec<u8> {
    let mark = u32::try_from(body.len()).unwrap() | LAST_FRAGMENT;
    [&mark.to_be_bytes()[..], body].concat()
}

fn compound(xid: u32, words: &[u32]) -> Vec<u8> {
    request(xid, NFS_PROGRAM, 4, 1, words)
}

struct Peer {
    stream: TcpStream,
    deframer: Deframer,
}

impl Peer {
    async fn new(address: SocketAddr) -> Self {
        let limits = RecordLimits { bytes: 64 << 20, ..RecordLimits::default() };
        Self { stream: TcpStream::connect(address).await.unwrap(), deframer: Deframer::new(limits) }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next record; `None` where the server has closed.
    async fn next(&mut self) -> Option<Bytes> {
        let read = async {
            loop {
                if let Some(record) = self.deframer.next().unwrap() {
                    return Some(record);
                }
                if self.stream.read_buf(self.deframer.buffer()).await.unwrap_or(0) == 0 {
                    return None;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(10), read).await.expect("an answer")
    }

    async fn reply(&mut self) -> Reply {
        let record = self.next().await.expect("a reply");
        Reply::decode(Input::new(&record)).unwrap().1
    }
}

#[tokio::test]
async fn replies_come_in_the_order_of_the_requests_that_need_not_wait() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    let all: Vec<u8> = (1..=300).flat_map(|xid| compound(xid, &[0])).collect();
    peer.send(&all).await;
    for xid in 1..=300 {
        assert_eq!(peer.reply().await, Reply { xid, body: Ok(Accepted::Success) });
    }
}

#[tokio::test]
async fn a_stream_cut_into_single_bytes_says_the_same() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    peer.stream.set_nodelay(true).unwrap();
    for byte in compound(9, &[0]) {
        peer.send(&[byte]).await;
    }
    assert_eq!(peer.reply().await.xid, 9);
}

#[tokio::test]
async fn a_request_that_waits_does_not_keep_later_ones_waiting() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    peer.send(&[compound(1, &[1]), compound(2, &[0])].concat()).await;
    assert_eq!(peer.reply().await.xid, 2);
    rig.toy.go.notify_one();
    assert_eq!(peer.reply().await.xid, 1);
}

#[tokio::test]
async fn beyond_the_bound_of_requests_in_progress_the_connection_is_not_read() {
    let rig = rig(NetLimits { inflight: 4, ..NetLimits::default() }).await;
    let mut peer = Peer::new(rig.address).await;
    let all: Vec<u8> = (1..=20).flat_map(|xid| compound(xid, &[1])).collect();
    peer.send(&all).await;
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 20 {
        rig.toy.go.notify_one();
        seen.insert(peer.reply().await.xid);
    }
    assert!(rig.toy.most.load(Ordering::SeqCst) <= 4);
}

#[tokio::test]
async fn replies_that_the_peer_does_not_take_are_bounded_and_not_lost() {
    const SIZE: u32 = 1 << 20;
    let rig = rig(NetLimits { inflight_bytes: 4 << 20, ..NetLimits::default() }).await;
    let mut peer = Peer::new(rig.address).await;
    let all: Vec<u8> = (1..=64).flat_map(|xid| compound(xid, &[2, SIZE])).collect();
    peer.send(&all).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for xid in 1..=64 {
        let record = peer.next().await.unwrap();
        assert_eq!(message_type(&record), Some((xid, MsgType::Reply)));
        assert_eq!(record.len(), 24 + 4 + 4 + SIZE as usize);
    }
}

#[tokio::test]
async fn what_is_not_nfs_4_is_answered_by_rpc() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    for (xid, (prog, vers, proc), body) in [
        (1, (NFS_PROGRAM, 4, 0), Accepted::Success),
        (2, (NFS_PROGRAM, 3, 0), Accepted::ProgMismatch(4, 4)),
        (3, (100_005, 3, 1), Accepted::ProgUnavail),
        (4, (NFS_PROGRAM, 4, 2), Accepted::ProcUnavail),
    ] {
        peer.send(&request(xid, prog, vers, proc, &[])).await;
        assert_eq!(peer.reply().await, Reply { xid, body: Ok(body) });
    }
}

#[tokio::test]
async fn a_record_over_the_limit_closes_that_connection_and_no_other() {
    let limits = NetLimits { record: RecordLimits { bytes: 1024, fragments: 8 }, ..NetLimits::default() };
    let rig = rig(limits).await;
    let (mut bad, mut good) = (Peer::new(rig.address).await, Peer::new(rig.address).await);
    bad.send(&(0x800 | LAST_FRAGMENT).to_be_bytes()).await;
    assert_eq!(bad.next().await, None);
    good.send(&compound(1, &[0])).await;
    assert_eq!(good.reply().await.xid, 1);
}

#[tokio::test]
async fn one_address_has_so_many_connections_and_a_closed_one_makes_room() {
    let rig = rig(NetLimits { per_address: 2, ..NetLimits::default() }).await;
    let (mut one, two) = (Peer::new(rig.address).await, Peer::new(rig.address).await);
    one.send(&compound(1, &[0])).await;
    one.reply().await;
    let mut three = Peer::new(rig.address).await;
    assert_eq!(three.next().await, None, "the third is closed");
    drop(two);
    for _ in 0..100 {
        let mut peer = Peer::new(rig.address).await;
        if peer.stream.write_all(&compound(2, &[0])).await.is_ok() && peer.next().await.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("no room after a close");
}

#[tokio::test]
async fn a_silent_connection_is_closed_after_its_time() {
    let rig = rig(NetLimits { first_request: Duration::from_millis(50), ..NetLimits::default() }).await;
    let mut peer = Peer::new(rig.address).await;
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn a_graceful_stop_answers_what_was_taken() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    peer.send(&compound(1, &[1])).await;
    while rig.toy.running.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    rig.stop.send_replace(true);
    rig.toy.go.notify_one();
    assert_eq!(peer.reply().await.xid, 1);
    assert_eq!(peer.next().await, None);
    rig.running.await.unwrap();
    assert_eq!(rig.toy.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_to_the_client_brings_its_reply_and_fails_when_the_connection_ends() {
    let rig = rig(NetLimits::default()).await;
    let mut peer = Peer::new(rig.address).await;
    peer.send(&compound(1, &[0])).await;
    peer.reply().await;
    let conn = Arc::clone(&rig.toy.conns.lock().unwrap()[0]);
    let call = || conn.call_back(0x4000_0000, 1, 0, OpaqueAuth::none(), |w| w.put(&5_u32)).unwrap();
    let (answer, lost) = (call(), call());
    let record = peer.next().await.unwrap();
    let (rest, header) = RpcCall::decode(Input::new(&record)).unwrap();
    assert_eq!((header.prog, rest.remaining()), (0x4000_0000, 4));
    let mut w = Writer::unlimited();
    put_accepted(&mut w, header.xid, Accepted::Success).unwrap();
    peer.send(&framed(&w.finish().to_bytes())).await;
    let reply = answer.await.unwrap();
    assert_eq!(message_type(&reply), Some((header.xid, MsgType::Reply)));
    drop(peer);
    assert!(lost.await.is_err());
    assert!(conn.call_back(0x4000_0000, 1, 0, OpaqueAuth::none(), |_| Ok(())).is_none());
}
