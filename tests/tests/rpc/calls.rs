//! RPC's own errors. RFC 5531 §9.

use bytes::Bytes;
use nfs4_proto::Status;
use nfs4_tests::wire::{Answer, Raw, TestServer, bytes_of, cred};
use nfs4_xdr::Opaque;
use nfs4_xdr::rpc::{Accepted, AuthStat, Call, Flavor, NFS_PROGRAM, NFS_V4, OpaqueAuth, Rejected};

/// An empty COMPOUND of 4.2.
const EMPTY: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0];

async fn call(raw: &mut Raw, change: impl FnOnce(&mut Call)) -> Answer {
    let xid = raw.xid();
    let mut call = Call::new(xid, NFS_PROGRAM, NFS_V4, 1, cred(1000, 1000, &[]));
    change(&mut call);
    raw.send_call(&call, &EMPTY).await;
    raw.answer(xid).await
}

#[tokio::test]
async fn an_empty_compound_is_answered_with_success() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let reply = call(&mut raw, |_| {}).await.compound();
    assert_eq!((reply.status, reply.ops.len()), (Status::Ok, 0));
}

#[tokio::test]
async fn the_null_procedure_is_answered_with_nothing() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let xid = raw.xid();
    raw.send_call(&Call::new(xid, NFS_PROGRAM, NFS_V4, 0, OpaqueAuth::none()), &[]).await;
    let answer = raw.answer(xid).await;
    assert_eq!((answer.body, answer.rest), (Ok(Accepted::Success), Bytes::new()));
}

#[tokio::test]
async fn another_version_of_rpc_is_a_mismatch_2_to_2() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    for version in [0, 1, 3, u32::MAX] {
        let answer = call(&mut raw, |call| call.rpcvers = version).await;
        assert_eq!(answer.body, Err(Rejected::RpcMismatch(2, 2)), "version {version}");
    }
}

#[tokio::test]
async fn other_programs_are_unavailable() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    // Portmapper, MOUNT, NLM, NFS_ACL.
    for program in [100_000, 100_005, 100_021, 100_227, 0, u32::MAX] {
        let answer = call(&mut raw, |call| call.prog = program).await;
        assert_eq!(answer.body, Ok(Accepted::ProgUnavail), "program {program}");
    }
}

#[tokio::test]
async fn nfsv2_and_v3_are_a_mismatch_4_to_4() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    for version in [2, 3, 5] {
        let answer = call(&mut raw, |call| call.vers = version).await;
        assert_eq!(answer.body, Ok(Accepted::ProgMismatch(4, 4)), "version {version}");
    }
}

#[tokio::test]
async fn a_procedure_that_is_not_there_is_unavailable() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    for procedure in [2, 22, u32::MAX] {
        let answer = call(&mut raw, |call| call.proc = procedure).await;
        assert_eq!(answer.body, Ok(Accepted::ProcUnavail), "procedure {procedure}");
    }
}

#[tokio::test]
async fn flavors_that_are_not_served_are_refused_so_that_a_client_tries_another() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    for (flavor, why) in [
        (Flavor::Short, AuthStat::RejectedCred),
        (Flavor::Gss, AuthStat::BadCred),
        (Flavor::Tls, AuthStat::BadCred),
        (Flavor::Other(390_003), AuthStat::BadCred),
    ] {
        let body = Opaque::new(vec![0; 20]).unwrap();
        let answer = call(&mut raw, |call| call.cred = OpaqueAuth { flavor, body }).await;
        assert_eq!(answer.body, Err(Rejected::Auth(why)), "{flavor:?}");
    }
    assert_eq!(call(&mut raw, |_| {}).await.body, Ok(Accepted::Success));
}

/// AUTH_SYS's body by hand: the count of groups may lie.
fn sys(claimed: u32, groups: usize) -> OpaqueAuth {
    let mut body = Vec::new();
    for word in [1_u32, 0, 1000, 1000, claimed] {
        body.extend(word.to_be_bytes());
    }
    body.extend(std::iter::repeat_n([0, 0, 0, 5], groups).flatten());
    OpaqueAuth { flavor: Flavor::Sys, body: Opaque::new(body).unwrap() }
}

#[tokio::test]
async fn s25_sixteen_groups_pass_and_more_are_bad_credentials() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    assert_eq!(call(&mut raw, |call| call.cred = sys(16, 16)).await.body, Ok(Accepted::Success));
    for (claimed, groups) in [(17, 17), (65_535, 4), (u32::MAX, 0), (3, 2), (1, 2)] {
        let answer = call(&mut raw, |call| call.cred = sys(claimed, groups)).await;
        assert_eq!(answer.body, Err(Rejected::Auth(AuthStat::BadCred)), "{claimed} claimed, {groups} there");
    }
    assert_eq!(call(&mut raw, |_| {}).await.body, Ok(Accepted::Success));
}

#[tokio::test]
async fn a_credential_of_more_than_400_bytes_is_bad() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let xid = raw.xid();
    let head = bytes_of(&Call::new(xid, NFS_PROGRAM, NFS_V4, 1, OpaqueAuth::none()));
    let mut record = head[..24].to_vec();
    record.extend([0, 0, 0, 1, 0, 0, 1, 148]);
    record.extend([0; 404]);
    record.extend([0; 8]);
    record.extend(EMPTY);
    raw.send_record(&record).await;
    assert_eq!(raw.answer(xid).await.body, Err(Rejected::Auth(AuthStat::BadCred)));
}

#[tokio::test]
async fn arguments_that_cannot_be_read_are_garbage() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    let sys = cred(1000, 1000, &[]);
    let mut trailing = EMPTY.to_vec();
    trailing.extend([0, 0, 0, 0]);
    let bodies: [&[u8]; 5] = [
        &[],
        &EMPTY[..8],
        // A tag longer than the record, and one with padding that is not zero.
        &[0xff; 12],
        &[0, 0, 0, 1, b'x', 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
        &trailing,
    ];
    for body in bodies {
        let xid = raw.send_body(&sys, body).await;
        assert_eq!(raw.answer(xid).await.body, Ok(Accepted::GarbageArgs), "{body:02x?}");
    }
    assert_eq!(call(&mut raw, |_| {}).await.body, Ok(Accepted::Success));
}

#[tokio::test]
async fn a_record_that_is_no_message_and_a_reply_to_nothing_are_passed_over() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    raw.send_record(&[]).await;
    raw.send_record(&[1, 2, 3]).await;
    // A reply that nobody waits for, and a message of a kind that does not exist.
    raw.send_record(&[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]).await;
    raw.send_record(&[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2]).await;
    assert_eq!(call(&mut raw, |_| {}).await.body, Ok(Accepted::Success));
}
