//! Rules of names and identities.

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Create, CreateMode, FileKind, SetMeta, SetTime, Time};
use super::{BOTH, Ground, READ, Verdict, fails, hold, mode, same};

/// LOOKUP finds what was made, in its directory only (§18.13).
pub async fn a_name_is_found_where_it_was_made(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    fails!(g.lookup("f"), NoEnt);
    let (file, _open) = g.file("f").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    same!(g.lookup("f").await?.oid, file.oid);
    same!(g.lookup("d").await?.oid, dir.oid);
    same!((file.kind, dir.kind), (FileKind::File, FileKind::Dir));
    fails!(g.fs.lookup(&g.root, &dir, b"f"), NoEnt);
    fails!(g.fs.lookup(&g.root, &g.fs.root(), b"f"), NoEnt);
    fails!(g.fs.lookup(&g.root, &file, b"f"), NotDir);
    fails!(g.fs.create(&g.root, &file, b"x", Create::Dir, &mode(0o755)), NotDir);
    fails!(g.fs.remove(&g.root, &file, b"x"), NotDir);
    Ok(())
}

/// Names of `Facts::max_name` bytes work, one more is NAMETOOLONG, for every operation that takes one.
pub async fn names_up_to_the_longest_are_kept_and_longer_ones_refused(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let longest = "n".repeat(g.fs.facts().max_name as usize);
    let longer = format!("{longest}n");
    let (file, _open) = g.file(&longest).await?;
    same!(g.lookup(&longest).await?.oid, file.oid);
    same!(g.names(&g.dir, 10).await?, [Bytes::from(longest.clone())]);
    let (long, name) = (longer.as_bytes(), longest.as_bytes());
    fails!(g.lookup(&longer), NameTooLong);
    fails!(g.create(&g.root, &longer, CreateMode::Unchecked, &mode(0o644)), NameTooLong);
    fails!(g.fs.create(&g.root, &g.dir, long, Create::Dir, &mode(0o755)), NameTooLong);
    fails!(g.fs.link(&g.root, &file, &g.dir, long), NameTooLong);
    fails!(g.fs.remove(&g.root, &g.dir, long), NameTooLong);
    fails!(g.fs.rename(&g.root, (&g.dir, name), (&g.dir, long)), NameTooLong);
    Ok(())
}

/// No normalisation: two spellings are two names; bytes that are not UTF-8 where the facts say so.
pub async fn names_are_kept_byte_by_byte(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (composed, decomposed) = ("\u{e9}", "e\u{301}");
    let (one, _a) = g.file(composed).await?;
    let (two, _b) = g.file(decomposed).await?;
    hold!(one.oid != two.oid);
    let case = g.file("CASE").await?.0;
    let lower = g.file("case").await?.0;
    hold!(case.oid != lower.oid);
    let mut names = g.names(&g.dir, 10).await?;
    names.sort();
    same!(names.len(), 4);
    hold!(names.contains(&Bytes::from(composed)) && names.contains(&Bytes::from(decomposed)));
    if g.fs.facts().any_bytes {
        let raw = b"\xff\xfe";
        g.fs.create(&g.root, &g.dir, raw, Create::Dir, &mode(0o755)).await?;
        g.fs.lookup(&g.root, &g.dir, raw).await?;
        hold!(g.names(&g.dir, 10).await?.contains(&Bytes::from_static(raw)));
        g.fs.remove(&g.root, &g.dir, raw).await?;
    }
    Ok(())
}

/// All names of an object lead to one `Oid`, one fileid, one content (traps 17 and 43).
pub async fn an_object_has_one_identity_by_all_its_names(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("one").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    g.fs.link(&g.root, &file, &dir, b"two").await?;
    let other = g.fs.lookup(&g.root, &dir, b"two").await?;
    same!(other.oid, file.oid);
    g.write(&open, 0, b"shared").await?;
    let (one, two) = (g.meta(&file).await?, g.meta(&other).await?);
    same!(one, two);
    same!((two.nlink, two.size), (2, 6));
    let gone = g.fs.remove(&g.root, &g.dir, b"one").await?;
    hold!(!gone.last && gone.node.oid == file.oid);
    same!(g.meta(&other).await?.nlink, 1);
    hold!(g.fs.remove(&g.root, &dir, b"two").await?.last);
    Ok(())
}

