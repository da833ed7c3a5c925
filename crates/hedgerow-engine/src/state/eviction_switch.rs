//! A switch of the test build: after each commit all that files hold as it is leaves memory, as if a limit had no room for it. So a suite
//! that was written for a store in memory says whether anything takes what is not there for what does not exist.
//!
//! The variable `HEDGEROW_EVICT` turns it on for a process, and says after how many commits: 1 for each. Only what a checkpoint holds can
//! go, so three times of four a checkpoint is written first; the fourth time what changed since the last one stays, beside what goes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::sync::Mutex;

/// Looking through a table of so many subgraphs takes about as long as a commit: larger tables are looked through more rarely.
const SUBGRAPHS_PER_COMMIT: u64 = 64;

/// What the switch knows of a store. Counted by commits and not by time: a test that is run again meets the same evictions.
#[derive(Default)]
pub(crate) struct EvictionSwitch {
    /// Writes a checkpoint on the calling thread.
    checkpoint: OnceLock<Box<dyn Fn() + Send + Sync>>,
    commits: AtomicU64,
    /// After which commit it is time again.
    next: AtomicU64,
    /// Held by who evicts.
    turn: Mutex<()>,
}

/// After how many commits, if the switch is on.
fn every() -> Option<u64> {
    static EVERY: OnceLock<Option<u64>> = OnceLock::new();
    let read = || std::env::var("HEDGEROW_EVICT").ok()?.trim().parse().ok().filter(|&every| every > 0);
    *EVERY.get_or_init(read)
}

/// Numbers without a pattern that commits could follow.
fn mixed(n: u64) -> u64 {
    let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ n >> 29
}

impl EvictionSwitch {
    pub(crate) fn writes_checkpoints_by(&self, checkpoint: impl Fn() + Send + Sync + 'static) {
        // Set once, when the store is made.
        let _ = self.checkpoint.set(Box::new(checkpoint));
    }

    /// Counts a commit, and if it is time, writes a checkpoint three times of four, and has `evict` take out of memory all that it can, which
    /// says of how many subgraphs there are.
    pub(crate) fn after_commit(&self, evict: impl FnOnce() -> u64) {
        let Some(every) = every() else { return };
        let commit = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if commit < self.next.load(Ordering::Relaxed) {
            return;
        }
        // Whoever comes meanwhile goes on: what one takes out of memory is gone for all.
        let Some(_turn) = self.turn.try_lock() else { return };
        if !mixed(commit).is_multiple_of(4)
            && let Some(checkpoint) = self.checkpoint.get()
        {
            checkpoint();
        }
        self.next.store(commit + every.max(evict() / SUBGRAPHS_PER_COMMIT), Ordering::Relaxed);
    }
}
