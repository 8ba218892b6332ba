//! What an administrator sees and does over the socket (docs/operations.md).

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nfs4_proto::{LockType, OpNum, SeqStatusFlags, ShareAccess, ShareDeny, Status};
use nfs4_server::admin::{AskError, ClientRow, LockRow, OpenRow, Page, Request, SessionRow, ask, show};
use nfs4_tests::wire::ops::{close, free_stateid, getattr, lock, putfh, test_stateid, write};
use nfs4_tests::wire::{Peer, TestServer};
use serde::de::DeserializeOwned;

/// A question from another thread, as the socket's client may wait.
async fn asked<T: DeserializeOwned + Send + 'static>(socket: &Path, request: Request) -> Result<T, AskError> {
    let socket = socket.to_owned();
    tokio::task::spawn_blocking(move || ask(&socket, &request)).await.unwrap()
}

async fn done(socket: &Path, request: Request) -> Result<(), AskError> {
    let socket = socket.to_owned();
    tokio::task::spawn_blocking(move || show(&socket, &request, true, &mut Vec::new())).await.unwrap()
}

async fn opens(socket: &Path) -> Vec<OpenRow> {
    asked::<Page<OpenRow>>(socket, Request::Opens { after: None }).await.unwrap().rows
}

async fn flags(peer: &mut Peer) -> SeqStatusFlags {
    peer.run(vec![]).await.ok().sequence().status_flags
}

#[tokio::test]
async fn what_clients_hold_is_listed() {
    let server = TestServer::local().await;
    let socket = server.admin_socket();
    assert_eq!(std::fs::metadata(socket).unwrap().permissions().mode() & 0o777, 0o600);
    let mut peer = server.peer("owner \u{1b}[31m").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let _ = peer.run(vec![putfh(&file.fh), lock(file.stateid, "locker", LockType::Write, 5, 10)]).await.ok();
    let clients: Page<ClientRow> = asked(socket, Request::Clients { after: None }).await.unwrap();
    assert_eq!(clients.next, None);
    let row = &clients.rows[0];
    assert_eq!(row.client, format!("{:#018x}", peer.client.0));
    assert_eq!((row.sessions, row.opens, row.ranges, row.confirmed), (1, 1, 1, true));
    assert!(row.owner.contains("\\x1b") && !row.owner.contains('\u{1b}'), "no control codes for a terminal");
    let sessions: Page<SessionRow> = asked(socket, Request::Sessions { after: None }).await.unwrap();
    assert_eq!((sessions.rows.len(), sessions.rows[0].connections), (1, 1));
    let open = &opens(socket).await[0];
    assert_eq!((open.access.as_str(), open.deny.as_str(), &open.client), ("rw", "-", &row.client));
    let locks: Page<LockRow> = asked(socket, Request::Locks { after: None }).await.unwrap();
    assert_eq!((locks.rows[0].ranges, &locks.rows[0].first[0][..]), (1, "w 5+10"));
    assert_eq!(locks.rows[0].owner, "locker");
    peer.close(&file).await;
    assert_eq!(opens(socket).await, []);
}

#[tokio::test]
async fn long_lists_come_in_pages_and_each_row_once() {
    let server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.file(&root, "f", b"").await;
    for n in 0..600 {
        peer.open(&root, "f", &format!("owner {n}"), ShareAccess::READ, ShareDeny::NONE).await.unwrap();
    }
    let (mut seen, mut after, mut pages) = (std::collections::HashSet::new(), None, 0);
    loop {
        let page: Page<OpenRow> = asked(server.admin_socket(), Request::Opens { after }).await.unwrap();
        assert!(page.rows.len() <= nfs4_server::admin::PAGE);
        for row in page.rows {
            assert!(seen.insert(row.owner), "twice");
        }
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((seen.len(), pages), (600, 3));
}

#[tokio::test]
async fn an_evicted_client_has_lost_all_and_comes_back() {
    let server = TestServer::local().await;
    let (mut peer, mut other) = (server.peer("a").await, server.peer("b").await);
    let root = peer.root.clone();
    let _ = other.file(&root, "f", b"").await;
    let held = peer.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::WRITE).await.unwrap();
    let refused = other.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await;
    assert_eq!(refused.err(), Some(Status::ShareDenied));
    let client = format!("{:#x}", peer.client.0);
    done(server.admin_socket(), Request::Evict { client: client.clone() }).await.unwrap();
    assert!(other.open(&root, "f", "o", ShareAccess::WRITE, ShareDeny::NONE).await.is_ok());
    let _ = peer.run(vec![putfh(&held.fh)]).await.fails_at(OpNum::Sequence, Status::BadSession);
    let again = done(server.admin_socket(), Request::Evict { client }).await;
    assert!(matches!(again, Err(AskError::Refused(_))), "{again:?}");
    let mut back = server.peer("a").await;
    assert!(back.open(&root, "f", "o", ShareAccess::READ, ShareDeny::NONE).await.is_ok());
}

