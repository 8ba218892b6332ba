//! Access control lists, and the attributes of one bit. RFC 8881 §6, §5.8.2.

use nfs4_proto::{
    AccessFlags, Ace, AceFlags, AceMask, AceType, Acl, AclSupport, ArgOp, Attr, AttrSet, Attrs, CreateType,
    Fh, ModeUmask, NfsTime, OpNum, Owner, StateId, Status,
};
use nfs4_server::config::{File, Squash};
use nfs4_tests::wire::ops::{
    access, attrs, create, getattr, guarded, lookup, mkdir, mode, nverify, open_create, putfh, readdir,
    remove, rename, setattr, verify,
};
use nfs4_tests::wire::{Peer, TestServer, cred};

const ANON: StateId = StateId::ANONYMOUS;
const RWX: AceMask =
    AceMask::READ_DATA.union(AceMask::WRITE_DATA).union(AceMask::APPEND_DATA).union(AceMask::EXECUTE);
const BOTH: AceFlags = AceFlags::FILE_INHERIT.union(AceFlags::DIRECTORY_INHERIT);

fn ace(ace_type: AceType, who: &str, access_mask: AceMask) -> Ace {
    Ace { ace_type, flag: AceFlags::empty(), access_mask, who: Owner::new(who.to_owned()).unwrap() }
}

fn allow(who: &str, mask: AceMask) -> Ace {
    ace(AceType::Allowed, who, mask)
}

fn deny(who: &str, mask: AceMask) -> Ace {
    ace(AceType::Denied, who, mask)
}

fn flagged(flag: AceFlags, ace: Ace) -> Ace {
    Ace { flag, ..ace }
}

fn acl(aces: Vec<Ace>) -> Attrs {
    attrs(|a| {
        a.set_acl(Acl::new(aces).unwrap());
    })
}

async fn set(peer: &mut Peer, fh: &Fh, attrs: Attrs) {
    let mask = attrs.mask().clone();
    let done = peer.run(vec![putfh(fh), setattr(ANON, attrs)]).await.ok();
    assert_eq!(done.attrsset(), mask);
}

async fn acl_of(peer: &mut Peer, fh: &Fh) -> Vec<Ace> {
    peer.attrs(fh, &[Attr::Acl]).await.acl().unwrap().to_vec()
}

async fn mode_of(peer: &mut Peer, fh: &Fh) -> u32 {
    peer.attrs(fh, &[Attr::Mode]).await.mode().unwrap()
}

/// What ACCESS gives to a user.
async fn given(peer: &mut Peer, fh: &Fh, (uid, gid): (u32, u32)) -> AccessFlags {
    let asked = AccessFlags::READ
        | AccessFlags::LOOKUP
        | AccessFlags::MODIFY
        | AccessFlags::EXTEND
        | AccessFlags::DELETE
        | AccessFlags::EXECUTE;
    peer.run_as(&cred(uid, gid, &[]), vec![putfh(fh), access(asked)]).await.ok().access().access
}

/// A server without squashing, and a client of the privileged user.
async fn privileged(fill: impl FnOnce(&mut File)) -> (TestServer, Peer) {
    let server = TestServer::with(|file| {
        file.squash = Some(Squash::None);
        fill(file);
    })
    .await;
    let spec = server.spec("a").user(0, 0, &[]);
    let peer = Peer::connect(server.address, spec).await;
    (server, peer)
}

/// A file of user 1000 and group 2000, and a directory that all may use.
async fn ground(peer: &mut Peer) -> (Fh, Fh) {
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    set(peer, &dir, mode(0o777)).await;
    let file = peer.file(&dir, "f", b"content").await;
    let owners = attrs(|a| {
        a.set_owner(Owner::number(1000)).set_owner_group(Owner::number(2000));
    });
    set(peer, &file, owners).await;
    (dir, file)
}

#[tokio::test]
async fn aclsupport_and_supported_attrs_tell_the_truth() {
    for local in [false, true] {
        let server = if local { TestServer::local().await } else { TestServer::mem().await };
        let mut peer = server.peer("a").await;
        let root = peer.root.clone();
        let own = peer.mkdir(&root, "d").await;
        let told = peer.attrs(&root, &[Attr::SupportedAttrs, Attr::AclSupport]).await;
        let kinds = if local { AclSupport::empty() } else { AclSupport::ALLOW_ACL | AclSupport::DENY_ACL };
        assert_eq!(told.aclsupport(), Some(kinds));
        let supported = told.supported_attrs().unwrap();
        for attr in [Attr::Acl, Attr::Archive, Attr::Hidden, Attr::System] {
            assert_eq!(supported.contains(attr), !local, "{attr}");
        }
        assert!(!supported.contains(Attr::Dacl) && !supported.contains(Attr::Sacl));
        let done = peer.run(vec![putfh(&own), setattr(ANON, acl(vec![allow("EVERYONE@", RWX)]))]).await;
        if local {
            let _ = done.fails_at(OpNum::Setattr, Status::AttrNotSupp);
        } else {
            let _ = done.ok();
        }
    }
}

