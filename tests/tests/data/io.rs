//! READ, WRITE, COMMIT.

use nfs4_proto::{Attr, OpNum, StableHow, StateId, Status};
use nfs4_server::config::Size;
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{commit, putfh, read, setattr, size, symlink, write, write_how};

async fn both() -> [TestServer; 2] {
    [TestServer::mem().await, TestServer::local().await]
}

#[tokio::test]
async fn what_was_written_is_read_at_any_offset_and_length() {
    for server in both().await {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        let content: Vec<u8> = (0..200_000_u32).map(|n| (n % 251).to_be_bytes()[3]).collect();
        for (i, piece) in content.chunks(33_333).enumerate() {
            peer.write(&file, u64::try_from(i).unwrap() * 33_333, piece).await;
        }
        for (at, n) in
            [(0, 200_000), (0, 1), (199_999, 1), (65_535, 2), (65_536, 65_536), (1, 131_072), (7, 0)]
        {
            let (got, eof) = peer.read(&file, at, n).await;
            let (from, to) = (usize::try_from(at).unwrap(), usize::try_from(at + u64::from(n)).unwrap());
            assert_eq!(got, &content[from..to], "{n} bytes at {at}");
            assert_eq!(eof, to == content.len(), "{n} bytes at {at}");
        }
        assert_eq!(peer.read(&file, 199_990, 100).await, (content[199_990..].to_vec(), true));
        assert_eq!(peer.read(&file, 200_000, 1).await, (vec![], true));
        assert_eq!(peer.read(&file, 1 << 40, 9).await, (vec![], true));
    }
}

#[tokio::test]
async fn a_gap_reads_as_zeros_and_the_size_is_the_highest_byte() {
    for server in both().await {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        peer.write(&file, 100_000, b"end").await;
        assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(100_003));
        let (got, eof) = peer.read(&file, 0, 200_000).await;
        assert!(eof && got.len() == 100_003 && got[..100_000].iter().all(|b| *b == 0));
        // What was cut off does not come back.
        let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(100_001))]).await.ok();
        let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(100_003))]).await.ok();
        assert_eq!(peer.read(&file, 100_000, 9).await.0, b"e\0\0");
    }
}

#[tokio::test]
async fn a_write_is_at_least_as_stable_as_asked_and_all_have_one_verifier() {
    for server in both().await {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        let mut verifiers = Vec::new();
        for how in [StableHow::Unstable, StableHow::DataSync, StableHow::FileSync] {
            let op = write_how(file.stateid, 0, b"data", how);
            let told = peer.run(vec![putfh(&file.fh), op]).await.ok().write();
            assert!(told.committed as u32 >= how as u32, "{how:?}: {:?}", told.committed);
            verifiers.push(told.writeverf);
        }
        verifiers.push(peer.run(vec![putfh(&file.fh), commit(0, 0)]).await.ok().commit().writeverf);
        verifiers.push(peer.run(vec![putfh(&file.fh), commit(2, 1)]).await.ok().commit().writeverf);
        assert!(verifiers.windows(2).all(|pair| pair[0] == pair[1]), "{verifiers:x?}");
    }
}

#[tokio::test]
async fn a_write_of_nothing_checks_and_changes_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let told = peer.run(vec![putfh(&file.fh), write(file.stateid, 1 << 40, b"")]).await.ok().write();
    assert_eq!(told.count, 0);
    assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(0));
    let wrong = StateId { seqid: 1, other: [7; 12] };
    let _ = peer.run(vec![putfh(&file.fh), write(wrong, 0, b"")]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn only_files_are_read_and_written() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), symlink("l", "x")]).await.ok();
    let link = peer.lookup(&root, "l").await.unwrap();
    for op in [read(StateId::ANONYMOUS, 0, 1), write(StateId::ANONYMOUS, 0, b"x"), commit(0, 0)] {
        let _ = peer.run(vec![putfh(&root), op.clone()]).await.fails(Status::IsDir);
        let done = peer.run(vec![putfh(&link), op]).await;
        assert!(matches!(done.status(), Status::Symlink | Status::Inval | Status::WrongType), "{done}");
    }
}

#[tokio::test]
async fn the_invalid_stateid_is_bad() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    for stateid in [
        StateId::INVALID,
        StateId { seqid: 0, other: [0xff; 12] },
        StateId { seqid: 2, other: [0; 12] },
        StateId { seqid: 7, other: [0xff; 12] },
    ] {
        let _ = peer.run(vec![putfh(&fh), read(stateid, 0, 1)]).await.fails(Status::BadStateId);
    }
}

#[tokio::test]
async fn a_memory_export_that_is_full_says_nospc_and_goes_on() {
    let server = TestServer::with(|file| file.mem_limit = Some(Size(4 << 20))).await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let block = vec![1; 256 << 10];
    let mut full = false;
    for n in 0..64 {
        let op = write(file.stateid, n * (256 << 10), &block);
        let done = peer.run(vec![putfh(&file.fh), op]).await;
        match done.status() {
            Status::Ok => {}
            Status::NoSpc => {
                full = true;
                break;
            }
            _ => panic!("{done}"),
        }
    }
    assert!(full);
    let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(0))]).await.ok();
    peer.write(&file, 0, &block).await;
}

#[tokio::test]
async fn who_may_not_read_or_write_cannot_do_it_without_an_open() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    let _ = peer
        .run(vec![putfh(&fh), setattr(StateId::ANONYMOUS, nfs4_tests::wire::ops::mode(0o600))])
        .await
        .ok();
    let stranger = nfs4_tests::wire::cred(2000, 2000, &[]);
    for op in [read(StateId::ANONYMOUS, 0, 1), write(StateId::ANONYMOUS, 0, b"x")] {
        let num = op.num();
        let _ = peer.run_as(&stranger, vec![putfh(&fh), op]).await.fails_at(num, Status::Access);
    }
    let done = peer.run(vec![putfh(&fh), read(StateId::ANONYMOUS, 0, 99)]).await.ok();
    assert_eq!(done.read().data.into_bytes(), &b"content"[..]);
    let _ = peer.run(vec![read(StateId::ANONYMOUS, 0, 1)]).await.fails_at(OpNum::Read, Status::NoFileHandle);
}
