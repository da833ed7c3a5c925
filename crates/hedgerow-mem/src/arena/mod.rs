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
//!   only under its lock, except for the words that never change while a block is allocated ([`header`]).
//! * Blocks tile a region without gaps, from its head to an end mark. Behind that nothing was ever touched; when no free
//!   block is large enough, a further piece of a region is opened, and the mark moves.
//! * No two free blocks of a region are neighbours, unless the region is being evacuated.
//! * Pages inside free blocks may occupy no memory and are not charged then; each free block knows which of its own ([`returned`]).
//! * A free block is in exactly one list, of the class of its size, unless its region is being evacuated.
//! * A forked child frees no block of its parent's arenas: a thread that it does not have may hold the lock of the shard.
//!
//! Under the model checker, and for a handle made by `Arena::default()`, blocks come from the global allocator.
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

/// Blocks of at least this many bytes are mapped by themselves.
const LARGE: usize = 1 << 20;

/// A handle to an arena; cloning shares it. The default handle has no arena: its blocks come from the global allocator
/// one by one.
#[derive(Clone, Default)]
pub struct Arena {
    owner: Option<Arc<Owner>>,
    patch_sizes: PatchSizes,
    account: Arc<Account>,
}

/// Lets go of what an arena keeps in reserve once no handle is left.
struct Owner {
    inner: Arc<Inner>,
}

impl Arena {
    /// An arena of its own, without any memory yet, and with an account of its own. Under the model checkers, and with the feature
    /// `plain-blocks` (for tools that watch the global allocator), the same as [`Arena::default`].
    pub fn new() -> Arena {
        Arena::charging(Arc::default())
    }

    /// As [`new`](Self::new), charging what it takes to `account`.
    pub fn charging(account: Arc<Account>) -> Arena {
        Arena::managed(LATE, account, Purpose::Arena)
    }

    /// As [`charging`](Self::charging), for the lists of a view, which are made at once rather than bit by bit: from 4 MiB on it takes
    /// huge pages before they are written.
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

    /// What the memory of the arena is charged to. Blocks of the global allocator are charged by nobody.
    #[inline]
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// A handle with which merges make patches from other sizes on.
    #[must_use]
    pub fn with_patch_sizes(self, patch_sizes: PatchSizes) -> Arena {
        Arena { patch_sizes, ..self }
    }

    /// From which sizes on merges that allocate here make patches.
    #[inline]
    pub fn patch_sizes(&self) -> PatchSizes {
        self.patch_sizes
    }

    /// A block of at least `bytes` bytes, aligned to 8, with arbitrary content. O(1); now and then a call to the system.
    ///
    /// Aborts when there is no memory.
    #[inline]
    pub(crate) fn block(&self, bytes: usize) -> Block {
        match &self.owner {
            None => Block::plain(bytes),
            // SAFETY: the header is to stand where this says.
            Some(owner) if bytes >= LARGE => unsafe { Block::large_at(map_large(&owner.inner, bytes)) },
            Some(owner) => Block::behind(owner.inner.allocate(bytes)),
        }
    }

    /// Where the bytes are. Takes the lock of each part in turn; O(regions).
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

    /// Begins an evacuation: until the guard is dropped, new blocks come from fresh regions, and the old ones go back to
    /// the system as soon as they are empty. What is allocated in order meanwhile lies in order.
    ///
    /// The space that is freed in an old region is not used again before the guard is dropped, so a full evacuation
    /// takes up to twice the memory for its duration.
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

    /// Gives empty regions back that are kept in reserve.
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

    /// Gives whole pages of the system inside free blocks back, of about `wanted` bytes, so that what a few blocks keep of their regions is
    /// little. What is allocated there later charges them again. O(free blocks of a page or more), and a call to the system for each that
    /// has pages to give.
    pub fn return_pages(&self, mut wanted: usize) {
        let Some(owner) = &self.owner else { return };
        for shard in &owner.inner.shards {
            let mut shard = shard.0.lock();
            let before = shard.returned();
            shard.return_pages(wanted);
            let now = shard.returned();
            // Under the lock: who allocates takes pages whose memory was taken off.
            owner.inner.note_returned(before, now);
            wanted = wanted.saturating_sub(now - before);
            if wanted == 0 {
                return;
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
    /// Regions that still hold blocks take part in allocation again.
    fn drop(&mut self) {
        if let Some(owner) = &self.arena.owner {
            owner.inner.shards.iter().for_each(|shard| shard.0.lock().reinstate_all());
        }
        self.arena.trim();
    }
}

// Not where blocks are those of the global allocator: what is tested is how regions are filled and given back.
#[cfg(all(test, not(any(feature = "loom", feature = "plain-blocks"))))]
mod tests;
