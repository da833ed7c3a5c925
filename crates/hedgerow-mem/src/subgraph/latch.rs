//! The latch of a subgraph: how commits take it, and how threads that change no content do.

use hedgerow_core::sync::{MutexGuard, Ordering, fence, yield_now};

use super::{Subgraph, Writer};
use crate::reclaim::Merged;

/// How often a latch that is held is looked at before the lock is waited for: some ten microseconds. A committer that sleeps with other
/// latches held makes all others wait that need those. With five times fewer looks four writers inserted a third fewer edges in transactions
/// of 16, with twice as many sixteen writers on two processors inserted 8 % fewer single edges.
const LATCH_SPINS: u32 = 1000;

impl Subgraph {
    /// Takes the latch for a commit, waiting for another holder.
    #[inline]
    pub fn latch(&self) -> Latched<'_> {
        self.latch_for_upkeep().for_commit()
    }

    /// Takes the latch, waiting for another holder. The thread that takes it applies no operation, and waits neither for a
    /// commit nor for another latch while it holds it: [`try_latch_past_upkeep`](Self::try_latch_past_upkeep) waits for it.
    #[inline]
    pub fn latch_for_upkeep(&self) -> Latched<'_> {
        // Under the model checkers one way to wait is enough.
        let free = if cfg!(feature = "model-checking") { None } else { self.writer.try_lock() };
        self.latched(free.unwrap_or_else(|| self.wait_for_latch()))
    }

    /// Waits a little without yielding: most holders need well under a microsecond, and the lock itself gives the processor
    /// away sooner, which two writers on one hub then do for almost every edge.
    #[cold]
    fn wait_for_latch(&self) -> MutexGuard<'_, Writer> {
        #[cfg(not(feature = "model-checking"))]
        for _ in 0..LATCH_SPINS {
            std::hint::spin_loop();
            if !self.writer.is_locked()
                && let Some(writer) = self.writer.try_lock()
            {
                return writer;
            }
        }
        self.writer.lock()
    }

    /// Takes the latch for a commit if no thread holds it.
    #[inline]
    pub fn try_latch(&self) -> Option<Latched<'_>> {
        Some(self.try_latch_for_upkeep()?.for_commit())
    }

    /// Takes the latch if no thread holds it, under the condition of [`latch_for_upkeep`](Self::latch_for_upkeep).
    #[inline]
    pub fn try_latch_for_upkeep(&self) -> Option<Latched<'_>> {
        Some(self.latched(self.writer.try_lock()?))
    }

    /// Takes the latch, waiting for upkeep and for no commit; `None` where a commit holds it. Called in the ordering section,
    /// where a commit that holds the latch may wait for the caller, and upkeep never does (invariant I31).
    #[inline]
    pub fn try_latch_past_upkeep(&self) -> Option<Latched<'_>> {
        let mut looks = 0;
        loop {
            if let Some(latched) = self.try_latch_for_upkeep() {
                return Some(latched);
            }
            // The failed look saw the holder's lock; the mark of the commit that had the latch before it is seen as taken back.
            fence(Ordering::Acquire);
            if self.commits.load(Ordering::Acquire) {
                return None;
            }
            looks += 1;
            if cfg!(feature = "model-checking") || looks > LATCH_SPINS {
                yield_now()
            } else {
                std::hint::spin_loop()
            }
        }
    }

    #[inline]
    fn latched<'a>(&'a self, writer: MutexGuard<'a, Writer>) -> Latched<'a> {
        Latched { writer, subgraph: self, merged: Merged::default(), commits: false }
    }
}

/// A subgraph with its latch held. Dropping it releases the latch.
pub struct Latched<'a> {
    pub(super) writer: MutexGuard<'a, Writer>,
    pub(super) subgraph: &'a Subgraph,
    pub(super) merged: Merged,
    /// Whether a commit holds it.
    commits: bool,
}

impl Drop for Latched<'_> {
    fn drop(&mut self) {
        if self.commits {
            // Before the latch is released: whoever sees this also sees what the commit applied.
            self.subgraph.commits.store(false, Ordering::Release);
        }
    }
}

impl Latched<'_> {
    /// Marks the latch as held by a commit, before the commit draws its timestamp: whoever enters the ordering section after that
    /// draw sees the mark.
    #[inline]
    fn for_commit(mut self) -> Self {
        self.commits = true;
        self.subgraph.commits.store(true, Ordering::Relaxed);
        self
    }
}
