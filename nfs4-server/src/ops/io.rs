//! READ, WRITE, COMMIT.

use nfs4_deleg::server::Effect;
use nfs4_proto::{CommitArgs, CommitOk, ReadArgs, ReadData, ReadOk, StableHow, Status, WriteArgs, WriteOk};

use super::file_io::{Use, opened};
use crate::backend::Stable;
use crate::compound::Ctx;

/// RFC 8881 §18.22. A count above what the reply can take is cut.
pub(crate) async fn read(ctx: &mut Ctx<'_>, args: ReadArgs) -> Result<ReadOk, Status> {
    let place = ctx.file()?.clone();
    let stateid = ctx.stateid(args.stateid, false)?;
    let file = opened(ctx, &place, stateid, Use::Read).await?;
    // Status, eof, length and up to three bytes of padding.
    let room = ctx.room.saturating_sub(16);
    let most = u32::try_from(room).unwrap_or(u32::MAX).min(ctx.core.max_io());
    let count = args.count.min(most);
    if count == 0 && args.count > 0 {
        return Err(ctx.too_big);
    }
    let permit = ctx.admit(&place.export, &Use::Read.intent(&place)).await?;
    let got = place.export.backend.read(&file, args.offset, count).await?;
    permit.commit(&[]);
    Ok(ReadOk { eof: got.eof, data: ReadData::from_pieces(got.data) })
}

/// RFC 8881 §18.32.
pub(crate) async fn write(ctx: &mut Ctx<'_>, args: WriteArgs) -> Result<WriteOk, Status> {
    let place = ctx.file()?.clone();
    let stateid = ctx.stateid(args.stateid, false)?;
    let file = opened(ctx, &place, stateid, Use::Write).await?;
    let len = u64::try_from(args.data.len()).map_err(|_| Status::Inval)?;
    let end = args.offset.checked_add(len).ok_or(Status::FBig)?;
    let backend = &place.export.backend;
    if len > 0 && end > backend.facts().max_file_size {
        return Err(Status::FBig);
    }
    let stable = match args.stable {
        StableHow::Unstable => Stable::Un,
        StableHow::DataSync => Stable::Data,
        StableHow::FileSync => Stable::File,
    };
    let permit = ctx.admit(&place.export, &Use::Write.intent(&place)).await?;
    // The verifier from before: a loss while this runs must not go unseen.
    let writeverf = backend.write_verifier();
    let done = backend.write(&file, args.offset, args.data.into_bytes(), stable).await?;
    permit.commit(&[Effect::Changed { oid: place.node.oid }]);
    let committed = match done.stable {
        Stable::Un => StableHow::Unstable,
        Stable::Data => StableHow::DataSync,
        Stable::File => StableHow::FileSync,
    };
    Ok(WriteOk { count: done.count, committed, writeverf })
}

/// RFC 8881 §18.3.
pub(crate) async fn commit(ctx: &mut Ctx<'_>, args: CommitArgs) -> Result<CommitOk, Status> {
    let place = ctx.file()?;
    let count = u64::from(args.count);
    let backend = &place.export.backend;
    let writeverf = backend.write_verifier();
    backend.commit(&place.node, args.offset, count).await?;
    // Data lost while it ran are told by the new verifier at once.
    let after = backend.write_verifier();
    Ok(CommitOk { writeverf: if after == writeverf { writeverf } else { after } })
}
