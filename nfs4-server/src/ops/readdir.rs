//! READDIR.
//!
//! Its result is encoded as it is collected: a page has hundreds of entries, and to move each one's attributes through
//! a list costs more than to look them up.

use std::sync::Arc;

use bytes::BytesMut;
use nfs4_deleg::ClientKey;
use nfs4_proto::{Attr, AttrSet, Attrs, Component, ReaddirArgs, Status};
use nfs4_xdr::{EncodeError, Segments, Writer};

use super::collect::{Wanted, collect, collect_entry};
use crate::backend::{FileKind, Meta, Node, Page, Room};
use crate::compound::Ctx;
use crate::deleg::Asking;
use crate::export::{PSEUDO_ID, Place};

/// Most entries of one page, whatever the client has room for: bounds the time of one call.
const MOST_ENTRIES: usize = 8192;
/// Verifier 8, end of the chain 4, eof 4.
const FRAME: usize = 16;
/// Flag 4, cookie 8, length 4 and four bytes of a name, bitmap and length of attributes 8.
const LEAST_ENTRY: usize = 28;

/// Room that a page gets at first.
const EXPECTED: usize = 16 << 10;

/// RFC 8881 §18.23: `READDIR4resok`, encoded. `maxcount` bounds the whole result; `dircount` is a hint that is not
/// needed here. An entry above `readdir-entry-bytes` comes with rdattr_error alone, or is NFS4ERR_TOOSMALL where that
/// was not asked for.
pub(crate) async fn readdir(ctx: &mut Ctx<'_>, args: ReaddirArgs) -> Result<Segments, Status> {
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
    let asked = usize::try_from(args.maxcount).unwrap_or(usize::MAX);
    let most = asked.min(ctx.room.saturating_sub(8));
    // Too small is what the client asked for; what its session or its earlier operations left is another error.
    let too_small = if most < asked { ctx.too_big } else { Status::TooSmall };
    let left = most.checked_sub(FRAME).ok_or(too_small)?;
    let wanted = Wanted::new(ctx, &dir.export, &args.attr_request);
    // Somebody else may be writing a file of which it knows better.
    let key = ClientKey(ctx.client()?.0);
    let asks = wanted.data() && dir.export.delegations.as_ref().is_some_and(|m| m.others_write(key));
    let room = Room {
        // No more than can fit: each costs a look at the object.
        entries: MOST_ENTRIES.min(left / LEAST_ENTRY.saturating_add(wanted.least_bytes())).max(1),
        // Flag 4, cookie 8, length 4, bitmap and length of attributes 8: what the backend counts for each name.
        bytes: left,
        meta: wants_meta(&args.attr_request),
        nodes: wanted.nodes() || dir.export.id == PSEUDO_ID || asks,
    };
    let mut page = backend.list(&ctx.who(&dir.export), &dir.node, args.cookie, room).await?;
    let mut asked = if asks { ask_holders(ctx, &dir, &mut page) } else { Vec::new() }.into_iter();
    // The end of the chain and eof come last.
    let mut w = Writer::with_limit(BytesMut::with_capacity(most.min(EXPECTED)), most.saturating_sub(8));
    w.put(&cookieverf).map_err(|_| too_small)?;
    let mut eof = page.eof;
    let mut told = false;
    let most_entry = usize::try_from(ctx.core.limits().readdir_entry_bytes).unwrap_or(usize::MAX);
    // One for all entries: the same attributes get other values.
    let mut attrs = Attrs::new();
    for found in page.entries {
        debug_assert!(found.cookie > 2, "cookies 0 to 2 are reserved");
        let (before, before_room) = (w.mark(), w.room());
        let (cookie, name) = (found.cookie, Component::new(found.name).ok_or(Status::ServerFault)?);
        let (mut meta, node) = (found.meta.map(|meta| meta.map_err(Status::from)), found.node);
        if let (Some(Some(asking)), Some(node)) = (asked.next(), &node) {
            let child = Place { export: Arc::clone(&dir.export), node: node.clone() };
            meta = Some(match asking {
                Ok(asking) => asking.end(ctx, &child).await,
                Err(status) => Err(status),
            });
        }
        if !attributes(ctx, &dir, meta, node, &args.attr_request, &wanted, &mut attrs).await? {
            continue;
        }
        let mut put = put_entry(&mut w, cookie, &name, &attrs);
        if put.is_ok() && before_room.saturating_sub(w.room()) > most_entry {
            w.rewind(before);
            if !args.attr_request.contains(Attr::RdattrError) {
                return Err(Status::TooSmall);
            }
            attrs = Attrs::new();
            attrs.set_rdattr_error(Status::RepTooBig);
            put = put_entry(&mut w, cookie, &name, &attrs);
        }
        if put.is_err() {
            if !told {
                return Err(too_small);
            }
            w.rewind(before);
            eof = false;
            break;
        }
        told = true;
    }
    w.set_limit(most);
    w.put(&false).and_then(|()| w.put(&eof)).map_err(|_| Status::ServerFault)?;
    Ok(w.finish())
}

