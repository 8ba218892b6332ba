//! Share reservations, upgrade, downgrade, close. RFC 8881 §9.7, §9.9–§9.11, §18.16, §18.18.

use nfs4_proto::{
    ArgOp, Attr, DelegationType, OpNum, OpenClaim, OpenDelegation, OpenHow, OpenResultFlags, ShareAccess,
    ShareDeny, StateId, Status, Want,
};
use nfs4_tests::wire::TestServer;
use nfs4_tests::wire::ops::{
    close, downgrade, link, open, open_create, open_name, putfh, read, remove, unchecked, write,
};

const READ: ShareAccess = ShareAccess::READ;
const WRITE: ShareAccess = ShareAccess::WRITE;
const BOTH: ShareAccess = ShareAccess::BOTH;
const NONE: ShareDeny = ShareDeny::NONE;

#[tokio::test]
async fn every_pair_of_share_reservations_is_granted_or_denied_by_the_table() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.file(&root, "f", b"").await;
    for access in [READ, WRITE, BOTH] {
        for deny in 0..4 {
            let deny = ShareDeny::from_bits_retain(deny);
            let held = a.open(&root, "f", "o", access, deny).await.unwrap();
            for wanted in [READ, WRITE, BOTH] {
                for refuse in 0..4 {
                    let refuse = ShareDeny::from_bits_retain(refuse);
                    let conflict = wanted.bits() & deny.bits() != 0 || refuse.bits() & access.bits() != 0;
                    match b.open(&root, "f", "o", wanted, refuse).await {
                        Ok(open) => {
                            assert!(!conflict, "{access:?} {deny:?} beside {wanted:?} {refuse:?}");
                            b.close(&open).await;
                        }
                        Err(status) => {
                            assert_eq!(status, Status::ShareDenied);
                            assert!(conflict, "{access:?} {deny:?} refuses {wanted:?} {refuse:?}");
                        }
                    }
                }
            }
            a.close(&held).await;
        }
    }
}

#[tokio::test]
async fn an_owner_that_opens_again_upgrades_the_same_state() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"content").await;
    let first = peer.open(&root, "f", "o", READ, NONE).await.unwrap();
    let op = write(first.stateid, 0, b"x");
    let _ = peer.run(vec![putfh(&first.fh), op]).await.fails_at(OpNum::Write, Status::OpenMode);
    let second = peer.open(&root, "f", "o", WRITE, NONE).await.unwrap();
    assert_eq!(second.stateid.other, first.stateid.other);
    assert_eq!(second.stateid.seqid, first.stateid.seqid + 1);
    peer.write(&second, 0, b"x").await;
    assert_eq!(peer.read(&second, 0, 3).await.0, b"xon");
    let other_owner = peer.open(&root, "f", "p", READ, NONE).await.unwrap();
    assert_ne!(other_owner.stateid.other, first.stateid.other);
    // One CLOSE ends the upgraded open.
    peer.close(&second).await;
    let op = read(second.stateid, 0, 1);
    let _ = peer.run(vec![putfh(&second.fh), op]).await.fails_at(OpNum::Read, Status::BadStateId);
}

#[tokio::test]
async fn an_upgrade_may_be_denied_and_leaves_the_open_as_it_was() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.file(&root, "f", b"content").await;
    let mine = a.open(&root, "f", "o", READ, NONE).await.unwrap();
    let theirs = b.open(&root, "f", "o", READ, ShareDeny::WRITE).await.unwrap();
    assert_eq!(a.open(&root, "f", "o", WRITE, NONE).await.unwrap_err(), Status::ShareDenied);
    assert_eq!(a.read(&mine, 0, 7).await.0, b"content", "the stateid did not move");
    b.close(&theirs).await;
    assert_eq!(a.open(&root, "f", "o", WRITE, NONE).await.unwrap().stateid.seqid, mine.stateid.seqid + 1);
}

