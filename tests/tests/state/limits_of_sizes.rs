//! Limits of sizes and of descriptors, at N and at N + 1 (docs/limits.md), and what is told of memory.

use std::time::{Duration, Instant};

use nfs4_proto::{Attr, AttrSet, OpNum, SetxattrOption, Status};
use nfs4_server::config::Limits;
use nfs4_tests::wire::ops::{getattr, putfh, readdir, setxattr};
use nfs4_tests::wire::{PATIENCE, Peer, TestServer};

async fn server(fill: impl FnOnce(&mut Limits)) -> TestServer {
    TestServer::with(|file| fill(&mut file.limits)).await
}

async fn another_is_served(peer: &mut Peer) {
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), getattr(&[Attr::Type])]).await.ok();
}

#[tokio::test]
async fn descriptors() {
    let server = TestServer::local_with(|file| file.limits.descriptors = 32).await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let mut made = Vec::new();
    for n in 0..300 {
        made.push(peer.mkdir(&root, format!("d{n}")).await);
    }
    let below = server.directory();
    let open = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        all.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to.starts_with(&below))).count()
    };
    // Two for each part of the cache, and the root's.
    assert!(open() <= 40, "{} are open", open());
    for (n, fh) in made.iter().enumerate() {
        assert_eq!(peer.lookup(&root, format!("d{n}")).await.as_ref(), Ok(fh));
        let _ = peer.run(vec![putfh(fh), getattr(&[Attr::Type])]).await.ok();
    }
    assert!(open() <= 40, "{} are open", open());
    assert!(open() > 1, "the count sees nothing");
}

#[tokio::test]
async fn readdir_entry_bytes() {
    let server = server(|limits| {
        limits.name_bytes = 20;
        limits.readdir_entry_bytes = 148;
    })
    .await;
    let (mut peer, mut other) = (server.peer("a").await, server.peer("other").await);
    let root = peer.root.clone();
    let _ = peer.mkdir(&root, "n".repeat(20)).await;
    let list = |want: &[Attr]| vec![putfh(&root), readdir(0, [0; 8], 8192, want)];
    let few = [Attr::Type, Attr::Fileid];
    let page = peer.run(list(&few)).await.ok().readdir();
    assert_eq!(page.reply.entries.0.len(), 1);
    let many = [
        Attr::Type,
        Attr::Filehandle,
        Attr::Owner,
        Attr::OwnerGroup,
        Attr::TimeAccess,
        Attr::TimeModify,
        Attr::TimeMetadata,
        Attr::Fsid,
        Attr::SupportedAttrs,
    ];
    let _ = peer.run(list(&many)).await.fails_at(OpNum::Readdir, Status::TooSmall);
    let page = peer.run(list(&[&many[..], &[Attr::RdattrError]].concat())).await.ok().readdir();
    let entry = &page.reply.entries.0[0];
    assert_eq!(entry.attrs.rdattr_error(), Some(Status::RepTooBig));
    let mut only = AttrSet::default();
    only.insert(Attr::RdattrError);
    assert_eq!(entry.attrs.mask(), &only);
    assert!(page.reply.eof);
    another_is_served(&mut other).await;
}

#[tokio::test]
async fn xattr_bytes() {
    let server = server(|limits| limits.xattr_bytes = 100).await;
    let (mut peer, mut other) = (server.peer("a").await, server.peer("other").await);
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    let set = |n: usize| vec![putfh(&fh), setxattr(SetxattrOption::Either, "x", &vec![1; n])];
    let _ = peer.run(set(100)).await.ok();
    let _ = peer.run(set(101)).await.fails_at(OpNum::Setxattr, Status::Xattr2Big);
    another_is_served(&mut other).await;
}

#[tokio::test]
async fn memory_in_use_is_told_as_a_gauge() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.file(&root, "large", &vec![1; 1 << 19]).await;
    let used = || -> Option<f64> {
        let text = server.server().metrics().render();
        let start = "nfs_limit_used{limit=\"mem-limit\",export=\"/\"}";
        text.lines().find_map(|line| line.strip_prefix(start)?.trim().parse().ok())
    };
    let until = Instant::now() + PATIENCE;
    while !used().is_some_and(|bytes| (f64::from(1 << 19)..f64::from(1 << 20)).contains(&bytes)) {
        assert!(Instant::now() < until, "{:?}", used());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
