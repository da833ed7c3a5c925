//! Weakly connected components: sets of vertices that paths join when directions are ignored.
//!
//! **Result.** For every id of the domain the least vertex id of its component; [`NO_COMPONENT`] for holes.
//! The least id is unique, so the result is the same for any number of threads.
//!
//! **Input.** Any graph. A directed graph is best stored in both directions.
//!
//! **Trick.** Every vertex points to a vertex of its component with no larger id; roots point to themselves.
//! Linking an edge hooks the larger of two roots under the smaller, so in the end each component's root is
//! its least vertex. Nearly all vertices of a real graph are in one component, and linking each vertex to its
//! first two neighbours already joins most of it. A sample then finds that component's root, and every vertex
//! under it is skipped: an edge between it and an outside vertex is also seen from the outside vertex, whose
//! lists of both directions are read. Thus most edges are never read.
//!
//! **Cited.** M. Sutton, T. Ben-Nun, A. Barak, *Optimizing Parallel Graph Connectivity Computation via
//! Subgraph Sampling*, IPDPS 2018 (Afforest). The hooking goes back to Y. Shiloach, U. Vishkin, *An O(log n)
//! parallel connectivity algorithm*, 1982.
//!
//! **Cost.** O(vertices + edges) expected; 4 bytes per id of the domain.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};
use rayon::prelude::*;

use crate::cancel::Meter;
use crate::error::checked_bound;
use crate::grouping::mark_holes;
use crate::par::{CHUNK_VERTICES, ids_of, into_plain};
use crate::registry::prelude::*;
use crate::watch::Watch;

pub mod verify;

pub use crate::grouping::NO_COMPONENT;

/// The number of neighbours to which each vertex is linked before the sample. Afforest's authors found two to
/// be best.
const LINK_ROUNDS: usize = 2;

/// The number of vertices in the sample that finds the largest component. If the sample misses it, the result
/// is still right, only slower.
const SAMPLES: usize = 1024;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Weakly connected components",
    input: "any graph; directions are ignored",
    result: ResultColumn { name: "component", kind: ResultKind::Components },
    steps: "passes",
    cost: "O(vertices + edges), usually few edges",
    // A parent per vertex; the roots of a sample.
    memory: Memory::per_id(4),
    cited: "M. Sutton, T. Ben-Nun, A. Barak, *Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling*, \
            IPDPS 2018; Y. Shiloach, U. Vishkin, *An O(log n) parallel connectivity algorithm*, 1982",
    ..Kernel::named("wcc", "wcc")
};

functions!(Outcome::Components, Arguments::none, |g, (), cancel| wcc_until(g, cancel), verify::wcc(g));

kernel! {
    /// Returns the component of every vertex, indexed by vertex id and named by its least vertex.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges) expected; blocks the caller until all tasks are done.
    pub fn wcc, wcc_until<G: Topology>(g; cancel) -> Vec<u32> {
        components(g, cancel)
    }
}

fn components<G: Topology>(g: &G, cancel: &Cancel) -> Result<Vec<u32>, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    hedgerow_par::run(|| {
        let forest = Forest { parent: (0..vertex_bound as u32).map(AtomicU32::new).collect(), cancel };
        let mut watch = Watch::new(cancel);
        cancel.begin(LINK_ROUNDS as u64 + 1);
        for round in 0..LINK_ROUNDS {
            forest.link_nth_neighbors(g, round, &watch);
            watch.check()?;
            forest.compress();
            cancel.step(1);
        }
        let largest = forest.most_frequent_root();
        forest.link_rest(g, largest, &watch);
        watch.check()?;
        forest.compress();
        let mut components = into_plain(forest.parent);
        mark_holes(g, &mut components, cancel);
        cancel.check()?;
        cancel.step(1);
        Ok(components)
    })
}

/// A parent for each vertex, never larger than the vertex itself; links only ever lower a root's parent. All
/// accesses are relaxed: a stale parent is still an ancestor, and compare-exchange decides which thread hooks
/// a root.
struct Forest<'c> {
    parent: Vec<AtomicU32>,
    cancel: &'c Cancel,
}

