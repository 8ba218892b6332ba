//! A GETATTR compound decoded, executed on `mem` and encoded, from socket to socket: `cargo bench -p nfs4-tests`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "benchmarks fail by panicking"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use criterion::{Criterion, criterion_group, criterion_main};
use nfs4_proto::{ArgOp, Attr, Compound, SequenceArgs};
use nfs4_tests::wire::ops::{getattr, putfh};
use nfs4_tests::wire::{TestServer, bytes_of};
use nfs4_xdr::rpc::{Call, NFS_PROGRAM, NFS_V4};

fn compound(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (server, peer) = runtime.block_on(async {
        let server = TestServer::mem().await;
        let peer = server.peer("a").await;
        (server, peer)
    });
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sequenceid, mut reply) = (peer.slots[0], vec![0; 4096]);
    let header = bytes_of(&Call::new(1, NFS_PROGRAM, NFS_V4, 1, peer.spec.cred.clone()));
    c.bench_function("GETATTR from socket to socket", |b| {
        b.iter(|| {
            sequenceid += 1;
            let sequence = ArgOp::Sequence(SequenceArgs {
                sessionid: peer.session,
                sequenceid,
                slotid: 0,
                highest_slotid: 0,
                cachethis: false,
            });
            let want = [Attr::Type, Attr::Change, Attr::Size, Attr::Mode];
            let body =
                bytes_of(&Compound::new(2, vec![sequence, putfh(&peer.root), getattr(&want)]).unwrap());
            let mark = 0x8000_0000 | u32::try_from(header.len() + body.len()).unwrap();
            stream.write_all(&[&mark.to_be_bytes()[..], &header, &body].concat()).unwrap();
            let mut mark = [0; 4];
            stream.read_exact(&mut mark).unwrap();
            let len = usize::try_from(u32::from_be_bytes(mark) & 0x7fff_ffff).unwrap();
            stream.read_exact(&mut reply[..len]).unwrap();
            assert_eq!(reply[24..28], [0; 4]);
        });
    });
}

criterion_group!(benches, compound);
criterion_main!(benches);
