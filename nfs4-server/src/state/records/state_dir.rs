//! The directory given by `--state`: locked while in use, and a place for small secrets.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Why a state directory cannot be used. The text names the path.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// Another server uses it.
    #[error("{}: in use by another server (which holds {})", .0.display(), .0.join(LOCK).display())]
    InUse(PathBuf),
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file in it is not what this server wrote. It is left as it is.
    #[error("{}: damaged at byte {at} ({what}); move it away to start without records of clients", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
}

const LOCK: &str = "lock";

/// A state directory in use by this process.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    /// Held for the lock's sake.
    _lock: File,
}

impl StateDir {
    /// Makes the directory if need be, readable by its owner only, and locks it.
    pub fn open(path: &Path) -> Result<Self, StateDirError> {
        use std::os::unix::fs::DirBuilderExt;
        let at = |path: &Path| {
            let path = path.to_owned();
            |error| StateDirError::Io { path, error }
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(at(path))?;
        let name = path.join(LOCK);
        let lock = File::options().write(true).create(true).truncate(false).open(&name).map_err(at(&name))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateDirError::InUse(path.to_owned())),
            Err(error) => Err(StateDirError::Io { path: name, error: error.into() }),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// 16 random bytes that stay the same: the server's identity, the key of handles. Made when asked for first.
    pub fn secret(&self, name: &str) -> Result<[u8; 16], StateDirError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => bytes.try_into().map_err(|bytes: Vec<u8>| StateDirError::Damaged {
                path,
                at: bytes.len(),
                what: "not 16 bytes long",
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut bytes = [0; 16];
                getrandom::fill(&mut bytes)
                    .map_err(|e| StateDirError::Io { path: path.clone(), error: e.into() })?;
                self.replace(name, &bytes)?;
                Ok(bytes)
            }
            Err(error) => Err(StateDirError::Io { path, error }),
        }
    }

    /// Writes a file so that after a crash there is the old one or the new one, whole.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<File, StateDirError> {
        use std::os::unix::fs::OpenOptionsExt;
        let path = self.path.join(name);
        let new = self.path.join(format!("{name}.new"));
        let write = || {
            let mut file =
                File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&self.path)?.sync_all()?;
            Ok(file)
        };
        write().map_err(|error| StateDirError::Io { path: path.clone(), error })
    }
}
