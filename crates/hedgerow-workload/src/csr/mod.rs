//! A graph that cannot change, as compressed sparse rows: offsets and one array of neighbours. Long because
//! all ways to build and to read it are in one place.
//!
//! The simplest layout, and the unit that engines are compared with: [`Csr`] implements [`Topology`] and
//! [`WeightedTopology`], so that kernels run the same loops on it. 8 bytes per vertex and 4 per directed
//! edge, twice for a directed graph (both directions), plus 8 per edge if it has weights.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use hedgerow_core::{
    Block, Direction, LocalVertex, Neighbors, Resident, SubgraphId, Topology, VertexId, WeightedNeighbors,
    WeightedTopology, scan_blocks, simd,
};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// The treatment of edges that repeat an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// One edge is kept, with the weight of the last one.
    #[default]
    Merge,
    /// All edges are kept: a multigraph.
    Keep,
}

/// The options of building a [`Csr`].
#[derive(Clone, Debug, Default)]
pub struct CsrOptions {
    /// True if edges have a direction. If not, each edge is in the lists of both ends (a self-loop once).
    pub directed: bool,
    /// The treatment of repeated edges.
    pub duplicates: Duplicates,
    /// True to drop edges from a vertex to itself.
    pub drop_self_loops: bool,
    /// The ids that are live, if not all. No edge may touch another id.
    pub live: Option<Vec<bool>>,
}

/// An error in the input of a [`Csr`].
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum CsrError {
    /// The number of ids does not fit 32 bits.
    #[error("at most {} vertices fit 32-bit ids, found {vertices}", u32::MAX)]
    TooManyVertices {
        /// The number of ids.
        vertices: usize,
    },
    /// An edge has an end that is not a live vertex.
    #[error("edge {index} joins {src} and {dst}, but one of them is no vertex: ids are below {vertices}")]
    Endpoint {
        /// The position of the edge in the input.
        index: usize,
        /// Its source.
        src: u32,
        /// Its destination.
        dst: u32,
        /// The number of ids.
        vertices: usize,
    },
    /// A mask or the weights have another length than the list that they describe.
    #[error("{what}: expected {expected} entries, found {found}")]
    Length {
        /// The name of the list.
        what: &'static str,
        /// The length needed.
        expected: usize,
        /// The length given.
        found: usize,
    },
}

/// A fixed graph over the ids `0..vertex_bound`; neighbours ascend.
#[derive(Clone, Debug)]
pub struct Csr {
    vertex_bound: usize,
    vertex_count: usize,
    edge_count: u64,
    live: Option<Vec<bool>>,
    out: Rows,
    /// Rows against the direction, for directed graphs.
    into: Option<Rows>,
}

/// The rows of one direction.
#[derive(Clone, Debug)]
struct Rows {
    /// Row v is `targets[offsets[v]..offsets[v + 1]]`.
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Option<Vec<f64>>,
}

impl Csr {
    /// Builds the graph of `edges` over `0..vertices`, in parallel.
    ///
    /// # Errors
    /// [`CsrError`] if an edge has an end out of range or not live, or the mask has another length than
    /// `vertices`.
    ///
    /// # Cost
    /// O(edges · log edges), and 12 bytes per directed edge while building.
    pub fn from_edges(vertices: usize, edges: &[(u32, u32)], options: &CsrOptions) -> Result<Csr, CsrError> {
        check(vertices, edges, options)?;
        let keys = |flip: bool| -> Vec<u64> {
            let pack = |&(u, v): &(u32, u32)| if flip { pack(v, u) } else { pack(u, v) };
            edges.par_iter().filter(|e| keeps(e, options)).map(pack).collect()
        };
        let build = |mut keys: Vec<u64>| {
            keys.par_sort_unstable();
            if options.duplicates == Duplicates::Merge {
                keys.dedup();
            }
            Rows::new(vertices, &keys, |&key| key)
        };
        if options.directed {
            let (out, into) = (build(keys(false)), build(keys(true)));
            return Ok(Csr::assemble(vertices, options, out, Some(into)));
        }
        let mut both = keys(false);
        both.par_extend(edges.par_iter().filter(|e| e.0 != e.1).map(|&(u, v)| pack(v, u)));
        Ok(Csr::assemble(vertices, options, build(both), None))
    }

