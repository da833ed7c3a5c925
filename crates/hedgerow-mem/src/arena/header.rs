//! The header before every block.
//!
//! A header is eight bytes. The first word holds size and state. It changes under the lock of the shard, also
//! when a neighbour of the block is allocated or freed. The second word holds the place of the block. It
//! never changes while the block is allocated, so that threads read it without the lock.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The bytes of a header, and the granularity of sizes and addresses.
pub(super) const HEADER: usize = 8;
/// The least size of a block in bytes, header included: room for the two links and the size of a free block.
pub(super) const MIN_BLOCK: usize = 32;

/// Flag: the block is free.
pub(super) const FREE: u32 = 1;
/// Flag: the block before this one in the region is free, and its size is in the last word before this
/// header.
pub(super) const PREV_FREE: u32 = 2;

/// The header of a block.
#[repr(C)]
pub(super) struct Header {
    /// The size in bytes, header included, divided by 2 (a multiple of 4), plus [`FREE`] and [`PREV_FREE`].
    pub(super) state: AtomicU32,
    /// Distance to the head of the region, in units of 8 bytes. In a block outside regions this word is the
    /// kind of block.
    pub(super) place: u32,
}

impl Header {
    /// Writes the header of a block of `size` bytes, `distance` bytes into its region.
    ///
    /// # Safety
    /// `at` is inside a region, and the caller holds the lock of its shard.
    pub(super) unsafe fn write(at: NonNull<Header>, distance: usize, size: usize, flags: u32) {
        let header =
            Header { state: AtomicU32::new((size / 2) as u32 | flags), place: (distance / HEADER) as u32 };
        // SAFETY: the caller's.
        unsafe { at.write(header) };
    }

    /// Returns the size in bytes, header included.
    pub(super) fn size(&self) -> usize {
        (self.state.load(Ordering::Relaxed) & !3) as usize * 2
    }

    pub(super) fn has(&self, flag: u32) -> bool {
        self.state.load(Ordering::Relaxed) & flag != 0
    }

    /// Sets or clears a flag. The caller holds the lock of the shard, so load and store need not be one step.
    pub(super) fn set(&self, flag: u32, on: bool) {
        let state = self.state.load(Ordering::Relaxed);
        self.state.store(if on { state | flag } else { state & !flag }, Ordering::Relaxed);
    }

    /// Returns the distance from the beginning of the region in bytes.
    pub(super) fn distance(&self) -> usize {
        self.place as usize * HEADER
    }
}

/// Returns the size of a block for `bytes` bytes.
#[inline]
pub(super) fn block_size(bytes: usize) -> usize {
    (bytes + HEADER).next_multiple_of(8).max(MIN_BLOCK)
}
