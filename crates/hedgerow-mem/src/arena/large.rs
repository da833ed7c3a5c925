//! Large blocks: each has a mapping of its own.

use std::ptr::NonNull;
use std::sync::Arc;

use super::header::{HEADER, Header};
use super::inner::Inner;
use super::mapping::{HUGE, PAGE, map, unmap};

/// Bytes before the header of a large block: the arena, and the size of the mapping.
const LARGE_HEAD: usize = 64 - HEADER;

/// The bytes before the header of a large block.
struct Large {
    arena: *const Inner,
    size: usize,
}

/// Makes a mapping for a large block of `arena`. Returns the place for the header of the block.
pub(super) fn map_large(arena: &Arc<Inner>, bytes: usize) -> NonNull<Header> {
    let size = (bytes + LARGE_HEAD + HEADER).next_multiple_of(PAGE);
    let start = map(size, size >= HUGE);
    arena.note_large(size);
    // SAFETY: the mapping is larger than both heads, aligned to a page, and ours alone.
    unsafe {
        start.cast::<Large>().write(Large { arena: Arc::into_raw(arena.clone()), size });
        start.add(LARGE_HEAD).cast()
    }
}

/// Returns the size of the mapping of a large block whose header is at `header`.
///
/// # Safety
/// The block is a large one, and allocated.
pub(super) unsafe fn large_size(header: NonNull<u8>) -> usize {
    // SAFETY: `map_large` wrote it there.
    unsafe { header.sub(LARGE_HEAD).cast::<Large>().as_ref().size }
}

/// Frees a large block whose header is at `header`.
///
/// # Safety
/// The block is a large one, and not used any more.
pub(super) unsafe fn unmap_large(header: NonNull<u8>) {
    // SAFETY: `map_large` wrote the head, took the reference and made the mapping. All three are given up
    // once.
    unsafe {
        let start = header.sub(LARGE_HEAD);
        let Large { arena, size } = start.cast::<Large>().read();
        unmap(start, size);
        Arc::from_raw(arena).note_large_gone(size);
    }
}
