//! Client IDs, sessions, slots, and the reply cache. RFC 8881 §2.4, §2.10, §18.33–§18.37, §18.46, §18.50, §18.51.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use nfs4_proto::{
    ArgOp, Attr, BindConnToSessionArgs, CbArgOp, ChannelDirFromClient, ChannelDirFromServer, ClientId,
    CreateSessionFlags, DestroyClientidArgs, DestroySessionArgs, ExchangeIdFlags, OpNum, ReclaimCompleteArgs,
    ResOp, SeqStatusFlags, ShareAccess, ShareDeny, StateProtectArgs, StateProtectOps, Status,
};
use nfs4_tests::wire::ops::{
    getattr, lookup, mkdir, mode, open_create, open_name, putfh, read, readdir, remove, symlink, unchecked,
    write,
};
use nfs4_tests::wire::{Peer, Raw, Spec, TestServer, create_session, cred, exchange_id};
use nfs4_xdr::{Bitmap, List};

fn reclaim_complete() -> ArgOp {
    ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: false })
}

#[tokio::test]
async fn a_slot_begins_at_one() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for wrong in [0, 2, u32::MAX] {
        let op = peer.sequence_of(5, wrong, false);
        let _ = peer.compound(vec![op]).await.fails_at(OpNum::Sequence, Status::SeqMisordered);
    }
    let op = peer.sequence_of(5, 1, false);
    let ok = peer.compound(vec![op]).await.ok().sequence();
    assert_eq!((ok.slotid, ok.sequenceid, ok.sessionid), (5, 1, peer.session));
}

#[tokio::test]
async fn a_kept_reply_comes_again_byte_for_byte_and_the_work_is_not_done_twice() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(3, true), putfh(&peer.root), mkdir("once"), getattr(&[Attr::Fileid])];
    let first = peer.post(ops.clone()).await;
    let first = peer.raw.answer(first).await;
    let again = peer.post(ops.clone()).await;
    let again = peer.raw.answer(again).await;
    assert_eq!(first.rest, again.rest);
    assert_eq!(first.compound().status, Status::Ok);
    // And over another connection.
    peer.reconnect().await;
    let third = peer.post(ops).await;
    assert_eq!(peer.raw.answer(third).await.rest, first.rest);
}

#[tokio::test]
async fn a_kept_failure_comes_again_too() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(3, true), putfh(&peer.root), remove("nothing")];
    let first = peer.post(ops.clone()).await;
    let first = peer.raw.answer(first).await;
    assert_eq!(first.compound().status, Status::NoEnt);
    let root = peer.root.clone();
    peer.mkdir(&root, "nothing").await;
    let again = peer.post(ops).await;
    assert_eq!(peer.raw.answer(again).await.rest, first.rest);
    assert_eq!(peer.names(&root).await, ["nothing"]);
}

#[tokio::test]
async fn a_retry_of_a_reply_that_was_not_kept_is_told_so_behind_its_sequence() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(1, false), putfh(&peer.root), mkdir("d")];
    let _ = peer.compound(ops.clone()).await.ok();
    let again = peer.compound(ops).await.fails(Status::RetryUncachedRep);
    assert_eq!(again.all().len(), 2);
    assert_eq!(again.all()[0].status(), Status::Ok);
    assert_eq!(again.all()[1].num(), OpNum::Putfh);
    let _ = peer.run_on(1, false, vec![putfh(&peer.root.clone()), lookup("d")]).await.ok();
}

#[tokio::test]
async fn a_lone_sequence_is_answered_again() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let op = peer.sequence(2, false);
    let first = peer.compound(vec![op.clone()]).await.ok().sequence();
    let again = peer.compound(vec![op]).await.ok().sequence();
    assert_eq!((first.sequenceid, first.slotid), (again.sequenceid, again.slotid));
}

#[tokio::test]
async fn a_slot_that_is_not_there_is_badslot() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for slot in [10_000, u32::MAX] {
        let op = peer.sequence_of(slot, 1, false);
        let _ = peer.compound(vec![op]).await.fails_at(OpNum::Sequence, Status::BadSlot);
    }
}

