//! COPY (within an export) and CLONE (RFC 7862 §15.2, §15.13).

use std::sync::Arc;

use nfs4_deleg::server::Effect;
use nfs4_proto::{
    CloneArgs, CopyArgs, CopyError, CopyOk, CopyRequirements, StableHow, Status, WriteResponse,
};

use super::file_io::{Use, opened};
use super::offload::{Work, begin};
use crate::backend::{FileKind, Opened};
use crate::compound::Ctx;
use crate::export::Place;

/// More bytes than this go on after the answer where the client does not ask for them to be copied before it.
const LONG: u64 = 16 << 20;

fn regular(place: &Place) -> Result<(), Status> {
    match place.node.kind {
        FileKind::File => Ok(()),
        FileKind::Dir => Err(Status::IsDir),
        FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            Err(Status::WrongType)
        }
    }
}

struct Ends {
    source: Place,
    target: Place,
    from: Opened,
    to: Opened,
}

/// Source is the saved filehandle, target the current one.
async fn ends(ctx: &Ctx<'_>, src: nfs4_proto::StateId, dst: nfs4_proto::StateId) -> Result<Ends, Status> {
    let (source, target) = (ctx.saved()?.clone(), ctx.current()?.clone());
    regular(&source)?;
    regular(&target)?;
    if source.export.id != target.export.id {
        return Err(Status::XDev);
    }
    let (src, dst) = (ctx.saved_stateid(src)?, ctx.stateid(dst, false)?);
    let from = opened(ctx, &source, src, Use::Read).await?;
    let to = opened(ctx, &target, dst, Use::Write).await?;
    Ok(Ends { source, target, from, to })
}

/// RFC 7862 §15.2. A short count is legal; the client goes on from there. A long copy goes on after the answer, unless
/// the client asks for it to be synchronous or too many go on.
pub(crate) async fn copy(ctx: &mut Ctx<'_>, args: CopyArgs) -> Result<CopyOk, CopyError> {
    if !args.source_server.is_empty() {
        // Between servers: COPY_NOTIFY is not served either.
        return Err(Status::NotSupp.into());
    }
    let ends = ends(ctx, args.src_stateid, args.dst_stateid).await?;
    if ends.source.node.oid == ends.target.node.oid {
        return Err(Status::Inval.into());
    }
    let backend = &ends.source.export.backend;
    let size = backend.getattr(&ends.source.node).await.map_err(Status::from)?.size;
    let left = size.checked_sub(args.src_offset).ok_or(Status::Inval)?;
    // 0 means to the end; beyond the end is INVAL (§15.2.3).
    let count = if args.count == 0 { left } else { args.count };
    if count > left {
        return Err(Status::Inval.into());
    }
    let end = args.dst_offset.checked_add(count).ok_or(Status::Inval)?;
    if end > backend.facts().max_file_size {
        return Err(Status::FBig.into());
    }
    let writeverf = backend.write_verifier();
    if !args.synchronous && count > LONG {
        let work = Work {
            source: Arc::clone(&ends.source.export),
            target: ends.target.clone(),
            from: ends.from.clone(),
            to: ends.to.clone(),
            src_offset: args.src_offset,
            dst_offset: args.dst_offset,
            count,
            writeverf,
        };
        if let Some(stateid) = begin(ctx, work)? {
            return Ok(CopyOk {
                response: WriteResponse {
                    callback_id: Some(stateid),
                    count: 0,
                    committed: StableHow::Unstable,
                    writeverf,
                },
                requirements: CopyRequirements { consecutive: true, synchronous: false },
            });
        }
    }
    let read = ctx.admit(&ends.source.export, &Use::Read.intent(&ends.source)).await?;
    let permit = ctx.admit(&ends.target.export, &Use::Write.intent(&ends.target)).await?;
    let copied = if count == 0 {
        0
    } else {
        let (from, to) = (&ends.from, &ends.to);
        backend.copy(from, args.src_offset, to, args.dst_offset, count).await.map_err(Status::from)?
    };
    read.commit(&[]);
    permit.commit(&[Effect::Changed { oid: ends.target.node.oid }]);
    Ok(CopyOk {
        response: WriteResponse {
            callback_id: None,
            count: copied,
            committed: StableHow::Unstable,
            writeverf,
        },
        requirements: CopyRequirements { consecutive: true, synchronous: true },
    })
}

/// RFC 7862 §15.13.
pub(crate) async fn clone(ctx: &mut Ctx<'_>, args: CloneArgs) -> Result<(), Status> {
    let ends = ends(ctx, args.src_stateid, args.dst_stateid).await?;
    let backend = &ends.source.export.backend;
    if !backend.facts().clones {
        return Err(Status::NotSupp);
    }
    let size = backend.getattr(&ends.source.node).await?.size;
    let left = size.checked_sub(args.src_offset).ok_or(Status::Inval)?;
    let count = if args.count == 0 { left } else { args.count };
    if count > left {
        return Err(Status::Inval);
    }
    let dst_end = args.dst_offset.checked_add(count).ok_or(Status::Inval)?;
    if ends.source.node.oid == ends.target.node.oid {
        let src_end = args.src_offset.saturating_add(count);
        if args.src_offset < dst_end && args.dst_offset < src_end {
            return Err(Status::Inval);
        }
    }
    let read = ctx.admit(&ends.source.export, &Use::Read.intent(&ends.source)).await?;
    let permit = ctx.admit(&ends.target.export, &Use::Write.intent(&ends.target)).await?;
    backend.clone_range(&ends.from, args.src_offset, &ends.to, args.dst_offset, args.count).await?;
    read.commit(&[]);
    permit.commit(&[Effect::Changed { oid: ends.target.node.oid }]);
    Ok(())
}
