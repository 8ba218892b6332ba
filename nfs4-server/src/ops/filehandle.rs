//! PUTFH, PUTROOTFH, PUTPUBFH, GETFH, SAVEFH, RESTOREFH.

use nfs4_proto::{GetfhOk, PutfhArgs, Status};

use crate::compound::Ctx;
use crate::export::Place;

/// RFC 8881 §18.19.
pub(crate) async fn putfh(ctx: &mut Ctx<'_>, args: PutfhArgs) -> Result<(), Status> {
    let (export, answer) = {
        let (export, raw) = ctx.core.exports.open_handle(&args.object, ctx.peer())?;
        let answer = export.backend.resolve(raw);
        (export, answer)
    };
    let node = answer.await?;
    ctx.set_current(Place { export, node });
    Ok(())
}

/// RFC 8881 §18.21; PUTPUBFH (§18.20) is the same here.
pub(crate) fn putrootfh(ctx: &mut Ctx<'_>) {
    let root = ctx.core.exports.root(ctx.peer());
    ctx.set_current(root);
}

/// RFC 8881 §18.8.
pub(crate) fn getfh(ctx: &mut Ctx<'_>) -> Result<GetfhOk, Status> {
    let place = ctx.current()?;
    Ok(GetfhOk { object: ctx.core.exports.handle(place) })
}
