//! A connection without a session layer: any bytes out, records in.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use nfs4_proto::{
    Attrs, CbArgOp, CbCall, CbCompoundRes, CbOpNum, CbResOp, CbSequenceOk, Compound, CompoundRes, GetattrOk,
    Status, Utf8Str,
};
use nfs4_xdr::record::{Deframer, LAST_FRAGMENT, RecordLimits};
use nfs4_xdr::rpc::{
    Accepted, AuthSys, Call, MsgType, NFS_PROGRAM, NFS_V4, OpaqueAuth, Rejected, Reply, message_type,
    put_accepted,
};
use nfs4_xdr::{Decode, Encode, Input, List, Text, Writer, from_record};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use super::PATIENCE;

/// The encoding of a value.
#[must_use]
pub fn bytes_of(value: &impl Encode) -> Bytes {
    let mut w = Writer::unlimited();
    w.put(value).unwrap();
    w.finish().to_bytes()
}

/// AUTH_SYS.
#[must_use]
pub fn cred(uid: u32, gid: u32, groups: &[u32]) -> OpaqueAuth {
    OpaqueAuth::sys(&AuthSys {
        stamp: 1,
        machinename: Text::new(&b"test"[..]).unwrap(),
        uid,
        gid,
        gids: List::new(groups.to_vec()).unwrap(),
    })
}

/// A reply to a call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Whose.
    pub xid: u32,
    /// What RPC says.
    pub body: Result<Accepted, Rejected>,
    /// What follows.
    pub rest: Bytes,
    /// Bytes of the whole record.
    pub len: usize,
}

impl Answer {
    /// The reply to a COMPOUND, which must be one.
    #[must_use]
    pub fn compound(&self) -> CompoundRes {
        assert_eq!(self.body, Ok(Accepted::Success));
        from_record(&self.rest).unwrap_or_else(|e| panic!("not a COMPOUND4res: {e}"))
    }
}

/// A callback that came.
#[derive(Clone, Debug)]
pub struct Callback {
    /// RPC's part.
    pub call: Call,
    /// What is asked.
    pub args: CbCall,
}

/// A connection. Callbacks that come are kept, and answered where [`answers`](Self::answers) is true.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    deframer: Deframer,
    next_xid: u32,
    kept: VecDeque<Answer>,
    /// Callbacks so far.
    pub callbacks: Vec<Callback>,
    /// Whether callbacks are answered with success.
    pub answers: bool,
    /// What CB_SEQUENCE is refused with, where callbacks are answered.
    pub refuses: Option<Status>,
    /// What callbacks about delegations are answered with, one after the other; then NFS4_OK.
    pub says: VecDeque<Status>,
    /// What CB_GETATTR is answered with; none: NFS4ERR_BADHANDLE.
    pub modified: Option<Attrs>,
}

