//! The rules of a COMPOUND. RFC 8881 §2.10.6.4, §15.1, §16.2.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use nfs4_proto::{ArgOp, Attr, Compound, CompoundRes, OpFlags, OpNum, Served, Status, Utf8Str};
use nfs4_tests::wire::ops::{getattr, lookup, mkdir, putfh};
use nfs4_tests::wire::{Done, TestServer, bytes_of, cred};

/// One of each operation, with whatever arguments.
fn one_of_each() -> BTreeMap<u32, Vec<ArgOp>> {
    let mut all: BTreeMap<u32, Vec<ArgOp>> = BTreeMap::new();
    let mut state = 0x1234_5678_9abc_def0_u64;
    for _ in 0..60_000 {
        let seed: Vec<u8> = (0..160)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_be_bytes()[3]
            })
            .collect();
        if let Ok(op) = ArgOp::arbitrary(&mut Unstructured::new(&seed)) {
            let kept = all.entry(op.num().number()).or_default();
            if kept.len() < 12 {
                kept.push(op);
            }
        }
        if all.len() == OpNum::ALL.len() && all.values().all(|kept| kept.len() == 12) {
            break;
        }
    }
    assert_eq!(all.len(), OpNum::ALL.len(), "an operation that was never made");
    all
}

#[tokio::test]
async fn a_minor_version_that_is_not_served_is_a_mismatch_without_results() {
    let server = TestServer::mem().await;
    let mut raw = server.raw().await;
    for minor in [0, 3, 99, u32::MAX] {
        let mut compound = Compound::new(minor, vec![ArgOp::Putrootfh]).unwrap();
        compound.tag = Utf8Str::new(&b"a tag"[..]).unwrap();
        let reply = raw.call(&cred(0, 0, &[]), &compound).await;
        assert_eq!((reply.status, reply.ops.len()), (Status::MinorVersMismatch, 0), "minor version {minor}");
        assert_eq!(reply.tag, compound.tag);
    }
}

#[tokio::test]
async fn the_tag_comes_back_on_success_and_on_failure() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for op in [ArgOp::Putrootfh, ArgOp::Getfh] {
        let ops = vec![peer.sequence(0, false), op];
        let mut compound = Compound::new(2, ops).unwrap();
        compound.tag = Utf8Str::new("täg".as_bytes()).unwrap();
        let reply = peer.raw.call(&peer.spec.cred, &compound).await;
        assert_eq!(reply.tag, compound.tag, "{reply}");
    }
}

#[tokio::test]
async fn what_needs_a_session_is_refused_without_a_sequence_in_front() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for ops in one_of_each().values() {
        let op = ops[0].clone();
        let num = op.num();
        if num.flags().intersects(OpFlags::SESSIONLESS | OpFlags::FIRST) || num == OpNum::Illegal {
            continue;
        }
        if num.flags().contains(OpFlags::REMOVED) {
            // Whatever is around them, NOTSUPP is all that they may answer (§15.2).
            let _ = peer.compound(vec![op]).await.fails_at(num, Status::NotSupp);
            continue;
        }
        let _ = peer.compound(vec![op]).await.fails_at(num, Status::OpNotInSession);
    }
}

#[tokio::test]
async fn what_may_come_without_a_session_must_then_be_alone() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for ops in one_of_each().values() {
        let op = ops[0].clone();
        if op.num().flags().contains(OpFlags::SESSIONLESS) {
            let done = peer.compound(vec![op.clone(), ArgOp::Putrootfh]).await;
            let results = done.fails_at(op.num(), Status::NotOnlyOp);
            assert_eq!(results.all().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_second_sequence_is_out_of_place() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let second = peer.sequence_of(1, 1, false);
    let done = peer.run(vec![ArgOp::Putrootfh, second]).await;
    let _ = done.fails_at(OpNum::Sequence, Status::SequencePos);
    // Its slot was not touched.
    let _ = peer.run_on(1, false, vec![ArgOp::Putrootfh]).await.ok();
}

#[tokio::test]
async fn every_operation_that_is_not_served_says_notsupp() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let mut seen = 0;
    for ops in one_of_each().values() {
        let num = ops[0].num();
        if !matches!(num.served(), Served::No(_)) {
            continue;
        }
        for op in ops {
            let done = peer.run(vec![putfh(&root), ArgOp::Savefh, op.clone()]).await;
            let _ = done.fails_at(num, Status::NotSupp);
        }
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
}

#[tokio::test]
async fn every_operation_on_a_filehandle_misses_it() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for ops in one_of_each().values() {
        let num = ops[0].num();
        if !num.flags().intersects(OpFlags::CFH | OpFlags::SFH) || !matches!(num.served(), Served::Yes(_)) {
            continue;
        }
        let statuses: Vec<Status> = {
            let mut all = Vec::new();
            for op in ops {
                all.push(peer.run(vec![op.clone()]).await.status());
            }
            all
        };
        // Arguments that are wrong by themselves may be told first.
        let fine = |status: &Status| {
            matches!(
                status,
                Status::NoFileHandle
                    | Status::Inval
                    | Status::BadXdr
                    | Status::AttrNotSupp
                    | Status::Perm
                    | Status::BadStateId
                    | Status::NotSupp
                    | Status::UnionNotSupp
            )
        };
        assert!(statuses.iter().all(fine), "{}: {statuses:?}", num.name());
        // Share access and deny have few values that are right.
        let hard = num == OpNum::Open;
        assert!(hard || statuses.contains(&Status::NoFileHandle), "{}: {statuses:?}", num.name());
    }
}

#[tokio::test]
async fn whatever_the_arguments_are_the_answer_is_one_that_the_rfcs_list() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    for ops in one_of_each().values() {
        for (i, op) in ops.iter().enumerate() {
            if matches!(op.num(), OpNum::DestroySession | OpNum::DestroyClientid) {
                continue;
            }
            let at = if i % 2 == 0 { &root } else { &file.fh };
            // `Done::new` checks the status.
            let _ = peer.run(vec![putfh(at), ArgOp::Savefh, op.clone()]).await;
        }
    }
    let _ = peer.run(vec![putfh(&root)]).await.ok();
}

