//! Several exports under one root, squashing, read-only. RFC 8881 §7.

use nfs4_proto::{AccessFlags as A, ArgOp, Attr, Fh, OpNum, ShareAccess, ShareDeny, StateId, Status};
use nfs4_server::config::{ExportFile, ForFile, Squash};
use nfs4_tests::wire::ops::{
    access, copy, getattr, link, lookup, mkdir, mode, open_create, open_name, putfh, readdir, remove, rename,
    setattr, setxattr, unchecked, write,
};
use nfs4_tests::wire::{Peer, Raw, TestServer, cred};

fn memory(path: &str) -> ExportFile {
    ExportFile { path: path.to_owned(), ..ExportFile::default() }
}

async fn three() -> TestServer {
    TestServer::with(|file| {
        let archive = ExportFile { read_only: Some(true), ..memory("/archive") };
        file.export = vec![memory("/srv/one"), memory("/srv/two"), archive];
    })
    .await
}

async fn walk(peer: &mut Peer, path: &[&str]) -> Fh {
    let mut ops = vec![ArgOp::Putrootfh];
    ops.extend(path.iter().map(lookup));
    ops.push(ArgOp::Getfh);
    peer.run(ops).await.ok().fh()
}

#[tokio::test]
async fn the_pseudo_root_leads_to_the_exports_and_back() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await, ["archive", "srv"]);
    let srv = walk(&mut peer, &["srv"]).await;
    assert_eq!(peer.names(&srv).await, ["one", "two"]);
    let one = walk(&mut peer, &["srv", "one"]).await;
    let up = peer.run(vec![putfh(&one), ArgOp::Lookupp, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(up, srv);
    let up = peer.run(vec![putfh(&srv), ArgOp::Lookupp, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(up, root);
    let _ = peer.run(vec![putfh(&root), ArgOp::Lookupp]).await.fails(Status::NoEnt);
    let _ = peer.run(vec![putfh(&srv), lookup("three")]).await.fails(Status::NoEnt);
    let public = peer.run(vec![ArgOp::Putpubfh, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(public, root);
}

#[tokio::test]
async fn each_export_is_a_file_system_of_its_own() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let want = [Attr::Fsid, Attr::Fileid, Attr::MountedOnFileid];
    let mut fsids = Vec::new();
    for path in [&[][..], &["srv"], &["srv", "one"], &["srv", "two"], &["archive"]] {
        let fh = walk(&mut peer, path).await;
        let got = peer.attrs(&fh, &want).await;
        fsids.push(got.fsid().unwrap());
    }
    assert_eq!(fsids[0], fsids[1], "the pseudo file system is one");
    let distinct: std::collections::HashSet<_> = fsids.iter().collect();
    assert_eq!(distinct.len(), 4);
}

#[tokio::test]
async fn the_root_of_an_export_tells_the_fileid_that_it_lies_on() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let srv = walk(&mut peer, &["srv"]).await;
    let one = walk(&mut peer, &["srv", "one"]).await;
    let two = walk(&mut peer, &["srv", "two"]).await;
    let want = [Attr::Fsid, Attr::Fileid, Attr::MountedOnFileid, Attr::Filehandle];
    let page = peer.run(vec![putfh(&srv), readdir(0, [0; 8], 8192, &want)]).await.ok().readdir();
    let mut covered = Vec::new();
    for entry in &page.reply.entries.0 {
        let fh = if &entry.name[..] == b"one" { &one } else { &two };
        assert_eq!(entry.attrs, peer.attrs(fh, &want).await, "READDIR crosses as LOOKUP does");
        covered.push(entry.attrs.mounted_on_fileid().unwrap());
    }
    assert_eq!(covered.len(), 2);
    assert_ne!(covered[0], covered[1], "they lie on two directories");
    // Below the root of an export the two are equal.
    let dir = peer.mkdir(&one, "d").await;
    let got = peer.attrs(&dir, &want).await;
    assert_eq!(got.fileid(), got.mounted_on_fileid());
}

#[tokio::test]
async fn nothing_goes_from_one_export_to_another() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let one = walk(&mut peer, &["srv", "one"]).await;
    let two = walk(&mut peer, &["srv", "two"]).await;
    let file = peer.create(&one, "f").await;
    let other = peer.create(&two, "g").await;
    let ops = vec![putfh(&file.fh), ArgOp::Savefh, putfh(&two), link("f")];
    let _ = peer.run(ops).await.fails_at(OpNum::Link, Status::XDev);
    let ops = vec![putfh(&one), ArgOp::Savefh, putfh(&two), rename("f", "f")];
    let _ = peer.run(ops).await.fails_at(OpNum::Rename, Status::XDev);
    let op = copy(file.stateid, other.stateid, 0, 0, 0);
    let ops = vec![putfh(&file.fh), ArgOp::Savefh, putfh(&other.fh), op];
    let _ = peer.run(ops).await.fails_at(OpNum::Copy, Status::XDev);
    let op = nfs4_tests::wire::ops::clone(file.stateid, other.stateid, 0, 0, 0);
    let ops = vec![putfh(&file.fh), ArgOp::Savefh, putfh(&other.fh), op];
    let _ = peer.run(ops).await.fails_at(OpNum::Clone, Status::XDev);
}

#[tokio::test]
async fn a_stateid_of_one_export_is_none_of_another() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let one = walk(&mut peer, &["srv", "one"]).await;
    let two = walk(&mut peer, &["srv", "two"]).await;
    // The first file of each: whatever numbers the backends give are the same.
    let (f, g) = (peer.create(&one, "f").await, peer.create(&two, "f").await);
    let _ = peer.run(vec![putfh(&g.fh), write(f.stateid, 0, b"x")]).await.fails(Status::BadStateId);
    peer.write(&f, 0, b"one").await;
    assert_eq!(peer.read(&g, 0, 9).await.0, b"");
}

#[tokio::test]
async fn the_pseudo_root_and_a_read_only_export_refuse_every_change() {
    let server = three().await;
    let mut peer = server.peer("a").await;
    let archive = walk(&mut peer, &["archive"]).await;
    let root = peer.root.clone();
    for fh in [&archive, &root] {
        for op in [
            mkdir("d"),
            remove("srv"),
            setattr(StateId::ANONYMOUS, mode(0o700)),
            open_create("o", "f", unchecked(mode(0o600))),
            rename("srv", "x"),
        ] {
            let num = op.num();
            let done = peer.run(vec![putfh(fh), ArgOp::Savefh, op]).await;
            let _ = done.fails_at(num, Status::RoFs);
        }
    }
    let op = setxattr(nfs4_proto::SetxattrOption::Either, "a", b"x");
    let _ = peer.run(vec![putfh(&archive), op]).await.fails_at(OpNum::Setxattr, Status::RoFs);
    let told = peer.run(vec![putfh(&archive), access(A::all())]).await.ok().access();
    assert!(!told.access.intersects(A::MODIFY | A::EXTEND | A::DELETE | A::XAWRITE), "{:?}", told.access);
    assert!(told.access.contains(A::READ | A::LOOKUP));
}

#[tokio::test]
async fn a_file_of_a_read_only_export_is_opened_for_reading_alone() {
    let server = TestServer::local_with(|file| file.read_only = Some(true)).await;
    std::fs::write(server.directory().join("f"), b"content").unwrap();
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let op = open_name("o", "f", ShareAccess::BOTH, ShareDeny::NONE);
    let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::RoFs);
    let file = peer.open(&root, "f", "o", ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    assert_eq!(peer.read(&file, 0, 10).await, (b"content".to_vec(), true));
    let _ = peer.run(vec![putfh(&file.fh), write(StateId::ANONYMOUS, 0, b"x")]).await.fails(Status::RoFs);
    assert_eq!(std::fs::read(server.directory().join("f")).unwrap(), b"content");
}

#[tokio::test]
async fn root_is_squashed_where_that_is_configured() {
    for (squash, uid, told) in
        [(Squash::Root, 0, 65_534), (Squash::Root, 5, 5), (Squash::None, 0, 0), (Squash::All, 5, 65_534)]
    {
        let server = TestServer::with(|file| file.squash = Some(squash)).await;
        let mut peer = Peer::connect(server.address, server.spec("a").user(uid, uid, &[])).await;
        let root = peer.root.clone();
        let ops = vec![putfh(&root), mkdir("d"), getattr(&[Attr::Owner, Attr::OwnerGroup])];
        let got = peer.run(ops).await.ok().attrs();
        assert_eq!(got.owner().unwrap().as_number(), Some(told), "{squash:?} {uid}");
        assert_eq!(got.owner_group().unwrap().as_number(), Some(told), "{squash:?} {uid}");
    }
}

#[tokio::test]
async fn without_credentials_one_is_nobody() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let nobody = nfs4_xdr::rpc::OpaqueAuth::none();
    let ops = vec![putfh(&root), mkdir("d"), getattr(&[Attr::Owner])];
    let got = peer.run_as(&nobody, ops).await.ok().attrs();
    assert_eq!(got.owner().unwrap().as_number(), Some(65_534));
}