impl Forest<'_> {
    #[inline]
    fn parent(&self, v: u32) -> u32 {
        self.parent[v as usize].load(Relaxed)
    }

    /// Joins the trees of `u` and `v`.
    #[inline]
    fn link(&self, u: u32, v: u32) {
        let (mut a, mut b) = (self.parent(u), self.parent(v));
        while a != b {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let above = self.parent(high);
            if above == low {
                return;
            }
            if above == high
                && self.parent[high as usize].compare_exchange(high, low, Relaxed, Relaxed).is_ok()
            {
                return;
            }
            a = self.parent(self.parent(high));
            b = self.parent(low);
        }
    }

    /// Runs `f` on ranges of whole subgraphs, in parallel. Once the flag is raised, the remaining ranges are
    /// skipped.
    fn for_each_chunk(&self, f: impl Fn(Range<u32>, &mut Meter<'_>) + Sync) {
        let bound = self.parent.len();
        hedgerow_par::for_each((0..bound.div_ceil(CHUNK_VERTICES)).into_par_iter(), |chunk| {
            let Some(mut meter) = self.cancel.meter() else { return };
            f(ids_of(chunk, bound), &mut meter);
        });
    }

    /// Links each vertex to one neighbour. Any subset of the edges will do here, so lists with removals,
    /// whose n-th neighbour takes a search, are left to [`link_rest`](Self::link_rest).
    fn link_nth_neighbors<G: Topology>(&self, g: &G, n: usize, watch: &Watch<'_, G::Error>) {
        self.for_each_chunk(|range, _| {
            let scanned = scan_vertices(g, range, Direction::Out, |v, block| {
                if let Some(u) = nth_neighbor(block, v, n) {
                    self.link(v.0, u.0);
                }
            });
            watch.note(scanned);
        });
    }

    #[inline]
    fn link_all(&self, v: VertexId, run: &[VertexId], meter: &mut Meter<'_>) {
        meter.parts(run, |part| part.iter().for_each(|u| self.link(v.0, u.0)));
    }

    /// Points every vertex at its root.
    fn compress(&self) {
        self.for_each_chunk(|range, _| {
            for (v, slot) in range.clone().zip(&self.parent[range.start as usize..range.end as usize]) {
                let first = slot.load(Relaxed);
                let mut root = first;
                loop {
                    let above = self.parent(root);
                    if above == root {
                        break;
                    }
                    root = above;
                }
                if root != first && v != root {
                    slot.store(root, Relaxed);
                }
            }
        });
    }

    /// Returns the most frequent root in a sample of evenly spaced vertices; if several are, the least of
    /// them.
    fn most_frequent_root(&self) -> u32 {
        let step = (self.parent.len() / SAMPLES).max(1);
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for slot in self.parent.iter().step_by(step) {
            *counts.entry(slot.load(Relaxed)).or_default() += 1;
        }
        let most = counts.into_iter().max_by_key(|&(root, count)| (count, std::cmp::Reverse(root)));
        most.map_or(NO_COMPONENT, |(root, _)| root)
    }

    /// Links all edges that have an end outside the component of `largest`.
    fn link_rest<G: Topology>(&self, g: &G, largest: u32, watch: &Watch<'_, G::Error>) {
        let directed = g.is_directed();
        // Without incoming edges no vertex is skipped: each edge is seen from its source.
        let (largest, both) = match g.is_stored(Direction::In) {
            true => (largest, directed),
            false => (NO_COMPONENT, false),
        };
        self.for_each_chunk(|range, meter| {
            if watch.has_failed() {
                return;
            }
            let mut outside = Vec::new();
            let scanned = scan_vertices(g, range, Direction::Out, |v, block| {
                if self.parent(v.0) == largest || meter.is_over() {
                    return;
                }
                if both {
                    outside.push(v);
                }
                let _goes_on = block.for_each_run(v.local(), |run| {
                    self.link_all(v, run, meter);
                    ControlFlow::Continue(())
                });
            });
            watch.note(scanned);
            if !meter.is_over() {
                watch.note(g.visit(outside, Direction::In, |v, run| self.link_all(v, run, meter)));
            }
        });
    }
}

/// Returns the n-th neighbour of a vertex.
#[inline]
fn nth_neighbor<B: Block>(block: &B, v: VertexId, n: usize) -> Option<VertexId> {
    if let Some(u) = block.main(v.local()).and_then(|main| main.get(n)) {
        return Some(*u);
    }
    if block.degree(v.local()) <= n {
        return None;
    }
    let (mut skip, mut found) = (n, None);
    let _ended = block.for_each_run(v.local(), |run| {
        found = run.get(skip).copied();
        skip -= skip.min(run.len());
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// Calls `f` with each vertex of `range`, which begins with a subgraph, and the list block that holds it.
#[inline]
fn scan_vertices<G: Topology>(
    g: &G,
    range: Range<u32>,
    direction: Direction,
    mut f: impl FnMut(VertexId, &G::Block<'_>),
) -> Result<(), G::Error> {
    let end = SubgraphId(range.end.div_ceil(SUBGRAPH_VERTICES as u32));
    g.scan(VertexId(range.start).subgraph()..end, direction, |subgraph, block| {
        let first = subgraph.vertex(LocalVertex(0)).0;
        for v in first..(first + SUBGRAPH_VERTICES as u32).min(range.end) {
            f(VertexId(v), &block);
        }
        ControlFlow::Continue(())
    })
}
