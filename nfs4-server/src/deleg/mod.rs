//! Delegations of the exports: the adapter between the operations and the machines of `nfs4-deleg`.
//!
//! Each export that gives delegations has a [`Machine`]: the state machine behind one mutex, who waits for it, and what
//! the machine itself has no use for (handles, open files). Operations ask it through [`Admitted`]; what it wants done is
//! carried out by one task, [`carry_out`]. An export without a machine gives none, and its operations pay nothing.
//!
//! [`Admitted`]: crate::compound::Admitted

mod attrs;
mod callbacks;
mod carry;
mod held;
mod machine;
mod name;
mod park;
mod serve;
mod tells;

pub(crate) use attrs::{Asking, data_wanted, vetted};
pub(crate) use carry::carry_out;
pub(crate) use held::{Held, Times};
pub(crate) use machine::Machines;
pub(crate) use machine::{Asked, Look, Machine};
pub(crate) use name::{MOST, named};
pub(crate) use park::{Go, Parked};
pub(crate) use serve::config;
pub(crate) use tells::{granted, refusal_label, refused};
