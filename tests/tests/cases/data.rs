//! S-15, S-18, S-19, S-20, S-27.

use nfs4_proto::{
    AccessFlags, ArgOp, Attr, AttrSet, Attrs, Compound, CompoundRes, CopyArgs, NfsTime, OpNum, Owner,
    SetxattrOption, StateId, Status,
};
use nfs4_tests::wire::ops::{
    access, attrs, clone, copy, getattr_set, getxattr, listxattrs, putfh, removexattr, setattr, setxattr,
};
use nfs4_tests::wire::{Opened, Peer, TestServer, bytes_of};
use nfs4_xdr::{Bitmap, List};

const ANON: StateId = StateId::ANONYMOUS;

#[tokio::test]
async fn s15_attrsset_tells_what_was_done_and_a_refused_request_does_nothing() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"0123456789").await;
    // The first is allowed, the second is not.
    let set = attrs(|a| {
        a.set_size(5).set_owner(Owner::number(77));
    });
    let done = peer.run(vec![putfh(&fh), setattr(ANON, set)]).await.fails_at(OpNum::Setattr, Status::Perm);
    let told = done.attrsset();
    let got = peer.attrs(&fh, &[Attr::Size, Attr::Owner]).await;
    assert_eq!(got.owner().unwrap().as_number(), Some(1000));
    assert_eq!(told.contains(Attr::Size), got.size() == Some(5), "told {told}, is {got}");
    assert!(!told.contains(Attr::Owner));
    let before = peer.attrs(&fh, &[Attr::Size, Attr::Change]).await;
    // Read-only with one that could be set, and one that this server does not have.
    let read_only = attrs(|a| {
        a.set_size(1).set_fileid(5);
    });
    let done = peer.run(vec![putfh(&fh), setattr(ANON, read_only)]).await;
    assert!(done.fails_at(OpNum::Setattr, Status::Inval).attrsset().is_empty());
    let unsupported = attrs(|a| {
        a.set_size(1).set_time_backup(NfsTime { seconds: 1, nseconds: 0 });
    });
    let done = peer.run(vec![putfh(&fh), setattr(ANON, unsupported)]).await;
    assert!(done.fails_at(OpNum::Setattr, Status::AttrNotSupp).attrsset().is_empty());
    assert_eq!(peer.attrs(&fh, &[Attr::Size, Attr::Change]).await, before, "nothing was applied");
    let done = peer.run(vec![putfh(&fh), setattr(ANON, Attrs::new())]).await.ok();
    assert!(done.attrsset().is_empty());
}

async fn two_files(peer: &mut Peer) -> (Opened, Opened) {
    let root = peer.root.clone();
    let (src, dst) = (peer.create(&root, "src").await, peer.create(&root, "dst").await);
    peer.write(&src, 0, b"0123456789").await;
    (src, dst)
}

fn between(src: &Opened, dst: &Opened, op: ArgOp) -> Vec<ArgOp> {
    vec![putfh(&src.fh), ArgOp::Savefh, putfh(&dst.fh), op]
}

#[tokio::test]
async fn s18_a_short_copy_is_done_when_it_is_answered_whatever_was_asked() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let (src, dst) = two_files(&mut peer).await;
    let op = ArgOp::Copy(CopyArgs {
        src_stateid: src.stateid,
        dst_stateid: dst.stateid,
        src_offset: 0,
        dst_offset: 0,
        count: 10,
        consecutive: false,
        synchronous: false,
        source_server: List::default(),
    });
    let told = peer.run(between(&src, &dst, op)).await.ok().copy();
    assert!(told.requirements.synchronous);
    assert_eq!((told.response.callback_id, told.response.count), (None, 10));
    assert_eq!(peer.read(&dst, 0, 99).await.0, b"0123456789");
}

