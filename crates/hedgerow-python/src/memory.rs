//! The package's allocator: large blocks come from the system and return to it.
//!
//! The C library keeps freed large blocks, up to 64 MiB in each of its heaps, and each thread may have its
//! own heap. After a load of a million edges that was more than the graph itself. So a block of [`LARGE`]
//! bytes or more has a mapping of its own: it is unmapped when it is freed, and grows by moving its pages.
//! The C library allocates smaller blocks. This concerns the allocations of the package, not those of NumPy
//! or the interpreter.
//!
//! During a bulk call ([`Keeping`]) freed blocks of this kind are kept and used again. Each transaction of
//! the call gathers arrays of the same sizes, and page faults for new ones cost as much as half of the work.
//! When the last bulk call ends, the kept blocks return to the system.
//!
//! # Invariants
//! * A block has a mapping of its own if and only if its layout says so ([`is_mapped`]). The caller that
//!   frees or resizes it passes the layout of the allocation, so that both agree on its origin.
//! * All such blocks have the same kind of mapping, so that any span of pages of freed ones can be a block,
//!   and be unmapped.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

use hedgerow_core::fork;
use hedgerow_core::spans::{Span, Spans};
use rustix::mm::{Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, munmap};

/// The least size of a block with a mapping of its own, such as the arrays that each thread of a large commit
/// gathers. Pages of tables and chunks of views, which a store has in great number and for long, are smaller:
/// a process may have only 65,530 mappings.
const LARGE: usize = 32 << 10;
/// The least size of a block for which huge pages are requested, as in NumPy. Without them, a page fault for
/// each page of a new array of gigabytes took five times as long as copying its content.
const HUGE: usize = 4 << 20;
/// The least size of a page on any system: stricter alignments are left to the C library.
const PAGE: usize = 4096;

/// The maximal number of bytes that are kept: a transaction of 65,536 vertices with properties gathers 30 MB.
const KEPT: usize = 64 << 20;

static SPANS: Spans = Spans::new(KEPT / PAGE);
/// The number of running bulk calls in this process.
static KEEPING: AtomicUsize = AtomicUsize::new(0);

pub(crate) struct Allocator;

/// A guard of a bulk call. While one exists, freed blocks of [`LARGE`] bytes or more are kept for later
/// allocations.
pub(crate) struct Keeping {
    /// The [`fork::generation`] when the call began; `None` if no blocks are kept.
    generation: Option<u64>,
}

impl Keeping {
    pub(crate) fn begin() -> Keeping {
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        // In a forked child the calls of other threads do not continue.
        fork::on_child(&REGISTERED, || KEEPING.store(0, Ordering::Relaxed));
        // The code divides spans at pages of this size.
        if rustix::param::page_size() != PAGE {
            return Keeping { generation: None };
        }
        KEEPING.fetch_add(1, Ordering::SeqCst);
        Keeping { generation: Some(fork::generation()) }
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        // In a forked child, a guard of the parent is not counted.
        let counts = self.generation == Some(fork::generation());
        if counts && KEEPING.fetch_sub(1, Ordering::SeqCst) == 1 {
            let_go();
        }
    }
}

/// Returns the kept blocks to the system.
fn let_go() {
    // Pairs with the fence of `unmap`: either this thread sees the span that `unmap` kept, or `unmap` sees
    // that no more spans are kept.
    fence(Ordering::SeqCst);
    for span in SPANS.drain() {
        unmap_span(span);
    }
}

/// Returns the pages of a block with a mapping of its own.
fn span_of(block: *mut u8, bytes: usize) -> Span {
    Span { first: block.expose_provenance() / PAGE, pages: bytes.div_ceil(PAGE) }
}

/// Returns unused pages to the system.
fn unmap_span(span: Span) {
    let start = std::ptr::with_exposed_provenance_mut(span.first * PAGE);
    // SAFETY: the pages are of blocks that were each mapped alone and freed, and have no other owner. It can
    // only fail for want of memory for the kernel's own accounts; the pages then stay.
    let _ = unsafe { munmap(start, span.pages * PAGE) };
}

