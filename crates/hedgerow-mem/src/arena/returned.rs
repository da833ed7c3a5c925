//! Memory pages inside free blocks that were returned to the system. So an allocated block keeps its region,
//! but not the free memory around it.
//!
//! A free block of a page or more records which of its pages occupy no memory: one range of whole pages
//! between the links and the last word. The links and the last word keep their memory. An allocation takes
//! from that range the pages that it needs, and the rest of the block keeps the others. When two such blocks
//! are joined, their ranges are joined, and the pages between them are returned.

use std::ptr::NonNull;

use super::mapping::{PAGE, give_back};

/// Whole memory pages, as a range of addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    from: usize,
    to: usize,
}

impl Pages {
    pub(super) const NONE: Pages = Pages { from: 0, to: 0 };

    /// Returns the whole pages between two addresses.
    pub(super) fn between(from: usize, to: usize) -> Pages {
        let (from, to) = (from.next_multiple_of(PAGE), to / PAGE * PAGE);
        if from < to { Pages { from, to } } else { Pages::NONE }
    }

    pub(super) fn bytes(self) -> usize {
        self.to - self.from
    }

    /// Returns the pages that are also in `other`.
    pub(super) fn within(self, other: Pages) -> Pages {
        Pages::between(self.from.max(other.from), self.to.min(other.to))
    }

    /// Returns these pages to the system, except `before`, which are returned already. The result is the
    /// range of pages that are returned afterwards.
    ///
    /// # Safety
    /// The pages are in a region, and their content is not needed. `start` is an address in that region.
    pub(super) unsafe fn give_back(self, before: Pages, start: NonNull<u8>) -> Pages {
        if before.bytes() == 0 {
            // SAFETY: the caller's.
            return if unsafe { give_back(start.with_addr_of(self.from), self.bytes()) } {
                self
            } else {
                before
            };
        }
        let mut now = before;
        // SAFETY: parts of these pages.
        unsafe {
            if self.from < now.from && give_back(start.with_addr_of(self.from), now.from - self.from) {
                now.from = self.from;
            }
            if now.to < self.to && give_back(start.with_addr_of(now.to), self.to - now.to) {
                now.to = self.to;
            }
        }
        now
    }

    /// Joins the ranges of two free blocks that become one, in either order. Returns the pages between them
    /// to the system.
    ///
    /// # Safety
    /// Like [`give_back`](Self::give_back), for all pages from the beginning of the first range to the end of
    /// the last one.
    pub(super) unsafe fn join(self, other: Pages, start: NonNull<u8>) -> Pages {
        if self.bytes() == 0 {
            return other;
        }
        if other.bytes() == 0 {
            return self;
        }
        let all = Pages { from: self.from.min(other.from), to: self.to.max(other.to) };
        let (first, last) = if self.from < other.from { (self, other) } else { (other, self) };
        // SAFETY: the caller's.
        if first.to == last.from || unsafe { give_back(start.with_addr_of(first.to), last.from - first.to) } {
            all
        } else if first.bytes() > last.bytes() {
            first
        } else {
            last
        }
    }
}

/// A pointer with another address in the mapping that it leads into.
trait WithAddress {
    fn with_addr_of(self, address: usize) -> NonNull<u8>;
}

impl WithAddress for NonNull<u8> {
    fn with_addr_of(self, address: usize) -> NonNull<u8> {
        self.map_addr(|before| std::num::NonZero::new(address).unwrap_or(before))
    }
}
