//! A subgraph: its latch, the state of its writers, and the heads of its version chains.

use std::sync::Arc;

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Timestamp, VertexId};

use crate::grace::{Link, Memory, ReadGuard};
use crate::version::{NotInMemory, Read, Version, counted_version_at, version_at};

mod ahead;
mod apply;
mod changes;
mod cursor;
mod finder;
mod items;
mod latch;
mod neighbors;
pub mod prefetch;
mod stamps;
mod unlink;

pub use ahead::Ahead;
pub use changes::changes_of_many;
pub use cursor::Cursor;
pub use finder::Finder;
pub use latch::Latched;
pub(crate) use prefetch::OFFSET_LINES;
pub(crate) use stamps::Home;
pub(crate) use stamps::STAMPS;
pub use stamps::{PAGE, Stamp};

pub use crate::op::LocalOp;

/// 64 consecutive vertices with their adjacency in both directions.
///
/// Existence of the vertices is part of the outgoing chain. Reads take no lock; writes go through
/// [`latch`](Self::latch).
///
/// One cache line: a writer that has loaded it can prefetch both chains.
#[repr(align(64))]
pub struct Subgraph {
    writer: Mutex<Writer>,
    heads: [Link; 2],
    /// The owner of the subgraph's stamp, and of the memory for main parts, deltas and unlinked versions.
    home: Arc<Home>,
    /// The index of its stamp in `home`.
    place: u8,
    /// True if a commit holds the latch, false if upkeep holds it.
    commits: AtomicBool,
}

#[cfg(all(target_pointer_width = "64", not(feature = "model-checking")))]
const _: () = assert!(size_of::<Subgraph>() == 64, "the header is one cache line");

/// The state that only the holder of the latch uses.
struct Writer {
    /// The vertices that exist after all applied operations.
    present: u64,
    heads: [Option<Arc<Version>>; 2],
}

/// An item that a transaction read, for validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadItem {
    /// The existence of the vertex.
    Vertex(LocalVertex),
    /// The edge to the given vertex, present or absent, with weight and properties. In a `multi` label it
    /// means the edges of all ranks.
    Edge(LocalVertex, VertexId),
    /// All neighbours of the vertex.
    Adjacency(LocalVertex),
}

impl Default for Subgraph {
    /// Makes a subgraph that allocates from the global allocator.
    fn default() -> Self {
        Subgraph::new(Memory::default())
    }
}

impl Subgraph {
    /// Makes an empty subgraph without weights that is in no table and allocates from `memory`.
    pub fn new(memory: Memory) -> Subgraph {
        Subgraph::alone(memory, false)
    }

    /// Like [`new`](Self::new); if `weighted`, its edges have weights.
    pub fn alone(memory: Memory, weighted: bool) -> Subgraph {
        Subgraph::at(Arc::new(Home::new(memory, weighted, Timestamp::ZERO)), 0)
    }

    /// Makes an empty subgraph with the index `place` among the subgraphs that share `home`.
    pub(crate) fn at(home: Arc<Home>, place: usize) -> Subgraph {
        assert!(place < STAMPS, "a place for each");
        let writer = Writer { present: 0, heads: [None, None] };
        Subgraph {
            writer: Mutex::new(writer),
            heads: [Link::default(), Link::default()],
            home,
            place: place as u8,
            commits: AtomicBool::new(false),
        }
    }

