//! S-18: copies that go on after their answer. RFC 7862 §4.8, §15.2, §15.8, §15.9, §16.1.

use std::time::Duration;

use nfs4_proto::{
    ArgOp, Attr, CbArgOp, CopyArgs, CopyOk, CreateSessionFlags, Fh, OffloadArgs, OffloadInfo,
    OffloadStatusOk, OpNum, ResOp, StateId, Status,
};
use nfs4_tests::wire::ops::{putfh, setattr, size};
use nfs4_tests::wire::{Opened, PATIENCE, Peer, TestServer};
use nfs4_xdr::List;

const LONG: u64 = 96 << 20;

async fn client(server: &TestServer, owner: &str) -> Peer {
    let mut spec = server.spec(owner);
    spec.session_flags = CreateSessionFlags::CONN_BACK_CHAN;
    let mut peer = Peer::connect(server.address, spec).await;
    // The back channel is known to work once its probe was answered.
    if peer.raw.callbacks.is_empty() {
        assert!(peer.raw.wait_for_callback(PATIENCE).await);
    }
    tokio::time::sleep(Duration::from_millis(20)).await;
    peer
}

async fn files(peer: &mut Peer) -> (Opened, Opened) {
    let root = peer.root.clone();
    let (from, to) = (peer.create(&root, "from").await, peer.create(&root, "to").await);
    let _ = peer.run(vec![putfh(&from.fh), setattr(from.stateid, size(LONG))]).await.ok();
    peer.write(&from, LONG - 5, b"12345").await;
    (from, to)
}

async fn copy(peer: &mut Peer, from: &Opened, to: &Opened) -> CopyOk {
    let op = ArgOp::Copy(CopyArgs {
        src_stateid: from.stateid,
        dst_stateid: to.stateid,
        src_offset: 0,
        dst_offset: 0,
        count: LONG,
        consecutive: true,
        synchronous: false,
        source_server: List::default(),
    });
    peer.run(vec![putfh(&from.fh), ArgOp::Savefh, putfh(&to.fh), op]).await.ok().copy()
}

async fn status(peer: &mut Peer, fh: &Fh, stateid: StateId) -> Result<OffloadStatusOk, Status> {
    let op = ArgOp::OffloadStatus(OffloadArgs { stateid });
    let done = peer.run(vec![putfh(fh), op]).await;
    let status = done.status();
    match done.results().all().last() {
        Some(ResOp::OffloadStatus(Ok(ok))) => Ok(*ok),
        _ => Err(status),
    }
}

