//! Pages of the system inside free blocks that were given back to it: a block keeps its region, but not what lies between blocks.
//!
//! A free block of a page or more says which of its pages occupy no memory: a run of whole pages, behind its links and before its last word,
//! which stay. What is allocated from it takes of these pages what it needs, and what is left of the block keeps the rest. Where two such
//! blocks become one, so do their runs, and what is between them is given back too.

use std::ptr::NonNull;

use super::mapping::{PAGE, give_back};

/// Whole pages, from an address up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    from: usize,
    to: usize,
}

impl Pages {
    pub(super) const NONE: Pages = Pages { from: 0, to: 0 };

    /// Those that lie between two addresses as a whole.
    pub(super) fn between(from: usize, to: usize) -> Pages {
        let (from, to) = (from.next_multiple_of(PAGE), to / PAGE * PAGE);
        if from < to { Pages { from, to } } else { Pages::NONE }
    }

    pub(super) fn bytes(self) -> usize {
        self.to - self.from
    }

    /// Those of them that are in `other` too.
    pub(super) fn within(self, other: Pages) -> Pages {
        Pages::between(self.from.max(other.from), self.to.min(other.to))
    }

    /// Gives these back, of which `before` were; returns those that are given back now.
    ///
    /// # Safety
    /// They lie in a region, and nothing is in them that is needed. `start` is an address in that region.
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

    /// The runs of two blocks that become one, the first behind the second or before it; gives back what lies between.
    ///
    /// # Safety
    /// As of [`give_back`](Self::give_back), of all from the begin of the first run to the end of the last one.
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

/// An address in the mapping that a pointer leads into.
trait WithAddress {
    fn with_addr_of(self, address: usize) -> NonNull<u8>;
}

impl WithAddress for NonNull<u8> {
    fn with_addr_of(self, address: usize) -> NonNull<u8> {
        self.map_addr(|before| std::num::NonZero::new(address).unwrap_or(before))
    }
}
