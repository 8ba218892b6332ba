//! Change numbers, and what is kept for the next start.

use std::fs;

use super::super::super::{ChangeType, Stable};
use super::*;

async fn every_change_moves(local: &Local) {
    let (who, root) = (me(), local.root());
    let made = local.create(&who, &root, b"file", FILE, &SetMeta::default()).await.unwrap();
    let (file, opened) = (made.node, made.opened.unwrap());
    let mut last = made.meta.change;
    let mut moved = async |what: &str| {
        let now = local.getattr(&file).await.unwrap().change;
        assert!(now > last, "{what}: {now} after {last}");
        last = now;
        assert_eq!(local.getattr(&file).await.unwrap().change, now, "and only then");
    };
    for _ in 0..50 {
        local.write(&opened, 0, "x".into(), Stable::Un).await.unwrap();
        moved("WRITE").await;
        local.setattr(&who, &file, None, &mode(0o600)).await.unwrap();
        moved("SETATTR of the same value").await;
        local.link(&who, &file, &root, b"other").await.unwrap();
        moved("LINK").await;
        local.remove(&who, &root, b"other").await.unwrap();
        moved("REMOVE of another name").await;
    }
}

#[tokio::test]
async fn every_change_moves_the_change_number() {
    for fine in [None, Some(false)] {
        let rig = Rig::with(|options| options.sync_metadata = false);
        let local = Local::open_with(&rig.path("."), rig.options.clone(), fine).unwrap();
        every_change_moves(&local).await;
    }
}

#[tokio::test]
async fn a_number_that_ran_ahead_is_known_after_its_object_left_the_cache_and_after_a_restart() {
    let rig = Rig::with(|options| {
        options.sync_metadata = false;
        options.descriptors = 1;
    });
    let open = || Local::open_with(&rig.path("."), rig.options.clone(), Some(false)).unwrap();
    let local = open();
    let (who, root) = (me(), local.root());
    // Far ahead of any ctime.
    let ahead = u64::MAX / 2;
    let dir = local.create(&who, &root, b"dir", Create::Dir, &SetMeta::default()).await.unwrap().node;
    local.inner.object(&dir).unwrap().change.remember(ahead);
    assert_eq!(local.getattr(&dir).await.unwrap().change, ahead);
    let handle = local.handle(&dir);
    drop(dir);
    local.inner.cache.shrink();
    local.inner.cache.shrink();
    assert!(local.inner.cache.get(&handle).is_none(), "it left the cache");
    let dir = local.lookup(&who, &root, b"dir").await.unwrap();
    assert_eq!(local.getattr(&dir).await.unwrap().change, ahead);
    let made = local.create(&who, &dir, b"x", FILE, &SetMeta::default()).await.unwrap();
    assert_eq!((made.dir.before, made.dir.after), (ahead, ahead + 1));
    drop((made, dir, root, local));
    let local = open();
    let dir = local.lookup(&who, &local.root(), b"dir").await.unwrap();
    assert!(local.getattr(&dir).await.unwrap().change > ahead);
}

#[test]
fn order_is_promised_only_where_the_clock_has_passed_the_last_start_s_mark() {
    let mut rig = Rig::new();
    assert_eq!(rig.local.facts().change_type, ChangeType::Monotonic);
    rig.restart();
    assert_eq!(rig.local.facts().change_type, ChangeType::Monotonic);
    let mark = fs::read_dir(rig.dir.path().join("state"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("change-"))
        .unwrap();
    fs::write(mark, format!("{} 0\n", u64::MAX / 2)).unwrap();
    rig.local = Local::open(rig.path("."), rig.options.clone()).unwrap();
    assert_eq!(rig.local.facts().change_type, ChangeType::Undefined);
    rig.options.state_dir = None;
    rig.restart();
    assert_eq!(rig.local.facts().change_type, ChangeType::Undefined);
}
