//! A blocking connection with a session: requests go out in batches, replies come in as they do.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use nfs4_proto::{
    ArgOp, ChannelAttrs, ClientOwner, CompoundRes, CreateSessionArgs, CreateSessionFlags, ExchangeIdArgs,
    ExchangeIdFlags, ReclaimCompleteArgs, ResOp, SequenceArgs, SessionId, StateProtectArgs, Status,
};
use nfs4_xdr::record::{Deframer, LAST_FRAGMENT, RecordLimits};
use nfs4_xdr::rpc::{Call, MsgType, NFS_PROGRAM, NFS_V4, OpaqueAuth, message_type};
use nfs4_xdr::{List, Opaque, Writer};

use super::BenchError;
use crate::Options;
use crate::net::decode_reply;

/// A connection with a session whose slots are all its own.
pub(super) struct Wire {
    stream: TcpStream,
    deframer: Deframer,
    out: BytesMut,
    cred: OpaqueAuth,
    pub(super) minor: u32,
    session: SessionId,
    seqids: Vec<u32>,
    highest: u32,
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn text(error: impl ToString) -> BenchError {
    BenchError::Server(error.to_string())
}

impl Wire {
    pub(super) fn connect(address: &str, depth: u32, timeout: Duration) -> Result<Self, BenchError> {
        use std::net::ToSocketAddrs as _;
        let failed = |error: io::Error| BenchError::Connect { address: address.to_owned(), error };
        let target = address
            .to_socket_addrs()
            .map_err(failed)?
            .next()
            .ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
        let stream = TcpStream::connect_timeout(&target, timeout).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_read_timeout(Some(timeout)).map_err(failed)?;
        let limits = RecordLimits { bytes: 16 << 20, ..RecordLimits::default() };
        let mut wire = Self {
            stream,
            deframer: Deframer::new(limits),
            out: BytesMut::with_capacity(64 << 10),
            cred: Options::default().cred(),
            minor: 2,
            session: [0; 16],
            seqids: Vec::new(),
            highest: 0,
        };
        wire.make_session(depth)?;
        Ok(wire)
    }

