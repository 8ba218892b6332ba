//! A file's data: blocks, holes, and blocks shared with readers and clones.

use std::collections::BTreeMap;
use std::mem;

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

use super::super::{Fault, ReadData, Seek, Sought};
use super::space::Space;

/// Bytes of a block.
pub(super) const BLOCK: u64 = 64 * 1024;
const BLOCK_LEN: usize = 64 * 1024;
/// Largest file: offsets stay positive as signed numbers.
pub(super) const MAX_SIZE: u64 = i64::MAX as u64;
/// Smallest buffer; also covers what the tables keep for a block.
const SMALLEST: usize = 256;

static ZEROS: [u8; BLOCK_LEN] = [0; BLOCK_LEN];

/// Up to [`BLOCK`] bytes; beyond its buffer a block reads as zero.
#[derive(Clone)]
pub(super) struct Block {
    /// A power of two long, or empty (only reserved).
    bytes: Bytes,
    /// What is counted for it: its buffer's length, or [`BLOCK`] where ALLOCATE reserved it.
    charged: u64,
}

/// How long a buffer must be to hold `end` bytes of a block.
fn buffer_len(end: usize) -> usize {
    end.next_power_of_two().clamp(SMALLEST, BLOCK_LEN)
}

#[allow(clippy::cast_possible_truncation, reason = "below BLOCK")]
fn within(at: u64) -> usize {
    (at % BLOCK) as usize
}

#[allow(clippy::cast_possible_truncation, reason = "the lesser is at most BLOCK")]
fn at_most_block(len: u64, most: usize) -> usize {
    len.min(most as u64) as usize
}

impl Block {
    /// Replaces a range that ends within [`BLOCK`]; in place unless a reader or a clone holds the buffer.
    fn write(&mut self, at: usize, src: &[u8]) {
        let end = at + src.len();
        let want = buffer_len(end).max(self.bytes.len());
        let mut old = mem::take(&mut self.bytes);
        if old.len() == want {
            match old.try_into_mut() {
                Ok(mut buffer) => {
                    if let Some(place) = buffer.get_mut(at..end) {
                        place.copy_from_slice(src);
                    }
                    self.bytes = buffer.freeze();
                    return;
                }
                Err(shared) => old = shared,
            }
        }
        let mut buffer = Vec::with_capacity(want);
        buffer.extend_from_slice(old.get(..at).unwrap_or(&old));
        buffer.resize(at, 0);
        buffer.extend_from_slice(src);
        buffer.extend_from_slice(old.get(end..).unwrap_or_default());
        buffer.resize(want, 0);
        self.bytes = buffer.into();
    }

    /// Zeroes a range.
    fn clear(&mut self, from: usize, to: usize) {
        let to = to.min(self.bytes.len());
        if from >= to {
            return;
        }
        let mut buffer = match mem::take(&mut self.bytes).try_into_mut() {
            Ok(buffer) => buffer,
            Err(shared) => BytesMut::from(&shared[..]),
        };
        if let Some(place) = buffer.get_mut(from..to) {
            place.fill(0);
        }
        self.bytes = buffer.freeze();
    }

    /// Drops everything from `end` on, buffer and charge too; returns what is no longer charged.
    fn cut(&mut self, end: usize) -> u64 {
        let want = buffer_len(end);
        if want < self.bytes.len() {
            let mut buffer = Vec::with_capacity(want);
            buffer.extend_from_slice(self.bytes.get(..end).unwrap_or_default());
            buffer.resize(want, 0);
            self.bytes = buffer.into();
        } else {
            self.clear(end, BLOCK_LEN);
        }
        let released = self.charged.saturating_sub(want as u64);
        self.charged -= released;
        released
    }
}

/// A run of a source file, on its way into another.
pub(super) enum Piece {
    Hole(u64),
    /// Copied.
    Bytes(Bytes),
    /// So many bytes of a block that may be shared as a whole.
    Shared(Block, usize),
}

impl Piece {
    fn len(&self) -> u64 {
        match self {
            Self::Hole(len) => *len,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Shared(_, len) => *len as u64,
        }
    }
}

/// A file's data.
#[derive(Default)]
pub(super) struct Data {
    blocks: BTreeMap<u64, Block>,
    size: u64,
    charged: u64,
}

impl Data {
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn charged(&self) -> u64 {
        self.charged
    }

