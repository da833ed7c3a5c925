//! Snapshots. A snapshot keeps the version that it began with, and reads the index of a vertex at each
//! access.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::{
    Direction, GraphSnapshot, Neighbors, Resident, SubgraphId, Timestamp, Topology, VertexId,
    WeightedTopology, scan_blocks, simd,
};

use super::entry::Entry;
use super::files::BLOCK;
use super::graph::{Graph, Places, Version};
use super::record::Record;
use super::segment::Place;
use crate::LabError;
use crate::clock::Reader;
use crate::flat::FlatLists;
use crate::run::{FIRST_RUN, RUN, with_run};
use crate::runs::{Runs, RunsBlock};

/// The graph at one timestamp.
///
/// # Panics
/// Every method that reads edges panics if a file cannot be read: [`Topology`] of a [`Resident`] graph has no
/// errors, and there is no right answer.
pub struct LsmGraphSnapshot {
    graph: Arc<Graph>,
    version: Arc<Version>,
    timestamp: Timestamp,
    /// The newest timestamp that the snapshot sees. Without versions, it is later than every timestamp.
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    flat: FlatLists,
    /// The registration that keeps concurrent writers from removing versions.
    _reader: Option<Reader>,
    /// The reference that makes writers wait; only with one user at a time.
    _alone: Option<Arc<()>>,
}

/// The timestamps and counts that a snapshot sees.
pub(super) struct Seen {
    pub(super) timestamp: u64,
    pub(super) at: u64,
    pub(super) vertices: i64,
    pub(super) edges: i64,
}

/// Returns the value that was read. Panics if a file cannot be read.
fn must<T>(read: Result<T, LabError>) -> T {
    read.unwrap_or_else(|error| panic!("a snapshot of an LSMGraph cannot be read: {error}"))
}

impl LsmGraphSnapshot {
    /// Makes a snapshot of a graph that does not change while the snapshot exists.
    pub(super) fn alone(graph: Arc<Graph>, seen: &Seen, alone: Arc<()>) -> Self {
        let version = graph.version();
        let snapshot = LsmGraphSnapshot::new(graph, version, seen);
        LsmGraphSnapshot { _alone: Some(alone), ..snapshot }
    }

    /// Makes a snapshot of a graph with concurrent writers. `version` was taken after the reader was
    /// registered.
    pub(super) fn registered(graph: Arc<Graph>, version: Arc<Version>, reader: Reader) -> Self {
        let at = reader.timestamp().0;
        let (vertices, edges) = (reader.vertices() as i64, reader.edges() as i64);
        let seen = Seen { timestamp: at, at, vertices, edges };
        LsmGraphSnapshot { _reader: Some(reader), ..LsmGraphSnapshot::new(graph, version, &seen) }
    }

    fn new(graph: Arc<Graph>, version: Arc<Version>, seen: &Seen) -> Self {
        LsmGraphSnapshot {
            timestamp: Timestamp(seen.timestamp),
            at: seen.at,
            vertices: seen.vertices as usize,
            edges: seen.edges as u64,
            bound: graph.bound(),
            flat: FlatLists::default(),
            graph,
            version,
            _reader: None,
            _alone: None,
        }
    }

    /// Returns the result of `f` for a record, if there is one. The lock of the record is held while `f`
    /// runs.
    #[inline]
    fn read<T>(&self, v: VertexId, f: impl FnOnce(&Record) -> T) -> Option<T> {
        Some(f(&self.graph.known(v)?.read()))
    }

    /// Returns the places of the list of `v`: the first buffer to read, and the places in files.
    #[inline]
    fn places(&self, v: VertexId, direction: Direction) -> Option<(u32, Places)> {
        let places = |record: &Record| {
            let side = record.side(direction)?;
            Some((side.floor, self.graph.places(&self.version, side, (v, direction))))
        };
        self.read(v, places).flatten()
    }

    /// Calls `f` with the blocks of a list. The snapshot sees the whole list as it is stored.
    fn lend<const WEIGHTS: bool>(
        place: &Place,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut next, end) = (place.start, place.start + place.len);
        while next < end {
            let (block, to) = (next / BLOCK, end.min((next / BLOCK + 1) * BLOCK));
            let range = (next % BLOCK) as usize..(next % BLOCK + to - next) as usize;
            let targets = must(place.segment.targets(block));
            let weights = if WEIGHTS { must(place.segment.weights(block)) } else { None };
            let weights = weights.as_deref().map_or(&[][..], |weights| &weights[range.clone()]);
            f(&targets[range], weights)?;
            next = to;
        }
        ControlFlow::Continue(())
    }
}

impl Runs for LsmGraphSnapshot {
    /// Calls `f` while no lock is held. Files do not change, and the part of a list in memory that the
    /// snapshot sees cannot change.
    fn runs<const WEIGHTS: bool>(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let direction = self.graph.form.kept(direction);
        let Some((floor, places)) = self.places(v, direction) else { return f(&[], &[]) };
        let buffers = &self.version.buffers;
        let in_memory = buffers.iter().any(|b| b.order >= floor && b.list(v, direction).is_some());
        match places.as_slice() {
            [] if !in_memory => return f(&[], &[]),
            [place] if !in_memory && place.segment.is_plain(self.at) => {
                return Self::lend::<WEIGHTS>(place, f);
            }
            _ => {}
        }
        with_run(|run| {
            let (mut from, mut most) = (VertexId(0), FIRST_RUN);
            loop {
                let of = (&*self.version, floor, &places);
                let next = self.graph.fill::<WEIGHTS>(of, (v, direction), (from, self.at), most, run);
                let next = must(next);
                let weights = if WEIGHTS && self.graph.form.weighted { run.weights() } else { &[] };
                f(run.targets(), weights)?;
                let Some(next) = next else { return ControlFlow::Continue(()) };
                (from, most) = (next, RUN);
            }
        })
    }
}

impl Topology for LsmGraphSnapshot {
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

    fn contains(&self, v: VertexId) -> bool {
        self.read(v, |record| record.itself.at(self.at)).unwrap_or(false)
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
        if let Some(record) = self.graph.known(v) {
            simd::prefetch_slice(std::slice::from_ref(record), 2);
        }
    }
}

impl Resident for LsmGraphSnapshot {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let direction = self.graph.form.kept(direction);
        let list = self.flat.get(v, direction, self.bound, |list| {
            self.copy_list(v, direction, list);
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        let direction = self.graph.form.kept(direction);
        let counted = self.read(v, |record| match record.side(direction) {
            Some(side) => (side.changed <= self.at).then_some(side.degree as usize),
            None => Some(0),
        });
        match counted {
            None => 0,
            Some(Some(degree)) => degree,
            Some(None) => {
                let mut degree = 0;
                self.visit_runs::<false>([v], direction, |_, run, _| degree += run.len());
                degree
            }
        }
    }
}

impl WeightedTopology for LsmGraphSnapshot {
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

impl GraphSnapshot for LsmGraphSnapshot {
    fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        let find = |record: &Record| {
            let side = record.side(Direction::Out)?;
            must(self.graph.find(&self.version, side, (src, Direction::Out), dst, self.at))
        };
        self.read(src, find).flatten().and_then(Entry::live)
    }
}
