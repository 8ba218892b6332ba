//! Callbacks that get no answer. RFC 8881 §2.10.6.2, §18.46.3.

use std::time::Duration;

use nfs4_proto::{
    ArgOp, BindConnToSessionArgs, CbArgOp, ChannelDirFromClient, Compound, CreateSessionFlags,
    SeqStatusFlags, Status,
};
use nfs4_tests::wire::{PATIENCE, Peer, Raw, TestServer};

async fn with_back_channel(server: &TestServer) -> Peer {
    let mut spec = server.spec("a");
    spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
    Peer::connect(server.address, spec).await
}

async fn server() -> TestServer {
    TestServer::with(|file| file.limits.callback_timeout = 1).await
}

/// Slot and sequence ID of the callbacks that came.
fn turns(raw: &Raw) -> Vec<(u32, u32)> {
    let sequence = |ops: &[CbArgOp]| match &ops[0] {
        CbArgOp::Sequence(args) => (args.slotid, args.sequenceid),
        other => panic!("{other:?}"),
    };
    raw.callbacks.iter().map(|callback| sequence(&callback.args.ops)).collect()
}

/// A further connection that carries the session's back channel.
async fn another(server: &TestServer, peer: &Peer, refuses: Option<Status>) -> Raw {
    let mut other = server.raw().await;
    other.refuses = refuses;
    let bind = ArgOp::BindConnToSession(BindConnToSessionArgs {
        sessid: peer.session,
        dir: ChannelDirFromClient::Back,
        use_conn_in_rdma_mode: false,
    });
    let compound = Compound::new(2, vec![bind]).unwrap();
    let _ = other.call(&peer.spec.cred, &compound).await;
    other
}

/// Lets the callback in slot 0 get no answer, and the same one over another connection that status.
async fn resent_and_refused(server: &TestServer, status: Status) -> Peer {
    let mut peer = with_back_channel(server).await;
    peer.raw.answers = false;
    assert!(peer.raw.wait_for_callback(PATIENCE).await);
    let mut other = another(server, &peer, Some(status)).await;
    while !turns(&other).contains(&(0, 1)) {
        assert!(other.wait_for_callback(PATIENCE).await, "{:?}", turns(&other));
    }
    // The server has read the refusal before anything that comes later on this connection.
    let bare = Compound::new(2, vec![ArgOp::Putrootfh]).unwrap();
    let _ = other.call(&peer.spec.cred, &bare).await;
    peer
}

#[tokio::test]
async fn a_callback_that_the_client_has_done_but_keeps_no_answer_of_moves_its_slot() {
    let server = server().await;
    let peer = resent_and_refused(&server, Status::RetryUncachedRep).await;
    let mut third = another(&server, &peer, None).await;
    assert!(third.wait_for_callback(PATIENCE).await);
    assert_eq!(turns(&third), [(0, 2)]);
}

#[tokio::test]
async fn a_callback_that_the_client_still_carries_out_keeps_its_slot() {
    let server = server().await;
    let peer = resent_and_refused(&server, Status::Delay).await;
    let mut third = another(&server, &peer, None).await;
    assert!(third.wait_for_callback(PATIENCE).await);
    assert_eq!(turns(&third), [(1, 1)], "another one in slot 0 could be taken for a retry");
}

/// D-6, as far as SEQUENCE tells it.
#[tokio::test]
async fn the_path_is_up_as_long_as_one_connection_of_several_carries_it() {
    let server = server().await;
    let mut peer = server.peer("a").await;
    assert!(!flags(&mut peer).await.intersects(down()), "no back channel was wanted");
    let mut three = Vec::new();
    for _ in 0..3 {
        three.push(another(&server, &peer, None).await);
    }
    for mut raw in [three.pop().unwrap(), three.pop().unwrap()] {
        raw.shut_down().await;
        assert!(raw.is_closed_by_server().await);
        assert!(!flags(&mut peer).await.intersects(down()));
    }
    let mut last = three.pop().unwrap();
    last.shut_down().await;
    assert!(last.is_closed_by_server().await);
    until_down(&mut peer).await;
    let _new = another(&server, &peer, None).await;
    assert!(!flags(&mut peer).await.intersects(down()));
}

fn down() -> SeqStatusFlags {
    SeqStatusFlags::CB_PATH_DOWN | SeqStatusFlags::CB_PATH_DOWN_SESSION
}

async fn until_down(peer: &mut Peer) {
    for _ in 0..200 {
        if flags(peer).await.contains(down()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the path is not told to be down");
}

#[tokio::test]
async fn the_only_slot_of_a_lost_callback_is_asked_after_before_it_carries_another() {
    let server = server().await;
    let mut spec = server.spec("a");
    spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
    spec.back.maxrequests = 1;
    let mut peer = Peer::connect(server.address, spec).await;
    peer.raw.answers = false;
    until_down(&mut peer).await;
    assert_eq!(turns(&peer.raw), [(0, 1)]);
    let mut other = another(&server, &peer, None).await;
    while turns(&other).len() < 2 {
        assert!(other.wait_for_callback(PATIENCE).await, "{:?}", turns(&other));
    }
    // The client answers the one behind the lost one: so it had taken that.
    assert_eq!(turns(&other), [(0, 2), (0, 3)]);
    assert!(!flags(&mut peer).await.intersects(down()));
}

async fn flags(peer: &mut Peer) -> SeqStatusFlags {
    peer.run(vec![ArgOp::Putrootfh]).await.ok().sequence().status_flags
}

#[tokio::test]
async fn a_callback_without_an_answer_goes_over_another_connection_with_the_same_slot_and_seqid() {
    let server = server().await;
    let mut peer = with_back_channel(&server).await;
    peer.raw.answers = false;
    assert!(peer.raw.wait_for_callback(PATIENCE).await);
    assert_eq!(turns(&peer.raw), [(0, 1)]);
    let mut other = another(&server, &peer, None).await;
    // The new connection is probed by itself, in another slot.
    while !turns(&other).contains(&(0, 1)) {
        assert!(other.wait_for_callback(PATIENCE).await, "{:?}", turns(&other));
    }
    assert!(!flags(&mut peer).await.intersects(down()));
}

#[tokio::test]
async fn a_client_that_answers_no_callback_is_told_that_its_path_is_down_until_it_gives_another_one() {
    let server = server().await;
    let mut peer = with_back_channel(&server).await;
    peer.raw.answers = false;
    until_down(&mut peer).await;
    peer.reconnect().await;
    let bind = ArgOp::BindConnToSession(BindConnToSessionArgs {
        sessid: peer.session,
        dir: ChannelDirFromClient::ForeOrBoth,
        use_conn_in_rdma_mode: false,
    });
    let compound = Compound::new(2, vec![bind]).unwrap();
    let cred = peer.spec.cred.clone();
    let _ = peer.raw.call(&cred, &compound).await;
    peer.raw.answers = true;
    assert!(peer.raw.wait_for_callback(PATIENCE).await);
    assert!(turns(&peer.raw).iter().all(|turn| *turn != (0, 1)), "what was lost is not taken for new");
    assert!(!flags(&mut peer).await.intersects(down()));
}