    /// Like [`from_edges`](Self::from_edges), but with the weight of each edge.
    ///
    /// # Errors
    /// The errors of [`from_edges`](Self::from_edges), and [`CsrError::Length`] for weights.
    pub fn from_weighted_edges(
        vertices: usize,
        edges: &[(u32, u32)],
        weights: &[f64],
        options: &CsrOptions,
    ) -> Result<Csr, CsrError> {
        check(vertices, edges, options)?;
        if weights.len() != edges.len() {
            return Err(CsrError::Length { what: "weights", expected: edges.len(), found: weights.len() });
        }
        // The position in the input makes the order total, and puts the newest of equal edges last.
        let keys = |flip: bool| -> Vec<(u64, usize)> {
            let kept = edges.par_iter().enumerate().filter(|(_, e)| keeps(e, options));
            kept.map(|(i, &(u, v))| (if flip { pack(v, u) } else { pack(u, v) }, i)).collect()
        };
        let build = |mut keys: Vec<(u64, usize)>| {
            keys.par_sort_unstable();
            if options.duplicates == Duplicates::Merge {
                keys.dedup_by(|later, kept| {
                    let same = later.0 == kept.0;
                    if same {
                        *kept = *later;
                    }
                    same
                });
            }
            let mut rows = Rows::new(vertices, &keys, |&(key, _)| key);
            rows.weights = Some(keys.par_iter().map(|&(_, i)| weights[i]).collect());
            rows
        };
        if options.directed {
            let (out, into) = (build(keys(false)), build(keys(true)));
            return Ok(Csr::assemble(vertices, options, out, Some(into)));
        }
        let mut both = keys(false);
        let mirrored = edges.par_iter().enumerate().filter(|(_, e)| e.0 != e.1);
        both.par_extend(mirrored.map(|(i, &(u, v))| (pack(v, u), i)));
        Ok(Csr::assemble(vertices, options, build(both), None))
    }

    fn assemble(vertices: usize, options: &CsrOptions, out: Rows, into: Option<Rows>) -> Csr {
        let live = options.live.clone();
        let vertex_count = live.as_ref().map_or(vertices, |live| live.iter().filter(|&&l| l).count());
        let entries = out.targets.len() as u64;
        let edge_count = if into.is_some() { entries } else { (entries + out.self_loops()) / 2 };
        Csr { vertex_bound: vertices, vertex_count, edge_count, live, out, into }
    }

    #[inline]
    fn rows(&self, direction: Direction) -> &Rows {
        match (&self.into, direction) {
            (Some(into), Direction::In) => into,
            _ => &self.out,
        }
    }

    /// Returns the weights of `v`'s edges in `direction`, in the order of neighbours; empty without weights.
    pub fn weights(&self, v: VertexId, direction: Direction) -> &[f64] {
        let rows = self.rows(direction);
        rows.weights.as_ref().map_or(&[], |weights| &weights[rows.range(v.index())])
    }

    /// Returns the neighbours of `v` in `direction` and their weights.
    #[inline]
    pub fn weighted_neighbors(&self, v: VertexId, direction: Direction) -> WeightedNeighbors<'_> {
        let rows = self.rows(direction);
        let range = rows.range(v.index());
        let weights = rows.weights.as_ref().map_or(&[][..], |weights| &weights[range.clone()]);
        WeightedNeighbors::from_slices(&rows.targets[range], weights)
    }

    /// Returns the bytes held by offsets, neighbours and weights.
    pub fn bytes(&self) -> usize {
        self.out.bytes() + self.into.as_ref().map_or(0, Rows::bytes)
    }
}

/// The rows of one subgraph. Nothing is ever added to its lists, and loops may rely on that.
#[derive(Clone, Copy, Debug)]
pub struct RowBlock<'a> {
    rows: &'a Rows,
    subgraph: SubgraphId,
}

impl Block for RowBlock<'_> {
    #[inline]
    fn degree(&self, local: LocalVertex) -> usize {
        self.rows.range(self.subgraph.vertex(local).index()).len()
    }

    #[inline]
    fn for_each_run(
        &self,
        local: LocalVertex,
        mut f: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        f(self.rows.list(self.subgraph.vertex(local)))
    }

    #[inline]
    fn main(&self, local: LocalVertex) -> Option<&[VertexId]> {
        Some(self.rows.list(self.subgraph.vertex(local)))
    }

    #[inline]
    fn is_additive(&self) -> bool {
        true
    }
}

impl Topology for Csr {
    type Error = Infallible;
    type Block<'a> = RowBlock<'a>;

    #[inline]
    fn vertex_bound(&self) -> usize {
        self.vertex_bound
    }

    #[inline]
    fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    #[inline]
    fn edge_count(&self) -> u64 {
        self.edge_count
    }