#[tokio::test]
async fn an_unknown_session_is_badsession() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let known = peer.session;
    for session in [[0; 16], [0xff; 16]] {
        peer.session = session;
        let op = peer.sequence_of(0, 1, false);
        let _ = peer.compound(vec![op, ArgOp::Putrootfh]).await.fails_at(OpNum::Sequence, Status::BadSession);
    }
    peer.session = known;
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn more_operations_than_agreed_are_too_many_and_none_runs() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxoperations = 4;
    let mut peer = Peer::connect(server.address, spec).await;
    assert_eq!(peer.fore.maxoperations, 4);
    let root = peer.root.clone();
    let ops = vec![putfh(&root), mkdir("d"), ArgOp::Getfh, ArgOp::Getfh];
    let results = peer.run(ops).await.fails_at(OpNum::Sequence, Status::TooManyOps);
    assert_eq!(results.all().len(), 1);
    assert_eq!(peer.lookup(&root, "d").await.unwrap_err(), Status::NoEnt);
    let _ = peer.run(vec![putfh(&root), mkdir("d"), ArgOp::Getfh]).await.ok();
}

#[tokio::test]
async fn a_request_above_the_agreed_size_is_too_big_and_does_not_run() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxrequestsize = 1024;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let op = write(file.stateid, 0, &[7; 1024]);
    let _ = peer.run(vec![putfh(&file.fh), op]).await.fails_at(OpNum::Sequence, Status::ReqTooBig);
    assert_eq!(peer.attrs(&file.fh, &[Attr::Size]).await.size(), Some(0));
    peer.write(&file, 0, &[7; 512]).await;
}

#[tokio::test]
async fn a_reply_above_the_agreed_size_is_too_big_at_its_operation() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 600;
    spec.fore.maxresponsesize_cached = 600;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), symlink("l", &"x".repeat(900))]).await.ok();
    let ops = vec![putfh(&root), lookup("l"), ArgOp::Readlink];
    let _ = peer.run(ops).await.fails_at(OpNum::Readlink, Status::RepTooBig);
}

#[tokio::test]
async fn a_remove_whose_reply_might_not_fit_is_refused_before_it_removes() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 400;
    spec.fore.maxresponsesize_cached = 400;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    peer.mkdir(&root, "d").await;
    // Fill the reply until REMOVE's own result does not fit; whatever is answered, the name tells whether it ran.
    let mut refused = 0;
    for n in 0..40 {
        let mut ops = vec![putfh(&root)];
        ops.extend((0..n).map(|_| getattr(&[Attr::Type])));
        ops.push(remove("d"));
        let done = peer.run(ops).await;
        let there = peer.lookup(&root, "d").await.is_ok();
        match done.status() {
            Status::Ok => {
                assert!(!there, "removed and still there: {done}");
                peer.mkdir(&root, "d").await;
            }
            Status::RepTooBig => {
                assert!(there, "it was removed, and told as not done: {done}");
                refused += 1;
            }
            _ => panic!("{done}"),
        }
    }
    assert!(refused > 5, "{refused}");
}

#[tokio::test]
async fn a_reply_that_cannot_be_kept_is_refused_where_keeping_is_asked_for() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize_cached = 512;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), symlink("l", &"x".repeat(900))]).await.ok();
    let ops = vec![putfh(&root), lookup("l"), ArgOp::Readlink];
    let _ = peer.run_on(1, true, ops.clone()).await.fails_at(OpNum::Readlink, Status::RepTooBigToCache);
    let link = peer.run_on(1, false, ops).await.ok().readlink();
    assert_eq!(link.link.len(), 900);
}

