//! Names: making, moving, listing (S-11, S-13, S-23).

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use bytes::Bytes;

use super::super::super::{ChangeInfo, FileKind, Page, Room};
use super::*;

fn exclusive(verifier: [u8; 8]) -> Create {
    Create::File { mode: CreateMode::Exclusive(verifier), access: BOTH }
}

#[tokio::test]
async fn an_exclusive_create_is_known_again_by_every_bit_of_its_verifier_also_after_a_restart() {
    let mut rig = Rig::new();
    let one_bit: Vec<[u8; 8]> = (0..64).map(|bit| (1_u64 << bit).to_be_bytes()).collect();
    let mut verifiers = vec![[0; 8], [0xff; 8], *b"verifier"];
    verifiers.extend(one_bit);
    for (number, verifier) in verifiers.iter().enumerate() {
        let name = format!("file{number}");
        let made = rig.make(&rig.local.root(), &name, exclusive(*verifier)).await.unwrap();
        assert!(!made.existed);
        assert!(made.opened.is_some());
        assert_eq!(made.meta.mode & !0o600, 0, "nobody else's before its first SETATTR");
    }
    for restarted in [false, true] {
        if restarted {
            rig.restart();
        }
        for (number, verifier) in verifiers.iter().enumerate() {
            let (root, name) = (rig.local.root(), format!("file{number}"));
            let again = rig.make(&root, &name, exclusive(*verifier)).await.unwrap();
            assert!(!again.existed && again.opened.is_some());
            assert_eq!(again.meta.fileid, fs::metadata(rig.path(&name)).unwrap().ino());
            assert_eq!(again.dir.before, again.dir.after);
            for bit in 0..64 {
                let other = (u64::from_be_bytes(*verifier) ^ (1 << bit)).to_be_bytes();
                let other = rig.make(&root, &name, exclusive(other)).await;
                assert_eq!(other.unwrap_err(), Fault::Exist);
            }
        }
    }
}

#[tokio::test]
async fn an_exclusive_create_keeps_the_mode_it_was_given() {
    let rig = Rig::new();
    let root = rig.local.root();
    let made = rig.local.create(&me(), &root, b"file", exclusive([7; 8]), &mode(0o640)).await.unwrap();
    assert_eq!(made.meta.mode, 0o640);
    assert!(made.applied.mode);
}

