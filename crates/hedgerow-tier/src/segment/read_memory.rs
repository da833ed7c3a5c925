//! The memory that a read of images is about to take. Before it takes memory, the read asks its caller.

use super::block::MOST_PAYLOAD;
use crate::TierError;

/// Memory that a read is about to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMemory {
    /// Bytes for blocks as they are in the file, and for the longest record that fills several blocks. All
    /// images of a page use these buffers, which replace the buffers of the segment before.
    Buffers(u64),
    /// Further bytes for the lists (neighbors and weights) of the next image, until the image is passed on.
    Image(u64),
    /// Further bytes for the ranks, keys and properties of the next image, which no store copies.
    Values(u64),
    /// Bytes for a changed copy of lists of the next image. The old lists are dropped after it is made,
    /// before a store may copy the new ones.
    Copy(u64),
}

impl ReadMemory {
    /// Returns the number of bytes.
    pub fn bytes(self) -> u64 {
        let (ReadMemory::Buffers(bytes)
        | ReadMemory::Image(bytes)
        | ReadMemory::Values(bytes)
        | ReadMemory::Copy(bytes)) = self;
        bytes
    }
}

/// A function of the caller that returns true if this memory is available. If it returns false, the read
/// ends.
pub(super) type HasMemory<'a> = &'a mut dyn FnMut(ReadMemory) -> bool;

/// Asks the caller for memory.
///
/// # Errors
/// [`TierError::NoRoom`] if `has_memory` returns false.
pub(super) fn ask(has_memory: HasMemory<'_>, memory: ReadMemory) -> Result<(), TierError> {
    if has_memory(memory) {
        return Ok(());
    }
    Err(TierError::NoRoom { needed: memory.bytes() })
}

/// Returns the bytes of a record of `len` bytes that is joined from several blocks; 0 if the record is within
/// a block.
pub(super) fn gathered_bytes(len: u64) -> u64 {
    if len <= MOST_PAYLOAD as u64 { 0 } else { len }
}