#[tokio::test]
async fn an_unknown_operation_is_illegal_and_what_was_before_it_has_run() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for (n, number) in [0_u32, 1, 2, 76, 1000, 10044, u32::MAX].into_iter().enumerate() {
        let name = format!("d{n}");
        let ops = vec![peer.sequence(0, false), putfh(&root), mkdir(&name)];
        let mut body = bytes_of(&Compound::new(2, ops.clone()).unwrap()).to_vec();
        body[11] += 2;
        body.extend(number.to_be_bytes());
        body.extend(24_u32.to_be_bytes());
        let xid = peer.raw.send_body(&peer.spec.cred, &body).await;
        let reply: CompoundRes = peer.raw.answer(xid).await.compound();
        assert_eq!((reply.status, reply.ops.len()), (Status::OpIllegal, 4), "{number}: {reply}");
        assert_eq!(reply.ops[3].num(), OpNum::Illegal, "answered as 10044");
        assert!(peer.lookup(&root, &name).await.is_ok(), "what was in front of it ran");
    }
}

#[tokio::test]
async fn an_operation_of_4_2_is_illegal_in_4_1() {
    let server = TestServer::mem().await;
    let mut peer = nfs4_tests::wire::Peer::connect(server.address, server.spec("a").minor(1)).await;
    let root = peer.root.clone();
    let ops = vec![peer.sequence(0, false), putfh(&root), nfs4_tests::wire::ops::getxattr("a")];
    let compound = Compound::new(1, ops.clone()).unwrap();
    let reply = peer.raw.call(&peer.spec.cred, &compound).await;
    let _ = Done::new(compound.to_string(), &ops, reply).fails_at(OpNum::Illegal, Status::OpIllegal);
}

#[tokio::test]
async fn attributes_of_4_2_are_not_there_in_4_1() {
    let server = TestServer::mem().await;
    let mut peer = nfs4_tests::wire::Peer::connect(server.address, server.spec("a").minor(1)).await;
    let root = peer.root.clone();
    let got = peer.attrs(&root, &[Attr::XattrSupport, Attr::ChangeAttrType, Attr::SupportedAttrs]).await;
    assert_eq!((got.xattr_support(), got.change_attr_type()), (None, None));
    let supported = got.supported_attrs().unwrap();
    assert!(!supported.contains(Attr::XattrSupport) && !supported.contains(Attr::ModeUmask), "{supported}");
}

#[tokio::test]
async fn malformed_arguments_are_badxdr_at_their_place_and_what_was_before_has_run() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![peer.sequence(0, true), putfh(&root), mkdir("d")];
    let mut body = bytes_of(&Compound::new(2, ops).unwrap()).to_vec();
    body[11] += 2;
    // LOOKUP of a name that is longer than the record.
    body.extend([0, 0, 0, 15, 0, 0, 1, 0, b'x', 0, 0, 0]);
    let xid = peer.raw.send_body(&peer.spec.cred, &body).await;
    let reply = peer.raw.answer(xid).await.compound();
    assert_eq!((reply.status, reply.ops.len()), (Status::BadXdr, 4), "{reply}");
    assert_eq!(reply.ops[3].num(), OpNum::Lookup);
    assert!(peer.lookup(&root, "d").await.is_ok());
}

#[tokio::test]
async fn nothing_runs_behind_a_failure() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![putfh(&root), lookup("nothing"), putfh(&root), mkdir("d")];
    let results = peer.run(ops).await.fails_at(OpNum::Lookup, Status::NoEnt);
    assert_eq!(results.all().len(), 3);
    assert_eq!(peer.lookup(&root, "d").await.unwrap_err(), Status::NoEnt);
}

#[tokio::test]
async fn filehandles_of_others_are_refused() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for at in 0..root.len() {
        let mut bytes = root.to_vec();
        bytes[at] ^= 0x41;
        let forged = nfs4_proto::Fh::new(bytes).unwrap();
        let status = peer.status(vec![putfh(&forged), getattr(&[Attr::Type])]).await;
        assert!(matches!(status, Status::BadHandle | Status::Stale), "byte {at}: {status}");
    }
    for bytes in [vec![], vec![0; 1], vec![0xff; 128], root[..root.len() - 1].to_vec()] {
        let status = peer.status(vec![putfh(&nfs4_proto::Fh::new(bytes.clone()).unwrap())]).await;
        assert!(matches!(status, Status::BadHandle | Status::Stale), "{bytes:02x?}: {status}");
    }
}

#[tokio::test]
async fn restorefh_without_a_saved_handle_and_what_it_brings_back() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let _ = peer.run(vec![ArgOp::Restorefh]).await.fails_at(OpNum::Restorefh, Status::NoFileHandle);
    let _ = peer.run(vec![ArgOp::Savefh]).await.fails_at(OpNum::Savefh, Status::NoFileHandle);
    let dir = peer.mkdir(&root, "d").await;
    let ops = vec![putfh(&dir), ArgOp::Savefh, ArgOp::Putrootfh, ArgOp::Restorefh, ArgOp::Getfh];
    assert_eq!(peer.run(ops).await.ok().fh(), dir);
}