#[tokio::test]
async fn supplementary_groups_count() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![
        putfh(&root),
        nfs4_tests::wire::ops::create(nfs4_proto::CreateType::Dir, "team", mode(0o770)),
        ArgOp::Getfh,
    ];
    let dir = peer.run(ops).await.ok().fh();
    let group = nfs4_tests::wire::ops::attrs(|a| {
        a.set_owner_group(nfs4_proto::Owner::number(77));
    });
    let superuser = cred(0, 0, &[]);
    let _ = peer.run_as(&superuser, vec![putfh(&dir), setattr(StateId::ANONYMOUS, group)]).await.ok();
    for (groups, allowed) in
        [(vec![77], true), ((100..115).chain([77]).collect(), true), (vec![78], false), (vec![], false)]
    {
        let done = peer.run_as(&cred(2000, 2000, &groups), vec![putfh(&dir), mkdir("x")]).await;
        assert_eq!(done.status() == Status::Ok, allowed, "{groups:?}: {done}");
        if allowed {
            peer.remove(&dir, "x").await;
        }
    }
}

fn for_clients(path: &str, clients: &[&str]) -> ExportFile {
    let clients = Some(clients.iter().map(ToString::to_string).collect());
    ExportFile { path: path.to_owned(), clients, ..ExportFile::default() }
}