async fn until_complete(peer: &mut Peer, fh: &Fh, stateid: StateId) -> OffloadStatusOk {
    loop {
        let told = status(peer, fh, stateid).await.unwrap();
        if told.complete.is_some() {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn s18_a_long_copy_goes_on_and_its_end_is_told_by_cb_offload() {
    let server = TestServer::mem().await;
    let mut peer = client(&server, "a").await;
    let (from, to) = files(&mut peer).await;
    let told = copy(&mut peer, &from, &to).await;
    assert!(!told.requirements.synchronous && told.requirements.consecutive);
    let stateid = told.response.callback_id.expect("it goes on");
    assert_eq!(stateid.seqid, 1);
    let offload = loop {
        let found = peer.raw.callbacks.iter().find_map(|callback| match callback.args.ops.last() {
            Some(CbArgOp::Offload(args)) => Some((callback.args.ops[0].clone(), args.clone())),
            _ => None,
        });
        if let Some(found) = found {
            break found;
        }
        assert!(peer.raw.wait_for_callback(PATIENCE).await);
    };
    let (CbArgOp::Sequence(sequence), args) = offload else { panic!("{offload:?}") };
    // The reply to COPY may come later: the callback names the request.
    let request = sequence.referring_call_lists[0].clone();
    assert_eq!((request.sessionid, request.referring_calls.len()), (peer.session, 1));
    assert_eq!((args.fh.clone(), args.stateid), (to.fh.clone(), stateid));
    let OffloadInfo::Ok(done) = args.info else { panic!("{args:?}") };
    assert_eq!((done.callback_id, done.count), (None, LONG));
    assert_eq!(peer.attrs(&to.fh, &[Attr::Size]).await.size(), Some(LONG));
    assert_eq!(peer.read(&to, LONG - 5, 9).await.0, b"12345");
    // An answered CB_OFFLOAD gives the stateid back.
    for _ in 0..200 {
        if status(&mut peer, &to.fh, stateid).await == Err(Status::BadStateId) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the copy's stateid is still known");
}

#[tokio::test]
async fn s18_where_the_callback_is_lost_offload_status_tells_the_end_until_the_client_lets_go() {
    let server = TestServer::with(|file| file.limits.callback_timeout = 1).await;
    let mut peer = client(&server, "a").await;
    let (from, to) = files(&mut peer).await;
    // From here on no callback is answered.
    peer.raw.answers = false;
    let stateid = copy(&mut peer, &from, &to).await.response.callback_id.unwrap();
    peer.reconnect().await;
    let told = until_complete(&mut peer, &to.fh, stateid).await;
    assert_eq!((told.count, told.complete), (LONG, Some(Status::Ok)));
    assert_eq!(status(&mut peer, &to.fh, stateid).await, Ok(told), "as often as it is asked");
    // Only this client, only on this file.
    let mut other = server.peer("b").await;
    assert_eq!(status(&mut other, &to.fh, stateid).await, Err(Status::BadStateId));
    assert_eq!(status(&mut peer, &from.fh, stateid).await, Err(Status::BadStateId));
    let zero = StateId { seqid: 0, ..stateid };
    assert_eq!(status(&mut peer, &to.fh, zero).await, Err(Status::BadStateId));
    let cancel = ArgOp::OffloadCancel(OffloadArgs { stateid });
    let _ = peer.run(vec![putfh(&to.fh), cancel.clone()]).await.ok();
    assert_eq!(status(&mut peer, &to.fh, stateid).await, Err(Status::BadStateId));
    let _ = peer.run(vec![putfh(&to.fh), cancel]).await.fails_at(OpNum::OffloadCancel, Status::BadStateId);
}

#[tokio::test]
async fn s18_after_a_restart_a_copys_stateid_is_bad() {
    let mut server = TestServer::local_with(|file| file.limits.callback_timeout = 1).await;
    let mut peer = client(&server, "a").await;
    let (from, to) = files(&mut peer).await;
    let stateid = copy(&mut peer, &from, &to).await.response.callback_id.unwrap();
    server.restart().await;
    let mut again = server.peer("a").await;
    assert_eq!(status(&mut again, &to.fh, stateid).await, Err(Status::BadStateId));
}

#[tokio::test]
async fn a_copy_is_done_before_its_answer_where_too_many_go_on_or_nobody_could_be_told() {
    let server = TestServer::with(|file| {
        file.limits.copies = 1;
        file.limits.callback_timeout = 1;
    })
    .await;
    let mut silent = server.peer("silent").await;
    let (from, to) = files(&mut silent).await;
    let told = copy(&mut silent, &from, &to).await;
    assert!(told.requirements.synchronous && told.response.count > 0, "{told:?}");
    let mut peer = client(&server, "a").await;
    let (from, to) = files(&mut peer).await;
    peer.raw.answers = false;
    let first = copy(&mut peer, &from, &to).await.response.callback_id.unwrap();
    let _ = until_complete(&mut peer, &to.fh, first).await;
    // It has ended, and its client was not told: it counts.
    let second = copy(&mut peer, &from, &to).await;
    assert_eq!((second.response.callback_id, second.requirements.synchronous), (None, true));
    let _ = peer.run(vec![putfh(&to.fh), ArgOp::OffloadCancel(OffloadArgs { stateid: first })]).await.ok();
    assert!(copy(&mut peer, &from, &to).await.response.callback_id.is_some());
}
