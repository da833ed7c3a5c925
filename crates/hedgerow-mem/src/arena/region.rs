//! Regions: memory from the system that blocks tile.

use std::ptr::NonNull;
use std::sync::Arc;

use super::header::HEADER;
use super::mapping::{HUGE, PAGE, make_huge, make_small, map, unmap};

/// The most bytes that a region without huge pages is opened by at a time.
const LATE_PIECE: usize = 64 << 10;
/// Bytes of a region before its first block, a multiple of 8.
pub(super) const HEAD: usize = 128;
/// Bytes of a region that no block can use: head, end mark, and the header of one block.
pub(super) const OVERHEAD: usize = HEAD + 2 * HEADER;
/// The head of a region, at its begin. All but `arena` and `shard`, which never change, is guarded by the lock of the
/// shard. `A` is what regions keep of their arena.
pub(super) struct Region<A> {
    /// A strong reference.
    arena: *const A,
    pub(super) size: usize,
    /// The place of the shard in the arena; never changes.
    shard: usize,
    /// Allocated blocks.
    pub(super) blocks: usize,
    /// Bytes from the begin that blocks tile, the end mark included. The rest was never touched and occupies no memory.
    pub(super) open: usize,
    /// By how many bytes it is opened further at a time.
    piece: usize,
    /// Whether pages become huge ones only once they are open as a whole.
    late: bool,
    /// Whether it has small pages for good.
    small: bool,
    /// Whether the region is being evacuated: its free blocks are in no list.
    pub(super) retired: bool,
    pub(super) next: Option<NonNull<Region<A>>>,
    pub(super) prev: Option<NonNull<Region<A>>>,
}

const _: () = assert!(size_of::<Region<()>>() <= HEAD && HEAD.is_multiple_of(HEADER));

impl<A> Region<A> {
    /// A fresh region of `size` bytes, a multiple of the page size, for the shard at `shard`; no block has a place in it
    /// yet. `late`: a huge page is to occupy memory only once all of it is in use, see [`grow`](Self::grow).
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

    /// Opens the next piece, of `most` bytes at most, if one is left. Returns the bytes that are open then.
    ///
    /// Where huge pages come late, this makes one of each that is open as a whole: that takes half a millisecond, and as much
    /// again was lost to the faults of its small pages, so it is for arenas in which a page more or less shows.
    ///
    /// # Safety
    /// The caller holds the lock of the shard.
    pub(super) unsafe fn grow(region: NonNull<Region<A>>, most: usize) -> Option<usize> {
        let this = region.as_ptr();
        // SAFETY: the caller's. Field by field, since what never changes may be read elsewhere meanwhile.
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

    /// Sees to it that the region has no huge pages any more.
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

    /// Returns a region to the system; gives back the reference to its arena, the size, and the bytes that were open.
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

    /// The arena, and the place of the shard that guards the region.
    ///
    /// # Safety
    /// The region exists for as long as the result is used, which keeps the arena alive.
    #[inline]
    pub(super) unsafe fn home<'a>(region: NonNull<Region<A>>) -> (&'a A, usize) {
        // SAFETY: both fields were written before the first block was given out and never change. They are read without
        // a reference to the whole head, which others may be changing under the lock.
        unsafe { (&*(*region.as_ptr()).arena, (*region.as_ptr()).shard) }
    }
}
