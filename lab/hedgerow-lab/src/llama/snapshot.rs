//! Reads of a snapshot, which holds a root. Everything below the root is immutable except the deletion
//! vectors, and only later snapshots see their new marks.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Block, Direction, GraphSnapshot, LocalVertex, Neighbors, Resident, SubgraphId, Timestamp, Topology,
    VertexId, WeightedTopology, scan_blocks, simd,
};

use super::lists::Lists;
use super::record::Record;
use super::root::Root;
use crate::GraphForm;
use crate::flat::FlatLists;
use crate::runs::Runs;

/// The number of cache lines of a fragment to prefetch; the hardware prefetcher loads the following ones.
const PREFETCHED_LINES: usize = 2;

/// A snapshot of the graph.
pub struct LlamaSnapshot {
    root: Arc<Root>,
    form: GraphForm,
    /// Copies of lists that are in pieces or have removed entries, for kernels that read two lists at a time.
    whole: FlatLists,
}

impl LlamaSnapshot {
    pub(super) fn new(root: Arc<Root>, form: GraphForm) -> Self {
        LlamaSnapshot { root, form, whole: FlatLists::default() }
    }

    #[inline]
    fn lists(&self, direction: Direction) -> &Lists {
        &self.root.lists[self.form.kept(direction) as usize]
    }

    #[inline]
    fn record(&self, v: VertexId, direction: Direction) -> Option<&Record> {
        self.lists(direction).table.get(v)
    }
}

/// The lists of one subgraph.
#[derive(Clone, Copy)]
pub struct LlamaBlock<'a> {
    lists: &'a Lists,
    records: &'a [Record],
    epoch: u32,
}

impl Block for LlamaBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.records.get(local.index()).map_or(0, Record::degree)
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.records.get(local.index()) {
            Some(record) => self.lists.runs::<false>(record, self.epoch, |targets, _| f(targets)),
            None => f(&[]),
        }
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        self.lists.first(self.records.get(local.index())?)
    }
}

impl Runs for LlamaSnapshot {
    #[inline]
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let lists = self.lists(direction);
        match lists.table.get(v) {
            Some(record) => lists.runs::<WEIGHTS>(record, self.root.epoch, f),
            None => f(&[], &[]),
        }
    }
}

impl Topology for LlamaSnapshot {
    type Error = Infallible;
    type Block<'a> = LlamaBlock<'a>;

    fn vertex_bound(&self) -> usize {
        self.root.bound
    }

    fn vertex_count(&self) -> usize {
        self.root.vertices
    }

    fn edge_count(&self) -> u64 {
        self.root.edges
    }

    fn is_directed(&self) -> bool {
        self.form.directed
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.record(v, Direction::Out).is_some_and(Record::is_present)
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
        f: impl FnMut(SubgraphId, LlamaBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        let (lists, epoch) = (self.lists(direction), self.root.epoch);
        let block = |subgraph| LlamaBlock { lists, records: lists.table.subgraph(subgraph), epoch };
        scan_blocks(subgraphs, block, f);
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
    fn prefetch_place(&self, v: VertexId, direction: Direction) {
        if let Some(record) = self.record(v, direction) {
            simd::prefetch(record);
        }
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        let lists = self.lists(direction);
        if let Some(first) = lists.table.get(v).and_then(|record| lists.first(record)) {
            simd::prefetch_slice(&first[..first.len().min(16 * PREFETCHED_LINES)], PREFETCHED_LINES);
        }
    }
}

impl Resident for LlamaSnapshot {
    /// Returns the fragment itself if it is the whole list. Else returns a copy in ascending order, which is
    /// made at the first read of the list.
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let lists = self.lists(direction);
        let whole = lists.table.get(v).and_then(|record| lists.whole(record));
        let list = whole.unwrap_or_else(|| {
            self.whole.get(v, self.form.kept(direction), self.root.bound, |list| {
                self.copy_list(v, direction, list);
                list.sort_unstable();
            })
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.record(v, direction).map_or(0, Record::degree)
    }
}

impl WeightedTopology for LlamaSnapshot {
    fn has_weights(&self) -> bool {
        self.form.weighted
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

impl GraphSnapshot for LlamaSnapshot {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.root.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        let lists = self.lists(Direction::Out);
        let place = lists.find(lists.table.get(src)?, dst, self.root.epoch)?;
        Some(lists.weight(place))
    }
}
