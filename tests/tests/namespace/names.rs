//! CREATE, LINK, LOOKUP, READLINK, REMOVE, RENAME, SECINFO.

use nfs4_proto::{ArgOp, Attr, Attrs, CreateType, FileType, OpNum, Secinfo, SecinfoStyle, SpecData, Status};
use nfs4_tests::wire::ops::{
    create, getattr, link, lookup, mkdir, mode, name, putfh, remove, rename, secinfo, symlink,
};
use nfs4_tests::wire::{TestServer, cred};

#[tokio::test]
async fn every_kind_of_object_is_made_and_known_again() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dev = SpecData { specdata1: 8, specdata2: 17 };
    // Devices need root.
    peer.spec.cred = cred(0, 0, &[]);
    for (at, kind, told) in [
        ("d", CreateType::Dir, FileType::Dir),
        ("l", CreateType::Lnk(name("to/here")), FileType::Lnk),
        ("b", CreateType::Blk(dev), FileType::Blk),
        ("c", CreateType::Chr(dev), FileType::Chr),
        ("s", CreateType::Sock, FileType::Sock),
        ("p", CreateType::Fifo, FileType::Fifo),
    ] {
        let ops = vec![
            putfh(&root),
            create(kind, at, mode(0o751)),
            getattr(&[Attr::Type, Attr::Mode, Attr::RawDev, Attr::NumLinks]),
            ArgOp::Getfh,
        ];
        let done = peer.run(ops).await.ok();
        assert_eq!(done.attrs().file_type(), Some(told), "{at}");
        if told != FileType::Lnk {
            assert_eq!(done.attrs().mode(), Some(0o751), "{at}");
        }
        if matches!(told, FileType::Blk | FileType::Chr) {
            assert_eq!(done.attrs().rawdev(), Some(dev));
        }
        assert_eq!(peer.lookup(&root, at).await.unwrap(), done.fh());
        let again = peer.run(vec![putfh(&root), create(CreateType::Dir, at, mode(0o700))]).await;
        let _ = again.fails_at(OpNum::Create, Status::Exist);
    }
    let link = peer.lookup(&root, "l").await.unwrap();
    assert_eq!(&peer.run(vec![putfh(&link), ArgOp::Readlink]).await.ok().readlink().link[..], b"to/here");
}

#[tokio::test]
async fn create_makes_no_regular_file_and_no_named_attribute() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for kind in [1, 8, 9, 77] {
        let op = create(CreateType::Other(kind), "x", Attrs::new());
        let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Create, Status::BadType);
    }
}

#[tokio::test]
async fn lookup_goes_through_directories_only_and_says_what_is_in_the_way() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&root), symlink("l", "f")]).await.ok();
    for (at, status) in [("f", Status::NotDir), ("l", Status::Symlink), ("none", Status::NoEnt)] {
        let done = peer.run(vec![putfh(&root), lookup(at), lookup("x")]).await;
        let _ = done.fails_at(OpNum::Lookup, status);
    }
}

#[tokio::test]
async fn lookupp_goes_up_and_ends_at_the_root() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let one = peer.mkdir(&root, "one").await;
    let two = peer.mkdir(&one, "two").await;
    let up = peer.run(vec![putfh(&two), ArgOp::Lookupp, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(up, one);
    let up = peer.run(vec![putfh(&two), ArgOp::Lookupp, ArgOp::Lookupp, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(up, root);
    let _ = peer.run(vec![putfh(&root), ArgOp::Lookupp]).await.fails_at(OpNum::Lookupp, Status::NoEnt);
    // A directory that moved has the parent it is in.
    let _ = peer.run(vec![putfh(&one), ArgOp::Savefh, putfh(&root), rename("two", "2")]).await.ok();
    let up = peer.run(vec![putfh(&two), ArgOp::Lookupp, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(up, root);
    let file = peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&file), ArgOp::Lookupp]).await.fails_at(OpNum::Lookupp, Status::NotDir);
}

#[tokio::test]
async fn readlink_is_for_links() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    for fh in [&root, &file] {
        let done = peer.run(vec![putfh(fh), ArgOp::Readlink]).await;
        assert!(matches!(done.status(), Status::Inval | Status::WrongType), "{done}");
    }
}

#[tokio::test]
async fn remove_takes_names_and_only_empty_directories() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    peer.file(&dir, "f", b"").await;
    let _ = peer.run(vec![putfh(&root), remove("d")]).await.fails_at(OpNum::Remove, Status::NotEmpty);
    peer.remove(&dir, "f").await;
    let before = peer.change(&root).await;
    let gone = peer.run(vec![putfh(&root), remove("d")]).await.ok().remove();
    assert_eq!((gone.cinfo.before, gone.cinfo.atomic), (before, true));
    assert_eq!(gone.cinfo.after, peer.change(&root).await);
    assert!(gone.cinfo.after > before);
    let _ = peer.run(vec![putfh(&root), remove("d")]).await.fails_at(OpNum::Remove, Status::NoEnt);
    assert_eq!(peer.status(vec![putfh(&dir), getattr(&[Attr::Type])]).await, Status::Stale);
    let file = peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&file), remove("x")]).await.fails_at(OpNum::Remove, Status::NotDir);
}

