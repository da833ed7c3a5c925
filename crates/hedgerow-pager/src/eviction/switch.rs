//! A switch of the test build: after each commit it evicts everything that files hold unchanged, as if a
//! limit left no room. So a test suite written for a store in memory finds code that treats an evicted item
//! as absent. About every second commit that needs chains out of memory, and can use inboxes, writes to them.
//!
//! The variable `HEDGEROW_EVICT` turns it on for a process. Its value is the number of commits between
//! evictions; 1 evicts after each commit. Only data in a checkpoint can be evicted, so three times out of
//! four a checkpoint is written first. The fourth time recent changes stay in memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_core::sync::Mutex;

/// The number of subgraphs that an eviction visits in about the time of a commit: larger tables are visited
/// less often.
const SUBGRAPHS_PER_COMMIT: u64 = 64;

/// The state of the switch for a store. It counts commits and not time: a repeated test gets the same
/// evictions.
#[derive(Default)]
pub struct EvictionSwitch {
    /// Writes a checkpoint on the calling thread.
    checkpoint: OnceLock<Box<dyn Fn() + Send + Sync>>,
    commits: AtomicU64,
    /// The number of commits that found chains out of memory.
    asked: AtomicU64,
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

/// Returns a number of a sequence whose pattern no sequence of commits matches.
fn mixed(n: u64) -> u64 {
    let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ n >> 29
}

impl EvictionSwitch {
    /// Sets the function that writes a checkpoint on the calling thread.
    pub fn writes_checkpoints_by(&self, checkpoint: impl Fn() + Send + Sync + 'static) {
        // Set once, when the store is made.
        let _ = self.checkpoint.set(Box::new(checkpoint));
    }

    /// True if the next commit that needs chains out of memory writes to their inboxes: with the switch on,
    /// every other one.
    pub fn writes_outside(&self) -> bool {
        every().is_some() && mixed(self.asked.fetch_add(1, Ordering::Relaxed)).is_multiple_of(2)
    }

    /// Counts a commit. If an eviction is due, writes a checkpoint three times out of four, and then calls
    /// `evict`. That evicts all that it can and returns the number of subgraphs. Its argument is true every
    /// other time: then the subgraphs become cooling.
    pub fn after_commit(&self, evict: impl FnOnce(bool) -> u64) {
        let Some(every) = every() else { return };
        let commit = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        if commit < self.next.load(Ordering::Relaxed) {
            return;
        }
        // If another thread evicts now, this one returns: one eviction suffices for both.
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
