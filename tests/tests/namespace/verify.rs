//! VERIFY and NVERIFY of every attribute. RFC 8881 §18.15, §18.31.

use nfs4_proto::{
    Acl, Attr, AttrGroup, AttrSet, Attrs, CreateType, Fsid, ModeMasked, ModeUmask, NfsTime, OpNum, SetTime,
    Status,
};
use nfs4_tests::wire::ops::{attrs, create, getattr_set, nverify, putfh, symlink, verify};
use nfs4_tests::wire::{Peer, TestServer};

/// Attributes of an object one by one: what is answered, and those that move by themselves or are not compared.
async fn compared_one_by_one(peer: &mut Peer, fh: &nfs4_proto::Fh) {
    let told = peer.attrs(fh, &[Attr::SupportedAttrs]).await;
    let supported = told.supported_attrs().unwrap().clone();
    for attr in Attr::ALL.iter().copied() {
        if attr.access().may_get() && supported.contains(attr) {
            let is = peer.attrs(fh, &[attr]).await;
            assert_eq!(is.mask(), &AttrSet::of(&[attr]), "{attr}");
            if attr == Attr::RdattrError {
                // Only an entry of a listing has it.
                for op in [verify(is.clone()), nverify(is)] {
                    let num = if matches!(op, nfs4_proto::ArgOp::Verify(_)) {
                        OpNum::Verify
                    } else {
                        OpNum::Nverify
                    };
                    let _ = peer.run(vec![putfh(fh), op]).await.fails_at(num, Status::Inval);
                }
                continue;
            }
            if attr.group() == AttrGroup::Space {
                // Others use the same disk: it holds still for long enough once.
                let mut same = false;
                for _ in 0..200 {
                    let is = peer.attrs(fh, &[attr]).await;
                    let ops = vec![putfh(fh), verify(is.clone()), nverify(is)];
                    same = peer.run(ops).await.status() == Status::Same;
                    if same {
                        break;
                    }
                }
                assert!(same, "{attr}");
                continue;
            }
            let _ = peer.run(vec![putfh(fh), verify(is.clone())]).await.ok();
            let _ = peer.run(vec![putfh(fh), nverify(is)]).await.fails_at(OpNum::Nverify, Status::Same);
        }
    }
    let readable = supported
        .without(&AttrSet::set_only())
        .without(&AttrSet::of(&[Attr::RdattrError]))
        .without(&AttrSet::of_group(AttrGroup::Space));
    let all = peer.run(vec![putfh(fh), getattr_set(readable)]).await.ok().attrs();
    let _ = peer.run(vec![putfh(fh), verify(all.clone())]).await.ok();
    // One that differs is enough.
    let other = other(all);
    let _ = peer.run(vec![putfh(fh), verify(other.clone())]).await.fails_at(OpNum::Verify, Status::NotSame);
    let _ = peer.run(vec![putfh(fh), nverify(other)]).await.ok();
}

fn other(mut all: Attrs) -> Attrs {
    all.set_fsid(Fsid { major: u64::MAX, minor: 1 });
    all
}

#[tokio::test]
async fn every_attribute_that_is_given_can_be_compared() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        for minor in [1, 2] {
            peer.spec.minor = minor;
            let file = peer.file(&root, "f", b"content").await;
            let dir = match peer.lookup(&root, "d").await {
                Ok(dir) => dir,
                Err(_) => peer.mkdir(&root, "d").await,
            };
            if peer.lookup(&root, "l").await.is_err() {
                let _ = peer.run(vec![putfh(&root), symlink("l", "x")]).await.ok();
                let _ = peer.run(vec![putfh(&root), create(CreateType::Fifo, "p", Attrs::new())]).await.ok();
            }
            let link = peer.lookup(&root, "l").await.unwrap();
            let fifo = peer.lookup(&root, "p").await.unwrap();
            for fh in [&file, &dir, &link, &fifo] {
                compared_one_by_one(&mut peer, fh).await;
            }
        }
    }
}

/// A value of each attribute that can only be set.
fn set_only() -> Vec<Attrs> {
    let time = NfsTime { seconds: 1, nseconds: 2 };
    vec![
        attrs(|a| {
            a.set_time_access_set(SetTime::Client(time));
        }),
        attrs(|a| {
            a.set_time_modify_set(SetTime::Server);
        }),
        attrs(|a| {
            a.set_mode_set_masked(ModeMasked { value_to_set: 1, mask_bits: 1 });
        }),
        attrs(|a| {
            a.set_mode_umask(ModeUmask { mode: 0o644, umask: 0o22 });
        }),
    ]
}

/// Values of attributes that no backend has, and of one that `local` has not.
fn unsupported(local: bool) -> Vec<Attrs> {
    let mut all = vec![
        attrs(|a| {
            a.set_time_backup(NfsTime { seconds: 1, nseconds: 2 });
        }),
        attrs(|a| {
            a.set_dacl(nfs4_proto::Acl41::default());
        }),
        attrs(|a| {
            a.set_sacl(nfs4_proto::Acl41::default());
        }),
        attrs(|a| {
            a.set_quota_used(0);
        }),
        attrs(|a| {
            a.set_retention_hold(0);
        }),
    ];
    if local {
        all.push(attrs(|a| {
            a.set_acl(Acl::default());
        }));
        all.push(attrs(|a| {
            a.set_hidden(false);
        }));
    }
    all
}

#[tokio::test]
async fn what_cannot_be_read_is_not_compared() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let cases = set_only().into_iter().map(|set| (set, Status::Inval));
        for (set, status) in cases.chain(unsupported(local).into_iter().map(|set| (set, Status::AttrNotSupp)))
        {
            let _ = peer.run(vec![putfh(&root), verify(set.clone())]).await.fails_at(OpNum::Verify, status);
            let _ = peer.run(vec![putfh(&root), nverify(set)]).await.fails_at(OpNum::Nverify, status);
        }
    }
}
