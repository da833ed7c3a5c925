//! The arena of a store: the memory for main parts, deltas and columns.
//!
//! Memory comes from the system in regions, with huge pages if they are large enough. The arena allocates
//! exactly fitting blocks by a two-level segregated fit, with constant time, immediate coalescing and little
//! fragmentation (Masmano et al., *TLSF: a new dynamic memory allocator for real-time systems*, ECRTS 2004).
//! A region without blocks goes back to the system. Every block refers to its arena. So an arena exists while
//! a snapshot or a view has a block, also without handles.
//!
//! # Invariants
//! * Every block belongs to one region, every region to one shard; the lists and block headers of a shard are
//!   touched only under its lock, except for the words that never change while a block is allocated
//!   ([`header`]).
//! * Blocks fill a region without gaps, from its head to an end mark. Memory behind the mark was never
//!   touched. When no free block is large enough, the next increment of a region is opened, and the
//!   mark moves.
//! * No two free blocks of a region are neighbours, unless the region is being evacuated.
//! * Pages inside free blocks may occupy no memory; then the account is not charged for them. Each free block
//!   records such pages of its own ([`returned`]).
//! * A free block is in exactly one list, of the class of its size, unless its region is being evacuated.
//! * A forked child frees no block of its parent's arenas: a thread that exists only in the parent may have
//!   held the lock of the shard.
//!
//! Under the model checker, and for a handle made by `Arena::default()`, blocks are allocated by the global
//! allocator.
#![allow(unsafe_code)]

mod block;
mod counted;
mod free_block;
mod header;
mod inner;
mod large;
mod mapping;
mod region;
mod returned;
mod shard;
mod stats;

pub(crate) use block::Block;
pub use counted::{Builder, Counted, Plain};
pub use stats::ArenaStats;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::account::{Account, Purpose};

use inner::{Inner, LATE, LATE_IF_FILLED_AT_ONCE, release};
use large::map_large;

use crate::patch_sizes::PatchSizes;

/// Least size of a block that gets a mapping of its own.
const LARGE: usize = 1 << 20;

/// A handle to an arena; cloning shares the arena. The default handle has no arena: its blocks come from the
/// global allocator.
#[derive(Clone, Default)]
pub struct Arena {
    owner: Option<Arc<Owner>>,
    patch_sizes: PatchSizes,
    account: Arc<Account>,
}

/// The owner of an arena for its handles: when the last handle is dropped, the arena returns the empty
/// regions that it keeps in reserve.
struct Owner {
    inner: Arc<Inner>,
}

impl Arena {
    /// Makes an arena without memory, with an account of its own.
    ///
    /// Under the model checkers, and with the feature `plain-blocks` (for tools that watch the global
    /// allocator), it is the same as [`Arena::default`].
    pub fn new() -> Arena {
        Arena::charging(Arc::default())
    }

    /// Like [`new`](Self::new), but charges the memory that it takes to `account`.
    pub fn charging(account: Arc<Account>) -> Arena {
        Arena::managed(LATE, account, Purpose::Arena)
    }

    /// Like [`charging`](Self::charging), but for the lists of a view. A view writes its lists at once. So
    /// from 4 MiB on the arena takes huge pages before they are written.
    pub fn of_view(account: Arc<Account>) -> Arena {
        Arena::managed(LATE_IF_FILLED_AT_ONCE, account, Purpose::Views)
    }

    fn managed(late: usize, account: Arc<Account>, purpose: Purpose) -> Arena {
        let plain = Arena { account, ..Arena::default() };
        if cfg!(any(feature = "model-checking", miri, feature = "plain-blocks")) {
            return plain;
        }
        let inner = Inner::new(late, plain.account.clone(), purpose);
        Arena { owner: Some(Arc::new(Owner { inner: Arc::new(inner) })), ..plain }
    }

    /// Returns the account that pays for the memory of the arena. Blocks of the global allocator are not
    /// charged.
    #[inline]
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Returns a handle for which merges make patches from other sizes on.
    #[must_use]
    pub fn with_patch_sizes(self, patch_sizes: PatchSizes) -> Arena {
        Arena { patch_sizes, ..self }
    }

    /// Returns the sizes from which on merges that allocate from this handle make patches.
    #[inline]
    pub fn patch_sizes(&self) -> PatchSizes {
        self.patch_sizes
    }

