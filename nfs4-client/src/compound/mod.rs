//! Compounds: typed operations in, typed results out.

mod builder;
mod results;

pub use builder::{Compound, OpenFor};
pub use results::{At, Results};