#[tokio::test]
async fn no_reply_is_larger_than_agreed() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 2048;
    let mut peer = Peer::connect(server.address, spec).await;
    let root = peer.root.clone();
    for n in 0..40 {
        peer.mkdir(&root, format!("directory-{n:03}")).await;
    }
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, &[1; 8192]).await;
    for op in [
        readdir(0, [0; 8], 1 << 20, &[Attr::Type, Attr::Filehandle, Attr::Change]),
        read(file.stateid, 0, 8192),
    ] {
        let at = if matches!(op, ArgOp::Read(_)) { &file.fh } else { &root };
        let ops = vec![peer.sequence(0, false), putfh(at), op];
        let xid = peer.post(ops).await;
        let answer = peer.raw.answer(xid).await;
        assert!(answer.len <= 2048, "{} bytes: {}", answer.len, answer.compound());
        assert_eq!(answer.compound().status, Status::Ok, "a shorter answer is possible");
    }
}

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
async fn create_session_grants_no_more_than_is_asked_for() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    let mut raw = server.raw().await;
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    spec.fore.maxrequestsize = 70_000;
    spec.fore.maxresponsesize = 80_000;
    spec.fore.maxresponsesize_cached = 1000;
    spec.fore.maxoperations = 9;
    spec.fore.maxrequests = 3;
    spec.fore.headerpadsize = 512;
    let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid).await.unwrap();
    let fore = made.fore_chan_attrs;
    assert_eq!(
        (fore.maxrequestsize, fore.maxresponsesize, fore.maxresponsesize_cached),
        (70_000, 80_000, 1000)
    );
    assert_eq!((fore.maxoperations, fore.maxrequests, fore.headerpadsize), (9, 3, 0));
    spec.fore.maxrequestsize = u32::MAX;
    spec.fore.maxresponsesize = u32::MAX;
    spec.fore.maxoperations = u32::MAX;
    spec.fore.maxrequests = u32::MAX;
    let made = create_session(&mut raw, &spec, id.clientid, id.sequenceid + 1).await.unwrap();
    assert!(made.fore_chan_attrs.maxrequests <= 512);
    assert!(made.fore_chan_attrs.maxoperations <= 64);
    assert!(made.fore_chan_attrs.maxrequestsize >= 1 << 20);
    // What the client says of its own back channel stands (RFC 8881 §18.36.3).
    assert_eq!(made.back_chan_attrs.maxoperations, spec.back.maxoperations);
    assert_eq!(made.back_chan_attrs.maxrequests, spec.back.maxrequests);
}

#[tokio::test]
async fn a_channel_in_which_nothing_fits_is_too_small() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let spec = server.spec("a");
    let id = exchange_id(&mut raw, &spec).await.unwrap();
    let mut small = spec.clone();
    small.fore.maxrequestsize = 20;
    let made = create_session(&mut raw, &small, id.clientid, id.sequenceid).await;
    assert_eq!(made.unwrap_err(), Status::TooSmall);
    let mut small = spec.clone();
    small.fore.maxresponsesize = 20;
    // The answer that was kept is that of this sequence ID.
    let made = create_session(&mut raw, &small, id.clientid, id.sequenceid + 1).await;
    assert!(matches!(made, Err(Status::TooSmall | Status::SeqMisordered)), "{made:?}");
}

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
async fn a_sequence_binds_its_connection_to_the_fore_channel() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.reconnect().await;
    peer.write(&file, 0, b"over another connection").await;
}

#[tokio::test]
async fn bind_conn_to_session_tells_the_direction_and_stands_alone() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let sessid = peer.session;
    let bind =
        |dir| ArgOp::BindConnToSession(BindConnToSessionArgs { sessid, dir, use_conn_in_rdma_mode: false });
    for (asked, told) in [
        (ChannelDirFromClient::Fore, ChannelDirFromServer::Fore),
        (ChannelDirFromClient::Back, ChannelDirFromServer::Back),
        (ChannelDirFromClient::ForeOrBoth, ChannelDirFromServer::Both),
        (ChannelDirFromClient::BackOrBoth, ChannelDirFromServer::Both),
    ] {
        peer.reconnect().await;
        let bound = peer.compound(vec![bind(asked)]).await.ok().bind();
        assert_eq!(bound.sessid, sessid);
        assert_eq!(bound.dir, told, "asked for {asked:?}");
    }
    peer.reconnect().await;
    let _ = peer
        .compound(vec![bind(ChannelDirFromClient::Fore), ArgOp::Putrootfh])
        .await
        .fails(Status::NotOnlyOp);
    let op = bind(ChannelDirFromClient::Fore);
    let _ = peer.run(vec![op]).await.fails_at(OpNum::BindConnToSession, Status::NotOnlyOp);
    let args = BindConnToSessionArgs {
        sessid: [7; 16],
        dir: ChannelDirFromClient::Fore,
        use_conn_in_rdma_mode: false,
    };
    let _ = peer.compound(vec![ArgOp::BindConnToSession(args)]).await.fails(Status::BadSession);
}

