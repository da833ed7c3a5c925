//! Memory from which whole blocks can be written past the cache of the operating system.

/// The unit of [`VfsFile::write_blocks_at`](crate::VfsFile::write_blocks_at): positions, lengths and addresses are
/// multiples of it. Devices ask for 512 or 4,096 bytes.
pub const BLOCK_BYTES: usize = 4096;

/// Bytes that begin at a multiple of [`BLOCK_BYTES`] in memory and fill whole blocks. Filling it again keeps its memory.
#[derive(Debug, Default)]
pub struct BlockBuffer {
    memory: Vec<u8>,
    begin: usize,
    len: usize,
}

impl BlockBuffer {
    /// Takes a copy of `parts`, one after the other, and of zeros up to the next full block. O(bytes).
    pub fn fill<'a>(&mut self, parts: impl Iterator<Item = &'a [u8]> + Clone) {
        let bytes: usize = parts.clone().map(<[u8]>::len).sum();
        self.len = bytes.next_multiple_of(BLOCK_BYTES);
        if self.memory.len() < self.len + BLOCK_BYTES {
            self.memory = vec![0; self.len + BLOCK_BYTES];
        }
        // Only a const evaluation finds no such offset; then the writer is told that the memory is not fit.
        self.begin = self.memory.as_ptr().align_offset(BLOCK_BYTES).min(BLOCK_BYTES);
        let mut rest = &mut self.memory[self.begin..self.begin + self.len];
        for part in parts {
            let (now, after) = rest.split_at_mut(part.len());
            now.copy_from_slice(part);
            rest = after;
        }
        rest.fill(0);
    }

    /// Takes `blocks` blocks of zeros.
    pub fn fill_zeros(&mut self, blocks: usize) {
        static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
        self.fill(std::iter::repeat_n(&ZEROS[..], blocks));
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.memory.capacity()
    }

    /// The blocks.
    pub fn blocks(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.len]
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
}
