//! S-14, S-17, S-26: what is large.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nfs4_client::{Options, Session};
use nfs4_proto::Attr;
use nfs4_tests::scale::{Churn, Opens, churn, directory, fill, idle, list, nobody};
use nfs4_tests::wire::ops::{getattr, putfh, readdir, write};
use nfs4_tests::wire::{Peer, TestServer, cred};

#[tokio::test]
async fn s17_what_maxwrite_says_can_be_sent_and_what_maxread_says_be_answered() {
    let server = TestServer::mem().await;
    for (n, request) in [(1 << 20) + 4096, 1 << 20, 64 << 10].into_iter().enumerate() {
        let mut spec = server.spec(&format!("client-{n}"));
        spec.fore.maxrequestsize = request;
        spec.fore.maxresponsesize = request;
        // As long as credentials can be.
        spec.cred = cred(1000, 1000, &(0..16).collect::<Vec<_>>());
        let mut peer = Peer::connect(server.address, spec).await;
        let root = peer.root.clone();
        let told = peer.attrs(&root, &[Attr::MaxRead, Attr::MaxWrite]).await;
        let (most_read, most_write) = (told.maxread().unwrap(), told.maxwrite().unwrap());
        assert!(most_write > u64::from(request) / 2, "{most_write} of {request}");
        assert!(most_read > u64::from(request) / 2, "{most_read} of {request}");
        let file = peer.create(&root, format!("f{n}")).await;
        let data = vec![n.to_be_bytes()[7]; usize::try_from(most_write).unwrap()];
        let ops = vec![
            putfh(&file.fh),
            write(file.stateid, 0, &data),
            getattr(&[Attr::Change, Attr::Size, Attr::TimeModify]),
        ];
        let done = peer.run(ops).await.ok();
        assert_eq!(u64::from(done.write().count), most_write);
        let most = u32::try_from(most_read.min(most_write)).unwrap();
        let (got, _) = peer.read(&file, 0, most).await;
        assert_eq!(got.len(), usize::try_from(most).unwrap());
    }
}

#[tokio::test]
async fn s26_a_listing_of_a_large_directory_lets_others_in_between() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    for n in 0..5000 {
        a.mkdir(&root, format!("d{n}")).await;
    }
    let all = [Attr::Type, Attr::Change, Attr::Size, Attr::Fileid, Attr::Owner, Attr::TimeModify];
    let mut posted = Vec::new();
    for slot in 0..8 {
        let ops = vec![a.sequence(slot, false), putfh(&root), readdir(0, [0; 8], 1 << 20, &all)];
        posted.push(a.post(ops).await);
    }
    // The whole directory is one page here; changes go on beside it, and each listing is whole.
    for n in 0..20 {
        b.mkdir(&root, format!("beside-{n}")).await;
        assert!(b.lookup(&root, format!("beside-{n}")).await.is_ok());
        b.remove(&root, format!("beside-{n}")).await;
    }
    for xid in posted {
        let reply = a.raw.answer(xid).await.compound();
        let nfs4_proto::ResOp::Readdir(Ok(page)) = &reply.ops[2] else { panic!("{reply}") };
        let names: BTreeSet<_> = page.reply.entries.0.iter().map(|entry| entry.name.to_vec()).collect();
        let there = names.iter().filter(|name| name.starts_with(b"d")).count();
        assert!(there == 5000 || !page.reply.eof, "{there}");
    }
}

#[tokio::test]
async fn s14_a_large_directory_is_listed_once_while_another_client_makes_and_removes_files_in_it() {
    // `scale directory` does the same with a million.
    const FILES: u64 = 50_000;
    let server = TestServer::mem().await;
    let connect = async || Session::connect(&server.address.to_string(), &Options::default()).await.unwrap();
    let session = connect().await;
    let dir = directory(&session, "large").await.unwrap();
    fill(&session, &dir, FILES, &nobody).await.unwrap();
    let state = Arc::new(Churn::default());
    let busy = tokio::spawn(churn(connect().await, dir.clone(), FILES / 2, FILES, Arc::clone(&state)));
    while state.made.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    let listing = list(&session, &dir, FILES / 2, FILES, &nobody).await.unwrap();
    state.stop.store(true, Ordering::Relaxed);
    busy.await.unwrap().unwrap();
    assert!(listing.stayed > FILES / 2 && listing.pages > 20, "{listing:?}");
    assert!(state.removed.load(Ordering::Relaxed) > 0, "{state:?}");
}

#[tokio::test]
async fn a_thousand_idle_connections_and_clients_with_opens_leave_the_others_served() {
    // `scale idle` and `scale opens` do the same with ten thousand, and with a thousand clients of a thousand opens.
    let server = TestServer::with(|file| {
        file.limits.connections = 2000;
        file.limits.connections_per_address = 2000;
    })
    .await;
    let idle = idle(server.address, 1000, &nobody).await.unwrap();
    let mut clients = Opens::files(server.address, 50, &nobody).await.unwrap();
    clients.clients(server.address, 50, &nobody).await.unwrap();
    assert_eq!(clients.open(&nobody).await.unwrap(), 2500);
    let mut peer = server.peer("another").await;
    let root = peer.root.clone();
    assert!(peer.lookup(&root, "opens").await.is_ok());
    drop(idle);
}