#[tokio::test]
async fn a_list_is_read_as_it_was_set_and_goes_with_its_object() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let (dir, file) = ground(&mut peer).await;
    let group = flagged(AceFlags::IDENTIFIER_GROUP, allow("77", RWX));
    let list = vec![
        deny("1001", AceMask::WRITE_DATA),
        group,
        allow("OWNER@", RWX),
        allow("EVERYONE@", AceMask::READ_DATA),
    ];
    let before = peer.change(&file).await;
    set(&mut peer, &file, acl(list.clone())).await;
    assert!(peer.change(&file).await > before);
    assert_eq!(acl_of(&mut peer, &file).await, list);
    assert_eq!(mode_of(&mut peer, &file).await, 0o744);
    let _ = peer.run(vec![putfh(&file), verify(acl(list.clone()))]).await.ok();
    let _ =
        peer.run(vec![putfh(&file), nverify(acl(list.clone()))]).await.fails_at(OpNum::Nverify, Status::Same);
    let _ = peer.run(vec![putfh(&file), nverify(acl(vec![]))]).await.ok();
    let moved = vec![putfh(&dir), ArgOp::Savefh, rename("f", "g")];
    let _ = peer.run(moved).await.ok();
    let found = peer.lookup(&dir, "g").await.unwrap();
    assert_eq!(acl_of(&mut peer, &found).await, list);
    // A listing has it too.
    let page =
        peer.run(vec![putfh(&dir), readdir(0, Default::default(), 4096, &[Attr::Acl])]).await.ok().readdir();
    assert_eq!(page.reply.entries.0.first().unwrap().attrs.acl().unwrap().to_vec(), list);
}

#[tokio::test]
async fn an_object_without_a_list_shows_one_that_can_be_set_again() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let (_, file) = ground(&mut peer).await;
    for bits in [0o644, 0o604, 0o077, 0o000, 0o4750] {
        set(&mut peer, &file, mode(bits)).await;
        let shown = acl_of(&mut peer, &file).await;
        set(&mut peer, &file, acl(shown.clone())).await;
        assert_eq!(mode_of(&mut peer, &file).await, bits, "{shown:?}");
        assert_eq!(acl_of(&mut peer, &file).await, shown);
    }
}

#[tokio::test]
async fn what_a_list_says_is_what_users_may() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let (dir, file) = ground(&mut peer).await;
    let list = vec![
        deny("1001", AceMask::WRITE_DATA),
        allow("1001", AceMask::READ_DATA | AceMask::WRITE_DATA),
        flagged(AceFlags::IDENTIFIER_GROUP, allow("77", RWX)),
        deny("GROUP@", AceMask::READ_DATA),
        allow("EVERYONE@", AceMask::READ_DATA),
    ];
    set(&mut peer, &file, acl(list)).await;
    let (read, write) = (AccessFlags::READ, AccessFlags::MODIFY | AccessFlags::EXTEND);
    assert_eq!(given(&mut peer, &file, (1001, 9)).await, read);
    assert_eq!(given(&mut peer, &file, (5, 77)).await, read | write | AccessFlags::EXECUTE);
    assert_eq!(given(&mut peer, &file, (5, 2000)).await, AccessFlags::empty());
    assert_eq!(given(&mut peer, &file, (5, 9)).await, read);
    // As ACCESS says, so OPEN does.
    let write_as = |uid, gid| {
        (
            cred(uid, gid, &[]),
            vec![putfh(&dir), open_create("o", "f", nfs4_tests::wire::ops::unchecked(Attrs::new()))],
        )
    };
    let (who, ops) = write_as(1001, 9);
    let _ = peer.run_as(&who, ops).await.fails_at(OpNum::Open, Status::Access);
    let (who, ops) = write_as(5, 77);
    let _ = peer.run_as(&who, ops).await.ok();
}

