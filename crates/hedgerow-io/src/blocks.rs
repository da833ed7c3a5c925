//! Buffers for I/O in whole blocks, past the cache of the operating system.

use std::ops::{Deref, Range};

/// The unit of [`VfsFile::write_blocks_at`](crate::VfsFile::write_blocks_at) and
/// [`read_blocks_at`](crate::VfsFile::read_blocks_at): positions, lengths and addresses are multiples of it.
/// Devices require 512 or 4,096 bytes.
pub const BLOCK_BYTES: usize = 4096;

/// True if `memory` and the position `offset` in a file allow a read or write of `memory` in blocks.
pub fn are_blocks(memory: &[u8], offset: u64) -> bool {
    memory.len().is_multiple_of(BLOCK_BYTES)
        && offset.is_multiple_of(BLOCK_BYTES as u64)
        && memory.as_ptr().align_offset(BLOCK_BYTES) == 0
}

/// Bytes that fill whole blocks and begin at a multiple of [`BLOCK_BYTES`] in memory. The memory is reused
/// when the buffer is filled again.
#[derive(Debug, Default)]
pub struct BlockBuffer {
    memory: Vec<u8>,
    begin: usize,
    len: usize,
}

impl BlockBuffer {
    /// Copies `parts` one after another into the buffer, and pads them with zeros to a full block. O(bytes).
    pub fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [u8]> + Clone) {
        let bytes: usize = parts.clone().map(<[u8]>::len).sum();
        let mut rest = self.room(bytes.div_ceil(BLOCK_BYTES));
        for part in parts {
            let (now, after) = rest.split_at_mut(part.len());
            now.copy_from_slice(part);
            rest = after;
        }
        rest.fill(0);
    }

    /// Fills the buffer with `blocks` blocks of zeros.
    pub fn fill_zeros(&mut self, blocks: usize) {
        static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
        self.fill(std::iter::repeat_n(&ZEROS[..], blocks));
    }

    /// Makes room for `blocks` blocks for a read. They contain older data, or zeros.
    pub fn room(&mut self, blocks: usize) -> &mut [u8] {
        self.len = blocks * BLOCK_BYTES;
        if self.memory.len() < self.len + BLOCK_BYTES {
            self.memory = vec![0; self.len + BLOCK_BYTES];
        }
        // The offset is missing only in const evaluation. Then the file refuses the memory, as it is not
        // aligned.
        self.begin = self.memory.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
        &mut self.memory[self.begin..self.begin + self.len]
    }

    /// Returns the most bytes of a buffer that reads `bytes` bytes at any position of a file, for callers
    /// that charge the memory before the read.
    pub const fn memory_for(bytes: usize) -> usize {
        // Adds two blocks for the ends, which the reader needs only in part, and one for the alignment of the
        // memory.
        bytes.saturating_add(3 * BLOCK_BYTES)
    }

    /// Returns the bytes of memory of the buffer.
    pub fn bytes(&self) -> usize {
        self.memory.capacity()
    }

    /// Returns the blocks.
    pub fn blocks(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.len]
    }
}

/// The bytes of a read in whole blocks; derefs to the requested bytes.
#[derive(Debug)]
pub struct FilledBuffer {
    buffer: BlockBuffer,
    wanted: Range<usize>,
}

impl FilledBuffer {
    /// Makes the result from the bytes in the range `wanted` of `buffer`.
    pub(crate) fn new(buffer: BlockBuffer, wanted: Range<usize>) -> FilledBuffer {
        FilledBuffer { buffer, wanted }
    }

    /// Returns the buffer for the next read.
    pub fn into_buffer(self) -> BlockBuffer {
        self.buffer
    }
}

impl Deref for FilledBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer.blocks()[self.wanted.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_and_filled_up_in_aligned_memory() {
        let mut buffer = BlockBuffer::default();
        for sizes in [[0, 0], [0, 1], [100, 0], [4000, 96], [4000, 97], [4096, 9000], [1, 3]] {
            let parts = sizes.map(|n| vec![7u8; n]);
            buffer.fill(parts.iter().map(Vec::as_slice));
            let bytes = sizes[0] + sizes[1];
            assert_eq!(buffer.blocks().len(), bytes.next_multiple_of(BLOCK_BYTES));
            assert_eq!(buffer.blocks().as_ptr().align_offset(BLOCK_BYTES), 0);
            assert!(buffer.blocks()[..bytes].iter().all(|&b| b == 7));
            assert!(buffer.blocks()[bytes..].iter().all(|&b| b == 0), "what was there before is gone");
        }
        buffer.fill_zeros(3);
        assert_eq!(buffer.blocks(), vec![0; 3 * BLOCK_BYTES]);
    }

    #[test]
    fn room_is_aligned_and_says_so() {
        let mut buffer = BlockBuffer::default();
        for blocks in [0, 1, 5, 2] {
            let room = buffer.room(blocks);
            assert_eq!(room.len(), blocks * BLOCK_BYTES);
            assert!(
                are_blocks(room, 0) && are_blocks(room, 3 * BLOCK_BYTES as u64) && !are_blocks(room, 512)
            );
            room.fill(blocks as u8);
            assert!(buffer.blocks().iter().all(|&b| b == blocks as u8));
        }
        let room = buffer.room(2);
        assert!(!are_blocks(&room[1..], 0) && !are_blocks(&room[512..512 + BLOCK_BYTES], 0));
    }
}
