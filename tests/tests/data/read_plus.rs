//! READ_PLUS and IO_ADVISE. RFC 7862 §15.5, §15.10.

use nfs4_proto::{
    ArgOp, Bitmap4, Fh, IoAdviseArgs, OpNum, ReadPlusArgs, ReadPlusContent, ReadPlusOk, ResOp, StateId,
    Status,
};
use nfs4_tests::wire::ops::{deallocate, mkdir, putfh, setattr, size, write};
use nfs4_tests::wire::{Opened, Peer, TestServer};

fn read_plus(stateid: StateId, offset: u64, count: u32) -> ArgOp {
    ArgOp::ReadPlus(ReadPlusArgs { stateid, offset, count })
}

async fn got(peer: &mut Peer, file: &Opened, offset: u64, count: u32) -> ReadPlusOk {
    let done = peer.run(vec![putfh(&file.fh), read_plus(file.stateid, offset, count)]).await.ok();
    match done.all().last() {
        Some(ResOp::ReadPlus(Ok(ok))) => ok.clone(),
        other => panic!("{other:?}"),
    }
}

/// What a READ_PLUS says of the file's bytes from `offset` on, after checking that its parts touch each other.
fn bytes_of(told: &ReadPlusOk, offset: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = offset;
    for part in &told.contents[..] {
        match part {
            ReadPlusContent::Data { offset, data } => {
                assert_eq!(*offset, at);
                data.pieces().iter().for_each(|piece| bytes.extend_from_slice(piece));
            }
            ReadPlusContent::Hole { offset, length } => {
                assert_eq!(*offset, at);
                assert!(*length > 0);
                bytes.resize(bytes.len() + usize::try_from(*length).unwrap(), 0);
            }
            ReadPlusContent::Other(other) => panic!("{other}"),
        }
        at = offset + bytes.len() as u64;
    }
    bytes
}

const SIZE: u64 = 2 << 20;

/// The same as READ, for any range of files of data and holes.
async fn agrees_with_read(server: TestServer) {
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let mut state = 0x5eed_u64;
    let mut below = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for round in 0..60 {
        let (at, len) = (below(SIZE), 1 + below(200_000));
        if round % 3 == 2 {
            let _ = peer.run(vec![putfh(&file.fh), deallocate(file.stateid, at, len)]).await.ok();
        } else {
            let data = vec![u8::try_from(1 + below(255)).unwrap(); usize::try_from(len).unwrap()];
            let _ = peer.run(vec![putfh(&file.fh), write(file.stateid, at, &data)]).await.ok();
        }
        let (from, count) = (below(SIZE + 200_000), u32::try_from(below(600_000)).unwrap());
        let told = got(&mut peer, &file, from, count).await;
        let mut bytes = bytes_of(&told, from);
        let (plain, eof) = peer.read(&file, from, count).await;
        assert!(bytes.len() >= plain.len() || told.contents.len() == 64, "round {round}: {told:?}");
        // A hole may go on beyond what was asked for.
        assert!(bytes.iter().skip(plain.len()).all(|b| *b == 0), "round {round}");
        bytes.truncate(plain.len());
        assert_eq!(bytes, plain[..bytes.len()], "round {round}: {from} {count}");
        assert!(!eof || told.eof || told.contents.len() == 64, "round {round}");
    }
}

#[tokio::test]
async fn read_plus_tells_what_read_tells() {
    agrees_with_read(TestServer::mem().await).await;
}

#[tokio::test]
async fn read_plus_tells_what_read_tells_of_a_file_of_this_machine() {
    agrees_with_read(TestServer::local().await).await;
}

#[tokio::test]
async fn a_hole_is_told_whole_and_not_sent() {
    for server in [TestServer::mem().await, TestServer::local().await] {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(1 << 30))]).await.ok();
        peer.write(&file, 0, &vec![7; 65_536]).await;
        let told = got(&mut peer, &file, 0, 1 << 20).await;
        assert!(told.eof, "{told:?}");
        let [ReadPlusContent::Data { data, .. }, ReadPlusContent::Hole { offset, length }] =
            &told.contents[..]
        else {
            panic!("{told:?}")
        };
        assert_eq!((data.len(), *offset, offset + length), (65_536, 65_536, 1 << 30));
    }
}

#[tokio::test]
async fn at_and_beyond_the_end_there_is_nothing_and_eof() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, b"0123456789").await;
    for (offset, count, len, eof) in [
        (10, 5, 0, true),
        (u64::MAX, u32::MAX, 0, true),
        (3, 0, 0, false),
        (3, 4, 4, false),
        (3, 7, 7, true),
        (3, 99, 7, true),
    ] {
        let told = got(&mut peer, &file, offset, count).await;
        assert_eq!((bytes_of(&told, offset).len(), told.eof), (len, eof), "{offset} {count}");
    }
}

#[tokio::test]
async fn read_plus_asks_for_the_same_rights_as_read() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let bad = StateId { seqid: 1, other: [7; 12] };
    let run = async |peer: &mut Peer, fh: &Fh, op: ArgOp| peer.run(vec![putfh(fh), op]).await;
    let _ =
        run(&mut peer, &file.fh, read_plus(bad, 0, 9)).await.fails_at(OpNum::ReadPlus, Status::BadStateId);
    let _ = peer.run(vec![putfh(&root), mkdir("d")]).await.ok();
    let dir = peer.lookup(&root, "d").await.unwrap();
    let _ = run(&mut peer, &dir, read_plus(StateId::ANONYMOUS, 0, 9))
        .await
        .fails_at(OpNum::ReadPlus, Status::IsDir);
    let write_only = nfs4_proto::ShareAccess::WRITE;
    let only = peer.open(&root, "f", "w", write_only, nfs4_proto::ShareDeny::NONE).await.unwrap();
    let _ = run(&mut peer, &file.fh, read_plus(only.stateid, 0, 9))
        .await
        .fails_at(OpNum::ReadPlus, Status::OpenMode);
}

#[tokio::test]
async fn advice_is_answered_with_what_is_followed_and_contradictions_are_no_error() {
    for (server, followed) in [(TestServer::mem().await, 0), (TestServer::local().await, 6)] {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        let all: Bitmap4 = (0..11).chain([40]).collect();
        let advise = |stateid, offset, count| {
            ArgOp::IoAdvise(IoAdviseArgs { stateid, offset, count, hints: all.clone() })
        };
        let done = peer.run(vec![putfh(&file.fh), advise(file.stateid, 0, 0)]).await.ok();
        let Some(ResOp::IoAdvise(Ok(told))) = done.all().last() else { panic!("{done:?}") };
        assert_eq!(told.hints.iter().count(), followed, "{:?}", told.hints);
        assert!(told.hints.iter().all(|hint| all.contains(hint)));
        let done = peer.run(vec![putfh(&file.fh), advise(file.stateid, u64::MAX, 2)]).await;
        let _ = done.fails_at(OpNum::IoAdvise, Status::Inval);
        let bad = StateId { seqid: 1, other: [7; 12] };
        let done = peer.run(vec![putfh(&file.fh), advise(bad, 0, 0)]).await;
        let _ = done.fails_at(OpNum::IoAdvise, Status::BadStateId);
    }
}