#[tokio::test]
async fn delete_and_delete_child_take_a_name_away() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let root = peer.root.clone();
    let user = cred(1001, 9, &[]);
    let search = AceMask::EXECUTE | AceMask::READ_DATA;
    let write = search | AceMask::WRITE_DATA;
    let nothing = AceMask::empty();
    // What the directory allows and denies, what the file does, and whether the name goes.
    let cases = [
        (search, nothing, nothing, nothing, false),
        (write, nothing, nothing, nothing, true),
        (search, nothing, AceMask::DELETE, nothing, true),
        (search | AceMask::DELETE_CHILD, nothing, nothing, nothing, true),
        (search | AceMask::DELETE_CHILD, nothing, nothing, AceMask::DELETE, true),
        (search, AceMask::DELETE_CHILD, AceMask::DELETE, nothing, true),
        (write, AceMask::DELETE_CHILD, nothing, nothing, false),
        (write, nothing, nothing, AceMask::DELETE, false),
        (AceMask::DELETE_CHILD, nothing, AceMask::DELETE, nothing, false),
    ];
    for (at, (dir_yes, dir_no, file_yes, file_no, goes)) in cases.into_iter().enumerate() {
        let dir = peer.mkdir(&root, format!("d{at}")).await;
        let file = peer.file(&dir, "f", b"").await;
        set(
            &mut peer,
            &file,
            acl(vec![deny("EVERYONE@", file_no), allow("EVERYONE@", file_yes | AceMask::READ_DATA)]),
        )
        .await;
        set(&mut peer, &dir, acl(vec![deny("EVERYONE@", dir_no), allow("EVERYONE@", dir_yes)])).await;
        let done = peer.run_as(&user, vec![putfh(&dir), remove("f")]).await;
        if goes {
            let _ = done.ok();
        } else {
            let _ = done.fails_at(OpNum::Remove, Status::Access);
        }
    }
}

#[tokio::test]
async fn files_and_directories_are_added_by_a_bit_of_their_own() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let root = peer.root.clone();
    let user = cred(1001, 9, &[]);
    let dir = peer.mkdir(&root, "d").await;
    for (more, file, sub) in [
        (AceMask::WRITE_DATA, true, false),
        (AceMask::APPEND_DATA, false, true),
        (AceMask::empty(), false, false),
    ] {
        set(&mut peer, &dir, acl(vec![allow("EVERYONE@", AceMask::EXECUTE | more)])).await;
        let name = format!("{more:?}");
        let fifo = create(CreateType::Fifo, format!("f{name}"), mode(0o600));
        let made = peer.run_as(&user, vec![putfh(&dir), fifo]).await.status();
        assert_eq!(made, if file { Status::Ok } else { Status::Access }, "{name}");
        let made = peer.run_as(&user, vec![putfh(&dir), mkdir(format!("d{name}"))]).await.status();
        assert_eq!(made, if sub { Status::Ok } else { Status::Access }, "{name}");
    }
}

#[tokio::test]
async fn the_list_itself_is_read_and_written_by_who_may() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let (_, file) = ground(&mut peer).await;
    let (user, owner) = (cred(1001, 9, &[]), cred(1000, 9, &[]));
    let ask = || vec![putfh(&file), getattr(&[Attr::Acl])];
    // Without a list of its own there is no secret.
    let _ = peer.run_as(&user, ask()).await.ok();
    set(&mut peer, &file, acl(vec![])).await;
    let _ = peer.run_as(&user, ask()).await.fails_at(OpNum::Getattr, Status::Access);
    // The owner is never locked out (§6.3.1.1).
    let _ = peer.run_as(&owner, ask()).await.ok();
    let own = |list: Vec<Ace>| vec![putfh(&file), setattr(ANON, acl(list))];
    let _ = peer.run_as(&owner, own(vec![allow("1001", AceMask::READ_ACL)])).await.ok();
    let _ = peer.run_as(&user, ask()).await.ok();
    let _ = peer.run_as(&user, own(vec![])).await.fails_at(OpNum::Setattr, Status::Perm);
    let _ = peer
        .run_as(&user, vec![putfh(&file), setattr(ANON, mode(0o777))])
        .await
        .fails_at(OpNum::Setattr, Status::Perm);
    let take = |uid, gid| {
        let owners = attrs(|a| {
            a.set_owner(Owner::number(uid)).set_owner_group(Owner::number(gid));
        });
        vec![putfh(&file), setattr(ANON, owners)]
    };
    let _ = peer.run_as(&user, take(1001, 9)).await.fails_at(OpNum::Setattr, Status::Perm);
    let _ =
        peer.run_as(&owner, own(vec![allow("1001", AceMask::WRITE_ACL | AceMask::WRITE_OWNER)])).await.ok();
    let more = AceMask::WRITE_ACL | AceMask::WRITE_OWNER | AceMask::WRITE_ATTRIBUTES;
    let _ = peer.run_as(&user, own(vec![allow("1001", more)])).await.ok();
    let hide = attrs(|a| {
        a.set_hidden(true);
    });
    let _ = peer
        .run_as(&cred(6, 9, &[]), vec![putfh(&file), setattr(ANON, hide.clone())])
        .await
        .fails_at(OpNum::Setattr, Status::Perm);
    let _ = peer.run_as(&user, vec![putfh(&file), setattr(ANON, hide)]).await.ok();
    // To take is not to give.
    let _ = peer.run_as(&user, take(1002, 9)).await.fails_at(OpNum::Setattr, Status::Perm);
    let _ = peer.run_as(&user, take(1001, 10)).await.fails_at(OpNum::Setattr, Status::Perm);
    let _ = peer.run_as(&user, take(1001, 9)).await.ok();
}

