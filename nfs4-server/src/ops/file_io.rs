//! From a stateid to an open file: what READ, WRITE and their like have in common.

use nfs4_deleg::server::Intent;
use nfs4_proto::{StateId, Status};

use super::access::open_file;
use crate::backend::{OpenAccess, Opened};
use crate::compound::Ctx;
use crate::export::Place;
use crate::state::ObjectKey;

/// How an operation is about to use a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its data are read.
    Read,
    /// Its data or size are changed.
    Write,
}

impl Use {
    pub(crate) fn access(self) -> OpenAccess {
        OpenAccess { read: self == Self::Read, write: self == Self::Write }
    }

    pub(crate) fn intent(self, place: &Place) -> Intent {
        match self {
            Self::Read => Intent::Read { oid: place.node.oid },
            Self::Write => Intent::Write { oid: place.node.oid },
        }
    }
}

/// The object as the tables of state know it.
pub(crate) fn key_of(place: &Place) -> ObjectKey {
    ObjectKey { export: place.export.id, oid: place.node.oid }
}

/// The open file behind a stateid (already resolved by [`Ctx::stateid`]): one of an open or a lock of this client, or a
/// special one, for which the file is opened with the caller's rights and other opens' deny bits count (RFC 8881 §8.2.3).
pub(crate) async fn opened(
    ctx: &Ctx<'_>,
    place: &Place,
    stateid: StateId,
    how: Use,
) -> Result<Opened, Status> {
    if how == Use::Write {
        place.export.writable()?;
    }
    let client = ctx.client()?;
    if stateid.is_special() {
        // A WRITE with the bypass stateid is one with the anonymous one (§8.2.3).
        if stateid != StateId::READ_BYPASS || how == Use::Write {
            ctx.core.files.check_anonymous(key_of(place), how.access())?;
        }
        if ctx.core.state.in_grace() {
            return Err(Status::Grace);
        }
        return open_file(&ctx.who(&place.export), place, how.access()).await;
    }
    ctx.core.files.check(client, stateid, key_of(place), how.access())
}
