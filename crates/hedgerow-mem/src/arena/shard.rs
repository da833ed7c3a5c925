//! A shard of an arena: its regions, and its free blocks by size.

#[cfg(test)]
mod check;
mod pages;

use std::ptr::NonNull;

use super::free_block::{Free, inside, note_returned, returned_of};
use super::header::{FREE, HEADER, Header, MIN_BLOCK, PREV_FREE, block_size};
use super::region::{HEAD, Region};
use super::returned::Pages;
use super::stats::ArenaStats;

/// Classes per doubling of the size, as a power of two: a block is at most 1/32 larger than the smallest of
/// its class.
const STEPS_LOG2: usize = 5;
const STEPS: usize = 1 << STEPS_LOG2;
/// Doublings: sizes up to 2^(5 + 23) units of 8 bytes.
const LEVELS: usize = 24;

type Links = [[Option<NonNull<Free>>; STEPS]; LEVELS];

pub(super) struct Shard<A> {
    index: usize,
    /// Bits for the levels that have a free block. `steps` has such bits for the steps of each level.
    levels: u32,
    steps: [u32; LEVELS],
    /// The first free block of each class; absent until there is a region.
    heads: Option<Box<Links>>,
    /// Regions from which blocks are allocated, and regions that are being evacuated.
    regions: Option<NonNull<Region<A>>>,
    retired: Option<NonNull<Region<A>>>,
    /// A region without blocks, kept in reserve: if it is used again, no system call is needed. It is in
    /// `regions`, and its one free block in the lists.
    spare: Option<NonNull<Region<A>>>,
    /// True while the arena has handles. Without handles the shard keeps no region in reserve.
    open: bool,
    allocated: usize,
    blocks: usize,
    /// The bytes of pages inside free blocks that occupy no memory.
    returned: usize,
}

// SAFETY: the pointers lead to memory that belongs to the shard; the thread that holds the shard may use it.
unsafe impl<A> Send for Shard<A> {}

/// Returns the class of a size in bytes.
#[inline]
fn class(size: usize) -> (usize, usize) {
    let units = size / 8;
    if units < STEPS {
        return (0, units);
    }
    let log2 = units.ilog2() as usize;
    (log2 - STEPS_LOG2 + 1, (units >> (log2 - STEPS_LOG2)) - STEPS)
}

/// Returns the first class in which every block has `size` bytes or more.
#[inline]
fn class_above(size: usize) -> (usize, usize) {
    let units = size / 8;
    let slack = if units < STEPS { 0 } else { (1 << (units.ilog2() as usize - STEPS_LOG2)) - 1 };
    class((units + slack) * 8)
}

