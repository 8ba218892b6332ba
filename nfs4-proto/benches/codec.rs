//! The codec's hot paths: `cargo bench -p nfs4-proto`.

#![allow(clippy::unwrap_used, missing_docs, reason = "benchmarks fail by panicking")]

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nfs4_proto::{
    ArgOp, Attr, AttrSet, Call, Compound, CompoundRes, Data, Fh, GetattrArgs, PutfhArgs, ReadData, ReadOk,
    ResOp, SequenceArgs, StableHow, StateId, Status, Utf8Str, WriteArgs,
};
use nfs4_xdr::{Encode, Input, List, Writer};

const MIB: usize = 1 << 20;

fn record(value: &impl Encode) -> Bytes {
    let mut w = Writer::unlimited();
    w.put(value).unwrap();
    w.finish().to_bytes()
}

fn fh() -> Fh {
    Fh::new(vec![7; 40]).unwrap()
}

fn sequence() -> ArgOp {
    ArgOp::Sequence(SequenceArgs {
        sessionid: [1; 16],
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
    })
}

fn data(c: &mut Criterion) {
    let mut group = c.benchmark_group("1 MiB");
    group.throughput(Throughput::Bytes(MIB as u64));
    let write = ArgOp::Write(WriteArgs {
        stateid: StateId::ANONYMOUS,
        offset: 0,
        stable: StableHow::Unstable,
        data: Data::new(vec![1; MIB]).unwrap(),
    });
    let call =
        record(&Compound::new(2, vec![sequence(), ArgOp::Putfh(PutfhArgs { object: fh() }), write]).unwrap());
    group.bench_function("decode WRITE", |b| {
        b.iter(|| Call::decode(Input::new(black_box(&call)), 64).unwrap());
    });
    let block = Bytes::from(vec![1; MIB]);
    let reply = CompoundRes {
        status: Status::Ok,
        tag: Utf8Str::default(),
        ops: List::new(vec![ResOp::Read(Ok(ReadOk { eof: false, data: ReadData::from_pieces([block]) }))])
            .unwrap(),
    };
    group.bench_function("encode READ", |b| {
        b.iter(|| {
            let mut w = Writer::with_limit(BytesMut::with_capacity(256), usize::MAX);
            w.put(black_box(&reply)).unwrap();
            w.finish()
        });
    });
    group.finish();
}

fn getattr(c: &mut Criterion) {
    let want =
        AttrSet::of(&[Attr::Type, Attr::Change, Attr::Size, Attr::Fileid, Attr::Mode, Attr::TimeModify]);
    let ops = vec![
        sequence(),
        ArgOp::Putfh(PutfhArgs { object: fh() }),
        ArgOp::Getattr(GetattrArgs { attr_request: want }),
    ];
    let call = record(&Compound::new(2, ops).unwrap());
    c.bench_function("decode GETATTR", |b| {
        b.iter(|| Call::decode(Input::new(black_box(&call)), 64).unwrap());
    });
}

criterion_group!(benches, data, getattr);
criterion_main!(benches);
