//! Sorting more records than memory holds: sorted chunks in memory, and sorted files.
//!
//! A record is a key, whose bytes order it, and a payload. Chunks fill up to a bound; then all of them are
//! merged into a sorted file. Sixteen sorted files of one level are merged into one of the next, so a merge
//! reads few files at a time. What fits in memory never touches a file. The directory, and every block that
//! is read back, is treated like any other file: checksums are compared, errors name file and offset.

use std::sync::Arc;

use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Corruption, CorruptionKind};

use super::temporary::{TemporaryDirectory, TemporaryFile};
use crate::error::Result;

mod record;
#[cfg(test)]
mod tests;

pub(super) use record::{Record, put_ordered, take_ordered};

use record::{LARGEST_HEAD, put_record};

/// Number of sorted files that are merged at a time.
const FAN_IN: usize = 16;
/// Size of the head of a block: its length (4) and its checksum (8).
const BLOCK_HEAD: usize = 12;
/// Number of chunks that a sorter's memory is divided into, within the bounds of a chunk's size.
const CHUNKS: usize = 32;
/// Least size of chunks and blocks, whatever the memory limit.
const LEAST_BLOCK: usize = 4 << 10;
/// Largest size of a block: larger blocks make no sorted file faster.
const LARGEST_BLOCK: usize = 256 << 10;
const LARGEST_CHUNK: usize = 1 << 20;

/// Records in memory, and the place of each: in the order of keys once the chunk is full.
#[derive(Debug, Default)]
struct Chunk {
    bytes: Vec<u8>,
    places: Vec<u32>,
}

impl Chunk {
    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by(|a, b| {
            Record::at(bytes, *a as usize).key.cmp(Record::at(bytes, *b as usize).key)
        });
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.places.capacity() * size_of::<u32>()
    }
}

/// A sorted file.
#[derive(Debug)]
struct Run {
    file: TemporaryFile,
    bytes: u64,
    level: u32,
}

/// A sorter that takes records in any order.
#[derive(Debug)]
pub(super) struct Sorter {
    directory: Arc<TemporaryDirectory>,
    /// The memory that records may take.
    most: usize,
    chunk_bytes: usize,
    block_bytes: usize,
    chunks: Vec<Chunk>,
    /// The bytes of the full chunks.
    held: usize,
    runs: Vec<Run>,
}

impl Sorter {
    /// Returns a sorter that takes up to `memory` bytes: three quarters for records, a quarter for blocks of
    /// the sorted files that it merges.
    pub(super) fn new(directory: &Arc<TemporaryDirectory>, memory: usize) -> Sorter {
        let most = memory / 4 * 3;
        Sorter {
            directory: directory.clone(),
            most,
            chunk_bytes: (most / CHUNKS).clamp(LEAST_BLOCK, LARGEST_CHUNK),
            block_bytes: (memory / 4 / (FAN_IN + 1) / 2).clamp(LEAST_BLOCK, LARGEST_BLOCK),
            chunks: Vec::new(),
            held: 0,
            runs: Vec::new(),
        }
    }