/// `entry4` with the mark before it that one comes.
fn put_entry(w: &mut Writer, cookie: u64, name: &Component, attrs: &Attrs) -> Result<(), EncodeError> {
    w.put(&true)?;
    w.put(&cookie)?;
    w.put(name)?;
    w.put(attrs)
}

/// Most holders that are asked for one page.
const MOST_ASKED: usize = 64;

/// Asks the holders of all regular files of a page at once. The page is cut where that would be too many.
fn ask_holders(ctx: &Ctx<'_>, dir: &Place, page: &mut Page) -> Vec<Option<Result<Asking, Status>>> {
    let mut asked = Vec::with_capacity(page.entries.len());
    let mut holders = 0_usize;
    for found in &page.entries {
        let file = found.node.as_ref().filter(|node| node.kind == FileKind::File);
        let asking = file.map(|node| Asking::begin(ctx, &dir.export, node.kind, node.oid));
        holders = holders.saturating_add(usize::from(matches!(asking, Some(Ok(Asking::Holder(..))))));
        asked.push(asking);
        if holders == MOST_ASKED {
            break;
        }
    }
    if asked.len() < page.entries.len() {
        page.entries.truncate(asked.len());
        page.eof = false;
    }
    asked
}

fn wants_meta(want: &AttrSet) -> bool {
    let mut left = want.clone();
    left.remove(Attr::RdattrError).remove(Attr::Filehandle).remove(Attr::Fsid);
    !left.is_empty()
}

/// An entry's attributes, put into `attrs`, which holds those of the entry before; false where it went away meanwhile.
async fn attributes(
    ctx: &Ctx<'_>,
    dir: &Place,
    meta: Option<Result<Meta, Status>>,
    node: Option<Node>,
    want: &AttrSet,
    wanted: &Wanted,
    attrs: &mut Attrs,
) -> Result<bool, Status> {
    if want.is_empty() {
        return Ok(true);
    }
    let put = match (meta.transpose(), node) {
        (Err(Status::NoEnt | Status::Stale), _) => return Ok(false),
        (Err(status), _) => Err(status),
        (Ok(meta), Some(node)) => {
            let child = Place { export: Arc::clone(&dir.export), node };
            let Some(crossed) = ctx.core.exports.cross(child.clone(), ctx.peer()) else { return Ok(false) };
            // The root of a mounted export shows itself, and not the directory it lies on.
            let meta = if crossed.export.id == child.export.id { meta } else { None };
            collect(ctx, &crossed, want, meta).await.map(|got| *attrs = got)
        }
        // Without its node: none was asked for, or it is a mount point below the export, which is listed and
        // cannot be entered.
        (Ok(meta), None) => match collect_entry(ctx, &dir.export, wanted, meta.as_ref(), attrs).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Status::Access),
            Err(status) => Err(status),
        },
    };
    match put {
        Ok(()) => Ok(true),
        Err(Status::NoEnt | Status::Stale) => Ok(false),
        Err(status) if want.contains(Attr::RdattrError) => {
            *attrs = Attrs::new();
            attrs.set_rdattr_error(status);
            Ok(true)
        }
        Err(status) => Err(status),
    }
}