/// A handle resolves to the same object, and fits.
pub async fn a_handle_finds_its_object_again(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    for node in [&file, &dir, &g.fs.root()] {
        let handle = g.fs.handle(node);
        hold!(!handle.is_empty() && handle.len() <= 100, "{} bytes", handle.len());
        let found = g.fs.resolve(&handle).await?;
        same!((found.oid, found.kind), (node.oid, node.kind));
        same!(g.fs.handle(&found), handle);
    }
    hold!(g.fs.handle(&file) != g.fs.handle(&dir));
    g.fs.rename(&g.root, (&g.dir, b"f"), (&dir, b"g")).await?;
    same!(g.fs.resolve(&g.fs.handle(&file)).await?.oid, file.oid);
    Ok(())
}

/// Without a name and without an open an object is STALE by its handle (§4.2.2).
pub async fn a_removed_object_is_stale(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let file = g.fs.handle(&g.file("f").await?.0);
    let dir = g.fs.handle(&g.mkdir(&g.dir, "d").await?);
    for name in ["f", "d"] {
        let gone = g.fs.remove(&g.root, &g.dir, name.as_bytes()).await?;
        hold!(gone.last);
        drop(gone);
        fails!(g.lookup(name), NoEnt);
        fails!(g.fs.remove(&g.root, &g.dir, name.as_bytes()), NoEnt);
    }
    fails!(g.fs.resolve(&file), Stale);
    fails!(g.fs.resolve(&dir), Stale);
    Ok(())
}

/// The same name again is another object, also where the inode number returns.
pub async fn a_name_made_anew_is_another_object(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let mut handles = Vec::new();
    let mut oids = Vec::new();
    for _ in 0..20 {
        let (file, open) = g.file("f").await?;
        hold!(!oids.contains(&file.oid), "{:?} is used again", file.oid);
        oids.push(file.oid);
        handles.push(g.fs.handle(&file));
        drop((file, open));
        g.remove("f").await?;
    }
    let (last, _open) = g.file("f").await?;
    for handle in &handles {
        hold!(*handle != g.fs.handle(&last));
        fails!(g.fs.resolve(handle), Stale);
    }
    Ok(())
}

/// GUARDED4, and every kind that is no file: EXIST (§18.16.3, §18.4.3).
pub async fn guarded_create_refuses_a_taken_name(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    g.file("f").await?;
    g.mkdir(&g.dir, "d").await?;
    for name in ["f", "d"] {
        fails!(g.create(&g.root, name, CreateMode::Guarded, &mode(0o644)), Exist);
        fails!(g.create(&g.root, name, CreateMode::Exclusive([1; 8]), &mode(0o644)), Exist);
        fails!(g.fs.create(&g.root, &g.dir, name.as_bytes(), Create::Dir, &mode(0o755)), Exist);
        let link = Create::Symlink(Bytes::from_static(b"x"));
        fails!(g.fs.create(&g.root, &g.dir, name.as_bytes(), link, &mode(0o777)), Exist);
        fails!(g.fs.create(&g.root, &g.dir, name.as_bytes(), Create::Fifo, &mode(0o644)), Exist);
    }
    Ok(())
}

/// UNCHECKED4 on an existing file: nothing is created, nothing set, nothing opened (S-12).
pub async fn unchecked_create_leaves_a_taken_name_alone(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 0, &[1; 100]).await?;
    let before = g.meta(&file).await?;
    let set = SetMeta { size: Some(0), ..mode(0o600) };
    let made = g.create(&g.root, "f", CreateMode::Unchecked, &set).await?;
    hold!(made.existed && made.opened.is_none());
    same!(made.node.oid, file.oid);
    same!(made.meta, before);
    same!(g.meta(&file).await?, before);
    same!(made.dir.before, made.dir.after);
    let fresh = g.create(&g.root, "g", CreateMode::Unchecked, &mode(0o640)).await?;
    hold!(!fresh.existed && fresh.opened.is_some());
    same!(fresh.meta.mode, 0o640);
    hold!(fresh.dir.before != fresh.dir.after);
    Ok(())
}

/// EXCLUSIVE4: the same verifier is the same request again, another is EXIST (S-11).
pub async fn exclusive_create_knows_its_own_retry(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (v, w) = (CreateMode::Exclusive(*b"verify-V"), CreateMode::Exclusive(*b"verify-W"));
    let first = g.create(&g.root, "f", v, &mode(0o640)).await?;
    hold!(!first.existed && first.opened.is_some());
    let again = g.create(&g.root, "f", v, &mode(0o640)).await?;
    hold!(again.opened.is_some(), "the retry is open too");
    same!(again.node.oid, first.node.oid);
    same!(again.dir.before, again.dir.after);
    same!(again.meta.mode & 0o777 & !0o640, 0);
    fails!(g.create(&g.root, "f", w, &mode(0o640)), Exist);
    fails!(g.create(&g.root, "f", CreateMode::Guarded, &mode(0o640)), Exist);
    g.create(&g.root, "f", v, &mode(0o640)).await?;
    same!(g.names(&g.dir, 10).await?.len(), 1);
    Ok(())
}