#[tokio::test]
async fn rename_replaces_what_is_of_its_kind() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let f = peer.file(&root, "f", b"ffff").await;
    let g = peer.file(&root, "g", b"g").await;
    let run = |from: &str, to: &str| vec![putfh(&root), ArgOp::Savefh, rename(from, to)];
    let _ = peer.run(run("f", "g")).await.ok();
    assert_eq!(peer.names(&root).await, ["g"]);
    assert_eq!(peer.lookup(&root, "g").await.unwrap(), f);
    assert_eq!(peer.status(vec![putfh(&g), getattr(&[Attr::Type])]).await, Status::Stale);
    // A directory replaces an empty one.
    let (d, e) = (peer.mkdir(&root, "d").await, peer.mkdir(&root, "e").await);
    let _ = peer.run(run("d", "e")).await.ok();
    assert_eq!(peer.lookup(&root, "e").await.unwrap(), d);
    assert_eq!(peer.status(vec![putfh(&e), getattr(&[Attr::Type])]).await, Status::Stale);
    // Other kinds, and directories with something in them, are EXIST (§18.26.3).
    let full = peer.mkdir(&root, "full").await;
    peer.file(&full, "x", b"").await;
    for (from, to) in [("e", "full"), ("e", "g"), ("g", "e"), ("g", "full")] {
        let _ = peer.run(run(from, to)).await.fails_at(OpNum::Rename, Status::Exist);
    }
    let _ = peer.run(run("none", "g")).await.fails_at(OpNum::Rename, Status::NoEnt);
}

#[tokio::test]
async fn rename_to_the_same_object_does_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let f = peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&f), ArgOp::Savefh, putfh(&root), link("g")]).await.ok();
    let before = peer.change(&root).await;
    for to in ["g", "f"] {
        let done = peer.run(vec![putfh(&root), ArgOp::Savefh, rename("f", to)]).await.ok().rename();
        assert_eq!(done.source_cinfo.before, done.source_cinfo.after);
    }
    assert_eq!(peer.names(&root).await, ["f", "g"]);
    assert_eq!(peer.change(&root).await, before);
}

#[tokio::test]
async fn a_directory_does_not_go_into_itself() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let one = peer.mkdir(&root, "one").await;
    let two = peer.mkdir(&one, "two").await;
    for to in [&one, &two] {
        let ops = vec![putfh(&root), ArgOp::Savefh, putfh(to), rename("one", "x")];
        let _ = peer.run(ops).await.fails_at(OpNum::Rename, Status::Inval);
    }
}

#[tokio::test]
async fn a_rename_between_directories_moves_both() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let (from, to) = (peer.mkdir(&root, "from").await, peer.mkdir(&root, "to").await);
    let fh = peer.file(&from, "f", b"").await;
    let (a, b) = (peer.change(&from).await, peer.change(&to).await);
    let ops = vec![putfh(&from), ArgOp::Savefh, putfh(&to), rename("f", "g")];
    let done = peer.run(ops).await.ok().rename();
    assert_eq!((done.source_cinfo.before, done.target_cinfo.before), (a, b));
    assert_eq!(done.source_cinfo.after, peer.change(&from).await);
    assert_eq!(done.target_cinfo.after, peer.change(&to).await);
    assert!(done.source_cinfo.after > a && done.target_cinfo.after > b);
    assert_eq!(peer.lookup(&to, "g").await.unwrap(), fh);
}

