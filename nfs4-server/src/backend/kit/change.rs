//! Rules of `change` and the times.

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, ChangeInfo, Create, CreateMode, SetMeta, SetTime, Time};
use super::{BOTH, Ground, Verdict, fails, hold, mode, room, same, size};

/// Every mutation tells before and after; nothing comes between two of them (§3.3.8).
pub async fn change_numbers_of_a_directory_form_a_chain(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let other = g.mkdir(&g.fs.root(), "other").await?;
    let mut tips = [g.meta(&g.dir).await?.change, g.meta(&other).await?.change];
    let mut chain: Vec<(usize, ChangeInfo)> = Vec::new();
    let made = g.create(&g.root, "f", CreateMode::Guarded, &mode(0o644)).await?;
    chain.push((0, made.dir));
    chain.push((0, g.fs.create(&g.root, &g.dir, b"d", Create::Dir, &mode(0o755)).await?.dir));
    let link = Create::Symlink(Bytes::from_static(b"x"));
    chain.push((0, g.fs.create(&g.root, &g.dir, b"l", link, &mode(0o777)).await?.dir));
    chain.push((1, g.fs.link(&g.root, &made.node, &other, b"g").await?.dir));
    let within = g.fs.rename(&g.root, (&g.dir, b"l"), (&g.dir, b"m")).await?;
    chain.push((0, within.from));
    let across = g.fs.rename(&g.root, (&g.dir, b"m"), (&other, b"m")).await?;
    chain.extend([(0, across.from), (1, across.to)]);
    let replaced = g.fs.rename(&g.root, (&other, b"m"), (&g.dir, b"f")).await?;
    chain.extend([(1, replaced.from), (0, replaced.to)]);
    chain.push((0, g.fs.remove(&g.root, &g.dir, b"d").await?.dir));
    chain.push((1, g.fs.remove(&g.root, &other, b"g").await?.dir));
    for (step, (dir, info)) in chain.into_iter().enumerate() {
        let Some(tip) = tips.get_mut(dir) else { continue };
        hold!(info.before == *tip && info.after != info.before, "step {step}: {info:?} after {tip}");
        *tip = info.after;
    }
    same!([g.meta(&g.dir).await?.change, g.meta(&other).await?.change], tips);
    Ok(())
}

/// A refused mutation leaves change and times.
pub async fn a_failed_operation_changes_nothing(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let full = g.mkdir(&g.dir, "d").await?;
    g.mkdir(&full, "e").await?;
    let before = (g.meta(&g.dir).await?, g.meta(&file).await?, g.meta(&full).await?);
    fails!(g.create(&g.root, "f", CreateMode::Guarded, &mode(0o600)), Exist);
    fails!(g.fs.create(&g.root, &g.dir, b"f", Create::Dir, &mode(0o755)), Exist);
    fails!(g.fs.link(&g.root, &file, &g.dir, b"d"), Exist);
    fails!(g.fs.remove(&g.root, &g.dir, b"d"), NotEmpty);
    fails!(g.fs.remove(&g.root, &g.dir, b"nothing"), NoEnt);
    fails!(g.fs.rename(&g.root, (&g.dir, b"f"), (&g.dir, b"d")), Exist);
    fails!(g.fs.rename(&g.root, (&g.dir, b"d"), (&g.dir, b"f")), Exist);
    same!((g.meta(&g.dir).await?, g.meta(&file).await?, g.meta(&full).await?), before);
    Ok(())
}

/// Data and attributes, also where the value set is the one that was there, also many times within one tick of
/// a clock (trap 32).
pub async fn every_change_moves_change(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let mut last = g.meta(&file).await?;
    for round in 0..20_u8 {
        g.write(&open, 0, &[round; 10]).await?;
        let meta = g.meta(&file).await?;
        hold!(meta.change != last.change, "write in round {round}");
        hold!(meta.mtime >= last.mtime && meta.ctime >= last.ctime);
        last = meta;
        for set in
            [mode(0o644), size(10), size(5), SetMeta { mtime: Some(SetTime::Now), ..SetMeta::default() }]
        {
            g.set(&g.root, &file, &set).await?;
            let meta = g.meta(&file).await?;
            hold!(meta.change != last.change, "{set:?} in round {round}");
            hold!(meta.ctime >= last.ctime);
            last = meta;
        }
    }
    Ok(())
}