#[tokio::test]
async fn an_export_for_some_clients_is_not_there_for_others() {
    let server = TestServer::with(|file| {
        file.export = vec![for_clients("/theirs", &["127.0.0.2", "10.0.0.0/8"]), for_clients("/all", &[])];
    })
    .await;
    let mut stranger = server.peer("stranger").await;
    let root = stranger.root.clone();
    assert_eq!(stranger.names(&root).await, ["all"]);
    assert_eq!(stranger.lookup(&root, "theirs").await.err(), Some(Status::NoEnt));
    let op = nfs4_tests::wire::ops::secinfo("theirs");
    let _ = stranger.run(vec![putfh(&root), op]).await.fails_at(OpNum::Secinfo, Status::NoEnt);
    let mut friend = server.peer("friend").await;
    friend.raw = Raw::connect_from("127.0.0.2".parse().unwrap(), server.address).await;
    assert_eq!(friend.names(&root).await, ["all", "theirs"]);
    let theirs = friend.lookup(&root, "theirs").await.unwrap();
    let dir = friend.mkdir(&theirs, "d").await;
    // A handle is no way in.
    for fh in [&theirs, &dir] {
        let _ = stranger.run(vec![putfh(fh)]).await.fails_at(OpNum::Putfh, Status::Stale);
    }
    let all = stranger.lookup(&root, "all").await.unwrap();
    stranger.mkdir(&all, "d").await;
}

