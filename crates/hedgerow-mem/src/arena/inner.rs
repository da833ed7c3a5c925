//! The state of an arena that its handles, regions and large blocks share: its shards, and the sums over
//! them.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::fork::OwnerProcess;
use hedgerow_core::sync::Mutex;

use super::header::Header;
use super::mapping::{HUGE, PAGE};
use super::region::{OVERHEAD, Region};
use super::shard::Shard;

/// Number of shards of an arena. A thread takes the first shard whose lock is free, so that a single writer
/// fills one shard.
const SHARDS: usize = 4;

/// Limit in bytes of all regions. Below it a new region gets huge pages late, because one huge page would be
/// over 4 % of all memory.
pub(super) const LATE: usize = 48 << 20;
/// The same limit for an arena that is filled at once. It is lower: turning small pages into a huge one would
/// take longer than writing them.
pub(super) const LATE_IF_FILLED_AT_ONCE: usize = 4 << 20;

/// The shared part of an arena. It lives while a handle or a region exists.
pub(super) struct Inner {
    pub(super) shards: [Padded; SHARDS],
    /// Bytes of all regions, with the mappings of large blocks.
    pub(super) mapped: AtomicUsize,
    pub(super) large_blocks: AtomicUsize,
    pub(super) large_bytes: AtomicUsize,
    /// Limit in bytes of all regions below which regions get huge pages late.
    late: usize,
    /// The account that pays for open parts of regions and for large blocks.
    account: Arc<Account>,
    purpose: Purpose,
}

/// The divisor of the room under the memory limit: opening an increment takes at most this share of the room.
const OPENED_SHARE: usize = 32;

/// A shard on cache lines of its own, with the process that made the arena.
#[repr(align(128))]
pub(super) struct Padded(pub(super) Mutex<Shard<Inner>>, pub(super) OwnerProcess);

impl Inner {
    /// Makes an arena of this process that has no memory yet.
    pub(super) fn new(late: usize, account: Arc<Account>, purpose: Purpose) -> Inner {
        let process = OwnerProcess::current();
        Inner {
            shards: std::array::from_fn(|index| Padded(Mutex::new(Shard::new(index)), process)),
            mapped: AtomicUsize::new(0),
            large_blocks: AtomicUsize::new(0),
            large_bytes: AtomicUsize::new(0),
            late,
            account,
            purpose,
        }
    }

    /// Returns the size of the next region, a power of two. Regions are small at first, for small stores.
    /// Below 16 MiB a region is a quarter of the mapped bytes, from 256 MiB on a 64th. So the unused rest of
    /// the newest region stays small, and regions stay few.
    fn region_size(&self) -> usize {
        let mapped = self.mapped.load(Ordering::Relaxed);
        let early = (mapped / 4).next_power_of_two().clamp(64 << 10, 2 * HUGE);
        let late = (mapped / 64).next_power_of_two().min(64 << 20);
        early.max(late)
    }

    /// Returns the most bytes by which a region is opened at a time. Near the memory limit that is few bytes,
    /// so that the arena charges hardly more than it needs. A block that needs more gets several increments.
    fn most_opened(&self) -> usize {
        let room = usize::try_from(self.account.room()).unwrap_or(usize::MAX);
        (room / OPENED_SHARE).next_multiple_of(PAGE).max(PAGE)
    }

    /// Allocates a block for `bytes` bytes in a region.
    pub(super) fn allocate(self: &Arc<Self>, bytes: usize) -> NonNull<Header> {
        let free = self.shards.iter().find_map(|shard| shard.0.try_lock());
        let mut shard = free.unwrap_or_else(|| self.shards[0].0.lock());
        loop {
            let returned = shard.returned();
            if let Some(block) = shard.allocate(bytes) {
                self.note_returned(returned, shard.returned());
                return block;
            }
            if let Some(opened) = shard.extend(self.most_opened()) {
                self.account.charge(self.purpose, opened);
                continue;
            }
            let size = self.region_size().max((bytes + OVERHEAD).next_power_of_two());
            let mapped = self.mapped.fetch_add(size, Ordering::Relaxed);
            let region = Region::map(self.clone(), shard.index(), size, mapped < self.late);
            self.account.charge(self.purpose, shard.add(region, self.most_opened()));
        }
    }

    /// Charges pages inside free blocks that allocations take again, or discharges pages that were given
    /// back.
    #[inline]
    pub(super) fn note_returned(&self, before: usize, now: usize) {
        if now < before {
            self.account.charge(self.purpose, before - now);
        } else if now > before {
            self.account.discharge(self.purpose, now - before);
        }
    }

    /// Counts a large block, whose mapping has `size` bytes.
    pub(super) fn note_large(&self, size: usize) {
        self.account.charge(self.purpose, size);
        self.mapped.fetch_add(size, Ordering::Relaxed);
        self.large_bytes.fetch_add(size, Ordering::Relaxed);
        self.large_blocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a large block from the counts; its mapping had `size` bytes.
    pub(super) fn note_large_gone(&self, size: usize) {
        self.account.discharge(self.purpose, size);
        self.mapped.fetch_sub(size, Ordering::Relaxed);
        self.large_bytes.fetch_sub(size, Ordering::Relaxed);
        self.large_blocks.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the arena of a region, and the shard that guards it.
///
/// # Safety
/// The region exists while the result is used, and the region keeps the arena alive.
#[inline]
pub(super) unsafe fn home_of<'a>(region: NonNull<Region<Inner>>) -> (&'a Inner, &'a Padded) {
    // SAFETY: the caller's.
    let (arena, shard) = unsafe { Region::home(region) };
    (arena, &arena.shards[shard])
}

/// Returns a region to the system; `returned` bytes of it occupied no memory. This takes a while, so the
/// caller does not hold the lock of the shard.
pub(super) fn release(region: Option<NonNull<Region<Inner>>>, returned: usize) {
    if let Some(region) = region {
        // SAFETY: a region that a shard gives out is in no list, holds no block, and is given out once.
        let (arena, size, open) = unsafe { Region::unmap(region) };
        arena.account.discharge(arena.purpose, open - returned);
        arena.mapped.fetch_sub(size, Ordering::Relaxed);
    }
}