/// Frees a block with a mapping of its own.
fn unmap(block: *mut u8, bytes: usize) {
    let span = span_of(block, bytes);
    if KEEPING.load(Ordering::Relaxed) == 0 {
        return unmap_span(span);
    }
    if let Err(span) = SPANS.put(span) {
        return unmap_span(span);
    }
    fence(Ordering::SeqCst);
    if KEEPING.load(Ordering::SeqCst) == 0 {
        let_go();
    }
}

/// Returns a block of kept pages, with their old content; null if there is none.
fn take(bytes: usize) -> *mut u8 {
    let first = SPANS.take(bytes.div_ceil(PAGE));
    first.map_or(null_mut(), |first| std::ptr::with_exposed_provenance_mut(first * PAGE))
}

/// Makes the C library return its free pages to the system. Other libraries than glibc do so unasked, or
/// never. It takes some milliseconds per 100 MB, so it is for use after much memory was freed for long.
pub(crate) fn give_back() {
    // SAFETY: it may be called at any time, from any thread.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The number of edges of bulk calls after which the heap is trimmed. A commit of many edges has each new
/// version in memory at the same time as the version that it replaces. So pages of the heap contain both, and
/// free memory stays with the process. A trim took 1 to 6 ms, and that many edges 250 ms and more, also for
/// stores of 8,000,000 vertices.
const LOOK_EDGES: usize = 1 << 18;

/// Returns free pages to the system after every [`LOOK_EDGES`] edges that bulk calls report. The caller must
/// not hold the interpreter lock.
pub(crate) fn give_back_after(edges: usize) {
    static EDGES: AtomicUsize = AtomicUsize::new(0);
    if EDGES.fetch_add(edges, Ordering::Relaxed).saturating_add(edges) >= LOOK_EDGES {
        EDGES.store(0, Ordering::Relaxed);
        give_back();
    }
}

/// True if a block of this layout has a mapping of its own.
fn is_mapped(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

/// Returns fresh memory, filled with zeros; null if there is none.
fn map(bytes: usize) -> *mut u8 {
    // SAFETY: no address is asked for, so that the mapping replaces no other.
    let mapped =
        unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
    let Ok(start) = mapped else { return null_mut() };
    ask_for_huge_pages(start.cast(), bytes);
    start.cast()
}

/// Requests huge pages for a mapped block, if it is large; the system may refuse.
fn ask_for_huge_pages(block: *mut u8, bytes: usize) {
    if bytes >= HUGE {
        // SAFETY: the block is a mapping of its own, with this size; the advice changes no content.
        let _ = unsafe { madvise(block.cast(), bytes, Advice::LinuxHugepage) };
    }
}

// SAFETY: a block comes from `System`, or has whole pages: mapped for it, or kept from freed blocks. Such
// pages have at least its size, begin at a page boundary, and belong to no other block. `is_mapped`
// distinguishes the two origins by the layout alone, at every call. Nothing here panics.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            let kept = take(layout.size());
            return if kept.is_null() { map(layout.size()) } else { kept };
        }
        // SAFETY: the caller promises everything that `System` requires.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            // Kept pages are not used: the caller may want zeros, write to few of the pages, and the others
            // then take no memory.
            return map(layout.size());
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            return unmap(block, layout.size());
        }
        // SAFETY: `System` allocated the block, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a size that fits the alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_mapped(layout), is_mapped(wanted)) {
            // SAFETY: `System` allocated the block, and its new size belongs to `System` too.
            (false, false) => return unsafe { System.realloc(block, layout, size) },
            (true, true) => {
                // SAFETY: the block has pages of its own, with this size. If it cannot be moved it stays as
                // it is.
                let moved = unsafe { mremap(block.cast(), layout.size(), size, MremapFlags::MAYMOVE) };
                if let Ok(start) = moved {
                    ask_for_huge_pages(start.cast(), size);
                    return start.cast();
                }
                // The system does not move pages whose bookkeeping differs from their neighbors'.
            }
            _ => {}
        }
        // SAFETY: `wanted` has a size above 0, as the caller promises. The copied bytes are in both blocks,
        // which do not overlap, and the old one is freed with its own layout once its content is copied.
        unsafe {
            let new = self.alloc(wanted);
            if let Some(new) = NonNull::new(new) {
                new.as_ptr().copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}
