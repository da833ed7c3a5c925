//! Degrees: the number of edges of each vertex in a direction.
//!
//! **Result.** For every vertex the number of entries of its list in the direction: repeated neighbours and
//! the vertex itself count as often as the list has them; 0 for holes. [`histogram`](crate::histogram) counts
//! the vertices of each degree; the command line prints it.
//!
//! **Input.** Any graph. For edges both ways sum up both directions, or take a graph that is turned both ways (`direction="both"`).
//!
//! **Trick.** None: the length of a list is known without reading it.
//!
//! **Cited.** M. Newman, *The structure and function of complex networks*, SIAM Review 45(2), 2003, section III.C, for what degree distributions tell.
//!
//! **Cost.** O(vertices); if pages are read, all of them in that direction. 4 bytes per id of the domain.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::Cancel;
use crate::error::{Failure, checked_bound};
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES};

pub(crate) mod entry;
pub mod verify;

/// Returns the degree of every vertex in a direction, indexed by vertex id; 0 for holes.
///
/// # Errors
/// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
///
/// # Cost
/// O(vertices) in memory; blocks the caller until all tasks are done.
pub fn vertex_degrees<G: Topology>(g: &G, direction: Direction) -> Result<Vec<u32>, KernelError<G::Error>> {
    vertex_degrees_until(g, direction, &Cancel::new())
}

/// Runs [`vertex_degrees`] until `cancel` ends it.
///
/// # Errors
/// Those of [`vertex_degrees`], and [`KernelError::Cancelled`].
pub fn vertex_degrees_until<G: Topology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    let mut degrees = vec![0; checked_bound(g.vertex_bound())?];
    let mut failure = Failure::new();
    cancel.begin(degrees.len() as u64);
    hedgerow_par::for_each(degrees.par_chunks_mut(CHUNK_VERTICES).enumerate(), |(chunk, degrees)| {
        if cancel.poll() || failure.is_noted() {
            return;
        }
        let first = (chunk * CHUNK_SUBGRAPHS) as u32;
        let end = first + degrees.len().div_ceil(SUBGRAPH_VERTICES) as u32;
        let vertices = degrees.len() as u64;
        let mut parts = degrees.chunks_mut(SUBGRAPH_VERTICES);
        failure.note(g.scan(SubgraphId(first)..SubgraphId(end), direction, |_, block| {
            for (local, degree) in (0..).map(LocalVertex).zip(parts.next().unwrap_or_default()) {
                *degree = block.degree(local).min(u32::MAX as usize) as u32;
            }
            ControlFlow::Continue(())
        }));
        cancel.step(vertices);
    });
    failure.check()?;
    cancel.check()?;
    Ok(degrees)
}
