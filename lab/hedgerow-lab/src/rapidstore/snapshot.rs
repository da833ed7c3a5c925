//! Reads of a snapshot. Opening the snapshot collects one version of each subgraph; later reads need no locks
//! and no timestamps.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Block, Direction, GraphSnapshot, LocalVertex, Neighbors, Resident, SubgraphId, Timestamp, Topology,
    VertexId, WeightedTopology, scan_blocks, simd,
};

use super::side::Side;
use super::version::Version;
use crate::GraphForm;
use crate::clock::Reader;
use crate::flat::FlatLists;

/// The number of cache lines of a list to prefetch; the hardware prefetcher loads the following ones.
const PREFETCHED_LINES: usize = 2;

/// A version of each subgraph.
pub struct RapidStoreSnapshot {
    versions: Box<[Option<Arc<Version>>]>,
    form: GraphForm,
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    flat: FlatLists,
    /// The registered reader, for which writers keep the versions linked; none if there are no concurrent
    /// writers.
    _reader: Option<Reader>,
}

impl RapidStoreSnapshot {
    /// Returns a snapshot of the versions that a reader in the tracer has collected.
    pub(super) fn registered(versions: Box<[Option<Arc<Version>>]>, form: GraphForm, reader: Reader) -> Self {
        let mut snapshot =
            Self::alone(versions, form, reader.timestamp().0, (reader.vertices(), reader.edges()));
        snapshot._reader = Some(reader);
        snapshot
    }

    /// Returns a snapshot of versions that no writer changes, with their numbers of vertices and edges.
    pub(super) fn alone(
        versions: Box<[Option<Arc<Version>>]>,
        form: GraphForm,
        at: u64,
        (vertices, edges): (usize, u64),
    ) -> Self {
        let last = |(i, version): (usize, &Option<Arc<Version>>)| {
            let live = version.as_ref()?.live;
            (live != 0).then(|| i * 64 + 64 - live.leading_zeros() as usize)
        };
        let bound = versions.iter().enumerate().rev().find_map(last).unwrap_or(0);
        RapidStoreSnapshot {
            versions,
            form,
            at,
            vertices,
            edges,
            bound,
            flat: FlatLists::default(),
            _reader: None,
        }
    }

    #[inline]
    fn version(&self, subgraph: SubgraphId) -> Option<&Version> {
        self.versions.get(subgraph.index())?.as_deref()
    }

    #[inline]
    fn side(&self, subgraph: SubgraphId, direction: Direction) -> Option<&Side> {
        self.version(subgraph)?.side(self.form.kept(direction))
    }

    #[inline]
    fn runs(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.side(v.subgraph(), direction) {
            Some(side) => side.runs(v.local(), f),
            None => f(&[], &[]),
        }
    }
}

/// The lists of one subgraph.
#[derive(Clone, Copy)]
pub struct RapidStoreBlock<'a>(Option<&'a Side>);

impl Block for RapidStoreBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.0.map_or(0, |side| side.degree(local))
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.0 {
            Some(side) => side.runs(local, |run, _| f(run)),
            None => f(&[]),
        }
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        match self.0 {
            Some(side) => side.first_run(local),
            None => Some(&[]),
        }
    }
}

impl Topology for RapidStoreSnapshot {
    type Error = Infallible;
    type Block<'a> = RapidStoreBlock<'a>;

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

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.version(v.subgraph()).is_some_and(|version| version.live & v.local().bit() != 0)
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
        f: impl FnMut(SubgraphId, RapidStoreBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        scan_blocks(subgraphs, |subgraph| RapidStoreBlock(self.side(subgraph, direction)), f);
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
        if let Some(side) = self.side(v.subgraph(), direction) {
            simd::prefetch(side.place_address(v.local()));
        }
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        if let Some((targets, _)) = self.side(v.subgraph(), direction).and_then(|side| side.slices(v.local()))
        {
            simd::prefetch_slice(targets, PREFETCHED_LINES);
        }
    }
}

impl Resident for RapidStoreSnapshot {
    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let Some(side) = self.side(v.subgraph(), direction) else { return Neighbors::default() };
        if let Some((targets, _)) = side.slices(v.local()) {
            return Neighbors::from_slice(targets);
        }
        let list = self.flat.get(v, self.form.kept(direction), self.bound, |list| {
            let _ = side.runs(v.local(), |run, _| {
                list.extend_from_slice(run);
                ControlFlow::Continue(())
            });
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.side(v.subgraph(), direction).map_or(0, |side| side.degree(v.local()))
    }
}

impl WeightedTopology for RapidStoreSnapshot {
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

impl GraphSnapshot for RapidStoreSnapshot {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        self.side(src.subgraph(), Direction::Out)?.find(src.local(), dst)
    }
}
