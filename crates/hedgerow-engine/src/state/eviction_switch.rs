//! A switch of the test build: after each commit it evicts all that files hold unchanged, as if a limit had
//! no room for it. So a suite that was written for a store in memory finds code that takes an evicted item
//! for one that does not exist.
//!
//! The variable `HEDGEROW_EVICT` turns it on for a process; its value is the number of commits between
//! evictions: 1 for each. Only data in a checkpoint can be evicted, so three times of four a checkpoint is
//! written first. The fourth time changes since the last one stay in memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::sync::Mutex;

/// The number of subgraphs that an eviction visits in about the time of a commit: larger tables are visited
/// more rarely.
const SUBGRAPHS_PER_COMMIT: u64 = 64;

/// The state of the switch for a store. It counts commits and not time: a test that runs again meets the same
/// evictions.
#[derive(Default)]
pub(crate) struct EvictionSwitch {
    /// Writes a checkpoint on the calling thread.
    checkpoint: OnceLock<Box<dyn Fn() + Send + Sync>>,
    commits: AtomicU64,
    /// The commit at which the next eviction is due.
    next: AtomicU64,
    /// Held by the evicting thread.
    turn: Mutex<()>,
}

/// Returns the number of commits between evictions, if the switch is on.
fn every() -> Option<u64> {
    static EVERY: OnceLock<Option<u64>> = OnceLock::new();
    let read = || std::env::var("HEDGEROW_EVICT").ok()?.trim().parse().ok().filter(|&every| every > 0);
    *EVERY.get_or_init(read)
}

/// Returns a number in a sequence without a pattern that commits could follow.
fn mixed(n: u64) -> u64 {
    let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ n >> 29
}

impl EvictionSwitch {
    pub(crate) fn writes_checkpoints_by(&self, checkpoint: impl Fn() + Send + Sync + 'static) {
        // Set once, when the store is made.
        let _ = self.checkpoint.set(Box::new(checkpoint));
    }

    /// Counts a commit. If it is time, writes a checkpoint three times of four, and calls `evict`, which
    /// evicts all that it can and returns how many subgraphs there are. Its argument is true if they are to
    /// cool, every other time.
    pub(crate) fn after_commit(&self, evict: impl FnOnce(bool) -> u64) {
        let Some(every) = every() else { return };
        let commit = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if commit < self.next.load(Ordering::Relaxed) {
            return;
        }
        // A thread that comes meanwhile goes on: one eviction counts for all.
        let Some(_turn) = self.turn.try_lock() else { return };
        if !mixed(commit).is_multiple_of(4)
            && let Some(checkpoint) = self.checkpoint.get()
        {
            checkpoint();
        }
        self.next.store(
            commit + every.max(evict(mixed(!commit).is_multiple_of(2)) / SUBGRAPHS_PER_COMMIT),
            Ordering::Relaxed,
        );
    }
}
