//! Handles: what survives, and what is stale (S-21, S-22).

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use bytes::Bytes;

use super::super::super::Stable;
use super::*;

async fn handles_survive(mut rig: Rig) {
    let dir = rig.dir("dir").await;
    let sub = rig.make(&dir, "sub", Create::Dir).await.unwrap().node;
    let file = rig.make(&sub, "file", FILE).await.unwrap();
    let link = rig.make(&sub, "link", Create::Symlink(Bytes::from_static(b"file"))).await.unwrap().node;
    let fifo = rig.make(&sub, "fifo", Create::Fifo).await.unwrap().node;
    let handles: Vec<_> = [&dir, &sub, &file.node, &link, &fifo]
        .map(|node| (rig.local.handle(node), node.kind))
        .into_iter()
        .collect();
    rig.local.write(file.opened.as_ref().unwrap(), 0, "data".into(), Stable::File).await.unwrap();
    let ids: Vec<_> = {
        let mut ids = Vec::new();
        for node in [&dir, &sub, &file.node, &link, &fifo] {
            ids.push(rig.meta(node).await.fileid);
        }
        ids
    };
    // Another client renames the directory, through the server.
    let root = rig.local.root();
    rig.local.rename(&me(), (&root, b"dir"), (&root, b"moved")).await.unwrap();
    drop((dir, sub, file, link, fifo, root));
    rig.restart();
    for ((handle, kind), id) in handles.iter().zip(ids) {
        let node = rig.local.resolve(handle).await.unwrap();
        assert_eq!(node.kind, *kind);
        assert_eq!(rig.local.handle(&node), *handle);
        assert_eq!(rig.meta(&node).await.fileid, id);
    }
    let sub = rig.local.resolve(&handles[1].0).await.unwrap();
    rig.make(&sub, "new", FILE).await.unwrap();
    assert!(rig.path("moved/sub/new").exists());
    let file = rig.local.resolve(&handles[2].0).await.unwrap();
    let opened = rig.local.open(&me(), &file, READ).await.unwrap();
    assert_eq!(rig.local.read(&opened, 0, 10).await.unwrap().data.concat(), b"data");
}

#[tokio::test]
async fn handles_survive_a_restart_and_a_rename() {
    handles_survive(Rig::new()).await;
}

#[tokio::test]
async fn handles_survive_without_privileges_by_the_places_they_were_seen_at() {
    handles_survive(Rig::single()).await;
}

#[tokio::test]
async fn a_place_that_somebody_else_changed_is_stale_and_never_another_object() {
    let mut rig = Rig::single();
    let dir = rig.dir("dir").await;
    let file = rig.make(&dir, "file", FILE).await.unwrap().node;
    let other = rig.make(&dir, "other", FILE).await.unwrap().node;
    let handles = [&file, &other].map(|node| rig.local.handle(node));
    drop((dir, file, other));
    fs::rename(rig.path("dir/file"), rig.path("dir/was")).unwrap();
    fs::rename(rig.path("dir/other"), rig.path("dir/file")).unwrap();
    rig.restart();
    assert_eq!(rig.local.resolve(&handles[0]).await.unwrap_err(), Fault::Stale);
    // What stood in its place was seen there, so that is known again.
    let other = rig.local.resolve(&handles[1]).await.unwrap();
    assert_eq!(rig.local.handle(&other), handles[1]);
    let dir = rig.top("dir").await;
    let again = rig.lookup(&dir, "file").await.unwrap();
    assert_eq!(rig.local.handle(&again), handles[1]);
    drop((dir, again));
    rig.restart();
    assert!(rig.local.resolve(&handles[1]).await.is_ok());
}

#[tokio::test]
async fn a_handle_of_a_deleted_and_recreated_object_is_stale() {
    for mut rig in [Rig::new(), Rig::single()] {
        let mut reused = false;
        for turn in 0..64 {
            let (node, opened) = rig.file("file").await;
            let (handle, id) = (rig.local.handle(&node), rig.meta(&node).await.fileid);
            drop((node, opened));
            rig.local.remove(&me(), &rig.local.root(), b"file").await.unwrap();
            assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
            let (node, opened) = rig.file("file").await;
            reused |= rig.meta(&node).await.fileid == id;
            assert_ne!(rig.local.handle(&node), handle);
            assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
            drop((node, opened));
            if turn == 0 {
                rig.restart();
                assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
            }
            rig.local.remove(&me(), &rig.local.root(), b"file").await.unwrap();
        }
        if !reused {
            eprintln!("NOT CHECKED: no inode number came back here");
        }
    }
}

