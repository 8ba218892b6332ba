//! Many of everything: what a server holds, and what one of it costs. The same functions run small in the tests and
//! large in the binary `scale`, against any server.

mod delegations;
mod directory;
mod idle;
mod opens;
mod process;

pub use delegations::{Holder, Storm, holders, storm};
pub use directory::{Churn, Listing, churn, directory, entries_of_one_file, fill, list};
pub use idle::idle;
pub use opens::{Opens, opens};
pub use process::{Process, resident};

/// Told how many of how many are done.
pub type Told<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Nobody is told.
pub fn nobody(_: u64, _: u64) {}

/// Calls under way at once.
const AT_ONCE: usize = 32;
