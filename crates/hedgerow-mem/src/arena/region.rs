//! Regions: memory from the system, aligned for huge pages where it is large.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::block::{Block, HEADER};
use super::{Inner, Padded};

/// The size of a huge page. Where the system's differs, regions are merely aligned better than need be.
pub(super) const HUGE: usize = 2 << 20;
const PAGE: usize = 4096;
/// The most bytes that a region without huge pages is opened by at a time.
const LATE_PIECE: usize = 64 << 10;
/// Bytes of a region before its first block, a multiple of 8.
pub(super) const HEAD: usize = 128;
/// Bytes of a region that no block can use: head, end mark, and the header of one block.
pub(super) const OVERHEAD: usize = HEAD + 2 * HEADER;
/// Bytes before the header of a large block: the arena, and the size of the mapping.
const LARGE_HEAD: usize = 64 - HEADER;

/// The head of a region, at its begin. All but `arena` and `shard`, which never change, is guarded by the lock of the
/// shard.
pub(super) struct Region {
    /// A strong reference.
    arena: *const Inner,
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
    /// Whether the region is being evacuated: its free blocks are in no list.
    pub(super) retired: bool,
    pub(super) next: Option<NonNull<Region>>,
    pub(super) prev: Option<NonNull<Region>>,
}

const _: () = assert!(size_of::<Region>() <= HEAD && HEAD.is_multiple_of(HEADER));

impl Region {
    /// A fresh region of `size` bytes, a multiple of the page size, for the shard at `shard`; no block has a place in it
    /// yet. `late`: a huge page is to occupy memory only once all of it is in use, see [`grow`](Self::grow).
    pub(super) fn map(arena: Arc<Inner>, shard: usize, size: usize, late: bool) -> NonNull<Region> {
        let huge = size >= HUGE;
        let start = map(size, huge && !late).cast::<Region>();
        let region = Region {
            arena: Arc::into_raw(arena),
            size,
            shard,
            blocks: 0,
            open: 0,
            piece: if huge && !late { HUGE } else { (size / 16).clamp(PAGE, LATE_PIECE) },
            late: huge && late,
            retired: false,
            next: None,
            prev: None,
        };
        // SAFETY: the mapping is larger than the head, aligned to a page, and ours alone.
        unsafe { start.write(region) };
        start
    }

    /// Opens the next piece, if one is left. Returns the bytes that are open then.
    ///
    /// Where huge pages come late, this makes one of each that is open as a whole: that takes half a millisecond, and as much
    /// again was lost to the faults of its small pages, so it is for arenas in which a page more or less shows.
    ///
    /// # Safety
    /// The caller holds the lock of the shard.
    pub(super) unsafe fn grow(region: NonNull<Region>) -> Option<usize> {
        let this = region.as_ptr();
        // SAFETY: the caller's. Field by field, since what never changes may be read elsewhere meanwhile.
        let (before, size, piece, late) =
            unsafe { ((*this).open, (*this).size, (*this).piece, (*this).late) };
        if before == size {
            return None;
        }
        let open = (before + piece).min(size);
        // SAFETY: as above.
        unsafe { (*this).open = open };
        if late && before / HUGE < open / HUGE {
            // SAFETY: a huge page inside the mapping.
            make_huge(unsafe { region.cast::<u8>().add(before / HUGE * HUGE) });
        }
        Some(open)
    }

    /// Returns a region to the system.
    ///
    /// # Safety
    /// The region holds no block, is in no list, and is not used any more.
    pub(super) unsafe fn unmap(region: NonNull<Region>) {
        // SAFETY: the caller gives the region up; its head was written by `map`.
        let (arena, size) = unsafe { ((*region.as_ptr()).arena, (*region.as_ptr()).size) };
        // SAFETY: mapped with this size, unmapped once.
        unsafe { unmap(region.cast(), size) };
        // SAFETY: the strong reference that `map` took.
        let arena = unsafe { Arc::from_raw(arena) };
        arena.mapped.fetch_sub(size, Ordering::Relaxed);
    }

    /// The shard that guards the region.
    ///
    /// # Safety
    /// The region exists for as long as the result is used, which keeps the arena alive.
    #[inline]
    pub(super) unsafe fn owner<'a>(region: NonNull<Region>) -> &'a Padded {
        // SAFETY: both fields were written before the first block was given out and never change. They are read without
        // a reference to the whole head, which others may be changing under the lock.
        unsafe { &(*(*region.as_ptr()).arena).shards[(*region.as_ptr()).shard] }
    }
}

/// What stands before the header of a large block.
struct Large {
    arena: *const Inner,
    size: usize,
}

