//! The memory that a read of images is about to take, which its caller is asked for before it is taken.

use super::block::MOST_PAYLOAD;
use crate::TierError;

/// Memory that a read is about to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMemory {
    /// So many bytes for blocks as they are in the file, and for the longest record that lies in several of them, from the first image of a
    /// segment's page to the last, in place of those of the segment before.
    Buffers(u64),
    /// So many bytes more for lists of the next image, neighbors and weights, until it was handed over.
    Image(u64),
    /// So many bytes more for what else the next image has, which no store copies: ranks, keys and properties.
    Values(u64),
}

/// Whether the caller of a read has that memory. If not, the read ends.
pub(super) type HasMemory<'a> = &'a mut dyn FnMut(ReadMemory) -> bool;

/// Asks for memory.
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

/// What a record takes that lies in several blocks, put together.
pub(super) fn gathered_bytes(len: u64) -> u64 {
    if len <= MOST_PAYLOAD as u64 { 0 } else { len }
}