#[tokio::test]
async fn what_exists_is_taken_or_refused_by_its_kind() {
    let rig = Rig::new();
    let root = rig.local.root();
    let unchecked = Create::File { mode: CreateMode::Unchecked, access: BOTH };
    rig.file("file").await;
    rig.dir("dir").await;
    rig.make(&root, "link", Create::Symlink(Bytes::from_static(b"file"))).await.unwrap();
    rig.make(&root, "fifo", Create::Fifo).await.unwrap();
    let made = rig.local.create(&me(), &root, b"file", unchecked.clone(), &mode(0o777)).await.unwrap();
    assert!(made.existed && made.opened.is_none() && !made.applied.mode);
    assert_eq!(made.meta.mode, 0o600);
    assert_eq!(made.dir.before, made.dir.after);
    for (name, fault) in [("dir", Fault::IsDir), ("link", Fault::Symlink), ("fifo", Fault::WrongType)] {
        assert_eq!(rig.make(&root, name, unchecked.clone()).await.unwrap_err(), fault);
    }
    for name in ["file", "dir", "link", "fifo"] {
        for what in [FILE, exclusive([1; 8]), Create::Dir, Create::Fifo] {
            assert_eq!(rig.make(&root, name, what).await.unwrap_err(), Fault::Exist);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_finished_is_not_made() {
    let rig = Rig::new();
    let root = rig.local.root();
    let stranger = if rig.local.single_user() {
        me()
    } else {
        Who { uid: 4242, gid: 4242, groups: smallvec::SmallVec::new() }
    };
    let set = SetMeta { uid: Some(4243), ..SetMeta::default() };
    for what in [FILE, Create::Dir, Create::Fifo] {
        // As root in single-user mode the kernel lets it.
        if rig.local.single_user() && me().uid == 0 {
            return;
        }
        let made = rig.local.create(&stranger, &root, b"x", what, &set).await;
        assert_eq!(made.unwrap_err(), Fault::Perm);
        assert!(!rig.path("x").exists());
    }
}

#[tokio::test]
async fn modes_are_as_given_whatever_the_umask_was() {
    let rig = Rig::new();
    let root = rig.local.root();
    for (name, what) in [("f", FILE), ("d", Create::Dir), ("p", Create::Fifo), ("s", Create::Socket)] {
        let made = rig.local.create(&me(), &root, name.as_bytes(), what, &mode(0o6776)).await.unwrap();
        assert_eq!(made.meta.mode, 0o6776, "{name}");
        assert_eq!(fs::symlink_metadata(rig.path(name)).unwrap().permissions().mode() & 0o7777, 0o6776);
    }
    let kinds: Vec<_> = [rig.top("p").await, rig.top("s").await].map(|node| node.kind).into();
    assert_eq!(kinds, [FileKind::Fifo, FileKind::Socket]);
}

#[tokio::test]
async fn a_rename_replaces_what_it_may() {
    let rig = Rig::new();
    let root = rig.local.root();
    let rename = async |old: &str, new: &str| {
        rig.local.rename(&me(), (&root, old.as_bytes()), (&root, new.as_bytes())).await
    };
    let (file, _open) = rig.file("file").await;
    let (_other, _other_open) = rig.file("other").await;
    let dir = rig.dir("dir").await;
    rig.dir("empty").await;
    let full = rig.dir("full").await;
    rig.make(&full, "x", FILE).await.unwrap();
    rig.local.link(&me(), &file, &root, b"same").await.unwrap();
    let same = rename("file", "same").await.unwrap();
    assert!(same.same && same.from.before == same.from.after);
    assert!(rig.path("file").exists());
    assert_eq!(rename("file", "dir").await.unwrap_err(), Fault::Exist);
    assert_eq!(rename("dir", "file").await.unwrap_err(), Fault::Exist);
    assert_eq!(rename("dir", "full").await.unwrap_err(), Fault::Exist);
    assert_eq!(rename("nothing", "full").await.unwrap_err(), Fault::NoEnt);
    let into = rig.local.rename(&me(), (&root, b"dir"), (&dir, b"dir")).await;
    assert_eq!(into.unwrap_err(), Fault::Inval);
    let done = rename("dir", "empty").await.unwrap();
    assert_eq!(done.node.oid, dir.oid);
    assert_eq!(done.from, done.to);
    assert!(done.victim.is_some());
    let across = rig.local.rename(&me(), (&root, b"other"), (&full, b"y")).await.unwrap();
    assert!(across.victim.is_none() && across.from.after > across.from.before);
    assert!(across.to.after > across.to.before);
    assert!(rig.path("full/y").exists());
}

#[tokio::test]
async fn a_remove_takes_files_and_empty_directories() {
    let rig = Rig::new();
    let root = rig.local.root();
    let full = rig.dir("full").await;
    rig.make(&full, "x", FILE).await.unwrap();
    assert_eq!(rig.local.remove(&me(), &root, b"full").await.unwrap_err(), Fault::NotEmpty);
    assert_eq!(rig.local.remove(&me(), &root, b"none").await.unwrap_err(), Fault::NoEnt);
    rig.local.remove(&me(), &full, b"x").await.unwrap();
    assert!(rig.local.remove(&me(), &root, b"full").await.unwrap().last);
    assert_eq!(rig.local.getattr(&full).await.unwrap_err(), Fault::Stale);
    assert_eq!(rig.local.link(&me(), &root, &root, b"x").await.unwrap_err(), Fault::IsDir);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_changes_of_one_directory_form_a_chain() {
    for fine in [None, Some(false)] {
        let rig = Rig::with(|options| options.sync_metadata = false);
        let local = Local::open_with(&rig.path("."), rig.options.clone(), fine).unwrap();
        let start = local.getattr(&local.root()).await.unwrap().change;
        let mut tasks = Vec::new();
        for task in 0..8 {
            let local = local.clone();
            tasks.push(tokio::spawn(async move {
                let mut infos: Vec<ChangeInfo> = Vec::new();
                let (who, root, set) = (me(), local.root(), SetMeta::default());
                for number in 0..40 {
                    let name = format!("{task}.{number}");
                    let made = local.create(&who, &root, name.as_bytes(), FILE, &set).await.unwrap();
                    infos.push(made.dir);
                    if number % 2 == 0 {
                        infos.push(local.remove(&who, &root, name.as_bytes()).await.unwrap().dir);
                    } else {
                        let new = format!("{name}.new");
                        let old = (&root, name.as_bytes());
                        let done = local.rename(&who, old, (&root, new.as_bytes())).await.unwrap();
                        infos.push(done.from);
                    }
                }
                infos
            }));
        }
        let mut infos = Vec::new();
        for task in tasks {
            infos.extend(task.await.unwrap());
        }
        infos.sort_by_key(|info| info.before);
        let mut last = start;
        for info in infos {
            assert_eq!(info.before, last);
            assert!(info.after > info.before);
            last = info.after;
        }
        assert_eq!(local.getattr(&local.root()).await.unwrap().change, last);
    }
}

#[tokio::test]
async fn a_change_is_called_atomic_only_where_nobody_else_changes_the_tree() {
    for exclusive in [false, true] {
        let rig = Rig::with(|options| options.exclusive = exclusive);
        let made = rig.make(&rig.local.root(), "file", FILE).await.unwrap();
        assert_eq!(made.dir.atomic, exclusive);
    }
}

async fn all_pages(rig: &Rig, dir: &Node, room: Room) -> Vec<(Bytes, u64)> {
    let (mut names, mut cookie) = (Vec::new(), 0);
    loop {
        let page: Page = rig.local.list(&me(), dir, cookie, room).await.unwrap();
        assert!(page.eof || !page.entries.is_empty());
        for entry in page.entries {
            names.push((entry.name, entry.cookie));
            cookie = entry.cookie;
        }
        if page.eof {
            return names;
        }
    }
}

#[tokio::test]
async fn a_listing_has_every_name_once_for_every_page_size() {
    let rig = Rig::with(|options| options.sync_metadata = false);
    let dir = rig.dir("dir").await;
    for number in 0..60 {
        fs::write(rig.path(&format!("dir/f{number}")), "").unwrap();
    }
    for number in 0..10 {
        fs::hard_link(rig.path("dir/f0"), rig.path(&format!("dir/hard{number}"))).unwrap();
    }
    let expected: BTreeSet<_> = fs::read_dir(rig.path("dir"))
        .unwrap()
        .map(|entry| Bytes::copy_from_slice(entry.unwrap().file_name().as_bytes()))
        .collect();
    for (nodes, meta) in [(false, false), (true, true), (false, true)] {
        for entries in 1..=71 {
            let room = Room { entries, bytes: 1 << 20, meta, nodes };
            let listed = all_pages(&rig, &dir, room).await;
            let names: BTreeSet<_> = listed.iter().map(|(name, _)| name.clone()).collect();
            let cookies: HashSet<_> = listed.iter().map(|(_, cookie)| *cookie).collect();
            assert_eq!(names, expected);
            assert_eq!(listed.len(), expected.len());
            assert_eq!(cookies.len(), expected.len());
            assert!(cookies.iter().all(|cookie| *cookie > 2));
        }
    }
    // Bytes bound a page as entries do; one entry always fits.
    let page = rig.local.list(&me(), &dir, 0, Room { entries: 99, bytes: 100, meta: false, nodes: false });
    assert_eq!(page.await.unwrap().entries.len(), 3);
    let page = rig.local.list(&me(), &dir, 0, Room { entries: 99, bytes: 1, meta: false, nodes: false });
    assert_eq!(page.await.unwrap().entries.len(), 1);
}

#[tokio::test]
async fn a_cookie_goes_on_where_its_entry_was_removed_and_reserved_ones_are_refused() {
    let mut rig = Rig::with(|options| options.sync_metadata = false);
    let dir = rig.dir("dir").await;
    for number in 0..50 {
        fs::write(rig.path(&format!("dir/f{number}")), "").unwrap();
    }
    let room = Room { entries: 10, bytes: 1 << 20, meta: true, nodes: true };
    let first = rig.local.list(&me(), &dir, 0, room).await.unwrap();
    for entry in &first.entries {
        rig.local.remove(&me(), &dir, &entry.name).await.unwrap();
    }
    let verifier = rig.local.cookie_verifier();
    let handle = rig.local.handle(&dir);
    drop(dir);
    rig.restart();
    assert_eq!(rig.local.cookie_verifier(), verifier);
    let dir = rig.local.resolve(&handle).await.unwrap();
    let mut seen: HashSet<_> = first.entries.iter().map(|entry| entry.name.clone()).collect();
    let mut cookie = first.entries.last().unwrap().cookie;
    loop {
        let page = rig.local.list(&me(), &dir, cookie, room).await.unwrap();
        for entry in page.entries {
            assert!(seen.insert(entry.name));
            assert!(entry.node.is_some() && entry.meta.unwrap().is_ok());
            cookie = entry.cookie;
        }
        if page.eof {
            break;
        }
    }
    assert_eq!(seen.len(), 50);
    for cookie in [1, 2, u64::MAX] {
        assert_eq!(rig.local.list(&me(), &dir, cookie, room).await.unwrap_err(), Fault::BadCookie);
    }
}

#[tokio::test]
#[allow(clippy::await_holding_lock, reason = "that a listing doesn't need it is the rule")]
async fn a_listing_waits_for_nobody_who_changes_the_directory() {
    let rig = Rig::new();
    rig.file("file").await;
    let object = rig.local.inner.object(&rig.local.root()).unwrap();
    let turn = object.turn();
    let room = Room { entries: 10, bytes: 1 << 20, meta: true, nodes: true };
    let page = rig.local.list(&me(), &rig.local.root(), 0, room).await.unwrap();
    assert_eq!(page.entries.len(), 1);
    drop(turn);
}

#[tokio::test]
async fn names_are_bytes_that_are_kept() {
    let rig = Rig::new();
    let root = rig.local.root();
    let long = vec![b'x'; 255];
    let names: [&[u8]; 5] = ["é".as_bytes(), "e\u{301}".as_bytes(), b"\xff\xfe", b"a b\n", &long];
    for name in names {
        rig.local.create(&me(), &root, name, FILE, &SetMeta::default()).await.unwrap();
    }
    let room = Room { entries: 99, bytes: 1 << 20, meta: false, nodes: false };
    let listed: BTreeSet<_> =
        all_pages(&rig, &root, room).await.into_iter().map(|(name, _)| name.to_vec()).collect();
    assert_eq!(listed, names.iter().map(|name| name.to_vec()).collect());
    for name in names {
        rig.local.lookup(&me(), &root, name).await.unwrap();
        rig.local.remove(&me(), &root, name).await.unwrap();
    }
    let longer = vec![b'x'; 256];
    assert_eq!(rig.local.lookup(&me(), &root, &longer).await.unwrap_err(), Fault::NameTooLong);
    let made = rig.local.create(&me(), &root, &longer, FILE, &SetMeta::default()).await;
    assert_eq!(made.unwrap_err(), Fault::NameTooLong);
}

#[tokio::test]
async fn a_read_only_export_changes_nothing() {
    let mut rig = Rig::new();
    rig.file("file").await;
    rig.options.read_only = true;
    rig.restart();
    let (root, file) = (rig.local.root(), rig.top("file").await);
    assert_eq!(rig.make(&root, "new", FILE).await.unwrap_err(), Fault::RoFs);
    assert_eq!(rig.make(&root, "new", Create::Dir).await.unwrap_err(), Fault::RoFs);
    assert_eq!(rig.make(&root, "file", FILE).await.unwrap_err(), Fault::Exist);
    assert_eq!(rig.local.remove(&me(), &root, b"file").await.unwrap_err(), Fault::RoFs);
    assert_eq!(rig.local.setattr(&me(), &file, None, &mode(0o777)).await.unwrap_err(), Fault::RoFs);
    assert_eq!(rig.local.open(&me(), &file, WRITE).await.unwrap_err(), Fault::RoFs);
    let rights = super::super::Rights::all();
    let rights = rig.local.access(&me(), &file, rights).await.unwrap();
    assert!(!rights.contains(super::super::Rights::MODIFY) && rights.contains(super::super::Rights::READ));
    let opened = rig.local.open(&me(), &file, READ).await.unwrap();
    assert!(rig.local.read(&opened, 0, 1).await.unwrap().eof);
}

async fn listed(rig: &Rig, dir: &Node) -> Vec<(Bytes, Meta)> {
    let room = Room { entries: 99, bytes: 1 << 20, meta: true, nodes: true };
    let page = rig.local.list(&me(), dir, 0, room).await.unwrap();
    assert!(page.eof);
    page.entries.into_iter().map(|entry| (entry.name, entry.meta.unwrap().unwrap())).collect()
}

#[tokio::test]
async fn names_that_are_kept_are_those_of_now_and_attributes_are_asked_for() {
    let rig = Rig::with(|options| options.sync_metadata = false);
    let dir = rig.dir("dir").await;
    let names = || rig.local.inner.listed.load(std::sync::atomic::Ordering::Relaxed);
    for name in ["a", "b", "c"] {
        fs::write(rig.path(&format!("dir/{name}")), "").unwrap();
    }
    for _ in 0..3 {
        assert_eq!(listed(&rig, &dir).await.len(), 3);
    }
    assert_eq!(names(), if rig.local.inner.clock.fine { 3 } else { 0 });
    let room = Room { entries: 2, bytes: 1 << 20, meta: false, nodes: false };
    assert_eq!(all_pages(&rig, &dir, room).await.len(), 3, "a kept listing goes on behind a cookie");
    // Somebody else changes a file, and then names.
    fs::write(rig.path("dir/b"), "12345").unwrap();
    let sizes: Vec<_> = listed(&rig, &dir).await.into_iter().map(|(_, meta)| meta.size).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 5);
    fs::rename(rig.path("dir/a"), rig.path("dir/d")).unwrap();
    fs::remove_file(rig.path("dir/c")).unwrap();
    for _ in 0..3 {
        let now: BTreeSet<_> = listed(&rig, &dir).await.into_iter().map(|(name, _)| name).collect();
        assert_eq!(now, [Bytes::from("b"), Bytes::from("d")].into());
    }
    fs::write(rig.path("dir/e"), "").unwrap();
    assert_eq!(listed(&rig, &dir).await.len(), 3);
    drop(dir);
    fs::remove_dir_all(rig.path("dir")).unwrap();
    rig.local.inner.cache.shrink();
    assert_eq!(names(), 0, "what is gone is counted no more");
}
