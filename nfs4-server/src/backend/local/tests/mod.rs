//! What is special about a directory of this machine; what every backend must do is in
//! [`kit`](super::super::kit).
//!
//! All of it runs as root and as an ordinary user; what needs root's privileges says so where they are missing.

#![allow(clippy::similar_names, reason = "`root` and `room` are what they are")]

mod caller;
mod data;
mod escape;
mod handles;
mod names;
mod state;

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::super::{Backend, Create, CreateMode, Fault, Made, Meta, Node, OpenAccess, Opened, SetMeta, Who};
use super::{Local, LocalOptions};

const BOTH: OpenAccess = OpenAccess { read: true, write: true };
const READ: OpenAccess = OpenAccess { read: true, write: false };
const WRITE: OpenAccess = OpenAccess { read: false, write: true };
const FILE: Create = Create::File { mode: CreateMode::Guarded, access: BOTH };

/// A temporary directory: `export` is served, `state` is the server's, `outside` is neither.
struct Rig {
    dir: TempDir,
    local: Local,
    options: LocalOptions,
}

impl Rig {
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// A server that may not switch identities nor open by handle, also under root.
    fn single() -> Self {
        Self::with(|options| options.force_single_user = true)
    }

    fn with(change: impl FnOnce(&mut LocalOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["export", "outside"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        // Other callers of the tests come this way too.
        for path in [dir.path().to_owned(), dir.path().join("export")] {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
            std::fs::set_permissions(path, mode).unwrap();
        }
        let mut options =
            LocalOptions { state_dir: Some(dir.path().join("state")), threads: 4, ..LocalOptions::default() };
        change(&mut options);
        let local = Local::open(dir.path().join("export"), options.clone()).unwrap();
        Self { dir, local, options }
    }

    /// The server restarts.
    fn restart(&mut self) {
        self.local = Local::open(self.path("."), self.options.clone()).unwrap();
    }

    /// A path of the export, for changes behind the server's back.
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("export").join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join("outside").join(name)
    }

    async fn lookup(&self, dir: &Node, name: &str) -> Result<Node, Fault> {
        self.local.lookup(&me(), dir, name.as_bytes()).await
    }

    async fn top(&self, name: &str) -> Node {
        self.lookup(&self.local.root(), name).await.unwrap()
    }

    async fn meta(&self, node: &Node) -> Meta {
        self.local.getattr(node).await.unwrap()
    }

    async fn make(&self, dir: &Node, name: &str, what: Create) -> Result<Made, Fault> {
        self.local.create(&me(), dir, name.as_bytes(), what, &SetMeta::default()).await
    }

    async fn dir(&self, name: &str) -> Node {
        self.make(&self.local.root(), name, Create::Dir).await.unwrap().node
    }

    async fn file(&self, name: &str) -> (Node, Opened) {
        let made = self.make(&self.local.root(), name, FILE).await.unwrap();
        (made.node, made.opened.unwrap())
    }
}

/// The test's own user.
fn me() -> Who {
    Who {
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        groups: smallvec::SmallVec::new(),
    }
}

/// Whether the server may become others; says loudly what is not checked where it may not.
fn privileged(rig: &Rig, what: &str) -> bool {
    if rig.local.single_user() {
        eprintln!("NOT CHECKED without root's privileges: {what}");
    }
    !rig.local.single_user()
}

fn mode(bits: u32) -> SetMeta {
    SetMeta { mode: Some((bits, 0o7777)), ..SetMeta::default() }
}

// What every backend must do, as the tests' user may and without root's privileges.
crate::kit_tests!(kit_as_it_is, || {
    let rig = Rig::with(|options| options.exclusive = true);
    (Arc::new(rig.local.clone()) as Arc<dyn Backend>, rig)
});
crate::kit_tests!(kit_single_user, || {
    let rig = Rig::single();
    (Arc::new(rig.local.clone()) as Arc<dyn Backend>, rig)
});
