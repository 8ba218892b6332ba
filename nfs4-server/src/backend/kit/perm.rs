//! Rules of permission: who may reach what.

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Create, CreateMode, Node, OpenAccess, Rights, Who};
use super::{BOTH, Ground, READ, Verdict, WRITE, fails, hold, mode, room, same, size, user};

/// The owner has the owner's bits, be they fewer than the others'.
pub async fn the_owner_class_decides_for_the_owner(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o077).await?;
    fails!(g.fs.open(&one, &file, READ), Access);
    fails!(g.fs.open(&user(one.uid, two.gid, &[]), &file, READ), Access);
    g.fs.open(&two, &file, BOTH).await?;
    g.set(&g.root, &file, &mode(0o607)).await?;
    g.fs.open(&one, &file, BOTH).await?;
    let member = user(two.uid, one.gid, &[]);
    fails!(g.fs.open(&member, &file, READ), Access);
    g.fs.open(&two, &file, BOTH).await?;
    Ok(())
}

/// The primary one and the others.
pub async fn every_group_of_the_caller_counts(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o640).await?;
    fails!(g.fs.open(&two, &file, READ), Access);
    g.fs.open(&user(two.uid, one.gid, &[]), &file, READ).await?;
    let groups: Vec<u32> = (3_000..3_015).chain([one.gid]).collect();
    let member = user(two.uid, two.gid, &groups);
    g.fs.open(&member, &file, READ).await?;
    fails!(g.fs.open(&member, &file, WRITE), Access);
    Ok(())
}

/// Search to look up, read to list, both write and search to change names.
pub async fn a_directory_asks_for_the_right_of_the_act(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    g.mkdir(&dir, "there").await?;
    let (file, _open) = g.file_as(&two, "f", 0o666).await?;
    let access = OpenAccess { read: true, write: false };
    for bits in 0..8_u32 {
        g.set(&g.root, &dir, &mode(0o700 | bits)).await?;
        let (read, write, search) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
        same!(g.fs.lookup(&one, &dir, b"there").await.is_ok(), search);
        same!(g.fs.list(&one, &dir, 0, room(10)).await.is_ok(), read);
        let what = Create::File { mode: CreateMode::Guarded, access };
        let made = g.fs.create(&one, &dir, b"new", what, &mode(0o644)).await;
        same!(made.as_ref().err().copied(), (!(write && search)).then_some(super::super::Fault::Access));
        same!(g.fs.create(&one, &dir, b"newdir", Create::Dir, &mode(0o755)).await.is_ok(), write && search);
        same!(g.fs.link(&two, &file, &dir, b"linked").await.is_ok(), write && search);
        if write && search {
            for name in ["new", "newdir", "linked"] {
                g.fs.rename(&one, (&dir, name.as_bytes()), (&dir, b"moved")).await?;
                g.fs.remove(&one, &dir, b"moved").await?;
            }
        } else {
            fails!(g.fs.remove(&one, &dir, b"there"), Access);
            fails!(g.fs.rename(&one, (&dir, b"there"), (&dir, b"moved")), Access);
            fails!(g.fs.rename(&one, (&dir, b"there"), (&g.dir, b"moved")), Access);
        }
    }
    Ok(())
}

/// uid 0: everything but the execution of what nobody may execute.
pub async fn the_privileged_are_asked_for_execution_only(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, _) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o000).await?;
    let dir = g.fs.create(&one, &g.dir, b"d", Create::Dir, &mode(0o000)).await?.node;
    g.fs.open(&g.root, &file, BOTH).await?;
    g.mkdir(&dir, "x").await?;
    hold!(!g.fs.access(&g.root, &file, Rights::EXECUTE).await?.contains(Rights::EXECUTE));
    g.set(&g.root, &file, &mode(0o001)).await?;
    hold!(g.fs.access(&g.root, &file, Rights::EXECUTE).await?.contains(Rights::EXECUTE));
    hold!(g.fs.access(&g.root, &dir, Rights::LOOKUP).await?.contains(Rights::LOOKUP));
    Ok(())
}

/// What ACCESS grants works, what it denies is denied (§18.1), and no more than asked is answered.
pub async fn access_says_what_calls_then_do(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o000).await?;
    let dir = g.fs.create(&one, &g.dir, b"d", Create::Dir, &mode(0o700)).await?.node;
    g.mkdir(&dir, "x").await?;
    let member = user(two.uid, one.gid, &[]);
    for bits in 0..8_u32 {
        let modes = [(&one, bits << 6), (&member, bits << 3), (&two, bits)];
        for (who, bits) in modes {
            access_fits(&g, who, &file, &dir, bits).await?;
        }
    }
    same!(g.fs.access(&one, &dir, Rights::empty()).await?, Rights::empty());
    let narrow = g.fs.access(&g.root, &file, Rights::READ).await?;
    same!(narrow, Rights::READ);
    Ok(())
}

