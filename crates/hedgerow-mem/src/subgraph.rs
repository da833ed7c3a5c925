//! A subgraph: its latch, what writers know under it, and the heads of its version chains.

use std::sync::Arc;

use hedgerow_core::sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use hedgerow_core::{Direction, InterpolationHint, LocalVertex, Timestamp, VertexId, simd};

use crate::arena::Counted;
use crate::delta::{Delta, EdgeOp, Entry};
use crate::fold;
use crate::grace::{Link, Memory, ReadGuard};
use crate::main_part::Main;
use crate::reclaim::{Horizon, Pin};
use crate::table::PAGE;
use crate::version::{Read, Version, counted_version_at, load_changed, version_at};

mod ahead;
mod finder;
mod items;
pub mod prefetch;
mod unlink;

pub use ahead::Ahead;
pub use finder::Finder;
pub(crate) use prefetch::OFFSET_LINES;

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
}

#[cfg(all(target_pointer_width = "64", not(feature = "model-checking")))]
const _: () = assert!(size_of::<Subgraph>() == 64, "the header is one cache line");

/// What the subgraphs of a page of the table share.
///
/// A refresh of a view looks at the stamps of all subgraphs: they lie side by side, away from the headers. A writer
/// touches one line more for it, which it can load ahead.
#[repr(align(64))]
pub(crate) struct Home {
    /// What tells a view whether a subgraph changed: the timestamp of the last operation applied in the upper 56 bits,
    /// and how often it was settled in the lower 8. Stored under the latch of the subgraph, read without.
    stamps: [AtomicU64; STAMPS],
    memory: Memory,
}

/// Under the model checker, which keeps a history of each, one is enough.
const STAMPS: usize = if cfg!(feature = "loom") { 1 } else { PAGE };

/// Stamps in a cache line.
const LINE: usize = 64 / size_of::<u64>();

impl Home {
    pub(crate) fn new(memory: Memory) -> Home {
        Home { stamps: std::array::from_fn(|_| AtomicU64::new(0)), memory }
    }

    /// Starts loading the stamps.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.stamps.chunks(LINE).for_each(|line| simd::prefetch(line.as_ptr()));
    }

    /// The stamps of the subgraphs, by place.
    #[inline]
    pub(crate) fn stamps(&self) -> impl Iterator<Item = Stamp> {
        self.stamps.iter().map(|stamp| Stamp(stamp.load(Ordering::Acquire)))
    }

    /// The places whose stamps are after `bound`, and how often all were settled, each modulo 256.
    #[inline]
    pub(crate) fn look(&self, bound: Stamp) -> (u64, u64) {
        let (mut newer, mut settled) = (0, 0);
        for (at, line) in self.stamps.chunks(LINE).enumerate() {
            // Without a jump for each: which subgraphs changed is a guess that the processor would often get wrong.
            let mut in_line = 0;
            for stamp in line.iter().rev() {
                let Stamp(stamp) = Stamp(stamp.load(Ordering::Acquire));
                in_line = in_line << 1 | u64::from(stamp > bound.0);
                settled += stamp & 0xff;
            }
            newer |= in_line << (at * LINE);
        }
        (newer, settled)
    }
}

/// What tells whether a subgraph changed: when the last operation was applied, and how often it was settled (which changes
/// the layout only), modulo 256. Ordered by the former first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

impl Stamp {
    /// None is after it.
    pub(crate) const LAST: Stamp = Stamp(u64::MAX);

    /// The last one of a subgraph to which nothing was applied after `t`.
    #[inline]
    pub(crate) fn last_of(t: Timestamp) -> Stamp {
        Stamp(t.0.min(u64::MAX >> 8) << 8 | 0xff)
    }

    /// The timestamp of the last operation applied.
    #[inline]
    pub fn applied(self) -> Timestamp {
        Timestamp(self.0 >> 8)
    }

    /// How often it was settled, modulo 256.
    #[inline]
    pub fn settled(self) -> u8 {
        self.0 as u8
    }
}

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

/// An effective operation on one side of an edge, or on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOp {
    /// The vertex, by its place in the subgraph.
    pub local: LocalVertex,
    /// What to do.
    pub op: EdgeOp,
    /// The other endpoint; for [`EdgeOp::Vertex`] 1 to insert, 0 to remove.
    pub dst: VertexId,
    /// The weight, in a weighted graph.
    pub weight: f64,
}

impl LocalOp {
    /// The operation as a delta entry of the commit `ts`.
    pub(crate) fn entry(&self, ts: Timestamp) -> Entry {
        Entry { local: self.local, op: self.op, dst: self.dst, ts, weight: self.weight }
    }
}

impl Default for Subgraph {
    /// A subgraph that allocates from the global allocator.
    fn default() -> Self {
        Subgraph::new(Memory::default())
    }
}

