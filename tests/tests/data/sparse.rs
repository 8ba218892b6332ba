//! SEEK, ALLOCATE, DEALLOCATE. RFC 7862 §15.1, §15.4, §15.11.

use nfs4_proto::{Attr, DataContent, OpNum, Status};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{allocate, deallocate, putfh, seek};

const BLOCK: u64 = 65_536;

#[tokio::test]
async fn a_hole_is_found_where_one_was_made() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    for n in 0..4 {
        peer.write(&file, n * BLOCK, &vec![1; 65_536]).await;
    }
    let _ = peer.run(vec![putfh(&file.fh), deallocate(file.stateid, BLOCK, BLOCK)]).await.ok();
    let (got, _) = peer.read(&file, 0, 4 << 16).await;
    assert_eq!(got.len(), 4 << 16, "the size stays");
    assert!(got[..1 << 16].iter().chain(&got[2 << 16..]).all(|b| *b == 1));
    assert!(got[1 << 16..2 << 16].iter().all(|b| *b == 0));
    for (what, from, to) in [
        (DataContent::Hole, 0, BLOCK),
        (DataContent::Data, 0, 0),
        (DataContent::Data, BLOCK, 2 * BLOCK),
        (DataContent::Data, BLOCK + 9, 2 * BLOCK),
        (DataContent::Hole, BLOCK + 9, BLOCK + 9),
        (DataContent::Hole, 2 * BLOCK, 4 * BLOCK),
    ] {
        let told = peer.run(vec![putfh(&file.fh), seek(file.stateid, from, what)]).await.ok().seek();
        assert_eq!(told.offset, to, "{what:?} from {from}");
    }
    let done = peer.run(vec![putfh(&file.fh), seek(file.stateid, 4 * BLOCK, DataContent::Data)]).await;
    let _ = done.fails_at(OpNum::Seek, Status::NxIo);
    let done = peer.run(vec![putfh(&file.fh), seek(file.stateid, 0, DataContent::Other(9))]).await;
    assert!(matches!(done.status(), Status::UnionNotSupp | Status::Inval), "{done}");
}

#[tokio::test]
async fn part_of_a_block_is_zeroed_too() {
    for server in [TestServer::mem().await, TestServer::local().await] {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        peer.write(&file, 0, &vec![1; 10_000]).await;
        let _ = peer.run(vec![putfh(&file.fh), deallocate(file.stateid, 100, 50)]).await.ok();
        let (got, _) = peer.read(&file, 0, 10_000).await;
        assert!(got.iter().enumerate().all(|(i, b)| *b == u8::from(!(100..150).contains(&i))));
        // Beyond the end nothing grows.
        let _ = peer.run(vec![putfh(&file.fh), deallocate(file.stateid, 9_000, 1 << 20)]).await.ok();
        assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(10_000));
    }
}

#[tokio::test]
async fn allocate_grows_the_file_and_keeps_its_content() {
    for server in [TestServer::mem().await, TestServer::local().await] {
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.create(&root, "f").await;
        peer.write(&file, 0, b"content").await;
        let change = peer.change(&file.fh).await;
        let _ = peer.run(vec![putfh(&file.fh), allocate(file.stateid, 3, 100_000)]).await.ok();
        assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(100_003));
        assert_eq!(peer.read(&file, 0, 9).await.0, b"content\0\0");
        assert!(peer.change(&file.fh).await > change);
    }
}
