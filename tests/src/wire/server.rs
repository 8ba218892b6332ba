//! A server in this process, on a port of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use nfs4_server::config::{Config, ExportFile, File, Flags, Squash};
use nfs4_server::{Server, StartError};
use tempfile::TempDir;

use super::{PATIENCE, Peer, Raw, Spec};

/// A server, and the directories that it uses.
#[derive(Debug)]
pub struct TestServer {
    running: Option<Server>,
    /// Where it listens; another port after each start.
    pub address: SocketAddr,
    config: Config,
    file: File,
    dir: Option<TempDir>,
}

impl TestServer {
    /// Memory, seen as `/`; nobody is squashed.
    pub async fn mem() -> Self {
        Self::with(|_| {}).await
    }

    /// Memory or whatever a configuration file would say.
    pub async fn with(fill: impl FnOnce(&mut File)) -> Self {
        Self::start(None, fill).await
    }

    /// A directory of this machine, seen as `/`, with its state beside it; nobody is squashed.
    pub async fn local() -> Self {
        Self::local_with(|_| {}).await
    }

    /// Like [`local`](Self::local), with more of a configuration.
    pub async fn local_with(fill: impl FnOnce(&mut File)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("export")).unwrap();
        let (export, state) = (dir.path().join("export"), dir.path().join("state"));
        Self::start(Some(dir), |file| {
            file.squash = Some(Squash::None);
            // A test is no place to wait for a disk.
            file.sync_metadata = Some(false);
            file.state = Some(state);
            file.export =
                vec![ExportFile { path: "/".to_owned(), dir: Some(export), ..ExportFile::default() }];
            fill(file);
        })
        .await
    }

    async fn start(dir: Option<TempDir>, fill: impl FnOnce(&mut File)) -> Self {
        let mut file = File { listen: Some(vec!["127.0.0.1:0".parse().unwrap()]), ..File::default() };
        fill(&mut file);
        let config = Config::merge(&Flags::default(), file.clone()).unwrap();
        let running = Server::start(&config).await.unwrap();
        let address = *running.addresses().first().unwrap();
        Self { running: Some(running), address, config, file, dir }
    }

    /// The directory that is served.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.dir.as_ref().map(|dir| dir.path().join("export")).unwrap()
    }

    /// Where the server keeps its state.
    #[must_use]
    pub fn state(&self) -> Option<&Path> {
        self.config.state.as_deref()
    }

    /// The administrator's socket.
    #[must_use]
    pub fn admin_socket(&self) -> &Path {
        self.config.admin_socket.as_deref().unwrap()
    }

    /// The running server.
    #[must_use]
    pub fn server(&self) -> &Server {
        self.running.as_ref().unwrap()
    }

    /// Takes a changed configuration into force, as SIGHUP does; the keys that wait for a restart.
    pub async fn reload(&mut self, fill: impl FnOnce(&mut File)) -> Result<Vec<String>, StartError> {
        let mut file = self.file.clone();
        fill(&mut file);
        let config = Config::merge(&Flags::default(), file.clone()).unwrap();
        let waiting = self.running.as_mut().unwrap().reload(&config).await?;
        self.file = file;
        Ok(waiting)
    }

    /// Ends it as SIGTERM does.
    pub async fn stop(&mut self) {
        if let Some(server) = self.running.take() {
            server.stop().await;
        }
    }

    /// Ends it at once, and starts it again on the same directories.
    pub async fn restart(&mut self) {
        drop(self.running.take());
        let started = std::time::Instant::now();
        loop {
            match Server::start(&self.config).await {
                Ok(server) => {
                    self.address = *server.addresses().first().unwrap();
                    self.running = Some(server);
                    return;
                }
                // Tasks of the old one may hold the state directory's lock for a moment.
                Err(error) if started.elapsed() > PATIENCE => panic!("{error}"),
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
            }
        }
    }

    /// A client whose user may do everything in the export.
    #[must_use]
    pub fn spec(&self, owner: &str) -> Spec {
        let spec = Spec::new(owner);
        match &self.dir {
            None => spec,
            Some(dir) => {
                use std::os::unix::fs::MetadataExt;
                let own = std::fs::metadata(dir.path()).unwrap();
                spec.user(own.uid(), own.gid(), &[])
            }
        }
    }

    /// Whether this process is root, so that the directory's server acts as its callers.
    #[must_use]
    pub fn acts_as_callers(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.dir.as_ref().is_some_and(|dir| std::fs::metadata(dir.path()).unwrap().uid() == 0)
    }

    /// A client with a session.
    pub async fn peer(&self, owner: &str) -> Peer {
        Peer::connect(self.address, self.spec(owner)).await
    }

    /// A bare connection.
    pub async fn raw(&self) -> Raw {
        Raw::connect(self.address).await
    }
}
