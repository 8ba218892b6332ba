//! Nothing leads out of the export.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use rustix::fs::{CWD, RenameFlags};

use super::super::sys;
use super::*;
use crate::backend::FileKind;

#[tokio::test]
async fn a_symbolic_link_is_an_object_and_never_a_way() {
    let rig = Rig::new();
    fs::create_dir(rig.outside("dir")).unwrap();
    fs::write(rig.outside("dir/secret"), "secret").unwrap();
    symlink(rig.outside("dir"), rig.path("to_dir")).unwrap();
    symlink(rig.outside("dir/secret"), rig.path("to_file")).unwrap();
    let to_dir = rig.top("to_dir").await;
    assert_eq!(rig.lookup(&to_dir, "secret").await.unwrap_err(), Fault::Symlink);
    assert_eq!(rig.make(&to_dir, "new", FILE).await.unwrap_err(), Fault::Symlink);
    assert_eq!(rig.make(&to_dir, "new", Create::Dir).await.unwrap_err(), Fault::Symlink);
    assert_eq!(rig.local.remove(&me(), &to_dir, b"secret").await.unwrap_err(), Fault::Symlink);
    let to_file = rig.top("to_file").await;
    assert_eq!(rig.local.open(&me(), &to_file, BOTH).await.unwrap_err(), Fault::Symlink);
    let cut = SetMeta { size: Some(0), ..SetMeta::default() };
    let cut = rig.local.setattr(&me(), &to_file, None, &cut).await;
    assert_eq!(cut.unwrap().fault, Some(Fault::Inval));
    let _ = rig.local.setattr(&me(), &to_file, None, &mode(0o777)).await;
    let _ = rig.local.setxattr(&me(), &to_file, b"x", "y".into(), super::super::XattrSet::Either).await;
    let unchecked = Create::File { mode: CreateMode::Unchecked, access: BOTH };
    assert_eq!(rig.make(&rig.local.root(), "to_file", unchecked).await.unwrap_err(), Fault::Symlink);
    // A link to the link, and nothing happened at its target.
    rig.local.link(&me(), &to_file, &rig.local.root(), b"again").await.unwrap();
    assert_eq!(fs::read_link(rig.path("again")).unwrap(), rig.outside("dir/secret"));
    assert_eq!(fs::read(rig.outside("dir/secret")).unwrap(), b"secret");
    assert_ne!(fs::metadata(rig.outside("dir/secret")).unwrap().permissions().mode() & 0o777, 0o777);
    assert_eq!(fs::read_dir(rig.outside("dir")).unwrap().count(), 1);
    // By their names the links themselves are removed.
    rig.local.remove(&me(), &rig.local.root(), b"to_file").await.unwrap();
    assert!(rig.outside("dir/secret").exists());
}

#[tokio::test]
async fn a_name_is_one_component() {
    let rig = Rig::new();
    let dir = rig.dir("dir").await;
    for name in [b"..".as_slice(), b".", b"", b"../outside", b"a/b", b"a\0b", b"/"] {
        let (who, root) = (me(), rig.local.root());
        assert_eq!(rig.local.lookup(&who, &dir, name).await.unwrap_err(), Fault::BadName);
        let made = rig.local.create(&who, &dir, name, FILE, &SetMeta::default()).await;
        assert_eq!(made.unwrap_err(), Fault::BadName);
        assert_eq!(rig.local.remove(&who, &dir, name).await.unwrap_err(), Fault::BadName);
        let moved = rig.local.rename(&who, (&root, b"dir"), (&dir, name)).await;
        assert_eq!(moved.unwrap_err(), Fault::BadName);
    }
}

