//! Regions: memory from the system, aligned for huge pages where it is large.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::sync::Mutex;

use super::Inner;
use super::block::{Block, HEADER};
use super::shard::Shard;

/// The size of a huge page. Where the system's differs, regions are merely aligned better than need be.
pub(super) const HUGE: usize = 2 << 20;
const PAGE: usize = 4096;
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
    /// Bytes from the begin up to the end of the furthest block there ever was.
    pub(super) touched: usize,
    /// Whether the region is being evacuated: its free blocks are in no list.
    pub(super) retired: bool,
    pub(super) next: Option<NonNull<Region>>,
    pub(super) prev: Option<NonNull<Region>>,
}

const _: () = assert!(size_of::<Region>() <= HEAD && HEAD.is_multiple_of(HEADER));

impl Region {
    /// A fresh region of `size` bytes, a multiple of the page size, for the shard at `shard`.
    pub(super) fn map(arena: Arc<Inner>, shard: usize, size: usize) -> NonNull<Region> {
        let start = map(size).cast::<Region>();
        let region = Region {
            arena: Arc::into_raw(arena),
            size,
            shard,
            blocks: 0,
            touched: HEAD,
            retired: false,
            next: None,
            prev: None,
        };
        // SAFETY: the mapping is larger than the head, aligned to a page, and ours alone.
        unsafe { start.write(region) };
        start
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
    pub(super) unsafe fn owner<'a>(region: NonNull<Region>) -> &'a Mutex<Shard> {
        // SAFETY: both fields were written before the first block was given out and never change. They are read without
        // a reference to the whole head, which others may be changing under the lock.
        unsafe { &(*(*region.as_ptr()).arena).shards[(*region.as_ptr()).shard].0 }
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
    let start = map(size);
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

/// `size` bytes from the system, aligned to a page, and to a huge one if there is room for it.
#[cfg(all(unix, not(any(miri, loom))))]
fn map(size: usize) -> NonNull<u8> {
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
        advise_huge(aligned, size);
        aligned
    }
}

/// Asks for huge pages; a system that has none says no, which changes nothing.
#[cfg(all(unix, not(any(miri, loom))))]
fn advise_huge(start: NonNull<u8>, size: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if size >= HUGE {
        // SAFETY: the advice changes no content; the range is a mapping of ours.
        let _ =
            unsafe { rustix::mm::madvise(start.as_ptr().cast(), size, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (start, size);
}

/// Returns memory to the system.
///
/// # Safety
/// The range was given by [`map`], is not used any more, and is returned once.
#[cfg(all(unix, not(any(miri, loom))))]
unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's. A refusal (too many mappings) leaves the range mapped and unused.
    let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), size) };
}

#[cfg(not(all(unix, not(any(miri, loom)))))]
fn map(size: usize) -> NonNull<u8> {
    let Ok(layout) = std::alloc::Layout::from_size_align(size, PAGE) else { no_memory(size) };
    // SAFETY: callers ask for more than the head of a region, hence never for zero bytes.
    NonNull::new(unsafe { std::alloc::alloc(layout) }).unwrap_or_else(|| no_memory(size))
}

/// Returns memory to the allocator.
///
/// # Safety
/// The range was given by [`map`] with this size, is not used any more, and is returned once.
#[cfg(not(all(unix, not(any(miri, loom)))))]
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
