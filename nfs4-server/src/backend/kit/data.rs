//! Rules of files' data.

use std::sync::Arc;

use bytes::Bytes;

use super::super::{Backend, Stable};
use super::{BOTH, Ground, READ, Verdict, WRITE, fails, hold, same, size};

/// Bytes that tell where they are.
pub(super) fn pattern(from: u64, len: usize) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation, reason = "a pattern of bytes")]
    (from..).take(len).map(|at| ((at * 7) ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}

/// At all sizes around the blocks of file systems, overlapping, by several opens.
pub async fn what_was_written_is_read(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let mut model: Vec<u8> = Vec::new();
    let writes: [(usize, usize); 12] = [
        (0, 1),
        (1, 10),
        (5, 4_096),
        (4_000, 200),
        (65_530, 12),
        (0, 65_536),
        (65_535, 2),
        (131_072, 65_536),
        (100_000, 150_000),
        (3, 1),
        (262_144, 300_000),
        (70_000, 1),
    ];
    for (step, (at, len)) in writes.into_iter().enumerate() {
        let data = pattern(step as u64 * 1_000, len);
        g.write(&open, at as u64, &data).await?;
        if model.len() < at + len {
            model.resize(at + len, 0);
        }
        if let Some(place) = model.get_mut(at..at + len) {
            place.copy_from_slice(&data);
        }
        same!(g.meta(&file).await?.size, model.len() as u64);
        hold!(g.read(&open, 0, 1 << 20).await? == model, "step {step}");
    }
    let reader = g.fs.open(&g.root, &file, READ).await?;
    for (at, len) in [(0, 1), (65_535, 2), (65_536, 65_536), (1, 200_000), (250_000, 100_000)] {
        let expected = model.get(at..(at + len).min(model.len())).unwrap_or_default();
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        hold!(g.read(&reader, at as u64, len).await? == expected, "{len} at {at}");
    }
    let third = g.fs.open(&g.root, &file, WRITE).await?;
    g.write(&third, 10, b"by another open").await?;
    same!(g.read(&reader, 10, 15).await?, b"by another open");
    Ok(())
}

/// `eof` says whether the last byte was reached; beyond it there is nothing (§18.22.3).
pub async fn a_read_ends_at_the_end(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (_, open) = g.file("f").await?;
    let empty = g.fs.read(&open, 0, 100).await?;
    hold!(empty.eof && empty.data.concat().is_empty());
    g.write(&open, 0, &pattern(0, 1_000)).await?;
    for (at, len, got, eof) in [
        (0, 999, 999, false),
        (0, 1_000, 1_000, true),
        (0, 2_000, 1_000, true),
        (999, 1, 1, true),
        (1_000, 1, 0, true),
        (1 << 40, 10, 0, true),
        (u64::from(u32::MAX), u32::MAX, 0, true),
    ] {
        let read = g.fs.read(&open, at, len).await?;
        let sum: usize = read.data.iter().map(Bytes::len).sum();
        hold!((sum, read.eof) == (got, eof), "{len} at {at}: {sum} bytes, eof {}", read.eof);
    }
    let none = g.fs.read(&open, 10, 0).await?;
    hold!(none.data.concat().is_empty());
    Ok(())
}

/// What was never written is zero.
pub async fn a_gap_reads_as_zero(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 300_000, b"end").await?;
    same!(g.meta(&file).await?.size, 300_003);
    let all = g.read(&open, 0, 400_000).await?;
    same!(all.len(), 300_003);
    hold!(all.iter().take(300_000).all(|&byte| byte == 0) && all.ends_with(b"end"));
    g.write(&open, 100, b"begin").await?;
    let head = g.read(&open, 0, 70_000).await?;
    hold!(head.iter().enumerate().all(|(at, &byte)| byte == 0 || (100..105).contains(&at)));
    // Far out, where only a sparse file can be.
    g.write(&open, 1 << 40, b"x").await?;
    same!(g.meta(&file).await?.size, (1 << 40) + 1);
    same!(g.read(&open, (1 << 40) - 2, 10).await?, b"\0\0x");
    Ok(())
}