    /// Adds a record. The key has at most 255 bytes, the payload 4 GiB.
    ///
    /// # Errors
    /// Those of writing a sorted file.
    pub(super) fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        let needed = LARGEST_HEAD + key.len() + payload.len();
        let full = self.chunks.last().is_none_or(|chunk| {
            !chunk.places.is_empty() && chunk.memory_used() + needed + size_of::<u32>() > self.chunk_bytes
        });
        if full {
            self.close_chunk();
            if self.held + self.chunk_bytes.max(needed) > self.most {
                self.spill()?;
            }
            self.chunks.push(Chunk::default());
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.places.push(chunk.bytes.len() as u32);
            put_record(&mut chunk.bytes, key, payload);
        }
        Ok(())
    }

    fn close_chunk(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.sort();
            self.held += chunk.memory_bytes();
        }
    }

    /// Writes all chunks, which are sorted, into a sorted file. Merges sorted files if a level has as many as
    /// are merged at a time.
    fn spill(&mut self) -> Result<()> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let run = self.write_run(&self.chunks, &[], 0)?;
        (self.chunks, self.held) = (Vec::new(), 0);
        self.runs.push(run);
        while let Some(level) = self.runs.last().map(|run| run.level)
            && self.runs.iter().filter(|run| run.level == level).count() >= FAN_IN
        {
            self.merge_last(FAN_IN)?;
        }
        Ok(())
    }

    /// Merges the last `count` sorted files. Levels descend, so these are the smallest.
    fn merge_last(&mut self, count: usize) -> Result<()> {
        let from = self.runs.len().saturating_sub(count);
        let merged = self.runs.get(from..).unwrap_or(&[]);
        let level = merged.first().map_or(0, |run| run.level) + 1;
        let run = self.write_run(&[], merged, level)?;
        self.runs.truncate(from);
        self.runs.push(run);
        Ok(())
    }

    fn write_run(&self, chunks: &[Chunk], runs: &[Run], level: u32) -> Result<Run> {
        let mut run = Run { file: self.directory.create()?, bytes: 0, level };
        let mut merge = Merge::of(chunks, runs)?;
        let mut block = vec![0; BLOCK_HEAD];
        while let Some(record) = merge.next()? {
            if block.len() > BLOCK_HEAD && block.len() + record.bytes > self.block_bytes {
                run.append(&mut block)?;
            }
            put_record(&mut block, record.key, record.payload);
        }
        if block.len() > BLOCK_HEAD {
            run.append(&mut block)?;
        }
        Ok(run)
    }

    /// Returns all records, which can be read in order as often as they are needed, and empties the sorter.
    ///
    /// # Errors
    /// Those of merging sorted files.
    pub(super) fn finish(&mut self) -> Result<Sorted> {
        self.close_chunk();
        // The sorted files that a merge at the end reads are of several levels.
        while self.runs.len() > FAN_IN {
            self.merge_last(self.runs.len().min(FAN_IN))?;
        }
        self.held = 0;
        Ok(Sorted { chunks: std::mem::take(&mut self.chunks), runs: std::mem::take(&mut self.runs) })
    }
}

impl Chunk {
    fn memory_used(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<u32>()
    }
}

impl Run {
    /// Fills in the head of a block, writes the block, and empties it.
    fn append(&mut self, block: &mut Vec<u8>) -> Result<()> {
        let (head, body) = block.split_at_mut(BLOCK_HEAD);
        let (len, sum) = head.split_at_mut(4);
        len.copy_from_slice(&(body.len() as u32).to_le_bytes());
        sum.copy_from_slice(&block_checksum(self.bytes, body).to_le_bytes());
        self.file.write_all_at(block, self.bytes)?;
        self.bytes += block.len() as u64;
        block.truncate(BLOCK_HEAD);
        block.shrink_to(LARGEST_BLOCK);
        Ok(())
    }

    /// Reads the block at `offset`, which is not the end; returns the offset of the next one.
    fn read(&self, offset: u64, block: &mut Vec<u8>) -> Result<u64> {
        let mut head = [0; BLOCK_HEAD];
        self.file.read_exact_at(&mut head, offset)?;
        let [a, b, c, d, sum @ ..] = head;
        let len = u32::from_le_bytes([a, b, c, d]);
        let begin = offset + BLOCK_HEAD as u64;
        let end = begin + u64::from(len);
        let corrupt =
            || Corruption::new(self.file.name(), offset, CorruptionKind::Invalid("a block of a run"));
        if end > self.bytes {
            return Err(corrupt().into());
        }
        block.clear();
        block.shrink_to(LARGEST_BLOCK);
        block.resize(len as usize, 0);
        self.file.read_exact_at(block, begin)?;
        if block_checksum(offset, block) != u64::from_le_bytes(sum) {
            return Err(corrupt().into());
        }
        Ok(end)
    }
}

