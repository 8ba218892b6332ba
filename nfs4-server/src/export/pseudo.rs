//! The read-only tree of directories that leads to several exports (RFC 8881 §7.3).

use std::sync::Arc;

use bytes::Bytes;

use crate::backend::{
    Advice, Answer, Backend, ChangeInfo, ChangeType, Create, Entry, Facts, Fault, FileKind, FsStat, Linked,
    Made, Marks, Meta, Moving, Node, Oid, OpenAccess, Opened, Page, RawHandle, ReadData, Removed, Renamed,
    Rights, Room, Seek, SetDone, SetMeta, Sought, Stable, Time, Who, Written, XattrSet,
};

/// Cookies below are reserved.
const FIRST_COOKIE: u64 = 16;

#[derive(Debug)]
struct Dir {
    parent: usize,
    name: Bytes,
    children: Vec<usize>,
    export: Option<u32>,
}

/// What a node of this file system holds: its index.
struct Index(usize);

/// The pseudo file system. It never changes; ids come from the configured paths alone.
#[derive(Debug)]
pub struct PseudoFs {
    dirs: Vec<Dir>,
    facts: Facts,
    /// Change numbers differ between starts, as the configuration may.
    change: u64,
    ids: Vec<u64>,
    born: Time,
}

impl PseudoFs {
    /// The tree for these paths (absolute, without "." and "..") and export numbers.
    #[must_use]
    pub fn new(exports: &[(String, u32)]) -> Self {
        let mut dirs = vec![Dir { parent: 0, name: Bytes::new(), children: Vec::new(), export: None }];
        let mut ids = vec![1];
        for (path, id) in exports {
            let mut at = 0;
            let mut so_far = String::new();
            for part in path.split('/').filter(|part| !part.is_empty()) {
                so_far.push('/');
                so_far.push_str(part);
                let known = dirs.get(at).and_then(|dir| {
                    dir.children.iter().copied().find(|c| dirs.get(*c).is_some_and(|d| d.name == part))
                });
                at = known.unwrap_or_else(|| {
                    let new = dirs.len();
                    dirs.push(Dir {
                        parent: at,
                        name: Bytes::from(part.to_owned()),
                        children: Vec::new(),
                        export: None,
                    });
                    ids.push(siphasher::sip::SipHasher13::new().hash(so_far.as_bytes()).max(2));
                    if let Some(dir) = dirs.get_mut(at) {
                        dir.children.push(new);
                    }
                    new
                });
            }
            if let Some(dir) = dirs.get_mut(at) {
                dir.export = Some(*id);
            }
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let born = Time { seconds: i64::try_from(now.as_secs()).unwrap_or(0), nseconds: now.subsec_nanos() };
        Self {
            dirs,
            facts: Facts {
                max_file_size: 0,
                max_name: 255,
                max_link: 1,
                change_type: ChangeType::Monotonic,
                persistent_handles: true,
                xattrs: false,
                clones: false,
                time_delta: Time { seconds: 0, nseconds: 1 },
                birth_time: false,
                sets_birth_time: false,
                marks: false,
                acls: false,
                any_bytes: true,
                keeps_unlinked: false,
            },
            change: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
            ids,
            born,
        }
    }

    fn node(&self, index: usize) -> Node {
        let id = self.ids.get(index).copied().unwrap_or(0);
        Node::new(Oid(u128::from(id)), FileKind::Dir, Arc::new(Index(index)))
    }

    fn dir(&self, node: &Node) -> Result<(usize, &Dir), Fault> {
        let index = node.object_ref::<Index>().ok_or(Fault::Stale)?.0;
        Ok((index, self.dirs.get(index).ok_or(Fault::Stale)?))
    }

    /// The export mounted on a directory.
    #[must_use]
    pub fn mounted_on(&self, node: &Node) -> Option<u32> {
        self.dir(node).ok()?.1.export
    }

    /// The directory that an export is mounted on.
    #[must_use]
    pub fn junction(&self, export: u32) -> Option<Node> {
        let index = self.dirs.iter().position(|dir| dir.export == Some(export))?;
        Some(self.node(index))
    }

    fn meta(&self, node: &Node) -> Result<Meta, Fault> {
        let (index, dir) = self.dir(node)?;
        Ok(Meta {
            kind: FileKind::Dir,
            change: self.change,
            size: 4096,
            fileid: self.ids.get(index).copied().unwrap_or(0),
            mode: 0o555,
            nlink: u32::try_from(dir.children.len()).unwrap_or(u32::MAX).saturating_add(2),
            uid: 0,
            gid: 0,
            rdev: (0, 0),
            space_used: 0,
            atime: self.born,
            ctime: self.born,
            mtime: self.born,
            btime: None,
            marks: Marks::empty(),
        })
    }

    fn page(&self, node: &Node, cookie: u64, room: Room) -> Result<Page, Fault> {
        let (_, dir) = self.dir(node)?;
        let from = match cookie {
            0 => 0,
            n if n >= FIRST_COOKIE => {
                usize::try_from(n - FIRST_COOKIE).unwrap_or(usize::MAX).saturating_add(1)
            }
            _ => return Err(Fault::BadCookie),
        };
        let mut page = Page { entries: Vec::new(), eof: true };
        let mut bytes = 0_usize;
        for (place, child) in dir.children.iter().enumerate().skip(from) {
            let Some(entry) = self.dirs.get(*child) else { continue };
            bytes = bytes.saturating_add(entry.name.len()).saturating_add(24);
            if page.entries.len() >= room.entries || bytes > room.bytes && !page.entries.is_empty() {
                page.eof = false;
                break;
            }
            let node = self.node(*child);
            page.entries.push(Entry {
                name: entry.name.clone(),
                cookie: FIRST_COOKIE.saturating_add(u64::try_from(place).unwrap_or(u64::MAX)),
                meta: room.meta.then(|| self.meta(&node)),
                node: room.nodes.then_some(node),
            });
        }
        Ok(page)
    }
}

impl Backend for PseudoFs {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn root(&self) -> Node {
        self.node(0)
    }