    #[inline]
    fn is_directed(&self) -> bool {
        self.into.is_some()
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        match &self.live {
            None => v.index() < self.vertex_bound,
            Some(live) => live.get(v.index()).copied().unwrap_or(false),
        }
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
        f: impl FnMut(SubgraphId, RowBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        let rows = self.rows(direction);
        scan_blocks(subgraphs, |subgraph| RowBlock { rows, subgraph }, f);
        Ok(())
    }

    #[inline]
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        let rows = self.rows(direction);
        frontier.into_iter().for_each(|v| f(v, rows.list(v)));
        Ok(())
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId, direction: Direction) {
        simd::prefetch(self.rows(direction).offsets.as_ptr().wrapping_add(v.index()));
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        simd::prefetch_slice(self.rows(direction).list(v), PREFETCHED_LINES);
    }
}

impl Resident for Csr {
    #[inline]
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        Neighbors::from_slice(self.rows(direction).list(v))
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.rows(direction).range(v.index()).len()
    }
}

/// The cache lines of a list that are prefetched; the processor itself prefetches the rest.
const PREFETCHED_LINES: usize = 2;

impl WeightedTopology for Csr {
    fn has_weights(&self) -> bool {
        self.out.weights.is_some()
    }

    #[inline]
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        let rows = self.rows(direction);
        let weights = rows.weights.as_deref().unwrap_or(&[]);
        for v in frontier {
            let range = rows.range(v.index());
            f(v, &rows.targets[range.clone()], weights.get(range).unwrap_or(&[]));
        }
        Ok(())
    }

    #[inline]
    fn prefetch_weights(&self, v: VertexId, direction: Direction) {
        simd::prefetch_slice(self.weights(v, direction), PREFETCHED_LINES);
    }
}

impl Rows {
    /// Makes rows of ascending keys: source in the upper half, destination in the lower.
    fn new<K: Sync>(vertices: usize, sorted: &[K], key: impl Fn(&K) -> u64 + Sync) -> Rows {
        let targets = sorted.par_iter().map(|k| VertexId(key(k) as u32)).collect();
        let first_of = |v: usize| sorted.partition_point(|k| (key(k) >> 32) < v as u64) as u64;
        // Each task searches for the beginning of its rows, then reads on; no two tasks write one offset.
        const RANGE: usize = 4096;
        let mut offsets = vec![0u64; vertices + 1];
        offsets.par_chunks_mut(RANGE).enumerate().for_each(|(chunk, offsets)| {
            let mut at = first_of(chunk * RANGE) as usize;
            for (v, offset) in (chunk as u64 * RANGE as u64..).zip(offsets) {
                while at < sorted.len() && key(&sorted[at]) >> 32 < v {
                    at += 1;
                }
                *offset = at as u64;
            }
        });
        Rows { offsets, targets, weights: None }
    }

    /// Returns the range of row `v`; empty beyond the last.
    #[inline]
    fn range(&self, v: usize) -> std::ops::Range<usize> {
        match self.offsets.get(v..v + 2) {
            Some(&[from, to]) => from as usize..to as usize,
            _ => 0..0,
        }
    }

    /// Returns row `v`; empty beyond the last.
    #[inline]
    fn list(&self, v: VertexId) -> &[VertexId] {
        &self.targets[self.range(v.index())]
    }

    fn self_loops(&self) -> u64 {
        let row = |v: usize| &self.targets[self.range(v)];
        let count = |v: usize| {
            let row = row(v);
            let first = row.partition_point(|t| t.index() < v);
            row[first..].iter().take_while(|t| t.index() == v).count() as u64
        };
        (0..self.offsets.len() - 1).into_par_iter().map(count).sum()
    }

    fn bytes(&self) -> usize {
        self.offsets.len() * 8 + self.targets.len() * 4 + self.weights.as_ref().map_or(0, |w| w.len() * 8)
    }
}

#[inline]
fn pack(u: u32, v: u32) -> u64 {
    u64::from(u) << 32 | u64::from(v)
}

#[inline]
fn keeps(edge: &(u32, u32), options: &CsrOptions) -> bool {
    !(options.drop_self_loops && edge.0 == edge.1)
}

fn check(vertices: usize, edges: &[(u32, u32)], options: &CsrOptions) -> Result<(), CsrError> {
    if vertices > u32::MAX as usize {
        return Err(CsrError::TooManyVertices { vertices });
    }
    if let Some(live) = &options.live
        && live.len() != vertices
    {
        return Err(CsrError::Length { what: "live mask", expected: vertices, found: live.len() });
    }
    let is_live = |v: u32| match &options.live {
        None => (v as usize) < vertices,
        Some(live) => live.get(v as usize).copied().unwrap_or(false),
    };
    let bad = edges.par_iter().enumerate().find_first(|(_, e)| !is_live(e.0) || !is_live(e.1));
    match bad {
        None => Ok(()),
        Some((index, &(src, dst))) => Err(CsrError::Endpoint { index, src, dst, vertices }),
    }
}
