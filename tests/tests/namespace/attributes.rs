//! GETATTR, SETATTR, VERIFY, NVERIFY, ACCESS. RFC 8881 §5, §18.1, §18.7, §18.15, §18.30, §18.31.

use nfs4_proto::{
    AccessFlags, Attr, AttrSet, Attrs, ModeMasked, NfsTime, OpNum, Owner, SetTime, StateId, Status,
};
use nfs4_tests::wire::ops::{
    access, attrs, getattr, getattr_set, mkdir, mode, nverify, putfh, setattr, size, symlink, verify,
};
use nfs4_tests::wire::{TestServer, cred};

const ANON: StateId = StateId::ANONYMOUS;

#[tokio::test]
async fn every_supported_attribute_that_can_be_read_is_answered() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let file = peer.file(&root, "f", b"content").await;
        for fh in [&root, &file] {
            let told = peer.attrs(fh, &[Attr::SupportedAttrs]).await;
            let supported = told.supported_attrs().unwrap().clone();
            assert!(supported.is_superset(&AttrSet::required()), "{supported}");
            let readable = supported.without(&AttrSet::set_only());
            let got = peer.run(vec![putfh(fh), getattr_set(readable.clone())]).await.ok().attrs();
            assert_eq!(got.mask(), &readable, "announced and not answered");
        }
    }
}

#[tokio::test]
async fn suppattr_exclcreat_names_only_attributes_that_are_supported() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        for minor in [1, 2] {
            peer.spec.minor = minor;
            let told = peer.attrs(&root, &[Attr::SupportedAttrs, Attr::SuppattrExclcreat]).await;
            let supported = told.supported_attrs().unwrap();
            let exclusive = told.suppattr_exclcreat().unwrap();
            assert!(exclusive.contains(Attr::Mode), "4.{minor}: {exclusive}");
            assert!(supported.is_superset(exclusive), "4.{minor}: {exclusive} with {supported}");
        }
    }
}

#[tokio::test]
async fn what_can_only_be_set_cannot_be_asked_for() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    for attr in [Attr::TimeAccessSet, Attr::TimeModifySet, Attr::ModeSetMasked, Attr::ModeUmask] {
        let done = peer.run(vec![putfh(&root), getattr(&[Attr::Size, attr])]).await;
        let _ = done.fails_at(OpNum::Getattr, Status::Inval);
    }
}

#[tokio::test]
async fn setattr_sets_what_it_says_and_moves_change() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"content").await;
    let before = peer.change(&file).await;
    let when = NfsTime { seconds: -5, nseconds: 999_999_999 };
    let set = attrs(|a| {
        a.set_mode(0o4711)
            .set_size(3)
            .set_time_access_set(SetTime::Client(when))
            .set_time_modify_set(SetTime::Client(when));
    });
    let done = peer.run(vec![putfh(&file), setattr(ANON, set.clone())]).await.ok();
    assert_eq!(&done.attrsset(), set.mask());
    let got =
        peer.attrs(&file, &[Attr::Mode, Attr::Size, Attr::TimeAccess, Attr::TimeModify, Attr::Change]).await;
    assert_eq!((got.mode(), got.size()), (Some(0o4711), Some(3)));
    assert_eq!((got.time_access(), got.time_modify()), (Some(when), Some(when)));
    assert!(got.change().unwrap() > before);
}

#[tokio::test]
async fn equal_values_move_change_all_the_same() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"content").await;
    let mut last = peer.change(&file).await;
    for set in [mode(0o644), mode(0o644), size(7)] {
        let _ = peer.run(vec![putfh(&file), setattr(ANON, set)]).await.ok();
        let now = peer.change(&file).await;
        assert!(now > last);
        last = now;
    }
}

