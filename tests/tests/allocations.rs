//! What the hot paths allocate. One test, as the counter counts the whole process.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::alloc::System;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use bytes::Bytes;
use nfs4_proto::{
    ArgOp, Attr, Call, Compound, CompoundRes, ReadData, ReadOk, ResOp, SequenceArgs, Status, Utf8Str,
};
use nfs4_tests::wire::ops::{getattr, putfh, write};
use nfs4_tests::wire::{Peer, TestServer, bytes_of};
use nfs4_xdr::rpc::{Call as RpcCall, NFS_PROGRAM, NFS_V4};
use nfs4_xdr::{Encode, Input, List, Writer};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes beyond the record and the backend's block.
const MOST_BYTES: usize = 4096;
/// Allocations of a GETATTR compound, from the socket to the socket.
const MOST: usize = 8;
const MIB: usize = 1 << 20;

/// How many bytes `f` allocates.
fn allocated<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let region = Region::new(COUNTED);
    let value = f();
    (value, region.change().bytes_allocated)
}

fn a_write_of_1_mib_is_decoded_without_a_copy() {
    let fh = nfs4_proto::Fh::new(vec![7; 40]).unwrap();
    let ops = vec![putfh(&fh), write(nfs4_proto::StateId::ANONYMOUS, 0, &vec![1; MIB])];
    let record = bytes_of(&Compound::new(2, ops).unwrap());
    let (call, bytes) = allocated(|| Call::decode(Input::new(&record), 64).unwrap());
    assert_eq!((call.ops.len(), call.count), (2, 2));
    println!("decoding a WRITE of 1 MiB allocates {bytes} bytes");
    assert!(bytes < MOST_BYTES, "{bytes}");
}

fn a_read_of_1_mib_is_encoded_without_a_copy() {
    let block = Bytes::from(vec![1; MIB]);
    let read = ReadOk { eof: false, data: ReadData::from_pieces([block.clone()]) };
    let reply = CompoundRes {
        status: Status::Ok,
        tag: Utf8Str::default(),
        ops: List::new(vec![ResOp::Read(Ok(read))]).unwrap(),
    };
    let (segments, bytes) = allocated(|| {
        let mut w = Writer::unlimited();
        w.put(&reply).unwrap();
        w.finish()
    });
    assert_eq!(segments.len(), reply.encoded_len());
    println!("encoding a READ of 1 MiB allocates {bytes} bytes");
    assert!(bytes < MOST_BYTES, "{bytes}");
}

/// Records of SEQUENCE, PUTFH, GETATTR, each with its mark.
fn getattrs(peer: &mut Peer, count: u32) -> Vec<Vec<u8>> {
    let want =
        [Attr::Type, Attr::Change, Attr::Size, Attr::Fileid, Attr::Mode, Attr::NumLinks, Attr::TimeModify];
    let (session, cred, root) = (peer.session, peer.spec.cred.clone(), peer.root.clone());
    let first = peer.slots[0] + 1;
    peer.slots[0] += count;
    (first..first + count)
        .map(|sequenceid| {
            let sequence = ArgOp::Sequence(SequenceArgs {
                sessionid: session,
                sequenceid,
                slotid: 0,
                highest_slotid: 0,
                cachethis: false,
            });
            let compound = Compound::new(2, vec![sequence, putfh(&root), getattr(&want)]).unwrap();
            let mut record =
                bytes_of(&RpcCall::new(sequenceid, NFS_PROGRAM, NFS_V4, 1, cred.clone())).to_vec();
            record.extend_from_slice(&bytes_of(&compound));
            let mark = 0x8000_0000 | u32::try_from(record.len()).unwrap();
            record.splice(0..0, mark.to_be_bytes());
            record
        })
        .collect()
}

fn run(stream: &mut TcpStream, records: &[Vec<u8>], reply: &mut [u8]) {
    for record in records {
        stream.write_all(record).unwrap();
        let mut mark = [0; 4];
        stream.read_exact(&mut mark).unwrap();
        let len = usize::try_from(u32::from_be_bytes(mark) & 0x7fff_ffff).unwrap();
        stream.read_exact(&mut reply[..len]).unwrap();
        // RPC header 24, then the COMPOUND's status.
        assert_eq!(reply[24..28], [0; 4], "GETATTR failed");
    }
}

fn a_getattr_compound_takes_few_allocations_from_socket_to_socket() {
    const CALLS: u32 = 2000;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (server, mut peer) = runtime.block_on(async {
        let server = TestServer::mem().await;
        let peer = server.peer("a").await;
        (server, peer)
    });
    let (warm, counted) = (getattrs(&mut peer, 200), getattrs(&mut peer, CALLS));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut reply = vec![0; 4096];
    run(&mut stream, &warm, &mut reply);
    let region = Region::new(COUNTED);
    run(&mut stream, &counted, &mut reply);
    let change = region.change();
    // What the server does besides, twice a second, is the rest.
    let calls = usize::try_from(CALLS).unwrap();
    println!(
        "a GETATTR compound: {} allocations for {calls} calls, {} bytes each",
        change.allocations,
        change.bytes_allocated / calls
    );
    assert!(change.allocations <= MOST * calls, "{} for {calls} calls", change.allocations);
}

#[test]
fn hot_paths_allocate_within_their_bounds() {
    a_write_of_1_mib_is_decoded_without_a_copy();
    a_read_of_1_mib_is_encoded_without_a_copy();
    a_getattr_compound_takes_few_allocations_from_socket_to_socket();
}
