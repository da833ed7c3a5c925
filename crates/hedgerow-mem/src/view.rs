//! The view: a snapshot laid out for whole-graph kernels.
//!
//! A view holds, per subgraph and direction, a reference to the lists that the snapshot sees. The visible
//! delta is turned into sorted corrections, or folded into a copy if it is large. A view consists of
//! [chunks](Chunk) of 64 subgraphs behind counted references: a view of another timestamp shares chunks, and
//! reads only the subgraphs that changed. The caller builds chunks, in parallel or not.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::Account;
use hedgerow_core::{
    Direction, Neighbors, Resident, SUBGRAPH_VERTICES, SubgraphId, Timestamp, Topology, VertexId,
    WeightedNeighbors, WeightedTopology, scan_blocks,
};

mod block;
mod bytes;
mod chunk;
mod composed;
mod corrections;
mod mask;
mod restricted;
mod reverse;
#[cfg(all(test, not(feature = "loom")))]
mod tests;

use crate::arena::Arena;
use crate::version::NotInMemory;
pub use block::{ViewBlock, WeightedViewBlock};
pub use chunk::{CHUNK_SUBGRAPHS, Chunk, FromScratch, Page, Stale, read_stale};
use chunk::{ChunkMeta, GROUP, KnownGroup};
pub use chunk::{ComposeError, Composer, EdgeWeight, Source, Take};
pub use mask::VertexMask;

/// A graph at one timestamp, ready for kernels.
#[derive(Clone)]
pub struct View {
    shape: Shape,
    vertex_count: usize,
    out: DirectionView,
    into: DirectionView,
    /// The vertices of a view that lacks some of the existing ones.
    mask: Option<Arc<VertexMask>>,
    /// The incoming side of a graph that stores no incoming edges. Copies of the view share it.
    reversed: OnceLock<Arc<DirectionView>>,
}

/// The properties of a graph that a view needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// True if edges have a direction.
    pub directed: bool,
    /// True if edges have weights.
    pub weighted: bool,
    /// True if a directed graph stores no incoming edges: the view computes them when a kernel asks for them.
    pub one_way: bool,
    /// The largest vertex id that can be live, plus one.
    pub vertex_bound: usize,
    /// The number of edges in the snapshot.
    pub edge_count: u64,
}

/// All subgraphs in one direction.
#[derive(Clone)]
pub struct DirectionView {
    chunks: Vec<Arc<Chunk>>,
    /// The known facts about the chunks.
    known: Vec<KnownGroup>,
    /// The timestamp at which all these facts are exact.
    as_of: Timestamp,
    /// The arena for lists that only the view has.
    arena: Arena,
}

impl Default for DirectionView {
    /// Makes a side without chunks, with an account of its own.
    fn default() -> DirectionView {
        DirectionView::charging(Arc::default())
    }
}

impl DirectionView {
    /// Makes a side without chunks, which charges its memory to `account`.
    pub fn charging(account: Arc<Account>) -> DirectionView {
        DirectionView {
            chunks: Vec::new(),
            known: Vec::new(),
            as_of: Timestamp::ZERO,
            arena: Arena::of_view(account),
        }
    }

    /// Returns the arena for lists that only the view has.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Returns the chunks, by position, with room for the subgraphs of `vertex_bound` vertices. New chunks
    /// are empty, and share one allocation until they are [read](read_stale).
    pub fn chunks_mut(&mut self, vertex_bound: usize) -> &mut [Arc<Chunk>] {
        let count = vertex_bound.div_ceil(SUBGRAPH_VERTICES * CHUNK_SUBGRAPHS);
        if self.chunks.len() != count {
            self.chunks.resize(count, Arc::default());
            self.known.resize(count.div_ceil(GROUP), None);
            // Removes the facts about dropped chunks in the last group.
            if let Some(Some(group)) = self.known.last_mut()
                && !count.is_multiple_of(GROUP)
            {
                group[count % GROUP..].fill(ChunkMeta::default());
            }
        }
        &mut self.chunks
    }

