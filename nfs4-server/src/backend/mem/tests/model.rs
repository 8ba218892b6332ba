//! Random operations on names and data, against a plain model: maps of names, vectors of bytes.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::cast_possible_truncation,
    reason = "a model of what the test itself makes"
)]

use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::super::{Backend, Create, Fault, Node, Opened, SetMeta, Stable, Who};
use super::super::Mem;
use super::stress::{clear, now};
use super::{FILE, mem};

/// Longest file of the model, bytes.
const LONGEST: usize = 400_000;

/// Directories, objects and files are indices into what there is, taken modulo.
#[derive(Clone, Debug)]
enum Op {
    File { dir: usize, name: u8 },
    Dir { dir: usize, name: u8 },
    Symlink { dir: usize, name: u8 },
    Link { object: usize, dir: usize, name: u8 },
    Remove { dir: usize, name: u8 },
    Rename { from: (usize, u8), to: (usize, u8) },
    Write { file: usize, at: usize, len: usize, byte: u8 },
    Truncate { file: usize, size: usize },
    Deallocate { file: usize, at: usize, len: usize },
    Allocate { file: usize, at: usize, len: usize },
    Copy { from: (usize, usize), to: (usize, usize), len: usize },
    Clone { from: (usize, usize), to: (usize, usize), len: usize },
    Hold { file: usize },
}

/// Places near the borders of blocks, and others.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![
        (0..4_usize, 0..3_usize).prop_map(|(block, by)| (block * 65_536 + by).saturating_sub(1)),
        (0..4_usize).prop_map(|block| block * 65_536),
        0..200_000_usize,
        0..300_usize,
    ]
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![1..300_usize, Just(65_536), Just(131_072), 1..150_000_usize]
}

fn op() -> impl Strategy<Value = Op> {
    let name = 0..4_u8;
    let entry = (any::<usize>(), name.clone());
    let spot = || (any::<usize>(), place());
    prop_oneof![
        3 => entry.clone().prop_map(|(dir, name)| Op::File { dir, name }),
        2 => entry.clone().prop_map(|(dir, name)| Op::Dir { dir, name }),
        1 => entry.clone().prop_map(|(dir, name)| Op::Symlink { dir, name }),
        2 => (any::<usize>(), entry.clone()).prop_map(|(object, (dir, name))| Op::Link { object, dir, name }),
        2 => entry.clone().prop_map(|(dir, name)| Op::Remove { dir, name }),
        4 => (entry.clone(), entry).prop_map(|(from, to)| Op::Rename { from, to }),
        4 => (spot(), length(), 1..=255_u8)
            .prop_map(|((file, at), len, byte)| Op::Write { file, at, len, byte }),
        2 => spot().prop_map(|(file, size)| Op::Truncate { file, size }),
        2 => (spot(), length()).prop_map(|((file, at), len)| Op::Deallocate { file, at, len }),
        1 => (spot(), length()).prop_map(|((file, at), len)| Op::Allocate { file, at, len }),
        2 => (spot(), spot(), length()).prop_map(|(from, to, len)| Op::Copy { from, to, len }),
        2 => (spot(), spot(), length()).prop_map(|(from, to, len)| Op::Clone { from, to, len }),
        1 => any::<usize>().prop_map(|file| Op::Hold { file }),
    ]
}

enum Kind {
    Dir { entries: BTreeMap<u8, usize>, parent: usize },
    File(Vec<u8>),
    Symlink,
}

struct Object {
    kind: Kind,
    nlink: u32,
    node: Node,
    open: Option<Opened>,
}

impl Object {
    fn gone(&self) -> bool {
        self.nlink == 0 && self.open.is_none()
    }

    fn entries(&self) -> &BTreeMap<u8, usize> {
        match &self.kind {
            Kind::Dir { entries, .. } => entries,
            Kind::File(_) | Kind::Symlink => unreachable!("a directory"),
        }
    }

    fn is_dir(&self) -> bool {
        matches!(self.kind, Kind::Dir { .. })
    }

    fn data(&self) -> &Vec<u8> {
        match &self.kind {
            Kind::File(data) => data,
            Kind::Dir { .. } | Kind::Symlink => unreachable!("a file"),
        }
    }
}