#[tokio::test]
async fn mode_set_masked_touches_its_bits_only() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    let masked = |value_to_set, mask_bits| {
        attrs(|a| {
            a.set_mode_set_masked(ModeMasked { value_to_set, mask_bits });
        })
    };
    let _ = peer.run(vec![putfh(&file), setattr(ANON, masked(0o4000, 0o4070))]).await.ok();
    assert_eq!(peer.attrs(&file, &[Attr::Mode]).await.mode(), Some(0o4604));
    for (value, mask) in [(0o10000, 0o10000), (0, 0o10000)] {
        let done = peer.run(vec![putfh(&file), setattr(ANON, masked(value, mask))]).await;
        let _ = done.fails_at(OpNum::Setattr, Status::Inval);
    }
    let both = attrs(|a| {
        a.set_mode(0o600).set_mode_set_masked(ModeMasked { value_to_set: 0, mask_bits: 1 });
    });
    let _ = peer.run(vec![putfh(&file), setattr(ANON, both)]).await.fails_at(OpNum::Setattr, Status::Inval);
    // Nothing that creates takes it (§6.2.5).
    let op = nfs4_tests::wire::ops::create(nfs4_proto::CreateType::Dir, "d", masked(0o700, 0o777));
    let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Create, Status::Inval);
}

#[tokio::test]
async fn a_mode_may_be_set_on_a_symbolic_link_whether_or_not_it_has_one() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let _ = peer.run(vec![putfh(&root), symlink("l", "x")]).await.ok();
        let link = peer.lookup(&root, "l").await.unwrap();
        let when = NfsTime { seconds: 5, nseconds: 6 };
        let set = attrs(|a| {
            a.set_mode(0o777).set_time_modify_set(SetTime::Client(when));
        });
        let _ = peer.run(vec![putfh(&link), setattr(ANON, set)]).await.ok();
        assert_eq!(peer.attrs(&link, &[Attr::TimeModify]).await.time_modify(), Some(when), "local: {local}");
    }
}

#[tokio::test]
async fn only_files_have_a_size_to_set() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let _ = peer.run(vec![putfh(&dir), setattr(ANON, size(0))]).await.fails_at(OpNum::Setattr, Status::Inval);
    let _ = peer.run(vec![putfh(&root), symlink("l", "x")]).await.ok();
    let link = peer.lookup(&root, "l").await.unwrap();
    let _ =
        peer.run(vec![putfh(&link), setattr(ANON, size(0))]).await.fails_at(OpNum::Setattr, Status::Inval);
    let file = peer.file(&root, "f", b"").await;
    let done = peer.run(vec![putfh(&file), setattr(ANON, size(u64::MAX))]).await;
    let _ = done.fails_at(OpNum::Setattr, Status::FBig);
}

#[tokio::test]
async fn a_size_is_set_through_an_open_with_its_stateid() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, b"0123456789").await;
    let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(4))]).await.ok();
    let _ = peer.run(vec![putfh(&file.fh), setattr(file.stateid, size(6))]).await.ok();
    assert_eq!(peer.read(&file, 0, 20).await, (b"0123\0\0".to_vec(), true));
    let read_only = nfs4_proto::ShareAccess::READ;
    let reader = peer.open(&root, "f", "r", read_only, nfs4_proto::ShareDeny::NONE).await.unwrap();
    let done = peer.run(vec![putfh(&file.fh), setattr(reader.stateid, size(0))]).await;
    let _ = done.fails_at(OpNum::Setattr, Status::OpenMode);
    let wrong = StateId { seqid: 1, other: [5; 12] };
    let done = peer.run(vec![putfh(&file.fh), setattr(wrong, size(0))]).await;
    let _ = done.fails_at(OpNum::Setattr, Status::BadStateId);
}

#[tokio::test]
async fn a_write_and_a_truncation_take_setuid_away() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.write(&file, 0, b"0123").await;
    let stranger = cred(2000, 2000, &[]);
    for truncate in [true, false] {
        let _ = peer.run(vec![putfh(&file.fh), setattr(ANON, mode(0o6777))]).await.ok();
        let op = if truncate { setattr(ANON, size(1)) } else { nfs4_tests::wire::ops::write(ANON, 0, b"x") };
        let _ = peer.run_as(&stranger, vec![putfh(&file.fh), op]).await.ok();
        let got = peer.attrs(&file.fh, &[Attr::Mode]).await.mode().unwrap();
        assert_eq!(got & 0o6000, 0, "mode {got:o} after truncate {truncate}");
    }
}

