//! The latch of a subgraph: how commits take it, how upkeep takes it, and what its holder reads. Upkeep
//! changes no content.

use hedgerow_core::sync::{MutexGuard, Ordering, fence, yield_now};
use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Timestamp, VertexId};

use super::{ReadItem, Subgraph, Writer};
use crate::grace::ReadGuard;
use crate::op::{EdgeOp, Entry};
use crate::reclaim::Merged;
use crate::version::load_changed;

/// The number of polls of a held latch before the thread waits for the lock: some ten microseconds. A
/// committer that sleeps while it holds other latches delays all threads that need these latches. With a
/// fifth of the polls, four writers inserted a third fewer edges in transactions of 16. With twice the polls,
/// sixteen writers on two processors inserted 8 % fewer single edges.
const LATCH_SPINS: u32 = 1000;

/// The number of polls of a latch that upkeep holds before a committer gives up: some milliseconds, in which
/// the processor mostly runs other threads. Upkeep that copies the lists of a hub takes longer, and no commit
/// could begin meanwhile.
const MOST_LOOKS: u32 = LATCH_SPINS + 10_000;

impl Subgraph {
    /// Takes the latch for a commit, waiting for another holder.
    #[inline]
    pub fn latch(&self) -> Latched<'_> {
        self.latch_for_upkeep().for_commit()
    }

    /// Takes the latch for upkeep, waiting for another holder. The holder applies no operation, and waits for
    /// no commit and no other latch, because [`try_latch_past_upkeep`](Self::try_latch_past_upkeep) waits for
    /// the holder.
    #[inline]
    pub fn latch_for_upkeep(&self) -> Latched<'_> {
        // One way to wait is enough for the model checkers.
        let free = if cfg!(feature = "model-checking") { None } else { self.writer.try_lock() };
        self.latched(free.unwrap_or_else(|| self.wait_for_latch()))
    }

    /// Spins for a while without yielding: most holders need well under a microsecond. The lock itself yields
    /// the processor sooner, and two writers on one hub would then yield for almost every edge.
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

    /// Takes the latch if no thread holds it, under the condition of
    /// [`latch_for_upkeep`](Self::latch_for_upkeep).
    #[inline]
    pub fn try_latch_for_upkeep(&self) -> Option<Latched<'_>> {
        Some(self.latched(self.writer.try_lock()?))
    }

    /// Takes the latch, waiting some milliseconds for upkeep but not for a commit; `None` if a commit holds
    /// it, or if upkeep takes longer. The caller is in the ordering section. A commit that holds the latch
    /// may wait for the caller, and upkeep never does (invariant I31).
    #[inline]
    pub fn try_latch_past_upkeep(&self) -> Option<Latched<'_>> {
        let mut looks = 0;
        loop {
            if let Some(latched) = self.try_latch_for_upkeep() {
                return Some(latched);
            }
            // The failed attempt saw the current holder's lock. After the fence this thread also sees that an
            // earlier commit has cleared its mark.
            fence(Ordering::Acquire);
            if self.commits.load(Ordering::Acquire) || looks > MOST_LOOKS {
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
    /// True if a commit holds the latch.
    commits: bool,
}

impl Drop for Latched<'_> {
    fn drop(&mut self) {
        if self.commits {
            // The mark is cleared before the latch is released: a thread that sees no mark also sees the
            // operations that the commit applied.
            self.subgraph.commits.store(false, Ordering::Release);
        }
    }
}

impl Latched<'_> {
    /// Marks the latch as held by a commit, before the commit draws its timestamp. So a thread that enters
    /// the ordering section after that draw sees the mark.
    #[inline]
    fn for_commit(mut self) -> Self {
        self.commits = true;
        self.subgraph.commits.store(true, Ordering::Relaxed);
        self
    }
}

impl Latched<'_> {
    /// Returns the main parts that merges have replaced after the latch was taken.
    #[inline]
    pub fn merged(&self) -> Merged {
        self.merged
    }

    /// Returns the timestamp of the last operation applied here, published or not.
    #[inline]
    pub fn last_ts(&self) -> Timestamp {
        Timestamp(self.subgraph.stamp_cell().load(Ordering::Relaxed) >> 8)
    }

    /// True if the vertex exists after all applied operations.
    #[inline]
    pub fn contains_vertex(&self, local: LocalVertex) -> bool {
        self.writer.present & local.bit() != 0
    }

    /// Returns the mask of the vertices that exist after all applied operations.
    #[inline]
    pub fn present(&self) -> u64 {
        self.writer.present
    }

    /// Returns the weight of the edge, if it exists after all applied operations; 1 in a graph without
    /// weights.
    #[inline]
    pub fn edge(
        &self,
        direction: Direction,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) -> Option<f64> {
        self.writer.heads[direction as usize].as_ref()?.latest().edge(local, dst, hint)
    }

    /// Returns the neighbours with weights after all applied operations, ascending.
    pub fn neighbors(&self, direction: Direction, local: LocalVertex) -> Vec<(VertexId, f64)> {
        let mut neighbors = Vec::new();
        if let Some(version) = &self.writer.heads[direction as usize] {
            version.latest().for_each_neighbor(local, |v, w| neighbors.push((v, w)));
        }
        neighbors
    }

    /// True if an operation applied after `start` touches `item`. If none does, a read at `start` is valid
    /// (rule R3).
    ///
    /// The answer is exact while the versions after `start` are linked. For unlinked versions it uses the
    /// masks of changed vertices, so it may be true without need, but is never false wrongly.
    pub fn changed_since(&self, direction: Direction, start: Timestamp, item: ReadItem) -> bool {
        // A direction without a version never had an operation.
        if self.last_ts() <= start || self.subgraph.is_untouched(direction) {
            return false;
        }
        let walk = ReadGuard::begin();
        let mut next = self.writer.heads[direction as usize].as_deref();
        while let Some(version) = next {
            let seen = version.delta.visible(start);
            if (seen..version.delta.len()).any(|i| touches(&version.delta.entry(i), item)) {
                return true;
            }
            if version.begin <= start {
                return false;
            }
            if load_changed(version) & local_of(item).bit() != 0 {
                return true;
            }
            next = version.prev.load(&walk);
        }
        // The start version is not in memory. (A registered `start` rules out that it was reclaimed.) True is
        // the safe answer.
        true
    }
}

fn touches(entry: &Entry, item: ReadItem) -> bool {
    match item {
        ReadItem::Vertex(local) => entry.local == local && entry.op == EdgeOp::Vertex,
        ReadItem::Edge(local, dst) => entry.local == local && entry.dst == dst && entry.op != EdgeOp::Vertex,
        ReadItem::Adjacency(local) => entry.local == local && entry.op != EdgeOp::Vertex,
    }
}

fn local_of(item: ReadItem) -> LocalVertex {
    match item {
        ReadItem::Vertex(local) | ReadItem::Edge(local, _) | ReadItem::Adjacency(local) => local,
    }
}
