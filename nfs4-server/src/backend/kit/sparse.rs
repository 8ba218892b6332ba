//! Rules of holes, reservations, copies and clones (RFC 7862).

use std::sync::Arc;

use super::super::{Backend, Fault, Opened, Seek, Sought};
use super::data::pattern;
use super::{Broken, Ground, Verdict, fails, hold, same, size};

const MIB: u64 = 1 << 20;

/// Skips the rule where the file system cannot.
fn supported<T>(result: Result<T, Fault>) -> Result<T, Broken> {
    match result {
        Err(Fault::NotSupp) => Err(Broken::Skipped("not supported by the file system")),
        other => Ok(other?),
    }
}

/// SEEK (RFC 7862 §15.11): holes are found to their block, the end is a hole, beyond it NXIO.
pub async fn seek_finds_data_and_holes(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 4 * MIB, &pattern(0, 2 << 20)).await?;
    g.fs.commit(&file, 0, 0).await?;
    g.set(&g.root, &file, &size(8 * MIB)).await?;
    same!(supported(g.fs.seek(&open, 0, Seek::Data).await)?, Sought { eof: false, offset: 4 * MIB });
    let hole = g.fs.seek(&open, 0, Seek::Hole).await?;
    same!(hole, Sought { eof: false, offset: 0 });
    let inside = g.fs.seek(&open, 4 * MIB + 5, Seek::Data).await?;
    same!(inside, Sought { eof: false, offset: 4 * MIB + 5 });
    let behind = g.fs.seek(&open, 4 * MIB + 5, Seek::Hole).await?;
    same!(behind, Sought { eof: false, offset: 6 * MIB });
    let none = g.fs.seek(&open, 7 * MIB, Seek::Data).await?;
    hold!(none.eof, "{none:?}");
    for what in [Seek::Data, Seek::Hole] {
        fails!(g.fs.seek(&open, 8 * MIB, what), NxIo);
        fails!(g.fs.seek(&open, u64::MAX, what), NxIo);
    }
    g.set(&g.root, &file, &size(6 * MIB)).await?;
    let end = g.fs.seek(&open, 5 * MIB, Seek::Hole).await?;
    same!(end, Sought { eof: true, offset: 6 * MIB });
    Ok(())
}

/// ALLOCATE (RFC 7862 §15.1): the data stay, what is new is zero, the size grows to the range's end.
pub async fn allocated_space_reads_as_zero_and_extends(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 0, &pattern(0, 1_000)).await?;
    let before = g.meta(&file).await?;
    supported(g.fs.allocate(&open, 500, 300_000).await)?;
    let meta = g.meta(&file).await?;
    same!(meta.size, 300_500);
    hold!(meta.change != before.change);
    hold!(meta.space_used >= 300_000, "{} bytes", meta.space_used);
    let mut model = pattern(0, 1_000);
    model.resize(300_500, 0);
    hold!(g.read(&open, 0, 1 << 20).await? == model);
    g.fs.allocate(&open, 0, 10).await?;
    same!(g.meta(&file).await?.size, 300_500);
    g.write(&open, 100_000, b"written").await?;
    same!(g.read(&open, 99_999, 9).await?, b"\0written\0");
    Ok(())
}

/// DEALLOCATE (RFC 7862 §15.4): exactly the range is zero; the size stays, also where the range goes beyond it.
pub async fn a_hole_reads_as_zero_and_keeps_the_size(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let len = 400_000_u64;
    for (at, count) in [
        (0, 1),
        (100, 50),
        (65_536, 65_536),
        (1, 65_536),
        (60_000, 200_000),
        (0, len),
        (399_999, 1),
        (390_000, 1 << 30),
        (len, 100),
        (131_072, len),
    ] {
        let mut model = pattern(3, 400_000);
        g.write(&open, 0, &model).await?;
        let before = g.meta(&file).await?;
        supported(g.fs.deallocate(&open, at, count).await)?;
        for (index, byte) in model.iter_mut().enumerate() {
            if (at..at + count).contains(&(index as u64)) {
                *byte = 0;
            }
        }
        hold!(g.read(&open, 0, 1 << 20).await? == model, "{count} at {at}");
        let meta = g.meta(&file).await?;
        same!(meta.size, len);
        hold!(meta.change != before.change || at >= len);
    }
    Ok(())
}

