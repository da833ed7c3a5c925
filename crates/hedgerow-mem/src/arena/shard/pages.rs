//! Return of pages inside free blocks to the system.

use super::super::free_block::{inside, note_returned, returned_of};
use super::super::header::Header;
use super::super::mapping::PAGE;
use super::super::region::Region;
use super::{Shard, class, region_of};

impl<A> Shard<A> {
    /// Returns the bytes of pages inside free blocks that occupy no memory.
    pub(in super::super) fn returned(&self) -> usize {
        self.returned
    }

    /// Returns whole pages inside free blocks to the system, largest blocks first, until `wanted` more bytes
    /// are returned. O(free blocks of a page or more).
    pub(in super::super) fn return_pages(&mut self, wanted: usize) {
        let enough = self.returned.saturating_add(wanted);
        let Some(heads) = &self.heads else { return };
        let (least, _) = class(PAGE);
        for free in heads[least..].iter().rev().flat_map(|steps| steps.iter().rev()) {
            let mut next = *free;
            while let Some(free) = next.filter(|_| self.returned < enough) {
                // SAFETY: a free block of a list, see the head of the implementation; its inside is not used.
                unsafe {
                    let (block, before) = (free.cast::<Header>(), returned_of(free));
                    let inside = inside(block);
                    if inside != before && inside.bytes() > 0 {
                        Region::keep_small(region_of::<A>(block));
                        let now = inside.give_back(before, free.cast());
                        note_returned(block, now);
                        self.returned += now.bytes() - before.bytes();
                    }
                    next = (*free.as_ptr()).next;
                }
            }
        }
    }
}
