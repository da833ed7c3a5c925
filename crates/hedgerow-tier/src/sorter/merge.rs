//! A merge of sorted chunks and sorted files.

use super::chunk::Chunk;
use super::file::Run;
use super::record::Record;
use crate::TierError;

/// A position in a chunk or a sorted file.
enum Cursor<'a> {
    Chunk { chunk: &'a Chunk, at: usize },
    Run { run: &'a Run, block: Vec<u8>, at: usize, next: u64 },
}

impl Cursor<'_> {
    /// Returns the record at the position; at the end, a record without a key.
    fn record(&self) -> Record<'_> {
        match self {
            Cursor::Chunk { chunk, at } => {
                Record::at(&chunk.bytes, chunk.places.get(*at).map_or(usize::MAX, |&at| at as usize))
            }
            Cursor::Run { block, at, .. } => Record::at(block, *at),
        }
    }

    /// Moves to the next record; false at the end.
    fn step(&mut self) -> Result<bool, TierError> {
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
pub struct Merge<'a> {
    cursors: Vec<Cursor<'a>>,
    /// True if the record of the first cursor was returned already.
    passed: bool,
}

impl<'a> Merge<'a> {
    pub(super) fn of(chunks: &'a [Chunk], runs: &'a [Run]) -> Result<Merge<'a>, TierError> {
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
    /// The errors of reading sorted files.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, TierError> {
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