    /// Finds the subgraphs of `vertex_bound` vertices that may differ at `t` from the chunks, in content or
    /// in layout, and returns their chunks. The caller [reads](read_stale) all of them at `t` before the next
    /// call. `page` returns the subgraphs of a chunk, by its position. `t` may be older than the chunks.
    /// O(64) per chunk; an unchanged chunk and its subgraphs are not read.
    pub fn stale<'a>(
        &'a mut self,
        vertex_bound: usize,
        page: impl Fn(usize) -> Page<'a>,
        t: Timestamp,
    ) -> Vec<Stale<'a>> {
        self.chunks_mut(vertex_bound);
        let as_of = std::mem::replace(&mut self.as_of, t);
        Stale::find(&mut self.chunks, &mut self.known, page, as_of, t)
    }

    /// Returns the known facts about the chunks that have subgraphs.
    fn known(&self) -> impl Iterator<Item = &ChunkMeta> {
        self.known.iter().flatten().flat_map(|group| group.iter())
    }

    /// Updates all chunks to the timestamp `t`, which must be registered, on this thread. Returns how many
    /// subgraphs it read. Cost: see [`stale`](Self::stale) and [`read_stale`].
    ///
    /// # Errors
    /// [`NotInMemory`], like [`read_stale`].
    pub fn refresh<'a>(
        &'a mut self,
        vertex_bound: usize,
        page: impl Fn(usize) -> Page<'a>,
        direction: Direction,
        t: Timestamp,
        weighted: bool,
    ) -> Result<u32, NotInMemory> {
        let arena = self.arena.clone();
        let mut stale = self.stale(vertex_bound, page, t);
        read_stale(&mut stale, direction, t, weighted, &arena)?;
        Ok(stale.iter().map(Stale::count).sum())
    }

    #[inline]
    fn chunk(&self, subgraph: SubgraphId) -> Option<&Chunk> {
        self.chunks.get(subgraph.index() / CHUNK_SUBGRAPHS).map(AsRef::as_ref)
    }

    #[inline]
    fn present(&self, subgraph: SubgraphId) -> u64 {
        self.chunk(subgraph).map_or(0, |chunk| chunk.present(subgraph.index()))
    }

    #[inline]
    fn block(&self, subgraph: SubgraphId) -> ViewBlock<'_> {
        self.chunk(subgraph).map_or(ViewBlock::EMPTY, |chunk| chunk.block(subgraph.index()))
    }

    /// Returns the lists of a subgraph, and prefetches the lists of the next one. O(1).
    #[inline]
    pub fn block_of_scan(&self, subgraph: SubgraphId) -> ViewBlock<'_> {
        let next = SubgraphId(subgraph.0 + 1);
        self.chunk(next).into_iter().for_each(|chunk| chunk.prefetch(next.index()));
        self.block(subgraph)
    }

    #[inline]
    fn weighted_block(&self, subgraph: SubgraphId) -> WeightedViewBlock<'_> {
        self.chunk(subgraph).map_or(WeightedViewBlock::EMPTY, |chunk| chunk.weighted_block(subgraph.index()))
    }
}

impl View {
    /// Makes a view from its sides, whose chunks are all at its timestamp. `into` is empty for an undirected
    /// graph. The outgoing side records which vertices exist.
    pub fn new(shape: Shape, out: DirectionView, into: DirectionView) -> View {
        let vertex_count = out.known().map(|known| known.vertices).sum();
        View { shape, vertex_count, out, into, mask: None, reversed: OnceLock::new() }
    }

    /// Returns the outgoing and the incoming side. Copies nothing if this was the only reference.
    pub fn into_sides(view: Arc<View>) -> (DirectionView, DirectionView) {
        let view = Arc::unwrap_or_clone(view);
        (view.out, view.into)
    }

    /// Returns all subgraphs in a direction. If the graph stores no incoming edges, the first call for them
    /// computes that side, in O(vertices + edges).
    #[inline]
    pub fn side(&self, direction: Direction) -> &DirectionView {
        if !self.shape.directed || direction == Direction::Out {
            &self.out
        } else if self.shape.one_way {
            self.reversed.get_or_init(|| Arc::new(self.out.reversed(self.shape)))
        } else {
            &self.into
        }
    }