#[tokio::test]
async fn whoever_may_not_see_the_only_export_sees_an_empty_directory() {
    let server = TestServer::with(|file| file.clients = Some(vec!["127.0.0.2".to_owned()])).await;
    let mut stranger = server.peer("stranger").await;
    let nothing = stranger.root.clone();
    assert!(stranger.names(&nothing).await.is_empty());
    let made = stranger.run(vec![putfh(&nothing), nfs4_tests::wire::ops::mkdir("d")]).await;
    let _ = made.fails_at(OpNum::Create, Status::RoFs);
    let mut friend = server.peer("friend").await;
    friend.raw = Raw::connect_from("127.0.0.2".parse().unwrap(), server.address).await;
    let root = friend.run(vec![ArgOp::Putrootfh, ArgOp::Getfh]).await.ok().fh();
    assert_ne!(root, nothing);
    friend.mkdir(&root, "d").await;
    let _ = stranger.run(vec![putfh(&root)]).await.fails_at(OpNum::Putfh, Status::Stale);
}

fn rule(clients: &[&str], squash: Option<Squash>, read_only: Option<bool>) -> ForFile {
    ForFile { clients: clients.iter().map(ToString::to_string).collect(), squash, read_only }
}

#[tokio::test]
async fn some_clients_of_an_export_have_options_of_their_own() {
    let rules = vec![
        rule(&["127.0.0.2"], Some(Squash::All), None),
        rule(&["127.0.0.2/31", "10.0.0.0/8"], None, Some(true)),
    ];
    let export = ExportFile { rules, ..memory("/") };
    let mut server = TestServer::with(|file| file.export = vec![export.clone()]).await;
    let mut plain = server.peer("plain").await;
    let root = plain.root.clone();
    let made = plain.mkdir(&root, "d").await;
    let owner = async |peer: &mut Peer, name: &str| {
        let ops = vec![putfh(&peer.root.clone()), mkdir(name), getattr(&[Attr::Owner])];
        peer.run(ops).await.ok().attrs().owner().unwrap().as_number()
    };
    assert_eq!(owner(&mut plain, "e").await, Some(1000));
    let mut squashed = server.peer("squashed").await;
    squashed.raw = Raw::connect_from("127.0.0.2".parse().unwrap(), server.address).await;
    assert_eq!(owner(&mut squashed, "f").await, Some(65_534), "the first rule counts");
    let mut reader = server.peer("reader").await;
    reader.raw = Raw::connect_from("127.0.0.3".parse().unwrap(), server.address).await;
    for op in [
        mkdir("g"),
        remove("d"),
        setattr(StateId::ANONYMOUS, mode(0o700)),
        open_create("o", "g", unchecked(mode(0o600))),
    ] {
        let num = op.num();
        let _ = reader.run(vec![putfh(&root), op]).await.fails_at(num, Status::RoFs);
    }
    let told = reader.run(vec![putfh(&made), access(A::all())]).await.ok().access();
    assert!(!told.access.intersects(A::MODIFY | A::EXTEND | A::DELETE | A::XAWRITE), "{:?}", told.access);
    // Another configuration counts from now on.
    let none = ExportFile { rules: Vec::new(), ..export };
    assert!(server.reload(|file| file.export = vec![none]).await.unwrap().is_empty());
    assert_eq!(owner(&mut reader, "g").await, Some(1000));
    let strict = ExportFile { rules: vec![rule(&["127.0.0.1"], None, Some(true))], ..memory("/") };
    assert!(server.reload(|file| file.export = vec![strict]).await.unwrap().is_empty());
    let _ = plain.run(vec![putfh(&root), mkdir("h")]).await.fails_at(OpNum::Create, Status::RoFs);
    assert_eq!(owner(&mut squashed, "h").await, Some(1000));
}

#[tokio::test]
async fn a_directory_that_is_read_only_but_for_some_can_be_written_by_those() {
    let server = TestServer::local_with(|file| {
        file.read_only = Some(true);
        file.export[0].rules = vec![rule(&["127.0.0.2"], None, Some(false))];
    })
    .await;
    let mut reader = server.peer("reader").await;
    let mut writer = server.peer("writer").await;
    writer.raw = Raw::connect_from("127.0.0.2".parse().unwrap(), server.address).await;
    let root = reader.root.clone();
    let file = writer.create(&root, "f").await;
    writer.write(&file, 0, b"x").await;
    let op = open_name("o", "f", ShareAccess::BOTH, ShareDeny::NONE);
    let _ = reader.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::RoFs);
    assert_eq!(std::fs::read(server.directory().join("f")).unwrap(), b"x");
}
