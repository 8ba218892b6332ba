//! ACCESS, and the permission to open.

use nfs4_proto::{AccessArgs, AccessFlags, AccessOk, Status};

use crate::backend::{Fault, FileKind, OpenAccess, Opened, Rights, Who};
use crate::compound::Ctx;
use crate::export::Place;

/// RFC 8881 §18.1, RFC 8276 §8.5. Bits that mean nothing for the object are not supported; on a read-only export those
/// that change are supported and not given.
pub(crate) async fn access(ctx: &mut Ctx<'_>, args: AccessArgs) -> Result<AccessOk, Status> {
    let place = ctx.current()?;
    let facts = place.export.backend.facts();
    let xattrs = Rights::XAREAD | Rights::XAWRITE | Rights::XALIST;
    let mut meaningful = match place.node.kind {
        FileKind::Dir => Rights::READ | Rights::LOOKUP | Rights::MODIFY | Rights::EXTEND | Rights::DELETE,
        FileKind::File => Rights::READ | Rights::MODIFY | Rights::EXTEND | Rights::EXECUTE,
        FileKind::Symlink | FileKind::Block | FileKind::Char | FileKind::Fifo | FileKind::Socket => {
            Rights::READ | Rights::MODIFY | Rights::EXTEND
        }
    };
    if facts.xattrs && ctx.minor >= 2 {
        meaningful |= xattrs;
    }
    let asked = Rights::from_bits_truncate(args.access.bits()) & meaningful;
    let who = ctx.who(&place.export);
    let mut given = place.export.backend.access(&who, &place.node, asked).await?;
    if ctx.read_only(&place.export) {
        given -= Rights::MODIFY | Rights::EXTEND | Rights::DELETE | Rights::XAWRITE;
    }
    Ok(AccessOk {
        supported: AccessFlags::from_bits_retain(asked.bits()),
        access: AccessFlags::from_bits_retain((given & asked).bits()),
    })
}

/// Opens a file for a caller. As other servers do, the owner may always (a local process would hold its descriptor over
/// a chmod, and the client cannot), and whoever may run a file may read it (a client's kernel reads what it runs).
pub(crate) async fn open_file(who: &Who, place: &Place, access: OpenAccess) -> Result<Opened, Status> {
    let backend = &place.export.backend;
    let refused = match backend.open(who, &place.node, access).await {
        Ok(opened) => return Ok(opened),
        Err(fault) => fault,
    };
    if refused != Fault::Access {
        return Err(refused.into());
    }
    let owner = backend.getattr(&place.node).await.is_ok_and(|meta| meta.uid == who.uid);
    let runs = !access.write
        && !owner
        && backend
            .access(who, &place.node, Rights::EXECUTE)
            .await
            .is_ok_and(|given| given.contains(Rights::EXECUTE));
    if !owner && !runs {
        return Err(Status::Access);
    }
    Ok(backend.open(&Who::server(), &place.node, access).await?)
}