#[tokio::test]
async fn s19_copy_takes_what_it_may_and_refuses_the_rest() {
    for server in [TestServer::mem().await, TestServer::local().await] {
        let mut peer = server.peer("a").await;
        let (src, dst) = two_files(&mut peer).await;
        let (s, d) = (src.stateid, dst.stateid);
        // 0 means to the end; a part; special stateids as for READ and WRITE.
        for (op, count) in [
            (copy(s, d, 0, 0, 0), 10),
            (copy(s, d, 4, 0, 0), 6),
            (copy(s, d, 2, 20, 3), 3),
            (copy(StateId::READ_BYPASS, d, 0, 0, 10), 10),
            (copy(ANON, ANON, 0, 0, 10), 10),
            (copy(s, d, 10, 0, 0), 0),
        ] {
            let told = peer.run(between(&src, &dst, op)).await.ok().copy();
            assert_eq!(told.response.count, count);
        }
        assert_eq!(&peer.read(&dst, 0, 99).await.0[..10], b"0123456789");
        assert_eq!(&peer.read(&dst, 20, 3).await.0, b"234");
        for op in [copy(s, d, 0, 0, 11), copy(s, d, 11, 0, 0), copy(s, d, 9, 0, 2)] {
            let done = peer.run(between(&src, &dst, op)).await;
            let _ = done.fails_at(OpNum::Copy, Status::Inval);
        }
        // One file as both ends.
        for offset in [0, 100] {
            let op = copy(s, s, 0, offset, 5);
            let _ = peer.run(between(&src, &src, op)).await.fails_at(OpNum::Copy, Status::Inval);
        }
        let wrong = StateId { seqid: 1, other: [8; 12] };
        let done = peer.run(between(&src, &dst, copy(wrong, d, 0, 0, 1))).await;
        let _ = done.fails_at(OpNum::Copy, Status::BadStateId);
        let root = peer.root.clone();
        let dir = Opened { fh: root, stateid: ANON };
        let done = peer.run(between(&dir, &dst, copy(ANON, d, 0, 0, 1))).await;
        let _ = done.fails_at(OpNum::Copy, Status::IsDir);
    }
}

#[tokio::test]
async fn s19_a_clone_within_one_file_must_not_overlap() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, &vec![1; 65_536]).await;
    peer.write(&file, 65_536, &vec![2; 65_536]).await;
    let s = file.stateid;
    for (from, to) in [(0, 4096), (4096, 0), (0, 0)] {
        let op = clone(s, s, from, to, 65_536);
        let done = peer.run(between(&file, &file, op)).await;
        let _ = done.fails_at(OpNum::Clone, Status::Inval);
    }
    let _ = peer.run(between(&file, &file, clone(s, s, 0, 65_536, 65_536))).await.ok();
    let (got, _) = peer.read(&file, 0, 131_072).await;
    assert!(got.len() == 131_072 && got.iter().all(|b| *b == 1));
    let done = peer.run(between(&file, &file, clone(s, s, 65_536, 0, 1 << 20))).await;
    let _ = done.fails_at(OpNum::Clone, Status::Inval);
}

#[tokio::test]
async fn s20_extended_attributes_are_announced_where_they_work() {
    let server = TestServer::with(|file| {
        let export = |path: &str| nfs4_server::config::ExportFile {
            path: path.to_owned(),
            ..nfs4_server::config::ExportFile::default()
        };
        file.export = vec![export("/one"), export("/two")];
    })
    .await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let told = peer.attrs(&root, &[Attr::XattrSupport]).await;
    assert_eq!(told.xattr_support(), Some(false), "the pseudo root has none");
    let _ = peer.run(vec![putfh(&root), getxattr("a")]).await.fails_at(OpNum::Getxattr, Status::NotSupp);
    let one = peer.lookup(&root, "one").await.unwrap();
    assert_eq!(peer.attrs(&one, &[Attr::XattrSupport]).await.xattr_support(), Some(true));
    let bits = AccessFlags::XAREAD | AccessFlags::XAWRITE | AccessFlags::XALIST;
    let told = peer.run(vec![putfh(&one), access(bits)]).await.ok().access();
    assert_eq!((told.supported, told.access), (bits, bits));
    let told = peer.run(vec![putfh(&one), access(AccessFlags::READ)]).await.ok().access();
    assert_eq!(told.supported, AccessFlags::READ, "what was not asked for is not told");
}

