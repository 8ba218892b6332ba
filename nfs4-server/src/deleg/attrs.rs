//! What a client sees of a file that another one may be writing (RFC 8881 §10.4.3).

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use nfs4_deleg::server::{AttrsFrom, Intent, Overlay, OwnAttrs, Stamp, vet_time};
use nfs4_proto::{Attr, AttrSet, Status};

use super::{Go, Look, Machine, Parked, Times};
use crate::backend::{FileKind, Meta, Oid, Time};
use crate::compound::Ctx;
use crate::export::{Export, Place};

/// Whether attributes are wanted that the holder of a write delegation knows better.
pub(crate) fn data_wanted(want: &AttrSet) -> bool {
    const DATA: [Attr; 5] =
        [Attr::Change, Attr::Size, Attr::TimeAccess, Attr::TimeModify, Attr::TimeMetadata];
    DATA.iter().any(|attr| want.contains(*attr))
}

/// A look at one file that was begun.
#[derive(Debug)]
pub(crate) enum Asking {
    /// Nobody need be asked.
    Own,
    /// Somebody was asked.
    Holder(Arc<Machine>, Oid, Parked),
}

/// What was seen.
pub(crate) struct Seen {
    /// With the times that the holder's are measured by.
    overlay: Option<(Overlay, Times)>,
    floor: u64,
}

impl Asking {
    /// Begins: asks the holder, if there is one. NFS4ERR_DELAY where too many ask.
    pub(crate) fn begin(ctx: &Ctx<'_>, export: &Export, kind: FileKind, oid: Oid) -> Result<Self, Status> {
        let Some(machine) = export.delegations.as_ref().filter(|_| kind == FileKind::File) else {
            return Ok(Self::Own);
        };
        match machine.attrs_of(ctx.party(), oid) {
            Look::Wait(parked) => Ok(Self::Holder(Arc::clone(machine), oid, parked)),
            Look::From(AttrsFrom::Delay) => Err(Status::Delay),
            Look::From(AttrsFrom::Backend | AttrsFrom::Overlay(_) | AttrsFrom::Ask(_)) => Ok(Self::Own),
        }
    }

    /// Waits for what the holder says, and takes the file's own attributes.
    pub(crate) async fn end(self, ctx: &Ctx<'_>, place: &Place) -> Result<Meta, Status> {
        let (machine, oid, mut parked) = match self {
            Self::Own => {
                let meta = place.export.backend.getattr(&place.node).await?;
                let machine = place.export.delegations.as_ref();
                return Ok(
                    Seen { overlay: None, floor: machine.map_or(0, |m| m.floor(place.node.oid)) }.over(meta)
                );
            }
            Self::Holder(machine, oid, parked) => (machine, oid, parked),
        };
        let _turn = ctx.park()?;
        loop {
            ctx.core.evict_dead(&machine, ctx.party(), &Intent::Read { oid }).await?;
            let (id, go) = parked.end().await;
            if go == Go::Away {
                return Err(Status::Delay);
            }
            let meta = place.export.backend.getattr(&place.node).await;
            let own =
                meta.as_ref().map_or(OwnAttrs::default(), |m| OwnAttrs { change: m.change, size: m.size });
            let look = machine.attrs_again(id, own);
            let meta = meta?;
            let overlay = match look {
                Look::Wait(again) => {
                    parked = again;
                    continue;
                }
                Look::From(AttrsFrom::Delay | AttrsFrom::Ask(_)) => return Err(Status::Delay),
                Look::From(AttrsFrom::Backend) => None,
                Look::From(AttrsFrom::Overlay(overlay)) => {
                    Some((overlay, machine.times_of_writer(oid).unwrap_or_default()))
                }
            };
            return Ok(Seen { overlay, floor: machine.floor(oid) }.over(meta));
        }
    }
}

pub(super) fn stamp(time: Time) -> Stamp {
    Stamp { seconds: time.seconds, nanos: time.nseconds }
}

fn time(stamp: Stamp) -> Time {
    Time { seconds: stamp.seconds, nseconds: stamp.nanos }
}

fn wall() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Stamp { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX), nanos: since.subsec_nanos() }
}

/// A time that a holder gave, where it is later than the file's own of before; not later than now (RFC 9754).
fn later(given: Stamp, before: Time, now: Stamp) -> Option<Time> {
    let vetted = vet_time(given, stamp(before), now);
    (vetted > stamp(before)).then(|| time(vetted))
}

/// The same for one that the holder sets.
pub(crate) fn vetted(given: Time, before: Time) -> Option<Time> {
    later(stamp(given), before, wall())
}

impl Seen {
    /// Over the file's own attributes.
    fn over(&self, mut meta: Meta) -> Meta {
        meta.change = meta.change.max(self.floor);
        let Some((overlay, times)) = self.overlay else { return meta };
        meta.change = meta.change.max(overlay.change);
        meta.size = overlay.size;
        let now = wall();
        if let Some(given) = overlay.access.and_then(|given| later(given, times.access, now)) {
            meta.atime = given;
        }
        match overlay.modify {
            Some(given) => {
                if let Some(given) = later(given, times.modify, now) {
                    meta.mtime = given;
                    meta.ctime = meta.ctime.max(given);
                }
            }
            None if overlay.touched => {
                meta.mtime = meta.mtime.max(time(now));
                meta.ctime = meta.ctime.max(time(now));
            }
            None => {}
        }
        meta
    }
}