/// SETATTR of the size: shorter, then longer again shows zeros; also when it ends within a block.
pub async fn what_was_cut_off_does_not_come_back(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    for cut in [0_usize, 1, 511, 4_096, 5_000, 65_535, 65_536, 65_537, 150_000] {
        let mut model = pattern(0, 200_000);
        g.write(&open, 0, &model).await?;
        g.set(&g.root, &file, &size(cut as u64)).await?;
        same!(g.meta(&file).await?.size, cut as u64);
        model.truncate(cut);
        hold!(g.read(&open, 0, 300_000).await? == model, "cut to {cut}");
        g.set(&g.root, &file, &size(200_000)).await?;
        model.resize(200_000, 0);
        hold!(g.read(&open, 0, 300_000).await? == model, "extended after {cut}");
    }
    g.set(&g.root, &file, &size(10)).await?;
    g.write(&open, 20, b"x").await?;
    let mut model = pattern(0, 10);
    model.extend_from_slice(b"\0\0\0\0\0\0\0\0\0\0x");
    same!(g.read(&open, 0, 100).await?, model);
    Ok(())
}

/// A reply that waits for its socket must not change its bytes.
pub async fn a_slice_that_was_read_stays_as_it_was(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let old = pattern(0, 200_000);
    g.write(&open, 0, &old).await?;
    let held = g.fs.read(&open, 0, 200_000).await?.data;
    g.write(&open, 0, &vec![0xee; 200_000]).await?;
    g.set(&g.root, &file, &size(100)).await?;
    hold!(held.concat() == old);
    Ok(())
}

/// WRITE's answer is no weaker than the question, and the verifier stands still (§18.32.3, trap 33).
pub async fn a_write_is_at_least_as_stable_as_asked(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    let verifier = g.fs.write_verifier();
    let rank = |stable: Stable| match stable {
        Stable::Un => 0,
        Stable::Data => 1,
        Stable::File => 2,
    };
    for asked in [Stable::Un, Stable::Data, Stable::File] {
        let done = g.fs.write(&open, 0, Bytes::from_static(b"data"), asked).await?;
        same!(done.count, 4);
        hold!(rank(done.stable) >= rank(asked), "{done:?}");
    }
    g.fs.commit(&file, 0, 0).await?;
    g.fs.commit(&file, 1, 2).await?;
    same!(g.fs.write_verifier(), verifier);
    let nothing = g.fs.write(&open, 100, Bytes::new(), Stable::Un).await?;
    same!(nothing.count, 0);
    same!(g.meta(&file).await?.size, 4);
    Ok(())
}

/// FBIG, without overflow.
pub async fn a_write_beyond_the_largest_size_is_refused(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    for at in [g.fs.facts().max_file_size, u64::MAX - 1, u64::MAX] {
        fails!(g.fs.write(&open, at, Bytes::from_static(b"data"), Stable::Un), FBig | Inval);
    }
    fails!(g.set(&g.root, &file, &size(u64::MAX)), FBig | Inval);
    same!(g.meta(&file).await?.size, 0);
    Ok(())
}

/// ISDIR or INVAL for anything else.
pub async fn only_files_have_a_size_to_set(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let dir = g.mkdir(&g.dir, "d").await?;
    fails!(g.set(&g.root, &dir, &size(0)), IsDir | Inval);
    fails!(g.fs.open(&g.root, &dir, BOTH), IsDir);
    Ok(())
}

/// The numbers fit each other.
pub async fn space_is_told(fs: Arc<dyn Backend>) -> Verdict {
    let g = Ground::new(fs).await?;
    let (file, open) = g.file("f").await?;
    g.write(&open, 0, &pattern(0, 300_000)).await?;
    g.fs.commit(&file, 0, 0).await?;
    let stat = g.fs.statfs(&g.root).await?;
    hold!(stat.space_avail <= stat.space_free && stat.space_free <= stat.space_total);
    hold!(stat.files_avail <= stat.files_free && stat.files_free <= stat.files_total);
    hold!(stat.space_total > 0);
    hold!(g.meta(&file).await?.space_used > 0);
    Ok(())
}
