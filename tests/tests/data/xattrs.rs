//! Extended attributes. RFC 8276 §8.4.

use nfs4_proto::{OpNum, SetxattrOption, Status};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{getxattr, listxattrs, putfh, removexattr, setattr, setxattr};

#[tokio::test]
async fn a_value_comes_back_and_moves_change_when_it_is_set_and_removed() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    let mut change = peer.change(&fh).await;
    for value in [&b"one"[..], b"", b"other"] {
        let op = setxattr(SetxattrOption::Either, "user.a", value);
        let told = peer.run(vec![putfh(&fh), op]).await.ok().setxattr().info;
        assert_eq!((told.before, told.after), (change, peer.change(&fh).await));
        assert!(told.after > change);
        change = told.after;
        let got = peer.run(vec![putfh(&fh), getxattr("user.a")]).await.ok().getxattr();
        assert_eq!(&got.value[..], value);
        assert_eq!(peer.change(&fh).await, change, "reading moves nothing");
    }
    let told = peer.run(vec![putfh(&fh), removexattr("user.a")]).await.ok().removexattr().info;
    assert!(told.after > change);
    let done = peer.run(vec![putfh(&fh), getxattr("user.a")]).await;
    let _ = done.fails_at(OpNum::Getxattr, Status::NoXattr);
    let done = peer.run(vec![putfh(&fh), removexattr("user.a")]).await;
    let _ = done.fails_at(OpNum::Removexattr, Status::NoXattr);
}

#[tokio::test]
async fn a_listing_in_pages_has_every_name_once() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    for n in 0..30 {
        let op = setxattr(SetxattrOption::Create, &format!("key-{n:02}"), b"v");
        let _ = peer.run(vec![putfh(&fh), op]).await.ok();
    }
    for maxcount in [40, 64, 200, 4096] {
        let (mut cookie, mut names) = (0, Vec::new());
        loop {
            let page = peer.run(vec![putfh(&fh), listxattrs(cookie, maxcount)]).await.ok().listxattrs();
            assert!(page.eof || !page.names.is_empty(), "a page without progress");
            names.extend(page.names.iter().map(|name| String::from_utf8(name.to_vec()).unwrap()));
            cookie = page.cookie;
            if page.eof {
                break;
            }
        }
        names.sort();
        let expected: Vec<_> = (0..30).map(|n| format!("key-{n:02}")).collect();
        assert_eq!(names, expected, "maxcount {maxcount}");
    }
    let done = peer.run(vec![putfh(&fh), listxattrs(0, 8)]).await;
    let _ = done.fails_at(OpNum::Listxattrs, Status::TooSmall);
}

#[tokio::test]
async fn rights_of_the_file_decide_about_its_extended_attributes() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&fh), setxattr(SetxattrOption::Either, "user.a", b"v")]).await.ok();
    let stranger = nfs4_tests::wire::cred(2000, 2000, &[]);
    let op = setxattr(SetxattrOption::Either, "user.a", b"w");
    let _ = peer.run_as(&stranger, vec![putfh(&fh), op]).await.fails_at(OpNum::Setxattr, Status::Access);
    let op = removexattr("user.a");
    let _ = peer.run_as(&stranger, vec![putfh(&fh), op]).await.fails_at(OpNum::Removexattr, Status::Access);
    let _ = peer.run_as(&stranger, vec![putfh(&fh), getxattr("user.a")]).await.ok();
    let closed = setattr(nfs4_proto::StateId::ANONYMOUS, nfs4_tests::wire::ops::mode(0o600));
    let _ = peer.run(vec![putfh(&fh), closed]).await.ok();
    let done = peer.run_as(&stranger, vec![putfh(&fh), getxattr("user.a")]).await;
    let _ = done.fails_at(OpNum::Getxattr, Status::Access);
}
