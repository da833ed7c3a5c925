//! Breadth-first searches from many vertices that run together.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use super::tally::{TOGETHER, Tally};
use crate::KernelError;
use crate::cancel::Cancel;
use crate::par::{CHUNK_VERTICES, ids_of, reverse, sort_if_read_together, subgraphs_of};
use crate::watch::Watch;

/// The least number of edges of a level that threads share.
const SEQUENTIAL_EDGES: u64 = 4096;

/// The limit of pushing: once the last level has more than 1 / `PULL_SHARE` of all edges, the vertices not
/// found yet look for neighbours in it.
const PULL_SHARE: u64 = 16;

/// The number of vertices of a level that a task settles at a time.
const SETTLED_TOGETHER: usize = 4096;

/// A word for each vertex, with a bit for each search. Accesses are relaxed: within a step, threads only set
/// bits of one array, and the bits that they read do not change. The joins between steps order them.
type Words = Vec<AtomicU64>;

fn words(count: usize) -> Words {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

/// The searches and what they have found.
pub(super) struct Searches<'g, G: Topology> {
    g: &'g G,
    follow: Direction,
    /// The searches that have found a vertex in earlier levels.
    seen: Words,
    /// The searches that have found a vertex in the last level.
    front: Words,
    /// The searches that find each vertex in this level, one bit for a search.
    next: Words,
    watch: Watch<'g, G::Error>,
}

impl<'g, G: Topology> Searches<'g, G> {
    pub(super) fn new(g: &'g G, follow: Direction, cancel: &'g Cancel) -> Self {
        let bound = g.vertex_bound();
        let (seen, front, next) = (words(bound), words(bound), words(bound));
        Searches { g, follow, seen, front, next, watch: Watch::new(cancel) }
    }

    /// Searches from at most [`TOGETHER`] vertices at once.
    pub(super) fn run(
        &mut self,
        sources: &[VertexId],
        tally: &impl Tally,
    ) -> Result<(), KernelError<G::Error>> {
        self.seen.iter_mut().for_each(|word| *word.get_mut() = 0);
        let mut level = sources.to_vec();
        level.sort_unstable();
        level.dedup();
        for (search, v) in sources.iter().enumerate() {
            *self.next[v.index()].get_mut() |= 1 << search;
        }
        let all = u64::MAX >> (TOGETHER - sources.len().clamp(1, TOGETHER));
        let mut hops = 0;
        self.settle(&[], &level, hops, tally);
        while !level.is_empty() && !self.watch.cancel.poll() {
            hops += 1;
            let mut found = self.step(&level, all);
            sort_if_read_together::<G, _>(&mut found);
            self.settle(&level, &found, hops, tally);
            level = found;
            self.watch.check()?;
        }
        self.watch.cancel.check()
    }

    /// Returns the vertices that a level finds.
    fn step(&self, level: &[VertexId], all: u64) -> Vec<VertexId> {
        let degree = |v: &VertexId| self.g.degree_estimate(*v, self.follow) as u64;
        let edges = level.iter().map(degree).sum::<u64>();
        let can_push = self.g.is_stored(self.follow);
        let can_pull = self.g.is_stored(reverse(self.follow));
        if can_pull && (!can_push || edges.saturating_mul(PULL_SHARE) > self.g.edge_count()) {
            return self.pull(all);
        }
        if edges < SEQUENTIAL_EDGES && level.len() < SEQUENTIAL_EDGES as usize {
            let mut found = Vec::with_capacity(level.len());
            self.push(level, &mut found);
            return found;
        }
        let parts = hedgerow_par::fold(level.par_chunks(G::VISITED_TOGETHER), Vec::new, |mut found, part| {
            self.push(part, &mut found);
            found
        });
        parts.concat()
    }

    /// Carries the bits of some vertices to their neighbours. Adds to `found` the neighbours that had no new
    /// bit before.
    fn push(&self, level: &[VertexId], found: &mut Vec<VertexId>) {
        let Some(mut meter) = self.watch.meter() else { return };
        let visited = self.g.visit(level.iter().copied(), self.follow, |u, run| {
            let bits = self.front[u.index()].load(Relaxed);
            meter.parts(run, |part| {
                for &v in part {
                    let open = bits & !self.seen[v.index()].load(Relaxed);
                    let next = &self.next[v.index()];
                    if open & !next.load(Relaxed) != 0 && next.fetch_or(open, Relaxed) == 0 {
                        found.push(v);
                    }
                }
            });
        });
        self.watch.note(visited);
    }

    /// Lets each vertex that some search has not found look for its neighbours in the last level.
    fn pull(&self, all: u64) -> Vec<VertexId> {
        let chunks = (0..self.seen.len().div_ceil(CHUNK_VERTICES)).into_par_iter();
        let parts = hedgerow_par::map(chunks, |chunk| {
            let mut found = Vec::new();
            let Some(mut meter) = self.watch.meter() else {
                return found;
            };
            let range = subgraphs_of(chunk, ids_of(chunk, self.seen.len()).len());
            let scanned = self.g.scan(range, reverse(self.follow), |subgraph, block| {
                for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                    let v = subgraph.vertex(local);
                    let Some(seen) = self.seen.get(v.index()).map(|word| word.load(Relaxed)) else { break };
                    if seen == all {
                        continue;
                    }
                    let mut bits = 0;
                    let _ended = block.for_each_run(local, |run| {
                        meter.parts(run, |part| {
                            for u in part {
                                bits |= self.front[u.index()].load(Relaxed);
                                if bits | seen == all {
                                    break;
                                }
                            }
                        });
                        if bits | seen == all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                    if bits & !seen != 0 {
                        self.next[v.index()].store(bits & !seen, Relaxed);
                        found.push(v);
                    }
                }
                if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            self.watch.note(scanned);
            found
        });
        parts.concat()
    }

    /// Makes the `found` vertices the last level, in place of `before`.
    fn settle(&self, before: &[VertexId], found: &[VertexId], hops: u32, tally: &impl Tally) {
        let forget = |part: &[VertexId]| part.iter().for_each(|v| self.front[v.index()].store(0, Relaxed));
        let take = |part: &[VertexId]| {
            let bits = part.iter().map(|v| {
                let (seen, next) = (&self.seen[v.index()], &self.next[v.index()]);
                let bits = next.load(Relaxed);
                next.store(0, Relaxed);
                seen.store(seen.load(Relaxed) | bits, Relaxed);
                self.front[v.index()].store(bits, Relaxed);
                (v.index(), bits)
            });
            tally.add(bits, hops);
        };
        if before.len().max(found.len()) < SETTLED_TOGETHER {
            forget(before);
            take(found);
        } else {
            hedgerow_par::for_each(before.par_chunks(SETTLED_TOGETHER), forget);
            hedgerow_par::for_each(found.par_chunks(SETTLED_TOGETHER), take);
        }
    }
}