#[tokio::test]
async fn setting_the_mode_changes_the_list() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let (_, file) = ground(&mut peer).await;
    set(&mut peer, &file, acl(vec![allow("1001", RWX), allow("EVERYONE@", RWX)])).await;
    set(&mut peer, &file, mode(0o640)).await;
    assert_eq!(mode_of(&mut peer, &file).await, 0o640);
    assert_eq!(given(&mut peer, &file, (1001, 9)).await, AccessFlags::READ);
    assert_eq!(given(&mut peer, &file, (5, 9)).await, AccessFlags::empty());
    // Both: the mode first, and then the list (§6.4.1.3); the high bits are the mode's.
    let mut both = acl(vec![allow("OWNER@", AceMask::READ_DATA)]);
    both.set_mode(0o4777);
    set(&mut peer, &file, both).await;
    assert_eq!(mode_of(&mut peer, &file).await, 0o4400);
    // High bits alone leave the list alone (§6.4.1.1).
    let masked = attrs(|a| {
        a.set_mode_set_masked(nfs4_proto::ModeMasked { value_to_set: 0, mask_bits: 0o4000 });
    });
    set(&mut peer, &file, masked).await;
    assert_eq!(acl_of(&mut peer, &file).await, [allow("OWNER@", AceMask::READ_DATA)]);
    assert_eq!(mode_of(&mut peer, &file).await, 0o400);
}

#[tokio::test]
async fn new_objects_inherit_and_the_umask_is_left_out() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let root = peer.root.clone();
    let dir = peer.mkdir(&root, "d").await;
    let umask = attrs(|a| {
        a.set_mode_umask(ModeUmask { mode: 0o666, umask: 0o077 });
    });
    let make = |name: &str, set: Attrs| vec![putfh(&dir), open_create("o", name, guarded(set)), ArgOp::Getfh];
    let plain = peer.run(make("plain", umask.clone())).await.ok().fh();
    assert_eq!(mode_of(&mut peer, &plain).await, 0o600);
    let named = flagged(BOTH, allow("1001", RWX));
    let rest = flagged(BOTH, allow("EVERYONE@", RWX));
    set(&mut peer, &dir, acl(vec![named.clone(), rest.clone()])).await;
    let with_umask = peer.run(make("umask", umask)).await.ok().fh();
    assert_eq!(mode_of(&mut peer, &with_umask).await, 0o666);
    assert!(acl_of(&mut peer, &with_umask).await.iter().any(|ace| ace.who.as_number() == Some(1001)));
    // The mode alone bounds what comes down; without a mode it comes down as it is.
    let with_mode = peer.run(make("mode", mode(0o640))).await.ok().fh();
    assert_eq!(mode_of(&mut peer, &with_mode).await, 0o640);
    assert_eq!(given(&mut peer, &with_mode, (1001, 9)).await, AccessFlags::READ);
    let bare = peer.run(make("bare", Attrs::new())).await.ok().fh();
    assert_eq!(acl_of(&mut peer, &bare).await, [allow("1001", RWX), allow("EVERYONE@", RWX)]);
    assert_eq!(mode_of(&mut peer, &bare).await, 0o777);
    // A list that is given is the list.
    let own = vec![allow("OWNER@", AceMask::READ_DATA)];
    let given_one = peer.run(make("own", acl(own.clone()))).await.ok();
    assert_eq!(given_one.open().attrset, AttrSet::of(&[Attr::Acl]));
    let given_one = given_one.fh();
    assert_eq!(acl_of(&mut peer, &given_one).await, own);
    assert_eq!(mode_of(&mut peer, &given_one).await, 0o400);
    let sub = create(CreateType::Dir, "sub", Attrs::new());
    let sub = peer.run(vec![putfh(&dir), sub, ArgOp::Getfh]).await.ok().fh();
    assert_eq!(acl_of(&mut peer, &sub).await, [named, rest]);
}

