//! The passes over the edges of the shortest paths from one source.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Direction, VertexId, WeightedTopology};
use rayon::prelude::*;

use super::distances::Distances;
use super::endless;
use crate::KernelError;
use crate::betweenness::numbers::Numbers;
use crate::bfs::Levels;
use crate::cancel::Cancel;
use crate::error::Failure;
use crate::par::{LISTS_AHEAD, PLACES_AHEAD, sort_if_read_together};
use crate::sssp::for_each_neighbor;

/// The least number of vertices of a level that threads share; the calling thread works on smaller levels.
const SEQUENTIAL: usize = 256;

/// Vertices of a level that a task writes at a time.
const WRITTEN_TOGETHER: usize = 4096;

/// The contributions of the sources so far to each vertex, and the arrays that the passes of one source need.
pub(super) struct Passes<'g, G: WeightedTopology> {
    g: &'g G,
    /// Edges to a vertex that are on shortest paths and that no level has met yet; 0 between sources.
    open: Vec<AtomicU32>,
    /// Shortest paths from the source; 0 between sources.
    paths: Numbers,
    /// The share of each path to a vertex on the way back; 0 between sources.
    share: Numbers,
    score: Numbers,
    levels: Levels,
    cancel: &'g Cancel,
    failure: Failure<G::Error>,
}

impl<'g, G: WeightedTopology> Passes<'g, G> {
    pub(super) fn new(g: &'g G, vertex_bound: usize, cancel: &'g Cancel) -> Self {
        let zeros = || Numbers::zeros(vertex_bound);
        Passes {
            g,
            open: (0..vertex_bound).map(|_| AtomicU32::new(0)).collect(),
            paths: zeros(),
            share: zeros(),
            score: zeros(),
            levels: Levels::new(g.vertex_count()),
            cancel,
            failure: Failure::new(),
        }
    }

    /// Adds the contribution of a source, from the distances of all vertices.
    pub(super) fn add(&mut self, source: VertexId, distance: &[f64]) -> Result<(), KernelError<G::Error>> {
        let mut levels = std::mem::replace(&mut self.levels, Levels::new(0));
        levels.clear();
        let reached = self.forth(source, Distances(distance), &mut levels)?;
        if levels.all().len() < reached {
            let open = |v: VertexId| self.open[v.index()].load(Relaxed) > 0;
            return Err(endless::find(self.g, Distances(distance), open, self.cancel));
        }
        self.back(Distances(distance), &levels)?;
        let are_finite = self.forget(&levels);
        self.levels = levels;
        if are_finite { Ok(()) } else { Err(KernelError::TooManyPaths { source }) }
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
        self.check()?;
        self.paths.set(source, 1.0);
        let mut level = vec![source];
        // The source is on a cycle that makes no path longer.
        if self.open[source.index()].load(Relaxed) > 0 {
            level.clear();
        }
        let gathers = self.g.is_stored(Direction::In);
        while !level.is_empty() {
            levels.add(&level);
            let mut next = self.next_level(&level, distance, !gathers);
            self.check()?;
            sort_if_read_together::<G, _>(&mut next);
            if gathers {
                self.gather(&next, (Direction::In, distance), &self.paths);
                self.check()?;
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

    /// Returns the vertices to which the last edges lead from this level. If it `scatters`, the calling
    /// thread also adds up their paths, in an order that depends on no other: for graphs that do not store
    /// the edges to a vertex.
    fn next_level(&self, level: &[VertexId], distance: Distances<'_>, scatters: bool) -> Vec<VertexId> {
        let part = |mut found: Vec<VertexId>, part: &[VertexId]| {
            self.visit(part, Direction::Out, |u, v, weight| {
                if !distance.is_on_path(u, v, weight) {
                    return;
                }
                if scatters {
                    self.paths.set(v, self.paths.of(v) + self.paths.of(u));
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

    /// Adds to every vertex of the levels its share of the paths that lead through it, the farthest first.
    fn back(&mut self, distance: Distances<'_>, levels: &Levels) -> Result<(), KernelError<G::Error>> {
        for at in (1..levels.count()).rev() {
            let level = levels.level(at);
            // No edge leads on from the last level.
            if at + 1 < levels.count() {
                self.gather(level, (Direction::Out, distance), &self.share);
            }
            self.check()?;
            for_each_part(level, |part| {
                for &v in part {
                    let (paths, behind) = (self.paths.of(v), self.paths.of(v) * self.share.of(v));
                    self.share.set(v, (1.0 + behind) / paths);
                    self.score.set(v, self.score.of(v) + behind);
                }
            });
        }
        Ok(())
    }

    /// Adds to each vertex of a level the numbers of the vertices at the other ends of its edges on shortest
    /// paths, to or from it. These are in other levels.
    fn gather(
        &self,
        level: &[VertexId],
        (direction, distance): (Direction, Distances<'_>),
        numbers: &Numbers,
    ) {
        let part = |part: &[VertexId]| {
            self.visit(part, direction, |v, other, weight| {
                let (from, to) = if direction == Direction::In { (other, v) } else { (v, other) };
                if distance.is_on_path(from, to, weight) {
                    numbers.set(v, numbers.of(v) + numbers.of(other));
                }
            });
        };
        if level.len() < SEQUENTIAL {
            level.chunks(G::VISITED_TOGETHER).for_each(part);
        } else {
            hedgerow_par::for_each(level.par_chunks(G::VISITED_TOGETHER), part);
        }
    }

    /// Calls `f` with every edge of some vertices in a direction: the vertex, the other end, the weight.
    #[inline]
    fn visit(&self, part: &[VertexId], direction: Direction, mut f: impl FnMut(VertexId, VertexId, f64)) {
        let Some(mut meter) = self.cancel.meter().filter(|_| !self.failure.is_noted()) else { return };
        let is_over = Cell::new(false);
        let ahead = part.iter().enumerate().take_while(|_| !is_over.get()).map(|(i, &v)| {
            if let Some(&far) = part.get(i + PLACES_AHEAD) {
                self.g.prefetch_place(far, direction);
            }
            if let Some(&near) = part.get(i + LISTS_AHEAD) {
                self.g.prefetch_list(near, direction);
                self.g.prefetch_weights(near, direction);
            }
            v
        });
        let visited = self.g.visit_weighted(ahead, direction, |v, run, weights| {
            for_each_neighbor(run, weights, &mut meter, |other, weight| f(v, other, weight));
            is_over.set(meter.is_over());
        });
        self.failure.note(visited);
    }

    /// Clears the numbers of the last source. True if all numbers of paths were finite.
    fn forget(&self, levels: &Levels) -> bool {
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
        hedgerow_par::map_reduce(parts, part, || true, |a, b| a && b)
    }

    /// Returns the scores, each times `scale`.
    pub(super) fn into_scores(self, scale: f64) -> Vec<f64> {
        drop((self.paths, self.share, self.open, self.levels));
        self.score.into_plain(scale)
    }

    fn check(&mut self) -> Result<(), KernelError<G::Error>> {
        self.failure.check()?;
        self.cancel.check()
    }
}

/// Calls `f` with the parts of a level, in parallel if there are several.
fn for_each_part(level: &[VertexId], f: impl Fn(&[VertexId]) + Sync + Send) {
    if level.len() < WRITTEN_TOGETHER {
        f(level);
    } else {
        hedgerow_par::for_each(level.par_chunks(WRITTEN_TOGETHER), f);
    }
}
