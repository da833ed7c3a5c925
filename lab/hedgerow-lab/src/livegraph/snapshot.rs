//! Reads of a snapshot, without locks. A read checks the timestamps of entries from the newest to the oldest,
//! and copies the visible entries before the kernel sees them.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Direction, GraphSnapshot, Neighbors, Resident, SubgraphId, Timestamp, Topology, VertexId,
    WeightedTopology, scan_blocks, simd,
};

use super::records::Graph;
use super::tel::Tel;
use crate::clock::Reader;
use crate::flat::FlatLists;
use crate::run::{FIRST_RUN, RUN, with_run};
use crate::runs::{Runs, RunsBlock};

/// The number of cache lines of a block to prefetch; the hardware prefetcher loads the following ones.
const PREFETCHED_LINES: usize = 2;

/// The logs at one timestamp.
pub struct LiveGraphSnapshot {
    graph: Arc<Graph>,
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    flat: FlatLists,
    /// The registered reader, which keeps writers from freeing blocks and entries; none if there are no
    /// concurrent writers.
    _reader: Option<Reader>,
}

impl LiveGraphSnapshot {
    /// Returns a snapshot of a graph with concurrent writers.
    pub(super) fn registered(graph: Arc<Graph>, reader: Reader) -> Self {
        let seen = (reader.timestamp().0, reader.vertices(), reader.edges());
        Self { _reader: Some(reader), ..Self::alone(graph, seen) }
    }

    /// Returns a snapshot of a graph that does not change while the snapshot exists.
    pub(super) fn alone(graph: Arc<Graph>, (at, vertices, edges): (u64, usize, u64)) -> Self {
        // Every vertex that a reader sees got its record before the reader was registered.
        let bound = graph.bound();
        LiveGraphSnapshot { graph, at, vertices, edges, bound, flat: FlatLists::default(), _reader: None }
    }

    #[inline]
    fn tel(&self, v: VertexId, direction: Direction) -> Option<Tel<'_>> {
        let record = self.graph.record(v)?;
        Some(self.graph.tel(record.list(self.graph.form.kept(direction))))
    }
}

impl Runs for LiveGraphSnapshot {
    /// Calls `f` with the neighbours of `v` in one or more runs, until `f` breaks. With `WEIGHTS`, `f` also
    /// gets their weights, if the graph has weights.
    #[inline]
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(tel) = self.tel(v, direction) else { return f(&[], &[]) };
        let (mut left, _) = tel.counts();
        with_run(|run| {
            let mut most = FIRST_RUN;
            loop {
                left = tel.copy::<WEIGHTS>(left, self.at, most, run);
                let weights = if WEIGHTS && self.graph.form.weighted { &run.weights[..run.len] } else { &[] };
                f(&run.targets[..run.len], weights)?;
                if left == 0 {
                    return ControlFlow::Continue(());
                }
                most = RUN;
            }
        })
    }
}

impl Topology for LiveGraphSnapshot {
    type Error = Infallible;
    type Block<'a> = RunsBlock<'a, Self>;

    fn vertex_bound(&self) -> usize {
        self.bound
    }

    fn vertex_count(&self) -> usize {
        self.vertices
    }

    fn edge_count(&self) -> u64 {
        self.edges
    }

    fn is_directed(&self) -> bool {
        self.graph.form.directed
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        let record = self.graph.record(v);
        record.is_some_and(|record| record.presence().is_present_at(&self.graph.store, self.at))
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree(v, direction)
    }

    #[inline]
    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, Self::Block<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        scan_blocks(subgraphs, |subgraph| RunsBlock::new(self, subgraph, direction), f);
        Ok(())
    }

    #[inline]
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        self.visit_runs::<false>(frontier, direction, |v, run, _| f(v, run));
        Ok(())
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId, _direction: Direction) {
        if let Some(record) = self.graph.record(v) {
            simd::prefetch(record);
        }
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        if let Some(record) = self.graph.record(v) {
            let address = record.list(self.graph.form.kept(direction));
            let words = self.graph.store.words(address);
            simd::prefetch_slice(&words[..words.len().min(8 * PREFETCHED_LINES)], PREFETCHED_LINES);
        }
    }
}

impl Resident for LiveGraphSnapshot {
    /// Returns a copy in ascending order, which is made at the first read of the list.
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let direction = self.graph.form.kept(direction);
        let list = self.flat.get(v, direction, self.bound, |list| {
            self.copy_list(v, direction, list);
            list.sort_unstable();
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.tel(v, direction).map_or(0, |tel| tel.degree(self.at))
    }
}

impl WeightedTopology for LiveGraphSnapshot {
    fn has_weights(&self) -> bool {
        self.graph.form.weighted
    }

    #[inline]
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        self.visit_runs::<true>(frontier, direction, f);
        Ok(())
    }
}

impl GraphSnapshot for LiveGraphSnapshot {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.tel(src, Direction::Out)?.find(dst, self.at)
    }
}
