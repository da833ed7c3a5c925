//! A file of sorted records, in blocks with checksums.

use hedgerow_io::checksum::Checksum;
use hedgerow_io::{Corruption, CorruptionKind};

use super::record::{put_record, record_bytes};
use crate::TierError;
use crate::temporary::TemporaryFile;

/// Size of the head of a block: its length (4) and its checksum (8).
const BLOCK_HEAD: usize = 12;
/// Largest size of a block: larger blocks would not be faster.
pub(super) const LARGEST_BLOCK: usize = 256 << 10;

/// A sorted file.
#[derive(Debug)]
pub(super) struct Run {
    file: TemporaryFile,
    pub(super) bytes: u64,
    pub(super) level: u32,
}

/// A writer of a sorted file, which gets the records in order.
pub(super) struct RunWriter {
    run: Run,
    block: Vec<u8>,
    /// The size in bytes at which a block is complete.
    most: usize,
}

impl RunWriter {
    /// Begins a sorted file of the `level`, in blocks of about `block_bytes`.
    pub(super) fn new(file: TemporaryFile, level: u32, block_bytes: usize) -> RunWriter {
        let run = Run { file, bytes: 0, level };
        RunWriter { run, block: vec![0; BLOCK_HEAD], most: block_bytes }
    }

    pub(super) fn put(&mut self, key: &[u8], payload: &[u8]) -> Result<(), TierError> {
        let bytes = record_bytes(key, payload);
        if self.block.len() > BLOCK_HEAD && self.block.len() + bytes > self.most {
            self.run.append(&mut self.block)?;
        }
        put_record(&mut self.block, key, payload);
        Ok(())
    }

    pub(super) fn end(mut self) -> Result<Run, TierError> {
        if self.block.len() > BLOCK_HEAD {
            self.run.append(&mut self.block)?;
        }
        Ok(self.run)
    }
}

impl Run {
    /// Fills in the head of a block, writes the block, and empties it.
    fn append(&mut self, block: &mut Vec<u8>) -> Result<(), TierError> {
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

    /// Reads the block at `offset`, which is before the end of the file. Returns the offset of the next
    /// block.
    pub(super) fn read(&self, offset: u64, block: &mut Vec<u8>) -> Result<u64, TierError> {
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

/// Returns the checksum of a block. It covers the offset, so that no block can be mistaken for another one.
fn block_checksum(offset: u64, body: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.update(&offset.to_le_bytes());
    sum.update(body);
    sum.digest64()
}
