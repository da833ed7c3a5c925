//! The passes over the edges of the shortest paths from one source.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Direction, VertexId, WeightedTopology};
use rayon::prelude::*;

use super::distances::Distances;
use super::endless;
use crate::KernelError;
use crate::betweenness::numbers::Numbers;
use crate::betweenness::shares::{SEQUENTIAL, Shares, WRITTEN_TOGETHER, for_each, for_each_part};
use crate::bfs::Levels;
use crate::cancel::Cancel;
use crate::par::{ahead_with, sort_if_read_together};
use crate::sssp::visit_edges;
use crate::watch::Watch;

/// The contributions of the sources so far to each vertex, and the arrays that the passes of one source need.
pub(super) struct Passes<'g, G: WeightedTopology> {
    g: &'g G,
    /// The number of edges to each vertex that are on shortest paths and not processed yet; 0 between
    /// sources.
    open: Vec<AtomicU32>,
    shares: Shares,
    levels: Levels,
    watch: Watch<'g, G::Error>,
}

impl<'g, G: WeightedTopology> Passes<'g, G> {
    pub(super) fn new(g: &'g G, cancel: &'g Cancel) -> Self {
        Passes {
            g,
            open: (0..g.vertex_bound()).map(|_| AtomicU32::new(0)).collect(),
            shares: Shares::new(g.vertex_bound()),
            levels: Levels::new(g.vertex_count()),
            watch: Watch::new(cancel),
        }
    }

    /// Adds the contribution of a source, from the distances of all vertices.
    pub(super) fn add(&mut self, source: VertexId, distance: &[f64]) -> Result<(), KernelError<G::Error>> {
        let mut levels = std::mem::replace(&mut self.levels, Levels::new(0));
        levels.clear();
        let reached = self.forth(source, Distances(distance), &mut levels)?;
        if levels.all().len() < reached {
            let open = |v: VertexId| self.open[v.index()].load(Relaxed) > 0;
            return Err(endless::find(self.g, Distances(distance), open, self.watch.cancel));
        }
        self.back(Distances(distance), &levels)?;
        self.shares.forget(source, &levels)?;
        self.levels = levels;
        Ok(())
    }

    /// Counts the shortest paths to each vertex, level by level; returns the number of vertices that the
    /// source reaches.
    fn forth(
        &mut self,
        source: VertexId,
        distance: Distances<'_>,
        levels: &mut Levels,
    ) -> Result<usize, KernelError<G::Error>> {
        let reached = self.open_edges(distance);
        self.watch.check()?;
        self.shares.paths.set(source, 1.0);
        let mut level = vec![source];
        // The source is on a cycle that makes no path longer.
        if self.open[source.index()].load(Relaxed) > 0 {
            level.clear();
        }
        let gathers = self.g.is_stored(Direction::In);
        while !level.is_empty() {
            levels.add(&level);
            let mut next = self.next_level(&level, distance, !gathers);
            self.watch.check()?;
            sort_if_read_together::<G, _>(&mut next);
            if gathers {
                self.gather(&next, (Direction::In, distance), &self.shares.paths);
                self.watch.check()?;
            }
            level = next;
        }
        Ok(reached)
    }

    /// Counts the edges to each vertex that are on shortest paths; returns the number of vertices that the
    /// source reaches.
    fn open_edges(&self, distance: Distances<'_>) -> usize {
        let items = distance.0.par_chunks(WRITTEN_TOGETHER).enumerate();
        let item = |(at, part): (usize, &[f64])| {
            let first = at * WRITTEN_TOGETHER;
            let ids = (first as u32..).map(VertexId).zip(part);
            let reached: Vec<VertexId> = ids.filter(|(_, far)| far.is_finite()).map(|(v, _)| v).collect();
            self.visit(&reached, Direction::Out, |u, v, weight| {
                if distance.is_on_path(u, v, weight) {
                    self.open[v.index()].fetch_add(1, Relaxed);
                }
            });
            reached.len()
        };
        hedgerow_par::map_reduce(items, item, || 0, |a, b| a + b)
    }

    /// Returns the vertices whose last unprocessed edges come from this level. If it `scatters`, the calling
    /// thread also adds up their paths, in a fixed order: for graphs that do not store the edges to a vertex.
    fn next_level(&self, level: &[VertexId], distance: Distances<'_>, scatters: bool) -> Vec<VertexId> {
        let part = |mut found: Vec<VertexId>, part: &[VertexId]| {
            self.visit(part, Direction::Out, |u, v, weight| {
                if !distance.is_on_path(u, v, weight) {
                    return;
                }
                if scatters {
                    self.shares.paths.set(v, self.shares.paths.of(v) + self.shares.paths.of(u));
                }
                if self.open[v.index()].fetch_sub(1, Relaxed) == 1 {
                    found.push(v);
                }
            });
            found
        };
        if scatters {
            let mut level = level.to_vec();
            level.sort_unstable();
            return level.chunks(G::VISITED_TOGETHER).fold(Vec::new(), part);
        }
        if level.len() < SEQUENTIAL {
            return level.chunks(G::VISITED_TOGETHER).fold(Vec::new(), part);
        }
        hedgerow_par::fold(level.par_chunks(G::VISITED_TOGETHER), Vec::new, part).concat()
    }

    /// Adds to every vertex of the levels its share of the paths that lead through it, the farthest vertices
    /// first.
    fn back(&mut self, distance: Distances<'_>, levels: &Levels) -> Result<(), KernelError<G::Error>> {
        for at in (1..levels.count()).rev() {
            let level = levels.level(at);
            // No edge leads on from the last level.
            if at + 1 < levels.count() {
                self.gather(level, (Direction::Out, distance), &self.shares.share);
            }
            self.watch.check()?;
            for_each(level, |v| self.shares.settle(v, self.shares.share.of(v)));
        }
        Ok(())
    }

    /// Adds to each vertex of a level the numbers of its neighbours, in one direction, along edges on
    /// shortest paths. These neighbours are in other levels.
    fn gather(
        &self,
        level: &[VertexId],
        (direction, distance): (Direction, Distances<'_>),
        numbers: &Numbers,
    ) {
        for_each_part::<G>(level, |part| {
            self.visit(part, direction, |v, other, weight| {
                let (from, to) = if direction == Direction::In { (other, v) } else { (v, other) };
                if distance.is_on_path(from, to, weight) {
                    numbers.set(v, numbers.of(v) + numbers.of(other));
                }
            });
        });
    }

    /// Calls `f` with every edge of some vertices in a direction: the vertex, the other end, the weight.
    #[inline]
    fn visit(&self, part: &[VertexId], direction: Direction, f: impl FnMut(VertexId, VertexId, f64)) {
        let Some(mut meter) = self.watch.meter() else { return };
        let near = |v| self.g.prefetch_weights(v, direction);
        let vertices = ahead_with(self.g, part, direction, near);
        self.watch.note(visit_edges(self.g, vertices, direction, &mut meter, f));
    }

    /// Returns the scores.
    pub(super) fn into_scores(self) -> Numbers {
        self.shares.score
    }
}
