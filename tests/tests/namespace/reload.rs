//! Another configuration while clients are there (docs/operations.md).

use nfs4_proto::{ArgOp, Fh, OpNum, ShareAccess, ShareDeny, StateId, Status};
use nfs4_server::config::{ExportFile, Size, Squash};
use nfs4_tests::wire::ops::{lookup, mkdir, putfh, write};
use nfs4_tests::wire::{Peer, TestServer};

fn memory(path: &str) -> ExportFile {
    ExportFile { path: path.to_owned(), ..ExportFile::default() }
}

async fn walk(peer: &mut Peer, name: &str) -> Fh {
    peer.run(vec![ArgOp::Putrootfh, lookup(name), ArgOp::Getfh]).await.ok().fh()
}

#[tokio::test]
async fn an_export_comes_and_another_goes_while_the_third_is_in_use() {
    let mut server = TestServer::with(|file| file.export = vec![memory("/kept"), memory("/gone")]).await;
    let mut peer = server.peer("a").await;
    let (kept, gone) = (walk(&mut peer, "kept").await, walk(&mut peer, "gone").await);
    let (here, there) = (peer.create(&kept, "f").await, peer.create(&gone, "f").await);
    let waiting = server.reload(|file| file.export = vec![memory("/kept"), memory("/new")]).await.unwrap();
    assert_eq!(waiting, Vec::<String>::new());
    // The same session, the same opens.
    peer.write(&here, 0, b"still open").await;
    assert_eq!(peer.read(&here, 0, 20).await.0, b"still open");
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await, ["kept", "new"]);
    let _ = peer.run(vec![putfh(&there.fh)]).await.fails_at(OpNum::Putfh, Status::Stale);
    assert_eq!(peer.lookup(&root, "gone").await.err(), Some(Status::NoEnt));
    // Its open is freed: that of the kept export is all that the client has.
    assert!(server.server().opens() == 1);
    let new = walk(&mut peer, "new").await;
    let _ = peer.create(&new, "f").await;
    // What comes back under the old path is another file system in memory.
    let _ = server.reload(|file| file.export = vec![memory("/kept"), memory("/gone")]).await.unwrap();
    let _ = peer.run(vec![putfh(&there.fh)]).await.fails_at(OpNum::Putfh, Status::Stale);
    let again = walk(&mut peer, "gone").await;
    let file = peer.create(&again, "f").await;
    let _ = peer.run(vec![putfh(&file.fh), write(there.stateid, 0, b"x")]).await.fails(Status::BadStateId);
}

#[tokio::test]
async fn options_of_an_export_count_from_the_next_request_on() {
    let mut server = TestServer::with(|file| file.export = vec![memory("/a")]).await;
    let mut peer = server.peer("a").await;
    let a = walk(&mut peer, "a").await;
    let file = peer.create(&a, "f").await;
    let change = |read_only, clients: &[&str]| {
        let clients = clients.iter().map(|c| (*c).to_owned()).collect();
        ExportFile {
            read_only: Some(read_only),
            clients: Some(clients),
            squash: Some(Squash::All),
            ..memory("/a")
        }
    };
    let _ = server.reload(|file| file.export = vec![change(true, &[])]).await.unwrap();
    let _ = peer.run(vec![putfh(&a), mkdir("d")]).await.fails(Status::RoFs);
    let _ = peer.run(vec![putfh(&file.fh), write(StateId::ANONYMOUS, 0, b"x")]).await.fails(Status::RoFs);
    let _ = server.reload(|file| file.export = vec![change(false, &["127.0.0.2"])]).await.unwrap();
    let _ = peer.run(vec![putfh(&a)]).await.fails(Status::Stale);
    let _ = server.reload(|file| file.export = vec![change(false, &["127.0.0.1"])]).await.unwrap();
    let _ = peer.mkdir(&a, "d").await;
}

#[tokio::test]
async fn limits_change_and_what_cannot_change_is_named() {
    let mut server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let held = peer.create(&root, "f").await;
    let _ = peer.create(&root, "g").await;
    let waiting = server
        .reload(|file| {
            file.limits.opens_per_client = 1;
            file.limits.connections = 1;
            file.limits.operations = 8;
            file.mem_limit = Some(Size(1 << 20));
        })
        .await
        .unwrap();
    assert_eq!(waiting, ["limits.operations", "export \"/\" mem-limit"]);
    let third = peer.open(&root, "g", "other", ShareAccess::READ, ShareDeny::NONE).await;
    assert_eq!(third.err(), Some(Status::ServerFault));
    assert!(server.raw().await.is_closed_by_server().await, "one connection is there already");
    // What is held stays, and what the session was granted.
    assert_eq!(peer.read(&held, 0, 1).await.0, b"");
    let _ = peer.run(vec![ArgOp::Putrootfh; 20]).await.ok();
}

#[tokio::test]
async fn what_cannot_be_served_leaves_everything_as_it_is() {
    let mut server = TestServer::with(|file| file.export = vec![memory("/a")]).await;
    let mut peer = server.peer("a").await;
    let missing = ExportFile { dir: Some("/nonexistent/directory".into()), ..memory("/b") };
    assert!(server.reload(|file| file.export = vec![missing]).await.is_err());
    let twice = |path| ExportFile { id: Some(7), ..memory(path) };
    assert!(server.reload(|file| file.export = vec![twice("/b"), twice("/c")]).await.is_err());
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await, ["a"]);
}

#[tokio::test]
async fn limits_are_told_as_gauges_and_follow_a_reload() {
    let mut server = TestServer::mem().await;
    let told =
        |server: &TestServer, line: &str| server.server().metrics().render().lines().any(|l| l == line);
    assert!(told(&server, "nfs_limit{limit=\"opens-per-client\"} 200000"));
    let _ = server.reload(|file| file.limits.opens_per_client = 7).await.unwrap();
    assert!(told(&server, "nfs_limit{limit=\"opens-per-client\"} 7"));
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.lookup(&root, "none").await;
    let text = server.server().metrics().render();
    let mut wanted = vec!["nfs_rpcs_total{main=\"Lookup\",minor=\"2\",status=\"NFS4ERR_NOENT\"} 1"];
    wanted.push("nfs_rpc_seconds_count{main=\"Lookup\"} 1");
    for line in wanted {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}