#[tokio::test]
async fn s25_owners_are_numbers_and_only_root_gives_files_away() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    let owner = |text: &str| {
        let owner = Owner::new(text.as_bytes().to_vec()).unwrap();
        attrs(|a| {
            a.set_owner(owner);
        })
    };
    let _ = peer.run(vec![putfh(&file), setattr(ANON, owner("77"))]).await.fails(Status::Perm);
    let superuser = cred(0, 0, &[]);
    let _ = peer.run_as(&superuser, vec![putfh(&file), setattr(ANON, owner("77"))]).await.ok();
    assert_eq!(peer.attrs(&file, &[Attr::Owner]).await.owner().unwrap().as_number(), Some(77));
    for bad in ["ghost@domain", "077", "+5", "-1", "4294967296", "nobody"] {
        let done = peer.run_as(&superuser, vec![putfh(&file), setattr(ANON, owner(bad))]).await;
        let _ = done.fails_at(OpNum::Setattr, Status::BadOwner);
    }
    let done = peer.run_as(&superuser, vec![putfh(&file), setattr(ANON, owner(""))]).await;
    assert!(matches!(done.status(), Status::Inval | Status::BadOwner), "{done}");
    assert_eq!(peer.attrs(&file, &[Attr::Owner]).await.owner().unwrap().as_number(), Some(77));
}

#[tokio::test]
async fn who_does_not_own_a_file_changes_neither_mode_nor_times_of_ones_own_choice() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    let _ = peer.run(vec![putfh(&file), setattr(ANON, mode(0o666))]).await.ok();
    let stranger = cred(2000, 2000, &[]);
    let time = |time| {
        attrs(|a| {
            a.set_time_modify_set(time);
        })
    };
    let now = time(SetTime::Server);
    let then = time(SetTime::Client(NfsTime { seconds: 1, nseconds: 0 }));
    let _ = peer.run_as(&stranger, vec![putfh(&file), setattr(ANON, mode(0o777))]).await.fails(Status::Perm);
    let _ = peer.run_as(&stranger, vec![putfh(&file), setattr(ANON, then)]).await.fails(Status::Perm);
    let _ = peer.run_as(&stranger, vec![putfh(&file), setattr(ANON, now.clone())]).await.ok();
    let _ = peer.run(vec![putfh(&file), setattr(ANON, mode(0o644))]).await.ok();
    let done = peer.run_as(&stranger, vec![putfh(&file), setattr(ANON, now)]).await;
    assert!(matches!(done.status(), Status::Access | Status::Perm), "{done}");
}

#[tokio::test]
async fn verify_and_nverify_compare_and_stop() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"content").await;
    let ops = |op| vec![putfh(&file), op];
    let _ = peer.run(ops(verify(size(7)))).await.ok();
    let _ = peer.run(ops(verify(size(8)))).await.fails_at(OpNum::Verify, Status::NotSame);
    let _ = peer.run(ops(nverify(size(7)))).await.fails_at(OpNum::Nverify, Status::Same);
    let _ = peer.run(ops(nverify(size(8)))).await.ok();
    // One of several that differs is a difference.
    let two = attrs(|a| {
        a.set_size(7).set_mode(0o600);
    });
    let _ = peer.run(ops(verify(two.clone()))).await.fails_at(OpNum::Verify, Status::NotSame);
    let _ = peer.run(ops(nverify(two))).await.ok();
    let error = attrs(|a| {
        a.set_rdattr_error(Status::Ok);
    });
    let _ = peer.run(ops(verify(error.clone()))).await.fails_at(OpNum::Verify, Status::Inval);
    let _ = peer.run(ops(nverify(error))).await.fails_at(OpNum::Nverify, Status::Inval);
    let set_only = attrs(|a| {
        a.set_time_modify_set(SetTime::Server);
    });
    let _ = peer.run(ops(verify(set_only))).await.fails_at(OpNum::Verify, Status::Inval);
    let unsupported = attrs(|a| {
        a.set_time_backup(NfsTime { seconds: 1, nseconds: 0 });
    });
    let _ = peer.run(ops(verify(unsupported))).await.fails_at(OpNum::Verify, Status::AttrNotSupp);
    let _ = peer.run(ops(verify(Attrs::new()))).await.ok();
}

