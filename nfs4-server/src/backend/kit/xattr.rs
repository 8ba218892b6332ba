//! Rules of extended attributes (RFC 8276).

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Rights, XattrSet};
use super::{Broken, Ground, Verdict, fails, hold, mode, same};

fn needed(fs: &dyn Backend) -> Verdict {
    if fs.facts().xattrs { Ok(()) } else { Err(Broken::Skipped("no extended attributes")) }
}

/// Values of no, few and many bytes; names in one order.
pub async fn an_attribute_is_kept_until_it_is_removed(fs: Arc<dyn Backend>) -> Verdict {
    needed(&*fs)?;
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    for node in [&file, &dir] {
        hold!(g.fs.listxattrs(&g.root, node).await?.is_empty());
        let values: [(&[u8], Vec<u8>); 3] =
            [(b"empty", vec![]), (b"a.b", vec![1; 10]), (b"big", vec![2; 2_000])];
        for (name, value) in &values {
            g.fs.setxattr(&g.root, node, name, value.clone().into(), XattrSet::Either).await?;
        }
        for (name, value) in &values {
            hold!(g.fs.getxattr(&g.root, node, name).await? == *value);
        }
        let listed = g.fs.listxattrs(&g.root, node).await?;
        same!(g.fs.listxattrs(&g.root, node).await?, listed);
        same!(listed.len(), 3);
        hold!(values.iter().all(|(name, _)| listed.iter().any(|listed| listed == name)));
        g.fs.removexattr(&g.root, node, b"a.b").await?;
        fails!(g.fs.getxattr(&g.root, node, b"a.b"), NoXattr);
        fails!(g.fs.removexattr(&g.root, node, b"a.b"), NoXattr);
        same!(g.fs.listxattrs(&g.root, node).await?.len(), 2);
    }
    Ok(())
}

/// `SETXATTR4_CREATE`, `_REPLACE`, `_EITHER` (RFC 8276 §8.4.2, S-20).
pub async fn attributes_are_set_as_asked(fs: Arc<dyn Backend>) -> Verdict {
    needed(&*fs)?;
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let value = |text: &'static str| Bytes::from_static(text.as_bytes());
    fails!(g.fs.setxattr(&g.root, &file, b"a", value("1"), XattrSet::Replace), NoXattr);
    g.fs.setxattr(&g.root, &file, b"a", value("2"), XattrSet::Create).await?;
    fails!(g.fs.setxattr(&g.root, &file, b"a", value("3"), XattrSet::Create), Exist);
    same!(g.fs.getxattr(&g.root, &file, b"a").await?, value("2"));
    g.fs.setxattr(&g.root, &file, b"a", value("4"), XattrSet::Replace).await?;
    g.fs.setxattr(&g.root, &file, b"a", value("longer than before"), XattrSet::Either).await?;
    same!(g.fs.getxattr(&g.root, &file, b"a").await?, value("longer than before"));
    Ok(())
}

/// XATTR2BIG beyond 64 KiB, NAMETOOLONG beyond 255 bytes.
pub async fn attributes_have_limits(fs: Arc<dyn Backend>) -> Verdict {
    needed(&*fs)?;
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    fails!(g.fs.setxattr(&g.root, &file, b"a", vec![0; 70_000].into(), XattrSet::Either), Xattr2Big);
    fails!(g.fs.setxattr(&g.root, &file, &[b'n'; 256], Bytes::new(), XattrSet::Either), NameTooLong);
    hold!(g.fs.listxattrs(&g.root, &file).await?.is_empty());
    let name = [b'n'; 250];
    g.fs.setxattr(&g.root, &file, &name, Bytes::from_static(b"v"), XattrSet::Either).await?;
    same!(g.fs.listxattrs(&g.root, &file).await?, [Bytes::copy_from_slice(&name)]);
    Ok(())
}

/// And the change info is the object's (RFC 8276 §8.4.2, §8.4.4).
pub async fn attributes_move_change_on_set_and_remove_only(fs: Arc<dyn Backend>) -> Verdict {
    needed(&*fs)?;
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    let start = g.meta(&file).await?;
    let value = Bytes::from_static(b"v");
    let set = g.fs.setxattr(&g.root, &file, b"a", value.clone(), XattrSet::Either).await?;
    hold!(set.before == start.change && set.after != set.before, "{set:?}");
    same!(g.meta(&file).await?.change, set.after);
    let again = g.fs.setxattr(&g.root, &file, b"a", value.clone(), XattrSet::Either).await?;
    hold!(again.before == set.after && again.after != again.before, "{again:?}");
    g.fs.getxattr(&g.root, &file, b"a").await?;
    g.fs.listxattrs(&g.root, &file).await?;
    fails!(g.fs.setxattr(&g.root, &file, b"a", value, XattrSet::Create), Exist);
    fails!(g.fs.removexattr(&g.root, &file, b"b"), NoXattr);
    same!(g.meta(&file).await?.change, again.after);
    let removed = g.fs.removexattr(&g.root, &file, b"a").await?;
    hold!(removed.before == again.after && removed.after != removed.before, "{removed:?}");
    let end = g.meta(&file).await?;
    same!(end.change, removed.after);
    same!(end.mtime, start.mtime);
    hold!(end.ctime >= start.ctime);
    Ok(())
}

/// As `ACCESS4_XAREAD` and `ACCESS4_XAWRITE` say.
pub async fn attributes_ask_for_permission(fs: Arc<dyn Backend>) -> Verdict {
    needed(&*fs)?;
    let g = Ground::new(fs).await?;
    let (one, two) = g.users().await?;
    let (file, _open) = g.file_as(&one, "f", 0o600).await?;
    let value = Bytes::from_static(b"v");
    g.fs.setxattr(&one, &file, b"a", value.clone(), XattrSet::Either).await?;
    for bits in [0o600, 0o604, 0o602, 0o606] {
        g.set(&one, &file, &mode(bits)).await?;
        let rights = g.fs.access(&two, &file, Rights::XAREAD | Rights::XAWRITE).await?;
        same!(rights.contains(Rights::XAREAD), bits & 4 != 0);
        same!(rights.contains(Rights::XAWRITE), bits & 2 != 0);
        same!(g.fs.getxattr(&two, &file, b"a").await.is_ok(), bits & 4 != 0);
        let set = g.fs.setxattr(&two, &file, b"b", value.clone(), XattrSet::Either).await;
        same!(set.is_ok(), bits & 2 != 0);
        if bits & 2 == 0 {
            fails!(g.fs.removexattr(&two, &file, b"a"), Access);
        }
    }
    Ok(())
}

/// NOTSUPP where the facts say so.
pub async fn without_attributes_they_are_not_supported(fs: Arc<dyn Backend>) -> Verdict {
    if fs.facts().xattrs {
        return Err(Broken::Skipped("extended attributes are kept"));
    }
    let g = Ground::new(fs).await?;
    let (file, _open) = g.file("f").await?;
    fails!(g.fs.setxattr(&g.root, &file, b"a", Bytes::new(), XattrSet::Either), NotSupp);
    fails!(g.fs.getxattr(&g.root, &file, b"a"), NotSupp);
    fails!(g.fs.listxattrs(&g.root, &file), NotSupp);
    Ok(())
}
