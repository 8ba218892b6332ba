//! The binary as a process: what signals do to it, and what it tells systemd.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nfs4_tests::wire::{Peer, Spec};
use tempfile::TempDir;

/// A server of its own process, and the socket on which it tells how it is.
struct Process {
    child: Child,
    notify: UnixDatagram,
    address: std::net::SocketAddr,
    dir: TempDir,
}

impl Process {
    fn start(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), config).unwrap();
        let notify = UnixDatagram::bind(dir.path().join("notify")).unwrap();
        notify.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_server-under-test"))
            .args(["--listen", "127.0.0.1:0", "--config"])
            .arg(dir.path().join("config.toml"))
            .env("NOTIFY_SOCKET", dir.path().join("notify"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("nfs4-server ready on ").unwrap().parse().unwrap();
        let process = Self { child, notify, address, dir };
        assert_eq!(process.told(), "READY=1\n");
        process
    }

    /// The next message to systemd.
    fn told(&self) -> String {
        let mut bytes = [0; 4096];
        let length = self.notify.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Another file and SIGHUP, to the end of the reload.
    fn reload(&self, config: &str) {
        std::fs::write(self.path().join("config.toml"), config).unwrap();
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
        let reloading = self.told();
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert_eq!(self.told(), "READY=1\n");
    }

    /// Ends it and returns what it wrote to its log.
    fn stop(mut self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success(), "{log}");
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended where the test came to its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn sighup_reads_the_file_again_and_a_broken_one_changes_nothing() {
    let process = Process::start("[[export]]\npath = \"/a\"\n");
    let mut peer = Peer::connect(process.address, Spec::new("a")).await;
    let root = peer.root.clone();
    assert_eq!(peer.names(&root).await, ["a"]);
    process.reload("[[export]]\npath = \"/a\"\n[[export]]\npath = \"/b\"\n");
    assert_eq!(peer.names(&root).await, ["a", "b"]);
    process.reload("leese = 5\n[[export]]\npath = \"/c\"\n");
    assert_eq!(peer.names(&root).await, ["a", "b"]);
    process.reload("lease = 5\n[[export]]\npath = \"/c\"\n");
    assert_eq!(peer.names(&root).await, ["c"]);
    let log = process.stop();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("reloaded")).collect();
    assert_eq!(lines.len(), 3, "{log}");
    assert!(lines[1].contains("leese") && lines[1].contains("lease"), "{log}");
    assert!(lines[2].contains("only after a restart: lease"), "{log}");
}

fn admin(socket: &Path, args: &[&str]) -> (bool, String, String) {
    let program = env!("CARGO_BIN_EXE_server-under-test");
    let out = Command::new(program).arg("admin").arg("--socket").arg(socket).args(args).output().unwrap();
    (out.status.success(), String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
}

#[tokio::test]
async fn the_admin_command_prints_tables_for_people_and_json_for_programs() {
    let process = Process::start("[[export]]\npath = \"/a\"\n");
    let socket = process.path().join("admin.sock");
    // Memory alone keeps no state, so there is no socket either.
    let (ok, _, error) = admin(&socket, &["clients"]);
    assert!(!ok && error.lines().count() == 1 && error.contains("admin.sock"), "{error}");
    drop(process.stop());
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let process = Process::start(&format!("state = {state:?}\n"));
    let socket = state.join("admin.sock");
    let peer = Peer::connect(process.address, Spec::new("somebody")).await;
    let client = format!("{:#018x}", peer.client.0);
    let (ok, table, _) = admin(&socket, &["clients"]);
    assert!(ok && table.starts_with("CLIENT ") && table.contains(&client), "{table}");
    let (ok, json, _) = admin(&socket, &["clients", "--json"]);
    assert!(
        ok && json.starts_with('{') && json.lines().count() == 1 && json.contains("\"somebody\""),
        "{json}"
    );
    let (ok, told, _) = admin(&socket, &["evict", &client]);
    assert!(ok && told.contains("is evicted"), "{told}");
    let (ok, _, error) = admin(&socket, &["evict", &client]);
    assert!(!ok && error.contains("there is no client"), "{error}");
    drop(process.stop());
    assert!(!socket.exists(), "the socket goes with its server");
}

/// How many descriptors a process has open.
fn descriptors(child: &Child) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap().count()
}

/// `limits.descriptors` at N: the objects used longest ago are closed, and found again when they are used.
#[tokio::test]
async fn descriptors_of_objects_stay_within_their_limit_and_everybody_is_served() {
    for (limit, most) in [(64, Some(64)), (4096, None)] {
        let served = tempfile::tempdir().unwrap();
        let process = Process::start(&format!(
            "state = {:?}\nsync-metadata = false\n[limits]\ndescriptors = {limit}\n[[export]]\npath = \"/\"\ndir = {:?}\nsquash = \"none\"",
            served.path().join("state"),
            {
                let dir = served.path().join("export");
                std::fs::create_dir(&dir).unwrap();
                dir
            },
        ));
        let own = std::fs::metadata(served.path()).unwrap();
        let mut peer = Peer::connect(process.address, Spec::new("a").user(own.uid(), own.gid(), &[])).await;
        let root = peer.root.clone();
        let before = descriptors(&process.child);
        let mut files = Vec::new();
        for n in 0..300 {
            files.push(peer.file(&root, format!("f{n}"), b"content").await);
        }
        let after = descriptors(&process.child);
        match most {
            Some(most) => assert!(after <= before + most + 8, "{after}, {before} at first"),
            None => assert!(after >= before + 300, "{after}, {before} at first"),
        }
        for fh in &files {
            let size = peer.attrs(fh, &[nfs4_proto::Attr::Size]).await.size();
            assert_eq!(size, Some(7));
        }
        process.stop();
    }
}
