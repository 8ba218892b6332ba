//! READDIR. RFC 8881 §18.23.

use std::collections::BTreeSet;

use nfs4_proto::{ArgOp, Attr, AttrSet, OpNum, ReaddirArgs, Status};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{putfh, readdir};

#[tokio::test]
async fn an_empty_directory_is_listed_at_its_end_without_dot_and_dot_dot() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let page = peer.run(vec![putfh(&dir), readdir(0, [0; 8], 4096, &[])]).await.ok().readdir();
    assert!(page.reply.eof && page.reply.entries.0.is_empty());
}

#[tokio::test]
async fn reserved_cookies_are_bad_and_a_foreign_verifier_is_not_the_same() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for n in 0..5 {
        peer.mkdir(&root, format!("d{n}")).await;
    }
    let page = peer.run(vec![putfh(&root), readdir(0, [0; 8], 4096, &[])]).await.ok().readdir();
    let verifier = page.cookieverf;
    for cookie in [1, 2] {
        let done = peer.run(vec![putfh(&root), readdir(cookie, verifier, 4096, &[])]).await;
        let _ = done.fails_at(OpNum::Readdir, Status::BadCookie);
    }
    let cookie = page.reply.entries.0[2].cookie;
    let done = peer.run(vec![putfh(&root), readdir(cookie, [0x55; 8], 4096, &[])]).await;
    let _ = done.fails_at(OpNum::Readdir, Status::NotSame);
    let rest = peer.run(vec![putfh(&root), readdir(cookie, verifier, 4096, &[])]).await.ok().readdir();
    assert_eq!(rest.reply.entries.0.len(), 2);
    assert!(page.reply.entries.0.iter().all(|entry| entry.cookie > 2));
}

#[tokio::test]
async fn a_page_in_which_no_entry_fits_is_too_small() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.mkdir(&root, "n".repeat(200)).await;
    for maxcount in [0, 1, 15, 16, 100, 200] {
        let done = peer.run(vec![putfh(&root), readdir(0, [0; 8], maxcount, &[])]).await;
        let _ = done.fails_at(OpNum::Readdir, Status::TooSmall);
    }
    let page = peer.run(vec![putfh(&root), readdir(0, [0; 8], 300, &[])]).await.ok().readdir();
    assert_eq!(page.reply.entries.0.len(), 1);
}

#[tokio::test]
async fn a_page_is_never_larger_than_asked_for() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for n in 0..60 {
        peer.mkdir(&root, format!("directory-{}-{n}", "x".repeat(n))).await;
    }
    let want = [Attr::Type, Attr::Change, Attr::Size, Attr::Owner, Attr::Filehandle, Attr::Fileid];
    for maxcount in [500, 700, 1000, 2000, 5000] {
        let (mut cookie, mut verifier, mut seen) = (0, [0; 8], 0);
        loop {
            let op = readdir(cookie, verifier, maxcount, &want);
            let page = peer.run(vec![putfh(&root), op]).await.ok().readdir();
            let bytes = nfs4_tests::wire::bytes_of(&page).len();
            assert!(bytes <= usize::try_from(maxcount).unwrap(), "{bytes} bytes of {maxcount}");
            seen += page.reply.entries.0.len();
            verifier = page.cookieverf;
            cookie = page.reply.entries.0.last().map_or(cookie, |entry| entry.cookie);
            if page.reply.eof {
                break;
            }
            assert!(!page.reply.entries.0.is_empty());
        }
        assert_eq!(seen, 60, "maxcount {maxcount}");
    }
}

#[tokio::test]
async fn dircount_of_zero_is_no_bound() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for n in 0..20 {
        peer.mkdir(&root, format!("d{n}")).await;
    }
    let op = ArgOp::Readdir(ReaddirArgs {
        cookie: 0,
        cookieverf: [0; 8],
        dircount: 0,
        maxcount: 8192,
        attr_request: AttrSet::new(),
    });
    let page = peer.run(vec![putfh(&root), op]).await.ok().readdir();
    assert_eq!((page.reply.entries.0.len(), page.reply.eof), (20, true));
}

#[tokio::test]
async fn entries_carry_the_attributes_that_getattr_tells() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"content").await;
    let dir = peer.mkdir(&root, "d").await;
    let want = [
        Attr::Type,
        Attr::Change,
        Attr::Size,
        Attr::Fsid,
        Attr::Filehandle,
        Attr::Fileid,
        Attr::Mode,
        Attr::NumLinks,
        Attr::Owner,
        Attr::OwnerGroup,
        Attr::TimeModify,
        Attr::MountedOnFileid,
        Attr::RdattrError,
    ];
    let page = peer.run(vec![putfh(&root), readdir(0, [0; 8], 8192, &want)]).await.ok().readdir();
    for entry in &page.reply.entries.0 {
        let fh = if &entry.name[..] == b"f" { &file } else { &dir };
        assert_eq!(entry.attrs, peer.attrs(fh, &want).await, "{}", entry.name);
    }
    assert_eq!(page.reply.entries.0.len(), 2);
}

#[tokio::test]
async fn only_directories_are_listed_by_those_who_may_read_them() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    let op = || readdir(0, [0; 8], 4096, &[]);
    let _ = peer.run(vec![putfh(&file), op()]).await.fails_at(OpNum::Readdir, Status::NotDir);
    let ops = vec![
        putfh(&root),
        nfs4_tests::wire::ops::create(
            nfs4_proto::CreateType::Dir,
            "secret",
            nfs4_tests::wire::ops::mode(0o711),
        ),
        ArgOp::Getfh,
    ];
    let dir = peer.run(ops).await.ok().fh();
    let stranger = nfs4_tests::wire::cred(2000, 2000, &[]);
    let _ = peer.run_as(&stranger, vec![putfh(&dir), op()]).await.fails_at(OpNum::Readdir, Status::Access);
    let _ = peer.run(vec![putfh(&dir), op()]).await.ok();
    let set_only = readdir(0, [0; 8], 4096, &[Attr::TimeModifySet]);
    let _ = peer.run(vec![putfh(&dir), set_only]).await.fails_at(OpNum::Readdir, Status::Inval);
}

#[tokio::test]
async fn cookies_grow_within_a_listing_and_lead_behind_their_entry() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        for n in 0..50 {
            peer.mkdir(&root, format!("d{n}")).await;
        }
        let whole = peer.list(&root, 64 << 10).await;
        let names: BTreeSet<_> = whole.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!((whole.len(), names.len()), (50, 50));
        let cookies: BTreeSet<_> = whole.iter().map(|(_, cookie)| *cookie).collect();
        assert_eq!(cookies.len(), 50, "a cookie twice");
        let op = readdir(0, [0; 8], 64 << 10, &[]);
        let verifier = peer.run(vec![putfh(&root), op]).await.ok().readdir().cookieverf;
        for (i, (_, cookie)) in whole.iter().enumerate() {
            let op = readdir(*cookie, verifier, 64 << 10, &[]);
            let rest = peer.run(vec![putfh(&root), op]).await.ok().readdir().reply;
            let left: Vec<_> = rest.entries.0.iter().map(|entry| entry.name.to_vec()).collect();
            let expected: Vec<_> = whole[i + 1..].iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(left, expected);
        }
    }
}
