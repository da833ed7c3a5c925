//! The two passes over the levels of a search.

use hedgerow_core::{Direction, Topology, VertexId};

use super::numbers::Numbers;
use super::shares::{Shares, for_each, for_each_part};
use crate::KernelError;
use crate::bfs::Levels;
use crate::cancel::Cancel;
use crate::par::ahead;
use crate::watch::Watch;

/// The contributions of the sources so far to each vertex, and the arrays that the passes of one source need.
pub(super) struct Passes<'g, G: Topology> {
    g: &'g G,
    shares: Shares,
    /// The sum over the neighbours of each vertex of a level; 0 between steps.
    sum: Numbers,
    watch: Watch<'g, G::Error>,
}

impl<'g, G: Topology> Passes<'g, G> {
    pub(super) fn new(g: &'g G, cancel: &'g Cancel) -> Self {
        let bound = g.vertex_bound();
        Passes { g, shares: Shares::new(bound), sum: Numbers::zeros(bound), watch: Watch::new(cancel) }
    }

    /// Adds the contribution of a source, from the levels of its search.
    pub(super) fn add(&mut self, source: VertexId, levels: &Levels) -> Result<(), KernelError<G::Error>> {
        self.shares.paths.set(source, 1.0);
        for at in 1..levels.count() {
            self.count_paths(levels.level(at - 1), levels.level(at));
            self.watch.check()?;
        }
        for at in (1..levels.count()).rev() {
            let level = levels.level(at);
            // No vertices are behind the last level.
            if at + 1 < levels.count() {
                self.gather(level, Direction::Out, &self.shares.share);
            }
            self.watch.check()?;
            self.write(level, |v, sum| self.shares.settle(v, sum));
        }
        self.shares.forget(source, levels)
    }

    /// Returns the scores.
    pub(super) fn into_scores(self) -> Numbers {
        self.shares.score
    }

    /// Counts the paths to the vertices of `level`, from the numbers of paths to the vertices of `before`.
    fn count_paths(&self, before: &[VertexId], level: &[VertexId]) {
        if before.len() == 1 || !self.g.is_stored(Direction::In) {
            self.scatter(before);
        } else {
            self.gather(level, Direction::In, &self.shares.paths);
        }
        self.write(level, |v, sum| self.shares.paths.set(v, sum));
    }

    /// Sums up, for each vertex of `level`, the `given` numbers of its neighbours.
    fn gather(&self, level: &[VertexId], direction: Direction, given: &Numbers) {
        for_each_part::<G>(level, |part| {
            let Some(mut meter) = self.watch.meter() else { return };
            let visited = self.g.visit(ahead(self.g, part, direction), direction, |v, run| {
                let mut sum = self.sum.of(v);
                meter.parts(run, |part| sum += given.sum(part));
                self.sum.set(v, sum);
            });
            self.watch.note(visited);
        });
    }

    /// Does the work of [`gather`](Self::gather) for the next level, but reads the lists of `level`: for use
    /// if the lists of the next level cannot be read, or are many more. It runs in one thread, so the order
    /// of additions is fixed.
    fn scatter(&self, level: &[VertexId]) {
        let mut level = level.to_vec();
        level.sort_unstable();
        for part in level.chunks(G::VISITED_TOGETHER) {
            let Some(mut meter) = self.watch.meter() else { return };
            let visited = self.g.visit(ahead(self.g, part, Direction::Out), Direction::Out, |u, run| {
                let paths = self.shares.paths.of(u);
                meter.parts(run, |part| {
                    // Vertices that already have paths are not in the next level.
                    for &v in part.iter().filter(|&&v| self.shares.paths.of(v) == 0.0) {
                        self.sum.set(v, self.sum.of(v) + paths);
                    }
                });
            });
            self.watch.note(visited);
        }
    }

    /// Passes the sum of each vertex of a level to `f`, and clears it.
    fn write(&self, level: &[VertexId], f: impl Fn(VertexId, f64) + Sync + Send) {
        for_each(level, |v| {
            let sum = self.sum.of(v);
            self.sum.set(v, 0.0);
            f(v, sum);
        });
    }
}
