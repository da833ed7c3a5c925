//! A block of memory: allocated, given up, and recovered from the address of its first byte.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use super::header::{HEADER, Header, MIN_BLOCK, block_size};
use super::inner::{Inner, Padded, home_of, release};
use super::large::{large_size, unmap_large};
use super::mapping::no_memory;
use super::region::Region;

/// The second header word of a block that has its own mapping.
const LARGE: u32 = 1 << 30;
/// The second header word of a block from the global allocator.
const PLAIN: u32 = 2 << 30;
const KIND: u32 = 3 << 30;

/// An allocated block, aligned to 8. Dropping it frees it.
pub(crate) struct Block {
    /// The first byte after the header.
    start: NonNull<u8>,
}

// SAFETY: a block is memory that belongs to its owner alone; freeing it takes the lock of its shard.
unsafe impl Send for Block {}
// SAFETY: a shared block shows only its address and size.
unsafe impl Sync for Block {}

/// The bytes before the header of a plain block. They hold its size, from which the layout for freeing is
/// made.
const PLAIN_HEAD: usize = 8;

impl Block {
    /// Returns a block from the global allocator.
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

    /// Makes a large block whose header is at `header`.
    ///
    /// # Safety
    /// The header is in a mapping that [`map_large`](super::large::map_large) made for it.
    pub(super) unsafe fn large_at(header: NonNull<Header>) -> Block {
        // SAFETY: the caller's.
        unsafe {
            header.write(Header { state: AtomicU32::new(0), place: LARGE });
            Block { start: header.cast::<u8>().add(HEADER) }
        }
    }

    /// Returns the block whose header is at `header`, in a region.
    pub(super) fn behind(header: NonNull<Header>) -> Block {
        // SAFETY: the block has at least `MIN_BLOCK` bytes.
        Block { start: unsafe { header.cast::<u8>().add(HEADER) } }
    }

    /// Returns the first byte.
    #[inline]
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the first byte and gives up ownership without freeing. [`from_start`](Self::from_start) takes
    /// the block back.
    #[inline]
    pub(super) fn into_start(self) -> NonNull<u8> {
        std::mem::ManuallyDrop::new(self).start
    }

    /// Takes back a block that [`into_start`](Self::into_start) gave up.
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

    /// Returns the bytes that the block occupies, headers included.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: the block is allocated, so its heads are as they were written.
        unsafe {
            match self.place() & KIND {
                LARGE => large_size(self.header().cast()),
                PLAIN => {
                    self.header().cast::<u8>().sub(PLAIN_HEAD).cast::<usize>().read() + PLAIN_HEAD + HEADER
                }
                _ => self.header().as_ref().size(),
            }
        }
    }

    fn region(&self) -> NonNull<Region<Inner>> {
        // SAFETY: a block of a region is `place` units of 8 bytes behind the head of the region.
        unsafe { self.header().cast::<u8>().sub(self.place() as usize * HEADER).cast() }
    }

    /// Frees the tail of the block, if the tail is large enough for a separate block. The first `bytes` bytes
    /// stay where they are.
    pub(super) fn shrink(&mut self, bytes: usize) {
        if self.place() & KIND == 0 && block_size(bytes) + MIN_BLOCK <= self.bytes() {
            // SAFETY: the region exists while the block does.
            let (arena, shard) = unsafe { home_of(self.region()) };
            let mut shard = shard.0.lock();
            let returned = shard.returned();
            // SAFETY: the block is allocated in a region of this shard, and has bytes to spare.
            unsafe { shard.shrink(self.header(), bytes) };
            arena.note_returned(returned, shard.returned());
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block is given up here, once, to the owner that its header names. Its region exists
        // until the lock is released. From then on another thread may free the last block, and unlocking
        // touches nothing after the store that lets that thread in.
        unsafe {
            match self.place() & KIND {
                LARGE => unmap_large(self.header().cast()),
                PLAIN => {
                    let start = self.header().cast::<u8>().sub(PLAIN_HEAD);
                    let bytes = start.cast::<usize>().read();
                    std::alloc::dealloc(start.as_ptr(), plain_layout(bytes));
                }
                _ => {
                    let (arena, Padded(shard, process)) = home_of(self.region());
                    if process.is_current() {
                        let mut shard = shard.lock();
                        let returned = shard.returned();
                        let empty = shard.free(self.header());
                        let now = shard.returned();
                        if empty.is_none() {
                            // The arena exists until the lock is released.
                            arena.note_returned(returned, now);
                        }
                        drop(shard);
                        release(empty, returned.saturating_sub(now));
                    }
                }
            }
        }
    }
}

fn plain_layout(bytes: usize) -> Layout {
    let layout =
        bytes.checked_add(PLAIN_HEAD + HEADER).and_then(|size| Layout::from_size_align(size, 8).ok());
    layout.unwrap_or_else(|| no_memory(bytes))
}
