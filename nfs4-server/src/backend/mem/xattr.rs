//! Extended attributes of one object (RFC 8276).

use std::collections::BTreeMap;

use bytes::Bytes;

use super::super::{Fault, XattrSet};
use super::space::{Space, XATTR_COST};

/// Longest name, bytes.
const NAME_MAX: usize = 255;
/// Longest value, bytes.
const VALUE_MAX: usize = 64 * 1024;
/// Most bytes of all names of one object together, so that one listing stays small.
const NAMES_MAX: usize = 64 * 1024;

/// By name, in its order.
#[derive(Default)]
pub(super) struct Xattrs {
    values: BTreeMap<Bytes, Bytes>,
    names_bytes: usize,
    charged: u64,
}

fn cost(name: &[u8], value: &[u8]) -> u64 {
    XATTR_COST + name.len() as u64 + value.len() as u64
}

impl Xattrs {
    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    pub(super) fn get(&self, name: &[u8]) -> Result<Bytes, Fault> {
        self.values.get(name).cloned().ok_or(Fault::NoXattr)
    }

    pub(super) fn names(&self) -> Vec<Bytes> {
        self.values.keys().cloned().collect()
    }

    pub(super) fn set(
        &mut self,
        space: &Space,
        name: &[u8],
        value: &[u8],
        how: XattrSet,
    ) -> Result<(), Fault> {
        if name.is_empty() {
            return Err(Fault::Inval);
        }
        if name.len() > NAME_MAX {
            return Err(Fault::NameTooLong);
        }
        if value.len() > VALUE_MAX {
            return Err(Fault::Xattr2Big);
        }
        let old = self.values.get(name);
        match how {
            XattrSet::Create if old.is_some() => return Err(Fault::Exist),
            XattrSet::Replace if old.is_none() => return Err(Fault::NoXattr),
            XattrSet::Create | XattrSet::Replace | XattrSet::Either => {}
        }
        if old.is_none() && self.names_bytes + name.len() > NAMES_MAX {
            return Err(Fault::NoSpc);
        }
        let (before, after) = (old.map_or(0, |old| cost(name, old)), cost(name, value));
        if after > before {
            space.charge(after - before)?;
        } else {
            space.release(before - after);
        }
        self.charged = self.charged - before + after;
        if old.is_none() {
            self.names_bytes += name.len();
        }
        self.values.insert(Bytes::copy_from_slice(name), Bytes::copy_from_slice(value));
        Ok(())
    }

    pub(super) fn remove(&mut self, space: &Space, name: &[u8]) -> Result<(), Fault> {
        let value = self.values.remove(name).ok_or(Fault::NoXattr)?;
        let cost = cost(name, &value);
        self.charged -= cost;
        self.names_bytes -= name.len();
        space.release(cost);
        Ok(())
    }
}
