//! Sessions and client IDs come and go. RFC 8881 §18.36, §18.37, §18.50.

use nfs4_proto::{ArgOp, ClientId, DestroyClientidArgs, DestroySessionArgs, ShareAccess, ShareDeny, Status};
use nfs4_tests::wire::{Peer, TestServer, create_session, exchange_id};

#[tokio::test]
async fn a_destroyed_session_is_badsession_and_the_client_goes_on_with_another() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let mut second = peer.another_session().await;
    let sessionid = peer.session;
    let _ = peer.compound(vec![ArgOp::DestroySession(DestroySessionArgs { sessionid })]).await.ok();
    let op = peer.sequence(0, false);
    let _ = peer.compound(vec![op]).await.fails(Status::BadSession);
    // State belongs to the client, not to the session.
    second.write(&file, 0, b"still mine").await;
    second.close(&file).await;
}

#[tokio::test]
async fn a_session_may_end_itself_in_its_last_operation_and_is_answered() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let sessionid = peer.session;
    let _ = peer.run(vec![ArgOp::DestroySession(DestroySessionArgs { sessionid })]).await.ok();
    let op = peer.sequence(0, false);
    let _ = peer.compound(vec![op]).await.fails(Status::BadSession);
}

#[tokio::test]
async fn destroy_session_comes_over_a_connection_of_that_session() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let sessionid = peer.session;
    let mut stranger = server.peer("b").await;
    let op = ArgOp::DestroySession(DestroySessionArgs { sessionid });
    let _ = stranger.compound(vec![op]).await.fails(Status::ConnNotBoundToSession);
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn destroying_what_is_not_there_says_so() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let op = ArgOp::DestroySession(DestroySessionArgs { sessionid: [9; 16] });
    let _ = peer.compound(vec![op]).await.fails(Status::BadSession);
    let op = ArgOp::DestroyClientid(DestroyClientidArgs { clientid: ClientId(12345) });
    let _ = peer.compound(vec![op]).await.fails(Status::StaleClientId);
}

#[tokio::test]
async fn a_client_with_sessions_or_opens_is_busy_and_without_them_forgotten() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let (clientid, sessionid) = (peer.client, peer.session);
    let destroy = ArgOp::DestroyClientid(DestroyClientidArgs { clientid });
    let _ = peer.compound(vec![destroy.clone()]).await.fails(Status::ClientIdBusy);
    let _ = peer.compound(vec![ArgOp::DestroySession(DestroySessionArgs { sessionid })]).await.ok();
    let _ = peer.compound(vec![destroy.clone()]).await.ok();
    let _ = peer.compound(vec![destroy]).await.fails(Status::StaleClientId);
}

#[tokio::test]
async fn create_session_answers_a_retry_as_before_and_refuses_a_gap() {
    let server = TestServer::mem().await;
    let spec = server.spec("a");
    let mut raw = server.raw().await;
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    let gap = create_session(&mut raw, &spec, id.clientid, id.sequenceid + 1).await;
    assert_eq!(gap.unwrap_err(), Status::SeqMisordered);
    let first = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
    let again = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
    assert_eq!(first, again);
    let next = create_session(&mut raw, &spec, id.clientid, id.sequenceid + 1).await.unwrap();
    assert_ne!(first.sessionid, next.sessionid);
    let old = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await;
    assert_eq!(old.unwrap_err(), Status::SeqMisordered);
}

#[tokio::test]
async fn create_session_of_an_unknown_client_is_stale() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let made = create_session(&mut raw, &server.spec("a"), ClientId(77), 1).await;
    assert_eq!(made.unwrap_err(), Status::StaleClientId);
}

#[tokio::test]
async fn create_session_by_another_principal_does_not_confirm() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let spec = server.spec("a");
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    let other = spec.clone().user(4321, 4321, &[]);
    let made = create_session(&mut raw, &other, id.clientid, id.sequenceid).await;
    assert_eq!(made.unwrap_err(), Status::ClidInUse);
    create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
}

#[tokio::test]
async fn results_of_the_second_incarnation_never_come_from_the_first() {
    let server = TestServer::mem().await;
    let mut first = server.peer("a").await;
    let root = first.root.clone();
    first.create(&root, "f").await;
    let mut second = Peer::connect(server.address, server.spec("a").incarnation(2)).await;
    assert_ne!(first.client, second.client);
    let op = first.sequence(0, false);
    let _ = first.compound(vec![op]).await.fails(Status::BadSession);
    // Nothing of the first is in the way.
    second.open(&root, "f", "o", ShareAccess::BOTH, ShareDeny::BOTH).await.unwrap();
}