    fn handle(&self, node: &Node) -> RawHandle {
        let id = self.dir(node).ok().and_then(|(index, _)| self.ids.get(index)).copied().unwrap_or(0);
        RawHandle::from_slice(&id.to_be_bytes())
    }

    fn resolve(&self, handle: &[u8]) -> Answer<Node> {
        let Ok(id) = <[u8; 8]>::try_from(handle).map(u64::from_be_bytes) else {
            return Answer::fault(Fault::BadHandle);
        };
        match self.ids.iter().position(|known| *known == id) {
            Some(index) => Answer::ok(self.node(index)),
            None => Answer::fault(Fault::Stale),
        }
    }

    fn lookup(&self, _: &Who, dir: &Node, name: &[u8]) -> Answer<Node> {
        let found = self.dir(dir).and_then(|(_, dir)| {
            let child = dir.children.iter().find(|c| self.dirs.get(**c).is_some_and(|d| d.name == name));
            child.map(|index| self.node(*index)).ok_or(Fault::NoEnt)
        });
        found.into()
    }

    fn parent(&self, _: &Who, node: &Node) -> Answer<Node> {
        let found = self
            .dir(node)
            .and_then(|(index, dir)| if index == 0 { Err(Fault::NoEnt) } else { Ok(self.node(dir.parent)) });
        found.into()
    }

    fn getattr(&self, node: &Node) -> Answer<Meta> {
        self.meta(node).into()
    }

    fn access(&self, _: &Who, _: &Node, asked: Rights) -> Answer<Rights> {
        Answer::ok(asked & (Rights::READ | Rights::LOOKUP | Rights::EXECUTE))
    }

    fn setattr(&self, _: &Who, _: &Node, _: Option<&Opened>, _: &SetMeta) -> Answer<SetDone> {
        Answer::fault(Fault::RoFs)
    }

    fn create(&self, _: &Who, _: &Node, _: &[u8], _: Create, _: &SetMeta) -> Answer<Made> {
        Answer::fault(Fault::RoFs)
    }

    fn link(&self, _: &Who, _: &Node, _: &Node, _: &[u8]) -> Answer<Linked> {
        Answer::fault(Fault::RoFs)
    }

    fn remove_only(&self, _: &Who, _: &Node, _: &[u8], _: Option<Oid>) -> Answer<Removed> {
        Answer::fault(Fault::RoFs)
    }

    fn rename_only(
        &self,
        _: &Who,
        _: (&Node, &[u8]),
        _: (&Node, &[u8]),
        _: Option<Moving>,
    ) -> Answer<Renamed> {
        Answer::fault(Fault::RoFs)
    }

    fn readlink(&self, _: &Who, _: &Node) -> Answer<Bytes> {
        Answer::fault(Fault::Inval)
    }

    fn list(&self, _: &Who, dir: &Node, cookie: u64, room: Room) -> Answer<Page> {
        self.page(dir, cookie, room).into()
    }

    fn open(&self, _: &Who, _: &Node, _: OpenAccess) -> Answer<Opened> {
        Answer::fault(Fault::IsDir)
    }

    fn open_again(&self, _: &Who, _: &Node, _: OpenAccess) -> Answer<Opened> {
        Answer::fault(Fault::IsDir)
    }

