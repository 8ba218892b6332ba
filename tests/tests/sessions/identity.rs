//! Who is who: EXCHANGE_ID. RFC 8881 §2.4, §18.35.

use nfs4_proto::{ArgOp, CreateSessionFlags, ExchangeIdFlags, StateProtectArgs, StateProtectOps, Status};
use nfs4_tests::wire::{TestServer, create_session, exchange_id};
use nfs4_xdr::{Bitmap, List};

#[tokio::test]
async fn undefined_flags_are_invalid() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let mut spec = server.spec("a");
    spec.id_flags = ExchangeIdFlags::from_bits_retain(0x8);
    assert_eq!(exchange_id(&mut raw, &spec).await.unwrap_err(), Status::Inval);
    // CONFIRMED_R is the server's.
    spec.id_flags = ExchangeIdFlags::CONFIRMED_R;
    assert_eq!(exchange_id(&mut raw, &spec).await.unwrap_err(), Status::Inval);
    spec.id_flags = ExchangeIdFlags::empty();
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    spec.session_flags = CreateSessionFlags::from_bits_retain(0x80);
    let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await;
    assert_eq!(made.unwrap_err(), Status::Inval);
}

#[tokio::test]
async fn state_protection_that_is_not_served_is_refused_by_name() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = || StateProtectOps { must_enforce: Bitmap::new(), must_allow: Bitmap::new() };
    let args = |state_protect| {
        ArgOp::ExchangeId(nfs4_proto::ExchangeIdArgs {
            clientowner: nfs4_proto::ClientOwner {
                verifier: [1; 8],
                ownerid: nfs4_xdr::Opaque::new(&b"x"[..]).unwrap(),
            },
            flags: ExchangeIdFlags::empty(),
            state_protect,
            client_impl_id: None,
        })
    };
    let _ = peer.compound(vec![args(StateProtectArgs::MachCred(ops()))]).await.fails(Status::Inval);
    let ssv = StateProtectArgs::Ssv(nfs4_proto::SsvSpParms {
        ops: ops(),
        hash_algs: List::default(),
        encr_algs: List::default(),
        window: 1,
        num_gss_handles: 1,
    });
    let _ = peer.compound(vec![args(ssv)]).await.fails(Status::EncrAlgUnsupp);
}

#[tokio::test]
async fn exchange_id_tells_the_same_server_to_everybody_and_no_pnfs() {
    let server = TestServer::mem().await;
    let (mut one, mut two) = (server.raw().await, server.raw().await);
    let a = exchange_id(&mut one, &server.spec("a")).await.unwrap();
    let b = exchange_id(&mut two, &server.spec("b")).await.unwrap();
    assert_ne!(a.clientid, b.clientid);
    assert_eq!((&a.server_owner, &a.server_scope), (&b.server_owner, &b.server_scope));
    assert!(!a.server_scope.is_empty());
    assert_eq!(a.flags, ExchangeIdFlags::USE_NON_PNFS);
}

#[tokio::test]
async fn two_servers_are_never_taken_for_one() {
    let (one, two) = (TestServer::mem().await, TestServer::mem().await);
    let a = exchange_id(&mut one.raw().await, &one.spec("a")).await.unwrap();
    let b = exchange_id(&mut two.raw().await, &two.spec("a")).await.unwrap();
    assert_ne!(a.server_owner.major_id, b.server_owner.major_id);
    assert_ne!(a.server_scope, b.server_scope);
}

#[tokio::test]
async fn exchange_id_again_by_the_same_client_finds_its_record_confirmed() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let spec = peer.spec.clone();
    let id = exchange_id(&mut peer.raw, &spec).await.unwrap();
    assert_eq!(id.clientid, peer.client);
    assert!(id.flags.contains(ExchangeIdFlags::CONFIRMED_R));
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn an_update_needs_a_confirmed_record_the_verifier_and_the_principal() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let mut update = server.spec("a");
    update.id_flags = ExchangeIdFlags::UPD_CONFIRMED_REC_A;
    assert_eq!(exchange_id(&mut raw, &update).await.unwrap_err(), Status::NoEnt);
    let peer = server.peer("a").await;
    let id = exchange_id(&mut raw, &update).await.unwrap();
    assert_eq!(id.clientid, peer.client);
    assert!(id.flags.contains(ExchangeIdFlags::CONFIRMED_R));
    let other_verifier = update.clone().incarnation(9);
    assert_eq!(exchange_id(&mut raw, &other_verifier).await.unwrap_err(), Status::NotSame);
    let other_user = update.clone().user(4321, 4321, &[]);
    assert_eq!(exchange_id(&mut raw, &other_user).await.unwrap_err(), Status::Perm);
}

#[tokio::test]
async fn an_unconfirmed_record_gives_way_to_a_newer_one() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let spec = server.spec("a");
    let first = exchange_id(&mut raw, &spec).await.unwrap();
    let second = exchange_id(&mut raw, &spec.clone().incarnation(2)).await.unwrap();
    assert_ne!(first.clientid, second.clientid);
    let made = create_session(&mut raw, &spec, first.clientid, first.sequenceid).await;
    assert_eq!(made.unwrap_err(), Status::StaleClientId);
    create_session(&mut raw, &spec, second.clientid, second.sequenceid).await.unwrap();
}
