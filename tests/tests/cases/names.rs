//! Names and listings: S-13, S-14, S-23. RFC 8881 §14, §18.23.

use std::collections::HashSet;

use nfs4_proto::{ArgOp, Attr, Fh, FsCharsetCap, OpNum, Status};
use nfs4_tests::wire::ops::{link, lookup, mkdir, putfh, readdir, remove, rename};
use nfs4_tests::wire::{Peer, TestServer};

/// A directory with f0…f99 and ten more names of f0.
async fn with_links(peer: &mut Peer) -> (Fh, HashSet<Vec<u8>>, u64) {
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let mut names = HashSet::new();
    for n in 0..100 {
        let name = format!("f{n}");
        peer.file(&dir, &name, b"").await;
        names.insert(name.into_bytes());
    }
    let f0 = peer.lookup(&dir, "f0").await.unwrap();
    for n in 0..10 {
        let name = format!("link{n}");
        let _ = peer.run(vec![putfh(&f0), ArgOp::Savefh, putfh(&dir), link(&name)]).await.ok();
        names.insert(name.into_bytes());
    }
    let fileid = peer.attrs(&f0, &[Attr::Fileid]).await.fileid().unwrap();
    (dir, names, fileid)
}

async fn every_page_size(server: TestServer) {
    let mut peer = server.peer("a").await;
    let (dir, names, fileid) = with_links(&mut peer).await;
    let sizes = (128..400).step_by(4).chain([512, 1024, 2048, 4096, 8192, 16 << 10, 32 << 10, 64 << 10]);
    for maxcount in sizes {
        let listed = peer.list(&dir, maxcount).await;
        assert_eq!(listed.len(), names.len(), "maxcount {maxcount}");
        let distinct: HashSet<_> = listed.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(distinct, names, "maxcount {maxcount}");
        assert!(listed.windows(2).all(|pair| pair[0].1 < pair[1].1), "cookies go up");
        assert!(listed.iter().all(|(_, cookie)| *cookie > 2 && *cookie != fileid));
    }
}

#[tokio::test]
async fn s13_every_name_comes_once_for_every_page_size() {
    every_page_size(TestServer::mem().await).await;
}

#[tokio::test]
async fn s13_every_name_of_a_directory_comes_once_for_every_page_size() {
    let server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let (dir, names, _) = with_links(&mut peer).await;
    for maxcount in [128, 160, 200, 333, 512, 4096, 64 << 10] {
        let listed = peer.list(&dir, maxcount).await;
        let distinct: HashSet<_> = listed.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!((listed.len(), &distinct), (names.len(), &names), "maxcount {maxcount}");
        let cookies: HashSet<_> = listed.iter().map(|(_, cookie)| *cookie).collect();
        assert_eq!(cookies.len(), names.len(), "cookies are unique");
    }
}

async fn changing(server: TestServer) {
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let dir = a.mkdir(&root, "d").await;
    let mut stable = HashSet::new();
    for n in 0..300 {
        let name = format!("stable{n:03}");
        a.file(&dir, &name, b"").await;
        stable.insert(name.into_bytes());
        a.file(&dir, format!("doomed{n:03}"), b"").await;
    }
    let (mut cookie, mut verifier, mut seen, mut round) = (0, [0; 8], Vec::<Vec<u8>>::new(), 0);
    let mut gone = HashSet::new();
    loop {
        let op = readdir(cookie, verifier, 700, &[Attr::Fileid]);
        let page = a.run(vec![putfh(&dir), op]).await.ok().readdir();
        verifier = page.cookieverf;
        for entry in &page.reply.entries.0 {
            cookie = entry.cookie;
            seen.push(entry.name.to_vec());
        }
        if page.reply.eof {
            break;
        }
        // The cookie's own entry where it may go, one that was listed, one that was not; one more; one renamed.
        let last = seen.last().unwrap().clone();
        let listed = seen.iter().find(|name| name.starts_with(b"doomed") && !gone.contains(*name)).cloned();
        let mut next = (0..300).map(|n| format!("doomed{n:03}").into_bytes());
        let ahead = next.find(|name| !seen.contains(name) && !gone.contains(name));
        let victims = [Some(last).filter(|name| name.starts_with(b"doomed")), listed, ahead];
        for victim in victims.into_iter().flatten() {
            if gone.insert(victim.clone()) {
                b.remove(&dir, victim).await;
            }
        }
        b.file(&dir, format!("added{round:03}"), b"").await;
        let ops =
            vec![putfh(&dir), ArgOp::Savefh, rename(format!("added{round:03}"), format!("moved{round:03}"))];
        let _ = b.run(ops).await.ok();
        round += 1;
        assert!(round < 700, "the listing does not end");
    }
    let distinct: HashSet<_> = seen.iter().cloned().collect();
    assert_eq!(distinct.len(), seen.len(), "a name came twice");
    assert!(distinct.is_superset(&stable), "{:?} are missing", stable.difference(&distinct));
    assert!(round > 10, "{round} pages are no test");
}