/// Before the SETATTR that follows an exclusive create nobody else has a right to the file (S-11).
pub async fn exclusive_create_gives_nothing_to_others(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let made = g.create(&g.root, "f", CreateMode::Exclusive([3; 8]), &SetMeta::default()).await?;
    same!(made.meta.mode & !0o600, 0);
    same!(g.meta(&made.node).await?.mode & !0o600, 0);
    Ok(())
}

/// Directories, symbolic links, FIFOs, sockets; devices where the process may make them.
pub async fn every_kind_can_be_made(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let target = Bytes::from_static(b"../some where/\xc3\xa9");
    let kinds = [
        ("d", Create::Dir, FileKind::Dir),
        ("l", Create::Symlink(target.clone()), FileKind::Symlink),
        ("p", Create::Fifo, FileKind::Fifo),
        ("s", Create::Socket, FileKind::Socket),
    ];
    for (name, what, kind) in kinds {
        let made = g.fs.create(&g.root, &g.dir, name.as_bytes(), what, &mode(0o755)).await?;
        same!((made.node.kind, made.meta.kind), (kind, kind));
        hold!(!made.existed && made.opened.is_none() && made.dir.before != made.dir.after);
        let found = g.lookup(name).await?;
        same!((found.oid, found.kind), (made.node.oid, kind));
        same!(g.meta(&found).await?.kind, kind);
        hold!(g.meta(&found).await?.mode == 0o755 || kind == FileKind::Symlink);
    }
    let link = g.lookup("l").await?;
    same!(g.fs.readlink(&g.root, &link).await?, target);
    same!(g.meta(&link).await?.size, target.len() as u64);
    fails!(g.fs.readlink(&g.root, &g.lookup("d").await?), WrongType | Inval | IsDir);
    for (name, what, kind) in
        [("b", Create::Block(8, 1), FileKind::Block), ("c", Create::Char(1, 3), FileKind::Char)]
    {
        match g.fs.create(&g.root, &g.dir, name.as_bytes(), what, &mode(0o600)).await {
            Ok(made) => same!((made.meta.kind, made.meta.rdev == (0, 0)), (kind, false)),
            Err(super::super::Fault::Perm) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

/// CREATE's and OPEN's attributes hold from the first moment, and the masked mode's other bits are not touched.
pub async fn attributes_are_set_at_creation(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let time = Time { seconds: 1_000_000_000, nseconds: 0 };
    let set = SetMeta { size: Some(10_000), mtime: Some(SetTime::To(time)), ..mode(0o604) };
    let made = g.create(&g.root, "f", CreateMode::Guarded, &set).await?;
    same!((made.meta.size, made.meta.mode, made.meta.mtime), (10_000, 0o604, time));
    hold!(made.applied.size && made.applied.mode && made.applied.mtime && !made.applied.uid);
    same!(g.meta(&made.node).await?, made.meta);
    same!(made.meta.nlink, 1);
    let dir = g.fs.create(&g.root, &g.dir, b"d", Create::Dir, &mode(0o1711)).await?;
    same!(dir.meta.mode, 0o1711);
    Ok(())
}

/// REMOVE of a directory (§18.25.3).
pub async fn only_an_empty_directory_can_be_removed(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    g.mkdir(&dir, "e").await?;
    fails!(g.fs.remove(&g.root, &g.dir, b"d"), NotEmpty);
    g.fs.remove(&g.root, &dir, b"e").await?;
    let gone = g.fs.remove(&g.root, &g.dir, b"d").await?;
    hold!(gone.last && gone.node.oid == dir.oid && gone.dir.before != gone.dir.after);
    Ok(())
}

/// A directory that was removed takes no entries.
pub async fn nothing_can_be_made_in_a_removed_directory(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    let (file, _open) = g.file("f").await?;
    g.remove("d").await?;
    fails!(g.fs.create(&g.root, &dir, b"x", Create::Dir, &mode(0o755)), Stale | NoEnt);
    fails!(g.fs.link(&g.root, &file, &dir, b"x"), Stale | NoEnt);
    fails!(g.fs.rename(&g.root, (&g.dir, b"f"), (&dir, b"x")), Stale | NoEnt);
    same!(g.lookup("f").await?.oid, file.oid);
    Ok(())
}

/// LINK (§18.9.3).
pub async fn a_link_is_refused_for_directories_and_taken_names(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    fails!(g.fs.link(&g.root, &dir, &g.dir, b"x"), IsDir);
    fails!(g.fs.link(&g.root, &file, &g.dir, b"f"), Exist);
    fails!(g.fs.link(&g.root, &file, &g.dir, b"d"), Exist);
    fails!(g.fs.link(&g.root, &file, &file, b"x"), NotDir);
    same!(g.meta(&file).await?.nlink, 1);
    let linked = g.fs.link(&g.root, &file, &dir, b"x").await?;
    hold!(linked.dir.before != linked.dir.after);
    same!(linked.dir.after, g.meta(&dir).await?.change);
    Ok(())
}

/// LOOKUPP (§18.14).
pub async fn the_root_has_no_parent(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    fails!(g.fs.parent(&g.root, &g.fs.root()), NoEnt);
    same!(g.fs.parent(&g.root, &g.dir).await?.oid, g.fs.root().oid);
    let deep = g.mkdir(&g.dir, "d").await?;
    same!(g.fs.parent(&g.root, &deep).await?.oid, g.dir.oid);
    let (file, _open) = g.file("f").await?;
    fails!(g.fs.parent(&g.root, &file), NotDir);
    Ok(())
}

/// Where a file system counts ".." in nlink, it does so always.
pub async fn a_directory_counts_its_subdirectories(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (a, b) = (g.mkdir(&g.dir, "a").await?, g.mkdir(&g.dir, "b").await?);
    if g.meta(&a).await?.nlink != 2 {
        return Err(super::Broken::Skipped("directories are not counted"));
    }
    same!(g.meta(&g.dir).await?.nlink, 4);
    g.mkdir(&a, "x").await?;
    g.fs.create(&g.root, &a, b"y", Create::Fifo, &mode(0o644)).await?;
    same!(g.meta(&a).await?.nlink, 3);
    g.fs.rename(&g.root, (&a, b"x"), (&b, b"x")).await?;
    same!((g.meta(&a).await?.nlink, g.meta(&b).await?.nlink), (2, 3));
    g.fs.rename(&g.root, (&g.dir, b"a"), (&b, b"a")).await?;
    same!((g.meta(&g.dir).await?.nlink, g.meta(&b).await?.nlink), (3, 4));
    g.fs.remove(&g.root, &b, b"x").await?;
    same!(g.meta(&b).await?.nlink, 3);
    Ok(())
}

/// `OPEN4_RESULT_PRESERVE_UNLINKED`: usable by open and by handle until the last open goes, then STALE (S-21).
pub async fn a_removed_file_lives_while_it_is_open(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let second = g.fs.open(&g.root, &file, READ).await?;
    g.write(&open, 0, b"before").await?;
    let handle = g.fs.handle(&file);
    hold!(g.fs.remove(&g.root, &g.dir, b"f").await?.last);
    g.write(&open, 6, b" after").await?;
    drop((file, open));
    same!(g.read(&second, 0, 100).await?, b"before after");
    let node = g.fs.resolve(&handle).await?;
    let meta = g.meta(&node).await?;
    same!((meta.nlink, meta.size), (0, 12));
    let third = g.fs.open(&g.root, &node, BOTH).await?;
    drop(second);
    g.write(&third, 0, b"B").await?;
    same!(g.read(&third, 0, 6).await?, b"Before");
    fails!(g.fs.link(&g.root, &node, &g.dir, b"again"), NoEnt | Stale);
    drop((node, third));
    fails!(g.fs.resolve(&handle), Stale);
    Ok(())
}

/// OPEN of another kind names the kind (§18.16.3).
pub async fn open_is_for_regular_files(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    fails!(g.fs.open(&g.root, &dir, READ), IsDir);
    let link = Create::Symlink(Bytes::from_static(b"d"));
    let link = g.fs.create(&g.root, &g.dir, b"l", link, &mode(0o777)).await?.node;
    fails!(g.fs.open(&g.root, &link, READ), Symlink);
    let fifo = g.fs.create(&g.root, &g.dir, b"p", Create::Fifo, &mode(0o644)).await?.node;
    fails!(g.fs.open(&g.root, &fifo, READ), WrongType);
    Ok(())
}
