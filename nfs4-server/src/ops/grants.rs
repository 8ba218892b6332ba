//! What an OPEN or WANT_DELEGATION says about delegations, and what it gets (RFC 8881 §18.16, §18.49, RFC 9754).

use nfs4_deleg::ClientKey;
use nfs4_deleg::server::{Claim, FileType, Kind, Refusal, Share, Triple, Want, Wanted};
use nfs4_proto::{DelegationType, NoDelegation, OpenDelegation, ShareAccess, Status, Want as WantField};

use crate::backend::{FileKind, Meta, OpenAccess, Rights};
use crate::cb;
use crate::compound::{Admitted, Ctx};
use crate::deleg::{Held, Times, granted, refusal_label, refused};
use crate::export::Place;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent bits of the protocol")]
pub(crate) struct Asked {
    wanted: Wanted,
    times: bool,
    signal: bool,
    push: bool,
    /// An open stateid is not needed beside a delegation.
    pub(crate) xor: bool,
    /// Something was said: then a refusal has a reason (§18.16.3).
    said: bool,
}

/// The bits about delegations; INVAL for those that have no meaning.
pub(crate) fn asked(access: ShareAccess, minor: u32) -> Result<Asked, Status> {
    let late = ShareAccess::WANT_DELEG_TIMESTAMPS | ShareAccess::WANT_OPEN_XOR_DELEGATION;
    if access.unknown() != 0 || (minor < 2 && access.intersects(late)) {
        return Err(Status::Inval);
    }
    Ok(Asked {
        wanted: match access.want() {
            WantField::NoPreference => Wanted::NoPreference,
            WantField::Read => Wanted::Read,
            WantField::Write => Wanted::Write,
            WantField::Any => Wanted::Any,
            WantField::No => Wanted::No,
            WantField::Cancel => Wanted::Cancel,
            WantField::Unknown(_) => return Err(Status::Inval),
        },
        times: access.contains(ShareAccess::WANT_DELEG_TIMESTAMPS),
        signal: access.contains(ShareAccess::WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL),
        push: access.contains(ShareAccess::WANT_PUSH_DELEG_WHEN_UNCONTENDED),
        xor: access.contains(ShareAccess::WANT_OPEN_XOR_DELEGATION),
        said: !access.difference(ShareAccess::BOTH).is_empty(),
    })
}

impl Asked {
    /// Whether a delegation is wanted by name: what WANT_DELEGATION must say (§18.49.3).
    pub(crate) fn by_name(self) -> bool {
        matches!(self.wanted, Wanted::Read | Wanted::Write | Wanted::Any | Wanted::Cancel)
    }

    /// Whether a second promise on the file is asked for (NFS4ERR_DELEG_ALREADY_WANTED).
    pub(crate) fn wants_again(self, ctx: &Ctx<'_>, place: &Place) -> Result<bool, Status> {
        let key = ClientKey(ctx.client()?.0);
        let promised = matches!(self.wanted, Wanted::Read | Wanted::Write | Wanted::Any)
            && (self.push || self.signal)
            && place.export.delegations.as_ref().is_some_and(|m| m.already_wanted(key, place.node.oid));
        Ok(promised)
    }

    fn refused(self, why: Refusal) -> OpenDelegation {
        if self.said { OpenDelegation::NoneExt(refused(why)) } else { OpenDelegation::None }
    }

    /// Where the export gives none.
    fn without_machine(self) -> OpenDelegation {
        match self.wanted {
            Wanted::No => OpenDelegation::NoneExt(NoDelegation::NotWanted),
            Wanted::Cancel => OpenDelegation::NoneExt(NoDelegation::Cancelled),
            Wanted::NoPreference | Wanted::Read | Wanted::Write | Wanted::Any => {
                self.refused(Refusal::Resource { will_signal: false })
            }
        }
    }
}

/// What a delegation type of CLAIM_PREVIOUS stands for; `None`: no delegation. INVAL for what is none.
pub(crate) fn claimed(delegation: DelegationType) -> Result<Option<Kind>, Status> {
    match delegation {
        DelegationType::None => Ok(None),
        DelegationType::Read | DelegationType::ReadAttrs => Ok(Some(Kind::Read)),
        DelegationType::Write | DelegationType::WriteAttrs => Ok(Some(Kind::Write)),
        DelegationType::NoneExt => Err(Status::Inval),
    }
}

fn file_type(kind: FileKind) -> FileType {
    match kind {
        FileKind::File => FileType::Regular,
        FileKind::Dir => FileType::Directory,
        FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            FileType::Other
        }
    }
}