#[tokio::test]
async fn a_revoked_open_is_told_until_it_is_freed() {
    let server = TestServer::local().await;
    let socket = server.admin_socket();
    let (mut peer, mut other) = (server.peer("a").await, server.peer("b").await);
    let root = peer.root.clone();
    let _ = other.file(&root, "f", b"").await;
    let kept = peer.create(&root, "kept").await;
    let held = peer.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::WRITE).await.unwrap();
    let locked = peer.run(vec![putfh(&held.fh), lock(held.stateid, "l", LockType::Write, 0, 9)]).await.ok();
    let locks = locked.stateid();
    let stateid = opens(socket).await.into_iter().find(|row| row.deny == "w").unwrap().stateid;
    done(socket, Request::Revoke { stateid: stateid.clone() }).await.unwrap();
    // Others have it free, and the client is told, of the open and of the locks that came by it.
    assert!(other.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::NONE).await.is_ok());
    assert!(flags(&mut peer).await.contains(SeqStatusFlags::ADMIN_STATE_REVOKED));
    for stateid in [held.stateid, locks] {
        let _ = peer.run(vec![putfh(&held.fh), write(stateid, 0, b"x")]).await.fails(Status::AdminRevoked);
    }
    let _ = peer.run(vec![putfh(&held.fh), close(held.stateid)]).await.fails(Status::AdminRevoked);
    let codes = peer.run(vec![test_stateid(vec![held.stateid, locks, kept.stateid])]).await.ok();
    assert_eq!(
        codes.test_stateid().status_codes.to_vec(),
        [Status::AdminRevoked, Status::AdminRevoked, Status::Ok]
    );
    let _ = other.run(vec![putfh(&held.fh), write(held.stateid, 0, b"x")]).await.fails(Status::BadStateId);
    let _ = peer.run(vec![free_stateid(locks)]).await.ok();
    assert!(flags(&mut peer).await.contains(SeqStatusFlags::ADMIN_STATE_REVOKED), "one is left");
    let _ = peer.run(vec![free_stateid(held.stateid)]).await.ok();
    assert!(!flags(&mut peer).await.contains(SeqStatusFlags::ADMIN_STATE_REVOKED));
    let _ = peer.run(vec![free_stateid(held.stateid)]).await.fails(Status::BadStateId);
    peer.write(&kept, 0, b"untouched").await;
    let again = done(socket, Request::Revoke { stateid }).await;
    assert!(matches!(again, Err(AskError::Refused(_))), "{again:?}");
}

fn line(stream: &mut UnixStream, bytes: &[u8]) -> String {
    // The server may have closed it already, which the answer tells.
    let _ = stream.write_all(bytes);
    let mut text = String::new();
    let _ = BufReader::new(stream).read_line(&mut text);
    text
}

#[tokio::test]
async fn nonsense_on_the_socket_is_refused_and_harms_nobody() {
    let server = TestServer::local().await;
    let mut peer = server.peer("a").await;
    let socket: PathBuf = server.admin_socket().to_owned();
    tokio::task::spawn_blocking(move || {
        let mut stream = UnixStream::connect(&socket).unwrap();
        for bad in [
            &b"\n"[..],
            b"{}\n",
            b"null\n",
            b"{\"ask\":\"everything\"}\n",
            b"{\"ask\":\"opens\",\"after\":\"zz\"}\n",
            b"{\"ask\":\"clients\",\"after\":7}\n",
            b"{\"ask\":\"evict\",\"client\":\"-1\"}\n",
            b"{\"ask\":\"evict\"}\n",
            b"{\"ask\":\"revoke\",\"stateid\":\"00\"}\n",
            b"{\"ask\":\"revoke\",\"stateid\":\"ffffffffffffffffffffffff\"}\n",
            b"\xff\xfe\n",
        ] {
            let answer = line(&mut stream, bad);
            assert!(answer.starts_with("{\"error\":"), "{}: {answer:?}", bad.escape_ascii());
        }
        assert!(line(&mut stream, b"{\"ask\":\"opens\"}\n").contains("\"rows\":[]"), "it goes on");
        let long = line(&mut stream, &vec![b'['; 1 << 16]);
        assert!(long.is_empty() || long.contains("4096"), "{long}");
        // Eight are served, and one more when one has gone.
        let mut eight: Vec<UnixStream> = (0..8).map(|_| UnixStream::connect(&socket).unwrap()).collect();
        drop(stream);
        let until = std::time::Instant::now() + nfs4_tests::wire::PATIENCE;
        for one in &mut eight {
            while line(one, b"{\"ask\":\"clients\"}\n").is_empty() {
                assert!(std::time::Instant::now() < until);
                *one = UnixStream::connect(&socket).unwrap();
            }
        }
        let mut ninth = UnixStream::connect(&socket).unwrap();
        assert_eq!(line(&mut ninth, b"{\"ask\":\"clients\"}\n"), "");
    })
    .await
    .unwrap();
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), getattr(&[nfs4_proto::Attr::Type])]).await.ok();
}
