//! Reads of a snapshot, which holds the immutable root of a version.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Block, Direction, GraphSnapshot, LocalVertex, Neighbors, Resident, SUBGRAPH_VERTICES, SubgraphId,
    Timestamp, Topology, VertexId, WeightedTopology, simd,
};

use super::chunk::with_run;
use super::ctree::CTree;
use super::flat::{self, Flat, PART};
use super::root::Root;
use super::shape::{Coding, Shape};
use super::tree;
use crate::GraphForm;
use crate::flat::FlatLists;
use crate::runs::Runs;

/// A version of the graph.
pub struct AspenSnapshot {
    root: Arc<Root>,
    form: GraphForm,
    shape: Shape,
    at: u64,
    flat: Flat,
    /// Whole decoded lists, for kernels that read two lists at a time.
    whole: FlatLists,
}

impl AspenSnapshot {
    pub(super) fn new(root: Arc<Root>, form: GraphForm, shape: Shape) -> Self {
        let at = root.at;
        AspenSnapshot { root, form, shape, at, flat: Flat::default(), whole: FlatLists::default() }
    }

    /// Returns the snapshot with another timestamp, for a planted fault.
    pub(super) fn dated(mut self, at: u64) -> Self {
        self.at = at;
        self
    }

    /// Returns the list of `v`, if it has one.
    #[inline]
    fn list(&self, v: VertexId, direction: Direction) -> Option<&CTree> {
        let direction = self.form.kept(direction);
        match self.part(v, direction, false) {
            Some(lists) => lists.get(v.index() % PART),
            None => tree::find(&self.root.tree, v.0)?.list(direction),
        }
    }

    /// Returns the part of `v` in the flat snapshot, if there is one. Called before a read of `v` or of its
    /// subgraph.
    #[inline]
    fn part(&self, v: VertexId, direction: Direction, is_subgraph: bool) -> Option<&flat::Lists> {
        if !self.shape.flat {
            return None;
        }
        self.flat.read(v, direction, is_subgraph, (&self.root.tree, self.root.bound))
    }
}

/// The lists of one subgraph.
#[derive(Clone, Copy)]
pub struct AspenBlock<'a> {
    lists: Lists<'a>,
    coding: Coding,
}

/// The places of the lists of a block.
#[derive(Clone, Copy)]
enum Lists<'a> {
    /// The lists in the flat snapshot, from the first local vertex on.
    Flat(&'a [CTree]),
    /// The lists in the tree, which this block looked up.
    Tree(&'a [Option<&'a CTree>; SUBGRAPH_VERTICES]),
}

impl AspenBlock<'_> {
    #[inline]
    fn list(&self, local: LocalVertex) -> Option<&CTree> {
        match self.lists {
            Lists::Flat(lists) => lists.get(local.index()),
            Lists::Tree(lists) => lists[local.index()],
        }
    }
}

impl Block for AspenBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.list(local).map_or(0, CTree::len)
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.list(local) {
            Some(list) => with_run(|run| list.runs::<false>(self.coding, run, &mut |targets, _| f(targets))),
            None => f(&[]),
        }
    }
}

impl Runs for AspenSnapshot {
    #[inline]
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.list(v, direction) {
            Some(list) => with_run(|run| list.runs::<WEIGHTS>(self.shape.coding, run, &mut f)),
            None => f(&[], &[]),
        }
    }
}

impl Topology for AspenSnapshot {
    type Error = Infallible;
    type Block<'a> = AspenBlock<'a>;

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

    fn contains(&self, v: VertexId) -> bool {
        let made = self.form.directions().iter().find_map(|&direction| self.flat.made(v, direction));
        match made.or_else(|| self.part(v, Direction::Out, false)) {
            Some(lists) => lists.contains(v),
            None => tree::find(&self.root.tree, v.0).is_some(),
        }
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        mut f: impl FnMut(SubgraphId, AspenBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        let (direction, coding, root) = (self.form.kept(direction), self.shape.coding, &*self.root);
        for subgraph in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
            let first = subgraph.vertex(LocalVertex(0));
            let mut found;
            let lists = match self.part(first, direction, true) {
                Some(lists) => Lists::Flat(lists.get(first.index() % PART..).unwrap_or(&[])),
                None => {
                    found = [None; SUBGRAPH_VERTICES];
                    tree::range(&root.tree, first.0, first.0 | 63, &mut |id, vertex| {
                        found[VertexId(id).local().index()] = vertex.list(direction);
                    });
                    Lists::Tree(&found)
                }
            };
            if f(subgraph, AspenBlock { lists, coding }).is_break() {
                break;
            }
        }
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
        let lists = self.flat.made(v, self.form.kept(direction));
        if let Some(list) = lists.and_then(|lists| lists.get(v.index() % PART)) {
            simd::prefetch(list);
        }
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        let lists = self.flat.made(v, self.form.kept(direction));
        if let Some(list) = lists.and_then(|lists| lists.get(v.index() % PART)) {
            list.prefetch();
        }
    }
}

impl Resident for AspenSnapshot {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let list = self.whole.get(v, self.form.kept(direction), self.root.bound, |list| {
            self.copy_list(v, direction, list);
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.list(v, direction).map_or(0, CTree::len)
    }
}

impl WeightedTopology for AspenSnapshot {
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

impl GraphSnapshot for AspenSnapshot {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.list(src, Direction::Out)?.find(dst, self.shape.coding)
    }
}

#[cfg(test)]
mod tests {
    use hedgerow_core::DynamicGraph;

    use super::*;
    use crate::Aspen;
    use crate::planted::sound;

    #[test]
    fn a_part_is_made_by_the_second_scan_and_by_questions_for_vertices() {
        let _sound = sound();
        let graph = Aspen::new(GraphForm { directed: true, weighted: false });
        let bound = 2 * PART as u32;
        let edges: Vec<_> = (0..bound).map(|v| (VertexId(v), VertexId(v ^ 1), 1.0)).collect();
        graph.insert_edges(&edges).expect("valid edges");
        let all = SubgraphId(0)..SubgraphId(bound / SUBGRAPH_VERTICES as u32);
        let snapshot = graph.snapshot().expect("a snapshot");
        let parts = |snapshot: &AspenSnapshot| {
            let made =
                |direction, part| snapshot.flat.made(VertexId(part * PART as u32), direction).is_some();
            [made(Direction::Out, 0), made(Direction::Out, 1), made(Direction::In, 0), made(Direction::In, 1)]
        };
        let scan = || snapshot.scan(all.clone(), Direction::In, |_, _| ControlFlow::Continue(()));
        assert!(scan().is_ok());
        assert_eq!(parts(&snapshot), [false; 4], "one scan does not pay for the parts");
        assert!(scan().is_ok());
        assert_eq!(parts(&snapshot), [false, false, true, true]);
        // Every part knows which vertices exist.
        assert!((0..bound).all(|v| snapshot.contains(VertexId(v))));
        assert_eq!(parts(&snapshot), [false, false, true, true]);
        let other = graph.snapshot().expect("a snapshot");
        assert!((0..PART as u32).all(|v| other.contains(VertexId(v))));
        assert_eq!(parts(&other), [true, false, false, false]);
        assert!(!other.contains(VertexId(bound)) && !other.contains(VertexId::MAX));
    }
}