/// How often a latch that is held is looked at before the lock is waited for.
#[cfg(not(feature = "model-checking"))]
const LATCH_SPINS: u32 = 200;

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
        }
    }

    /// Takes the latch, waiting for another holder.
    #[inline]
    pub fn latch(&self) -> Latched<'_> {
        // Under the model checkers one way to wait is enough.
        let free = if cfg!(feature = "model-checking") { None } else { self.writer.try_lock() };
        Latched { writer: free.unwrap_or_else(|| self.wait_for_latch()), subgraph: self }
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

    /// Takes the latch if nobody holds it.
    #[inline]
    pub fn try_latch(&self) -> Option<Latched<'_>> {
        Some(Latched { writer: self.writer.try_lock()?, subgraph: self })
    }

    /// Reads what a snapshot at `t` sees; `None` where the subgraph was empty then.
    ///
    /// The timestamp must be registered with the reader registry, or the version that it needs may be gone. No lock, no
    /// fence, no counted reference; while `f` runs, memory may have to wait for it: see [`read_kept`](Self::read_kept)
    /// for what takes long.
    #[inline]
    pub fn read<R>(&self, direction: Direction, t: Timestamp, f: impl FnOnce(Read<'_>) -> R) -> Option<R> {
        let walk = ReadGuard::begin();
        Some(f(version_at(&self.heads[direction as usize], t, &walk)?.at(t)))
    }

    /// The weight of the edge that a snapshot at `t` sees, of edges with ranks that of rank 0; 1 in a graph without weights.
    /// Under the conditions of [`read`](Self::read). O(log degree), and O(delta) where the delta may speak of the edge.
    #[inline]
    pub fn edge(
        &self,
        direction: Direction,
        t: Timestamp,
        local: LocalVertex,
        dst: VertexId,
        hint: InterpolationHint,
    ) -> Option<f64> {
        let walk = ReadGuard::begin();
        version_at(&self.heads[direction as usize], t, &walk)?.edge_at(t, local, dst, hint)
    }

    /// As [`read`](Self::read), with a reference that keeps the version and nothing else: for code of the caller of the
    /// store, which may take its time.
    #[inline]
    pub fn read_kept<R>(
        &self,
        direction: Direction,
        t: Timestamp,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Option<R> {
        Some(f(self.version(direction, t)?.at(t)))
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
    pub fn version(&self, direction: Direction, t: Timestamp) -> Option<Arc<Version>> {
        counted_version_at(&self.heads[direction as usize], t)
    }

    /// The versions that exist now and the bytes they hold.
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

/// A subgraph with its latch held. Dropping it releases the latch.
pub struct Latched<'a> {
    writer: MutexGuard<'a, Writer>,
    subgraph: &'a Subgraph,
}

impl Latched<'_> {
    /// The timestamp of the last operation applied here, published or not.
    #[inline]
    pub fn last_ts(&self) -> Timestamp {
        Timestamp(self.subgraph.stamp_cell().load(Ordering::Relaxed) >> 8)
    }

    /// Whether the vertex exists, everything applied included.
    #[inline]
    pub fn contains_vertex(&self, local: LocalVertex) -> bool {
        self.writer.present & local.bit() != 0
    }

    /// The mask of the vertices that exist, everything applied included.
    #[inline]
    pub fn present(&self) -> u64 {
        self.writer.present
    }

    /// The weight of the edge if it exists, everything applied included; 1 in a graph without weights.
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

    /// The neighbours with weights, everything applied included, ascending.
    pub fn neighbors(&self, direction: Direction, local: LocalVertex) -> Vec<(VertexId, f64)> {
        let mut neighbors = Vec::new();
        if let Some(version) = &self.writer.heads[direction as usize] {
            version.latest().for_each_neighbor(local, |v, w| neighbors.push((v, w)));
        }
        neighbors
    }

    /// Whether anything applied after `start` touches `item`. A read at `start` is valid if not (rule R3).
    ///
    /// Exact as far as the deltas of the versions since `start` reach; where versions in between were unlinked it
    /// falls back to their masks of changed vertices: it may say yes without need, never no wrongly.
    pub fn changed_since(&self, direction: Direction, start: Timestamp, item: ReadItem) -> bool {
        // Without a version nothing was ever applied in this direction.
        if self.last_ts() <= start || self.writer.heads[direction as usize].is_none() {
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
        // The start version is gone, which a registered `start` rules out: say yes rather than guess.
        true
    }

    /// Applies effective operations of the commit `ts`, invisible until `ts` is published.
    ///
    /// Operations must name each edge at most once, and come in one call per direction and commit. Versions that must
    /// stay for now are reported to `pinned`. O(operations), and O(edges of the subgraph) where a merge is due: once
    /// per delta capacity.
    pub fn apply(
        &mut self,
        direction: Direction,
        ops: &[LocalOp],
        ts: Timestamp,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        debug_assert!(ts >= self.last_ts());
        ops.iter().for_each(|op| self.note_vertex(op));
        self.subgraph.note_applied(ts);
        if let Some(head) = &self.writer.heads[direction as usize]
            && head.delta.accepts(ops.len(), ts)
        {
            head.delta.push_all(ops, ts);
            return;
        }
        self.apply_with_merge(direction, ops, ts, weighted, horizon, pinned);
    }

    /// Keeps the mask of existing vertices up to date.
    #[inline]
    fn note_vertex(&mut self, op: &LocalOp) {
        if op.op == EdgeOp::Vertex {
            let bit = op.local.bit();
            self.writer.present =
                if op.dst.0 != 0 { self.writer.present | bit } else { self.writer.present & !bit };
        }
    }

    /// Makes room for `count` operations, if the published part of the delta can be folded. Called before the timestamp of
    /// the operations is drawn, so that nobody's publication waits for the merge; [`apply`](Self::apply) finds room
    /// anyway. O(1) where there is room, else O(edges of the subgraph).
    #[inline]
    pub fn make_room(
        &mut self,
        direction: Direction,
        count: usize,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        if let Some(head) = &self.writer.heads[direction as usize]
            && head.delta.len() + count > head.delta.capacity()
        {
            self.fold_ahead(direction, count, weighted, horizon, pinned);
        }
    }

    #[cold]
    fn fold_ahead(
        &mut self,
        direction: Direction,
        count: usize,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        let (head, published) = (self.head(direction, weighted), horizon.published());
        let next = fold::published(
            &head,
            count,
            published.max(head.begin),
            weighted,
            published,
            self.subgraph.memory().arena(),
        );
        if let Some(next) = next {
            self.replace(direction, head, next, horizon, pinned);
        }
    }

    /// Applies what the delta of the head has no room for.
    #[cold]
    fn apply_with_merge(
        &mut self,
        direction: Direction,
        ops: &[LocalOp],
        ts: Timestamp,
        weighted: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        let head = self.head(direction, weighted);
        if head.delta.accepts(ops.len(), ts) {
            head.delta.push_all(ops, ts);
            return;
        }
        let next = match fold::published(
            &head,
            ops.len(),
            ts,
            weighted,
            horizon.published(),
            self.subgraph.memory().arena(),
        ) {
            Some(next) => {
                next.delta.push_all(ops, ts);
                next
            }
            None => fold::all(&head, ops, ts, weighted, self.subgraph.memory().arena()),
        };
        self.replace(direction, head, next, horizon, pinned);
    }

    /// Merges what is published of the delta, so that an idle subgraph becomes a plain CSR. With `relocate` the main part
    /// moves also if there is nothing to merge: see [`Arena::evacuate`](crate::Arena::evacuate). Returns whether a version was made.
    pub fn settle(
        &mut self,
        direction: Direction,
        weighted: bool,
        relocate: bool,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) -> bool {
        let Some(head) = self.writer.heads[direction as usize].clone() else { return false };
        if head.delta.capacity() == 0 && !relocate {
            return false;
        }
        let next =
            fold::settle(&head, horizon.published(), relocate, weighted, self.subgraph.memory().arena());
        self.replace(direction, head, next, horizon, pinned);
        self.subgraph.note_settled();
        true
    }

    /// Installs an image as the first version: at opening, from a checkpoint.
    pub fn install(&mut self, direction: Direction, main: Main, as_of: Timestamp, weighted: bool) {
        if direction == Direction::Out {
            self.writer.present = main.present;
        }
        self.subgraph.note_applied(self.last_ts().max(as_of));
        let delta = Delta::new(as_of, 0, weighted, self.subgraph.memory().arena());
        self.push(direction, Version::new(as_of, main, delta, 0));
    }

    fn head(&mut self, direction: Direction, weighted: bool) -> Arc<Version> {
        if let Some(head) = &self.writer.heads[direction as usize] {
            return head.clone();
        }
        let main = Main { weights: weighted.then(Counted::default), ..Main::default() };
        let delta = Delta::new(Timestamp::ZERO, fold::MIN_DELTA, weighted, self.subgraph.memory().arena());
        self.push(direction, Version::new(Timestamp::ZERO, main, delta, 0))
    }

    /// Makes `next` the head, says what that replaces, and looks which versions before it are dead.
    fn replace(
        &mut self,
        direction: Direction,
        head: Arc<Version>,
        next: Version,
        horizon: &impl Horizon,
        pinned: impl FnMut(Pin),
    ) {
        // A main part that was patched lives on in the new version: nobody keeps it alone.
        if !next.main.neighbors.is_same(&head.main.neighbors) {
            horizon.replaced(head.main.heap_bytes());
        }
        self.push(direction, next);
        drop(head);
        self.reclaim_recent(direction, horizon, pinned);
    }

    /// Makes `next` the head. A release store: whoever loads it sees it whole.
    fn push(&mut self, direction: Direction, next: Version) -> Arc<Version> {
        let next = self.subgraph.heads[direction as usize].push(next);
        self.writer.heads[direction as usize] = Some(next.clone());
        next
    }
}

fn touches(entry: &crate::delta::Entry, item: ReadItem) -> bool {
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