#[tokio::test]
async fn reclaim_complete_comes_once_and_opens_wait_for_it() {
    let server = TestServer::mem().await;
    let mut peer = Peer::connect(server.address, server.spec("a").reclaiming()).await;
    let root = peer.root.clone();
    let open = || open_create("o", "f", unchecked(mode(0o644)));
    let _ = peer.run(vec![putfh(&root), open()]).await.fails_at(OpNum::Open, Status::Grace);
    let _ = peer.run(vec![reclaim_complete()]).await.ok();
    let _ = peer.run(vec![reclaim_complete()]).await.fails(Status::CompleteAlready);
    let _ = peer.run(vec![putfh(&root), open()]).await.ok();
}

#[tokio::test]
async fn reclaim_complete_of_one_file_system_changes_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let op = || ArgOp::ReclaimComplete(ReclaimCompleteArgs { one_fs: true });
    let _ = peer.run(vec![op()]).await.fails(Status::NoFileHandle);
    let root = peer.root.clone();
    let _ = peer.run(vec![putfh(&root), op()]).await.ok();
}

#[tokio::test]
async fn all_slots_may_be_in_use_at_once() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let slots = u32::try_from(peer.slots.len()).unwrap();
    assert_eq!(slots, 16);
    let mut posted = Vec::new();
    for round in 0..8 {
        for slot in 0..slots {
            let ops = vec![
                peer.sequence(slot, round % 2 == 0),
                putfh(&peer.root),
                mkdir(format!("{round}-{slot}")),
            ];
            posted.push(peer.post(ops).await);
        }
    }
    for xid in posted {
        assert_eq!(peer.raw.answer(xid).await.compound().status, Status::Ok);
    }
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await.len(), 128);
}

fn with_back_channel(mut spec: Spec) -> Spec {
    spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
    spec
}

#[tokio::test]
async fn the_back_channel_is_tried_at_once_with_the_program_and_version_of_the_client() {
    let server = TestServer::mem().await;
    let mut peer = Peer::connect(server.address, with_back_channel(server.spec("a"))).await;
    if peer.raw.callbacks.is_empty() {
        assert!(peer.raw.wait_for_callback(Duration::from_secs(5)).await, "no probe came");
    }
    let probe = &peer.raw.callbacks[0];
    assert_eq!((probe.call.prog, probe.call.vers, probe.call.proc), (0x4000_0000, 1, 1));
    assert_eq!((probe.args.minorversion, probe.args.callback_ident), (2, 0));
    let CbArgOp::Sequence(sequence) = &probe.args.ops[0] else { panic!("{}", probe.args) };
    assert_eq!((sequence.sessionid, sequence.sequenceid), (peer.session, 1));
    let flags = peer.run(vec![]).await.ok().sequence().status_flags;
    assert!(!flags.intersects(SeqStatusFlags::CB_PATH_DOWN | SeqStatusFlags::CB_PATH_DOWN_SESSION));
}

