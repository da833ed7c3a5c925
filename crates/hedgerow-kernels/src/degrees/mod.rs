//! Degrees: the number of edges of each vertex in a direction.
//!
//! **Result.** For every vertex the number of entries of its list in the direction: repeated neighbours and
//! the vertex itself count as often as the list has them; 0 for holes. [`histogram`](crate::histogram) counts
//! the vertices of each degree; the command line prints it.
//!
//! **Input.** Any graph. For the edges in both directions, add both results, or use a view of both directions
//! (`direction="both"`).
//!
//! **Trick.** None: the length of a list is known without reading it.
//!
//! **Cited.** M. Newman, *The structure and function of complex networks*, SIAM Review 45(2), 2003, section
//! III.C, for the meaning of degree distributions.
//!
//! **Cost.** O(vertices); if pages are read, all of them in that direction. 4 bytes per id of the domain.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, Topology};
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::par::{CHUNK_VERTICES, subgraphs_of};
use crate::registry::prelude::*;
use crate::watch::Watch;

pub mod verify;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The number of edges of each vertex in a direction, and how many vertices have each number",
    input: "any graph; repeated edges count as often as they are there",
    parameters: &[Parameter::DIRECTION],
    result: ResultColumn { name: "degree", kind: ResultKind::Numbers },
    steps: "vertices",
    cost: "O(vertices), by the page O(vertices + edges)",
    memory: Memory::per_id(4),
    cited: "M. Newman, *The structure and function of complex networks*, SIAM Review 45(2), 2003",
    ..Kernel::named("degrees", "vertex_degrees")
};

functions!(
    Outcome::Numbers,
    |given| given.direction(&Parameter::DIRECTION),
    |g, direction, cancel| vertex_degrees_until(g, direction, cancel),
    verify::vertex_degrees(g, direction)
);

kernel! {
    /// Returns the degree of every vertex in a direction, indexed by vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// O(vertices) in memory; blocks the caller until all tasks are done.
    pub fn vertex_degrees, vertex_degrees_until<G: Topology>(g, direction: Direction; cancel) -> Vec<u32> {
        degrees(g, direction, cancel)
    }
}

fn degrees<G: Topology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    let mut degrees = vec![0; checked_bound(g.vertex_bound())?];
    let mut watch = Watch::new(cancel);
    cancel.begin(degrees.len() as u64);
    hedgerow_par::for_each(degrees.par_chunks_mut(CHUNK_VERTICES).enumerate(), |(chunk, degrees)| {
        if watch.is_over() {
            return;
        }
        let subgraphs = subgraphs_of(chunk, degrees.len());
        let vertices = degrees.len() as u64;
        let mut parts = degrees.chunks_mut(SUBGRAPH_VERTICES);
        watch.note(g.scan(subgraphs, direction, |_, block| {
            for (local, degree) in (0..).map(LocalVertex).zip(parts.next().unwrap_or_default()) {
                *degree = block.degree(local).min(u32::MAX as usize) as u32;
            }
            ControlFlow::Continue(())
        }));
        cancel.step(vertices);
    });
    watch.check()?;
    Ok(degrees)
}