/// A block with a mapping of its own, and the size of that.
pub(super) fn map_large(arena: Arc<Inner>, bytes: usize) -> (Block, usize) {
    let size = (bytes + LARGE_HEAD + HEADER).next_multiple_of(PAGE);
    let start = map(size, size >= HUGE);
    // SAFETY: the mapping is larger than both heads, aligned to a page, and ours alone.
    unsafe {
        start.cast::<Large>().write(Large { arena: Arc::into_raw(arena), size });
        (Block::large_at(start.add(LARGE_HEAD)), size)
    }
}

/// The bytes of the mapping of a large block, whose header is at `header`.
///
/// # Safety
/// The block is a large one, and allocated.
pub(super) unsafe fn large_size(header: NonNull<u8>) -> usize {
    // SAFETY: `map_large` wrote it there.
    unsafe { header.sub(LARGE_HEAD).cast::<Large>().as_ref().size }
}

/// Frees a large block, whose header is at `header`.
///
/// # Safety
/// The block is a large one, and not used any more.
pub(super) unsafe fn unmap_large(header: NonNull<u8>) {
    // SAFETY: `map_large` wrote the head there, took the reference and made the mapping; all three are given up once.
    unsafe {
        let start = header.sub(LARGE_HEAD);
        let Large { arena, size } = start.cast::<Large>().read();
        unmap(start, size);
        Arc::from_raw(arena).note_large_gone(size);
    }
}

/// `size` bytes from the system, aligned to a page, and to a huge one if there is room for it; with `huge`, of huge pages.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
fn map(size: usize, huge: bool) -> NonNull<u8> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

    // Mapped with room to spare, of which what lies outside the alignment is given back.
    let spare = if size >= HUGE { HUGE - PAGE } else { 0 };
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
    let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), size + spare, access, flags) };
    let Some(start) = mapped.ok().and_then(|p| NonNull::new(p.cast::<u8>())) else { no_memory(size) };
    let skip = if spare == 0 { 0 } else { start.as_ptr().align_offset(HUGE) };
    // SAFETY: the three parts lie within the mapping; the first and the last are ours and not used.
    unsafe {
        let aligned = start.add(skip);
        if skip > 0 {
            unmap(start, skip);
        }
        if spare > skip {
            unmap(aligned.add(size), spare - skip);
        }
        if size >= HUGE {
            advise(aligned, size, huge);
        }
        aligned
    }
}

/// Asks for huge pages or for none; a system that has none says no, which changes nothing.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
fn advise(start: NonNull<u8>, size: usize, huge: bool) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::mm::Advice;
        let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
        // SAFETY: the advice changes no content; the range is a mapping of ours.
        let _ = unsafe { rustix::mm::madvise(start.as_ptr().cast(), size, advice) };
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (start, size, huge);
}

/// Makes one huge page of the small ones at `start`. If the system cannot do so at once, it does later or not at all.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
fn make_huge(start: NonNull<u8>) {
    advise(start, HUGE, true);
    #[cfg(target_os = "linux")]
    {
        /// `MADV_COLLAPSE` of Linux 6.1 and later; not every C library has a name for it.
        const COLLAPSE: libc::c_int = 25;
        // SAFETY: the advice changes no content; the page is part of a mapping of ours.
        let _ = unsafe { libc::madvise(start.as_ptr().cast(), HUGE, COLLAPSE) };
    }
}

#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
fn make_huge(_: NonNull<u8>) {}

/// Returns memory to the system.
///
/// # Safety
/// The range was given by [`map`], is not used any more, and is returned once.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's. A refusal (too many mappings) leaves the range mapped and unused.
    let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), size) };
}

#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
fn map(size: usize, _huge: bool) -> NonNull<u8> {
    let Ok(layout) = std::alloc::Layout::from_size_align(size, PAGE) else { no_memory(size) };
    // SAFETY: callers ask for more than the head of a region, hence never for zero bytes.
    NonNull::new(unsafe { std::alloc::alloc(layout) }).unwrap_or_else(|| no_memory(size))
}

/// Returns memory to the allocator.
///
/// # Safety
/// The range was given by [`map`] with this size, is not used any more, and is returned once.
#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's; `map` made the same layout.
    unsafe { std::alloc::dealloc(start.as_ptr(), std::alloc::Layout::from_size_align_unchecked(size, PAGE)) };
}

pub(super) fn no_memory(size: usize) -> ! {
    match std::alloc::Layout::from_size_align(size, 8) {
        Ok(layout) => std::alloc::handle_alloc_error(layout),
        Err(_) => panic!("an allocation of {size} bytes is larger than the address space"),
    }
}
