//! The arena of a store: where main parts, deltas and columns lie.
//!
//! Memory comes from the system in regions, with huge pages where they are large enough, and is handed out in exactly
//! fitting blocks by a two-level segregated fit (Masmano et al., *TLSF: a new dynamic memory allocator for real-time
//! systems*, ECRTS 2004): constant time, immediate coalescing, little fragmentation. A region without blocks goes back to
//! the system. Whatever is allocated knows its arena, so that an arena outlives its handles as long as a snapshot or a
//! view holds a block.
//!
//! # Invariants
//! * Every block belongs to one region, every region to one shard; the lists and block headers of a shard are touched
//!   only under its lock, except for the words that never change while a block is allocated ([`block`]).
//! * Blocks tile a region without gaps, from its head to an end mark. Behind that nothing was ever touched; when no free
//!   block is large enough, a further piece of a region is opened, and the mark moves.
//! * No two free blocks of a region are neighbours, unless the region is being evacuated.
//! * A free block is in exactly one list, of the class of its size, unless its region is being evacuated.
//! * A forked child frees no block of its parent's arenas: a thread that it does not have may hold the lock of the shard.
//!
//! Under the model checker, and for a handle made by `Arena::default()`, blocks come from the global allocator.
#![allow(unsafe_code)]

mod block;
mod counted;
mod region;
mod shard;

pub(crate) use block::Block;
pub use counted::{Builder, Counted, Plain};

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::Mutex;
use region::Region;
use shard::Shard;

/// Independent parts of an arena. A thread takes the first whose lock is free, so that one writer fills one part.
const SHARDS: usize = 4;
/// Blocks of at least this many bytes are mapped by themselves.
const LARGE: usize = 1 << 20;

/// Below so many bytes in all, regions get their huge pages late: one page more is over 4 % of all.
const LATE: usize = 48 << 20;

/// A handle to an arena; cloning shares it. The default handle has no arena: its blocks come from the global allocator
/// one by one.
#[derive(Clone, Default)]
pub struct Arena {
    owner: Option<Arc<Owner>>,
}

/// Lets go of what an arena keeps in reserve once no handle is left.
struct Owner {
    inner: Arc<Inner>,
}

/// What regions refer to. It lives as long as a handle or a region does.
struct Inner {
    shards: [Padded; SHARDS],
    /// Bytes of all regions, also of those that hold one large block.
    mapped: AtomicUsize,
    large_blocks: AtomicUsize,
    large_bytes: AtomicUsize,
}

/// A shard on cache lines of its own, and the process that made the arena.
#[repr(align(128))]
struct Padded(Mutex<Shard>, OwnerProcess);

/// Where the bytes of an arena are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArenaStats {
    /// Bytes taken from the system.
    pub mapped: usize,
    /// Bytes of the open parts of regions: the rest occupies no memory yet.
    pub touched: usize,
    /// Bytes of allocated blocks, with their headers.
    pub allocated: usize,
    /// Allocated blocks.
    pub blocks: usize,
    /// Regions, with those of large blocks.
    pub regions: usize,
}

impl ArenaStats {
    /// Bytes that occupy memory and hold no block: gaps between blocks, and the heads of regions.
    pub fn free(&self) -> usize {
        self.touched.saturating_sub(self.allocated)
    }
}

impl Arena {
    /// An arena of its own, without any memory yet. Under the model checkers, and with the feature `plain-blocks`
    /// (for tools that watch the global allocator), the same as [`Arena::default`].
    pub fn new() -> Arena {
        if cfg!(any(feature = "model-checking", miri, feature = "plain-blocks")) {
            return Arena::default();
        }
        Arena::managed()
    }

    fn managed() -> Arena {
        let process = OwnerProcess::current();
        let inner = Inner {
            shards: std::array::from_fn(|index| Padded(Mutex::new(Shard::new(index)), process)),
            mapped: AtomicUsize::new(0),
            large_blocks: AtomicUsize::new(0),
            large_bytes: AtomicUsize::new(0),
        };
        Arena { owner: Some(Arc::new(Owner { inner: Arc::new(inner) })) }
    }

    /// A block of at least `bytes` bytes, aligned to 8, with arbitrary content. O(1); now and then a call to the system.
    ///
    /// Aborts when there is no memory.
    #[inline]
    pub(crate) fn block(&self, bytes: usize) -> Block {
        match &self.owner {
            None => Block::plain(bytes),
            Some(owner) if bytes >= LARGE => owner.inner.large(bytes),
            Some(owner) => owner.inner.allocate(bytes),
        }
    }

    /// A list under construction with room for `capacity` elements.
    pub fn builder<T: Plain>(&self, capacity: usize) -> Builder<T> {
        Builder::new(self, capacity)
    }

