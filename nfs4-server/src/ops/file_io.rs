//! From a stateid to an open file: what READ, WRITE and their like have in common.

use std::sync::Arc;

use nfs4_deleg::server::{Covers, DelegRef, Intent};
use nfs4_deleg::{ClientKey, Now};
use nfs4_proto::{ClientId, StateId, Status};

use super::access::open_file;
use crate::backend::{Oid, OpenAccess, Opened};
use crate::compound::Ctx;
use crate::deleg::{Machine, Times, named};
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
        ctx.writable(&place.export)?;
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
    if let Some(delegation) = delegation_of(ctx, place, stateid) {
        delegation.check(client, how == Use::Write)?;
        return delegation.open(ctx, place).await;
    }
    ctx.core.files.check(client, stateid, key_of(place), how.access())
}

/// A delegation that a stateid names.
pub(crate) struct Named {
    machine: Arc<Machine>,
    deleg: DelegRef,
    oid: Oid,
}

/// The delegation that a stateid names on an object; `None` where it names none of this export.
pub(crate) fn delegation_of(ctx: &Ctx<'_>, place: &Place, stateid: StateId) -> Option<Named> {
    let (number, deleg) = named(stateid, ctx.core.state.epoch())?;
    let machine = place.export.delegations.as_ref().filter(|machine| machine.number() == number)?;
    Some(Named { machine: Arc::clone(machine), deleg, oid: place.node.oid })
}

/// The same where nothing else would do: BAD_STATEID for every other stateid, and for a delegation that does not allow
/// to write, where the operation knows no OPENMODE (§15.2).
pub(crate) fn covering(
    ctx: &Ctx<'_>,
    place: &Place,
    stateid: StateId,
    write: bool,
) -> Result<(Named, Covers), Status> {
    let delegation = delegation_of(ctx, place, stateid).ok_or(Status::BadStateId)?;
    match delegation.check(ctx.client()?, write) {
        Ok(covers) => Ok((delegation, covers)),
        Err(Status::OpenMode) => Err(Status::BadStateId),
        Err(status) => Err(status),
    }
}

impl Named {
    /// What it covers, for this client and object.
    pub(crate) fn check(&self, client: ClientId, write: bool) -> Result<Covers, Status> {
        self.machine.check(ClientKey(client.0), self.deleg, self.oid, write)
    }

    /// The file, open: whatever opens its holder has, they may be known to the client alone. Permission was asked for when
    /// the delegation was given.
    async fn open(&self, ctx: &Ctx<'_>, place: &Place) -> Result<Opened, Status> {
        if let Some(opened) = self.machine.opened(self.deleg.id) {
            return Ok(opened);
        }
        let access = OpenAccess { read: true, write: !ctx.read_only(&place.export) };
        let opened = place.export.backend.open_again(&ctx.who(&place.export), &place.node, access).await?;
        self.machine.keep_open(self.deleg.id, opened.clone());
        Ok(opened)
    }

    /// The times that the holder's are measured by.
    pub(crate) fn times(&self) -> Times {
        self.machine.times(self.deleg.id).unwrap_or_default()
    }

    /// The holder set them.
    pub(crate) fn set_times(&self, times: Times) {
        self.machine.set_times(self.deleg.id, times);
    }

    /// DELEGRETURN. When it was called back, if it was.
    pub(crate) fn give_back(&self, client: ClientId) -> Result<Option<Now>, Status> {
        self.machine.give_back(ClientKey(client.0), self.oid, self.deleg)
    }
}
