//! What is known about clients after a restart. RFC 8881 §8.4.3.
//!
//! For each owner: the last boot in which it was confirmed, and whether it may hold state that it can reclaim. It may
//! from its RECLAIM_COMPLETE on, as it can get nothing before. A client that lost state is forgotten, and so is one
//! that did not finish reclaiming in time: both edge conditions come out as "not on record".

mod file;
mod log;
mod state_dir;

pub use file::FileRecords;
pub use state_dir::{StateDir, StateDirError};

use std::io;

use bytes::Bytes;

/// One client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `co_ownerid`.
    pub owner: Bytes,
    /// The boot in which it was confirmed last.
    pub boot: u32,
    /// It may reclaim after a restart.
    pub reclaimed: bool,
}

/// A store of records. Calls return when what they say would survive a crash.
pub trait Records: Send + Sync {
    /// The number of this boot: differs from those before.
    fn epoch(&self) -> u32;

    /// The records as the boot before left them.
    fn load(&self) -> Vec<Record>;

    /// An incarnation was confirmed. What a former one held is gone, so it may not reclaim, unless `keeps`: it is
    /// reclaiming just now, and may have to do it again.
    fn confirm(&self, owner: &[u8], keeps: bool) -> io::Result<()>;

    /// The client has reclaimed and may get new state.
    fn reclaimed(&self, owner: &[u8]) -> io::Result<()>;

    /// These are not on record any more.
    fn forget(&self, owners: &[Bytes]) -> io::Result<()>;

    /// Whether calls wait for a medium.
    fn durable(&self) -> bool;
}

/// No records: every boot is the first, and there is no grace.
#[derive(Clone, Copy, Debug)]
pub struct MemRecords {
    epoch: u32,
}

impl MemRecords {
    /// A boot with this epoch, which must be random: nothing else tells it from the one before.
    #[must_use]
    pub fn new(epoch: u32) -> Self {
        Self { epoch }
    }
}

impl Records for MemRecords {
    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn load(&self) -> Vec<Record> {
        Vec::new()
    }

    fn confirm(&self, _: &[u8], _: bool) -> io::Result<()> {
        Ok(())
    }

    fn reclaimed(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn forget(&self, _: &[Bytes]) -> io::Result<()> {
        Ok(())
    }

    fn durable(&self) -> bool {
        false
    }
}
