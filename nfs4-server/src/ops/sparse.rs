//! SEEK, READ_PLUS, IO_ADVISE, ALLOCATE, DEALLOCATE (RFC 7862 §15).

use nfs4_deleg::server::Effect;
use nfs4_proto::{
    AllocateArgs, Bitmap4, DataContent, IoAdviseArgs, IoAdviseOk, ReadData, ReadPlusArgs, ReadPlusContent,
    ReadPlusOk, SeekArgs, SeekOk, Status,
};
use nfs4_xdr::List;

use super::file_io::{Use, delegation_of, key_of, opened};
use crate::backend::{Advice, Fault, OpenAccess, Opened, Seek};
use crate::compound::Ctx;
use crate::export::Place;

/// Most segments of one READ_PLUS: bounds its time on a file of many small holes.
const SEGMENTS: usize = 64;
/// A hole on the wire; a segment of data without the data, with its padding.
const HOLE: usize = 20;
const DATA: usize = 19;

/// RFC 7862 §15.10. A count above what the reply can take is cut.
pub(crate) async fn read_plus(ctx: &mut Ctx<'_>, args: ReadPlusArgs) -> Result<ReadPlusOk, Status> {
    let place = ctx.file()?.clone();
    let stateid = ctx.stateid(args.stateid, false)?;
    let file = opened(ctx, &place, stateid, Use::Read).await?;
    // Number, status, eof, count.
    let room = ctx.room.saturating_sub(16);
    if room <= DATA && args.count > 0 {
        return Err(ctx.too_big);
    }
    let permit = ctx.admit(&place.export, &Use::Read.intent(&place)).await?;
    let size = place.export.backend.getattr(&place.node).await?.size;
    let asked = args.offset.saturating_add(args.count.min(ctx.core.max_io()).into());
    let range = Range { at: args.offset, end: asked.min(size), size };
    let contents = segments(ctx, &place, &file, range, room).await?;
    permit.commit(&[]);
    // A hole may go on beyond what was asked for.
    let eof = contents.last().map_or(args.offset, end_of) >= size;
    Ok(ReadPlusOk { eof, contents: List::new(contents).ok_or(Status::ServerFault)? })
}

/// What is left to tell of a file.
struct Range {
    at: u64,
    end: u64,
    size: u64,
}

fn end_of(content: &ReadPlusContent) -> u64 {
    match content {
        ReadPlusContent::Data { offset, data } => {
            offset.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX))
        }
        ReadPlusContent::Hole { offset, length } => offset.saturating_add(*length),
        ReadPlusContent::Other(_) => 0,
    }
}

/// Data and holes, one after the other without a gap.
async fn segments(
    ctx: &Ctx<'_>,
    place: &Place,
    file: &Opened,
    mut range: Range,
    mut room: usize,
) -> Result<Vec<ReadPlusContent>, Status> {
    let backend = &place.export.backend;
    let mut contents = Vec::new();
    // A hole must not go beyond what the owner has locked (§15.10.3); without any lock it is told whole.
    let whole = !ctx.core.files.locked(key_of(place))?;
    while range.at < range.end && contents.len() < SEGMENTS && room > DATA {
        let data = match backend.seek(file, range.at, Seek::Data).await {
            Ok(found) if found.eof => range.size,
            Ok(found) => found.offset,
            // Cut off meanwhile.
            Err(Fault::NxIo) => break,
            // Without a way to find holes everything is data.
            Err(Fault::NotSupp | Fault::Inval) => range.at,
            Err(fault) => return Err(fault.into()),
        };
        if data > range.at {
            let end = if whole { data } else { data.min(range.end) };
            contents.push(ReadPlusContent::Hole { offset: range.at, length: end.saturating_sub(range.at) });
            room = room.saturating_sub(HOLE);
            range.at = end;
            continue;
        }
        let hole = match backend.seek(file, range.at, Seek::Hole).await {
            Ok(found) => found.offset.min(range.end),
            Err(Fault::NxIo) => break,
            Err(Fault::NotSupp | Fault::Inval) => range.end,
            Err(fault) => return Err(fault.into()),
        };
        let most = u64::try_from(room.saturating_sub(DATA)).unwrap_or(u64::MAX);
        let len = hole.saturating_sub(range.at).min(most);
        let got = backend.read(file, range.at, u32::try_from(len).unwrap_or(u32::MAX)).await?;
        let data = ReadData::from_pieces(got.data);
        let read = data.len();
        if read == 0 {
            break;
        }
        contents.push(ReadPlusContent::Data { offset: range.at, data });
        room = room.saturating_sub(read.saturating_add(DATA));
        range.at = range.at.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
    }
    Ok(contents)
}

/// `IO_ADVISE_type4` (RFC 7862 §15.5.1) of what can be followed.
const HINTS: [(u32, Advice); 6] = [
    (0, Advice::Normal),
    (1, Advice::Sequential),
    (3, Advice::Random),
    (4, Advice::WillNeed),
    (6, Advice::DontNeed),
    (7, Advice::NoReuse),
];

/// RFC 7862 §15.5. The answer has those hints that make a difference here.
pub(crate) async fn io_advise(ctx: &mut Ctx<'_>, args: IoAdviseArgs) -> Result<IoAdviseOk, Status> {
    let place = ctx.file()?.clone();
    let stateid = ctx.stateid(args.stateid, false)?;
    args.offset.checked_add(args.count).ok_or(Status::Inval)?;
    let mut hints = Bitmap4::new();
    if stateid.is_special() {
        // Nobody's advice.
        return Ok(IoAdviseOk { hints });
    }
    let nothing = OpenAccess { read: false, write: false };
    let file = match delegation_of(ctx, &place, stateid) {
        Some(_) => opened(ctx, &place, stateid, Use::Read).await?,
        None => ctx.core.files.check(ctx.client()?, stateid, key_of(&place), nothing)?,
    };
    for (number, advice) in HINTS {
        if args.hints.contains(number)
            && place.export.backend.advise(&file, args.offset, args.count, advice).await?
        {
            hints.insert(number);
        }
    }
    Ok(IoAdviseOk { hints })
}

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
    let permit = ctx.admit(&place.export, &Use::Read.intent(&place)).await?;
    let found = place.export.backend.seek(&file, args.offset, what).await?;
    permit.commit(&[]);
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
    let permit = ctx.admit(&place.export, &Use::Write.intent(&place)).await?;
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
