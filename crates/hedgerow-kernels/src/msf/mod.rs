//! Minimum spanning forest: the edges of least total weight that join all vertices that edges can join.
//!
//! **Result.** The edges of the forest, lightest first, each with its lesser end first, and their weights.
//! Edges of the same weight are ordered by their lesser end, then by the greater one, so the forest is
//! unique: it does not depend on how the graph is stored. It has as many edges as there are live vertices
//! less components.
//!
//! **Input.** Any graph; directions are ignored. Weights may be negative, and must be finite. Without weights
//! every edge weighs 1, and the forest is the first one by the ends of its edges. Loops are never part of it;
//! of repeated edges the lightest may be.
//!
//! **Trick.** Kruskal's method takes edges by weight if they join two trees; most of its time is sorting, and
//! most sorted edges are then refused. Filter-Kruskal splits the edges at a pivot like quicksort and takes
//! from the lighter half first. From the heavier half, before it is sorted, it drops the edges with both ends
//! in one tree. That would keep all edges in memory. But an edge that is not in the forest of some edges is
//! not in the forest of more of them either. So edges are read in batches, and after each batch only the
//! forest of all so far is kept. Memory depends on the vertices alone, also for graphs that are read from
//! files. The lighter half of that forest refuses most edges that are read later. If an edge is heavier than
//! all of it and has both ends in one of its trees, the edge closes a cycle as the heaviest edge, and is
//! dropped with two look-ups.
//!
//! **Threads.** For the same reason edges may be split up in any way. Two threads have a batch each and take
//! ranges of vertices in turn; at the end the two forests are joined. So the result does not depend on
//! threads. More than two batches would need more memory, or would be so small that they hold little but the
//! forest. Further threads help to sort.
//!
//! **Cited.** V. Osipov, P. Sanders, J. Singler, *The Filter-Kruskal Minimum Spanning Tree Algorithm*, ALENEX
//! 2009, section 3; J. Feigenbaum, S. Kannan, A. McGregor, S. Suri, J. Zhang, *On graph problems in a
//! semi-streaming model*, Theoretical Computer Science 348, 2005, section 4, for the batches.
//!
//! **Cost.** O(edges · log vertices) at worst. 84 bytes per id of the domain.

use hedgerow_core::{VertexId, WeightedTopology};
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::pairs::Pairs;
use crate::registry::prelude::*;

mod batch;
mod edge;
mod read;
mod trees;
pub mod verify;

use batch::MOST_BATCHES;
use edge::Edge;
use read::Edges;
use trees::Trees;

/// The least number of edges of a graph that is read into two batches.
const LEAST_SHARED: u64 = 1 << 15;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The edges of least total weight that join what edges can join",
    input: "any graph; directions are ignored, weights are finite",
    reads_weights: true,
    result: ResultColumn { name: "weight", kind: ResultKind::Edges },
    steps: "vertices",
    cost: "O(edges · log vertices) at worst",
    // Four edges of 16 bytes for each vertex in two batches, but at least 65,536 edges in each batch; and the
    // result.
    memory: Memory { fixed: 2304 << 10, ..Memory::per_id(84) },
    cited: "V. Osipov, P. Sanders, J. Singler, *The Filter-Kruskal Minimum Spanning Tree Algorithm*, ALENEX 2009; J. Feigenbaum et al., \
            *On graph problems in a semi-streaming model*, Theoretical Computer Science 348, 2005",
    ..Kernel::named("msf", "minimum_spanning_forest")
};

functions!(
    Outcome::Edges,
    Arguments::none,
    |g, (), cancel| minimum_spanning_forest_until(g, cancel),
    verify::minimum_spanning_forest(g)
);

kernel! {
    /// Returns the edges of the minimum spanning forest with their weights, lightest first.
    ///
    /// # Errors
    /// [`KernelError::NotFinite`] for a weight that is infinite or not a number;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn minimum_spanning_forest, minimum_spanning_forest_until<G: WeightedTopology>(g; cancel) -> Pairs {
        forest(g, cancel)
    }
}

fn forest<G: WeightedTopology>(g: &G, cancel: &Cancel) -> Result<Pairs, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    cancel.check()?;
    cancel.begin(vertex_bound as u64);
    let batches = if g.edge_count() < LEAST_SHARED { 1 } else { MOST_BATCHES.min(hedgerow_par::threads()) };
    let edges = Edges::new(g, batches, cancel);
    let parts = hedgerow_par::map((0..batches).into_par_iter().with_max_len(1), |_| edges.forest());
    let (mut refused, mut forest) = (None::<(VertexId, VertexId, f64)>, Vec::new());
    for part in parts {
        match part {
            // Returns the error of the first vertex by id, for any number of threads.
            Err(KernelError::NotFinite { from, to, weight }) => {
                refused = refused.filter(|&(first, ..)| first < from).or(Some((from, to, weight)));
            }
            part => forest = joined(forest, part?, vertex_bound),
        }
    }
    cancel.check()?;
    match refused {
        Some((from, to, weight)) => Err(KernelError::NotFinite { from, to, weight }),
        None => Ok(pairs(&forest)),
    }
}

/// Returns the forest of the edges of two forests, all of them sorted.
fn joined(a: Vec<Edge>, b: Vec<Edge>, vertex_bound: usize) -> Vec<Edge> {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() { b } else { a };
    }
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    let (mut trees, mut forest) = (Trees::new(vertex_bound), Vec::with_capacity(a.len().max(b.len())));
    while let Some(edge) =
        if b.peek().is_none_or(|b| a.peek().is_some_and(|a| a <= b)) { a.next() } else { b.next() }
    {
        if trees.join(edge.low, edge.high) {
            forest.push(edge);
        }
    }
    forest
}

fn pairs(forest: &[Edge]) -> Pairs {
    let mut pairs = Pairs::with_capacity(forest.len());
    for edge in forest {
        let (low, high) = edge.ends();
        pairs.push(low, high, edge.weight());
    }
    pairs
}