impl Raw {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    /// Connects from an address of this machine: another host, for the server.
    pub async fn connect_from(from: IpAddr, address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(from, 0)).unwrap();
        Self::over(socket.connect(address).await.unwrap())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            deframer: Deframer::new(RecordLimits { bytes: 8 << 20, fragments: 1024 }),
            next_xid: 0x1000,
            kept: VecDeque::new(),
            callbacks: Vec::new(),
            answers: true,
            refuses: None,
            says: VecDeque::new(),
            modified: None,
        }
    }

    /// Sends bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends a record in one fragment.
    pub async fn send_record(&mut self, record: &[u8]) {
        let mut bytes = Vec::with_capacity(record.len() + 4);
        bytes.extend((u32::try_from(record.len()).unwrap() | LAST_FRAGMENT).to_be_bytes());
        bytes.extend_from_slice(record);
        self.send_bytes(&bytes).await;
    }

    /// A number for the next call.
    pub fn xid(&mut self) -> u32 {
        self.next_xid += 1;
        self.next_xid
    }

    /// The record of a call to NFSv4's COMPOUND with any bytes as arguments.
    pub fn record(&mut self, cred: &OpaqueAuth, body: &[u8]) -> (u32, Vec<u8>) {
        let xid = self.xid();
        let mut record = bytes_of(&Call::new(xid, NFS_PROGRAM, NFS_V4, 1, cred.clone())).to_vec();
        record.extend_from_slice(body);
        (xid, record)
    }

    /// Sends any header and any bytes behind it.
    pub async fn send_call(&mut self, call: &Call, body: &[u8]) {
        let mut record = bytes_of(call).to_vec();
        record.extend_from_slice(body);
        self.send_record(&record).await;
    }

    /// Sends any bytes as COMPOUND's arguments.
    pub async fn send_body(&mut self, cred: &OpaqueAuth, body: &[u8]) -> u32 {
        let (xid, record) = self.record(cred, body);
        self.send_record(&record).await;
        xid
    }

    /// Sends a COMPOUND.
    pub async fn send(&mut self, cred: &OpaqueAuth, compound: &Compound) -> u32 {
        self.send_body(cred, &bytes_of(compound)).await
    }

    /// Sends a COMPOUND and waits for its reply.
    pub async fn call(&mut self, cred: &OpaqueAuth, compound: &Compound) -> CompoundRes {
        let xid = self.send(cred, compound).await;
        self.answer(xid).await.compound()
    }

    /// The next record; `None` where the server has closed the connection.
    pub async fn next_record(&mut self) -> Option<Bytes> {
        loop {
            if let Some(record) = self.deframer.next().unwrap() {
                return Some(record);
            }
            self.deframer.reserve();
            let read = timeout(PATIENCE, self.stream.read_buf(self.deframer.buffer())).await;
            match read.expect("the server neither answers nor closes") {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The next reply in the order of arrival.
    pub async fn next_answer(&mut self) -> Option<Answer> {
        if let Some(answer) = self.kept.pop_front() {
            return Some(answer);
        }
        self.arrive().await
    }

    /// The reply to `xid`.
    pub async fn answer(&mut self, xid: u32) -> Answer {
        if let Some(at) = self.kept.iter().position(|answer| answer.xid == xid) {
            return self.kept.remove(at).unwrap();
        }
        loop {
            let answer = self.arrive().await.expect("the connection was closed");
            if answer.xid == xid {
                return answer;
            }
            self.kept.push_back(answer);
        }
    }

    /// Waits until the reply to `xid` is there, and leaves it.
    pub async fn peek(&mut self, xid: u32) {
        while !self.kept.iter().any(|answer| answer.xid == xid) {
            let answer = self.arrive().await.expect("the connection was closed");
            self.kept.push_back(answer);
        }
    }

    /// Waits until a callback has come, or this long.
    pub async fn wait_for_callback(&mut self, most: std::time::Duration) -> bool {
        let before = self.callbacks.len();
        let wait = async {
            while self.callbacks.len() == before {
                match self.record_or_callback().await {
                    Some(Some(answer)) => self.kept.push_back(answer),
                    Some(None) => {}
                    None => break,
                }
            }
        };
        drop(timeout(most, wait).await);
        self.callbacks.len() > before
    }

    async fn arrive(&mut self) -> Option<Answer> {
        loop {
            if let Some(answer) = self.record_or_callback().await? {
                return Some(answer);
            }
        }
    }

    async fn record_or_callback(&mut self) -> Option<Option<Answer>> {
        let record = self.next_record().await?;
        let (xid, kind) = message_type(&record).expect("a record without a header");
        if kind == MsgType::Call {
            self.callback(xid, &record).await;
            return Some(None);
        }
        let (rest, reply) = Reply::decode(Input::new(&record)).expect("a reply that cannot be read");
        let rest = record.slice(rest.offset()..);
        Some(Some(Answer { xid, body: reply.body, rest, len: record.len() }))
    }

    async fn callback(&mut self, xid: u32, record: &Bytes) {
        let (rest, call) = Call::decode(Input::new(record)).expect("a callback that cannot be read");
        let args = CbCall::decode(rest, 64).expect("a CB_COMPOUND that cannot be read");
        assert_eq!(args.fault, None, "{args}");
        let results: Vec<CbResOp> = match self.refuses {
            Some(status) => vec![CbResOp::error(CbOpNum::Sequence, status)],
            None => args.ops.iter().map(|op| self.answer_to(op)).collect(),
        };
        self.callbacks.push(Callback { call, args });
        if !self.answers {
            return;
        }
        let mut w = Writer::unlimited();
        put_accepted(&mut w, xid, Accepted::Success).unwrap();
        w.put(&CbCompoundRes {
            status: self.refuses.unwrap_or(Status::Ok),
            tag: Utf8Str::default(),
            ops: List::new(results).unwrap(),
        })
        .unwrap();
        let reply = w.finish().to_bytes();
        self.send_record(&reply).await;
    }

    fn answer_to(&mut self, op: &CbArgOp) -> CbResOp {
        let said = match op {
            CbArgOp::Recall(_) | CbArgOp::Getattr(_) | CbArgOp::PushDeleg(_) => self.says.pop_front(),
            _ => None,
        };
        if let Some(status) = said.filter(|status| *status != Status::Ok) {
            return CbResOp::error(op.num(), status);
        }
        match op {
            CbArgOp::Sequence(args) => CbResOp::Sequence(Ok(CbSequenceOk {
                sessionid: args.sessionid,
                sequenceid: args.sequenceid,
                slotid: args.slotid,
                highest_slotid: args.slotid,
                target_highest_slotid: args.slotid,
            })),
            CbArgOp::Offload(_) => CbResOp::Offload(Ok(())),
            CbArgOp::NotifyLock(_) => CbResOp::NotifyLock(Ok(())),
            CbArgOp::Recall(_) => CbResOp::Recall(Ok(())),
            CbArgOp::PushDeleg(_) => CbResOp::PushDeleg(Ok(())),
            CbArgOp::RecallAny(_) => CbResOp::RecallAny(Ok(())),
            CbArgOp::RecallableObjAvail(_) => CbResOp::RecallableObjAvail(Ok(())),
            CbArgOp::WantsCancelled(_) => CbResOp::WantsCancelled(Ok(())),
            CbArgOp::Getattr(_) => CbResOp::Getattr(match &self.modified {
                Some(attrs) => Ok(GetattrOk { obj_attributes: attrs.clone() }),
                None => Err(Status::BadHandle),
            }),
            other => CbResOp::error(other.num(), Status::NotSupp),
        }
    }

    /// Closes the sending half.
    pub async fn shut_down(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// Whether the server closes the connection within [`PATIENCE`], whatever it sends before.
    pub async fn is_closed_by_server(&mut self) -> bool {
        while self.next_record().await.is_some() {}
        true
    }
}
