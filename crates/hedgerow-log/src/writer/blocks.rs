//! Writes before a sync, in whole blocks past the cache of the operating system, into space that was filled
//! with zeros before.
//!
//! A sync of a few records waits twice for the device: for the data, and for the device's cache. The cache of
//! the operating system adds work. So does a write into space that is only reserved, because the file system
//! must write that the space now has data. If the file system supports direct writes, this module avoids both
//! kinds of additional work.
//!
//! Each write repeats the content of the last, partly filled block, as the cache would.

use hedgerow_io::{BLOCK_BYTES, BlockBuffer, FileId, IoError, NamedFile};

/// The size from which on a write goes through the cache, which writes it in the background.
const MOST_BYTES: usize = 256 << 10;
/// The number of zeros that are written ahead.
const AHEAD_BYTES: u64 = 256 << 10;
/// The size of a sync up to which zeros are written ahead: for a larger sync, the file system's own write is
/// comparatively small.
const SMALL_BYTES: usize = 32 << 10;

/// The state of the blocks of the active segment. It detects other writes itself, so other writers need not
/// report them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    segment: FileId,
    /// The end of the last write; the next field has the content of its block up to that end.
    end: u64,
    tail: Vec<u8>,
    /// The position up to which the file has data, or zeros that were written.
    filled: u64,
    buffer: BlockBuffer,
}

/// A segment that is being written.
pub(super) struct Target<'a> {
    pub(super) file: &'a NamedFile,
    pub(super) segment: FileId,
    /// The length of the segment's file.
    pub(super) allocated: u64,
}

impl Blocks {
    /// Writes `bytes` at `at`; the file may have only zeros behind them. The caller must sync afterwards.
    ///
    /// # Errors
    /// The errors of the file system; then some of the bytes may have been written.
    pub(super) fn write(&mut self, to: &Target<'_>, bytes: &[u8], at: u64) -> Result<(), IoError> {
        if bytes.len() > MOST_BYTES || !to.file.takes_blocks() || !self.find_tail(to, at) {
            return to.file.write_all_at(bytes, at);
        }
        let begin = at - self.tail.len() as u64;
        let fresh = self.tail.len()..self.tail.len() + bytes.len();
        self.buffer.fill([self.tail.as_slice(), bytes].into_iter());
        let end = begin + self.buffer.blocks().len() as u64;
        if end > to.allocated {
            return to.file.write_all_at(bytes, at);
        }
        to.file.write_blocks_at(&self.buffer, fresh.clone(), begin)?;
        let kept = fresh.end - fresh.end % BLOCK_BYTES;
        self.tail.clear();
        self.tail.extend_from_slice(&self.buffer.blocks()[kept..fresh.end]);
        self.end = begin + fresh.end as u64;
        if bytes.len() <= SMALL_BYTES && end > self.filled {
            self.fill_ahead(to, end);
        }
        Ok(())
    }

    /// Returns the bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.tail.capacity() + self.buffer.bytes()
    }

    /// Sets `tail` to the content before `at` of the block that contains `at`; false if it cannot be read.
    fn find_tail(&mut self, to: &Target<'_>, at: u64) -> bool {
        if self.segment != to.segment {
            (self.segment, self.end, self.filled) = (to.segment, 0, 0);
        }
        if self.end == at {
            return true;
        }
        // The segment is new, or other code has written in between.
        let within = at % BLOCK_BYTES as u64;
        self.tail.resize(within as usize, 0);
        let found = to.file.read_exact_at(&mut self.tail, at - within).is_ok();
        self.end = if found { at } else { 0 };
        found
    }

    /// Writes zeros from `from` on. The space has zeros anyway, so a failure has no effect and is not
    /// retried.
    fn fill_ahead(&mut self, to: &Target<'_>, from: u64) {
        let end = to.allocated.min(from + AHEAD_BYTES);
        let blocks = (end - from) as usize / BLOCK_BYTES;
        self.buffer.fill_zeros(blocks);
        let all = 0..self.buffer.blocks().len();
        let filled = to.file.write_blocks_at(&self.buffer, all.clone(), from);
        self.filled = if filled.is_ok() { from + all.end as u64 } else { to.allocated };
        if self.filled + BLOCK_BYTES as u64 > to.allocated {
            // The rest is less than a block.
            self.filled = to.allocated;
        }
    }
}
