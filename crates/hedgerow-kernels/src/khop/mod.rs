//! The vertices within some hops of a source, with their distances.
//!
//! **Result.** For every id of the domain its hops from the source, if these are at most `hops`;
//! [`UNREACHED`](crate::UNREACHED) for all others and for holes.
//!
//! **Input.** Any graph, like [`bfs()`](crate::bfs()), along the edges or against them.
//!
//! **Trick.** None but those of [`bfs()`](crate::bfs()), which ends early: a level that is found bottom-up
//! ends the search there too. For few vertices around a source of a large graph use `Snapshot::k_hop` of the
//! store: it costs only the part that it reaches, and no array over all vertices. This kernel is for
//! neighborhoods that are a large part of the graph.
//!
//! **Cited.** S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012.
//!
//! **Cost.** O(vertices + edges of the vertices within one hop less) at most; memory like
//! [`bfs()`](crate::bfs()).

use hedgerow_core::{Direction, Topology, VertexId};

use crate::bfs::{BfsConfig, bfs_until};
use crate::{Cancel, KernelError};

pub(crate) mod entry;
pub mod verify;

/// Returns the hops from `source` to each vertex that is at most `hops` away, indexed by vertex id;
/// [`UNREACHED`](crate::UNREACHED) elsewhere.
///
/// # Errors
/// Those of [`bfs`](crate::bfs()).
///
/// # Cost
/// See the [module](self); blocks the caller until all tasks are done.
pub fn k_hop_neighborhood<G: Topology>(
    g: &G,
    source: VertexId,
    hops: u32,
    direction: Direction,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    k_hop_neighborhood_until(g, source, hops, direction, &Cancel::new())
}

/// Runs [`k_hop_neighborhood`] until `cancel` ends it.
///
/// # Errors
/// Those of [`k_hop_neighborhood`], and [`KernelError::Cancelled`].
pub fn k_hop_neighborhood_until<G: Topology>(
    g: &G,
    source: VertexId,
    hops: u32,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    bfs_until(g, source, &BfsConfig { direction, hops, ..BfsConfig::default() }, cancel)
}
