//! From a COMPOUND's bytes to its reply's.

mod admitted;
mod attached;
mod context;
mod executor;
mod print;
mod rules;

pub(crate) use admitted::Admitted;
pub(crate) use context::{Ctx, must_be_dir};
pub(crate) use executor::run;