    /// Slices of the blocks, and of one static zero block for holes.
    pub(super) fn read(&self, at: u64, len: u64) -> ReadData {
        let end = at.saturating_add(len).min(self.size);
        let mut data = SmallVec::new();
        let mut pos = at;
        while pos < end {
            let from = within(pos);
            let len = at_most_block(end - pos, BLOCK_LEN - from);
            let stored = self.blocks.get(&(pos / BLOCK)).map_or(0, |block| {
                let to = (from + len).min(block.bytes.len());
                if from < to {
                    data.push(block.bytes.slice(from..to));
                }
                to.saturating_sub(from)
            });
            if stored < len {
                data.push(Bytes::from_static(&ZEROS).slice(..len - stored));
            }
            pos += len as u64;
        }
        ReadData { data, eof: at.saturating_add(len) >= self.size }
    }

    /// Raises a block's charge to `want`.
    fn reserve(&mut self, space: &Space, index: u64, want: u64) -> Result<&mut Block, Fault> {
        let have = self.blocks.get(&index).map_or(0, |block| block.charged);
        if want > have {
            space.charge(want - have)?;
            self.charged += want - have;
        }
        let block = self.blocks.entry(index).or_insert(Block { bytes: Bytes::new(), charged: 0 });
        block.charged = block.charged.max(want);
        Ok(block)
    }

    /// Writes; the count is short where space runs out in the middle.
    pub(super) fn write(&mut self, space: &Space, at: u64, mut src: &[u8]) -> Result<usize, Fault> {
        let mut pos = at;
        while !src.is_empty() {
            let from = within(pos);
            let (now, rest) = src.split_at(src.len().min(BLOCK_LEN - from));
            match self.reserve(space, pos / BLOCK, buffer_len(from + now.len()) as u64) {
                Ok(block) => block.write(from, now),
                Err(fault) if pos == at => return Err(fault),
                Err(_) => break,
            }
            pos += now.len() as u64;
            self.size = self.size.max(pos);
            src = rest;
        }
        Ok(usize::try_from(pos - at).unwrap_or(usize::MAX))
    }

    /// Sets the size. What was cut off is returned, to be dropped outside the lock.
    pub(super) fn truncate(&mut self, space: &Space, size: u64) -> BTreeMap<u64, Block> {
        let mut cut = BTreeMap::new();
        if size < self.size {
            cut = self.blocks.split_off(&size.div_ceil(BLOCK));
            let mut released: u64 = cut.values().map(|block| block.charged).sum();
            if !size.is_multiple_of(BLOCK)
                && let Some(block) = self.blocks.get_mut(&(size / BLOCK))
            {
                released += block.cut(within(size));
            }
            self.charged -= released;
            space.release(released);
        }
        self.size = size;
        cut
    }

    /// SEEK (RFC 7862 §15.11): whole blocks are data or holes; a reserved one is data.
    pub(super) fn seek(&self, at: u64, what: Seek) -> Result<Sought, Fault> {
        if at >= self.size {
            return Err(Fault::NxIo);
        }
        let first = at / BLOCK;
        let found = match what {
            Seek::Data => self.blocks.range(first..).next().map(|(&index, _)| index),
            Seek::Hole => {
                let mut hole = first;
                for (&index, _) in self.blocks.range(first..) {
                    if index != hole {
                        break;
                    }
                    hole += 1;
                }
                Some(hole)
            }
        };
        let offset = found.map_or(self.size, |index| (index * BLOCK).max(at));
        Ok(Sought { eof: offset >= self.size, offset: offset.min(self.size) })
    }

    /// ALLOCATE: reserves whole blocks, all or nothing. Nothing is zeroed: a reserved block reads as zero.
    pub(super) fn allocate(&mut self, space: &Space, at: u64, len: u64) -> Result<(), Fault> {
        let Some(end) = at.checked_add(len).filter(|&end| end <= MAX_SIZE) else { return Err(Fault::FBig) };
        if len == 0 {
            return Ok(());
        }
        let (first, last) = (at / BLOCK, (end - 1) / BLOCK);
        let have: u64 = self.blocks.range(first..=last).map(|(_, block)| block.charged).sum();
        // The span may be far more than any limit: no multiplication that can overflow, no loop before the charge.
        let need = (last - first + 1).saturating_mul(BLOCK) - have;
        space.charge(need)?;
        self.charged += need;
        for index in first..=last {
            self.blocks.entry(index).or_insert(Block { bytes: Bytes::new(), charged: 0 }).charged = BLOCK;
        }
        self.size = self.size.max(end);
        Ok(())
    }

