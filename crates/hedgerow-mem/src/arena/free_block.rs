//! What stands in a free block: its links, its size, and which of its pages occupy no memory.

use std::ptr::NonNull;

use super::header::{HEADER, Header, MIN_BLOCK};
use super::mapping::PAGE;
use super::returned::Pages;

/// A free block: header, links, and in its last word its size.
#[repr(C)]
pub(super) struct Free {
    pub(super) header: Header,
    pub(super) next: Option<NonNull<Free>>,
    pub(super) prev: Option<NonNull<Free>>,
}

const _: () = assert!(size_of::<Free>() + HEADER <= MIN_BLOCK);

/// A free block of a page or more: a smaller one has no whole page inside.
#[repr(C)]
struct LargeFree {
    free: Free,
    /// Its pages that occupy no memory.
    returned: Pages,
}

/// The whole pages of a block that have nothing in them that is needed where it is free.
///
/// # Safety
/// The block is one of a region, and the caller holds the lock of its shard; so it is of the next two.
pub(super) unsafe fn inside(block: NonNull<Header>) -> Pages {
    let start = block.addr().get();
    // SAFETY: the caller's.
    let end = start + unsafe { block.as_ref().size() };
    Pages::between(start + size_of::<LargeFree>(), end - size_of::<u64>())
}

/// The pages of a free block that are returned.
pub(super) unsafe fn returned_of(free: NonNull<Free>) -> Pages {
    // SAFETY: a free block of a list; one that is large says it.
    unsafe {
        if free.as_ref().header.size() < PAGE {
            Pages::NONE
        } else {
            free.cast::<LargeFree>().as_ref().returned
        }
    }
}

/// Notes which pages of a block that is free, or is becoming so, are returned; one of less than a page has none.
pub(super) unsafe fn note_returned(block: NonNull<Header>, returned: Pages) {
    // SAFETY: the caller's block, which is becoming free.
    unsafe {
        if block.as_ref().size() >= PAGE {
            (*block.cast::<LargeFree>().as_ptr()).returned = returned;
        }
    }
}