    fn advance(&self, _: &Node, _: u64) -> Answer<()> {
        Answer::fault(Fault::IsDir)
    }

    fn read(&self, _: &Opened, _: u64, _: u32) -> Answer<ReadData> {
        Answer::fault(Fault::IsDir)
    }

    fn write(&self, _: &Opened, _: u64, _: Bytes, _: Stable) -> Answer<Written> {
        Answer::fault(Fault::RoFs)
    }

    fn commit(&self, _: &Node, _: u64, _: u64) -> Answer<()> {
        Answer::fault(Fault::IsDir)
    }

    fn write_verifier(&self) -> [u8; 8] {
        self.change.to_be_bytes()
    }

    fn cookie_verifier(&self) -> [u8; 8] {
        self.change.to_be_bytes()
    }

    fn statfs(&self, _: &Who) -> Answer<FsStat> {
        Answer::ok(FsStat::default())
    }

    fn getxattr(&self, _: &Who, _: &Node, _: &[u8]) -> Answer<Bytes> {
        Answer::fault(Fault::NotSupp)
    }

    fn setxattr(&self, _: &Who, _: &Node, _: &[u8], _: Bytes, _: XattrSet) -> Answer<ChangeInfo> {
        Answer::fault(Fault::RoFs)
    }

    fn listxattrs(&self, _: &Who, _: &Node) -> Answer<Vec<Bytes>> {
        Answer::fault(Fault::NotSupp)
    }

    fn removexattr(&self, _: &Who, _: &Node, _: &[u8]) -> Answer<ChangeInfo> {
        Answer::fault(Fault::RoFs)
    }

    fn advise(&self, _: &Opened, _: u64, _: u64, _: Advice) -> Answer<bool> {
        Answer::fault(Fault::IsDir)
    }

    fn seek(&self, _: &Opened, _: u64, _: Seek) -> Answer<Sought> {
        Answer::fault(Fault::IsDir)
    }

    fn allocate(&self, _: &Opened, _: u64, _: u64) -> Answer<()> {
        Answer::fault(Fault::RoFs)
    }

    fn deallocate(&self, _: &Opened, _: u64, _: u64) -> Answer<()> {
        Answer::fault(Fault::RoFs)
    }

    fn copy(&self, _: &Opened, _: u64, _: &Opened, _: u64, _: u64) -> Answer<u64> {
        Answer::fault(Fault::RoFs)
    }

    fn clone_range(&self, _: &Opened, _: u64, _: &Opened, _: u64, _: u64) -> Answer<()> {
        Answer::fault(Fault::RoFs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(fs: &PseudoFs, node: &Node) -> Vec<Bytes> {
        let room = Room { entries: 100, bytes: 10_000, meta: true, nodes: true };
        fs.page(node, 0, room).unwrap().entries.into_iter().map(|e| e.name).collect()
    }

    #[test]
    fn paths_share_their_directories_and_lead_to_the_exports() {
        let fs = PseudoFs::new(&[("/srv/a".into(), 7), ("/srv/b".into(), 8), ("/home".into(), 9)]);
        assert_eq!(names(&fs, &fs.root()), ["srv", "home"]);
        let srv = fs.junction(7).map(|n| fs.dirs[fs.dir(&n).unwrap().1.parent].children.len());
        assert_eq!(srv, Some(2));
        assert_eq!(fs.mounted_on(&fs.junction(8).unwrap()), Some(8));
        assert_eq!(fs.mounted_on(&fs.root()), None);
    }

    #[test]
    fn ids_and_handles_come_from_the_paths_and_not_from_their_order() {
        let one = PseudoFs::new(&[("/a".into(), 7), ("/b".into(), 8)]);
        let two = PseudoFs::new(&[("/b".into(), 8), ("/a".into(), 7)]);
        assert_eq!(one.handle(&one.junction(7).unwrap()), two.handle(&two.junction(7).unwrap()));
    }

    #[test]
    fn a_page_goes_on_after_its_cookie() {
        let fs = PseudoFs::new(&[("/a".into(), 7), ("/b".into(), 8), ("/c".into(), 9)]);
        let room = Room { entries: 2, bytes: 10_000, meta: false, nodes: false };
        let first = fs.page(&fs.root(), 0, room).unwrap();
        assert!(!first.eof);
        let second = fs.page(&fs.root(), first.entries[1].cookie, room).unwrap();
        assert!(second.eof);
        assert_eq!(second.entries[0].name, "c");
        assert_eq!(fs.page(&fs.root(), 1, room).unwrap_err(), Fault::BadCookie);
    }
}