/// Looking is no change.
pub async fn reading_does_not_move_change(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 0, b"data").await?;
    let before = (g.meta(&g.dir).await?, g.meta(&file).await?);
    g.read(&open, 0, 100).await?;
    g.fs.commit(&file, 0, 0).await?;
    g.fs.open(&g.root, &file, BOTH).await?;
    g.names(&g.dir, 1).await?;
    g.fs.list(&g.root, &g.dir, 0, room(10)).await?;
    g.lookup("f").await?;
    fails!(g.lookup("nothing"), NoEnt);
    let after = (g.meta(&g.dir).await?, g.meta(&file).await?);
    same!((after.0.change, after.1.change), (before.0.change, before.1.change));
    same!((after.0.ctime, after.1.ctime), (before.0.ctime, before.1.ctime));
    same!((after.0.mtime, after.1.mtime), (before.0.mtime, before.1.mtime));
    Ok(())
}

/// A new or removed entry is a modification of the directory; its own attributes are not.
pub async fn entries_move_the_times_of_their_directory(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let old = Time { seconds: 1_000_000_000, nseconds: 0 };
    let age = SetMeta { mtime: Some(SetTime::To(old)), ..SetMeta::default() };
    g.set(&g.root, &g.dir, &age).await?;
    let (file, open) = g.file("f").await?;
    hold!(g.meta(&g.dir).await?.mtime > old);
    g.set(&g.root, &g.dir, &age).await?;
    g.write(&open, 0, b"data").await?;
    g.set(&g.root, &file, &mode(0o600)).await?;
    same!(g.meta(&g.dir).await?.mtime, old);
    let other = g.mkdir(&g.fs.root(), "other").await?;
    g.set(&g.root, &other, &age).await?;
    g.fs.rename(&g.root, (&g.dir, b"f"), (&other, b"f")).await?;
    hold!(g.meta(&g.dir).await?.mtime > old && g.meta(&other).await?.mtime > old);
    g.set(&g.root, &other, &age).await?;
    g.fs.remove(&g.root, &other, b"f").await?;
    hold!(g.meta(&other).await?.mtime > old);
    Ok(())
}

/// LINK, REMOVE and RENAME are changes of the object's attributes, not of its data.
pub async fn names_move_the_change_of_their_object(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let mut last = g.meta(&file).await?;
    g.fs.link(&g.root, &file, &g.dir, b"g").await?;
    let linked = g.meta(&file).await?;
    hold!(linked.change != last.change && linked.ctime >= last.ctime);
    same!(linked.mtime, last.mtime);
    last = linked;
    g.remove("f").await?;
    let removed = g.meta(&file).await?;
    hold!(removed.change != last.change && removed.ctime >= last.ctime);
    same!(removed.mtime, last.mtime);
    g.fs.rename(&g.root, (&g.dir, b"g"), (&g.dir, b"h")).await?;
    same!(g.meta(&file).await?.mtime, last.mtime);
    Ok(())
}

/// Times of the client are kept to the file system's granularity, negative ones too; `Now` is not in the past.
pub async fn given_times_are_kept(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let before = g.meta(&file).await?;
    for seconds in [1_234_567_890, 0, -1_000] {
        let (atime, mtime) = (Time { seconds, nseconds: 0 }, Time { seconds: seconds + 1, nseconds: 0 });
        let set = SetMeta {
            atime: Some(SetTime::To(atime)),
            mtime: Some(SetTime::To(mtime)),
            ..SetMeta::default()
        };
        let applied = g.set(&g.root, &file, &set).await?;
        hold!(applied.atime && applied.mtime && !applied.size && !applied.mode);
        let meta = g.meta(&file).await?;
        same!((meta.atime, meta.mtime), (atime, mtime));
        hold!(meta.ctime >= before.ctime, "ctime is the server's");
    }
    let now = SetMeta { atime: Some(SetTime::Now), mtime: Some(SetTime::Now), ..SetMeta::default() };
    g.set(&g.root, &file, &now).await?;
    let after = g.meta(&file).await?;
    hold!(after.mtime >= before.mtime && after.atime >= before.mtime);
    let one = SetMeta { mtime: Some(SetTime::To(Time { seconds: 5, nseconds: 0 })), ..SetMeta::default() };
    g.set(&g.root, &file, &one).await?;
    same!(g.meta(&file).await?.atime, after.atime);
    Ok(())
}