#[tokio::test]
async fn a_link_is_one_more_name_and_never_of_a_directory() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    let change = peer.change(&fh).await;
    let done = peer.run(vec![putfh(&fh), ArgOp::Savefh, putfh(&root), link("g")]).await.ok().link();
    assert!(done.cinfo.after > done.cinfo.before);
    assert_eq!(peer.lookup(&root, "g").await.unwrap(), fh);
    assert_eq!(peer.attrs(&fh, &[Attr::NumLinks]).await.numlinks(), Some(2));
    assert!(peer.change(&fh).await > change, "the count of links is an attribute");
    let ops = vec![putfh(&fh), ArgOp::Savefh, putfh(&root), link("g")];
    let _ = peer.run(ops).await.fails_at(OpNum::Link, Status::Exist);
    let dir = peer.mkdir(&root, "d").await;
    let ops = vec![putfh(&dir), ArgOp::Savefh, putfh(&root), link("e")];
    let _ = peer.run(ops).await.fails_at(OpNum::Link, Status::IsDir);
    let _ = peer.run(vec![putfh(&root), link("e")]).await.fails_at(OpNum::Link, Status::NoFileHandle);
    peer.remove(&root, "f").await;
    assert_eq!(peer.attrs(&fh, &[Attr::NumLinks]).await.numlinks(), Some(1));
}

#[tokio::test]
async fn the_links_of_a_directory_count_its_directories() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    assert_eq!(peer.attrs(&dir, &[Attr::NumLinks]).await.numlinks(), Some(2));
    peer.mkdir(&dir, "e").await;
    assert_eq!(peer.attrs(&dir, &[Attr::NumLinks]).await.numlinks(), Some(3));
    peer.remove(&dir, "e").await;
    assert_eq!(peer.attrs(&dir, &[Attr::NumLinks]).await.numlinks(), Some(2));
}

#[tokio::test]
async fn secinfo_tells_the_flavors_and_takes_the_filehandle_away() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let told = peer.run(vec![putfh(&root), secinfo("d")]).await.ok().secinfo();
    assert!(told.contains(&Secinfo::Sys));
    for op in [secinfo("d"), ArgOp::SecinfoNoName(SecinfoStyle::CurrentFh)] {
        let done = peer.run(vec![putfh(&root), op, ArgOp::Getfh]).await;
        let _ = done.fails_at(OpNum::Getfh, Status::NoFileHandle);
    }
    let parent = ArgOp::SecinfoNoName(SecinfoStyle::Parent);
    let _ = peer.run(vec![putfh(&dir), parent.clone()]).await.ok();
    let _ = peer.run(vec![putfh(&root), parent]).await.fails_at(OpNum::SecinfoNoName, Status::NoEnt);
    let _ = peer.run(vec![putfh(&root), secinfo("none")]).await.fails_at(OpNum::Secinfo, Status::NoEnt);
}

#[tokio::test]
async fn rights_of_the_directory_decide_about_its_names() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let file = peer.file(&dir, "f", b"").await;
    let stranger = cred(2000, 2000, &[]);
    let at = |fh, op| vec![putfh(fh), op];
    for op in [mkdir("x"), remove("f")] {
        let _ = peer.run_as(&stranger, at(&dir, op)).await.fails(Status::Access);
    }
    let ops = vec![putfh(&file), ArgOp::Savefh, putfh(&dir), link("g")];
    let _ = peer.run_as(&stranger, ops).await.fails_at(OpNum::Link, Status::Access);
    let ops = vec![putfh(&dir), ArgOp::Savefh, rename("f", "g")];
    let _ = peer.run_as(&stranger, ops).await.fails_at(OpNum::Rename, Status::Access);
    let _ = peer.run_as(&stranger, at(&dir, lookup("f"))).await.ok();
    // Without search there is no look-up; root needs none.
    let close_it = nfs4_tests::wire::ops::setattr(nfs4_proto::StateId::ANONYMOUS, mode(0o700));
    let _ = peer.run(at(&dir, close_it)).await.ok();
    let _ = peer.run_as(&stranger, at(&dir, lookup("f"))).await.fails(Status::Access);
    let _ = peer.run_as(&cred(0, 0, &[]), at(&dir, lookup("f"))).await.ok();
}

#[tokio::test]
async fn in_a_sticky_directory_only_owners_remove() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![putfh(&root), create(CreateType::Dir, "t", mode(0o1777)), ArgOp::Getfh];
    let dir = peer.run(ops).await.ok().fh();
    peer.file(&dir, "mine", b"").await;
    let stranger = cred(2000, 2000, &[]);
    let done = peer.run_as(&stranger, vec![putfh(&dir), remove("mine")]).await;
    let _ = done.fails(Status::Access);
    let done = peer.run_as(&stranger, vec![putfh(&dir), ArgOp::Savefh, rename("mine", "theirs")]).await;
    let _ = done.fails(Status::Access);
    peer.remove(&dir, "mine").await;
}