#[tokio::test]
async fn access_tells_the_rights_that_were_asked_for() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.file(&root, "f", b"").await;
    let dir = peer.mkdir(&root, "d").await;
    let all = AccessFlags::all();
    let told = peer.run(vec![putfh(&file), access(all)]).await.ok().access();
    assert!(told.access.contains(AccessFlags::READ | AccessFlags::MODIFY | AccessFlags::EXTEND));
    assert!(!told.access.intersects(AccessFlags::EXECUTE), "nobody may execute it");
    assert!(told.supported.contains(AccessFlags::EXECUTE));
    assert!(!told.supported.intersects(AccessFlags::LOOKUP | AccessFlags::DELETE), "not of a file");
    let stranger = cred(2000, 2000, &[]);
    let told = peer.run_as(&stranger, vec![putfh(&dir), access(all)]).await.ok().access();
    let may =
        told.access & (AccessFlags::READ | AccessFlags::LOOKUP | AccessFlags::MODIFY | AccessFlags::EXTEND);
    assert_eq!(may, AccessFlags::READ | AccessFlags::LOOKUP);
    let told = peer.run(vec![putfh(&dir), access(AccessFlags::LOOKUP)]).await.ok().access();
    assert_eq!((told.supported, told.access), (AccessFlags::LOOKUP, AccessFlags::LOOKUP));
    let told = peer.run(vec![putfh(&dir), access(AccessFlags::empty())]).await.ok().access();
    assert_eq!((told.supported, told.access), (AccessFlags::empty(), AccessFlags::empty()));
}

#[tokio::test]
async fn what_a_write_changes_is_seen_at_once() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let want = [Attr::Change, Attr::Size, Attr::TimeModify, Attr::SpaceUsed];
    let before = peer.attrs(&file.fh, &want).await;
    peer.write(&file, 0, &[1; 5000]).await;
    let after = peer.attrs(&file.fh, &want).await;
    assert!(after.change() > before.change());
    assert_eq!(after.size(), Some(5000));
    assert!(after.space_used().unwrap() >= 5000);
    assert!(after.time_modify() >= before.time_modify());
}

#[tokio::test]
async fn objects_of_one_file_system_have_one_fsid_and_each_its_fileid() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let file = peer.file(&dir, "f", b"").await;
    let mut seen = Vec::new();
    for fh in [&root, &dir, &file] {
        let got = peer.attrs(fh, &[Attr::Fsid, Attr::Fileid, Attr::MountedOnFileid, Attr::Filehandle]).await;
        assert_eq!(got.filehandle(), Some(fh));
        assert_eq!(got.fileid(), got.mounted_on_fileid());
        seen.push((got.fsid(), got.fileid()));
    }
    assert!(seen.iter().all(|(fsid, _)| *fsid == seen[0].0));
    assert!(seen[0].1 != seen[1].1 && seen[1].1 != seen[2].1 && seen[0].1 != seen[2].1);
}

#[tokio::test]
async fn a_new_object_is_of_its_maker_and_of_the_directorys_group_where_that_says_so() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let ops = vec![
        putfh(&root),
        mkdir("plain"),
        getattr(&[Attr::Owner, Attr::OwnerGroup]),
        putfh(&root),
        nfs4_tests::wire::ops::create(nfs4_proto::CreateType::Dir, "sgid", mode(0o2777)),
        nfs4_proto::ArgOp::Getfh,
    ];
    let done = peer.run(ops).await.ok();
    assert_eq!(done.attrs().owner().unwrap().as_number(), Some(1000));
    let dir = done.fh();
    let other = cred(2000, 2000, &[]);
    let ops = vec![putfh(&dir), mkdir("x"), getattr(&[Attr::Owner, Attr::OwnerGroup, Attr::Mode])];
    let got = peer.run_as(&other, ops).await.ok().attrs();
    assert_eq!(got.owner().unwrap().as_number(), Some(2000));
    assert_eq!(got.owner_group().unwrap().as_number(), Some(1000));
    assert_eq!(got.mode().unwrap() & 0o2000, 0o2000, "a directory hands it on");
}
