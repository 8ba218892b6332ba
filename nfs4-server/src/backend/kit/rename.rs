//! Rules of RENAME (§18.26.3).

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Create};
use super::{Ground, Verdict, fails, hold, mode, same};

/// The object, its handle and its data go with the name.
pub async fn rename_moves_a_name_and_keeps_the_object(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("a").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    g.write(&open, 0, b"data").await?;
    let within = g.fs.rename(&g.root, (&g.dir, b"a"), (&g.dir, b"b")).await?;
    same!(within.node.oid, file.oid);
    same!(within.from, within.to);
    hold!(!within.same && within.victim.is_none());
    fails!(g.lookup("a"), NoEnt);
    same!(g.lookup("b").await?.oid, file.oid);
    let across = g.fs.rename(&g.root, (&g.dir, b"b"), (&dir, b"c")).await?;
    same!(across.from.after, g.meta(&g.dir).await?.change);
    same!(across.to.after, g.meta(&dir).await?.change);
    fails!(g.lookup("b"), NoEnt);
    same!(g.fs.lookup(&g.root, &dir, b"c").await?.oid, file.oid);
    same!(g.meta(&file).await?.nlink, 1);
    same!(g.read(&open, 0, 10).await?, b"data");
    Ok(())
}

/// NOENT, also onto a name that is there; NOTDIR where an end is no directory.
pub async fn rename_of_a_missing_name_fails(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    fails!(g.fs.rename(&g.root, (&g.dir, b"a"), (&g.dir, b"b")), NoEnt);
    fails!(g.fs.rename(&g.root, (&g.dir, b"a"), (&g.dir, b"f")), NoEnt);
    fails!(g.fs.rename(&g.root, (&file, b"a"), (&g.dir, b"b")), NotDir);
    fails!(g.fs.rename(&g.root, (&g.dir, b"f"), (&file, b"b")), NotDir);
    same!(g.lookup("f").await?.oid, file.oid);
    Ok(())
}

/// What is replaced loses a name and is told.
pub async fn rename_replaces_a_file(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (a, _a) = g.file("a").await?;
    let (b, open) = g.file("b").await?;
    g.fs.link(&g.root, &b, &g.dir, b"kept").await?;
    let done = g.fs.rename(&g.root, (&g.dir, b"a"), (&g.dir, b"b")).await?;
    same!(done.victim.map(|victim| victim.oid), Some(b.oid));
    same!(g.lookup("b").await?.oid, a.oid);
    same!(g.meta(&b).await?.nlink, 1);
    same!(g.names(&g.dir, 10).await?.len(), 2);
    let handle = g.fs.handle(&b);
    drop((b, open));
    g.fs.rename(&g.root, (&g.dir, b"b"), (&g.dir, b"kept")).await?;
    fails!(g.fs.resolve(&handle), Stale);
    same!(g.names(&g.dir, 10).await?, [Bytes::from_static(b"kept")]);
    Ok(())
}

/// Each kind onto each: both directories (the replaced one empty) or neither; else EXIST.
pub async fn rename_replaces_only_what_is_compatible(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let kinds = [Create::Dir, Create::Symlink(Bytes::from_static(b"x")), Create::Fifo];
    for from in &kinds {
        for to in &kinds {
            let moved = g.fs.create(&g.root, &g.dir, b"from", from.clone(), &mode(0o755)).await?.node;
            let victim = g.fs.create(&g.root, &g.dir, b"to", to.clone(), &mode(0o755)).await?.node;
            let fits = (*from == Create::Dir) == (*to == Create::Dir);
            if fits {
                let done = g.fs.rename(&g.root, (&g.dir, b"from"), (&g.dir, b"to")).await?;
                same!(done.victim.map(|node| node.oid), Some(victim.oid));
                same!(g.lookup("to").await?.oid, moved.oid);
                fails!(g.lookup("from"), NoEnt);
            } else {
                fails!(g.fs.rename(&g.root, (&g.dir, b"from"), (&g.dir, b"to")), Exist);
                same!(g.lookup("to").await?.oid, victim.oid);
                g.remove("from").await?;
            }
            g.remove("to").await?;
        }
    }
    g.mkdir(&g.dir, "from").await?;
    let full = g.mkdir(&g.dir, "to").await?;
    g.mkdir(&full, "x").await?;
    fails!(g.fs.rename(&g.root, (&g.dir, b"from"), (&g.dir, b"to")), Exist);
    // Onto a directory that it is in: that one cannot be empty.
    fails!(g.fs.rename(&g.root, (&full, b"x"), (&g.dir, b"to")), Exist);
    Ok(())
}