#[tokio::test]
async fn removed_but_open_is_usable_until_the_last_close_then_stale() {
    for rig in [Rig::new(), Rig::single()] {
        let (node, first) = rig.file("file").await;
        rig.local.write(&first, 0, "before".into(), Stable::Un).await.unwrap();
        let second = rig.local.open(&me(), &node, READ).await.unwrap();
        let handle = rig.local.handle(&node);
        let removed = rig.local.remove(&me(), &rig.local.root(), b"file").await.unwrap();
        assert!(removed.last);
        assert_eq!(removed.node.oid, node.oid);
        drop((first, node, removed));
        let node = rig.local.resolve(&handle).await.unwrap();
        assert_eq!(rig.meta(&node).await.nlink, 0);
        assert_eq!(rig.local.read(&second, 0, 100).await.unwrap().data.concat(), b"before");
        let third = rig.local.open(&me(), &node, BOTH).await.unwrap();
        rig.local.write(&third, 0, "after_".into(), Stable::Data).await.unwrap();
        assert_eq!(rig.local.read(&second, 0, 100).await.unwrap().data.concat(), b"after_");
        drop(second);
        assert!(rig.local.resolve(&handle).await.is_ok());
        drop(third);
        assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
        assert_eq!(rig.local.getattr(&node).await.unwrap_err(), Fault::Stale);
        assert_eq!(rig.local.open(&me(), &node, READ).await.unwrap_err(), Fault::Stale);
        let linked = rig.local.link(&me(), &node, &rig.local.root(), b"again").await;
        assert_eq!(linked.unwrap_err(), Fault::Stale);
    }
}

#[tokio::test]
async fn renamed_over_but_open_is_usable_until_the_last_close_then_stale() {
    let rig = Rig::new();
    let (victim, opened) = rig.file("victim").await;
    rig.local.write(&opened, 0, "victim".into(), Stable::Un).await.unwrap();
    let (winner, _winner) = rig.file("winner").await;
    let (root, handle) = (rig.local.root(), rig.local.handle(&victim));
    let renamed = rig.local.rename(&me(), (&root, b"winner"), (&root, b"victim")).await.unwrap();
    assert_eq!(renamed.victim.unwrap().oid, victim.oid);
    assert_eq!(renamed.node.oid, winner.oid);
    assert_eq!(rig.local.resolve(&handle).await.unwrap().oid, victim.oid);
    assert_eq!(rig.local.read(&opened, 0, 100).await.unwrap().data.concat(), b"victim");
    drop(opened);
    assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
}

#[tokio::test]
async fn what_somebody_else_removed_is_stale_though_a_descriptor_keeps_it() {
    let rig = Rig::new();
    let (file, opened) = rig.file("file").await;
    let dir = rig.dir("dir").await;
    drop(opened);
    fs::remove_file(rig.path("file")).unwrap();
    fs::remove_dir(rig.path("dir")).unwrap();
    assert_eq!(rig.local.getattr(&file).await.unwrap_err(), Fault::Stale);
    assert_eq!(rig.local.resolve(&rig.local.handle(&file)).await.unwrap_err(), Fault::Stale);
    // In a removed directory nothing is merely missing.
    assert_eq!(rig.lookup(&dir, "x").await.unwrap_err(), Fault::Stale);
    assert_eq!(rig.make(&dir, "x", FILE).await.unwrap_err(), Fault::Stale);
    assert_eq!(rig.local.remove(&me(), &dir, b"x").await.unwrap_err(), Fault::Stale);
}

#[tokio::test]
async fn the_sweep_lets_go_of_what_somebody_else_removed() {
    let rig = Rig::new();
    for number in 0..40 {
        drop(rig.file(&format!("{number}")).await);
        fs::remove_file(rig.path(&format!("{number}"))).unwrap();
    }
    let before = rig.local.inner.cache.len();
    for turn in 0..16 {
        rig.local.inner.cache.sweep(turn);
    }
    assert_eq!(before - rig.local.inner.cache.len(), 40);
}

#[tokio::test]
async fn objects_at_hand_are_bounded_and_found_again() {
    for rig in [
        Rig::with(|options| options.descriptors = 32),
        Rig::with(|options| {
            options.descriptors = 32;
            options.force_single_user = true;
        }),
    ] {
        let (pinned, opened) = rig.file("pinned").await;
        let mut handles = Vec::new();
        for number in 0..300 {
            let (node, _) = rig.file(&format!("{number}")).await;
            handles.push((rig.local.handle(&node), rig.meta(&node).await.fileid));
        }
        assert!(rig.local.inner.cache.len() < 100, "{}", rig.local.inner.cache.len());
        for (handle, id) in handles {
            let node = rig.local.resolve(&handle).await.unwrap();
            assert_eq!(rig.meta(&node).await.fileid, id);
        }
        // The held one is still the same object, not a second one for the same inode.
        let again = rig.top("pinned").await;
        assert!(std::ptr::eq(
            again.object_ref::<super::super::Object>().unwrap(),
            pinned.object_ref::<super::super::Object>().unwrap()
        ));
        drop(opened);
    }
}

#[tokio::test]
async fn all_names_of_an_object_have_one_identity() {
    let rig = Rig::new();
    let (file, _opened) = rig.file("file").await;
    let dir = rig.dir("dir").await;
    rig.local.link(&me(), &file, &dir, b"other").await.unwrap();
    let other = rig.lookup(&dir, "other").await.unwrap();
    assert_eq!(other.oid, file.oid);
    assert_eq!(rig.local.handle(&other), rig.local.handle(&file));
    assert_eq!(rig.meta(&other).await.nlink, 2);
    let removed = rig.local.remove(&me(), &rig.local.root(), b"file").await.unwrap();
    assert!(!removed.last);
    assert_eq!(fs::metadata(rig.path("dir/other")).unwrap().nlink(), 1);
    assert!(rig.local.resolve(&rig.local.handle(&file)).await.is_ok());
}
