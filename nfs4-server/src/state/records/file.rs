//! Records in a file of the state directory.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::log::{Content, Entry, decode, encode};
use super::state_dir::{StateDir, StateDirError};
use super::{Record, Records};
use crate::state::lock;

const NAME: &str = "clients";

/// An append-only file, synced with each entry, and rewritten when most of it is out of date.
#[derive(Debug)]
pub struct FileRecords {
    dir: Arc<StateDir>,
    epoch: u32,
    before: Vec<Record>,
    open: Mutex<Open>,
}

#[derive(Debug)]
struct Open {
    /// Written at its end. `None` after a failed write: the file is rewritten before the next entry.
    file: Option<File>,
    content: Content,
    /// Entries in the file.
    entries: usize,
}

/// Entries out of date that are tolerated beside as many again as there are records.
const SLACK: usize = 1024;

impl FileRecords {
    /// Reads the records and begins a new boot: its number is on the medium when this returns. A torn last entry is
    /// dropped; anything else that is not as it was written is refused, with the path.
    pub fn open(dir: Arc<StateDir>) -> Result<Self, StateDirError> {
        let path = dir.path().join(NAME);
        let mut content = match std::fs::read(&path) {
            Ok(bytes) => decode(&bytes).map_err(|damage| StateDirError::Damaged {
                path,
                at: damage.at,
                what: damage.what,
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Not from 1: a directory that was emptied must not bring back the numbers of former boots.
                let boot = getrandom::u32().map_err(|e| StateDirError::Io { path, error: e.into() })?;
                Content { boot, ..Content::default() }
            }
            Err(error) => return Err(StateDirError::Io { path, error }),
        };
        let before = content
            .owners
            .iter()
            .map(|(owner, &(boot, reclaimed))| Record { owner: owner.clone(), boot, reclaimed })
            .collect();
        // 0 is no boot.
        content.boot = content.boot.checked_add(1).unwrap_or(1);
        let file = dir.replace(NAME, &content.encode())?;
        let (epoch, entries) = (content.boot, content.owners.len() + 1);
        Ok(Self { dir, epoch, before, open: Mutex::new(Open { file: Some(file), content, entries }) })
    }

    fn append(&self, entry: &Entry) -> io::Result<()> {
        let mut open = lock(&self.open);
        if open.entries > 2 * open.content.owners.len() + SLACK {
            open.file = None;
        }
        let Some(file) = &mut open.file else {
            let mut content = open.content.clone();
            content.apply(entry.clone());
            return self.rewrite(&mut open, content);
        };
        let mut bytes = Vec::new();
        encode(entry, &mut bytes);
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // What is in the file now is not known; and after a failed sync the system may take lost pages for written.
            open.file = None;
            return Err(error);
        }
        open.content.apply(entry.clone());
        open.entries += 1;
        Ok(())
    }

    fn rewrite(&self, open: &mut Open, content: Content) -> io::Result<()> {
        open.file = None;
        let file = self.dir.replace(NAME, &content.encode()).map_err(io::Error::other)?;
        *open = Open { file: Some(file), entries: content.owners.len() + 1, content };
        Ok(())
    }
}

impl Records for FileRecords {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn load(&self) -> Vec<Record> {
        self.before.clone()
    }

    fn confirm(&self, owner: &[u8], keeps: bool) -> io::Result<()> {
        let owner = Bytes::copy_from_slice(owner);
        self.append(&Entry::Put { owner, boot: self.epoch, reclaimed: keeps })
    }

    fn reclaimed(&self, owner: &[u8]) -> io::Result<()> {
        self.confirm(owner, true)
    }

    fn forget(&self, owners: &[Bytes]) -> io::Result<()> {
        let known: Vec<_> = {
            let open = lock(&self.open);
            let unique: HashSet<_> = owners.iter().collect();
            unique.into_iter().filter(|o| open.content.owners.contains_key(*o)).cloned().collect()
        };
        match known.as_slice() {
            [] => Ok(()),
            [owner] => self.append(&Entry::Forget(owner.clone())),
            many => {
                // One rewrite instead of a sync for each, and only ever one entry behind.
                let mut open = lock(&self.open);
                let mut content = open.content.clone();
                for owner in many {
                    content.apply(Entry::Forget(owner.clone()));
                }
                self.rewrite(&mut open, content)
            }
        }
    }

    fn durable(&self) -> bool {
        true
    }
}