    /// Reads the subgraph as a snapshot at `t` sees it; `None` if it was empty then.
    ///
    /// The timestamp must be registered with the reader registry, or the version that it needs may be gone.
    /// The read takes no lock, no fence and no counted reference. While `f` runs, retired versions may have
    /// to wait for it. For long reads use [`read_kept`](Self::read_kept).
    ///
    /// # Errors
    /// [`NotInMemory`] if the version is not in memory.
    #[inline]
    pub fn read<R>(
        &self,
        direction: Direction,
        t: Timestamp,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Result<Option<R>, NotInMemory> {
        let walk = ReadGuard::begin();
        Ok(version_at(&self.heads[direction as usize], t, &walk)?.map(|version| f(version.at(t))))
    }

    /// Returns the weight of the edge that a snapshot at `t` sees; 1 in a graph without weights. Of edges
    /// with ranks it reads the edge of rank 0. It has the conditions of [`read`](Self::read). O(log degree),
    /// and O(delta) if the delta may have an entry about the edge.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    #[inline]
    pub fn edge(
        &self,
        direction: Direction,
        t: Timestamp,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) -> Result<Option<f64>, NotInMemory> {
        let walk = ReadGuard::begin();
        let version = version_at(&self.heads[direction as usize], t, &walk)?;
        Ok(version.and_then(|version| version.edge_at(t, local, dst, hint)))
    }

    /// Like [`read`](Self::read), but with a counted reference, which keeps only that version alive: for user
    /// code, which may run long.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    #[inline]
    pub fn read_kept<R>(
        &self,
        direction: Direction,
        t: Timestamp,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Result<Option<R>, NotInMemory> {
        Ok(self.version(direction, t)?.map(|version| f(version.at(t))))
    }

    /// Returns the stamp, which shows whether the subgraph changed. Takes no lock. If the caller has seen the
    /// publication of a commit, the stamp includes its operations. Versions that are read after the stamp are
    /// at least as settled as the stamp shows.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp(self.stamp_cell().load(Ordering::Acquire))
    }

    #[inline]
    fn memory(&self) -> &Memory {
        &self.home.memory
    }

    /// True if edges have weights.
    #[inline]
    fn is_weighted(&self) -> bool {
        self.home.weighted
    }

    #[inline]
    fn stamp_cell(&self) -> &AtomicU64 {
        &self.home.stamps[usize::from(self.place) % STAMPS]
    }

    /// Notes the timestamp of an operation. The caller holds the latch.
    #[inline]
    fn note_applied(&self, ts: Timestamp) {
        debug_assert!(ts.0 < 1 << 56, "timestamps last for centuries");
        let stamp = self.stamp_cell();
        stamp.store(ts.0 << 8 | stamp.load(Ordering::Relaxed) & 0xff, Ordering::Relaxed);
    }

    /// Notes that the head was settled. Called after the settling; the caller holds the latch.
    fn note_settled(&self) {
        let Stamp(stamp) = self.stamp();
        let count = (stamp as u8).wrapping_add(1);
        self.stamp_cell().store(stamp & !0xff | u64::from(count), Ordering::Release);
    }

    /// Returns the version that a snapshot at `t` sees. The reference keeps it alive.
    ///
    /// # Errors
    /// Like [`read`](Self::read).
    pub fn version(&self, direction: Direction, t: Timestamp) -> Result<Option<Arc<Version>>, NotInMemory> {
        counted_version_at(&self.heads[direction as usize], t)
    }

    /// True if its evicted chains are still cooling, so that they can be [linked again](Latched::relink). The
    /// chains may be retired before the caller has the latch. O(log chains that are cooling).
    pub fn is_cooling(&self) -> bool {
        self.memory().cooling().has(self.name())
    }

    /// Returns the subgraph's unique name among cooling chains: an address in the `Home` that it shares with
    /// its page, which does not move.
    fn name(&self) -> usize {
        Arc::as_ptr(&self.home).addr() + usize::from(self.place)
    }

    /// True if none of the subgraph's chains is evicted. Two loads. A chain may be evicted before the caller
    /// acts on the answer.
    #[inline]
    pub fn is_resident(&self) -> bool {
        self.heads.iter().all(Link::is_in_memory)
    }

    /// True if no version of the subgraph is in memory. Two loads.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.heads.iter().all(|head| head.get().is_none())
    }

    /// Returns the versions that are in memory now.
    pub fn versions(&self, direction: Direction) -> Vec<Arc<Version>> {
        let mut versions = Vec::new();
        let mut next = self.heads[direction as usize].get();
        while let Some(version) = next {
            next = version.prev.get();
            versions.push(version);
        }
        versions
    }
}