#[tokio::test]
async fn s14_a_listing_of_a_changing_directory_has_all_that_stayed_once_and_ends() {
    changing(TestServer::mem().await).await;
}

#[tokio::test]
async fn s14_so_does_a_listing_of_a_changing_directory_of_this_machine() {
    changing(TestServer::local().await).await;
}

#[tokio::test]
async fn s14_made_up_cookies_are_bad_or_at_the_end() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let (dir, names, _) = with_links(&mut peer).await;
    let page = peer.run(vec![putfh(&dir), readdir(0, [0; 8], 4096, &[])]).await.ok().readdir();
    for cookie in [1, 2] {
        let op = readdir(cookie, page.cookieverf, 4096, &[]);
        let _ = peer.run(vec![putfh(&dir), op]).await.fails_at(OpNum::Readdir, Status::BadCookie);
    }
    for cookie in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
        let done = peer.run(vec![putfh(&dir), readdir(cookie, page.cookieverf, 4096, &[])]).await;
        if done.status() != Status::BadCookie {
            let page = done.ok().readdir();
            assert!(page.reply.eof && page.reply.entries.0.is_empty());
        }
    }
    assert_eq!(peer.list(&dir, 4096).await.len(), names.len());
}

async fn names_are_bytes(server: TestServer) {
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let (composed, decomposed) = ("\u{e9}".as_bytes().to_vec(), "e\u{301}".as_bytes().to_vec());
    let (one, other) = (peer.file(&root, &composed, b"1").await, peer.file(&root, &decomposed, b"2").await);
    assert_ne!(one, other);
    let invalid = b"not-\xff-utf8".to_vec();
    let made = peer.run(vec![putfh(&root), mkdir(&invalid)]).await;
    let accepted = made.status() == Status::Ok;
    assert!(accepted || made.status() == Status::Inval, "{made}");
    let cap = peer.attrs(&root, &[Attr::FsCharsetCap]).await.fs_charset_cap();
    if let Some(cap) = cap {
        assert_eq!(accepted, cap.contains(FsCharsetCap::CONTAINS_NON_UTF8), "{cap:?}");
        assert_eq!(!accepted, cap.contains(FsCharsetCap::ALLOWS_ONLY_UTF8), "{cap:?}");
    }
    let mut expected: HashSet<Vec<u8>> = [composed, decomposed].into();
    if accepted {
        expected.insert(invalid);
    }
    let listed: HashSet<_> = peer.list(&root, 4096).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, expected);
    for name in expected {
        peer.lookup(&root, &name).await.unwrap();
        peer.remove(&root, &name).await;
        assert_eq!(peer.lookup(&root, &name).await.unwrap_err(), Status::NoEnt);
    }
    assert!(peer.names(&root).await.is_empty());
}

#[tokio::test]
async fn s23_names_are_kept_byte_for_byte() {
    names_are_bytes(TestServer::mem().await).await;
}

#[tokio::test]
async fn s23_names_in_a_directory_are_kept_byte_for_byte() {
    names_are_bytes(TestServer::local().await).await;
}

#[tokio::test]
async fn s23_names_that_cannot_be_are_refused_as_the_rfc_says() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "there", b"").await;
    let long = vec![b'n'; 256];
    for (name, status) in [
        (&b""[..], Status::Inval),
        (b".", Status::BadName),
        (b"..", Status::BadName),
        (b"a/b", Status::BadChar),
        (b"a\0b", Status::BadChar),
        (&long, Status::NameTooLong),
    ] {
        for op in [mkdir(name), lookup(name), remove(name)] {
            let num = op.num();
            let done = peer.run(vec![putfh(&root), op]).await;
            // The RFC leaves both open for a character that cannot be in a name (§14.5, §18.4.3).
            let fits = done.status() == status
                || status == Status::BadChar && [Status::BadName, Status::Inval].contains(&done.status());
            assert!(fits, "{} of {name:?}: {done}", num.name());
        }
        for (from, to) in [(&b"there"[..], name), (name, b"there")] {
            let done = peer.run(vec![putfh(&root), ArgOp::Savefh, rename(from, to)]).await;
            assert_ne!(done.status(), Status::Ok, "{done}");
        }
    }
    let longest = vec![b'n'; 255];
    peer.mkdir(&root, &longest).await;
    assert_eq!(peer.names(&root).await.len(), 2);
}