#[tokio::test]
async fn a_list_that_cannot_be_kept_is_refused() {
    let (_server, mut peer) = privileged(|file| file.limits.acl_entries = 5).await;
    let (dir, file) = ground(&mut peer).await;
    let one = allow("EVERYONE@", AceMask::READ_DATA);
    let before = acl_of(&mut peer, &file).await;
    let unknown = AceMask::from_bits_retain(1 << 31);
    let cases = [
        (ace(AceType::Audit, "EVERYONE@", AceMask::READ_DATA), Status::AttrNotSupp),
        (ace(AceType::Alarm, "EVERYONE@", AceMask::READ_DATA), Status::AttrNotSupp),
        (flagged(AceFlags::DIRECTORY_INHERIT, one.clone()), Status::AttrNotSupp),
        (flagged(AceFlags::INHERIT_ONLY, one.clone()), Status::AttrNotSupp),
        (flagged(AceFlags::SUCCESSFUL_ACCESS, one.clone()), Status::Inval),
        (allow("EVERYONE@", unknown), Status::Inval),
        (allow("nobody@nowhere", AceMask::READ_DATA), Status::BadOwner),
        (allow("INTERACTIVE@", AceMask::READ_DATA), Status::BadOwner),
        (flagged(AceFlags::IDENTIFIER_GROUP, allow("007", AceMask::READ_DATA)), Status::BadOwner),
    ];
    for (ace, status) in cases {
        let done = peer.run(vec![putfh(&file), setattr(ANON, acl(vec![one.clone(), ace]))]).await;
        let _ = done.fails_at(OpNum::Setattr, status);
    }
    let only = acl(vec![flagged(AceFlags::INHERIT_ONLY, one.clone())]);
    let _ =
        peer.run(vec![putfh(&dir), setattr(ANON, only)]).await.fails_at(OpNum::Setattr, Status::AttrNotSupp);
    let most = acl(vec![one.clone(); 6]);
    let _ = peer.run(vec![putfh(&file), setattr(ANON, most)]).await.fails_at(OpNum::Setattr, Status::NoSpc);
    assert_eq!(acl_of(&mut peer, &file).await, before);
    set(&mut peer, &file, acl(vec![one.clone(); 5])).await;
    // The mark of an inherited entry has no place here, and GROUP@ is known without the other (§6.2.1.4.1).
    let marked = flagged(AceFlags::INHERITED | AceFlags::IDENTIFIER_GROUP, allow("GROUP@", RWX));
    set(&mut peer, &file, acl(vec![marked])).await;
    assert_eq!(acl_of(&mut peer, &file).await, [allow("GROUP@", RWX)]);
    let _ = peer.run(vec![putfh(&dir), lookup("f")]).await.ok();
}

#[tokio::test]
async fn marks_and_the_birth_time_are_kept_and_a_write_takes_archive() {
    let (_server, mut peer) = privileged(|_| {}).await;
    let root = peer.root.clone();
    let file = peer.create(&root, "f").await;
    let want = [Attr::Archive, Attr::Hidden, Attr::System, Attr::TimeCreate];
    let got = peer.attrs(&file.fh, &want[..3]).await;
    assert_eq!((got.archive(), got.hidden(), got.system()), (Some(false), Some(false), Some(false)));
    let born = NfsTime { seconds: -7, nseconds: 5 };
    let given = attrs(|a| {
        a.set_archive(true).set_hidden(true).set_time_create(born);
    });
    set(&mut peer, &file.fh, given).await;
    let got = peer.attrs(&file.fh, &want).await;
    assert_eq!((got.archive(), got.hidden(), got.system()), (Some(true), Some(true), Some(false)));
    assert_eq!(got.time_create(), Some(born));
    peer.write(&file, 0, b"new").await;
    let got = peer.attrs(&file.fh, &want).await;
    assert_eq!((got.archive(), got.hidden(), got.time_create()), (Some(false), Some(true), Some(born)));
    let wrong = attrs(|a| {
        a.set_time_create(NfsTime { seconds: 0, nseconds: 1_000_000_000 });
    });
    let _ =
        peer.run(vec![putfh(&file.fh), setattr(ANON, wrong)]).await.fails_at(OpNum::Setattr, Status::Inval);
    let made = create(
        CreateType::Dir,
        "d",
        attrs(|a| {
            a.set_system(true).set_time_create(born);
        }),
    );
    let dir = peer.run(vec![putfh(&root), made, ArgOp::Getfh]).await.ok().fh();
    let got = peer.attrs(&dir, &want).await;
    assert_eq!((got.system(), got.hidden(), got.time_create()), (Some(true), Some(false), Some(born)));
}
