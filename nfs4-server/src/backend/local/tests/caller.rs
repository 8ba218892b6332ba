//! Whose rights count.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use bytes::Bytes;
use rustix::fs::XattrFlags;
use smallvec::smallvec;

use super::super::super::{Rights, SetTime, Stable, Time};
use super::*;

const ALICE: u32 = 4242;
const BOB: u32 = 4343;
const STAFF: u32 = 4444;

fn user(uid: u32) -> Who {
    Who { uid, gid: uid, groups: smallvec![] }
}

/// A POSIX ACL of owner, named users, group, mask and others.
fn acl(owner: u16, users: &[(u32, u16)], group: u16, mask: u16, other: u16) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    let mut entry = |tag: u16, perm: u16, id: u32| {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(perm.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    };
    entry(0x01, owner, u32::MAX);
    for (uid, perm) in users {
        entry(0x02, *perm, *uid);
    }
    entry(0x04, group, u32::MAX);
    entry(0x10, mask, u32::MAX);
    entry(0x20, other, u32::MAX);
    bytes
}

#[tokio::test]
async fn modes_groups_and_acls_decide_for_each_caller() {
    let rig = Rig::new();
    if !privileged(&rig, "rights by mode, supplementary group and ACL") {
        return;
    }
    let all = Rights::READ | Rights::MODIFY | Rights::EXTEND | Rights::EXECUTE;
    let rw = all - Rights::EXECUTE;
    let (file, _open) = rig.file("file").await;
    let path = rig.path("file");
    let access = async |who: &Who| rig.local.access(who, &file, all).await.unwrap();
    let open = async |who: &Who| rig.local.open(who, &file, BOTH).await.map(drop);
    rustix::fs::chown(&path, None, Some(rustix::fs::Gid::from_raw(STAFF))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
    let member = Who { uid: ALICE, gid: ALICE, groups: smallvec![1, STAFF, 2] };
    for (who, rights, opens) in [
        (Who::server(), rw, Ok(())),
        (user(ALICE), Rights::empty(), Err(Fault::Access)),
        (member.clone(), rw, Ok(())),
        (Who { uid: BOB, gid: STAFF, groups: smallvec![] }, rw, Ok(())),
    ] {
        assert_eq!(access(&who).await, rights, "{who:?}");
        assert_eq!(open(&who).await, opens, "{who:?}");
    }
    let allow_bob = acl(6, &[(BOB, 6)], 0, 6, 0);
    if rustix::fs::setxattr(&path, "system.posix_acl_access", &allow_bob, XattrFlags::empty()).is_err() {
        eprintln!("NOT CHECKED: no ACLs on this file system");
        return;
    }
    for (who, rights) in [(user(BOB), rw), (user(ALICE), Rights::empty()), (member, Rights::empty())] {
        assert_eq!(access(&who).await, rights, "{who:?}");
        assert_eq!(open(&who).await.is_ok(), rights == rw, "{who:?}");
    }
    // All but one: the bits for others say yes, the entry says no.
    let deny_bob = acl(6, &[(BOB, 0)], 6, 6, 6);
    rustix::fs::setxattr(&path, "system.posix_acl_access", &deny_bob, XattrFlags::empty()).unwrap();
    assert_eq!(access(&user(BOB)).await, Rights::empty());
    assert_eq!(access(&user(ALICE)).await, rw);
}

#[tokio::test]
async fn names_are_searched_and_made_with_the_caller_s_rights() {
    let rig = Rig::new();
    if !privileged(&rig, "search and write permission of directories") {
        return;
    }
    let root = rig.local.root();
    let made = rig.local.create(&user(ALICE), &root, b"dir", Create::Dir, &mode(0o700)).await.unwrap();
    assert_eq!((made.meta.uid, made.meta.gid), (ALICE, ALICE));
    let dir = made.node;
    let set = SetMeta::default();
    let file = rig.local.create(&user(ALICE), &dir, b"file", FILE, &set).await.unwrap();
    assert_eq!((file.meta.uid, file.meta.gid), (ALICE, ALICE));
    for (who, result) in [
        (user(BOB), Err(Fault::Access)),
        (user(ALICE), Ok(file.node.oid)),
        (Who::server(), Ok(file.node.oid)),
    ] {
        assert_eq!(rig.local.lookup(&who, &dir, b"file").await.map(|node| node.oid), result);
    }
    let bob = user(BOB);
    assert_eq!(rig.local.create(&bob, &dir, b"x", FILE, &set).await.unwrap_err(), Fault::Access);
    assert_eq!(rig.local.remove(&bob, &dir, b"file").await.unwrap_err(), Fault::Access);
    let room = super::super::super::Room { entries: 9, bytes: 999, meta: true, nodes: true };
    assert_eq!(rig.local.list(&bob, &dir, 0, room).await.unwrap_err(), Fault::Access);
    // The owner itself without search permission.
    rig.local.setattr(&user(ALICE), &dir, None, &mode(0o600)).await.unwrap();
    assert_eq!(rig.local.lookup(&user(ALICE), &dir, b"file").await.unwrap_err(), Fault::Access);
    // Sticky: the export's root is 1777.
    assert!(matches!(rig.local.remove(&bob, &root, b"dir").await, Err(Fault::Perm | Fault::Access)));
    let device = rig.local.create(&bob, &root, b"null", Create::Char(1, 3), &set).await;
    assert_eq!(device.unwrap_err(), Fault::Perm);
}

#[tokio::test]
async fn who_makes_a_file_may_use_it_whatever_its_mode_and_nobody_else() {
    let rig = Rig::new();
    let who = if rig.local.single_user() { me() } else { user(ALICE) };
    for bits in [0o400, 0o000] {
        let name = format!("{bits:o}");
        let made =
            rig.local.create(&who, &rig.local.root(), name.as_bytes(), FILE, &mode(bits)).await.unwrap();
        let opened = made.opened.unwrap();
        rig.local.write(&opened, 0, "data".into(), Stable::File).await.unwrap();
        assert_eq!(rig.local.read(&opened, 0, 9).await.unwrap().data.concat(), b"data");
        let cut = SetMeta { size: Some(1), ..SetMeta::default() };
        let done = rig.local.setattr(&who, &made.node, Some(&opened), &cut).await.unwrap();
        assert_eq!(done.fault, None);
        if who.uid != 0 {
            assert_eq!(rig.local.open(&who, &made.node, WRITE).await.unwrap_err(), Fault::Access);
            let done = rig.local.setattr(&who, &made.node, None, &cut).await.unwrap();
            assert_eq!(done.fault, Some(Fault::Access));
        }
    }
}

#[tokio::test]
async fn a_write_by_somebody_else_clears_setuid() {
    let rig = Rig::new();
    if !privileged(&rig, "setuid bits at a write") {
        return;
    }
    for (who, left) in [(user(ALICE), 0o777), (Who::server(), 0o6777)] {
        for stable in [Stable::Un, Stable::Data] {
            let (file, own) = rig.file("file").await;
            rig.local.setattr(&Who::server(), &file, None, &mode(0o6777)).await.unwrap();
            let opened = rig.local.open(&who, &file, WRITE).await.unwrap();
            rig.local.write(&opened, 0, "x".into(), stable).await.unwrap();
            assert_eq!(rig.meta(&file).await.mode, left, "{who:?} {stable:?}");
            drop((own, opened));
            rig.local.remove(&me(), &rig.local.root(), b"file").await.unwrap();
        }
    }
}

#[tokio::test]
async fn attributes_are_set_by_whom_they_may_be() {
    let rig = Rig::new();
    if !privileged(&rig, "ownership at SETATTR") {
        return;
    }
    let (alice, bob) = (user(ALICE), user(BOB));
    let root = rig.local.root();
    let made = rig.local.create(&alice, &root, b"file", FILE, &mode(0o666)).await.unwrap();
    let set = async |who: &Who, set: SetMeta| {
        let done = rig.local.setattr(who, &made.node, None, &set).await.unwrap();
        (done.applied, done.fault)
    };
    let owner = SetMeta { uid: Some(BOB), ..SetMeta::default() };
    assert_eq!(set(&alice, owner).await.1, Some(Fault::Perm));
    assert_eq!(set(&bob, mode(0o600)).await.1, Some(Fault::Perm));
    let time = Time { seconds: -7, nseconds: 123_456_789 };
    let to = SetMeta { mtime: Some(SetTime::To(time)), ..SetMeta::default() };
    assert_eq!(set(&bob, to.clone()).await.1, Some(Fault::Perm));
    assert_eq!(set(&alice, to).await.1, None);
    assert_eq!(rig.meta(&made.node).await.mtime, time);
    // The server's time needs write permission only, for one of the times too.
    for now in [
        SetMeta { mtime: Some(SetTime::Now), ..SetMeta::default() },
        SetMeta { atime: Some(SetTime::Now), ..SetMeta::default() },
        SetMeta { atime: Some(SetTime::Now), mtime: Some(SetTime::Now), ..SetMeta::default() },
    ] {
        assert_eq!(set(&bob, now).await.1, None);
    }
    assert!(rig.meta(&made.node).await.mtime.seconds > 0);
    // What was done before the fault is told.
    let both = SetMeta { size: Some(3), mode: Some((0, 0o777)), ..SetMeta::default() };
    let (applied, fault) = set(&bob, both).await;
    assert!(applied.size && !applied.mode);
    assert_eq!(fault, Some(Fault::Perm));
    assert_eq!(rig.meta(&made.node).await.size, 3);
    // Only masked bits are touched; owner and mode with setuid in one call.
    assert_eq!(set(&alice, SetMeta { mode: Some((0o7000, 0o007)), ..SetMeta::default() }).await.1, None);
    assert_eq!(rig.meta(&made.node).await.mode, 0o660);
    let give = SetMeta { uid: Some(BOB), gid: Some(STAFF), ..mode(0o4755) };
    assert_eq!(set(&Who::server(), give).await.1, None);
    let meta = rig.meta(&made.node).await;
    assert_eq!((meta.uid, meta.gid, meta.mode), (BOB, STAFF, 0o4755));
}

#[tokio::test]
async fn a_thread_of_the_runtime_gets_its_own_identity_back() {
    let rig = Rig::new();
    if !privileged(&rig, "identities of threads") {
        return;
    }
    let identity = || {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let lines = status.lines().filter(|line| line.starts_with("Uid:") || line.starts_with('G'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = identity();
    let (file, _open) = rig.file("file").await;
    let who = Who { uid: ALICE, gid: STAFF, groups: smallvec![1, 2, 3] };
    assert_eq!(rig.local.open(&who, &file, READ).await.unwrap_err(), Fault::Access);
    assert!(rig.local.lookup(&who, &rig.local.root(), b"file").await.is_ok());
    assert_eq!(identity(), before);
    // What the kernel would take for "leave it" is nobody.
    let nobody = Who { uid: u32::MAX, gid: 0, groups: smallvec![] };
    assert_eq!(rig.local.open(&nobody, &file, READ).await.unwrap_err(), Fault::Access);
    assert_eq!(identity(), before);
}

#[tokio::test]
async fn a_single_user_s_server_does_everything_as_itself() {
    let rig = Rig::single();
    assert!(rig.local.single_user());
    let made = rig.local.create(&user(ALICE), &rig.local.root(), b"file", FILE, &SetMeta::default());
    let made = made.await.unwrap();
    assert_eq!(made.meta.uid, me().uid);
    if me().uid != 0 {
        let owner = SetMeta { uid: Some(ALICE), ..SetMeta::default() };
        let done = rig.local.setattr(&user(ALICE), &made.node, None, &owner).await.unwrap();
        assert_eq!(done.fault, Some(Fault::Perm));
    }
}

/// The same tests as somebody without any privilege: the whole module again, in a process of its own.
#[test]
fn all_of_this_holds_for_an_ordinary_user() {
    if me().uid != 0 || std::env::var_os("NFS4_TEST_ORDINARY").is_some() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    // The test program may lie where only root may search.
    let program = home.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = std::process::Command::new("setpriv")
        .args(["--reuid=65533", "--regid=65533", "--clear-groups", "--inh-caps=-all"])
        .arg(&program)
        .args(["backend::local", "--test-threads=2"])
        .env("TMPDIR", home.path())
        .env("NFS4_TEST_ORDINARY", "1")
        .current_dir(home.path())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            eprintln!("NOT CHECKED: setpriv: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("passed") && !said.contains("running 0 tests"), "{said}");
}

#[tokio::test]
async fn extended_attributes_are_the_kernel_s_of_users() {
    use super::super::super::XattrSet::{Create as OnlyNew, Either, Replace};
    let rig = Rig::new();
    if !rig.local.facts().xattrs {
        eprintln!("NOT CHECKED: no extended attributes on this file system");
        return;
    }
    let (file, _open) = rig.file("file").await;
    let local = &rig.local;
    let get = async |name: &str| local.getxattr(&me(), &file, name.as_bytes()).await;
    let set = async |name: &str, value: Vec<u8>, how| {
        local.setxattr(&me(), &file, name.as_bytes(), Bytes::from(value), how).await
    };
    assert_eq!(get("a").await.unwrap_err(), Fault::NoXattr);
    assert_eq!(set("a", vec![1], Replace).await.unwrap_err(), Fault::NoXattr);
    let change = set("a", vec![1], OnlyNew).await.unwrap();
    assert!(change.after > change.before);
    assert_eq!(rig.meta(&file).await.change, change.after);
    assert_eq!(set("a", vec![2], OnlyNew).await.unwrap_err(), Fault::Exist);
    set("a", vec![2; 2_000], Replace).await.unwrap();
    set("b", Vec::new(), Either).await.unwrap();
    assert_eq!(get("a").await.unwrap(), vec![2; 2_000]);
    assert_eq!(get("b").await.unwrap(), "");
    assert_eq!(local.listxattrs(&me(), &file).await.unwrap(), ["a", "b"]);
    assert_eq!(set("c", vec![0; 70 << 10], Either).await.unwrap_err(), Fault::Xattr2Big);
    let before = rig.meta(&file).await.change;
    assert!(local.removexattr(&me(), &file, b"a").await.unwrap().before >= before);
    assert_eq!(local.removexattr(&me(), &file, b"a").await.unwrap_err(), Fault::NoXattr);
}
