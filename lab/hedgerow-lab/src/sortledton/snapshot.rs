//! Snapshots. Each access latches one vertex, copies the state that the snapshot sees, and releases the
//! latch. Without latches, a snapshot lends pieces without versions as they are.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Direction, GraphSnapshot, Neighbors, Resident, SubgraphId, Timestamp, Topology, VertexId,
    WeightedTopology, scan_blocks,
};

use super::gate::Reading;
use super::piece::View;
use super::set::Set;
use super::table::{Alone, Latched, Record, Table};
use crate::GraphForm;
use crate::clock::Reader;
use crate::flat::FlatLists;
use crate::run::{RUN, with_run};
use crate::runs::{Runs, RunsBlock};

/// The number of neighbours in the first copy. A short list of the default size fits in it. It is not larger,
/// since some kernels stop after a few neighbours.
const FIRST_RUN: usize = 256;

/// The adjacency sets at one timestamp.
pub struct SortledtonSnapshot<T> {
    table: Arc<T>,
    form: GraphForm,
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    flat: FlatLists,
    /// The registration that keeps concurrent writers from removing versions.
    _reader: Option<Reader>,
    /// The entry in the gate that keeps writers out; only without versions.
    _reading: Option<Reading>,
}

impl SortledtonSnapshot<Alone> {
    /// Makes a snapshot of a table that does not change while the snapshot exists.
    pub(super) fn alone(table: Arc<Alone>, form: GraphForm) -> Self {
        let seen = (table.at, table.vertices as usize, table.edges as u64);
        SortledtonSnapshot::new(table, form, seen)
    }
}

impl SortledtonSnapshot<Latched> {
    /// Makes a snapshot of a table with concurrent writers.
    pub(super) fn registered(
        table: Arc<Latched>,
        form: GraphForm,
        reader: Reader,
        reading: Option<Reading>,
    ) -> Self {
        let seen = (reader.timestamp().0, reader.vertices(), reader.edges());
        let snapshot = SortledtonSnapshot::new(table, form, seen);
        SortledtonSnapshot { _reader: Some(reader), _reading: reading, ..snapshot }
    }
}

impl<T: Table> SortledtonSnapshot<T> {
    fn new(table: Arc<T>, form: GraphForm, (at, vertices, edges): (u64, usize, u64)) -> Self {
        // A transaction raises the bound for its new vertices before it is published. So the bound covers
        // every vertex that the reader sees, because the reader registered after that publication.
        let bound = table.bound();
        SortledtonSnapshot {
            table,
            form,
            at,
            vertices,
            edges,
            bound,
            flat: FlatLists::default(),
            _reader: None,
            _reading: None,
        }
    }

    /// Returns the weights that kernels get: none without `WEIGHTS`, and none for a graph without weights.
    #[inline]
    fn weights<'a, const WEIGHTS: bool>(&self, weights: &'a [f64]) -> &'a [f64] {
        if WEIGHTS && self.form.weighted { weights } else { &[] }
    }

    /// Calls `f` with a piece: in place, or as a copy if the snapshot may not see all of it.
    #[inline]
    fn lend<const WEIGHTS: bool>(
        &self,
        view: View<'_>,
        f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let view = if WEIGHTS { view } else { view.bare() };
        if view.marks.is_empty() {
            return f(view.targets, view.weights);
        }
        with_run(|run| {
            let mut rest = view;
            loop {
                let (part, behind) = rest.split(rest.targets.len().min(RUN));
                run.clear();
                part.copy(self.at, run);
                f(run.targets(), self.weights::<WEIGHTS>(run.weights()))?;
                if behind.targets.is_empty() {
                    return ControlFlow::Continue(());
                }
                rest = behind;
            }
        })
    }
}

impl<T: Table> Runs for SortledtonSnapshot<T> {
    /// Calls `f` with the neighbours of `v` in one or more runs, until `f` breaks. If `WEIGHTS`, `f` also
    /// gets the weights of a weighted graph. No latch is held while `f` runs. A set that is longer than a run
    /// is latched again for the next run. The state that the snapshot sees cannot change in between.
    #[inline]
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let direction = self.form.kept(direction);
        if let Some(record) = self.table.lend(v) {
            return match record.and_then(|record| record.set(direction)) {
                Some(set) => set.for_each(|view| self.lend::<WEIGHTS>(view, &mut f)),
                None => f(&[], &[]),
            };
        }
        with_run(|run| {
            let (mut from, mut most) = (0, FIRST_RUN);
            loop {
                run.clear();
                let copy = |record: &Record| record.set(direction)?.copy::<WEIGHTS>(from, self.at, most, run);
                let next = self.table.read(v, copy).flatten();
                f(run.targets(), self.weights::<WEIGHTS>(run.weights()))?;
                let Some(next) = next else { return ControlFlow::Continue(()) };
                (from, most) = (next, RUN);
            }
        })
    }
}

impl<T: Table> Topology for SortledtonSnapshot<T> {
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
        self.table.read(v, |record| record.is_present(self.at)).unwrap_or(false)
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

    #[inline]
    fn prefetch_place(&self, v: VertexId, _direction: Direction) {
        self.table.prefetch(v);
    }

    /// Prefetches a list only if the table has no latches: a hint must not wait.
    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        let record = self.table.lend(v).flatten();
        if let Some(set) = record.and_then(|record| record.set(self.form.kept(direction))) {
            set.prefetch();
        }
    }
}

impl<T: Table> Resident for SortledtonSnapshot<T> {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let direction = self.form.kept(direction);
        let lent = self.table.lend(v).map(|record| record.and_then(|record| record.set(direction)));
        let whole = match lent {
            Some(Some(set)) => set.whole(),
            Some(None) => Some(&[][..]),
            None => None,
        };
        let list = whole.unwrap_or_else(|| {
            self.flat.get(v, direction, self.bound, |list| {
                self.copy_list(v, direction, list);
            })
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        let direction = self.form.kept(direction);
        let degree = |set: &Set| set.degree(self.at);
        self.table.read(v, |record| record.set(direction).map_or(0, degree)).unwrap_or(0)
    }
}

impl<T: Table> WeightedTopology for SortledtonSnapshot<T> {
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

impl<T: Table> GraphSnapshot for SortledtonSnapshot<T> {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.table.read(src, |record| record.set(Direction::Out)?.find(dst, self.at)).flatten()
    }
}
