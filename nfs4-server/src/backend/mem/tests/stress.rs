//! Many threads in few directories.

use bytes::Bytes;

use super::super::super::{
    Answer, Backend, ChangeInfo, Create, Fault, FileKind, Node, Oid, Room, SetMeta, Stable, Who,
};
use super::super::Mem;
use super::{FILE, mem};

const THREADS: u64 = 8;
const ROUNDS: usize = 2_000;

/// A step of a directory's change.
type Step = (Oid, u64, u64);

/// One thread's work: what it did to which directory.
struct Worker<'a> {
    mem: &'a Mem,
    who: Who,
    dirs: &'a [Node],
    random: u64,
    steps: Vec<Step>,
}

impl<'a> Worker<'a> {
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is small")]
    fn pick(&mut self, of: u64) -> u8 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) % of) as u8
    }

    fn dir(&mut self) -> &'a Node {
        let pick = usize::from(self.pick(self.dirs.len() as u64));
        &self.dirs[pick]
    }

    fn name(&mut self) -> [u8; 2] {
        [b'n', b'0' + self.pick(4)]
    }

    fn note(&mut self, dir: &Node, info: ChangeInfo) {
        assert!(info.atomic);
        if info.before != info.after {
            self.steps.push((dir.oid, info.before, info.after));
        }
    }

    fn rename(&mut self, from: (&Node, &[u8]), to: (&Node, &[u8])) {
        if let Ok(done) = now(self.mem.rename(&self.who, from, to)) {
            self.note(from.0, done.from);
            if from.0.oid != to.0.oid {
                self.note(to.0, done.to);
            }
        }
    }

    fn remove(&mut self, dir: &Node, name: &[u8]) {
        if let Ok(gone) = now(self.mem.remove(&self.who, dir, name)) {
            self.note(dir, gone.dir);
        }
    }

    fn round(&mut self) {
        let (one, two, a, b) = (self.dir(), self.dir(), self.name(), self.name());
        match self.pick(6) {
            0 => {
                if let Ok(made) = now(self.mem.create(&self.who, one, &a, Create::Dir, &SetMeta::default())) {
                    self.note(one, made.dir);
                }
            }
            1 => {
                if let Ok(made) = now(self.mem.create(&self.who, one, &a, FILE, &SetMeta::default())) {
                    self.note(one, made.dir);
                    let open = made.opened.expect("open");
                    now(self.mem.write(&open, 0, Bytes::from_static(b"data"), Stable::Un)).expect("written");
                }
            }
            2 => self.remove(one, &a),
            3 => {
                if let Ok(node) = now(self.mem.lookup(&self.who, one, &a))
                    && let Ok(linked) = now(self.mem.link(&self.who, &node, two, &b))
                {
                    self.note(two, linked.dir);
                }
            }
            4 => {
                // Into a directory of a directory, and out of there: directories change places.
                let into = now(self.mem.lookup(&self.who, two, &b)).ok();
                if let Some(into) = into.filter(|node| node.kind == FileKind::Dir) {
                    self.rename((one, &a), (&into, b"m"));
                    self.rename((&into, b"m"), (one, &b));
                }
            }
            _ => self.rename((one, &a), (two, &b)),
        }
    }
}

/// Threads that make, link, rename and remove in each other's directories: nobody waits in a circle, the change
/// numbers of a directory have no gap and no fork, and all is given back.
#[test]
fn threads_in_each_others_directories_keep_the_chain_and_the_count() {
    let mem = mem(64 << 20);
    let (who, root, empty) = (Who::server(), mem.root(), mem.used());
    let make = |name: &&str| now(mem.create(&who, &root, name.as_bytes(), Create::Dir, &SetMeta::default()));
    let dirs: Vec<Node> = ["a", "b", "c"].iter().map(|name| make(name).expect("made").node).collect();
    let mut all: Vec<Step> = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|random| {
                let mut worker =
                    Worker { mem: &mem, who: who.clone(), dirs: &dirs, random, steps: Vec::new() };
                scope.spawn(move || {
                    (0..ROUNDS).for_each(|_| worker.round());
                    worker.steps
                })
            })
            .collect();
        all.extend(threads.into_iter().flat_map(|thread| thread.join().expect("no panic")));
    });
    for dir in &dirs {
        let mut steps: Vec<_> =
            all.iter().filter(|step| step.0 == dir.oid).map(|step| (step.1, step.2)).collect();
        steps.sort_unstable();
        assert!(steps.len() > ROUNDS / 4, "{} steps", steps.len());
        for pair in steps.windows(2) {
            assert_eq!(pair[0].1, pair[1].0);
        }
        let tip = now(mem.getattr(dir)).expect("attributes").change;
        assert_eq!(steps.last().map(|step| step.1), Some(tip));
    }
    clear(&mem, &root);
    assert_eq!(mem.used(), empty);
}

/// The result that is there at once: `mem` has no other.
pub(super) fn now<T>(answer: Answer<T>) -> Result<T, Fault> {
    match answer {
        Answer::Now(Some(result)) => result,
        Answer::Now(None) | Answer::Later(_) => unreachable!("answered at once"),
    }
}

/// Removes all that is in a directory.
pub(super) fn clear(mem: &Mem, dir: &Node) {
    let who = Who::server();
    let room = Room { entries: 1 << 20, bytes: 1 << 30, meta: false, nodes: true };
    for entry in now(mem.list(&who, dir, 0, room)).expect("listed").entries {
        let node = entry.node.expect("asked for");
        if node.kind == FileKind::Dir {
            clear(mem, &node);
        }
        now(mem.remove(&who, dir, &entry.name)).expect("removed");
    }
}
