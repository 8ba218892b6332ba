//! GETXATTR, SETXATTR, LISTXATTRS, REMOVEXATTR (RFC 8276 §8.4).

use nfs4_deleg::server::{Effect, Intent};
use nfs4_proto::{
    Component, GetxattrArgs, GetxattrOk, ListxattrsArgs, ListxattrsOk, RemovexattrArgs, RemovexattrOk,
    SetxattrArgs, SetxattrOk, SetxattrOption, Status, XattrValue,
};
use nfs4_xdr::{List, padded};

use crate::backend::XattrSet;
use crate::compound::Ctx;
use crate::export::Place;

/// Longest name: Linux' limit less "user.".
const MOST_NAME: usize = 250;

fn place_and_name<'a>(ctx: &Ctx<'_>, name: &'a Component) -> Result<(Place, &'a [u8]), Status> {
    let place = ctx.current()?.clone();
    if !place.export.backend.facts().xattrs {
        return Err(Status::NotSupp);
    }
    let bytes: &[u8] = name;
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(Status::Inval);
    }
    if bytes.len() > MOST_NAME {
        return Err(Status::NameTooLong);
    }
    Ok((place, bytes))
}

/// RFC 8276 §8.4.1.
pub(crate) async fn getxattr(ctx: &mut Ctx<'_>, args: GetxattrArgs) -> Result<GetxattrOk, Status> {
    let (place, name) = place_and_name(ctx, &args.name)?;
    let value = place.export.backend.getxattr(&ctx.who(&place.export), &place.node, name).await?;
    if padded(value.len()).saturating_add(8) > ctx.room {
        return Err(ctx.too_big);
    }
    Ok(GetxattrOk { value: XattrValue::new(value).ok_or(Status::ServerFault)? })
}

/// RFC 8276 §8.4.2.
pub(crate) async fn setxattr(ctx: &mut Ctx<'_>, args: SetxattrArgs) -> Result<SetxattrOk, Status> {
    let (place, name) = place_and_name(ctx, &args.key)?;
    ctx.writable(&place.export)?;
    if u32::try_from(args.value.len()).is_ok_and(|n| n > ctx.core.limits().xattr_bytes) {
        return Err(Status::Xattr2Big);
    }
    let how = match args.option {
        SetxattrOption::Either => XattrSet::Either,
        SetxattrOption::Create => XattrSet::Create,
        SetxattrOption::Replace => XattrSet::Replace,
    };
    let permit = ctx.admit(&place.export, &Intent::Xattr { oid: place.node.oid }).await?;
    // The value outlives the request: it must not hold on to the record.
    let value = bytes::Bytes::copy_from_slice(&args.value);
    let info = place.export.backend.setxattr(&ctx.who(&place.export), &place.node, name, value, how).await?;
    permit.commit(&[Effect::Changed { oid: place.node.oid }]);
    Ok(SetxattrOk { info })
}

/// RFC 8276 §8.4.4.
pub(crate) async fn removexattr(ctx: &mut Ctx<'_>, args: RemovexattrArgs) -> Result<RemovexattrOk, Status> {
    let (place, name) = place_and_name(ctx, &args.name)?;
    ctx.writable(&place.export)?;
    let permit = ctx.admit(&place.export, &Intent::Xattr { oid: place.node.oid }).await?;
    let info = place.export.backend.removexattr(&ctx.who(&place.export), &place.node, name).await?;
    permit.commit(&[Effect::Changed { oid: place.node.oid }]);
    Ok(RemovexattrOk { info })
}

/// RFC 8276 §8.4.3. The cookie is the count of names told so far; `maxcount` bounds cookie, names and eof.
pub(crate) async fn listxattrs(ctx: &mut Ctx<'_>, args: ListxattrsArgs) -> Result<ListxattrsOk, Status> {
    let place = ctx.current()?.clone();
    if !place.export.backend.facts().xattrs {
        return Err(Status::NotSupp);
    }
    let names = place.export.backend.listxattrs(&ctx.who(&place.export), &place.node).await?;
    let from = usize::try_from(args.cookie).map_err(|_| Status::BadCookie)?;
    if from > names.len() {
        return Err(Status::BadCookie);
    }
    // Cookie 8, count 4, eof 4.
    let most = usize::try_from(args.maxcount).unwrap_or(usize::MAX).min(ctx.room.saturating_sub(8));
    let mut left = most.checked_sub(16).ok_or(Status::TooSmall)?;
    let mut told = Vec::new();
    for name in names.iter().skip(from) {
        let need = padded(name.len()).saturating_add(4);
        if need > left {
            break;
        }
        left = left.saturating_sub(need);
        told.push(Component::new(name.clone()).ok_or(Status::ServerFault)?);
    }
    let upto = from.saturating_add(told.len());
    if told.is_empty() && upto < names.len() {
        return Err(Status::TooSmall);
    }
    Ok(ListxattrsOk {
        cookie: u64::try_from(upto).unwrap_or(u64::MAX),
        eof: upto == names.len(),
        names: List::new(told).ok_or(Status::TooSmall)?,
    })
}
