//! Writes before a sync, in whole blocks past the cache of the operating system, into space that was filled
//! with zeros ahead.
//!
//! A sync of a few records costs a device two waits, for the data and for its cache. The way through the
//! operating system's cache adds its own work to that. A write into space that is only reserved makes the
//! file system note, in a write of its own, that the space holds data now. If the file system takes direct
//! writes, this module avoids both.
//!
//! The block in which the log ends is written again with its content, as the cache would do it.

use hedgerow_io::{BLOCK_BYTES, BlockBuffer, FileId, IoError, NamedFile};

/// The size of a write from which it goes through the cache, which writes it in the background.
const MOST_BYTES: usize = 256 << 10;
/// The number of zeros that are written ahead.
const AHEAD_BYTES: u64 = 256 << 10;
/// The size of a sync up to which zeros are written ahead: a larger one writes more than the file system
/// notes.
const SMALL_BYTES: usize = 32 << 10;

/// The state of the blocks of the active segment. It detects other writes itself, so other writers need not
/// report them.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    segment: FileId,
    /// The end of the last write, and the content of its block up to there.
    end: u64,
    tail: Vec<u8>,
    /// The position up to which the file holds data, or zeros that were written.
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
    /// Writes `bytes` at `at`; only zeros may stand behind them. A sync has to follow.
    ///
    /// # Errors
    /// Those of the file system; any part may have been written then.
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

    /// Returns the bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.tail.capacity() + self.buffer.bytes()
    }

    /// Makes `tail` the content before `at` in its block; false if it cannot be read.
    fn find_tail(&mut self, to: &Target<'_>, at: u64) -> bool {
        if self.segment != to.segment {
            (self.segment, self.end, self.filled) = (to.segment, 0, 0);
        }
        if self.end == at {
            return true;
        }
        // The segment is new, or there were other writes in between.
        let within = at % BLOCK_BYTES as u64;
        self.tail.resize(within as usize, 0);
        let found = to.file.read_exact_at(&mut self.tail, at - within).is_ok();
        self.end = if found { at } else { 0 };
        found
    }

    /// Writes zeros from `from` on. The space holds zeros anyway: a failure changes nothing, and there is no
    /// second attempt.
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
