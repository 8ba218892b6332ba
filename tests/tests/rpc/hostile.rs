//! Lengths and counts that lie: the answer is NFS4ERR_BADXDR, and the connection goes on. RFC 8881 §15.1.1.1.

use nfs4_proto::{Compound, OpNum, Served, Status};
use nfs4_tests::wire::ops::putfh;
use nfs4_tests::wire::{Peer, TestServer, bytes_of};

/// Sends PUTFH of the root and then the bytes of one more operation.
async fn with_bytes(peer: &mut Peer, op: &[u8]) -> nfs4_proto::CompoundRes {
    let ops = vec![peer.sequence(0, false), putfh(&peer.root)];
    let mut body = bytes_of(&Compound::new(2, ops).unwrap()).to_vec();
    body[11] += 1;
    body.extend_from_slice(op);
    let xid = peer.raw.send_body(&peer.spec.cred, &body).await;
    peer.raw.answer(xid).await.compound()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[tokio::test]
async fn s24_counts_of_two_to_the_32_behind_every_operation() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for num in OpNum::ALL {
        if *num == OpNum::Sequence || *num == OpNum::Illegal {
            continue;
        }
        for fill in [[0xff_u8; 8], [0x7f; 8], [0x00, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]] {
            let mut op = words(&[num.number()]);
            op.extend(fill);
            let xid = {
                let ops = vec![peer.sequence(0, false), putfh(&peer.root)];
                let mut body = bytes_of(&Compound::new(2, ops).unwrap()).to_vec();
                body[11] += 1;
                body.extend(op);
                peer.raw.send_body(&peer.spec.cred, &body).await
            };
            let answer = peer.raw.answer(xid).await;
            // Operations without arguments leave bytes behind the compound: the whole of it is garbage, and did not
            // run; the slot did not move.
            if answer.body == Ok(nfs4_xdr::rpc::Accepted::GarbageArgs) {
                peer.slots[0] -= 1;
                continue;
            }
            let reply = answer.compound();
            assert_eq!(reply.ops.len(), 3, "{}: {reply}", num.name());
            let status = reply.ops[2].status();
            assert!(num.may_answer(status), "{}: {status}", num.name());
            let served = matches!(num.served(), Served::Yes(_));
            assert!(status != Status::Ok, "{} (served: {served}) took {fill:02x?}: {reply}", num.name());
        }
    }
    let _ = peer.run(vec![putfh(&peer.root.clone())]).await.ok();
}

#[tokio::test]
async fn s24_an_opaque_longer_than_the_record_is_badxdr() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    for op in [
        // LOOKUP, REMOVE, PUTFH (also above 128 bytes), WRITE.
        words(&[15, 1000, 0]),
        words(&[28, u32::MAX]),
        words(&[22, 128, 0]),
        words(&[22, 129]),
        words(&[38, 0, 0, 0, 0, 0, 0, 0, 0x7fff_ffff, 0]),
    ] {
        let reply = with_bytes(&mut peer, &op).await;
        assert_eq!(reply.status, Status::BadXdr, "{op:02x?}: {reply}");
    }
}

#[tokio::test]
async fn s24_padding_and_booleans_are_read_strictly() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    // LOOKUP "a" with padding that is not zero; RECLAIM_COMPLETE with 2 for a boolean.
    for op in [words(&[15, 1, 0x6100_0001]), words(&[58, 2])] {
        let reply = with_bytes(&mut peer, &op).await;
        assert_eq!(reply.status, Status::BadXdr, "{op:02x?}: {reply}");
    }
}

#[tokio::test]
async fn s24_bitmaps_of_a_thousand_words_are_badxdr_and_of_seven_are_read() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let mut long = words(&[9, 1000]);
    long.extend(words(&[0; 1000]));
    assert_eq!(with_bytes(&mut peer, &long).await.status, Status::BadXdr);
    assert_eq!(with_bytes(&mut peer, &words(&[9, u32::MAX, 0])).await.status, Status::BadXdr);
    let reply = with_bytes(&mut peer, &words(&[9, 7, 0x10, 0, 0, 0, 0, 0, 0xff])).await;
    assert_eq!(reply.status, Status::Ok, "{reply}");
}

#[tokio::test]
async fn s24_attribute_values_that_are_longer_or_shorter_than_their_mask_are_badxdr() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let setattr = |attrs: &[u32]| {
        let mut op = words(&[34, 0, 0, 0, 0]);
        op.extend(words(attrs));
        op
    };
    for attrs in [
        // A size of 4 bytes; one of 12; none; a mask without values and values without a mask.
        &[1, 0x10, 4, 0][..],
        &[1, 0x10, 12, 0, 0, 0],
        &[1, 0x10, 0],
        &[0, 8, 0, 0],
        &[1, 0x10, u32::MAX, 0, 0],
    ] {
        let reply = with_bytes(&mut peer, &setattr(attrs)).await;
        assert_eq!(reply.status, Status::BadXdr, "{attrs:x?}: {reply}");
    }
}

#[tokio::test]
async fn s24_a_billion_nanoseconds_are_invalid() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    // time_access_set (48) and time_modify_set (54) to a client's time.
    for bit in [48_u32, 54] {
        for nanoseconds in [1_000_000_000, u32::MAX] {
            let mut op = words(&[34, 0, 0, 0, 0]);
            op.extend(words(&[2, 0, 1 << (bit - 32), 16, 1, 0, 5, nanoseconds]));
            let reply = with_bytes(&mut peer, &op).await;
            assert_eq!(reply.status, Status::Inval, "attribute {bit}: {reply}");
        }
    }
}

#[tokio::test]
async fn s24_test_stateid_of_more_than_fits_the_reply_is_refused() {
    let server = TestServer::mem().await;
    let mut spec = server.spec("a");
    spec.fore.maxresponsesize = 512;
    spec.fore.maxresponsesize_cached = 512;
    let mut peer = Peer::connect(server.address, spec).await;
    let many = vec![nfs4_proto::StateId::ANONYMOUS; 400];
    let done = peer.run(vec![nfs4_tests::wire::ops::test_stateid(many)]).await;
    let _ = done.fails_at(OpNum::TestStateid, Status::RepTooBig);
}

#[tokio::test]
async fn numbers_at_their_ends_are_refused_without_overflow() {
    use nfs4_tests::wire::ops::{allocate, commit, copy, deallocate, read, seek, write};
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, b"content").await;
    let s = file.stateid;
    for op in [
        write(s, u64::MAX, b"x"),
        write(s, u64::MAX - 1, b"xyz"),
        allocate(s, u64::MAX, 1),
        allocate(s, 1, u64::MAX),
        allocate(s, 0, 0),
        deallocate(s, u64::MAX, u64::MAX),
        seek(s, u64::MAX, nfs4_proto::DataContent::Data),
        copy(s, s, u64::MAX, 0, 1),
        copy(s, s, 0, u64::MAX, u64::MAX),
    ] {
        let done = peer.run(vec![putfh(&file.fh), nfs4_proto::ArgOp::Savefh, op]).await;
        assert_ne!(done.status(), Status::Ok, "{done}");
        assert_ne!(done.status(), Status::ServerFault, "{done}");
    }
    // COMMIT knows no INVAL: behind the end there is nothing to commit.
    let _ = peer.run(vec![putfh(&file.fh), commit(u64::MAX, 2)]).await.ok();
    let done = peer.run(vec![putfh(&file.fh), read(s, u64::MAX, u32::MAX)]).await.ok().read();
    assert!(done.eof && done.data.is_empty());
    assert_eq!(peer.read(&file, 0, 100).await, (b"content".to_vec(), true));
}