    /// DEALLOCATE: the size stays. What was cut out is returned, to be dropped outside the lock.
    pub(super) fn deallocate(&mut self, space: &Space, at: u64, len: u64) -> Vec<Block> {
        let end = at.saturating_add(len).min(self.size);
        if at >= end {
            return Vec::new();
        }
        // The last block is covered where everything up to the end of the file is.
        let (first, last) =
            (at.div_ceil(BLOCK), if end == self.size { end.div_ceil(BLOCK) } else { end / BLOCK });
        let mut cut = Vec::new();
        if first < last {
            let covered: Vec<u64> = self.blocks.range(first..last).map(|(&index, _)| index).collect();
            cut.extend(covered.iter().filter_map(|index| self.blocks.remove(index)));
            let released: u64 = cut.iter().map(|block| block.charged).sum();
            self.charged -= released;
            space.release(released);
        }
        let (head, tail) = (at / BLOCK, (end - 1) / BLOCK);
        if head < first
            && let Some(block) = self.blocks.get_mut(&head)
        {
            block.clear(within(at), if head == tail { within(end - 1) + 1 } else { BLOCK_LEN });
        }
        if tail >= last
            && (tail != head || head >= first)
            && let Some(block) = self.blocks.get_mut(&tail)
        {
            block.clear(0, within(end - 1) + 1);
        }
        cut
    }

    /// What is in a range that ends at or before the end of the file; whole blocks as such where `share`.
    pub(super) fn pieces(&self, at: u64, len: u64, share: bool) -> Vec<Piece> {
        let end = at.saturating_add(len).min(self.size);
        let mut pieces = Vec::new();
        if at >= end {
            return pieces;
        }
        let mut pos = at;
        for (&index, block) in self.blocks.range(at / BLOCK..=(end - 1) / BLOCK) {
            let start = (index * BLOCK).max(at);
            if pos < start {
                pieces.push(Piece::Hole(start - pos));
                pos = start;
            }
            let from = within(pos);
            let len = at_most_block(end - pos, BLOCK_LEN - from);
            pos += len as u64;
            if share && from == 0 && (len == BLOCK_LEN || pos == self.size) {
                pieces.push(Piece::Shared(block.clone(), len));
                continue;
            }
            let to = (from + len).min(block.bytes.len());
            let stored = to.saturating_sub(from);
            if stored > 0 {
                pieces.push(Piece::Bytes(block.bytes.slice(from..to)));
            }
            if stored < len {
                pieces.push(Piece::Hole((len - stored) as u64));
            }
        }
        if pos < end {
            pieces.push(Piece::Hole(end - pos));
        }
        pieces
    }

    /// At least what putting `pieces` at `at` will charge.
    pub(super) fn need(&self, at: u64, pieces: &[Piece]) -> u64 {
        let have = |pos: u64| self.blocks.get(&(pos / BLOCK)).map_or(0, |block| block.charged);
        let mut pos = at;
        let mut need = 0;
        for piece in pieces {
            let len = piece.len();
            match piece {
                Piece::Hole(_) => {}
                Piece::Bytes(_) => {
                    let end = pos + len;
                    let mut from = pos;
                    while from < end {
                        let part = at_most_block(end - from, BLOCK_LEN - within(from));
                        need += (buffer_len(within(from) + part) as u64).saturating_sub(have(from));
                        from += part as u64;
                    }
                }
                Piece::Shared(block, _) => need += block.charged.saturating_sub(have(pos)),
            }
            pos += len;
        }
        need
    }

    /// Puts pieces of another file at `at`; how much, where space runs out.
    pub(super) fn put(&mut self, space: &Space, at: u64, pieces: Vec<Piece>) -> Result<u64, Fault> {
        let mut pos = at;
        for piece in pieces {
            let len = piece.len();
            let done = match piece {
                Piece::Hole(len) => {
                    self.deallocate(space, pos, len);
                    Ok(len)
                }
                Piece::Bytes(bytes) => self.write(space, pos, &bytes).map(|count| count as u64),
                Piece::Shared(block, len) => self.put_shared(space, pos, block, len),
            };
            match done {
                Ok(count) => pos += count,
                Err(fault) if pos == at => return Err(fault),
                Err(_) => break,
            }
            self.size = self.size.max(pos);
            if done != Ok(len) {
                break;
            }
        }
        Ok(pos - at)
    }

    fn put_shared(&mut self, space: &Space, pos: u64, block: Block, len: usize) -> Result<u64, Fault> {
        // What is behind the source's end must not replace data of this file.
        if len < BLOCK_LEN && pos + (len as u64) < self.size {
            let stored = block.bytes.slice(..len.min(block.bytes.len()));
            let count = self.write(space, pos, &stored)? as u64;
            if count == stored.len() as u64 {
                self.deallocate(space, pos + count, len as u64 - count);
                return Ok(len as u64);
            }
            return Ok(count);
        }
        let have = self.blocks.get(&(pos / BLOCK)).map_or(0, |old| old.charged);
        if block.charged > have {
            space.charge(block.charged - have)?;
        } else {
            space.release(have - block.charged);
        }
        self.charged = self.charged - have + block.charged;
        self.blocks.insert(pos / BLOCK, block);
        Ok(len as u64)
    }
}