#[tokio::test]
async fn a_downgrade_goes_to_what_was_opened_and_to_nothing_else() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"content").await;
    let both = peer.open(&root, "f", "o", BOTH, NONE).await.unwrap();
    // Opened with BOTH only, READ was never opened.
    let op = downgrade(both.stateid, READ, NONE);
    let _ = peer.run(vec![putfh(&both.fh), op]).await.fails_at(OpNum::OpenDowngrade, Status::Inval);
    let again = peer.open(&root, "f", "o", READ, NONE).await.unwrap();
    let op = downgrade(again.stateid, READ, NONE);
    let stateid = peer.run(vec![putfh(&both.fh), op]).await.ok().stateid();
    assert_eq!((stateid.other, stateid.seqid), (again.stateid.other, again.stateid.seqid + 1));
    let op = write(stateid, 0, b"x");
    let _ = peer.run(vec![putfh(&both.fh), op]).await.fails_at(OpNum::Write, Status::OpenMode);
    // Up is not down.
    let op = downgrade(stateid, BOTH, NONE);
    let _ = peer.run(vec![putfh(&both.fh), op]).await.fails_at(OpNum::OpenDowngrade, Status::Inval);
    for (access, deny) in [(ShareAccess::empty(), NONE), (READ, ShareDeny::from_bits_retain(8))] {
        let op = downgrade(stateid, access, deny);
        let _ = peer.run(vec![putfh(&both.fh), op]).await.fails_at(OpNum::OpenDowngrade, Status::Inval);
    }
}

#[tokio::test]
async fn a_downgrade_frees_what_was_denied() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    a.file(&root, "f", b"").await;
    a.open(&root, "f", "o", READ, NONE).await.unwrap();
    let up = a.open(&root, "f", "o", BOTH, ShareDeny::BOTH).await.unwrap();
    assert_eq!(b.open(&root, "f", "o", READ, NONE).await.unwrap_err(), Status::ShareDenied);
    let op = downgrade(up.stateid, READ, NONE);
    let _ = a.run(vec![putfh(&up.fh), op]).await.ok();
    b.open(&root, "f", "o", WRITE, NONE).await.unwrap();
}

#[tokio::test]
async fn a_link_is_the_same_file_for_opens() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let fh = a.file(&root, "f", b"").await;
    let _ = a.run(vec![putfh(&fh), ArgOp::Savefh, putfh(&root), link("g")]).await.ok();
    let one = a.open(&root, "f", "o", READ, ShareDeny::WRITE).await.unwrap();
    let two = a.open(&root, "g", "o", READ, ShareDeny::WRITE).await.unwrap();
    assert_eq!(one.stateid.other, two.stateid.other);
    assert_eq!(b.open(&root, "g", "o", WRITE, NONE).await.unwrap_err(), Status::ShareDenied);
}

#[tokio::test]
async fn close_answers_and_the_state_is_gone() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    peer.close(&file).await;
    for op in [read(file.stateid, 0, 1), write(file.stateid, 0, b"x"), close(file.stateid)] {
        let _ = peer.run(vec![putfh(&file.fh), op]).await.fails(Status::BadStateId);
    }
    let again = peer.create(&root, "f").await;
    assert_ne!(again.stateid.other, file.stateid.other, "an `other` never comes back");
}

#[tokio::test]
async fn a_stateid_works_with_its_own_file_only() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let (f, g) = (peer.create(&root, "f").await, peer.create(&root, "g").await);
    for op in [read(f.stateid, 0, 1), write(f.stateid, 0, b"x"), close(f.stateid)] {
        let _ = peer.run(vec![putfh(&g.fh), op]).await.fails(Status::BadStateId);
    }
    peer.write(&f, 0, b"x").await;
}

#[tokio::test]
async fn a_stateid_of_another_client_is_nothing() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let file = a.create(&root, "f").await;
    for op in [read(file.stateid, 0, 1), write(file.stateid, 0, b"x"), close(file.stateid)] {
        let _ = b.run(vec![putfh(&file.fh), op]).await.fails(Status::BadStateId);
    }
    a.write(&file, 0, b"x").await;
}

#[tokio::test]
async fn special_stateids_meet_share_reservations() {
    let server = TestServer::mem().await;
    let (mut a, mut b) = (server.peer("a").await, server.peer("b").await);
    let root = a.root.clone();
    let fh = a.file(&root, "f", b"content").await;
    let anonymous = StateId::ANONYMOUS;
    let _ = b.run(vec![putfh(&fh), read(anonymous, 0, 7)]).await.ok();
    let _ = b.run(vec![putfh(&fh), write(anonymous, 0, b"C")]).await.ok();
    let held = a.open(&root, "f", "o", BOTH, ShareDeny::BOTH).await.unwrap();
    let _ = b.run(vec![putfh(&fh), read(anonymous, 0, 7)]).await.fails(Status::Locked);
    let _ = b.run(vec![putfh(&fh), write(anonymous, 0, b"D")]).await.fails(Status::Locked);
    // READ bypass goes by; for WRITE it is the anonymous one (§8.2.3).
    let _ = b.run(vec![putfh(&fh), read(StateId::READ_BYPASS, 0, 7)]).await.ok();
    let _ = b.run(vec![putfh(&fh), write(StateId::READ_BYPASS, 0, b"D")]).await.fails(Status::Locked);
    a.close(&held).await;
    let _ = b.run(vec![putfh(&fh), write(StateId::READ_BYPASS, 0, b"D")]).await.ok();
}

