//! Connections and the back channel. RFC 8881 §2.10.3, §18.34.

use std::time::Duration;

use nfs4_proto::{
    ArgOp, BindConnToSessionArgs, CbArgOp, ChannelDirFromClient, ChannelDirFromServer, CreateSessionFlags,
    OpNum, SeqStatusFlags, Status,
};
use nfs4_tests::wire::{Peer, Spec, TestServer};
use nfs4_xdr::List;

fn with_back_channel(mut spec: Spec) -> Spec {
    spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
    spec
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