/// Two names of one object, or one name onto itself: nothing is done.
pub async fn rename_between_names_of_one_object_does_nothing(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("a").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    g.fs.link(&g.root, &file, &g.dir, b"b").await?;
    g.fs.link(&g.root, &file, &dir, b"c").await?;
    let before = (g.meta(&g.dir).await?, g.meta(&dir).await?, g.meta(&file).await?);
    let pairs: [(&[u8], &super::super::Node, &[u8]); 4] =
        [(b"a", &g.dir, b"b"), (b"a", &dir, b"c"), (b"a", &g.dir, b"a"), (b"d", &g.dir, b"d")];
    for (from, to_dir, to) in pairs {
        let done = g.fs.rename(&g.root, (&g.dir, from), (to_dir, to)).await?;
        hold!(done.same && done.victim.is_none());
        same!((done.from.before, done.to.before), (done.from.after, done.to.after));
    }
    same!((g.meta(&g.dir).await?, g.meta(&dir).await?, g.meta(&file).await?), before);
    same!(before.2.nlink, 3);
    Ok(())
}

/// INVAL for a directory into itself or below.
pub async fn rename_of_a_directory_into_itself_is_invalid(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let a = g.mkdir(&g.dir, "a").await?;
    let b = g.mkdir(&a, "b").await?;
    let c = g.mkdir(&b, "c").await?;
    for into in [&a, &b, &c] {
        fails!(g.fs.rename(&g.root, (&g.dir, b"a"), (into, b"x")), Inval);
    }
    same!(g.lookup("a").await?.oid, a.oid);
    g.fs.rename(&g.root, (&b, b"c"), (&g.dir, b"c")).await?;
    g.fs.rename(&g.root, (&g.dir, b"a"), (&c, b"a")).await?;
    fails!(g.fs.rename(&g.root, (&g.dir, b"c"), (&b, b"x")), Inval);
    Ok(())
}

/// "..", the contents and the handles of a moved directory.
pub async fn rename_moves_a_directory_with_its_parent(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (a, b) = (g.mkdir(&g.dir, "a").await?, g.mkdir(&g.dir, "b").await?);
    let moved = g.mkdir(&a, "m").await?;
    let child = g.mkdir(&moved, "child").await?;
    same!(g.fs.parent(&g.root, &moved).await?.oid, a.oid);
    g.fs.rename(&g.root, (&a, b"m"), (&b, b"n")).await?;
    same!(g.fs.parent(&g.root, &moved).await?.oid, b.oid);
    same!(g.fs.parent(&g.root, &child).await?.oid, moved.oid);
    same!(g.fs.lookup(&g.root, &moved, b"child").await?.oid, child.oid);
    same!(g.fs.lookup(&g.root, &b, b"n").await?.oid, moved.oid);
    hold!(g.names(&a, 10).await?.is_empty());
    Ok(())
}

/// As after REMOVE: what was renamed over lives by its opens (trap 20).
pub async fn a_replaced_file_lives_while_it_is_open(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    g.file("new").await?;
    let (old, open) = g.file("old").await?;
    g.write(&open, 0, b"old data").await?;
    let handle = g.fs.handle(&old);
    drop(old);
    g.fs.rename(&g.root, (&g.dir, b"new"), (&g.dir, b"old")).await?;
    same!(g.read(&open, 0, 100).await?, b"old data");
    same!(g.meta(&g.fs.resolve(&handle).await?).await?.nlink, 0);
    drop(open);
    fails!(g.fs.resolve(&handle), Stale);
    Ok(())
}