#[tokio::test]
async fn an_open_by_handle_is_an_open() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"content").await;
    let op = open("o", READ, NONE, OpenHow::NoCreate, OpenClaim::Fh);
    let done = peer.run(vec![putfh(&fh), op, ArgOp::Getfh]).await.ok();
    assert_eq!(done.fh(), fh);
    let _ = peer.run(vec![putfh(&fh), read(done.open().stateid, 0, 7)]).await.ok();
    let op = open("o", READ, NONE, OpenHow::NoCreate, OpenClaim::Fh);
    let _ = peer.run(vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::IsDir);
}

#[tokio::test]
async fn claims_of_delegations_that_were_not_given_are_refused() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let fh = peer.file(&root, "f", b"").await;
    let stateid = StateId { seqid: 1, other: [7; 12] };
    let name = nfs4_tests::wire::ops::name("f");
    for (at, claim, status) in [
        (&root, OpenClaim::DelegateCur { stateid, file: name.clone() }, Status::BadStateId),
        (&fh, OpenClaim::DelegCurFh(stateid), Status::BadStateId),
        (&root, OpenClaim::DelegatePrev(name), Status::NotSupp),
        (&fh, OpenClaim::DelegPrevFh, Status::NotSupp),
        (&fh, OpenClaim::Previous(DelegationType::None), Status::NoGrace),
    ] {
        let op = open("o", READ, NONE, OpenHow::NoCreate, claim);
        let _ = peer.run(vec![putfh(at), op]).await.fails_at(OpNum::Open, status);
    }
}

#[tokio::test]
async fn what_is_wanted_of_a_delegation_is_answered_with_why_not() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    peer.file(&root, "f", b"").await;
    for (want, none) in
        [(Want::NoPreference, true), (Want::No, false), (Want::Read, false), (Want::Any, false)]
    {
        let op = open_name("o", "f", READ.with_want(want), NONE);
        let got = peer.run(vec![putfh(&root), op]).await.ok().open().delegation;
        match got {
            OpenDelegation::None => assert!(none, "{want:?}"),
            OpenDelegation::NoneExt(_) => assert!(!none, "{want:?}"),
            other => panic!("{want:?}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_removed_file_stays_usable_where_that_is_promised() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let how = unchecked(nfs4_tests::wire::ops::mode(0o600));
    let done = peer.run(vec![putfh(&root), open_create("o", "f", how), ArgOp::Getfh]).await.ok();
    assert!(done.open().rflags.contains(OpenResultFlags::PRESERVE_UNLINKED));
    let file = nfs4_tests::wire::Opened { fh: done.fh(), stateid: done.open().stateid };
    peer.write(&file, 0, b"still").await;
    peer.remove(&root, "f").await;
    peer.write(&file, 5, b" here").await;
    assert_eq!(peer.read(&file, 0, 20).await.0, b"still here");
    assert_eq!(peer.attrs(&file.fh, &[Attr::NumLinks]).await.numlinks(), Some(0));
    let _ = peer.run(vec![putfh(&root), remove("f")]).await.fails(Status::NoEnt);
    peer.close(&file).await;
    assert_eq!(peer.status(vec![putfh(&file.fh)]).await, Status::Stale);
}

#[tokio::test]
async fn an_open_does_not_look_at_rights_again() {
    let server = TestServer::mem().await;
    let mut peer = server.peer("a").await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let op = nfs4_tests::wire::ops::setattr(StateId::ANONYMOUS, nfs4_tests::wire::ops::mode(0));
    let _ = peer.run(vec![putfh(&file.fh), op]).await.ok();
    peer.write(&file, 0, b"opened before").await;
    let stranger = nfs4_tests::wire::cred(2000, 2000, &[]);
    let op = open_name("p", "f", READ, NONE);
    let _ = peer.run_as(&stranger, vec![putfh(&root), op]).await.fails_at(OpNum::Open, Status::Access);
}