#[tokio::test]
async fn a_directory_swapped_for_a_symbolic_link_all_the_time_leads_nowhere_else() {
    let rig = Rig::with(|options| options.sync_metadata = false);
    fs::create_dir(rig.outside("dir")).unwrap();
    fs::write(rig.outside("dir/file"), "outside").unwrap();
    fs::create_dir(rig.path("a")).unwrap();
    fs::write(rig.path("a/file"), "inside").unwrap();
    symlink(rig.outside("dir"), rig.path("b")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = thread::spawn({
        let (a, b, stop) = (rig.path("a"), rig.path("b"), Arc::clone(&stop));
        move || {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    let mut inside = 0;
    for turn in 0..2_000 {
        let Ok(dir) = rig.lookup(&rig.local.root(), "a").await else { continue };
        if let Ok(file) = rig.lookup(&dir, "file").await {
            let opened = rig.local.open(&me(), &file, READ).await.unwrap();
            let read = rig.local.read(&opened, 0, 100).await.unwrap();
            assert_eq!(read.data.concat(), b"inside");
            inside += 1;
        }
        if let Ok(made) = rig.make(&dir, &format!("new{turn}"), FILE).await {
            drop(made);
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(inside > 0);
    assert_eq!(fs::read_dir(rig.outside("dir")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_way_up_ends_at_the_export_s_root() {
    let rig = Rig::new();
    let root = rig.local.root();
    let a = rig.dir("a").await;
    let b = rig.make(&a, "b", Create::Dir).await.unwrap().node;
    assert_eq!(rig.local.parent(&me(), &b).await.unwrap().oid, a.oid);
    assert_eq!(rig.local.parent(&me(), &a).await.unwrap().oid, root.oid);
    assert_eq!(rig.local.parent(&me(), &root).await.unwrap_err(), Fault::NoEnt);
    let (file, _open) = rig.file("file").await;
    assert_eq!(rig.local.parent(&me(), &file).await.unwrap_err(), Fault::NotDir);
    // Somebody moves the directory out of the export while it is held.
    fs::rename(rig.path("a"), rig.outside("a")).unwrap();
    assert_eq!(rig.local.parent(&me(), &a).await.unwrap_err(), Fault::Stale);
    assert_eq!(rig.local.parent(&me(), &b).await.unwrap_err(), Fault::Stale);
}

#[tokio::test]
async fn a_handle_of_a_directory_outside_is_stale() {
    let rig = Rig::new();
    let outside = fs::File::open(rig.outside(".")).unwrap();
    let handle = sys::name_to_handle(&outside).unwrap();
    assert_eq!(rig.local.resolve(&handle).await.unwrap_err(), Fault::Stale);
    for nonsense in [b"".as_slice(), b"abc", b"\x01\0\0\0", &[0xff; 100], &[0xff; 300]] {
        let fault = rig.local.resolve(nonsense).await.unwrap_err();
        assert!(matches!(fault, Fault::BadHandle | Fault::Stale), "{fault:?}");
    }
}

#[tokio::test]
async fn a_mount_point_below_the_export_is_listed_and_not_entered() {
    let Ok(local) = Local::open("/", LocalOptions { threads: 1, ..LocalOptions::default() }) else {
        eprintln!("NOT CHECKED: the root file system here has no handles");
        return;
    };
    let root = local.root();
    assert_eq!(local.lookup(&me(), &root, b"proc").await.unwrap_err(), Fault::Access);
    let room = super::super::Room { entries: 10_000, bytes: 1 << 20, meta: true, nodes: true };
    let page = local.list(&me(), &root, 0, room).await.unwrap();
    let proc = page.entries.iter().find(|entry| entry.name == "proc").expect("listed");
    assert_eq!(proc.meta, Some(Err(Fault::Access)));
    assert!(proc.node.is_none());
    let page = local.list(&me(), &root, 0, super::super::Room { nodes: false, ..room }).await.unwrap();
    let proc = page.entries.iter().find(|entry| entry.name == "proc").expect("listed");
    assert_eq!(proc.meta, Some(Err(Fault::Access)));
}

#[tokio::test]
async fn a_directory_that_leaves_the_export_and_comes_back_all_the_time_takes_nothing_along() {
    let rig = Rig::with(|options| options.sync_metadata = false);
    fs::write(rig.outside("secret"), "outside").unwrap();
    fs::create_dir_all(rig.path("d/e")).unwrap();
    let (d, e) = (rig.top("d").await, rig.lookup(&rig.top("d").await, "e").await.unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let mover = thread::spawn({
        let (inside, outside, stop) = (rig.path("d"), rig.outside("d"), Arc::clone(&stop));
        move || {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(&inside, &outside).unwrap();
                fs::rename(&outside, &inside).unwrap();
            }
        }
    });
    let root = rig.local.root();
    for turn in 0..2_000 {
        // Up from the directory there is the export's root or nothing, never what lies beside the export.
        if let Ok(up) = rig.local.parent(&me(), &d).await {
            assert_eq!(up.oid, root.oid);
            assert_eq!(rig.lookup(&up, "secret").await.unwrap_err(), Fault::NoEnt);
        }
        if let Ok(up) = rig.local.parent(&me(), &e).await {
            assert_eq!(up.oid, d.oid);
        }
        let _ = rig.local.rename(&me(), (&e, b"x"), (&root, format!("moved{turn}").as_bytes())).await;
        let _ = rig.make(&e, "x", FILE).await;
    }
    stop.store(true, Ordering::Relaxed);
    mover.join().unwrap();
    let beside: Vec<_> =
        fs::read_dir(rig.outside(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, ["secret"]);
    assert_eq!(fs::read(rig.outside("secret")).unwrap(), b"outside");
}

#[tokio::test]
async fn links_of_every_kind_lead_nowhere() {
    let rig = Rig::new();
    fs::write(rig.outside("secret"), "secret").unwrap();
    let targets = [
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/1/root",
        "../outside/secret",
        "../outside",
        "..",
        "../../../../../../etc",
        "loop",
        "chain",
        "/dev/zero",
        "/",
        ".",
        "./loop/../../outside",
    ];
    for (number, target) in targets.iter().enumerate() {
        symlink(target, rig.path(&format!("l{number}"))).unwrap();
    }
    symlink("loop", rig.path("loop")).unwrap();
    symlink("l3", rig.path("chain")).unwrap();
    let root = rig.local.root();
    for (number, target) in targets.iter().enumerate() {
        let name = format!("l{number}");
        let link = rig.top(&name).await;
        assert_eq!(link.kind, FileKind::Symlink);
        assert_eq!(rig.local.open(&me(), &link, READ).await.unwrap_err(), Fault::Symlink);
        assert_eq!(rig.lookup(&link, "secret").await.unwrap_err(), Fault::Symlink);
        let unchecked = Create::File { mode: CreateMode::Unchecked, access: BOTH };
        assert_eq!(rig.make(&root, &name, unchecked).await.unwrap_err(), Fault::Symlink);
        let room = super::super::Room { entries: 9, bytes: 999, meta: true, nodes: true };
        assert_eq!(rig.local.list(&me(), &link, 0, room).await.unwrap_err(), Fault::Symlink);
        assert_eq!(rig.local.readlink(&me(), &link).await.unwrap(), target.as_bytes());
    }
    assert_eq!(fs::read(rig.outside("secret")).unwrap(), b"secret");
}

#[tokio::test]
async fn what_is_no_file_is_not_opened() {
    let rig = Rig::new();
    let fifo = rig.path("fifo");
    rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(rig.path("socket")).unwrap();
    for name in ["fifo", "socket"] {
        let node = rig.top(name).await;
        // Nobody reads or writes the other end: an open would wait for ever.
        for access in [READ, BOTH] {
            assert_eq!(rig.local.open(&me(), &node, access).await.unwrap_err(), Fault::WrongType);
        }
    }
}

/// All of the above as somebody who may not switch identities nor open by handle: in a process of its own, which is
/// this program in a place where that user finds it.
#[test]
fn nobody_gets_out_as_an_ordinary_user_either() {
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    if !rustix::process::geteuid().is_root() {
        // The tests beside this one run as one.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [dir.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let done = std::process::Command::new(&program)
        .args(["backend::local::tests::escape::", "--test-threads=2"])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(!said.contains("running 0 tests"), "{said}");
}

#[test]
fn a_file_system_without_handles_is_refused_by_name() {
    let error = Local::open("/proc", LocalOptions::default()).unwrap_err();
    assert!(matches!(error, super::super::LocalError::NoHandles { .. }), "{error}");
    assert!(error.to_string().contains("/proc"), "{error}");
    let error = Local::open("/does/not/exist", LocalOptions::default()).unwrap_err();
    assert!(error.to_string().contains("/does/not/exist"), "{error}");
}

#[tokio::test]
async fn an_object_of_another_export_is_another_file_system() {
    let (one, other) = (Rig::new(), Rig::new());
    let (file, opened) = one.file("file").await;
    let root = other.local.root();
    assert_eq!(other.local.link(&me(), &file, &root, b"x").await.unwrap_err(), Fault::XDev);
    let moved = other.local.rename(&me(), (&one.local.root(), b"file"), (&root, b"file")).await;
    assert_eq!(moved.unwrap_err(), Fault::XDev);
    assert_eq!(other.local.read(&opened, 0, 1).await.unwrap_err(), Fault::XDev);
}
