//! The numbers of the vertices on the shortest paths from one source, and the contributions of all sources.

use hedgerow_core::{Topology, VertexId};
use rayon::prelude::*;

use super::numbers::Numbers;
use crate::KernelError;
use crate::bfs::Levels;

/// The least size of a level that threads share; the calling thread alone processes smaller levels.
pub(super) const SEQUENTIAL: usize = 256;

/// The number of vertices of a level that a task writes at a time.
pub(super) const WRITTEN_TOGETHER: usize = 4096;

/// The contributions of the sources so far, and two numbers of one source.
pub(super) struct Shares {
    /// The number of shortest paths from the source; 0 for vertices that the pass has not reached.
    pub(super) paths: Numbers,
    /// The share of each path to a vertex in the backward pass; 0 for vertices that the pass has not reached.
    pub(super) share: Numbers,
    pub(super) score: Numbers,
}

impl Shares {
    pub(super) fn new(vertex_bound: usize) -> Shares {
        let zeros = || Numbers::zeros(vertex_bound);
        Shares { paths: zeros(), share: zeros(), score: zeros() }
    }

    /// Adds the contribution of the source to a vertex. `sum` is the sum of the shares of its out-neighbours
    /// one level farther.
    #[inline]
    pub(super) fn settle(&self, v: VertexId, sum: f64) {
        let (paths, behind) = (self.paths.of(v), self.paths.of(v) * sum);
        self.share.set(v, (1.0 + behind) / paths);
        self.score.set(v, self.score.of(v) + behind);
    }

    /// Clears the numbers of the last source, whose search reached `levels`. Returns an error if a number of
    /// paths was too large.
    pub(super) fn forget<E>(&self, source: VertexId, levels: &Levels) -> Result<(), KernelError<E>> {
        let part = |part: &[VertexId]| {
            let mut are_finite = true;
            for &v in part {
                are_finite &= self.paths.of(v).is_finite();
                self.paths.set(v, 0.0);
                self.share.set(v, 0.0);
            }
            are_finite
        };
        let parts = levels.all().par_chunks(WRITTEN_TOGETHER);
        let are_finite = hedgerow_par::map_reduce(parts, part, || true, |a, b| a && b);
        if are_finite { Ok(()) } else { Err(KernelError::TooManyPaths { source }) }
    }
}

/// Calls `f` with the parts of a level that a graph reads together, in parallel if the vertices are many.
pub(super) fn for_each_part<G: Topology>(level: &[VertexId], f: impl Fn(&[VertexId]) + Sync + Send) {
    if level.len() < SEQUENTIAL {
        level.chunks(G::VISITED_TOGETHER).for_each(f);
    } else {
        hedgerow_par::for_each(level.par_chunks(G::VISITED_TOGETHER), f);
    }
}

/// Calls `f` with each vertex of a level, in parallel if they are many.
pub(super) fn for_each(level: &[VertexId], f: impl Fn(VertexId) + Sync + Send) {
    let part = |part: &[VertexId]| part.iter().for_each(|&v| f(v));
    if level.len() < WRITTEN_TOGETHER {
        part(level);
    } else {
        hedgerow_par::for_each(level.par_chunks(WRITTEN_TOGETHER), part);
    }
}