#[tokio::test]
async fn s20_create_replace_and_sizes_of_extended_attributes() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    let set = |how, key: &str, value: &[u8]| vec![putfh(&fh), setxattr(how, key, value)];
    let _ = peer.run(set(SetxattrOption::Replace, "k", b"v")).await.fails(Status::NoXattr);
    let _ = peer.run(set(SetxattrOption::Create, "k", b"v")).await.ok();
    let _ = peer.run(set(SetxattrOption::Create, "k", b"w")).await.fails(Status::Exist);
    let _ = peer.run(set(SetxattrOption::Replace, "k", b"")).await.ok();
    assert!(peer.run(vec![putfh(&fh), getxattr("k")]).await.ok().getxattr().value.is_empty());
    let _ = peer.run(set(SetxattrOption::Either, "big", &vec![1; 70 << 10])).await.fails(Status::Xattr2Big);
    let _ = peer.run(set(SetxattrOption::Either, "fits", &vec![1; 60 << 10])).await.ok();
    let done = peer.run(vec![putfh(&fh), listxattrs(0, 4)]).await;
    let _ = done.fails_at(OpNum::Listxattrs, Status::TooSmall);
    let _ = peer.run(vec![putfh(&fh), removexattr("none")]).await.fails(Status::NoXattr);
    let long = "k".repeat(300);
    let _ = peer.run(set(SetxattrOption::Either, &long, b"v")).await.fails(Status::NameTooLong);
    let _ = peer.run(set(SetxattrOption::Either, "", b"v")).await.fails(Status::Inval);
}

/// Attributes of no name here: 87, 95, 96 and 200.
fn unknown() -> Bitmap {
    [87, 95, 96, 200].into_iter().collect()
}

#[tokio::test]
async fn s27_attributes_that_nobody_knows_are_left_out_of_getattr_and_readdir() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    for bits in [vec![87], vec![95], vec![96], vec![200], vec![83, 87, 95, 96, 200]] {
        let mut set: Bitmap = bits.iter().copied().collect();
        set.insert(Attr::Size.number());
        let want = AttrSet::from(set);
        let got = peer.run(vec![putfh(&fh), getattr_set(want.clone())]).await.ok().attrs();
        assert_eq!(got.size(), Some(7), "{bits:?}");
        assert_eq!(got.mask(), &AttrSet::of(&[Attr::Size]), "{bits:?}");
        let op = ArgOp::Readdir(nfs4_proto::ReaddirArgs {
            cookie: 0,
            cookieverf: [0; 8],
            dircount: 8192,
            maxcount: 8192,
            attr_request: want,
        });
        let page = peer.run(vec![putfh(&root), op]).await.ok().readdir();
        assert_eq!(page.reply.entries.0[0].attrs.mask(), &AttrSet::of(&[Attr::Size]), "{bits:?}");
    }
}

/// Sends an operation whose last argument is a set of attributes with `bits` and no values.
async fn with_attrs(peer: &mut Peer, front: &[u8], bits: &Bitmap) -> CompoundRes {
    let ops = vec![peer.sequence(0, false), putfh(&peer.root)];
    let mut body = bytes_of(&Compound::new(2, ops).unwrap()).to_vec();
    body[11] += 1;
    body.extend_from_slice(front);
    body.extend(bytes_of(bits));
    body.extend([0, 0, 0, 0]);
    let xid = peer.raw.send_body(&peer.spec.cred, &body).await;
    peer.raw.answer(xid).await.compound()
}

#[tokio::test]
async fn s27_attributes_that_nobody_knows_cannot_be_set_or_compared() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let mut setattr = vec![0, 0, 0, 34];
    setattr.extend([0; 16]);
    // CREATE of a directory "d".
    let create = [0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 1, b'd', 0, 0, 0];
    let (verify, nverify) = ([0, 0, 0, 37], [0, 0, 0, 17]);
    for bits in [unknown(), [87].into_iter().collect(), [200].into_iter().collect()] {
        for (front, num) in [
            (&setattr[..], OpNum::Setattr),
            (&create, OpNum::Create),
            (&verify, OpNum::Verify),
            (&nverify, OpNum::Nverify),
        ] {
            let reply = with_attrs(&mut peer, front, &bits).await;
            assert_eq!(reply.status, Status::AttrNotSupp, "{}: {reply}", num.name());
            assert_eq!(reply.ops.last().unwrap().num(), num);
        }
    }
    assert!(peer.names(&root).await.is_empty());
}
