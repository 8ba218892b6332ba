//! What a name may be (RFC 8881 §14.5, §5.8.1.2).

use nfs4_proto::{Component, Status};

use crate::backend::Facts;

/// Checks one name; it is then fit for any backend. Nothing is normalised: names are bytes that we keep.
pub(crate) fn check<'a>(name: &'a Component, facts: &Facts, most: u32) -> Result<&'a [u8], Status> {
    let bytes: &[u8] = name;
    let most = most.min(facts.max_name);
    if bytes.is_empty() {
        return Err(Status::Inval);
    }
    if bytes.len() > usize::try_from(most).unwrap_or(usize::MAX) {
        return Err(Status::NameTooLong);
    }
    if bytes == b"." || bytes == b".." || bytes.iter().any(|b| *b == b'/' || *b == 0) {
        return Err(Status::BadName);
    }
    if !facts.any_bytes && name.as_str().is_none() {
        return Err(Status::Inval);
    }
    Ok(bytes)
}