/// Returns the checksum of a block. It covers the offset, so that no block passes for another one.
fn block_checksum(offset: u64, body: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.update(&offset.to_le_bytes());
    sum.update(body);
    sum.digest64()
}

/// Sorted records, in memory or in files.
#[derive(Debug)]
pub(super) struct Sorted {
    chunks: Vec<Chunk>,
    runs: Vec<Run>,
}

impl Sorted {
    /// Returns a reader of all records in order.
    ///
    /// # Errors
    /// Those of reading sorted files.
    pub(super) fn merge(&self) -> Result<Merge<'_>> {
        Merge::of(&self.chunks, &self.runs)
    }
}

/// A position in a chunk or a sorted file.
enum Cursor<'a> {
    Chunk { chunk: &'a Chunk, at: usize },
    Run { run: &'a Run, block: Vec<u8>, at: usize, next: u64 },
}

impl Cursor<'_> {
    /// Returns the record at the position; one without key at the end.
    fn record(&self) -> Record<'_> {
        match self {
            Cursor::Chunk { chunk, at } => {
                Record::at(&chunk.bytes, chunk.places.get(*at).map_or(usize::MAX, |&at| at as usize))
            }
            Cursor::Run { block, at, .. } => Record::at(block, *at),
        }
    }

    /// Moves to the next record; false at the end.
    fn step(&mut self) -> Result<bool> {
        let passed = self.record().bytes;
        match self {
            Cursor::Chunk { chunk, at } => {
                *at += 1;
                Ok(*at < chunk.places.len())
            }
            Cursor::Run { run, block, at, next } => {
                *at += passed;
                if *at < block.len() {
                    return Ok(true);
                }
                if *next >= run.bytes {
                    return Ok(false);
                }
                *next = run.read(*next, block)?;
                *at = 0;
                Ok(true)
            }
        }
    }
}

/// Records of several chunks and sorted files in the order of their keys: a heap of cursors.
pub(super) struct Merge<'a> {
    cursors: Vec<Cursor<'a>>,
    /// True if the record of the first cursor was handed out.
    passed: bool,
}

impl<'a> Merge<'a> {
    fn of(chunks: &'a [Chunk], runs: &'a [Run]) -> Result<Merge<'a>> {
        let mut cursors = Vec::with_capacity(chunks.len() + runs.len());
        let full = chunks.iter().filter(|chunk| !chunk.places.is_empty());
        cursors.extend(full.map(|chunk| Cursor::Chunk { chunk, at: 0 }));
        for run in runs.iter().filter(|run| run.bytes > 0) {
            let mut block = Vec::new();
            let next = run.read(0, &mut block)?;
            cursors.push(Cursor::Run { run, block, at: 0, next });
        }
        let mut merge = Merge { cursors, passed: false };
        (0..merge.cursors.len()).rev().for_each(|at| merge.sift_down(at));
        Ok(merge)
    }

    /// Returns the next record.
    ///
    /// # Errors
    /// Those of reading sorted files.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>> {
        if self.passed
            && let Some(first) = self.cursors.first_mut()
        {
            if !first.step()? {
                self.cursors.swap_remove(0);
            }
            self.sift_down(0);
        }
        self.passed = true;
        Ok(self.cursors.first().map(Cursor::record))
    }

    fn is_less(&self, a: usize, b: usize) -> bool {
        match (self.cursors.get(a), self.cursors.get(b)) {
            (Some(a), Some(b)) => a.record().key < b.record().key,
            (a, _) => a.is_some(),
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let least = if self.is_less(right, left) { right } else { left };
            if least >= self.cursors.len() || !self.is_less(least, at) {
                return;
            }
            self.cursors.swap(at, least);
            at = least;
        }
    }
}
