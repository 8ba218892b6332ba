//! SEEK, ALLOCATE, DEALLOCATE (RFC 7862 §15).

use nfs4_deleg::server::Effect;
use nfs4_proto::{AllocateArgs, DataContent, SeekArgs, SeekOk, Status};

use super::file_io::{Use, opened};
use crate::backend::Seek;
use crate::compound::Ctx;

/// RFC 7862 §15.11.
pub(crate) async fn seek(ctx: &mut Ctx<'_>, args: SeekArgs) -> Result<SeekOk, Status> {
    let place = ctx.file()?.clone();
    let what = match args.what {
        DataContent::Data => Seek::Data,
        DataContent::Hole => Seek::Hole,
        DataContent::Other(_) => return Err(Status::UnionNotSupp),
    };
    let stateid = ctx.stateid(args.stateid, false)?;
    let file = opened(ctx, &place, stateid, Use::Read).await?;
    let found = place.export.backend.seek(&file, args.offset, what).await?;
    Ok(SeekOk { eof: found.eof, offset: found.offset })
}

enum Space {
    Reserve,
    Free,
}

async fn change_space(ctx: &mut Ctx<'_>, args: AllocateArgs, what: Space) -> Result<(), Status> {
    let place = ctx.file()?.clone();
    let stateid = ctx.stateid(args.stateid, false)?;
    let end = args.offset.checked_add(args.length).ok_or(Status::Inval)?;
    if args.length == 0 {
        return Err(Status::Inval);
    }
    let backend = &place.export.backend;
    let file = opened(ctx, &place, stateid, Use::Write).await?;
    if end > backend.facts().max_file_size {
        return Err(Status::FBig);
    }
    let permit = ctx.admit(&place.export, &Use::Write.intent(&place))?;
    match what {
        Space::Reserve => backend.allocate(&file, args.offset, args.length).await?,
        Space::Free => backend.deallocate(&file, args.offset, args.length).await?,
    }
    permit.commit(&[Effect::Changed { oid: place.node.oid }]);
    Ok(())
}

/// RFC 7862 §15.1.
pub(crate) async fn allocate(ctx: &mut Ctx<'_>, args: AllocateArgs) -> Result<(), Status> {
    change_space(ctx, args, Space::Reserve).await
}

/// RFC 7862 §15.4.
pub(crate) async fn deallocate(ctx: &mut Ctx<'_>, args: AllocateArgs) -> Result<(), Status> {
    change_space(ctx, args, Space::Free).await
}
