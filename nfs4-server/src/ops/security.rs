//! SECINFO, SECINFO_NO_NAME.

use nfs4_proto::{Secinfo, SecinfoArgs, SecinfoOk, SecinfoStyle, Status};

use super::{lookup, names};
use crate::compound::Ctx;
use crate::export::Place;

fn flavors() -> Result<SecinfoOk, Status> {
    SecinfoOk::new(vec![Secinfo::Sys, Secinfo::None]).ok_or(Status::ServerFault)
}

/// RFC 8881 §18.29. The current filehandle is used up (§2.6.3.1.1.8).
pub(crate) async fn secinfo(ctx: &mut Ctx<'_>, args: SecinfoArgs) -> Result<SecinfoOk, Status> {
    let dir = ctx.directory()?.clone();
    let name = names::check(&args.name, dir.export.backend.facts(), ctx.core.limits().name_bytes)?;
    let node = dir.export.backend.lookup(&ctx.who(&dir.export), &dir.node, name).await?;
    ctx.core.exports.cross(Place { export: dir.export, node }, ctx.peer()).ok_or(Status::NoEnt)?;
    ctx.clear_current();
    flavors()
}

/// RFC 8881 §18.45.
pub(crate) async fn secinfo_no_name(ctx: &mut Ctx<'_>, style: SecinfoStyle) -> Result<SecinfoOk, Status> {
    match style {
        SecinfoStyle::CurrentFh => {
            ctx.current()?;
        }
        SecinfoStyle::Parent => {
            let dir = ctx.directory()?.clone();
            lookup::parent(ctx, &dir).await?;
        }
    }
    ctx.clear_current();
    flavors()
}
