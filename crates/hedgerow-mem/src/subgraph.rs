//! A subgraph: its latch, what writers know under it, and the heads of its version chains.

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
use stamps::STAMPS;
pub use stamps::{PAGE, Stamp};

pub use crate::op::LocalOp;

/// 64 consecutive vertices with their adjacency in both directions.
///
/// Existence of the vertices is part of the outgoing chain. Reads take no lock; writes go through [`latch`](Self::latch).
///
/// One cache line: a writer that has it can begin to load both chains.
#[repr(align(64))]
pub struct Subgraph {
    writer: Mutex<Writer>,
    heads: [Link; 2],
    /// Where its stamp is, where main parts and deltas lie, and where versions end.
    home: Arc<Home>,
    /// Which of the stamps there is its own.
    place: u8,
    /// True if a commit holds the latch, false if a thread holds it that merges, reclaims, loads or evicts.
    commits: AtomicBool,
}

#[cfg(all(target_pointer_width = "64", not(feature = "model-checking")))]
const _: () = assert!(size_of::<Subgraph>() == 64, "the header is one cache line");

/// What the holder of the latch works on.
struct Writer {
    /// The vertices that exist, everything applied included.
    present: u64,
    heads: [Option<Arc<Version>>; 2],
}

/// What a transaction read, for validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReadItem {
    /// Whether the vertex exists.
    Vertex(LocalVertex),
    /// The edge to the given vertex, present or absent, with weight and properties; of a `multi` label all ranks.
    Edge(LocalVertex, VertexId),
    /// All neighbours of the vertex.
    Adjacency(LocalVertex),
}

impl Default for Subgraph {
    /// A subgraph that allocates from the global allocator.
    fn default() -> Self {
        Subgraph::new(Memory::default())
    }
}

impl Subgraph {
    /// An empty subgraph by itself that allocates from `memory`.
    pub fn new(memory: Memory) -> Subgraph {
        Subgraph::at(Arc::new(Home::new(memory)), 0)
    }

    /// An empty subgraph at its place among those that share `home`.
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

    /// Reads what a snapshot at `t` sees; `None` where the subgraph was empty then.
    ///
    /// The timestamp must be registered with the reader registry, or the version that it needs may be gone. No lock, no
    /// fence, no counted reference; while `f` runs, memory may have to wait for it: see [`read_kept`](Self::read_kept)
    /// for what takes long.
    ///
    /// # Errors
    /// [`NotInMemory`] where the version is not.
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

    /// The weight of the edge that a snapshot at `t` sees, of edges with ranks that of rank 0; 1 in a graph without weights.
    /// Under the conditions of [`read`](Self::read). O(log degree), and O(delta) where the delta may speak of the edge.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
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

    /// As [`read`](Self::read), with a reference that keeps the version and nothing else: for code of the caller of the
    /// store, which may take its time.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    #[inline]
    pub fn read_kept<R>(
        &self,
        direction: Direction,
        t: Timestamp,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Result<Option<R>, NotInMemory> {
        Ok(self.version(direction, t)?.map(|version| f(version.at(t))))
    }

    /// What tells whether the subgraph changed. Takes no lock. Everything applied by commits whose publication the caller
    /// has seen is in it; versions read after it are at least as settled as it says.
    #[inline]
    pub fn stamp(&self) -> Stamp {
        Stamp(self.stamp_cell().load(Ordering::Acquire))
    }

    #[inline]
    fn memory(&self) -> &Memory {
        &self.home.memory
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

    /// Notes that the head was settled, after it was. The caller holds the latch.
    fn note_settled(&self) {
        let Stamp(stamp) = self.stamp();
        let count = (stamp as u8).wrapping_add(1);
        self.stamp_cell().store(stamp & !0xff | u64::from(count), Ordering::Release);
    }

    /// The version that a snapshot at `t` sees, kept alive by the reference.
    ///
    /// # Errors
    /// As of [`read`](Self::read).
    pub fn version(&self, direction: Direction, t: Timestamp) -> Result<Option<Arc<Version>>, NotInMemory> {
        counted_version_at(&self.heads[direction as usize], t)
    }

    /// Whether what was taken out of memory of it is kept still, so that it can be [linked again](Latched::relink). It may not be by the time
    /// that the caller has the latch. O(log chains that are cooling).
    pub fn is_cooling(&self) -> bool {
        self.memory().cooling().has(self.name())
    }

    /// Its name among those that are cooling, which no other has: an address in what it shares with its page, which stays where it is.
    fn name(&self) -> usize {
        Arc::as_ptr(&self.home).addr() + usize::from(self.place)
    }

    /// Whether nothing of it was taken out of memory. Two loads; it may be by the time that the caller looks.
    #[inline]
    pub fn is_resident(&self) -> bool {
        self.heads.iter().all(Link::is_in_memory)
    }

    /// The versions that are in memory now.
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