async fn access_fits(g: &Ground, who: &Who, file: &Node, dir: &Node, bits: u32) -> Verdict {
    g.set(&g.root, file, &mode(bits)).await?;
    g.set(&g.root, dir, &mode(bits)).await?;
    let asked =
        Rights::READ | Rights::MODIFY | Rights::EXTEND | Rights::EXECUTE | Rights::LOOKUP | Rights::DELETE;
    let of_file = g.fs.access(who, file, asked).await?;
    // A program must be read to be run; who may see its bytes is decided by ACCESS.
    same!(g.fs.open(who, file, READ).await.is_ok(), of_file.intersects(Rights::READ | Rights::EXECUTE));
    same!(g.fs.open(who, file, BOTH).await.is_ok(), of_file.contains(Rights::READ | Rights::MODIFY));
    same!(g.fs.open(who, file, WRITE).await.is_ok(), of_file.contains(Rights::MODIFY | Rights::EXTEND));
    same!(of_file.contains(Rights::EXECUTE), bits & 0o111 != 0);
    let of_dir = g.fs.access(who, dir, asked).await?;
    same!(g.fs.list(who, dir, 0, room(10)).await.is_ok(), of_dir.contains(Rights::READ));
    same!(g.fs.lookup(who, dir, b"x").await.is_ok(), of_dir.contains(Rights::LOOKUP));
    let made = g.fs.create(who, dir, b"y", Create::Fifo, &mode(0o644)).await.is_ok();
    same!(made, of_dir.contains(Rights::MODIFY | Rights::EXTEND));
    same!(made, of_dir.contains(Rights::DELETE));
    if made {
        g.fs.remove(who, dir, b"y").await?;
    }
    Ok(())
}

/// As open(2): the mode of a new file counts for the next one who opens it.
pub async fn a_file_just_made_is_open_whatever_its_mode(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, _) = g.users().await?;
    let (file, open) = g.file_as(&one, "f", 0o000).await?;
    g.write(&open, 0, b"data").await?;
    same!(g.read(&open, 0, 10).await?, b"data");
    fails!(g.fs.open(&one, &file, READ), Access);
    Ok(())
}

/// ftruncate(2): SETATTR of the size with an open for writing.
pub async fn an_open_file_may_be_cut_without_permission(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, open) = g.file_as(&one, "f", 0o444).await?;
    g.write(&open, 0, b"data").await?;
    fails!(g.set(&one, &file, &size(2)), Access);
    let done = g.fs.setattr(&one, &file, Some(&open), &size(2)).await?;
    hold!(done.applied.size && done.fault.is_none());
    same!(g.meta(&file).await?.size, 2);
    let reader = g.fs.open(&two, &file, READ).await?;
    fails!(
        async {
            g.fs.setattr(&two, &file, Some(&reader), &size(0))
                .await
                .and_then(|done| done.fault.map_or(Ok(()), Err))
        },
        Access
    );
    same!(g.meta(&file).await?.size, 2);
    Ok(())
}

/// In a directory with the sticky bit only owners (of the entry, of the directory) take names away.
pub async fn a_sticky_directory_protects_names(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    g.set(&g.root, &g.dir, &mode(0o1777)).await?;
    g.file_as(&one, "a", 0o666).await?;
    g.file_as(&two, "b", 0o666).await?;
    fails!(g.fs.remove(&two, &g.dir, b"a"), Perm | Access);
    fails!(g.fs.rename(&two, (&g.dir, b"a"), (&g.dir, b"c")), Perm | Access);
    fails!(g.fs.rename(&two, (&g.dir, b"b"), (&g.dir, b"a")), Perm | Access);
    g.fs.rename(&one, (&g.dir, b"a"), (&g.dir, b"c")).await?;
    g.fs.remove(&one, &g.dir, b"c").await?;
    g.fs.remove(&g.root, &g.dir, b"b").await?;
    let own = g.fs.create(&one, &g.dir, b"own", Create::Dir, &mode(0o1777)).await?.node;
    g.fs.create(&two, &own, b"x", Create::Symlink(Bytes::from_static(b"y")), &mode(0o777)).await?;
    g.fs.remove(&one, &own, b"x").await?;
    Ok(())
}

/// "..", which changes, is in the directory that moves to another.
pub async fn moving_a_directory_needs_the_right_to_write_it(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, _) = g.users().await?;
    let dir = g.fs.create(&one, &g.dir, b"d", Create::Dir, &mode(0o755)).await?.node;
    let moved = g.fs.create(&one, &g.dir, b"m", Create::Dir, &mode(0o555)).await?.node;
    fails!(g.fs.rename(&one, (&g.dir, b"m"), (&dir, b"m")), Access);
    g.fs.rename(&one, (&g.dir, b"m"), (&g.dir, b"n")).await?;
    g.set(&one, &moved, &mode(0o755)).await?;
    g.fs.rename(&one, (&g.dir, b"n"), (&dir, b"m")).await?;
    Ok(())
}
