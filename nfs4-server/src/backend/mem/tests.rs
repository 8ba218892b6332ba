//! What is special about the file system in memory; what every backend must do is in [`kit`](super::super::kit).

mod model;
mod stress;

use std::sync::Arc;

use bytes::Bytes;

use super::super::{
    Backend, Create, CreateMode, Fault, Made, Node, OpenAccess, Opened, Seek, SetMeta, Sought, Stable, Who,
    XattrSet,
};
use super::Mem;

const BOTH: OpenAccess = OpenAccess { read: true, write: true };
const FILE: Create = Create::File { mode: CreateMode::Guarded, access: BOTH };

fn mem(limit: u64) -> Mem {
    Mem::with_clock(limit, 7, || 1_000).expect("room for the root")
}

async fn file(mem: &Mem, name: &str) -> (Node, Opened) {
    let made: Made = mem
        .create(&Who::server(), &mem.root(), name.as_bytes(), FILE, &SetMeta::default())
        .await
        .expect("created");
    (made.node, made.opened.expect("open"))
}

async fn write(mem: &Mem, file: &Opened, at: u64, data: Vec<u8>) -> Result<u32, Fault> {
    mem.write(file, at, data.into(), Stable::Un).await.map(|written| written.count)
}

async fn read(mem: &Mem, file: &Opened, at: u64, len: u32) -> Vec<u8> {
    mem.read(file, at, len).await.expect("read").data.concat()
}

#[tokio::test]
async fn everything_that_was_counted_is_given_back() {
    let mem = mem(64 << 20);
    let (who, root) = (Who::server(), mem.root());
    let empty = mem.used();
    for round in 0..3_u64 {
        let (node, one) = file(&mem, "one").await;
        let (_, two) = file(&mem, "two").await;
        write(&mem, &one, round * 1_000, vec![1; 200_000]).await.expect("written");
        mem.allocate(&one, 1 << 20, 1 << 20).await.expect("allocated");
        mem.clone_range(&one, 0, &two, 0, 0).await.expect("cloned");
        mem.copy(&one, 17, &two, 300_000, 100_000).await.expect("copied");
        mem.deallocate(&two, 5_000, 90_000).await.expect("a hole");
        write(&mem, &two, 70_001, vec![2; 1]).await.expect("written");
        mem.setattr(&who, &node, None, &SetMeta { size: Some(70_000), ..SetMeta::default() })
            .await
            .expect("cut");
        mem.setxattr(&who, &node, b"a", Bytes::from_static(b"value"), XattrSet::Either).await.expect("set");
        mem.setxattr(&who, &node, b"a", Bytes::from_static(b"v"), XattrSet::Either).await.expect("set");
        mem.create(&who, &root, b"dir", Create::Dir, &SetMeta::default()).await.expect("made");
        mem.create(&who, &root, b"sym", Create::Symlink(Bytes::from_static(b"x")), &SetMeta::default())
            .await
            .expect("made");
        mem.link(&who, &node, &root, b"another").await.expect("linked");
        mem.rename(&who, (&root, b"two"), (&root, b"a longer name")).await.expect("renamed");
        mem.rename(&who, (&root, b"a longer name"), (&root, b"one")).await.expect("replaced");
        for name in ["one", "another", "dir", "sym"] {
            mem.remove(&who, &root, name.as_bytes()).await.expect("removed");
        }
        assert!(mem.used() > empty, "open files still count");
        drop((one, two));
        assert_eq!(mem.used(), empty, "round {round}");
    }
}

#[tokio::test]
async fn the_limit_is_exact_and_a_write_is_cut_at_it() {
    let mem = mem(1 << 20);
    let (_, one) = file(&mem, "one").await;
    let written = write(&mem, &one, 0, vec![3; 2 << 20]).await.expect("a short write");
    assert!(u64::from(written) > (1 << 20) - (128 << 10) && written % (64 << 10) == 0, "{written}");
    assert!(mem.used() <= 1 << 20);
    assert_eq!(write(&mem, &one, u64::from(written), vec![3; 64 << 10]).await, Err(Fault::NoSpc));
    assert_eq!(mem.allocate(&one, 0, 2 << 20).await, Err(Fault::NoSpc));
    assert_eq!(mem.allocate(&one, 0, 1 << 60).await, Err(Fault::NoSpc));
    assert_eq!(read(&mem, &one, 0, 2 << 20).await.len(), written as usize);
    let stat = mem.statfs(&Who::server()).await.expect("statfs");
    assert_eq!((stat.space_total, stat.space_free), (1 << 20, (1 << 20) - mem.used()));
}

#[tokio::test]
async fn a_clone_without_room_changes_nothing() {
    let mem = mem(1 << 20);
    let (_, one) = file(&mem, "one").await;
    let (node, two) = file(&mem, "two").await;
    write(&mem, &one, 0, vec![4; 600 << 10]).await.expect("written");
    write(&mem, &two, 0, b"kept".to_vec()).await.expect("written");
    let before = (mem.used(), mem.getattr(&node).await.expect("attributes"));
    assert_eq!(mem.clone_range(&one, 0, &two, 0, 0).await, Err(Fault::NoSpc));
    assert_eq!((mem.used(), mem.getattr(&node).await.expect("attributes")), before);
    assert_eq!(read(&mem, &two, 0, 100).await, b"kept");
}

