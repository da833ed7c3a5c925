//! Regions: memory from the system that is divided into blocks without gaps.

use std::ptr::NonNull;
use std::sync::Arc;

use super::header::HEADER;
use super::mapping::{HUGE, PAGE, make_huge, make_small, map, unmap};

/// The largest increment, in bytes, of a region without huge pages.
const LATE_PIECE: usize = 64 << 10;
/// Bytes of a region before its first block, a multiple of 8.
pub(super) const HEAD: usize = 128;
/// Bytes of a region that no block can use: head, end mark, and the header of one block.
pub(super) const OVERHEAD: usize = HEAD + 2 * HEADER;
/// The head of a region, at its beginning. The lock of the shard guards all fields but `arena` and `shard`,
/// which never change. `A` is the part of an arena that its regions refer to.
pub(super) struct Region<A> {
    /// The arena, as a strong reference.
    arena: *const A,
    pub(super) size: usize,
    /// The index of the shard in the arena; never changes.
    shard: usize,
    /// The number of allocated blocks.
    pub(super) blocks: usize,
    /// Bytes from the beginning that blocks fill, the end mark included. The rest was never touched and
    /// occupies no memory.
    pub(super) open: usize,
    /// Bytes by which the region is opened at a time.
    piece: usize,
    /// True if small pages are turned into a huge one only once all of them are open.
    late: bool,
    /// True if the region has small pages for good.
    small: bool,
    /// True while the region is being evacuated: its free blocks are in no list.
    pub(super) retired: bool,
    pub(super) next: Option<NonNull<Region<A>>>,
    pub(super) prev: Option<NonNull<Region<A>>>,
}

const _: () = assert!(size_of::<Region<()>>() <= HEAD && HEAD.is_multiple_of(HEADER));

impl<A> Region<A> {
    /// Maps a region without blocks for the shard with index `shard`; `size` is a multiple of the page size.
    /// With `late`, a huge page occupies memory only once all of it is in use, see [`grow`](Self::grow).
    pub(super) fn map(arena: Arc<A>, shard: usize, size: usize, late: bool) -> NonNull<Region<A>> {
        let huge = size >= HUGE;
        let start = map(size, huge && !late).cast::<Region<A>>();
        let region = Region {
            arena: Arc::into_raw(arena),
            size,
            shard,
            blocks: 0,
            open: 0,
            piece: if huge && !late { HUGE } else { (size / 16).clamp(PAGE, LATE_PIECE) },
            late: huge && late,
            small: !huge,
            retired: false,
            next: None,
            prev: None,
        };
        // SAFETY: the mapping is larger than the head, aligned to a page, and ours alone.
        unsafe { start.write(region) };
        start
    }

    /// Opens the next increment, of at most `most` bytes, if one is left. Returns how many bytes of the
    /// region are open afterwards.
    ///
    /// With late huge pages, this turns small pages into a huge page once all of it is open. That takes half
    /// a millisecond, and the earlier faults of the small pages cost as much. So late pages are for arenas in
    /// which one page more or less matters.
    ///
    /// # Safety
    /// The caller holds the lock of the shard.
    pub(super) unsafe fn grow(region: NonNull<Region<A>>, most: usize) -> Option<usize> {
        let this = region.as_ptr();
        // SAFETY: the caller's. Field by field, because other threads may read the fields that never change
        // meanwhile.
        let (before, size, piece, late) =
            unsafe { ((*this).open, (*this).size, (*this).piece, (*this).late) };
        if before == size {
            return None;
        }
        let open = (before + piece.min(most)).min(size);
        // SAFETY: as above.
        unsafe { (*this).open = open };
        if late && before / HUGE < open / HUGE {
            // SAFETY: a huge page inside the mapping.
            make_huge(unsafe { region.cast::<u8>().add(before / HUGE * HUGE) });
        }
        Some(open)
    }

    /// Makes the region keep small pages from now on.
    ///
    /// # Safety
    /// The caller holds the lock of the shard.
    pub(super) unsafe fn keep_small(region: NonNull<Region<A>>) {
        let this = region.as_ptr();
        // SAFETY: as in `grow`.
        unsafe {
            if !(*this).small {
                ((*this).small, (*this).late) = (true, false);
                make_small(region.cast(), (*this).size);
            }
        }
    }

    /// Returns a region to the system. The result is the reference to its arena, the size, and the bytes that
    /// were open.
    ///
    /// # Safety
    /// The region holds no block, is in no list, and is not used any more.
    pub(super) unsafe fn unmap(region: NonNull<Region<A>>) -> (Arc<A>, usize, usize) {
        // SAFETY: the caller gives the region up; its head was written by `map`.
        let (arena, size, open) =
            unsafe { ((*region.as_ptr()).arena, (*region.as_ptr()).size, (*region.as_ptr()).open) };
        // SAFETY: mapped with this size, unmapped once.
        unsafe { unmap(region.cast(), size) };
        // SAFETY: the strong reference that `map` took.
        (unsafe { Arc::from_raw(arena) }, size, open)
    }

    /// Returns the arena, and the index of the shard that guards the region.
    ///
    /// # Safety
    /// The region exists while the result is used, and the region keeps the arena alive.
    #[inline]
    pub(super) unsafe fn home<'a>(region: NonNull<Region<A>>) -> (&'a A, usize) {
        // SAFETY: both fields were written before the first block was given out and never change. They are
        // read without a reference to the whole head, which other threads may be changing under the lock.
        unsafe { (&*(*region.as_ptr()).arena, (*region.as_ptr()).shard) }
    }
}