    /// A copy of `content`.
    pub fn copy<T: Plain>(&self, content: &[T]) -> Counted<T> {
        let mut builder = self.builder(content.len());
        builder.extend(content);
        builder.finish()
    }

    /// Where the bytes are. Takes the lock of each part in turn; O(regions).
    pub fn stats(&self) -> ArenaStats {
        let Some(owner) = &self.owner else { return ArenaStats::default() };
        let inner = &owner.inner;
        let (large, blocks) =
            (inner.large_bytes.load(Ordering::Relaxed), inner.large_blocks.load(Ordering::Relaxed));
        let mut stats =
            ArenaStats { mapped: large, touched: large, allocated: large, blocks, regions: blocks };
        for shard in &inner.shards {
            shard.0.lock().add_to(&mut stats);
        }
        stats
    }

    /// Begins an evacuation: until the guard is dropped, new blocks come from fresh regions, and the old ones go back to
    /// the system as soon as they are empty. What is allocated in order meanwhile lies in order.
    ///
    /// The space that is freed in an old region is not used again before the guard is dropped, so a full evacuation
    /// takes up to twice the memory for its duration.
    pub fn evacuate(&self) -> Evacuation<'_> {
        if let Some(owner) = &self.owner {
            for shard in &owner.inner.shards {
                let spare = shard.0.lock().retire_all();
                release(spare);
            }
        }
        Evacuation { arena: self }
    }

    /// Gives empty regions back that are kept in reserve.
    pub fn trim(&self) {
        if let Some(owner) = &self.owner {
            for shard in &owner.inner.shards {
                let spare = shard.0.lock().take_spare();
                release(spare);
            }
        }
    }

    /// Checks the invariants of all parts. O(blocks).
    #[cfg(test)]
    fn check(&self) {
        if let Some(owner) = &self.owner {
            owner.inner.shards.iter().for_each(|shard| shard.0.lock().check());
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        for shard in &self.inner.shards {
            let spare = shard.0.lock().close();
            release(spare);
        }
    }
}

/// An evacuation under way; see [`Arena::evacuate`].
pub struct Evacuation<'a> {
    arena: &'a Arena,
}

impl Drop for Evacuation<'_> {
    /// Regions that still hold blocks take part in allocation again.
    fn drop(&mut self) {
        if let Some(owner) = &self.arena.owner {
            owner.inner.shards.iter().for_each(|shard| shard.0.lock().reinstate_all());
        }
        self.arena.trim();
    }
}

impl Inner {
    /// The size of the next region: small at first, for small stores; then a share of what there is, so that neither
    /// the unused rest of the newest region nor the number of regions matters. Below 16 MiB a quarter, from 256 MiB on
    /// a 64th, always a power of two.
    fn region_size(&self) -> usize {
        let mapped = self.mapped.load(Ordering::Relaxed);
        let early = (mapped / 4).next_power_of_two().clamp(64 << 10, 2 * region::HUGE);
        let late = (mapped / 64).next_power_of_two().min(64 << 20);
        early.max(late)
    }

    fn allocate(self: &Arc<Self>, bytes: usize) -> Block {
        let free = self.shards.iter().find_map(|shard| shard.0.try_lock());
        let mut shard = free.unwrap_or_else(|| self.shards[0].0.lock());
        loop {
            if let Some(block) = shard.allocate(bytes) {
                return block;
            }
            if shard.extend() {
                continue;
            }
            let size = self.region_size().max((bytes + region::OVERHEAD).next_power_of_two());
            let mapped = self.mapped.fetch_add(size, Ordering::Relaxed);
            let region = Region::map(self.clone(), shard.index(), size, mapped < LATE);
            shard.add(region);
        }
    }

    fn large(self: &Arc<Self>, bytes: usize) -> Block {
        let (block, size) = region::map_large(self.clone(), bytes);
        self.mapped.fetch_add(size, Ordering::Relaxed);
        self.large_bytes.fetch_add(size, Ordering::Relaxed);
        self.large_blocks.fetch_add(1, Ordering::Relaxed);
        block
    }

    fn note_large_gone(&self, size: usize) {
        self.mapped.fetch_sub(size, Ordering::Relaxed);
        self.large_bytes.fetch_sub(size, Ordering::Relaxed);
        self.large_blocks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Hands a region back to the system; not under the lock of its shard, since that takes a while.
fn release(region: Option<NonNull<Region>>) {
    if let Some(region) = region {
        // SAFETY: a region that a shard gives out is in none of its lists, holds no block, and is given out once.
        unsafe { Region::unmap(region) };
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests;