#[tokio::test]
async fn a_small_file_takes_a_small_buffer() {
    let mem = mem(1 << 20);
    let (node, one) = file(&mem, "one").await;
    for (len, space) in [(1, 256), (256, 256), (257, 512), (3_000, 4_096), (65_536, 65_536), (65_537, 65_792)]
    {
        write(&mem, &one, 0, vec![5; len]).await.expect("written");
        assert_eq!(mem.getattr(&node).await.expect("attributes").space_used, space, "{len} bytes");
    }
}

#[tokio::test]
async fn a_slice_that_was_read_is_not_changed_by_a_later_write() {
    let mem = mem(1 << 20);
    let (_, one) = file(&mem, "one").await;
    write(&mem, &one, 0, vec![6; 65_536]).await.expect("written");
    let held = mem.read(&one, 0, 65_536).await.expect("read").data;
    assert_eq!(held.len(), 1);
    write(&mem, &one, 10, vec![7; 10]).await.expect("written");
    assert!(held[0].iter().all(|&byte| byte == 6));
    assert_eq!(read(&mem, &one, 9, 12).await, [6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6]);
}

#[tokio::test]
async fn an_unheld_block_is_written_in_place() {
    let mem = mem(1 << 20);
    let (_, one) = file(&mem, "one").await;
    write(&mem, &one, 0, vec![8; 65_536]).await.expect("written");
    let address = mem.read(&one, 0, 1).await.expect("read").data[0].as_ptr();
    write(&mem, &one, 100, vec![9; 100]).await.expect("written");
    assert_eq!(mem.read(&one, 0, 1).await.expect("read").data[0].as_ptr(), address);
}

#[tokio::test]
async fn a_range_of_a_block_that_was_cleared_or_cut_reads_as_zero() {
    let mem = mem(1 << 20);
    let (node, one) = file(&mem, "one").await;
    let who = Who::server();
    write(&mem, &one, 0, vec![1; 200_000]).await.expect("written");
    mem.deallocate(&one, 100, 50).await.expect("within one block");
    mem.deallocate(&one, 60_000, 80_000).await.expect("over three");
    let all = read(&mem, &one, 0, 200_000).await;
    for (at, byte) in all.iter().enumerate() {
        let hole = (100..150).contains(&at) || (60_000..140_000).contains(&at);
        assert_eq!(*byte, u8::from(!hole), "at {at}");
    }
    assert_eq!(mem.seek(&one, 0, Seek::Hole).await, Ok(Sought { eof: false, offset: 65_536 }));
    assert_eq!(mem.seek(&one, 70_000, Seek::Data).await, Ok(Sought { eof: false, offset: 131_072 }));
    for size in [199_000, 200_000] {
        mem.setattr(&who, &node, None, &SetMeta { size: Some(size), ..SetMeta::default() })
            .await
            .expect("set");
    }
    assert!(read(&mem, &one, 199_000, 1_000).await.iter().all(|&byte| byte == 0));
}

#[tokio::test]
async fn a_handle_of_another_instance_is_stale() {
    let (one, two) = (mem(1 << 20), Mem::with_clock(1 << 20, 8, || 0).expect("room"));
    let handle = one.handle(&one.root());
    assert!(one.resolve(&handle).await.is_ok());
    assert_eq!(two.resolve(&handle).await.map(|_| ()), Err(Fault::Stale));
    assert_eq!(two.getattr(&one.root()).await, Err(Fault::XDev));
    assert_eq!(one.resolve(&handle[1..]).await.map(|_| ()), Err(Fault::BadHandle));
}

#[tokio::test]
async fn times_do_not_go_back_when_the_clock_does() {
    let clock = Arc::new(std::sync::atomic::AtomicI64::new(5_000_000_000));
    let source = Arc::clone(&clock);
    let mem =
        Mem::with_clock(1 << 20, 9, move || source.load(std::sync::atomic::Ordering::Relaxed)).expect("room");
    let (node, one) = file(&mem, "one").await;
    write(&mem, &one, 0, vec![1]).await.expect("written");
    let before = mem.getattr(&node).await.expect("attributes");
    clock.store(1_000_000_000, std::sync::atomic::Ordering::Relaxed);
    write(&mem, &one, 0, vec![2]).await.expect("written");
    let after = mem.getattr(&node).await.expect("attributes");
    assert_eq!((after.mtime, after.ctime), (before.mtime, before.ctime));
    assert_eq!(after.mtime.seconds, 5);
    assert_eq!(after.change, before.change + 1);
}

#[tokio::test]
async fn a_deep_tree_is_dropped_without_recursion() {
    let mem = mem(1 << 30);
    let who = Who::server();
    let mut at = mem.root();
    for _ in 0..100_000 {
        at = mem.create(&who, &at, b"d", Create::Dir, &SetMeta::default()).await.expect("made").node;
    }
    drop(mem);
}

crate::kit_tests!(rules, || {
    (Arc::new(Mem::new(1 << 30).expect("room for the root")) as Arc<dyn Backend>, ())
});
