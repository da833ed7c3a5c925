//! The layout of a free block: its links, its size, and its pages that occupy no memory.

use std::ptr::NonNull;

use super::header::{HEADER, Header, MIN_BLOCK};
use super::mapping::PAGE;
use super::returned::Pages;

/// A free block: a header and links. The last word of the block holds its size.
#[repr(C)]
pub(super) struct Free {
    pub(super) header: Header,
    pub(super) next: Option<NonNull<Free>>,
    pub(super) prev: Option<NonNull<Free>>,
}

const _: () = assert!(size_of::<Free>() + HEADER <= MIN_BLOCK);

/// A free block of a page or more. Smaller blocks have no whole page inside.
#[repr(C)]
struct LargeFree {
    free: Free,
    /// Its pages that occupy no memory.
    returned: Pages,
}

/// Returns the whole pages of a block that hold no data of the allocator when the block is free.
///
/// # Safety
/// The block is in a region, and the caller holds the lock of its shard. The next two functions have the same
/// conditions.
pub(super) unsafe fn inside(block: NonNull<Header>) -> Pages {
    let start = block.addr().get();
    // SAFETY: the caller's.
    let end = start + unsafe { block.as_ref().size() };
    Pages::between(start + size_of::<LargeFree>(), end - size_of::<u64>())
}

/// Returns the pages of a free block that were returned to the system.
pub(super) unsafe fn returned_of(free: NonNull<Free>) -> Pages {
    // SAFETY: a free block of a list; its size shows whether it is a large one.
    unsafe {
        if free.as_ref().header.size() < PAGE {
            Pages::NONE
        } else {
            free.cast::<LargeFree>().as_ref().returned
        }
    }
}

/// Records which pages of a block are returned, if the block has a page or more. The block is free or is
/// becoming free.
pub(super) unsafe fn note_returned(block: NonNull<Header>, returned: Pages) {
    // SAFETY: the caller's block, which is becoming free.
    unsafe {
        if block.as_ref().size() >= PAGE {
            (*block.cast::<LargeFree>().as_ptr()).returned = returned;
        }
    }
}
