//! Sorting of more records than fit in memory, by sorted chunks in memory and sorted files.
//!
//! A record is a key, whose bytes determine the order, and a payload. Records are collected in chunks up to a
//! bound; then all chunks are merged into a sorted file. Sixteen sorted files of one level are merged into
//! one of the next level, so a merge reads few files at a time. Records that fit in memory are never written
//! to a file. Sorted files are read like other files of the store: checksums are compared, errors name file
//! and offset.

use std::sync::Arc;

use crate::TierError;
use crate::temporary::TemporaryDirectory;

mod chunk;
mod file;
mod merge;
mod record;
#[cfg(test)]
mod tests;

pub use merge::Merge;
pub use record::{Record, put_ordered, take_ordered};

use chunk::Chunk;
use file::{LARGEST_BLOCK, Run, RunWriter};
use record::{LARGEST_HEAD, put_record};

/// Number of sorted files that are merged at a time.
const FAN_IN: usize = 16;
/// Number of chunks into which a sorter's memory is divided, if their size is within its bounds.
const CHUNKS: usize = 32;
/// Least size of chunks and blocks, for any memory limit.
const LEAST_BLOCK: usize = 4 << 10;
const LARGEST_CHUNK: usize = 1 << 20;

/// A sorter that takes records in any order.
#[derive(Debug)]
pub struct Sorter {
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
    pub fn new(directory: &Arc<TemporaryDirectory>, memory: usize) -> Sorter {
        let most = memory / 4 * 3;
        Sorter {
            directory: directory.clone(),
            most,
            chunk_bytes: (most / CHUNKS).clamp(LEAST_BLOCK, LARGEST_CHUNK),
            block_bytes: block_bytes(memory / 4),
            chunks: Vec::new(),
            held: 0,
            runs: Vec::new(),
        }
    }

    /// Uses all of `memory` for the blocks of sorted files, for a caller that adds
    /// [sorted](Self::push_sorted) records.
    pub(crate) fn set_memory(&mut self, memory: usize) {
        self.block_bytes = block_bytes(memory);
    }

    /// Returns the bytes of memory of a merge of [`FAN_IN`] sorted files.
    pub(crate) fn merge_bytes(&self) -> usize {
        (FAN_IN + 1) * self.block_bytes
    }

    /// Adds a record. The key has at most 255 bytes, the payload 4 GiB.
    ///
    /// # Errors
    /// The errors of writing a sorted file.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<(), TierError> {
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

    /// Merges all chunks, which are sorted, into a sorted file.
    fn spill(&mut self) -> Result<(), TierError> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let run = self.write_run(&self.chunks, &[], 0)?;
        (self.chunks, self.held) = (Vec::new(), 0);
        self.keep_run(run)
    }

    /// Merges the last `count` sorted files. Levels descend, so these are the smallest.
    fn merge_last(&mut self, count: usize) -> Result<(), TierError> {
        let from = self.runs.len().saturating_sub(count);
        let merged = self.runs.get(from..).unwrap_or(&[]);
        let level = merged.first().map_or(0, |run| run.level) + 1;
        let run = self.write_run(&[], merged, level)?;
        self.runs.truncate(from);
        self.runs.push(run);
        Ok(())
    }

    fn write_run(&self, chunks: &[Chunk], runs: &[Run], level: u32) -> Result<Run, TierError> {
        let mut merge = Merge::of(chunks, runs)?;
        let mut writer = self.begin_run(level)?;
        while let Some(record) = merge.next_record()? {
            writer.put(record.key, record.payload)?;
        }
        writer.end()
    }

    fn begin_run(&self, level: u32) -> Result<RunWriter, TierError> {
        Ok(RunWriter::new(self.directory.create()?, level, self.block_bytes))
    }

    /// Adds records that `each` hands over in the order of their keys, as a separate sorted file.
    ///
    /// # Errors
    /// The errors of writing a sorted file, and of `each`.
    pub fn push_sorted(
        &mut self,
        each: impl FnOnce(&mut dyn FnMut(&[u8], &[u8]) -> Result<(), TierError>) -> Result<(), TierError>,
    ) -> Result<(), TierError> {
        let mut writer = self.begin_run(0)?;
        each(&mut |key, payload| writer.put(key, payload))?;
        let run = writer.end()?;
        self.keep_run(run)
    }

    /// Adds a sorted file of the lowest level. Merges the sorted files of a level that has [`FAN_IN`] of
    /// them.
    fn keep_run(&mut self, run: Run) -> Result<(), TierError> {
        self.runs.push(run);
        while let Some(level) = self.runs.last().map(|run| run.level)
            && self.runs.iter().filter(|run| run.level == level).count() >= FAN_IN
        {
            self.merge_last(FAN_IN)?;
        }
        Ok(())
    }

    /// True if no record was written into a file.
    pub fn is_in_memory(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns all records, which can be read in order any number of times. The sorter is empty afterwards.
    ///
    /// # Errors
    /// The errors of merging sorted files.
    pub fn finish(&mut self) -> Result<Sorted, TierError> {
        self.close_chunk();
        // This merge reads sorted files of several levels.
        while self.runs.len() > FAN_IN {
            self.merge_last(self.runs.len().min(FAN_IN))?;
        }
        self.held = 0;
        Ok(Sorted { chunks: std::mem::take(&mut self.chunks), runs: std::mem::take(&mut self.runs) })
    }
}

/// Returns the size of a block. A merge has a block for each sorted file that it reads, and one for the file
/// that it writes, together in `memory`.
fn block_bytes(memory: usize) -> usize {
    (memory / (FAN_IN + 1) / 2).clamp(LEAST_BLOCK, LARGEST_BLOCK)
}

/// Sorted records, in memory or in files.
#[derive(Debug)]
pub struct Sorted {
    chunks: Vec<Chunk>,
    runs: Vec<Run>,
}

impl Sorted {
    /// Returns a reader of all records in order.
    ///
    /// # Errors
    /// The errors of reading sorted files.
    pub fn merge(&self) -> Result<Merge<'_>, TierError> {
        Merge::of(&self.chunks, &self.runs)
    }
}
