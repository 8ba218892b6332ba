//! READDIR.

use std::sync::Arc;

use nfs4_proto::{Attr, AttrSet, Attrs, Component, DirList, Entry, ReaddirArgs, ReaddirOk, Status};
use nfs4_xdr::{Chain, Encode};

use super::collect::collect;
use crate::backend::{self, Fault, Room};
use crate::compound::Ctx;
use crate::export::Place;

/// Most entries of one page, whatever the client has room for: bounds the time of one call.
const MOST_ENTRIES: usize = 8192;
/// Verifier 8, end of the chain 4, eof 4.
const FRAME: usize = 16;

/// RFC 8881 §18.23. `maxcount` bounds the whole result; `dircount` is a hint that is not needed here.
pub(crate) async fn readdir(ctx: &mut Ctx<'_>, args: ReaddirArgs) -> Result<ReaddirOk, Status> {
    args.attr_request.check_get()?;
    let dir = ctx.directory()?.clone();
    let backend = &dir.export.backend;
    let cookieverf = backend.cookie_verifier();
    if args.cookie != 0 && args.cookieverf != cookieverf {
        return Err(Status::NotSame);
    }
    if args.cookie == 1 || args.cookie == 2 {
        return Err(Status::BadCookie);
    }
    // Number and status of the operation come in front.
    let most = usize::try_from(args.maxcount).unwrap_or(usize::MAX).min(ctx.room.saturating_sub(8));
    let mut left = most.checked_sub(FRAME).ok_or(Status::TooSmall)?;
    let room = Room {
        entries: MOST_ENTRIES,
        // Flag 4, cookie 8, length 4, bitmap and length of attributes 8: what the backend counts for each name.
        bytes: left,
        meta: wants_meta(&args.attr_request),
        nodes: !args.attr_request.is_empty(),
    };
    let page = backend.list(&ctx.who(&dir.export), &dir.node, args.cookie, room).await?;
    let mut eof = page.eof;
    let mut entries = Vec::with_capacity(page.entries.len().min(1024));
    for found in page.entries {
        let cookie = found.cookie;
        let Some(entry) = entry(ctx, &dir, found, &args.attr_request).await? else { continue };
        let need = entry.encoded_len().saturating_add(4);
        if need > left {
            if entries.is_empty() {
                return Err(Status::TooSmall);
            }
            eof = false;
            break;
        }
        left = left.saturating_sub(need);
        debug_assert!(cookie > 2, "cookies 0 to 2 are reserved");
        entries.push(entry);
    }
    Ok(ReaddirOk { cookieverf, reply: DirList { entries: Chain(entries), eof } })
}

fn wants_meta(want: &AttrSet) -> bool {
    let mut left = want.clone();
    left.remove(Attr::RdattrError).remove(Attr::Filehandle).remove(Attr::Fsid);
    !left.is_empty()
}

/// One entry; `None` where it went away meanwhile.
async fn entry(
    ctx: &Ctx<'_>,
    dir: &Place,
    found: backend::Entry,
    want: &AttrSet,
) -> Result<Option<Entry>, Status> {
    let backend::Entry { name, cookie, meta, node } = found;
    let name = Component::new(name).ok_or(Status::ServerFault)?;
    if want.is_empty() {
        return Ok(Some(Entry { cookie, name, attrs: Attrs::new() }));
    }
    let attrs = match (meta.transpose(), node) {
        (Err(Fault::NoEnt | Fault::Stale), _) => return Ok(None),
        (Err(fault), _) => Err(Status::from(fault)),
        // A mount point below the export: it is listed and cannot be entered.
        (Ok(_), None) => Err(Status::Access),
        (Ok(meta), Some(node)) => {
            let child = Place { export: Arc::clone(&dir.export), node };
            let crossed = ctx.core.exports.cross(child.clone());
            // The root of a mounted export shows itself, and not the directory it lies on.
            let meta = if crossed.export.id == child.export.id { meta } else { None };
            match collect(ctx, &crossed, want, meta).await {
                Err(Status::NoEnt | Status::Stale) => return Ok(None),
                other => other,
            }
        }
    };
    let attrs = match attrs {
        Ok(attrs) => attrs,
        Err(status) if want.contains(Attr::RdattrError) => {
            let mut only = Attrs::new();
            only.set_rdattr_error(status);
            only
        }
        Err(status) => return Err(status),
    };
    Ok(Some(Entry { cookie, name, attrs }))
}
