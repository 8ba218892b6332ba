//! RENAME (§18.26).

use std::sync::{Arc, PoisonError};

use super::super::{Fault, FileKind, Moving, Node, Renamed, Who};
use super::dir::entry_cost;
use super::inode::{Content, Inode, Locked};
use super::names::unname;
use super::perm::{SEARCH, WRITE};
use super::{ATTEMPTS, Mem, check_name};

/// One end: a directory and a name in it.
#[derive(Clone, Copy)]
struct End<'a> {
    dir: &'a Arc<Inode>,
    name: &'a [u8],
}

impl End<'_> {
    /// What has the name now.
    fn find(self, who: &Who) -> Result<Option<Arc<Inode>>, Fault> {
        let body = self.dir.read()?;
        let found = body.dir()?.get(self.name).cloned();
        body.check(who, SEARCH)?;
        Ok(found)
    }
}

fn same(a: &Inode, b: &Inode) -> bool {
    a.oid() == b.oid()
}

impl Mem {
    pub(super) fn move_name(
        &self,
        who: &Who,
        from: (&Node, &[u8]),
        to: (&Node, &[u8]),
        only: Option<Moving>,
    ) -> Result<Renamed, Fault> {
        check_name(from.1)?;
        check_name(to.1)?;
        let (from_dir, to_dir) = (self.inode_arc(from.0)?, self.inode_arc(to.0)?);
        let (from, to) = (End { dir: &from_dir, name: from.1 }, End { dir: &to_dir, name: to.1 });
        for _ in 0..ATTEMPTS {
            let target_dir_is_fit = to.dir.read()?.dir().map(|_| ());
            let moved = from.find(who)?;
            target_dir_is_fit?;
            let moved = moved.ok_or(Fault::NoEnt)?;
            // The way up from the target stays as it is while this is held.
            let tree = (moved.kind == FileKind::Dir && !same(from.dir, to.dir))
                .then(|| self.shared.tree.lock().unwrap_or_else(PoisonError::into_inner));
            if tree.is_some() && self.is_under(to.dir, &moved)? {
                return Err(Fault::Inval);
            }
            let victim = to.find(who)?;
            let moving = Moving { source: moved.oid(), victim: victim.as_ref().map(|victim| victim.oid()) };
            if only.is_some_and(|only| only != moving) {
                return Err(Fault::Delay);
            }
            if let Some(done) = self.try_move(who, from, to, &moved, victim.as_ref())? {
                return Ok(done);
            }
        }
        Err(Fault::Delay)
    }

    /// Whether `dir` is `top` or somewhere under it.
    fn is_under(&self, dir: &Arc<Inode>, top: &Inode) -> Result<bool, Fault> {
        let mut at = Arc::clone(dir);
        loop {
            if same(&at, top) {
                return Ok(true);
            }
            if same(&at, &self.root) {
                return Ok(false);
            }
            let parent = at.read()?.dir()?.parent.upgrade().ok_or(Fault::Stale)?;
            at = parent;
        }
    }

    /// `None` where one of the names has got another object since it was looked up.
    fn try_move(
        &self,
        who: &Who,
        from: End<'_>,
        to: End<'_>,
        moved: &Arc<Inode>,
        victim: Option<&Arc<Inode>>,
    ) -> Result<Option<Renamed>, Fault> {
        let _garbage;
        let mut locked =
            Locked::all([Some(&**from.dir), Some(&**to.dir), Some(&**moved), victim.map(|victim| &**victim)]);
        let now_at = |end: End<'_>, locked: &Locked<'_>| -> Result<Option<u128>, Fault> {
            Ok(locked.see(end.dir)?.dir()?.get(end.name).map(|found| found.oid().0))
        };
        if now_at(from, &locked)? != Some(moved.oid().0)
            || now_at(to, &locked)? != victim.map(|victim| victim.oid().0)
        {
            return Ok(None);
        }
        let (source, target) = (locked.see(from.dir)?, locked.see(to.dir)?);
        if victim.is_some_and(|victim| same(victim, moved)) {
            return Ok(Some(Renamed {
                from: source.unchanged(),
                to: target.unchanged(),
                node: moved.node(),
                victim: None,
                same: true,
            }));
        }
        let body = locked.see(moved)?;
        source.check_remove(who, body)?;
        let is_dir = moved.kind == FileKind::Dir;
        let across = !same(from.dir, to.dir);
        target.check(who, SEARCH)?;
        target.check_add(who, is_dir)?;
        if is_dir && across {
            // Its ".." changes.
            body.check(who, WRITE)?;
        }
        if let Some(victim) = victim {
            let old = locked.see(victim)?;
            target.check_remove(who, old)?;
            let fits = match &old.content {
                Content::Dir(entries) => is_dir && entries.is_empty(),
                Content::File(_) | Content::Symlink(_) | Content::Nothing => !is_dir,
            };
            if !fits {
                return Err(Fault::Exist);
            }
        }

        // A longer name may need room; what the old name and the victim's entry had comes back.
        let space = &self.shared.space;
        let old_cost = entry_cost(from.name) + victim.map_or(0, |_| entry_cost(to.name));
        let new_cost = entry_cost(to.name);
        if new_cost > old_cost {
            space.charge(new_cost - old_cost)?;
        } else {
            space.release(old_cost - new_cost);
        }
        let now = self.shared.now();
        let source = locked.get(from.dir)?;
        source.dir_mut()?.remove(from.name);
        if is_dir && across {
            source.nlink = source.nlink.saturating_sub(1);
        }
        let mut from_info = source.unchanged();
        if across {
            from_info = source.touch(now);
        }
        let target = locked.get(to.dir)?;
        target.dir_mut()?.remove(to.name);
        target.dir_mut()?.insert(to.name, moved);
        if is_dir && across {
            target.nlink = target.nlink.saturating_add(1);
        }
        if is_dir && victim.is_some() {
            target.nlink = target.nlink.saturating_sub(1);
        }
        let to_info = target.touch(now);
        if !across {
            from_info = to_info;
        }
        let body = locked.get(moved)?;
        body.touch_attributes(now);
        if is_dir {
            body.dir_mut()?.parent = Arc::downgrade(to.dir);
        }
        if let Some(victim) = victim {
            let body = locked.get(victim)?;
            unname(body, now);
            _garbage = self.shared.bury(victim, body);
        }
        Ok(Some(Renamed {
            from: from_info,
            to: to_info,
            node: moved.node(),
            victim: victim.map(Inode::node),
            same: false,
        }))
    }
}
