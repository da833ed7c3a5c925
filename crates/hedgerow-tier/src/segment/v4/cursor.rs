//! Reading the stream of a segment in order, each block once.

use hedgerow_core::faults::{self, PlantedFault};

use super::block::{BLOCK_BYTES, CHECKSUM_BYTES, PAYLOAD_BYTES, block_checksum, block_count, block_offset};
use crate::TierError;
use crate::segment::source::Source;

/// How many blocks one read takes at most.
const READ_AHEAD: u64 = 16;

/// A place in the stream, and the verified bytes around it.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    source: &'a Source,
    /// Blocks as they are in the file, checksums included, before verification.
    raw: Vec<u8>,
    /// Verified bytes of the stream; those before `used` are done with.
    verified: Vec<u8>,
    used: usize,
    next_block: u64,
    /// One more than the last block that this cursor will need.
    end_block: u64,
    stream_len: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor for the bytes `from..to` of a stream of `stream_len` bytes.
    pub(super) fn new(source: &'a Source, from: u64, to: u64, stream_len: u64) -> Cursor<'a> {
        Cursor {
            source,
            raw: Vec::new(),
            verified: Vec::new(),
            // The bytes before `from` in its block count as used before they are read.
            used: (from % PAYLOAD_BYTES) as usize,
            next_block: from / PAYLOAD_BYTES,
            end_block: block_count(to),
            stream_len,
        }
    }

    /// The next `len` bytes of the stream, verified. What is gathered grows block by block, so a length that the file
    /// cannot have ends at the end of the file.
    pub(super) fn next(&mut self, len: u64) -> Result<&[u8], TierError> {
        let (source, end_block) = (self.source, self.end_block);
        let missing = || source.invalid(block_offset(end_block), "record beyond the stream");
        let len = usize::try_from(len).map_err(|_| missing())?;
        let end = self.used.checked_add(len).ok_or_else(missing)?;
        if self.verified.len() < end {
            let done = self.used.min(self.verified.len());
            self.verified.drain(..done);
            self.used -= done;
        }
        while self.verified.len() < self.used + len {
            if self.next_block >= self.end_block {
                return Err(missing());
            }
            self.fill()?;
        }
        let start = self.used;
        self.used += len;
        Ok(self.verified.get(start..self.used).unwrap_or(&[]))
    }

    /// Reads and verifies the next blocks.
    fn fill(&mut self) -> Result<(), TierError> {
        let blocks = (self.end_block - self.next_block).min(READ_AHEAD);
        let rest = self.stream_len.saturating_sub(self.next_block * PAYLOAD_BYTES);
        let payload = rest.min(blocks * PAYLOAD_BYTES);
        let bytes = payload + blocks * CHECKSUM_BYTES;
        self.raw.resize(bytes as usize, 0);
        self.source.read(&mut self.raw, block_offset(self.next_block))?;
        for block in self.raw.chunks(BLOCK_BYTES as usize) {
            let offset = block_offset(self.next_block);
            let Some((payload, sum)) = block.split_last_chunk() else {
                return Err(self.source.invalid(offset, "block without checksum"));
            };
            let found = block_checksum(self.source.file_id, self.next_block, payload);
            if !faults::is_on(PlantedFault::BlocksNotChecked) {
                self.source.check(offset, u64::from_le_bytes(*sum), found)?;
            }
            let reserved = self.verified.try_reserve(payload.len());
            reserved.map_err(|_| self.source.invalid(offset, "no memory for a record of this length"))?;
            self.verified.extend_from_slice(payload);
            self.next_block += 1;
        }
        Ok(())
    }
}
