//! The two passes over the levels of a search.

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use super::numbers::Numbers;
use crate::KernelError;
use crate::bfs::Levels;
use crate::cancel::{Cancel, Meter};
use crate::error::Failure;
use crate::par::{LISTS_AHEAD, PLACES_AHEAD};

/// The least number of vertices of a level that threads share; the calling thread works on smaller levels.
const SEQUENTIAL: usize = 256;

/// Vertices of a level that a task writes at a time.
const WRITTEN_TOGETHER: usize = 4096;

/// The contributions of the sources so far to each vertex, and the arrays that the passes of one source need.
pub(super) struct Passes<'g, G: Topology> {
    g: &'g G,
    /// Shortest paths from the source; 0 for vertices to which the pass has not come.
    paths: Numbers,
    /// The share of each path to a vertex on the way back; 0 for vertices that the pass has not reached.
    share: Numbers,
    /// The sum over the neighbours of each vertex of a level; 0 between steps.
    sum: Numbers,
    score: Numbers,
    cancel: &'g Cancel,
    failure: Failure<G::Error>,
}

impl<'g, G: Topology> Passes<'g, G> {
    pub(super) fn new(g: &'g G, vertex_bound: usize, cancel: &'g Cancel) -> Self {
        let zeros = || Numbers::zeros(vertex_bound);
        let (paths, share, sum, score) = (zeros(), zeros(), zeros(), zeros());
        Passes { g, paths, share, sum, score, cancel, failure: Failure::new() }
    }

    /// Adds the contribution of a source, from the levels of its search.
    pub(super) fn add(&mut self, source: VertexId, levels: &Levels) -> Result<(), KernelError<G::Error>> {
        self.paths.set(source, 1.0);
        for at in 1..levels.count() {
            self.count_paths(levels.level(at - 1), levels.level(at));
            self.check()?;
        }
        for at in (1..levels.count()).rev() {
            let level = levels.level(at);
            // The last one has no vertices behind it.
            if at + 1 < levels.count() {
                self.gather(level, Direction::Out, &self.share);
            }
            self.check()?;
            self.write(level, |v, sum| {
                let (paths, behind) = (self.paths.of(v), self.paths.of(v) * sum);
                self.share.set(v, (1.0 + behind) / paths);
                self.score.set(v, self.score.of(v) + behind);
            });
        }
        if self.forget(levels) { Ok(()) } else { Err(KernelError::TooManyPaths { source }) }
    }

    /// Clears the numbers of the last source. True if all numbers of paths were finite.
    fn forget(&self, levels: &Levels) -> bool {
        let parts = levels.all().par_chunks(WRITTEN_TOGETHER);
        let part = |part: &[VertexId]| {
            let mut are_finite = true;
            for &v in part {
                are_finite &= self.paths.of(v).is_finite();
                self.paths.set(v, 0.0);
                self.share.set(v, 0.0);
            }
            are_finite
        };
        hedgerow_par::map_reduce(parts, part, || true, |a, b| a && b)
    }

    /// Returns the scores, each times `scale`.
    pub(super) fn into_scores(self, scale: f64) -> Vec<f64> {
        drop((self.paths, self.share, self.sum));
        self.score.into_plain(scale)
    }

    fn check(&mut self) -> Result<(), KernelError<G::Error>> {
        self.failure.check()?;
        self.cancel.check()
    }

    /// Counts the paths to the vertices of a level from those to the level before.
    fn count_paths(&self, before: &[VertexId], level: &[VertexId]) {
        if before.len() == 1 || !self.g.is_stored(Direction::In) {
            self.scatter(before);
        } else {
            self.gather(level, Direction::In, &self.paths);
        }
        self.write(level, |v, sum| self.paths.set(v, sum));
    }

    /// Sums up the numbers that the neighbours of each vertex of a level give.
    fn gather(&self, level: &[VertexId], direction: Direction, given: &Numbers) {
        let part = |part: &[VertexId]| {
            let Some(mut meter) = self.cancel.meter().filter(|_| !self.failure.is_noted()) else { return };
            self.failure.note(self.gather_part(part, direction, given, &mut meter));
        };
        if level.len() < SEQUENTIAL {
            level.chunks(G::VISITED_TOGETHER).for_each(part);
        } else {
            hedgerow_par::for_each(level.par_chunks(G::VISITED_TOGETHER), part);
        }
    }

    fn gather_part(
        &self,
        part: &[VertexId],
        direction: Direction,
        given: &Numbers,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        self.g.visit(self.ahead(part, direction), direction, |v, run| {
            let mut sum = self.sum.of(v);
            meter.parts(run, |part| sum += given.sum(part));
            self.sum.set(v, sum);
        })
    }

    /// Does the work of [`gather`](Self::gather) for the level behind `level`, but reads the lists of
    /// `level`: if the lists of the level behind cannot be read, or are many more. It runs in one thread, in
    /// an order that depends on no other.
    fn scatter(&self, level: &[VertexId]) {
        let mut level = level.to_vec();
        level.sort_unstable();
        for part in level.chunks(G::VISITED_TOGETHER) {
            let Some(mut meter) = self.cancel.meter().filter(|_| !self.failure.is_noted()) else { return };
            let visited = self.g.visit(self.ahead(part, Direction::Out), Direction::Out, |u, run| {
                let paths = self.paths.of(u);
                meter.parts(run, |part| {
                    // Vertices that have paths already are no farther.
                    for &v in part.iter().filter(|&&v| self.paths.of(v) == 0.0) {
                        self.sum.set(v, self.sum.of(v) + paths);
                    }
                });
            });
            self.failure.note(visited);
        }
    }

    /// Returns the vertices, and prefetches the places and lists of the next ones meanwhile.
    fn ahead<'a>(
        &'a self,
        part: &'a [VertexId],
        direction: Direction,
    ) -> impl Iterator<Item = VertexId> + 'a {
        part.iter().enumerate().map(move |(i, &v)| {
            if let Some(&far) = part.get(i + PLACES_AHEAD) {
                self.g.prefetch_place(far, direction);
            }
            if let Some(&near) = part.get(i + LISTS_AHEAD) {
                self.g.prefetch_list(near, direction);
            }
            v
        })
    }

    /// Passes the sum of each vertex of a level to `f`, and clears it.
    fn write(&self, level: &[VertexId], f: impl Fn(VertexId, f64) + Sync + Send) {
        let part = |part: &[VertexId]| {
            for &v in part {
                let sum = self.sum.of(v);
                self.sum.set(v, 0.0);
                f(v, sum);
            }
        };
        if level.len() < WRITTEN_TOGETHER {
            part(level);
        } else {
            hedgerow_par::for_each(level.par_chunks(WRITTEN_TOGETHER), part);
        }
    }
}