// The functions below follow pointers into regions that belong to the shard, under its lock. Blocks fill each
// region, so the header behind a block is in bounds, and so is the header before it if its size is known.
impl<A> Shard<A> {
    pub(super) fn new(index: usize) -> Shard<A> {
        Shard {
            index,
            levels: 0,
            steps: [0; LEVELS],
            heads: None,
            regions: None,
            retired: None,
            spare: None,
            open: true,
            allocated: 0,
            blocks: 0,
            returned: 0,
        }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Allocates a block for `bytes` bytes; `None` if no free block is large enough.
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<NonNull<Header>> {
        let size = block_size(bytes);
        let free = self.find(size)?;
        // SAFETY: `find` gives a block that is in its list; see above for the rest.
        unsafe {
            let returned = self.unlink(free);
            let header = free.cast::<Header>();
            self.cut(header, size, returned);
            header.as_ref().set(FREE, false);
            let region = region_of(header);
            let region = region.as_ptr();
            (*region).blocks += 1;
            if self.spare.is_some_and(|spare| spare.as_ptr() == region) {
                self.spare = None;
            }
            self.blocks += 1;
            self.allocated += header.as_ref().size();
            Some(header)
        }
    }

    /// Frees a block. Returns its region if that is empty and must go back to the system.
    ///
    /// # Safety
    /// The header belongs to an allocated block of this shard, which is not used any more.
    pub(super) unsafe fn free(&mut self, header: NonNull<Header>) -> Option<NonNull<Region<A>>> {
        // SAFETY: the caller's, and see above.
        unsafe {
            let region = region_of(header);
            self.blocks -= 1;
            self.allocated -= header.as_ref().size();
            (*region.as_ptr()).blocks -= 1;
            let empty = (*region.as_ptr()).blocks == 0;
            if (*region.as_ptr()).retired {
                header.as_ref().set(FREE, true);
                if empty {
                    remove(&mut self.retired, region);
                }
                return empty.then_some(region);
            }
            let (whole, returned) = self.join(header, Pages::NONE);
            if empty && (!self.open || self.spare.is_some()) {
                remove(&mut self.regions, region);
                return Some(region);
            }
            self.link(whole, returned);
            if empty {
                self.spare = Some(region);
            }
            None
        }
    }

    /// Cuts an allocated block down to the size that is needed for `bytes` bytes.
    ///
    /// # Safety
    /// The header belongs to an allocated block of this shard, which is at least `MIN_BLOCK` larger than that
    /// size.
    pub(super) unsafe fn shrink(&mut self, header: NonNull<Header>, bytes: usize) {
        // SAFETY: the caller's, and see above.
        unsafe {
            let before = header.as_ref().size();
            let region = region_of::<A>(header);
            if (*region.as_ptr()).retired {
                return;
            }
            self.cut(header, block_size(bytes), Pages::NONE);
            self.allocated -= before - header.as_ref().size();
        }
    }

    /// Takes in a fresh region and opens at most `most` bytes of it. Returns the number of open bytes.
    pub(super) fn add(&mut self, region: NonNull<Region<A>>, most: usize) -> usize {
        self.heads.get_or_insert_with(|| Box::new([[None; STEPS]; LEVELS]));
        // SAFETY: the region is fresh, hence ours alone.
        unsafe { insert(&mut self.regions, region) };
        self.open(region, most).unwrap_or(0)
    }

    /// Opens the next increment, of at most `most` bytes, of any region. Returns its bytes. O(regions).
    pub(super) fn extend(&mut self, most: usize) -> Option<usize> {
        let mut next = self.regions;
        while let Some(region) = next {
            if let Some(opened) = self.open(region, most) {
                return Some(opened);
            }
            // SAFETY: a region of the list.
            next = unsafe { (*region.as_ptr()).next };
        }
        None
    }

    /// Opens the next increment of a region of the list. A free block begins at the former end mark, or as
    /// first block of the region, and ends at the new mark. Returns the bytes of the increment.
    fn open(&mut self, region: NonNull<Region<A>>, most: usize) -> Option<usize> {
        // SAFETY: a region of the list, see the head of the implementation; `grow` returns a position inside
        // the mapping, at the first call behind the head and one least block.
        unsafe {
            let before = (*region.as_ptr()).open;
            let open = Region::grow(region, most)?;
            let end: NonNull<Header> = region.cast::<u8>().add(open - HEADER).cast();
            Header::write(end, open - HEADER, 0, 0);
            let from = if before == 0 { HEAD } else { before - HEADER };
            let block = region.cast::<u8>().add(from).cast::<Header>();
            // The former end mark has the flag of the block before it.
            let flags = if before > 0 && block.as_ref().has(PREV_FREE) { PREV_FREE } else { 0 };
            Header::write(block, from, open - HEADER - from, flags);
            let (whole, returned) = self.join(block, Pages::NONE);
            self.link(whole, returned);
            Some(open - before)
        }
    }

    /// Finds the smallest free block that holds `size` bytes, or nearly the smallest. O(1).
    fn find(&self, size: usize) -> Option<NonNull<Free>> {
        let heads = self.heads.as_ref()?;
        // The exact class may have a block large enough by chance.
        let (level, step) = class(size);
        if let Some(free) = heads.get(level)?[step] {
            // SAFETY: a free block of a list.
            if unsafe { free.as_ref().header.size() } >= size {
                return Some(free);
            }
        }
        let (level, step) = class_above(size);
        let rest = self.steps.get(level)? & (u32::MAX << step);
        if rest != 0 {
            return heads[level][rest.trailing_zeros() as usize];
        }
        let above = self.levels & u32::MAX.checked_shl(level as u32 + 1).unwrap_or(0);
        let level = heads.get(above.trailing_zeros() as usize)?;
        level[self.steps[above.trailing_zeros() as usize].trailing_zeros() as usize]
    }

    /// Cuts a block that is in no list down to `size` bytes. If the rest is large enough, makes it a free
    /// block with the `returned` pages that are in it.
    unsafe fn cut(&mut self, header: NonNull<Header>, size: usize, returned: Pages) {
        // SAFETY: see the head of the implementation.
        unsafe {
            let (all, distance) = (header.as_ref().size(), header.as_ref().distance());
            if all < size + MIN_BLOCK {
                behind(header).as_ref().set(PREV_FREE, false);
                return;
            }
            let flags = if header.as_ref().has(PREV_FREE) { PREV_FREE } else { 0 };
            Header::write(header, distance, size, flags);
            let rest = behind(header);
            Header::write(rest, distance + size, all - size, 0);
            let (rest, returned) = self.join(rest, returned);
            self.link(rest, returned);
        }
    }

    /// Joins a block that is becoming free with its free neighbours, which are removed from their lists.
    /// Pages of `returned` that are in the block stay returned. Returns the joined block and its returned
    /// pages.
    unsafe fn join(&mut self, header: NonNull<Header>, mut returned: Pages) -> (NonNull<Header>, Pages) {
        // SAFETY: see the head of the implementation; headers inside the joined block are not read any more.
        unsafe {
            let mut start = header;
            let mut size = header.as_ref().size();
            // Without a memory limit no page is ever returned: freeing a block then computes no page bounds.
            if returned != Pages::NONE {
                returned = returned.within(inside(header));
            }
            let next = behind(header);
            if next.as_ref().has(FREE) {
                size += next.as_ref().size();
                returned = returned.join(self.unlink(next.cast()), header.cast());
            }
            if header.as_ref().has(PREV_FREE) {
                let before = header.cast::<u64>().sub(1).read() as usize;
                start = header.cast::<u8>().sub(before).cast();
                returned = returned.join(self.unlink(start.cast()), header.cast());
                size += before;
            }
            // The block before a free block is never free, so the joined block has no `PREV_FREE` flag.
            let distance = start.as_ref().distance();
            Header::write(start, distance, size, 0);
            (start, returned)
        }
    }

    /// Puts a block into the list of its class and marks it free; `returned` are its returned pages.
    unsafe fn link(&mut self, header: NonNull<Header>, returned: Pages) {
        // SAFETY: see the head of the implementation.
        unsafe {
            header.as_ref().set(FREE, true);
            let next = behind(header);
            next.as_ref().set(PREV_FREE, true);
            next.cast::<u64>().sub(1).write(header.as_ref().size() as u64);
            let (level, step) = class(header.as_ref().size());
            let Some(heads) = &mut self.heads else { return };
            note_returned(header, returned);
            self.returned += returned.bytes();
            let free = header.cast::<Free>();
            let first = &mut heads[level][step];
            (*free.as_ptr()).prev = None;
            (*free.as_ptr()).next = *first;
            if let Some(first) = *first {
                (*first.as_ptr()).prev = Some(free);
            }
            *first = Some(free);
            self.levels |= 1 << level;
            self.steps[level] |= 1 << step;
        }
    }

    /// Removes a free block from its list without changing its flags. Returns its returned pages.
    unsafe fn unlink(&mut self, free: NonNull<Free>) -> Pages {
        // SAFETY: see the head of the implementation.
        unsafe {
            let returned = returned_of(free);
            self.returned -= returned.bytes();
            self.leave_list(free);
            returned
        }
    }

    unsafe fn leave_list(&mut self, free: NonNull<Free>) {
        // SAFETY: see the head of the implementation.
        unsafe {
            let (next, prev) = ((*free.as_ptr()).next, (*free.as_ptr()).prev);
            if let Some(next) = next {
                (*next.as_ptr()).prev = prev;
            }
            if let Some(prev) = prev {
                (*prev.as_ptr()).next = next;
                return;
            }
            let (level, step) = class(free.as_ref().header.size());
            let Some(heads) = &mut self.heads else { return };
            heads[level][step] = next;
            if next.is_none() {
                self.steps[level] &= !(1 << step);
                if self.steps[level] == 0 {
                    self.levels &= !(1 << level);
                }
            }
        }
    }

    /// Takes all regions out of use, to be evacuated. The caller has already taken the region in reserve.
    pub(super) fn retire_all(&mut self) {
        // The lists are dropped, so their returned pages are not counted: later writes make these pages
        // occupy memory again.
        self.returned = 0;
        (self.levels, self.steps) = (0, [0; LEVELS]);
        if let Some(heads) = &mut self.heads {
            **heads = [[None; STEPS]; LEVELS];
        }
        while let Some(region) = self.regions {
            // SAFETY: a region of the list.
            unsafe {
                remove(&mut self.regions, region);
                (*region.as_ptr()).retired = true;
                insert(&mut self.retired, region);
            }
        }
    }

    /// Puts the regions that still hold blocks into use again.
    pub(super) fn reinstate_all(&mut self) {
        while let Some(region) = self.retired {
            // SAFETY: a region of the list. Free blocks of a retired region may be neighbours and are in no
            // list. The loop joins neighbours and puts each joined block into its list, so that the
            // invariants are true again behind it.
            unsafe {
                remove(&mut self.retired, region);
                (*region.as_ptr()).retired = false;
                insert(&mut self.regions, region);
                let mut at = region.cast::<u8>().add(HEAD).cast::<Header>();
                while at.as_ref().size() != 0 {
                    if !at.as_ref().has(FREE) {
                        at.as_ref().set(PREV_FREE, false);
                        at = behind(at);
                        continue;
                    }
                    let (mut end, mut size) = (behind(at), at.as_ref().size());
                    while end.as_ref().has(FREE) {
                        size += end.as_ref().size();
                        end = behind(end);
                    }
                    Header::write(at, at.as_ref().distance(), size, 0);
                    self.link(at, Pages::NONE);
                    // The branch above does not clear the `PREV_FREE` flag of the block behind a free one:
                    // here the loop goes past that block.
                    if end.as_ref().size() == 0 {
                        break;
                    }
                    at = behind(end);
                }
            }
        }
    }

    /// Takes the region that is kept in reserve out of the lists and returns it.
    pub(super) fn take_spare(&mut self) -> Option<NonNull<Region<A>>> {
        let region = self.spare.take()?;
        // SAFETY: the region has one block, which is free and in its list.
        unsafe {
            self.unlink(region.cast::<u8>().add(HEAD).cast());
            remove(&mut self.regions, region);
        }
        Some(region)
    }

    /// Stops keeping a region in reserve, when no handle is left. Returns the region in reserve.
    pub(super) fn close(&mut self) -> Option<NonNull<Region<A>>> {
        self.open = false;
        self.take_spare()
    }

    pub(super) fn add_to(&self, stats: &mut ArenaStats) {
        stats.returned += self.returned;
        stats.allocated += self.allocated;
        stats.blocks += self.blocks;
        for list in [self.regions, self.retired] {
            let mut next = list;
            while let Some(region) = next {
                // SAFETY: a region of the list, under the lock.
                unsafe {
                    stats.regions += 1;
                    stats.mapped += (*region.as_ptr()).size;
                    stats.touched += (*region.as_ptr()).open;
                    next = (*region.as_ptr()).next;
                }
            }
        }
        stats.touched -= self.returned;
    }
}

/// Returns the header behind a block: the next block's, or the end mark.
unsafe fn behind(header: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: blocks tile their region.
    unsafe { header.cast::<u8>().add(header.as_ref().size()).cast() }
}

/// Returns the region of a block.
unsafe fn region_of<A>(header: NonNull<Header>) -> NonNull<Region<A>> {
    // SAFETY: the head of the region is `distance` bytes before the block.
    unsafe { header.cast::<u8>().sub(header.as_ref().distance()).cast() }
}

unsafe fn insert<A>(list: &mut Option<NonNull<Region<A>>>, region: NonNull<Region<A>>) {
    // SAFETY: both are regions of the shard, whose lock is held.
    unsafe {
        (*region.as_ptr()).prev = None;
        (*region.as_ptr()).next = *list;
        if let Some(first) = *list {
            (*first.as_ptr()).prev = Some(region);
        }
    }
    *list = Some(region);
}

unsafe fn remove<A>(list: &mut Option<NonNull<Region<A>>>, region: NonNull<Region<A>>) {
    // SAFETY: the region is in the list, whose shard's lock is held.
    unsafe {
        let (next, prev) = ((*region.as_ptr()).next, (*region.as_ptr()).prev);
        if let Some(next) = next {
            (*next.as_ptr()).prev = prev;
        }
        match prev {
            Some(prev) => (*prev.as_ptr()).next = next,
            None => *list = next,
        }
    }
}