#[tokio::test]
async fn a_client_whose_back_channel_went_is_told_by_level_until_it_has_one_again() {
    let server = TestServer::mem().await;
    let mut peer = Peer::connect(server.address, with_back_channel(server.spec("a"))).await;
    if peer.raw.callbacks.is_empty() {
        peer.raw.wait_for_callback(Duration::from_secs(5)).await;
    }
    peer.reconnect().await;
    let down = SeqStatusFlags::CB_PATH_DOWN | SeqStatusFlags::CB_PATH_DOWN_SESSION;
    let mut told = false;
    for _ in 0..200 {
        told = peer.run(vec![]).await.ok().sequence().status_flags.intersects(down);
        if told {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(told, "the lost back channel was not told");
    assert!(peer.run(vec![]).await.ok().sequence().status_flags.intersects(down), "it is a level");
    let bind = ArgOp::BindConnToSession(BindConnToSessionArgs {
        sessid: peer.session,
        dir: ChannelDirFromClient::BackOrBoth,
        use_conn_in_rdma_mode: false,
    });
    peer.reconnect().await;
    let _ = peer.compound(vec![bind]).await.ok();
    assert!(peer.raw.wait_for_callback(Duration::from_secs(5)).await, "no probe of the new connection");
    let mut up = false;
    for _ in 0..200 {
        up = !peer.run(vec![]).await.ok().sequence().status_flags.intersects(down);
        if up {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(up, "the new back channel was not noticed");
}

#[tokio::test]
async fn callback_credentials_are_those_of_the_session() {
    let server = TestServer::mem().await;
    let mut spec = with_back_channel(server.spec("a"));
    spec.callbacks = vec![nfs4_proto::CallbackSecParms::Sys(nfs4_xdr::rpc::AuthSys {
        stamp: 99,
        machinename: nfs4_xdr::Text::new(&b"me"[..]).unwrap(),
        uid: 31,
        gid: 32,
        gids: List::new(vec![33]).unwrap(),
    })];
    let mut peer = Peer::connect(server.address, spec).await;
    if peer.raw.callbacks.is_empty() {
        assert!(peer.raw.wait_for_callback(Duration::from_secs(5)).await);
    }
    let who = nfs4_xdr::rpc::authenticate(&peer.raw.callbacks[0].call).unwrap();
    let nfs4_xdr::rpc::Credentials::Sys(who) = who else { panic!("{who:?}") };
    assert_eq!((who.stamp, who.uid, who.gid, &who.gids[..]), (99, 31, 32, &[33][..]));
}

#[tokio::test]
async fn a_session_without_a_back_channel_is_not_called_back() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    assert!(!peer.raw.wait_for_callback(Duration::from_millis(200)).await);
}

#[tokio::test]
async fn sessions_of_one_client_have_a_limit_and_the_protocols_own_error() {
    let server = TestServer::with(|file| file.limits.sessions_per_client = 2).await;
    let mut peer = server.peer("a").await;
    let spec = peer.spec.clone();
    create_session(&mut peer.raw, &spec, peer.client, peer.create_sequence).await.unwrap();
    let third = create_session(&mut peer.raw, &spec, peer.client, peer.create_sequence + 1).await;
    assert_eq!(third.unwrap_err(), Status::NoSpc);
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn opens_of_one_client_have_a_limit_and_the_others_go_on() {
    let server = TestServer::with(|file| file.limits.opens_per_client = 3).await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    for n in 0..3 {
        a.create(&root, format!("f{n}")).await;
    }
    let how = unchecked(mode(0o644));
    let done = a.run(vec![putfh(&root), open_create("o", "f3", how)]).await;
    let _ = done.fails_at(OpNum::Open, Status::ServerFault);
    b.create(&root, "g").await;
    // Another open of the same file by the same owner is an upgrade and takes no place.
    let again = open_name("o", "f0", ShareAccess::READ, ShareDeny::NONE);
    let _ = a.run(vec![putfh(&root), again]).await.ok();
}

#[tokio::test]
async fn a_session_belongs_to_whoever_has_it_but_a_retry_to_the_same_user() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let ops = vec![peer.sequence(0, true), putfh(&peer.root), mkdir("d")];
    let _ = peer.compound(ops.clone()).await.ok();
    peer.spec.cred = cred(2000, 2000, &[]);
    let _ = peer.compound(ops).await.fails_at(OpNum::Sequence, Status::SeqFalseRetry);
    let _ = peer.run(vec![ArgOp::Putrootfh]).await.ok();
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

#[tokio::test]
async fn the_answer_to_many_connections_is_the_same_as_to_one() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let mut others = Vec::new();
    for slot in 1..8 {
        let mut raw = Raw::connect(server.address).await;
        let ops = vec![peer.sequence(slot, false), putfh(&peer.root), getattr(&[Attr::Fileid, Attr::Fsid])];
        let compound = nfs4_proto::Compound::new(2, ops).unwrap();
        let reply = raw.call(&peer.spec.cred, &compound).await;
        let ResOp::Getattr(Ok(ok)) = reply.ops[2].clone() else { panic!("{reply}") };
        others.push(ok.obj_attributes);
    }
    assert!(others.windows(2).all(|pair| pair[0] == pair[1]));
}