/// Whether the caller could do all that a holder may do without being asked; and the file's attributes. A holder reads
/// what it writes; and a write behind its back would clear bits for set-user-ID, so it gets none on such a file.
async fn fit(ctx: &Ctx<'_>, place: &Place, asked: Asked, share: Share) -> Result<(bool, Meta), Status> {
    let backend = &place.export.backend;
    let meta = backend.getattr(&place.node).await?;
    let writes = share.write || asked.wanted == Wanted::Write;
    let mut needed = Rights::empty();
    if !share.read {
        needed |= Rights::READ;
    }
    if writes && !share.write {
        needed |= Rights::MODIFY;
    }
    let mut fit = !(writes && (meta.mode & 0o6000 != 0 || ctx.read_only(&place.export)));
    if fit && !needed.is_empty() && place.node.kind == FileKind::File {
        let given = backend.access(&ctx.who(&place.export), &place.node, needed).await?;
        fit = given.contains(needed);
    }
    Ok((fit, meta))
}

/// Under the permit of an operation: a delegation, or why not. True where there is one.
pub(crate) async fn offer(
    ctx: &Ctx<'_>,
    place: &Place,
    permit: &Admitted,
    asked: Asked,
    share: Share,
    claim: Claim,
) -> Result<(bool, OpenDelegation), Status> {
    let Some(machine) = &place.export.delegations else { return Ok((false, asked.without_machine())) };
    let attached = ctx.attached.as_ref().ok_or(Status::OpNotInSession)?;
    let backend = &place.export.backend;
    let none = matches!(asked.wanted, Wanted::No | Wanted::Cancel) || claim == Claim::Current;
    let reclaims = matches!(claim, Claim::Previous(_));
    let mut seen = (0, Times::default());
    if !none {
        let (fit, meta) = fit(ctx, place, asked, share).await?;
        if !fit && !reclaims {
            return Ok((false, asked.refused(Refusal::Resource { will_signal: false })));
        }
        seen = (meta.change, Times { access: meta.atime, modify: meta.mtime });
    }
    let (change, times) = seen;
    // Where an open file outlives its last name, one that is open by its delegation alone does too.
    let opened = if !none && backend.facts().keeps_unlinked && place.node.kind == FileKind::File {
        let access = OpenAccess { read: true, write: !ctx.read_only(&place.export) };
        Some(backend.open_again(&ctx.who(&place.export), &place.node, access).await?)
    } else {
        None
    };
    let client = ClientKey(attached.client.0);
    let called = !none && cb::can_be_called(ctx.core, &attached.session).await;
    if !none {
        machine.know(client, called);
    }
    let want = Want {
        client,
        oid: place.node.oid,
        file: file_type(place.node.kind),
        share,
        wanted: asked.wanted,
        times: asked.times,
        signal: asked.signal,
        push: asked.push,
        claim,
        call: Triple {
            session: *attached.session.id(),
            slot: attached.request.slotid,
            seq: attached.request.sequenceid,
        },
        change,
    };
    let times = asked.times.then_some(times);
    let held = Held { handle: Box::from(&*backend.handle(&place.node)), opened, times };
    let Some(answer) = permit.grant(&want, held) else {
        return Ok((false, asked.without_machine()));
    };
    match answer {
        Ok(grant) => {
            attached.session.grants(attached.request.slotid);
            let kind = match (grant.kind, grant.changed) {
                (Kind::Read, false) => "read",
                (Kind::Write, false) => "write",
                (Kind::Read, true) => "downgrade",
                (Kind::Write, true) => "upgrade",
            };
            ctx.core.metrics.delegation("granted", kind);
            tracing::debug!(client = client.0, oid = ?place.node.oid, kind, "delegation given");
            Ok((true, granted(machine.stateid(grant.deleg), &grant)))
        }
        Err(why) => {
            if !none {
                ctx.core.metrics.delegation("refused", refusal_label(why));
            }
            Ok((false, asked.refused(why)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(bits: u32) -> ShareAccess {
        ShareAccess::from_bits_retain(bits)
    }

    #[test]
    fn fs6_bits_without_a_meaning_are_invalid() {
        for wrong in [0x601, 0xff01, 0x4_0001, 0x8_0001, 0x40_0001, 0x8000_0001] {
            assert_eq!(asked(bits(wrong), 2), Err(Status::Inval), "{wrong:#x}");
        }
        for late in [0x10_0001, 0x20_0001] {
            assert_eq!(asked(bits(late), 1), Err(Status::Inval), "{late:#x} came with 4.2");
            assert!(asked(bits(late), 2).is_ok());
        }
    }

    #[test]
    fn fs5_a_refusal_has_a_reason_only_where_something_was_asked_for() {
        let refusal = |access| asked(bits(access), 2).map(Asked::without_machine);
        assert_eq!(refusal(0x1), Ok(OpenDelegation::None));
        let resource = OpenDelegation::NoneExt(NoDelegation::Resource { will_signal: false });
        for access in [0x101, 0x201, 0x301, 0x1_0001, 0x20_0001] {
            assert_eq!(refusal(access), Ok(resource.clone()), "{access:#x}");
        }
        assert_eq!(refusal(0x401), Ok(OpenDelegation::NoneExt(NoDelegation::NotWanted)));
        assert_eq!(refusal(0x501), Ok(OpenDelegation::NoneExt(NoDelegation::Cancelled)));
    }
}
