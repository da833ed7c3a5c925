//! Reads of a snapshot: each access locks one vertex, copies the visible neighbours, and unlocks.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Direction, GraphSnapshot, Neighbors, Resident, SubgraphId, Timestamp, Topology, VertexId,
    WeightedTopology, scan_blocks,
};

use super::list::List;
use super::records::{Alone, Records};
use crate::GraphForm;
use crate::clock::Reader;
use crate::flat::FlatLists;
use crate::run::{FIRST_RUN, RUN, Run, with_run};
use crate::runs::{Runs, RunsBlock};

/// The adjacency lists at one timestamp.
pub struct AdjlstSnapshot<R> {
    records: Arc<R>,
    form: GraphForm,
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    flat: FlatLists,
    /// The registered reader, which keeps writers from reclaiming versions; none if there are no concurrent
    /// writers.
    _reader: Option<Reader>,
}

impl<L: List> AdjlstSnapshot<Alone<L>> {
    /// Returns a snapshot of a table that does not change while the snapshot exists.
    pub(super) fn alone(records: Arc<Alone<L>>, form: GraphForm) -> Self {
        let seen = (records.at, records.vertices as usize, records.edges as u64);
        AdjlstSnapshot::new(records, form, seen, None)
    }
}

impl<R: Records> AdjlstSnapshot<R> {
    /// Returns a snapshot of a table with concurrent writers.
    pub(super) fn registered(records: Arc<R>, form: GraphForm, reader: Reader) -> Self {
        let seen = (reader.timestamp().0, reader.vertices(), reader.edges());
        AdjlstSnapshot::new(records, form, seen, Some(reader))
    }

    fn new(
        records: Arc<R>,
        form: GraphForm,
        (at, vertices, edges): (u64, usize, u64),
        reader: Option<Reader>,
    ) -> Self {
        // Every vertex that the reader sees raised the bound before it was published. So it did so before the
        // reader was registered.
        let bound = records.bound();
        AdjlstSnapshot {
            records,
            form,
            at,
            vertices,
            edges,
            bound,
            flat: FlatLists::default(),
            _reader: reader,
        }
    }
}

impl<R: Records> Runs for AdjlstSnapshot<R> {
    /// Calls `f` with the neighbours of `v` in one or more runs, until `f` breaks. No lock is held while `f`
    /// runs. So a list that is longer than a run is locked again for each run. The neighbours that the
    /// snapshot sees cannot change between two runs.
    #[inline]
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let direction = self.form.kept(direction);
        if let Some((targets, weights)) = self.records.whole(v, direction) {
            return f(targets, weights);
        }
        with_run(|run| {
            let (mut from, mut most) = (0, FIRST_RUN);
            loop {
                run.len = 0;
                let copy = |list: &R::List, run: &mut Run| list.copy(from, self.at, most, run);
                let next = self.records.read(v, |record| copy(record.list(direction)?, run)).flatten();
                let weights = if self.form.weighted { &run.weights[..run.len] } else { &[] };
                f(&run.targets[..run.len], weights)?;
                let Some(next) = next else { return ControlFlow::Continue(()) };
                (from, most) = (next, RUN);
            }
        })
    }
}

impl<R: Records> Topology for AdjlstSnapshot<R> {
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
        self.form.directed
    }

    fn contains(&self, v: VertexId) -> bool {
        let present = |list: &R::List| list.is_present(self.at);
        self.records.read(v, |record| record.list(Direction::Out).is_some_and(present)).unwrap_or(false)
    }

    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, Self::Block<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        scan_blocks(subgraphs, |subgraph| RunsBlock::new(self, subgraph, direction), f);
        Ok(())
    }

    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        self.visit_runs::<false>(frontier, direction, |v, run, _| f(v, run));
        Ok(())
    }
}

impl<R: Records> Resident for AdjlstSnapshot<R> {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let direction = self.form.kept(direction);
        let list = match self.records.whole(v, direction) {
            Some((targets, _)) => targets,
            None => self.flat.get(v, direction, self.bound, |list| {
                self.copy_list(v, direction, list);
            }),
        };
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        let direction = self.form.kept(direction);
        let degree = |list: &R::List| list.degree(self.at);
        self.records.read(v, |record| record.list(direction).map_or(0, degree)).unwrap_or(0)
    }
}

impl<R: Records> WeightedTopology for AdjlstSnapshot<R> {
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

impl<R: Records> GraphSnapshot for AdjlstSnapshot<R> {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.records.read(src, |record| record.list(Direction::Out)?.find(dst, self.at)).flatten()
    }
}
