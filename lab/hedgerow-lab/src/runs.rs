//! The common code of snapshots that return their lists in runs.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, Resident, SubgraphId, VertexId};

/// A snapshot that returns its lists in runs.
pub trait Runs {
    /// Calls `f` with the neighbours of `v` in one or more runs, until `f` breaks. With `WEIGHTS`, `f` also
    /// gets their weights, if the graph has weights. Without `WEIGHTS`, the weights that `f` gets have no
    /// meaning.
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Calls `f` with the runs of each of these vertices.
    #[inline]
    fn visit_runs<const WEIGHTS: bool>(
        &self,
        vertices: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) {
        for v in vertices {
            let _ = self.runs::<WEIGHTS>(v, direction, |run, weights| {
                f(v, run, weights);
                ControlFlow::Continue(())
            });
        }
    }

    /// Appends all neighbours of `v` to a list.
    fn copy_list(&self, v: VertexId, direction: Direction, list: &mut Vec<VertexId>) {
        self.visit_runs::<false>([v], direction, |_, run, _| list.extend_from_slice(run));
    }
}

/// The lists of one subgraph; the block reads each list separately.
pub struct RunsBlock<'a, S> {
    snapshot: &'a S,
    subgraph: SubgraphId,
    direction: Direction,
}

impl<S> Clone for RunsBlock<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for RunsBlock<'_, S> {}

impl<'a, S> RunsBlock<'a, S> {
    #[inline]
    pub(crate) fn new(snapshot: &'a S, subgraph: SubgraphId, direction: Direction) -> Self {
        RunsBlock { snapshot, subgraph, direction }
    }
}

impl<S: Runs + Resident> Block for RunsBlock<'_, S> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.snapshot.degree(self.subgraph.vertex(local), self.direction)
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.snapshot.runs::<false>(self.subgraph.vertex(local), self.direction, |run, _| f(run))
    }
}