/// What there ever was; number 0 is the root.
struct Model<'a> {
    mem: &'a Mem,
    who: Who,
    objects: Vec<Object>,
}

impl Model<'_> {
    fn dir(&self, pick: usize) -> usize {
        let dirs: Vec<usize> = (0..self.objects.len()).filter(|&at| self.objects[at].is_dir()).collect();
        dirs[pick % dirs.len()]
    }

    fn file(&self, pick: usize) -> Option<usize> {
        let files: Vec<usize> =
            (0..self.objects.len()).filter(|&at| self.objects[at].open.is_some()).collect();
        (!files.is_empty()).then(|| files[pick % files.len()])
    }

    fn entries(&mut self, dir: usize) -> &mut BTreeMap<u8, usize> {
        match &mut self.objects[dir].kind {
            Kind::Dir { entries, .. } => entries,
            Kind::File(_) | Kind::Symlink => unreachable!("a directory"),
        }
    }

    fn data(&mut self, file: usize) -> &mut Vec<u8> {
        match &mut self.objects[file].kind {
            Kind::File(data) => data,
            Kind::Dir { .. } | Kind::Symlink => unreachable!("a file"),
        }
    }

    fn drop_name(&mut self, object: usize) {
        let object = &mut self.objects[object];
        object.nlink = if object.is_dir() { 0 } else { object.nlink - 1 };
    }

    fn make(&mut self, dir: usize, name: u8, what: Create) {
        let dir = self.dir(dir);
        let done =
            now(self.mem.create(&self.who, &self.objects[dir].node, &[name], what, &SetMeta::default()));
        let expected = if self.objects[dir].gone() {
            Some(Fault::Stale)
        } else {
            self.objects[dir].entries().contains_key(&name).then_some(Fault::Exist)
        };
        assert_eq!(done.as_ref().err().copied(), expected);
        let Ok(made) = done else { return };
        let (kind, nlink) = match made.node.kind {
            super::super::super::FileKind::Dir => (Kind::Dir { entries: BTreeMap::new(), parent: dir }, 2),
            super::super::super::FileKind::File => (Kind::File(Vec::new()), 1),
            _ => (Kind::Symlink, 1),
        };
        let number = self.objects.len();
        self.objects.push(Object { kind, nlink, node: made.node, open: made.opened });
        self.entries(dir).insert(name, number);
    }

    fn link(&mut self, object: usize, dir: usize, name: u8) {
        let (object, dir) = (object % self.objects.len(), self.dir(dir));
        let (from, into) = (&self.objects[object], &self.objects[dir]);
        let expected = if from.is_dir() {
            Some(Fault::IsDir)
        } else if from.gone() || into.gone() {
            Some(Fault::Stale)
        } else if into.entries().contains_key(&name) {
            Some(Fault::Exist)
        } else {
            (from.nlink == 0).then_some(Fault::NoEnt)
        };
        assert_eq!(now(self.mem.link(&self.who, &from.node, &into.node, &[name])).err(), expected);
        if expected.is_none() {
            self.objects[object].nlink += 1;
            self.entries(dir).insert(name, object);
        }
    }

    fn remove(&mut self, dir: usize, name: u8) {
        let dir = self.dir(dir);
        let found = self.objects[dir].entries().get(&name).copied();
        let expected = match found {
            _ if self.objects[dir].gone() => Some(Fault::Stale),
            None => Some(Fault::NoEnt),
            Some(child) if self.objects[child].is_dir() && !self.objects[child].entries().is_empty() => {
                Some(Fault::NotEmpty)
            }
            Some(_) => None,
        };
        let done = now(self.mem.remove(&self.who, &self.objects[dir].node, &[name]));
        assert_eq!(done.as_ref().err().copied(), expected);
        if let (Ok(done), Some(child)) = (done, found) {
            self.entries(dir).remove(&name);
            self.drop_name(child);
            assert_eq!(done.last, self.objects[child].nlink == 0);
        }
    }

    fn is_under(&self, mut dir: usize, top: usize) -> bool {
        loop {
            match &self.objects[dir].kind {
                _ if dir == top => return true,
                Kind::Dir { parent, .. } if dir != 0 => dir = *parent,
                Kind::Dir { .. } | Kind::File(_) | Kind::Symlink => return false,
            }
        }
    }

    fn rename(&mut self, from: (usize, u8), to: (usize, u8)) {
        let (from, to) = ((self.dir(from.0), from.1), (self.dir(to.0), to.1));
        let moved = self.objects[from.0].entries().get(&from.1).copied();
        let victim = self.objects[to.0].entries().get(&to.1).copied();
        let expected = match (moved, victim) {
            _ if self.objects[from.0].gone() || self.objects[to.0].gone() => Some(Fault::Stale),
            (None, _) => Some(Fault::NoEnt),
            (Some(moved), _) if self.objects[moved].is_dir() && self.is_under(to.0, moved) => {
                Some(Fault::Inval)
            }
            (Some(moved), Some(victim)) if moved != victim => {
                let (moved, victim) = (&self.objects[moved], &self.objects[victim]);
                let fits = moved.is_dir() == victim.is_dir();
                (!fits || (victim.is_dir() && !victim.entries().is_empty())).then_some(Fault::Exist)
            }
            (Some(_), _) => None,
        };
        let (one, two) = (&self.objects[from.0].node, &self.objects[to.0].node);
        let done = now(self.mem.rename(&self.who, (one, &[from.1]), (two, &[to.1])));
        assert_eq!(done.as_ref().err().copied(), expected);
        let (Ok(done), Some(moved)) = (done, moved) else { return };
        assert_eq!(done.same, victim == Some(moved));
        if done.same {
            return;
        }
        self.entries(from.0).remove(&from.1);
        self.entries(to.0).insert(to.1, moved);
        if let Kind::Dir { parent, .. } = &mut self.objects[moved].kind {
            *parent = to.0;
        }
        if let Some(victim) = victim {
            self.drop_name(victim);
        }
    }

    fn open(&self, file: usize) -> &Opened {
        self.objects[file].open.as_ref().expect("only open files are picked")
    }

    /// What the model has in a range, which it is made long enough for.
    fn range(&mut self, file: usize, at: usize, len: usize) -> &mut [u8] {
        let data = self.data(file);
        if data.len() < at + len {
            data.resize(at + len, 0);
        }
        &mut data[at..at + len]
    }

    fn transfer(&mut self, from: (usize, usize), to: (usize, usize), len: usize, clone: bool) {
        let (Some(source), Some(target)) = (self.file(from.0), self.file(to.0)) else { return };
        let (from_at, to_at) = (from.1, to.1);
        let size = self.objects[source].data().len();
        if from_at >= size || (source == target && from_at.abs_diff(to_at) < len) {
            return;
        }
        let len = len.min(size - from_at);
        let (one, two) = (self.open(source), self.open(target));
        if clone {
            now(self.mem.clone_range(one, from_at as u64, two, to_at as u64, len as u64)).expect("cloned");
        } else {
            let done =
                now(self.mem.copy(one, from_at as u64, two, to_at as u64, len as u64)).expect("copied");
            assert_eq!(done, len as u64);
        }
        let data = self.objects[source].data()[from_at..from_at + len].to_vec();
        self.range(target, to_at, len).copy_from_slice(&data);
        self.check_file(target);
        self.check_file(source);
    }

    fn change_data(&mut self, op: &Op) {
        let (&Op::Write { file, .. }
        | &Op::Truncate { file, .. }
        | &Op::Deallocate { file, .. }
        | &Op::Allocate { file, .. }) = op
        else {
            return;
        };
        let Some(file) = self.file(file) else { return };
        match *op {
            Op::Write { at, len, byte, .. } => {
                let data = Bytes::from(vec![byte; len]);
                let done =
                    now(self.mem.write(self.open(file), at as u64, data, Stable::Un)).expect("written");
                assert_eq!(done.count as usize, len);
                self.range(file, at, len).fill(byte);
            }
            Op::Truncate { size, .. } => {
                let set = SetMeta { size: Some(size as u64), ..SetMeta::default() };
                now(self.mem.setattr(&self.who, &self.objects[file].node, None, &set)).expect("set");
                self.data(file).resize(size, 0);
            }
            Op::Deallocate { at, len, .. } => {
                now(self.mem.deallocate(self.open(file), at as u64, len as u64)).expect("a hole");
                self.data(file).iter_mut().skip(at).take(len).for_each(|byte| *byte = 0);
            }
            Op::Allocate { at, len, .. } => {
                now(self.mem.allocate(self.open(file), at as u64, len as u64)).expect("allocated");
                self.range(file, at, len);
            }
            _ => unreachable!("no change of data"),
        }
        self.check_file(file);
    }

    fn check_file(&self, file: usize) {
        assert!(self.objects[file].data().len() <= LONGEST);
        let read = now(self.mem.read(self.open(file), 0, LONGEST as u32)).expect("read");
        assert!(read.eof && read.data.concat() == *self.objects[file].data(), "file {file}");
    }

    fn step(&mut self, op: &Op) {
        match *op {
            Op::File { dir, name } => self.make(dir, name, FILE),
            Op::Dir { dir, name } => self.make(dir, name, Create::Dir),
            Op::Symlink { dir, name } => self.make(dir, name, Create::Symlink(Bytes::from_static(b"x"))),
            Op::Link { object, dir, name } => self.link(object, dir, name),
            Op::Remove { dir, name } => self.remove(dir, name),
            Op::Rename { from, to } => self.rename(from, to),
            Op::Copy { from, to, len } => self.transfer(from, to, len, false),
            Op::Clone { from, to, len } => self.transfer(from, to, len, true),
            Op::Hold { file } => {
                // Closed: without a name it is gone, else it is opened again.
                let Some(file) = self.file(file) else { return };
                self.objects[file].open = None;
                if self.objects[file].nlink > 0 {
                    let node = &self.objects[file].node;
                    self.objects[file].open = now(self.mem.open(&self.who, node, super::BOTH)).ok();
                    self.check_file(file);
                }
            }
            Op::Write { .. } | Op::Truncate { .. } | Op::Deallocate { .. } | Op::Allocate { .. } => {
                self.change_data(op);
            }
        }
    }

    fn check(&self) {
        let room = super::super::super::Room { entries: 100, bytes: 10_000, meta: true, nodes: true };
        for object in &self.objects {
            let handle = self.mem.handle(&object.node);
            if object.gone() {
                assert_eq!(now(self.mem.getattr(&object.node)), Err(Fault::Stale));
                assert_eq!(now(self.mem.resolve(&handle)).err(), Some(Fault::Stale));
                continue;
            }
            let meta = now(self.mem.getattr(&object.node)).expect("attributes");
            assert_eq!(now(self.mem.resolve(&handle)).expect("resolved").oid, object.node.oid);
            match &object.kind {
                Kind::File(data) => assert_eq!((meta.size, meta.nlink), (data.len() as u64, object.nlink)),
                Kind::Symlink => assert_eq!(meta.nlink, object.nlink),
                Kind::Dir { entries, .. } => {
                    let dirs = entries.values().filter(|&&child| self.objects[child].is_dir()).count();
                    assert_eq!(meta.nlink as usize, 2 + dirs);
                    let page = now(self.mem.list(&self.who, &object.node, 0, room)).expect("listed");
                    let mut listed: Vec<_> = page
                        .entries
                        .into_iter()
                        .map(|entry| (entry.name[0], entry.node.expect("asked for").oid))
                        .collect();
                    listed.sort_unstable();
                    let expected: Vec<_> =
                        entries.iter().map(|(&name, &child)| (name, self.objects[child].node.oid)).collect();
                    assert_eq!(listed, expected);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every result, every fault, all contents; and at the end nothing is counted that is not there.
    #[test]
    fn random_operations_do_what_the_model_does(ops in vec(op(), 1..80)) {
        let mem = mem(256 << 20);
        let empty = mem.used();
        let root = Object {
            kind: Kind::Dir { entries: BTreeMap::new(), parent: 0 },
            nlink: 2,
            node: mem.root(),
            open: None,
        };
        let mut model = Model { mem: &mem, who: Who::server(), objects: vec![root] };
        for op in &ops {
            model.step(op);
        }
        model.check();
        drop(model);
        clear(&mem, &mem.root());
        prop_assert_eq!(mem.used(), empty);
    }
}
