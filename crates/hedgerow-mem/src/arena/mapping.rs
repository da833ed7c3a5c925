//! Memory from the system. Large mappings are aligned for huge pages.

use std::ptr::NonNull;

/// The size of a huge page. If the system's huge pages are smaller, the alignment of regions is larger than
/// necessary.
pub(super) const HUGE: usize = 2 << 20;
pub(super) const PAGE: usize = 4096;

/// Maps `size` bytes, aligned to a page, or to a huge page if `size` is that large. With `huge`, asks the
/// system for huge pages.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
pub(super) fn map(size: usize, huge: bool) -> NonNull<u8> {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

    // Maps more than `size` bytes and returns the ranges before and behind the aligned range.
    let spare = if size >= HUGE { HUGE - PAGE } else { 0 };
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
    let mapped = unsafe { mmap_anonymous(std::ptr::null_mut(), size + spare, access, flags) };
    let Some(start) = mapped.ok().and_then(|p| NonNull::new(p.cast::<u8>())) else { no_memory(size) };
    let skip = if spare == 0 { 0 } else { start.as_ptr().align_offset(HUGE) };
    // SAFETY: the three ranges are within the mapping; the first and the last are ours and not used.
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

/// Asks the system to use huge pages for the range, or to use none. On a system without huge pages the
/// request has no effect.
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

/// Turns the small pages at `start` into one huge page. If the system cannot do so at once, it does so later
/// or not at all.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
pub(super) fn make_huge(start: NonNull<u8>) {
    advise(start, HUGE, true);
    #[cfg(target_os = "linux")]
    {
        /// `MADV_COLLAPSE` of Linux 6.1 and later; not every C library has a name for it.
        const COLLAPSE: libc::c_int = 25;
        // SAFETY: the advice changes no content; the page is part of a mapping of ours.
        let _ = unsafe { libc::madvise(start.as_ptr().cast(), HUGE, COLLAPSE) };
    }
}

/// Returns the memory of whole pages to the system. From then on the pages read as zeros. False if the system
/// refused.
///
/// # Safety
/// The range is inside a mapping made by [`map`], and nothing in it is needed.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(any(miri, feature = "loom"))))]
pub(super) unsafe fn give_back(start: NonNull<u8>, size: usize) -> bool {
    use rustix::mm::Advice;
    // SAFETY: the caller's.
    unsafe { rustix::mm::madvise(start.as_ptr().cast(), size, Advice::LinuxDontNeed) }.is_ok()
}

/// Does nothing and returns false: other systems are not known to take it back at once.
#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(any(miri, feature = "loom")))))]
pub(super) unsafe fn give_back(_: NonNull<u8>, _: usize) -> bool {
    false
}

/// Makes part of a mapping keep small pages. A huge page would occupy again the memory that was returned.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
pub(super) fn make_small(start: NonNull<u8>, size: usize) {
    advise(start, size, false);
}

#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
pub(super) fn make_small(_: NonNull<u8>, _: usize) {}

#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
pub(super) fn make_huge(_: NonNull<u8>) {}

/// Returns memory to the system.
///
/// # Safety
/// The range was given by [`map`], is not used any more, and is returned once.
#[cfg(all(unix, not(any(miri, feature = "loom"))))]
pub(super) unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's. A refusal (too many mappings) leaves the range mapped and unused.
    let _ = unsafe { rustix::mm::munmap(start.as_ptr().cast(), size) };
}

#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
pub(super) fn map(size: usize, _huge: bool) -> NonNull<u8> {
    let Ok(layout) = std::alloc::Layout::from_size_align(size, PAGE) else { no_memory(size) };
    // SAFETY: callers ask for more than the head of a region, hence never for zero bytes.
    NonNull::new(unsafe { std::alloc::alloc(layout) }).unwrap_or_else(|| no_memory(size))
}

/// Returns memory to the allocator.
///
/// # Safety
/// The range was given by [`map`] with this size, is not used any more, and is returned once.
#[cfg(not(all(unix, not(any(miri, feature = "loom")))))]
pub(super) unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's; `map` made the same layout.
    unsafe { std::alloc::dealloc(start.as_ptr(), std::alloc::Layout::from_size_align_unchecked(size, PAGE)) };
}

pub(super) fn no_memory(size: usize) -> ! {
    match std::alloc::Layout::from_size_align(size, 8) {
        Ok(layout) => std::alloc::handle_alloc_error(layout),
        Err(_) => panic!("an allocation of {size} bytes is larger than the address space"),
    }
}
