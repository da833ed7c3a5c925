//! The traits through which kernels read a view by the page.

use std::ops::{ControlFlow, Range};

use hedgerow_catalog::error::Error;
use hedgerow_core::{Direction, SubgraphId, Topology, VertexId, WeightedTopology};
use hedgerow_pager::budget::taken::Lends;

use super::taken::Side;
use super::{BATCH, TieredBlock, TieredView, Waits};

/// A kernel's callback for a list block, or for a run. It is a trait object, so that the code that reads
/// files is compiled once, and not for each loop of each kernel.
type ScanBlock<'f> = dyn FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()> + 'f;
type VisitRun<'f> = dyn FnMut(VertexId, &[VertexId], &[f64]) + 'f;

impl Topology for TieredView {
    type Error = Error;
    const VISITED_TOGETHER: usize = BATCH;
    type Block<'a> = TieredBlock<'a>;

    fn vertex_bound(&self) -> usize {
        self.bound as usize
    }

    fn vertex_count(&self) -> usize {
        self.mask.as_ref().map_or_else(|| self.snapshot.vertex_count() as usize, |mask| mask.count())
    }

    fn edge_count(&self) -> u64 {
        self.edge_count
    }

    fn is_directed(&self) -> bool {
        self.taken.is_directed()
    }

    fn is_stored(&self, direction: Direction) -> bool {
        self.taken.side(direction) != Side::Searched
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        match &self.mask {
            None => self.existing.present(v.subgraph()) & v.local().bit() != 0,
            Some(mask) => mask.contains(v),
        }
    }

    /// Estimates outgoing edges by the mean over 64 vertices, including edges of the labels that are not
    /// chosen. Estimates incoming edges by the mean over all vertices, since directories do not count these.
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        let mean = self.edge_count.div_ceil(self.vertex_count().max(1) as u64) as usize;
        match self.taken.side(direction) {
            Side::Stored(Direction::Out) => self.taken.mean(v.subgraph()),
            Side::Joined => 2 * mean,
            _ => mean,
        }
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let _lends = Lends::begin();
        let f: &mut ScanBlock<'_> = &mut f;
        let scanned = match self.taken.side(direction) {
            Side::Stored(direction) => self.scan_lists(subgraphs, (direction, Waits::Yes), f),
            Side::Searched => self.scan_incoming(subgraphs, f),
            Side::Joined => self.scan_joined(subgraphs, f),
        };
        scanned.map_err(|stop| self.core().pager.error_of(stop))
    }

    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Error> {
        self.visit_weighted(frontier, direction, |v, run, _| f(v, run))
    }
}

impl WeightedTopology for TieredView {
    fn has_weights(&self) -> bool {
        self.is_weighted()
    }

    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Error> {
        let _lends = Lends::begin();
        let frontier: &mut dyn Iterator<Item = VertexId> = &mut frontier.into_iter();
        let f: &mut VisitRun<'_> = &mut f;
        let visited = match self.taken.side(direction) {
            Side::Stored(direction) => self.visit_lists(frontier, (direction, Waits::Yes), f),
            Side::Searched => self.visit_incoming(frontier, Waits::Yes, f),
            Side::Joined => self.visit_joined(frontier, f),
        };
        visited.map_err(|stop| self.core().pager.error_of(stop))
    }
}
