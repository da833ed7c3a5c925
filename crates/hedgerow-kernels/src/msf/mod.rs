//! Minimum spanning forest: the edges of least total weight that join all that edges can join.
//!
//! **Result.** The edges of the forest, lightest first, each with its lesser end first, and their weights. Edges of the same
//! weight are ordered by their lesser end, then by the greater one, so the forest is unique: it does not depend on how the
//! graph is stored. It has as many edges as there are live vertices less components.
//!
//! **Input.** Any graph; directions are ignored. Weights may be negative, and must be finite. Without weights every edge weighs 1, and the
//! forest is the first one by the ends of its edges. Loops are never part of it; of repeated edges the lightest may be.
//!
//! **Trick.** Kruskal's method looks at all edges by weight and takes those that join two trees; most of its time is sorting, and most sorted edges are
//! then refused. Filter-Kruskal splits the edges at a pivot as quicksort does, takes from the lighter half first, and drops from
//! the heavier half, before anything sorts it, what now has both ends in one tree. Its memory would be all edges. An edge that is
//! not in the forest of some edges is not in the forest of more of them either; so edges are read in
//! batches of four for each vertex, and after each batch only the forest of all so far is kept. Memory depends on the vertices alone, also for graphs that
//! are read from files.
//!
//! **Cited.** V. Osipov, P. Sanders, J. Singler, *The Filter-Kruskal Minimum Spanning Tree Algorithm*, ALENEX 2009, section 3; J. Feigenbaum, S. Kannan,
//! A. McGregor, S. Suri, J. Zhang, *On graph problems in a semi-streaming model*, Theoretical Computer Science 348, 2005, section 4, for the batches.
//!
//! **Cost.** O(edges · log vertices) at worst, in the calling thread; large sorts use all threads. 84 bytes per id of the domain.

use std::cell::Cell;

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::checked_bound;
use crate::pairs::Pairs;
use crate::par::CHUNK_VERTICES;
use crate::sssp::for_each_neighbor;

mod batch;
pub(crate) mod entry;
#[cfg(test)]
mod tests;
pub mod verify;

use batch::{Batch, Edge};

/// The edges of the minimum spanning forest with their weights, lightest first.
///
/// # Errors
/// [`KernelError::NotFinite`] for a weight that is infinite or not a number; [`KernelError::TooManyVertices`];
/// [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// See the [module](self).
pub fn minimum_spanning_forest<G: WeightedTopology>(g: &G) -> Result<Pairs, KernelError<G::Error>> {
    minimum_spanning_forest_until(g, &Cancel::new())
}

/// [`minimum_spanning_forest`], until `cancel` ends it.
///
/// # Errors
/// As [`minimum_spanning_forest`], and [`KernelError::Cancelled`].
pub fn minimum_spanning_forest_until<G: WeightedTopology>(
    g: &G,
    cancel: &Cancel,
) -> Result<Pairs, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    let mut batch = Batch::new(vertex_bound, g.edge_count(), cancel);
    let (mut refused, is_over) = (None, Cell::new(false));
    let all = (0..vertex_bound as u32).map(VertexId).take_while(|_| !is_over.get());
    let undirected = !g.is_directed();
    // Runs that were read: about one for each vertex.
    let mut runs = 0;
    cancel.begin(vertex_bound as u64);
    let visited = g.visit_weighted(all, Direction::Out, |u, run, weights| {
        runs += 1;
        if runs % CHUNK_VERTICES == 0 {
            cancel.step(CHUNK_VERTICES as u64);
        }
        for_each_neighbor(run, weights, &mut meter, |v, weight| {
            if !weight.is_finite() {
                refused = refused.or(Some((u, v, weight)));
            }
            // An edge without direction stands in the lists of both ends.
            if u != v && !(undirected && u > v) {
                batch.add(Edge::new(u, v, weight));
            }
        });
        is_over.set(refused.is_some() || meter.is_over());
    });
    visited.map_err(KernelError::Topology)?;
    cancel.check()?;
    if let Some((from, to, weight)) = refused {
        return Err(KernelError::NotFinite { from, to, weight });
    }
    let forest = batch.into_forest();
    cancel.check()?;
    cancel.step(vertex_bound as u64);
    Ok(pairs(&forest))
}

fn pairs(forest: &[Edge]) -> Pairs {
    let mut pairs = Pairs::with_capacity(forest.len());
    for edge in forest {
        let (low, high) = edge.ends();
        pairs.push(low, high, edge.weight());
    }
    pairs
}
