//! Unlinked versions that wait until walks end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::sync::Mutex;

use super::chain::{Unlinked, Version};
use super::read_guard::Ongoing;
use super::{barrier, read_guard};

/// Number of independent shards. A thread takes the first shard whose lock is free.
const SHARDS: usize = 4;
/// The most versions that a shard holds before it frees them; below, the most bytes. The barrier costs
/// microseconds. But memory that is freed late has left the caches when it is used again.
const MOST: usize = if cfg!(feature = "model-checking") { 1 } else { 128 };
const MOST_BYTES: usize = 2 << 20;

/// The unlinked versions of a store that wait for walks to end. Dropping it frees them.
///
/// If no walk is in progress, at most 128 versions and about 2 MiB wait in each shard.
#[derive(Default)]
pub struct RetireList {
    shards: [Padded; SHARDS],
    /// The account to which the versions were charged.
    account: Arc<Account>,
    #[cfg(feature = "model-checking")]
    buried: Mutex<Vec<Arc<Version>>>,
}

/// A shard on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Padded(Mutex<Shard>);

#[derive(Default)]
struct Shard {
    /// Versions after which no barrier has run yet.
    fresh: Vec<Unlinked>,
    fresh_bytes: usize,
    /// Versions after which a barrier has run, oldest batch first. If a batch waits for a walk, all later
    /// batches wait too.
    waiting: VecDeque<Batch>,
}

/// Versions that were unlinked before a barrier, and the walks that were in progress after it.
struct Batch {
    versions: Vec<Unlinked>,
    walks: Vec<Ongoing>,
}

/// The number and the bytes of the versions that wait in a retire list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetireStats {
    /// The number of versions.
    pub versions: usize,
    /// Their bytes, themselves included.
    pub bytes: usize,
    /// The bytes of arena blocks that are included in `bytes`.
    pub block_bytes: usize,
}

impl RetireList {
    /// Makes an empty list. Its versions were charged to `account`.
    pub(super) fn new(account: Arc<Account>) -> RetireList {
        let mut list = RetireList::default();
        list.account = account;
        list
    }

    /// Takes a version that was unlinked. O(1); once per batch it runs a barrier and frees the batch.
    pub(crate) fn take(&self, version: Unlinked) {
        let free = self.shards.iter().find_map(|shard| shard.0.try_lock());
        let mut shard = free.unwrap_or_else(|| self.shards[0].0.lock());
        shard.fresh_bytes += version.version().bytes();
        shard.fresh.push(version);
        if shard.fresh.len() >= MOST || shard.fresh_bytes >= MOST_BYTES {
            let ended = shard.advance();
            drop(shard);
            self.free(ended);
        }
    }

    /// Frees all versions that no current walk may be reading. Takes some microseconds, and O(versions
    /// waiting).
    pub fn drain(&self) {
        for shard in &self.shards {
            let ended = shard.0.lock().advance();
            self.free(ended);
        }
    }

    /// Returns the number and the bytes of the waiting versions. O(versions waiting).
    pub fn stats(&self) -> RetireStats {
        let mut stats = RetireStats::default();
        for shard in &self.shards {
            let shard = shard.0.lock();
            let batches = shard.waiting.iter().flat_map(|batch| &batch.versions);
            for version in shard.fresh.iter().chain(batches).map(Unlinked::version) {
                stats.versions += 1;
                stats.bytes += version.bytes();
                stats.block_bytes += version.block_bytes();
            }
        }
        stats
    }

    fn free(&self, batches: Vec<Batch>) {
        let mut charged = 0;
        for version in batches.into_iter().flat_map(|batch| batch.versions) {
            charged += version.version().charged.load(Ordering::Relaxed);
            // SAFETY: a barrier ran after the batch was unlinked, and the walks that were in progress after
            // it have ended.
            self.let_go(unsafe { version.free() });
        }
        if charged > 0 {
            self.account.discharge(Purpose::Versions, charged);
        }
    }

    #[cfg(not(feature = "model-checking"))]
    fn let_go(&self, version: Arc<Version>) {
        drop(version);
    }

    /// Notes the end of a version, for the model checkers. Its memory stays until the model is done, so that
    /// the checker finds a walk that still reads it.
    #[cfg(feature = "model-checking")]
    fn let_go(&self, version: Arc<Version>) {
        let mut next = Some(version);
        while let Some(version) = next {
            if Arc::strong_count(&version) > 1 {
                return;
            }
            version.life.end();
            next = version.prev.cut();
            self.buried.lock().push(version);
        }
    }
}

impl Drop for RetireList {
    fn drop(&mut self) {
        for shard in &self.shards {
            let mut shard = shard.0.lock();
            let fresh = Batch { versions: std::mem::take(&mut shard.fresh), walks: Vec::new() };
            let waiting = std::mem::take(&mut shard.waiting).into_iter();
            // All subgraphs are gone, and with them all walks over their chains.
            let all = waiting.chain(Some(fresh)).collect();
            drop(shard);
            self.free(all);
        }
    }
}

impl Shard {
    /// Runs a barrier and makes a batch of the fresh versions. Removes and returns the batches that no walk
    /// can be reading any more.
    fn advance(&mut self) -> Vec<Batch> {
        if !self.fresh.is_empty() && barrier::heavy() {
            let versions = std::mem::take(&mut self.fresh);
            self.fresh_bytes = 0;
            self.waiting.push_back(Batch { versions, walks: read_guard::ongoing() });
        }
        let is_over = |batch: &Batch| {
            faults::is_on(PlantedFault::WalkNotWaitedFor) || batch.walks.iter().all(Ongoing::has_ended)
        };
        let over = self.waiting.iter().take_while(|batch| is_over(batch)).count();
        self.waiting.drain(..over).collect()
    }
}
