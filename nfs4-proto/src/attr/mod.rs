//! File attributes: one table, sets of them, and their values. RFC 8881 §5.

mod acl;
mod codec;
mod fs;
mod open_arguments;
mod owner;
mod set;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use acl::*;
pub use codec::{Attrs, unsupported_attr};
pub use fs::*;
pub use open_arguments::*;
pub use owner::Owner;
pub use set::{AttrSet, AttrWords, attr_words};
pub use table::{Attr, AttrAccess, AttrGroup, AttrScope};
pub use values::*;
