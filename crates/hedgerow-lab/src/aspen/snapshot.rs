//! Reading: a snapshot holds the root of a version, which never changes.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Block, Direction, GraphSnapshot, LocalVertex, Neighbors, Resident, SUBGRAPH_VERTICES, SubgraphId,
    Timestamp, Topology, VertexId, WeightedTopology, simd,
};

use super::chunk::with_run;
use super::ctree::CTree;
use super::flat::{Flat, PART};
use super::root::Root;
use super::shape::{Coding, Shape};
use super::tree;
use crate::GraphForm;
use crate::flat::FlatLists;

/// A version of the graph.
pub struct AspenSnapshot {
    root: Arc<Root>,
    form: GraphForm,
    shape: Shape,
    at: u64,
    flat: Flat,
    /// Whole lists, decoded, for kernels that look at two at a time.
    whole: FlatLists,
}

impl AspenSnapshot {
    pub(super) fn new(root: Arc<Root>, form: GraphForm, shape: Shape) -> Self {
        let at = root.at;
        AspenSnapshot { root, form, shape, at, flat: Flat::default(), whole: FlatLists::default() }
    }

    /// As a snapshot of another timestamp: for a planted fault.
    pub(super) fn dated(mut self, at: u64) -> Self {
        self.at = at;
        self
    }

    /// The list of `v`, if it has one.
    #[inline]
    fn list(&self, v: VertexId, direction: Direction) -> Option<&CTree> {
        let direction = self.form.kept(direction);
        if self.shape.flat
            && let Some(lists) = self.flat.read(v, direction, false, (&self.root.tree, self.root.bound))
        {
            return lists.get(v.index() % PART);
        }
        tree::find(&self.root.tree, v.0)?.list(direction)
    }

    #[inline]
    fn runs(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.list(v, direction) {
            Some(list) => with_run(|run| list.runs(self.shape.coding, run, &mut f)),
            None => f(&[], &[]),
        }
    }
}

/// The lists of one subgraph.
#[derive(Clone, Copy)]
pub struct AspenBlock<'a> {
    lists: Lists<'a>,
    coding: Coding,
}

/// Where they are.
#[derive(Clone, Copy)]
enum Lists<'a> {
    /// In the flat snapshot, from the first local vertex on.
    Flat(&'a [CTree]),
    /// In the tree, where they were looked up for this block.
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
            Some(list) => with_run(|run| list.runs(self.coding, run, &mut |targets, _| f(targets))),
            None => f(&[]),
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
        match self.flat.made(v, Direction::Out) {
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
            let made = match self.shape.flat {
                true => self.flat.read(first, direction, true, (&root.tree, root.bound)),
                false => None,
            };
            let mut found;
            let lists = match made {
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
        self.visit_weighted(frontier, direction, |v, run, _| f(v, run))
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
            let _ = self.runs(v, direction, |run, _| {
                list.extend_from_slice(run);
                ControlFlow::Continue(())
            });
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
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        for v in frontier {
            let _ = self.runs(v, direction, |run, weights| {
                f(v, run, weights);
                ControlFlow::Continue(())
            });
        }
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
