//! Data, descriptors, and what is on the medium.

use std::sync::Arc;

use super::super::super::{Seek, Sought, Stable};
use super::super::pool::Pool;
use super::super::sync::Depth;
use super::*;
use crate::backend::in_place;

async fn read(rig: &Rig, file: &Opened, at: u64, len: u32) -> (Vec<u8>, bool) {
    let read = rig.local.read(file, at, len).await.unwrap();
    (read.data.concat(), read.eof)
}

#[tokio::test]
async fn reads_end_at_the_end_of_the_file_and_say_so() {
    let rig = Rig::new();
    let (_, file) = rig.file("file").await;
    assert_eq!(read(&rig, &file, 0, 10).await, (vec![], true));
    let data: Vec<u8> = (0..100_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    for stable in [Stable::Un, Stable::Data, Stable::File] {
        let written = rig.local.write(&file, 0, data.clone().into(), stable).await.unwrap();
        assert_eq!((written.count, written.stable), (100_000, stable));
    }
    assert_eq!(read(&rig, &file, 0, 99_999).await, (data[..99_999].to_vec(), false));
    assert_eq!(read(&rig, &file, 0, 100_000).await, (data.clone(), true));
    assert_eq!(read(&rig, &file, 99_999, u32::MAX).await, (data[99_999..].to_vec(), true));
    assert_eq!(read(&rig, &file, 100_000, 1).await, (vec![], true));
    assert_eq!(read(&rig, &file, u64::MAX, 1).await, (vec![], true));
    let beyond = rig.local.write(&file, u64::MAX - 1, "x".into(), Stable::Un).await;
    assert_eq!(beyond.unwrap_err(), Fault::FBig);
}

#[tokio::test]
async fn data_that_are_not_in_memory_are_read_too() {
    let rig = Rig::new();
    let (_, file) = rig.file("file").await;
    rig.local.write(&file, 0, vec![7; 1 << 20].into(), Stable::File).await.unwrap();
    let disk = std::fs::File::open(rig.path("file")).unwrap();
    rustix::fs::fadvise(&disk, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    assert_eq!(read(&rig, &file, 0, 1 << 20).await, (vec![7; 1 << 20], true));
}

#[tokio::test]
async fn an_object_has_one_descriptor_which_is_upgraded_for_a_writer_and_closed_with_the_last_open() {
    let rig = Rig::new();
    let (node, made) = rig.file("file").await;
    rig.local.write(&made, 0, "data".into(), Stable::Un).await.unwrap();
    drop(made);
    let object = rig.local.inner.object(&node).unwrap();
    assert!(object.data().any().is_none(), "closed");
    let reader = rig.local.open(&me(), &node, READ).await.unwrap();
    assert!(object.data().writer().is_none());
    assert_eq!(rig.local.write(&reader, 0, "x".into(), Stable::Un).await.unwrap_err(), Fault::Access);
    let writer = rig.local.open(&me(), &node, WRITE).await.unwrap();
    let one = object.data().reader().unwrap();
    let other = object.data().writer().unwrap();
    assert!(Arc::ptr_eq(&one, &other), "one for both");
    assert_eq!(read(&rig, &reader, 0, 9).await, (b"data".to_vec(), true));
    rig.local.write(&writer, 4, "more".into(), Stable::Un).await.unwrap();
    drop(writer);
    assert_eq!(read(&rig, &reader, 0, 9).await, (b"datamore".to_vec(), true));
    drop(reader);
    assert!(object.data().any().is_none());
    assert_eq!(object.data().opens, 0);
}

#[tokio::test]
async fn one_fsync_serves_everybody_who_came_before_it_began() {
    let rig = Rig::new();
    let inner = &rig.local.inner;
    let dir = rig.dir("dir").await;
    for number in 0..16 {
        rig.make(&dir, &number.to_string(), FILE).await.unwrap();
    }
    let object = inner.object(&dir).unwrap();
    // As if an fsync of the directory were running (once those of the files above are through).
    while std::mem::replace(&mut object.lanes[1].lock().unwrap().running, true) {
        tokio::task::yield_now().await;
    }
    let removals: Vec<_> = (0..16)
        .map(|number| {
            let (local, dir) = (rig.local.clone(), dir.clone());
            tokio::spawn(async move { local.remove(&me(), &dir, number.to_string().as_bytes()).await })
        })
        .collect();
    while object.lanes[1].lock().unwrap().waiting.len() < 16 {
        tokio::task::yield_now().await;
    }
    assert!(removals.iter().all(|removal| !removal.is_finished()), "no reply before the medium");
    let before = inner.syncs.load(std::sync::atomic::Ordering::Relaxed);
    inner.serve_lane(&object, Depth::All);
    for removal in removals {
        removal.await.unwrap().unwrap();
    }
    assert_eq!(inner.syncs.load(std::sync::atomic::Ordering::Relaxed) - before, 1);
}

#[tokio::test]
async fn without_sync_metadata_no_name_waits_for_the_medium() {
    let rig = Rig::with(|options| options.sync_metadata = false);
    let (node, opened) = rig.file("file").await;
    rig.local.setattr(&me(), &node, None, &mode(0o640)).await.unwrap();
    let syncs = || rig.local.inner.syncs.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(syncs(), 0);
    rig.local.write(&opened, 0, "x".into(), Stable::Un).await.unwrap();
    rig.local.commit(&node, 0, 0).await.unwrap();
    assert_eq!(syncs(), 1, "a COMMIT does");
    drop(opened);
    rig.local.commit(&node, 0, 0).await.unwrap();
}

#[tokio::test]
async fn every_kind_of_object_gets_to_the_medium() {
    let rig = Rig::new();
    let root = rig.local.root();
    for (name, what) in [
        ("file", FILE),
        ("dir", Create::Dir),
        ("link", Create::Symlink("x".into())),
        ("fifo", Create::Fifo),
        ("sock", Create::Socket),
    ] {
        let node = rig.make(&root, name, what).await.unwrap().node;
        let now = SetMeta { mtime: Some(super::super::super::SetTime::Now), ..SetMeta::default() };
        let done = rig.local.setattr(&me(), &node, None, &now).await.unwrap();
        assert_eq!(done.fault, None, "{name}");
    }
}

#[tokio::test]
async fn the_write_verifier_is_new_with_each_start_and_after_a_loss_only() {
    let mut rig = Rig::new();
    let (node, opened) = rig.file("file").await;
    let first = rig.local.write_verifier();
    rig.local.write(&opened, 0, "x".into(), Stable::Un).await.unwrap();
    rig.local.commit(&node, 0, 0).await.unwrap();
    assert_eq!(rig.local.write_verifier(), first);
    rig.local.inner.new_verifier();
    let second = rig.local.write_verifier();
    assert_ne!(second, first);
    drop((node, opened));
    rig.restart();
    assert!(![first, second].contains(&rig.local.write_verifier()));
}

#[tokio::test]
async fn holes_are_found_made_and_filled() {
    let rig = Rig::new();
    let (node, file) = rig.file("file").await;
    let block = 1 << 20;
    rig.local.write(&file, block, vec![1; 1 << 20].into(), Stable::Data).await.unwrap();
    let seek = async |at, what| rig.local.seek(&file, at, what).await;
    assert_eq!(seek(0, Seek::Data).await.unwrap(), Sought { eof: false, offset: block });
    assert_eq!(seek(0, Seek::Hole).await.unwrap(), Sought { eof: false, offset: 0 });
    assert_eq!(seek(block, Seek::Hole).await.unwrap(), Sought { eof: true, offset: 2 * block });
    assert_eq!(seek(2 * block, Seek::Data).await.unwrap_err(), Fault::NxIo);
    rig.local.deallocate(&file, block, 1 << 20).await.unwrap();
    assert_eq!(rig.meta(&node).await.size, 2 * block);
    assert_eq!(seek(0, Seek::Data).await.unwrap(), Sought { eof: true, offset: 2 * block });
    assert_eq!(read(&rig, &file, block, 10).await.0, vec![0; 10]);
    rig.local.deallocate(&file, block, 100 * block).await.unwrap();
    assert_eq!(rig.meta(&node).await.size, 2 * block);
    rig.local.allocate(&file, 2 * block, block).await.unwrap();
    assert_eq!(rig.meta(&node).await.size, 3 * block);
    assert!(rig.meta(&node).await.space_used >= block);
    assert_eq!(rig.local.allocate(&file, u64::MAX, 2).await.unwrap_err(), Fault::FBig);
}

#[tokio::test]
async fn ranges_are_copied_and_shared_as_the_file_system_can() {
    let rig = Rig::new();
    let (_, from) = rig.file("from").await;
    let (_, to) = rig.file("to").await;
    let data: Vec<u8> = (0..40_960_u32).map(|i| (i / 7).to_le_bytes()[0]).collect();
    rig.local.write(&from, 0, data.clone().into(), Stable::Un).await.unwrap();
    assert_eq!(rig.local.copy(&from, 1_000, &to, 5, 20_000).await.unwrap(), 20_000);
    assert_eq!(read(&rig, &to, 5, 20_000).await.0, data[1_000..21_000]);
    assert_eq!(rig.local.copy(&from, 40_000, &to, 0, 20_000).await.unwrap(), 960, "to the end");
    // Within one file.
    assert_eq!(rig.local.copy(&from, 0, &from, 30_000, 1_000).await.unwrap(), 1_000);
    assert_eq!(read(&rig, &from, 30_000, 1_000).await.0, data[..1_000]);
    let shared = rig.local.clone_range(&from, 0, &to, 0, 0).await;
    if rig.local.facts().clones {
        shared.unwrap();
        assert_eq!(read(&rig, &to, 0, 30_000).await.0, data[..30_000]);
    } else {
        assert_eq!(shared.unwrap_err(), Fault::NotSupp);
    }
}

#[tokio::test]
async fn a_short_job_is_done_in_place_where_that_is_allowed_until_one_takes_long() {
    let pool = Pool::new("test", 1).unwrap();
    let here = std::thread::current().id();
    let place = |allowed| in_place::run(allowed, || pool.run_short(|| Ok(std::thread::current().id())));
    assert_ne!(place(false).await.unwrap(), here);
    assert_eq!(place(true).await.unwrap(), here);
    let panics = in_place::run(true, || pool.run_short::<(), _>(|| panic!("a job's own fault")));
    assert_eq!(panics.await, Err(Fault::ServerFault));
    let slow = in_place::run(true, || {
        pool.run_short(|| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            Ok(())
        })
    });
    slow.await.unwrap();
    assert_ne!(place(true).await.unwrap(), here, "the medium is waited for: nobody else shall");
}

#[tokio::test]
async fn the_pool_drops_no_job_when_its_queue_is_full_and_survives_a_panic() {
    let pool = Pool::new("test", 1).unwrap();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let first = pool.run(move || {
        let _ = wait.recv();
        Ok(0)
    });
    let answers: Vec<_> = (1..10_000).map(|number| pool.run(move || Ok(number))).collect();
    let panics = pool.run::<(), _>(|| panic!("a job's own fault"));
    go.send(()).unwrap();
    assert_eq!(first.await, Ok(0));
    for (answer, number) in answers.into_iter().zip(1..) {
        assert_eq!(answer.await, Ok(number));
    }
    assert_eq!(panics.await, Err(Fault::ServerFault));
    assert_eq!(pool.run(|| Ok("alive")).await, Ok("alive"));
}
