//! The memory that a read of images is about to take. The read asks its caller for it first.

use super::block::MOST_PAYLOAD;
use crate::TierError;

/// Memory that a read is about to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMemory {
    /// Bytes for blocks as they are in the file, and for the longest record that lies in several of them.
    /// They serve all images of a page, and replace those of the segment before.
    Buffers(u64),
    /// Further bytes for the lists of the next image, neighbors and weights, until the image is handed over.
    Image(u64),
    /// Further bytes for the other content of the next image, which no store copies: ranks, keys and
    /// properties.
    Values(u64),
}

/// A function of the caller that returns true if there is that memory. If not, the read ends.
pub(super) type HasMemory<'a> = &'a mut dyn FnMut(ReadMemory) -> bool;

/// Asks the caller for memory.
///
/// # Errors
/// [`TierError::NoRoom`] if there is none.
pub(super) fn ask(has_memory: HasMemory<'_>, memory: ReadMemory) -> Result<(), TierError> {
    if has_memory(memory) {
        return Ok(());
    }
    let (ReadMemory::Buffers(needed) | ReadMemory::Image(needed) | ReadMemory::Values(needed)) = memory;
    Err(TierError::NoRoom { needed })
}

/// Returns the bytes of a record of `len` bytes that is gathered from several blocks; 0 for one within a
/// block.
pub(super) fn gathered_bytes(len: u64) -> u64 {
    if len <= MOST_PAYLOAD as u64 { 0 } else { len }
}