/// COPY in as many steps as it takes.
async fn copy_all(g: &Ground, from: (&Opened, u64), to: (&Opened, u64), len: u64) -> Verdict {
    let mut done = 0;
    while done < len {
        let count = supported(g.fs.copy(from.0, from.1 + done, to.0, to.1 + done, len - done).await)?;
        hold!(count > 0 && count <= len - done, "{count} after {done} of {len}");
        done += count;
    }
    Ok(())
}

/// Data and holes arrive, what is around them stays, the source is as it was.
pub async fn copy_copies(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (_, source) = g.file("source").await?;
    g.write(&source, 0, &pattern(9, 100_000)).await?;
    g.write(&source, 300_000, &pattern(5, 100_000)).await?;
    let from = g.read(&source, 0, 1 << 20).await?;
    for (step, (from_at, to_at, len)) in [
        (0, 0, 400_000),
        (0, 65_536, 400_000),
        (65_536, 0, 334_464),
        (1, 2, 300_000),
        (50_000, 10, 300_000),
        (399_999, 450_000, 1),
        (131_072, 131_072, 65_536),
    ]
    .into_iter()
    .enumerate()
    {
        let (file, target) = g.file(&format!("target{step}")).await?;
        let mut model = vec![0xaa_u8; 460_000];
        g.write(&target, 0, &model).await?;
        let before = g.meta(&file).await?;
        copy_all(&g, (&source, from_at), (&target, to_at), len).await?;
        let (at, from_at) = (usize::try_from(to_at).unwrap_or(0), usize::try_from(from_at).unwrap_or(0));
        let len = usize::try_from(len).unwrap_or(0);
        if model.len() < at + len {
            model.resize(at + len, 0);
        }
        if let (Some(place), Some(data)) = (model.get_mut(at..at + len), from.get(from_at..from_at + len)) {
            place.copy_from_slice(data);
        }
        hold!(g.read(&target, 0, 1 << 20).await? == model, "step {step}");
        hold!(g.meta(&file).await?.change != before.change);
        // The two are independent from now on.
        g.write(&target, to_at, b"other").await?;
    }
    hold!(g.read(&source, 0, 1 << 20).await? == from);
    Ok(())
}

/// Two ranges of one file that don't overlap.
pub async fn copy_works_within_one_file(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (_, open) = g.file("f").await?;
    g.write(&open, 0, &pattern(0, 100_000)).await?;
    copy_all(&g, (&open, 10), (&open, 200_000), 50_000).await?;
    let mut model = pattern(0, 100_000);
    model.resize(200_000, 0);
    model.extend(pattern(0, 100_000).into_iter().skip(10).take(50_000));
    hold!(g.read(&open, 0, 1 << 20).await? == model);
    Ok(())
}

/// CLONE (RFC 7862 §15.13): the whole, or whole blocks; NOTSUPP where the facts say so.
pub async fn a_clone_is_equal_and_independent(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (_, source) = g.file("source").await?;
    let (file, target) = g.file("target").await?;
    let data = pattern(1, 300_001);
    g.write(&source, 0, &data).await?;
    if !g.fs.facts().clones {
        fails!(g.fs.clone_range(&source, 0, &target, 0, 0), NotSupp);
        return Ok(());
    }
    let before = g.meta(&file).await?;
    g.fs.clone_range(&source, 0, &target, 0, 0).await?;
    hold!(g.meta(&file).await?.change != before.change);
    hold!(g.read(&target, 0, 1 << 20).await? == data);
    g.write(&target, 10, b"target").await?;
    g.write(&source, 70_000, b"source").await?;
    let mut model = data.clone();
    if let Some(place) = model.get_mut(10..16) {
        place.copy_from_slice(b"target");
    }
    hold!(g.read(&target, 0, 1 << 20).await? == model);
    g.fs.clone_range(&source, 65_536, &target, 131_072, 65_536).await?;
    let block = g.read(&source, 65_536, 65_536).await?;
    if let Some(place) = model.get_mut(131_072..196_608) {
        place.copy_from_slice(&block);
    }
    hold!(g.read(&target, 0, 1 << 20).await? == model);
    Ok(())
}