    /// Returns the lists of the subgraph, for loops over consecutive vertices; empty without vertices. O(1).
    #[inline]
    pub fn block(&self, subgraph: SubgraphId, direction: Direction) -> ViewBlock<'_> {
        self.side(direction).block(subgraph)
    }

    /// Like [`block`](Self::block), but with weights.
    #[inline]
    pub fn weighted_block(&self, subgraph: SubgraphId, direction: Direction) -> WeightedViewBlock<'_> {
        self.side(direction).weighted_block(subgraph)
    }

    /// Returns the neighbours of `v` in `direction` and their weights; empty if `v` does not exist. O(1).
    #[inline]
    pub fn weighted_neighbors(&self, v: VertexId, direction: Direction) -> WeightedNeighbors<'_> {
        self.weighted_block(v.subgraph(), direction).weighted_neighbors(v.local())
    }

    /// Calls `f` with each neighbour and weight (1 without weights), ascending.
    pub fn for_each_weighted(&self, v: VertexId, direction: Direction, f: impl FnMut(VertexId, f64)) {
        self.weighted_neighbors(v, direction).for_each_sorted(f);
    }

    /// Returns the vertices of a subgraph. O(1).
    #[inline]
    pub fn present(&self, subgraph: SubgraphId) -> u64 {
        match &self.mask {
            None => self.out.present(subgraph),
            Some(mask) => mask.of(subgraph),
        }
    }

    /// Returns the live vertices, ascending.
    pub fn vertices(&self) -> impl Iterator<Item = VertexId> + '_ {
        (0..(self.out.chunks.len() * CHUNK_SUBGRAPHS) as u32).map(SubgraphId).flat_map(|subgraph| {
            let mut rest = self.present(subgraph);
            std::iter::from_fn(move || {
                let local = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (local < 64).then_some(VertexId(subgraph.0 << 6 | local))
            })
        })
    }

    /// Counts the directed edges in outgoing lists: in an undirected graph, twice the number of edges minus
    /// the self-loops.
    pub fn directed_edges(&self) -> u64 {
        self.out.known().map(|known| known.edges).sum()
    }
}

impl Topology for View {
    type Error = Infallible;
    type Block<'a> = ViewBlock<'a>;

    #[inline]
    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, ViewBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        let side = self.side(direction);
        scan_blocks(subgraphs, |subgraph| side.block_of_scan(subgraph), f);
        Ok(())
    }

    #[inline]
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        let (side, mut rest) = (self.side(direction), Neighbors::default());
        for v in frontier {
            let (mut run, more) = side.block(v.subgraph()).first_run(v.local(), &mut rest);
            // One call of `f` in the code for all runs, so that it is inlined at any size.
            loop {
                f(v, run);
                match more.then(|| rest.take_run()).flatten() {
                    Some(next) => run = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId, direction: Direction) {
        if let Some(chunk) = self.side(direction).chunk(v.subgraph()) {
            chunk.prefetch_place(v);
        }
    }

    #[inline]
    fn prefetch_corrections(&self, v: VertexId, direction: Direction) {
        if let Some(chunk) = self.side(direction).chunk(v.subgraph()) {
            chunk.prefetch_corrections_of(v);
        }
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        if let Some(chunk) = self.side(direction).chunk(v.subgraph()) {
            chunk.prefetch_list(v);
        }
    }

    #[inline]
    fn prefetch_added(&self, v: VertexId, direction: Direction) {
        if let Some(chunk) = self.side(direction).chunk(v.subgraph()) {
            chunk.prefetch_added(v);
        }
    }

    fn vertex_bound(&self) -> usize {
        self.shape.vertex_bound
    }

    fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.shape.edge_count
    }

    fn is_directed(&self) -> bool {
        self.shape.directed
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.present(v.subgraph()) & v.local().bit() != 0
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        let i = v.local().index();
        let offsets = self.side(direction).chunk(v.subgraph()).map(|c| c.offsets(v.subgraph().index()));
        offsets.map_or(0, |offsets| (offsets[i + 1] - offsets[i]) as usize)
    }
}

impl Resident for View {
    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        self.block(v.subgraph(), direction).neighbors(v.local())
    }
}

impl WeightedTopology for View {
    #[inline]
    fn prefetch_weights(&self, v: VertexId, direction: Direction) {
        self.side(direction).chunk(v.subgraph()).into_iter().for_each(|chunk| chunk.prefetch_weights(v));
    }

    fn has_weights(&self) -> bool {
        self.shape.weighted
    }

    #[inline]
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        let side = self.side(direction);
        let mut rest = WeightedNeighbors::default();
        for v in frontier {
            let block = side.weighted_block(v.subgraph());
            let (mut run, mut weights, more) = block.first_run(v.local(), &mut rest);
            loop {
                f(v, run, weights);
                match more.then(|| rest.take_run()).flatten() {
                    Some(next) => (run, weights) = next,
                    None => break,
                }
            }
        }
        Ok(())
    }
}
