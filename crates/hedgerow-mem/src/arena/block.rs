//! A block of memory, and the header before it.
//!
//! A header is eight bytes. The first word holds size and state and is changed under the lock of the shard, also by what
//! happens to the neighbours of the block; the second says where the block belongs and never changes while it is
//! allocated, so that it can be read without the lock.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use super::region::{self, Region};
use super::{Padded, release, shard};

/// The bytes of a header, and the granularity of sizes and addresses.
pub(super) const HEADER: usize = 8;
/// The least size of a block in bytes, header included: a free one holds two links and its size.
pub(super) const MIN_BLOCK: usize = 32;

/// The block is free.
pub(super) const FREE: u32 = 1;
/// The block before it in the region is free, and its size stands in the last word before this header.
pub(super) const PREV_FREE: u32 = 2;

/// Second word of a block with a mapping of its own.
const LARGE: u32 = 1 << 30;
/// Second word of a block from the global allocator.
const PLAIN: u32 = 2 << 30;
const KIND: u32 = 3 << 30;

/// The header of a block.
#[repr(C)]
pub(super) struct Header {
    /// Bytes divided by 2 (a multiple of 4), header included, plus [`FREE`] and [`PREV_FREE`].
    state: AtomicU32,
    /// Distance to the head of the region, in units of 8 bytes; or one of the other kinds.
    place: u32,
}

impl Header {
    /// Writes the header of a block of `size` bytes, `distance` bytes into its region.
    ///
    /// # Safety
    /// `at` is inside a region, and the caller holds the lock of its shard.
    pub(super) unsafe fn write(at: NonNull<Header>, distance: usize, size: usize, flags: u32) {
        let header =
            Header { state: AtomicU32::new((size / 2) as u32 | flags), place: (distance / HEADER) as u32 };
        // SAFETY: the caller's.
        unsafe { at.write(header) };
    }

    /// Bytes, header included.
    pub(super) fn size(&self) -> usize {
        (self.state.load(Ordering::Relaxed) & !3) as usize * 2
    }

    pub(super) fn has(&self, flag: u32) -> bool {
        self.state.load(Ordering::Relaxed) & flag != 0
    }

    /// Sets or clears a flag. Under the lock of the shard, so load and store need not be one step.
    pub(super) fn set(&self, flag: u32, on: bool) {
        let state = self.state.load(Ordering::Relaxed);
        self.state.store(if on { state | flag } else { state & !flag }, Ordering::Relaxed);
    }

    /// Bytes from the begin of the region.
    pub(super) fn distance(&self) -> usize {
        self.place as usize * HEADER
    }
}

/// An allocated block, aligned to 8. Dropping it frees it.
pub(crate) struct Block {
    /// The first byte after the header.
    start: NonNull<u8>,
}

// SAFETY: a block is memory that belongs to its owner alone; freeing it takes the lock of its shard.
unsafe impl Send for Block {}
// SAFETY: a shared block only gives its address and size away.
unsafe impl Sync for Block {}

/// What stands before the header of a plain block: its bytes, for the layout.
const PLAIN_HEAD: usize = 8;

impl Block {
    /// A block from the global allocator.
    pub(super) fn plain(bytes: usize) -> Block {
        let layout = plain_layout(bytes);
        // SAFETY: the layout has a size above zero.
        let Some(start) = NonNull::new(unsafe { std::alloc::alloc(layout) }) else {
            std::alloc::handle_alloc_error(layout)
        };
        // SAFETY: the allocation holds both heads and is aligned for them.
        unsafe {
            start.cast::<usize>().write(bytes);
            let header = start.add(PLAIN_HEAD);
            header.cast::<Header>().write(Header { state: AtomicU32::new(0), place: PLAIN });
            Block { start: header.add(HEADER) }
        }
    }

    /// Makes a large block with its header at `header`.
    ///
    /// # Safety
    /// The header stands in a mapping made for it, [`region::map_large`].
    pub(super) unsafe fn large_at(header: NonNull<u8>) -> Block {
        // SAFETY: the caller's.
        unsafe {
            header.cast::<Header>().write(Header { state: AtomicU32::new(0), place: LARGE });
            Block { start: header.add(HEADER) }
        }
    }

    /// The block behind the header of an allocated block of a region.
    pub(super) fn behind(header: NonNull<Header>) -> Block {
        // SAFETY: the block has at least `MIN_BLOCK` bytes.
        Block { start: unsafe { header.cast::<u8>().add(HEADER) } }
    }

    /// The first byte.
    #[inline]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Gives the block up without freeing it; [`from_start`](Self::from_start) takes it back.
    #[inline]
    pub(super) fn into_start(self) -> NonNull<u8> {
        std::mem::ManuallyDrop::new(self).start
    }

    /// The block that [`into_start`](Self::into_start) gave up.
    ///
    /// # Safety
    /// Each block is taken back at most once.
    #[inline]
    pub(super) unsafe fn from_start(start: NonNull<u8>) -> Block {
        Block { start }
    }

    #[inline]
    fn header(&self) -> NonNull<Header> {
        // SAFETY: every block has a header right before it.
        unsafe { self.start.sub(HEADER).cast() }
    }

    #[inline]
    fn place(&self) -> u32 {
        // SAFETY: the word does not change while the block is allocated.
        unsafe { (*self.header().as_ptr()).place }
    }

    /// The bytes that the block occupies, headers included.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: the block is allocated, so its heads are as they were written.
        unsafe {
            match self.place() & KIND {
                LARGE => region::large_size(self.header().cast()),
                PLAIN => {
                    self.header().cast::<u8>().sub(PLAIN_HEAD).cast::<usize>().read() + PLAIN_HEAD + HEADER
                }
                _ => self.header().as_ref().size(),
            }
        }
    }

    fn region(&self) -> NonNull<Region> {
        // SAFETY: a block of a region stands so far behind its head.
        unsafe { self.header().cast::<u8>().sub(self.place() as usize * HEADER).cast() }
    }

    /// Gives the end of the block back, if that is worth it; the first `bytes` bytes stay where they are.
    pub(super) fn shrink(&mut self, bytes: usize) {
        if self.place() & KIND == 0 && shard::block_size(bytes) + MIN_BLOCK <= self.bytes() {
            // SAFETY: the region lives at least as long as the block.
            let shard = unsafe { Region::owner(self.region()) };
            // SAFETY: the block is allocated in a region of this shard, and has bytes to spare.
            unsafe { shard.0.lock().shrink(self.header(), bytes) };
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block is given up here, once, to whom its header names. Its region exists until the lock is
        // released: from then on another thread may free the last block, and unlocking touches nothing after the
        // store that lets that thread in.
        unsafe {
            match self.place() & KIND {
                LARGE => region::unmap_large(self.header().cast()),
                PLAIN => {
                    let start = self.header().cast::<u8>().sub(PLAIN_HEAD);
                    let bytes = start.cast::<usize>().read();
                    std::alloc::dealloc(start.as_ptr(), plain_layout(bytes));
                }
                _ => {
                    let Padded(shard, process) = Region::owner(self.region());
                    if process.is_current() {
                        let empty = shard.lock().free(self.header());
                        release(empty);
                    }
                }
            }
        }
    }
}

fn plain_layout(bytes: usize) -> Layout {
    let layout =
        bytes.checked_add(PLAIN_HEAD + HEADER).and_then(|size| Layout::from_size_align(size, 8).ok());
    layout.unwrap_or_else(|| region::no_memory(bytes))
}