    fn make_session(&mut self, depth: u32) -> Result<(), BenchError> {
        let mut random = [0; 24];
        getrandom::fill(&mut random).map_err(text)?;
        let (verifier, name) = random.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        let exchange = |minor| {
            (
                minor,
                ArgOp::ExchangeId(ExchangeIdArgs {
                    clientowner: ClientOwner {
                        verifier: *verifier,
                        ownerid: Opaque::new([b"nfs4-bench/", name].concat()).unwrap_or_default(),
                    },
                    flags: ExchangeIdFlags::empty(),
                    state_protect: StateProtectArgs::None,
                    client_impl_id: None,
                }),
            )
        };
        let mut reply = self.alone(exchange(2))?;
        if reply.status == Status::MinorVersMismatch {
            self.minor = 1;
            reply = self.alone(exchange(1))?;
        }
        let Some(ResOp::ExchangeId(Ok(client))) = reply.ops.first() else {
            return Err(BenchError::Server(format!("EXCHANGE_ID failed: {}", reply.status)));
        };
        let channel = ChannelAttrs {
            headerpadsize: 0,
            maxrequestsize: (1 << 20) + 4096,
            maxresponsesize: (1 << 20) + 4096,
            maxresponsesize_cached: 1024,
            maxoperations: 16,
            maxrequests: depth,
            rdma_ird: None,
        };
        let args = CreateSessionArgs {
            clientid: client.clientid,
            sequence: client.sequenceid,
            flags: CreateSessionFlags::empty(),
            fore_chan_attrs: channel,
            back_chan_attrs: ChannelAttrs {
                maxrequestsize: 4096,
                maxresponsesize: 4096,
                maxrequests: 1,
                ..channel
            },
            cb_program: 0x4000_0000,
            sec_parms: List::new(vec![nfs4_proto::CallbackSecParms::None]).unwrap_or_default(),
        };
        let reply = self.alone((self.minor, ArgOp::CreateSession(args)))?;
        let Some(ResOp::CreateSession(Ok(session))) = reply.ops.first() else {
            return Err(BenchError::Server(format!("CREATE_SESSION failed: {}", reply.status)));
        };
        let slots = session.fore_chan_attrs.maxrequests;
        if slots < depth {
            return Err(BenchError::Server(format!(
                "the server gives {slots} slots, and --depth asks for {depth}"
            )));
        }
        self.session = session.sessionid;
        self.seqids = (0..depth).map(|_| 0).collect();
        self.highest = depth.saturating_sub(1);
        self.whole(vec![ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })])?;
        Ok(())
    }

    fn put(
        &mut self,
        xid: u32,
        procedure: u32,
        body: Option<&nfs4_proto::Compound>,
    ) -> Result<(), BenchError> {
        let mut w = Writer::unlimited();
        let mark = w.later_u32().map_err(text)?;
        w.put(&Call::new(xid, NFS_PROGRAM, NFS_V4, procedure, self.cred.clone())).map_err(text)?;
        if let Some(body) = body {
            w.put(body).map_err(text)?;
        }
        let len = u32::try_from(w.since(mark)).map_err(text)?;
        w.fill(mark, len | LAST_FRAGMENT);
        for part in w.finish() {
            self.out.put_slice(&part);
        }
        Ok(())
    }

    /// Queues the NULL procedure.
    pub(super) fn put_null(&mut self, xid: u32) -> Result<(), BenchError> {
        self.put(xid, 0, None)
    }

    /// Queues a compound on a slot, which is also its xid.
    pub(super) fn put_compound(&mut self, slot: u32, ops: Vec<ArgOp>) -> Result<(), BenchError> {
        let seqid = usize::try_from(slot).ok().and_then(|i| self.seqids.get_mut(i));
        let Some(seqid) = seqid else { return Err(BenchError::Server("no such slot".to_owned())) };
        *seqid = seqid.wrapping_add(1);
        let mut all = Vec::with_capacity(ops.len() + 1);
        all.push(ArgOp::Sequence(SequenceArgs {
            sessionid: self.session,
            sequenceid: *seqid,
            slotid: slot,
            highest_slotid: self.highest,
            cachethis: false,
        }));
        all.extend(ops);
        let compound =
            nfs4_proto::Compound::new(self.minor, all).ok_or_else(|| text("too many operations"))?;
        self.put(slot, 1, Some(&compound))
    }

    /// Writes what is queued.
    pub(super) fn flush(&mut self) -> Result<(), BenchError> {
        self.stream.write_all(&self.out).map_err(BenchError::Io)?;
        self.out.clear();
        Ok(())
    }

    /// A reply that has come already.
    pub(super) fn ready(&mut self) -> Result<Option<(u32, Bytes)>, BenchError> {
        while let Some(record) = self.deframer.next().map_err(text)? {
            if let Some((xid, MsgType::Reply)) = message_type(&record) {
                return Ok(Some((xid, record)));
            }
        }
        Ok(None)
    }

    /// Reads some more; waits.
    pub(super) fn fill(&mut self) -> Result<(), BenchError> {
        let buffer = self.deframer.buffer();
        let at = buffer.len();
        buffer.resize(at + (256 << 10), 0);
        let got = buffer.get_mut(at..).map_or(Ok(0), |room| self.stream.read(room));
        let n = match got {
            Ok(n) => n,
            Err(e) => {
                buffer.truncate(at);
                return Err(BenchError::Io(e));
            }
        };
        buffer.truncate(at + n);
        if n == 0 { Err(BenchError::Io(io::ErrorKind::UnexpectedEof.into())) } else { Ok(()) }
    }

    fn one(&mut self) -> Result<Bytes, BenchError> {
        self.flush()?;
        loop {
            if let Some((_, record)) = self.ready()? {
                return Ok(record);
            }
            self.fill()?;
        }
    }

    fn alone(&mut self, (minor, op): (u32, ArgOp)) -> Result<CompoundRes, BenchError> {
        let compound =
            nfs4_proto::Compound::new(minor, vec![op]).ok_or_else(|| text("too many operations"))?;
        self.put(0, 1, Some(&compound))?;
        let record = self.one()?;
        decode_reply(&record).map_err(text)
    }

    /// One compound, to its end, on slot 0. All must succeed.
    pub(super) fn whole(&mut self, ops: Vec<ArgOp>) -> Result<Vec<ResOp>, BenchError> {
        let reply = self.any(ops)?;
        if reply.status != Status::Ok {
            let failed = reply.ops.last().map_or("COMPOUND", |op| op.num().name());
            return Err(BenchError::Server(format!("{failed} failed: {}", reply.status)));
        }
        Ok(reply.ops.into_iter().skip(1).collect())
    }

    /// One compound, to its end, on slot 0.
    pub(super) fn any(&mut self, ops: Vec<ArgOp>) -> Result<CompoundRes, BenchError> {
        self.put_compound(0, ops)?;
        let record = self.one()?;
        decode_reply(&record).map_err(text)
    }
}
