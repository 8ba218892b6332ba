//! Record marking and RPC headers.

use bytes::Bytes;
use nfs4_xdr::record::{Deframer, RecordLimits};
use nfs4_xdr::rpc::{Accepted, Call, Reply, authenticate, put_accepted, put_rejected};
use nfs4_xdr::{Decode, Input, Writer};

/// A stream cut in pieces: the first byte says of what length. Records come out whole or the stream ends, and never
/// more bytes than went in.
pub fn record_marking(data: &[u8]) {
    let Some((cut, stream)) = data.split_first() else { return };
    let limits = RecordLimits { bytes: 4096, fragments: 16 };
    let mut deframer = Deframer::new(limits);
    let mut out = 0;
    for piece in stream.chunks(usize::from(*cut).max(1)) {
        deframer.reserve();
        deframer.buffer().extend_from_slice(piece);
        loop {
            match deframer.next() {
                Ok(Some(record)) => {
                    assert!(record.len() <= limits.bytes, "a record above the limit");
                    out += record.len() + 4;
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
    assert!(out <= stream.len(), "more came out than went in");
}

/// Headers of calls and replies: what decodes encodes to what decodes to the same.
pub fn rpc_header(data: &[u8]) {
    let record = Bytes::copy_from_slice(data);
    if let Ok((_, call)) = Call::decode(Input::new(&record)) {
        let mut w = Writer::unlimited();
        assert!(w.put(&call).is_ok(), "a decoded header encodes");
        let again = w.finish().to_bytes();
        let decoded = Call::decode(Input::new(&again)).map(|(_, call)| call);
        assert_eq!(decoded.ok().as_ref(), Some(&call));
        // Any credential has an answer.
        let _ = authenticate(&call);
    }
    if let Ok((_, reply)) = Reply::decode(Input::new(&record)) {
        let mut w = Writer::unlimited();
        let put = match reply.body {
            Ok(how) => put_accepted(&mut w, reply.xid, how),
            Err(why) => put_rejected(&mut w, reply.xid, why),
        };
        assert!(put.is_ok(), "a decoded header encodes");
        let again = w.finish().to_bytes();
        let decoded = Reply::decode(Input::new(&again)).map(|(_, reply)| reply);
        assert_eq!(decoded.ok().as_ref(), Some(&reply));
        assert!(reply.body != Ok(Accepted::Success) || again.len() >= 24);
    }
}
