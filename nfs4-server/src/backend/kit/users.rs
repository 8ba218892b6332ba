//! Rules of ownership: who may set what, and what it takes away.

use std::sync::Arc;

use super::super::{Applied, Backend, Create, CreateMode, SetMeta, SetTime, Time};
use super::{BOTH, Ground, Verdict, fails, hold, mode, same, size, user};

fn owner(uid: Option<u32>, gid: Option<u32>) -> SetMeta {
    SetMeta { uid, gid, ..SetMeta::default() }
}

/// uid and gid of the caller; the privileged may name others.
pub async fn new_objects_belong_to_their_maker(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let made = g.create(&one, "f", CreateMode::Guarded, &mode(0o640)).await?;
    same!((made.meta.uid, made.meta.gid, made.meta.mode), (one.uid, one.gid, 0o640));
    let dir = g.fs.create(&two, &g.dir, b"d", Create::Dir, &mode(0o750)).await?;
    same!((dir.meta.uid, dir.meta.gid), (two.uid, two.gid));
    let given = SetMeta { uid: Some(one.uid), gid: Some(two.gid), ..mode(0o600) };
    let made = g.create(&g.root, "given", CreateMode::Guarded, &given).await?;
    same!((made.meta.uid, made.meta.gid), (one.uid, two.gid));
    Ok(())
}

/// The group of a setgid directory goes to all in it, the bit to its directories.
pub async fn a_setgid_directory_gives_its_group(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let set = SetMeta { gid: Some(two.gid), ..mode(0o2777) };
    let dir = g.fs.create(&g.root, &g.dir, b"d", Create::Dir, &set).await?.node;
    same!(g.meta(&dir).await?.mode, 0o2777);
    let sub = g.fs.create(&one, &dir, b"sub", Create::Dir, &mode(0o755)).await?;
    same!((sub.meta.gid, sub.meta.mode), (two.gid, 0o2755));
    let fifo = g.fs.create(&one, &dir, b"fifo", Create::Fifo, &mode(0o644)).await?;
    same!((fifo.meta.uid, fifo.meta.gid, fifo.meta.mode), (one.uid, two.gid, 0o644));
    Ok(())
}

/// PERM for others, whatever the mode allows (§18.30.3).
pub async fn only_the_owner_sets_mode_and_given_times(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o666).await?;
    let before = g.meta(&file).await?;
    let time = SetMeta { mtime: Some(SetTime::To(Time { seconds: 7, nseconds: 0 })), ..SetMeta::default() };
    fails!(g.set(&two, &file, &mode(0o777)), Perm);
    fails!(g.set(&two, &file, &time), Perm);
    same!(g.meta(&file).await?, before);
    g.set(&one, &file, &time).await?;
    g.set(&one, &file, &mode(0o400)).await?;
    g.set(&one, &file, &SetMeta { mode: Some((0o777, 0o022)), ..SetMeta::default() }).await?;
    same!(g.meta(&file).await?.mode, 0o422);
    // Setgid of a group that is not the setter's means nothing.
    g.set(&g.root, &file, &owner(None, Some(two.gid))).await?;
    g.set(&one, &file, &mode(0o2755)).await?;
    same!(g.meta(&file).await?.mode, 0o755);
    Ok(())
}

/// chown is for the privileged, chgrp for the owner within its groups.
pub async fn only_the_privileged_give_files_away(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o666).await?;
    fails!(g.set(&one, &file, &owner(Some(two.uid), None)), Perm);
    fails!(g.set(&two, &file, &owner(Some(two.uid), None)), Perm);
    fails!(g.set(&one, &file, &owner(None, Some(two.gid))), Perm);
    fails!(g.set(&two, &file, &owner(None, Some(two.gid))), Perm);
    let member = user(one.uid, one.gid, &[two.gid]);
    g.set(&member, &file, &owner(Some(one.uid), Some(two.gid))).await?;
    same!(g.meta(&file).await?.gid, two.gid);
    let applied = g.set(&g.root, &file, &owner(Some(two.uid), Some(one.gid))).await?;
    same!(applied, Applied { uid: true, gid: true, ..Applied::default() });
    let meta = g.meta(&file).await?;
    same!((meta.uid, meta.gid), (two.uid, one.gid));
    Ok(())
}

/// `SET_TO_SERVER_TIME4` by one who may write (trap 27).
pub async fn the_time_now_needs_the_right_to_write(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o646).await?;
    let now = SetMeta { atime: Some(SetTime::Now), mtime: Some(SetTime::Now), ..SetMeta::default() };
    g.set(&two, &file, &now).await?;
    g.set(&one, &file, &mode(0o444)).await?;
    fails!(g.set(&two, &file, &now), Access);
    g.set(&one, &file, &now).await?;
    Ok(())
}

/// Whoever changes the data of a program doesn't get its owner's rights; the privileged have them anyway.
pub async fn writing_takes_setuid_and_setgid(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o777).await?;
    let open = g.fs.open(&two, &file, BOTH).await?;
    g.set(&g.root, &file, &mode(0o6777)).await?;
    same!(g.meta(&file).await?.mode, 0o6777);
    g.write(&open, 0, b"x").await?;
    same!(g.meta(&file).await?.mode, 0o777);
    g.set(&g.root, &file, &mode(0o6777)).await?;
    g.set(&two, &file, &size(0)).await?;
    same!(g.meta(&file).await?.mode, 0o777);
    Ok(())
}

/// chown of a program.
pub async fn a_change_of_owner_takes_setuid_and_setgid(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let member = user(one.uid, one.gid, &[two.gid]);
    let (file, _open) = g.file_as(&member, "f", 0o755).await?;
    g.set(&g.root, &file, &mode(0o6755)).await?;
    g.set(&member, &file, &owner(None, Some(two.gid))).await?;
    same!(g.meta(&file).await?.mode, 0o755);
    // A directory's bits mean something else.
    let dir = g.fs.create(&member, &g.dir, b"d", Create::Dir, &mode(0o2755)).await?.node;
    g.set(&member, &dir, &owner(None, Some(two.gid))).await?;
    same!(g.meta(&dir).await?.mode, 0o2755);
    Ok(())
}

/// What was applied is told exactly, also beside a fault (S-15).
pub async fn a_refused_setattr_tells_what_it_did(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, open) = g.file_as(&one, "f", 0o666).await?;
    g.write(&open, 0, b"data").await?;
    let set = SetMeta { size: Some(1), uid: Some(two.uid), ..mode(0o600) };
    let applied = match g.fs.setattr(&two, &file, None, &set).await {
        Ok(done) => {
            hold!(done.fault.is_some());
            done.applied
        }
        Err(_) => Applied::default(),
    };
    let meta = g.meta(&file).await?;
    same!(applied, Applied { size: meta.size == 1, ..Applied::default() });
    same!((meta.uid, meta.mode), (one.uid, 0o666));
    let all = SetMeta { size: Some(2), uid: Some(two.uid), ..mode(0o640) };
    let done = g.set(&g.root, &file, &all).await?;
    same!(done, Applied { size: true, mode: true, uid: true, ..Applied::default() });
    let meta = g.meta(&file).await?;
    same!((meta.size, meta.uid, meta.mode), (2, two.uid, 0o640));
    Ok(())
}