    /// Allocates a block of at least `bytes` bytes, aligned to 8, with arbitrary content. O(1); some calls
    /// ask the system for memory.
    ///
    /// Aborts when there is no memory.
    #[inline]
    pub(crate) fn block(&self, bytes: usize) -> Block {
        match &self.owner {
            None => Block::plain(bytes),
            // SAFETY: `map_large` returns the place where the header is to be.
            Some(owner) if bytes >= LARGE => unsafe { Block::large_at(map_large(&owner.inner, bytes)) },
            Some(owner) => Block::behind(owner.inner.allocate(bytes)),
        }
    }

    /// Returns the statistics: bytes by use. Takes the lock of each shard in turn; O(regions).
    pub fn stats(&self) -> ArenaStats {
        let Some(owner) = &self.owner else { return ArenaStats::default() };
        let inner = &owner.inner;
        let (large, blocks) =
            (inner.large_bytes.load(Ordering::Relaxed), inner.large_blocks.load(Ordering::Relaxed));
        let mut stats = ArenaStats {
            mapped: large,
            touched: large,
            allocated: large,
            blocks,
            regions: blocks,
            ..Default::default()
        };
        for shard in &inner.shards {
            shard.0.lock().add_to(&mut stats);
        }
        stats
    }

    /// Begins an evacuation. Until the guard is dropped, new blocks come from fresh regions, and the old ones
    /// go back to the system as soon as they are empty. Blocks that are allocated in some order meanwhile are
    /// in memory in the same order.
    ///
    /// Space that is freed in an old region is not used again before the guard is dropped. So a full
    /// evacuation takes up to twice the memory while it lasts.
    pub fn evacuate(&self) -> Evacuation<'_> {
        if let Some(owner) = &self.owner {
            for shard in &owner.inner.shards {
                let mut shard = shard.0.lock();
                let returned = shard.returned();
                let spare = shard.take_spare();
                let rest = shard.returned();
                shard.retire_all();
                owner.inner.note_returned(rest, 0);
                drop(shard);
                release(spare, returned - rest);
            }
        }
        Evacuation { arena: self }
    }

    /// Returns to the system the empty regions that the arena keeps in reserve.
    pub fn trim(&self) {
        if let Some(owner) = &self.owner {
            for shard in &owner.inner.shards {
                let mut shard = shard.0.lock();
                let returned = shard.returned();
                let spare = shard.take_spare();
                let returned = returned - shard.returned();
                drop(shard);
                release(spare, returned);
            }
        }
    }

    /// Returns about `wanted` bytes to the system: whole pages inside free blocks, so that a few allocated
    /// blocks do not keep all memory of their regions. Later allocations that use the pages charge them
    /// again.
    ///
    /// O(free blocks of a page or more), and a call to the system for each block that has such pages.
    pub fn return_pages(&self, mut wanted: usize) {
        let Some(owner) = &self.owner else { return };
        for shard in &owner.inner.shards {
            let mut shard = shard.0.lock();
            let before = shard.returned();
            shard.return_pages(wanted);
            let now = shard.returned();
            // Under the lock: so no allocating thread takes one of the pages before it is discharged.
            owner.inner.note_returned(before, now);
            wanted = wanted.saturating_sub(now - before);
            if wanted == 0 {
                return;
            }
        }
    }

    /// Checks the invariants of all shards. O(blocks).
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
            let mut shard = shard.0.lock();
            let returned = shard.returned();
            let spare = shard.close();
            let returned = returned - shard.returned();
            drop(shard);
            release(spare, returned);
        }
    }
}

/// An evacuation under way; see [`Arena::evacuate`].
pub struct Evacuation<'a> {
    arena: &'a Arena,
}

impl Drop for Evacuation<'_> {
    /// Puts regions that still hold blocks into use again, and returns empty ones to the system.
    fn drop(&mut self) {
        if let Some(owner) = &self.arena.owner {
            owner.inner.shards.iter().for_each(|shard| shard.0.lock().reinstate_all());
        }
        self.arena.trim();
    }
}

// Not with the global allocator: these tests check how regions are filled and given back.
#[cfg(all(test, not(any(feature = "loom", feature = "plain-blocks"))))]
mod tests;
