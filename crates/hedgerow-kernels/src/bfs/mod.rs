//! Breadth-first search: the least number of edges from a source to every vertex.
//!
//! **Result.** A depth for every id of the domain: 0 for the source, [`UNREACHED`] for vertices that no path
//! reaches and for holes. Depths are unique, so the result is the same for any number of threads.
//!
//! **Input.** Any graph; self-loops and repeated neighbours do no harm. A directed graph should be stored in
//! both directions, since the bottom-up step reads the neighbours of a vertex against the search.
//!
//! **Trick.** While the frontier is small, its vertices look for unreached neighbours (top-down). Once the
//! frontier has a large part of the remaining edges, most neighbours were reached before. Then it is cheaper
//! if each unreached vertex looks for one neighbour in the frontier, and stops at the first (bottom-up). In a
//! graph of low diameter the few bottom-up levels cover most vertices while touching a small share of the
//! edges. Top-down, the frontier is a queue that is gathered from one buffer per task. Bottom-up, it is a
//! bitmap, of which a task owns whole words of 64 vertices, so it needs no atomics. A second bitmap has the
//! unreached vertices, so reached and isolated vertices cost one bit per later level.
//!
//! **Cited.** S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012, for
//! the two steps and for the rule that switches between them.
//!
//! **Cost.** O(vertices + edges) time in the worst case. 4.4 bytes per id of the domain, and up to 20 more
//! while the search finds a level with most vertices top-down.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Direction, SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use crate::cancel::Meter;
use crate::error::{check_source, checked_bound};
use crate::par::{
    CHUNK_SUBGRAPHS, CHUNK_VERTICES, ahead, into_plain, reverse, sort_if_read_together, subgraphs_of,
};
use crate::registry::prelude::*;
use crate::watch::Watch;

mod adopt;
mod bitmaps;
mod config;
pub mod khop;
mod levels;
pub mod parents;
pub mod verify;

pub use config::{BfsConfig, NO_VERTEX, UNREACHED};
pub(crate) use levels::Levels;

use adopt::Adoption;
use bitmaps::Bitmaps;

/// The least number of edges of a level that threads share: for fewer, sharing would cost more than it saves.
const SEQUENTIAL_EDGES: u64 = 4096;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Hops from a source vertex to every other vertex",
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION],
    result: ResultColumn { name: "hops", kind: ResultKind::Hops },
    steps: "vertices",
    cost: "O(vertices + edges), usually far fewer edges",
    // Depths and bitmaps: 4.4 bytes. No vertex is in two frontiers; the later frontier exists twice, in lists
    // that grow.
    memory: Memory::per_id(25),
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012",
    ..Kernel::named("bfs", "bfs")
};

/// Returns the source and the direction of a search.
fn read(arguments: &Arguments) -> Result<(VertexId, BfsConfig), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    Ok((arguments.vertex(&Parameter::SOURCE)?, BfsConfig { direction, ..BfsConfig::default() }))
}

functions!(
    Outcome::Hops,
    read,
    |g, (source, config), cancel| bfs_until(g, source, &config, cancel),
    verify::bfs(g, source, config.direction)
);

kernel! {
    /// Returns the depth of every vertex below `source`, indexed by vertex id; [`UNREACHED`] where there is
    /// no path.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the
    /// graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges); blocks the caller until all tasks are done.
    pub fn bfs, bfs_until<G: Topology>(g, source: VertexId, config: &BfsConfig; cancel) -> Vec<u32> {
        checked_bound::<G::Error>(g.vertex_bound())?;
        check_source(g, source)?;
        cancel.begin(g.vertex_count() as u64);
        depths(g, source, config, cancel)
    }
}

/// Searches as a part of a kernel: counts the vertices that it finds as steps of the kernel. The source is
/// live.
pub(crate) fn depths<G: Topology>(
    g: &G,
    source: VertexId,
    config: &BfsConfig,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    hedgerow_par::run(|| {
        let mut search = Search::new(g, g.vertex_bound(), config, cancel);
        cancel.step(1);
        search.run(source, None);
        search.check()?;
        Ok(into_plain(search.depth))
    })
}

/// Returns the number of edges that a search may follow; undirected edges count twice.
fn edges_read<G: Topology>(g: &G) -> u64 {
    g.edge_count() * if g.is_directed() { 1 } else { 2 }
}

/// A search, whose levels other kernels can use.
pub(crate) struct Search<'g, G: Topology> {
    g: &'g G,
    config: BfsConfig,
    forward: Direction,
    backward: Direction,
    depth: Vec<AtomicU32>,
    /// The number of edges of vertices that were in no frontier yet.
    unexplored: u64,
    watch: Watch<'g, G::Error>,
}

impl<'g, G: Topology> Search<'g, G> {
    pub(crate) fn new(g: &'g G, vertex_bound: usize, config: &BfsConfig, cancel: &'g Cancel) -> Self {
        Search {
            g,
            config: *config,
            forward: config.direction,
            backward: reverse(config.direction),
            depth: (0..vertex_bound).map(|_| AtomicU32::new(UNREACHED)).collect(),
            unexplored: edges_read(g),
            watch: Watch::new(cancel),
        }
    }

    /// Resets a search that has reached these vertices, so that another search can begin. O(reached
    /// vertices).
    pub(crate) fn restart(&mut self, reached: &[VertexId]) {
        reached.iter().for_each(|v| *self.depth[v.index()].get_mut() = UNREACHED);
        self.unexplored = edges_read(self.g);
    }

    /// Returns an error if the search could not read the graph, or was cancelled.
    pub(crate) fn check(&mut self) -> Result<(), KernelError<G::Error>> {
        self.watch.check()
    }

    /// Searches from a source, and keeps the vertices of each level if `levels` is given.
    pub(crate) fn run(&mut self, source: VertexId, mut levels: Option<&mut Levels>) {
        *self.depth[source.index()].get_mut() = 0;
        let mut frontier = vec![source];
        let mut frontier_edges = self.g.degree_estimate(source, self.forward) as u64;
        let mut level = 0;
        let mut bitmaps: Option<Bitmaps> = None;
        while !frontier.is_empty() && level < self.config.hops && !self.watch.is_over() {
            if let Some(levels) = &mut levels {
                levels.add(&frontier);
            }
            level += 1;
            if self.config.goes_bottom_up(self.g, frontier_edges, self.unexplored) {
                let maps = bitmaps.get_or_insert_with(|| Bitmaps::new(self.depth.len()));
                level = self.run_bottom_up(maps, &frontier, level, levels.as_deref_mut());
                frontier = maps.frontier();
                // The edges of these vertices were never counted. The search is nearly done, so any small
                // number will do.
                frontier_edges = 1;
            } else {
                self.unexplored = self.unexplored.saturating_sub(frontier_edges);
                sort_if_read_together::<G, _>(&mut frontier);
                (frontier, frontier_edges) = self.top_down(&frontier, frontier_edges, level);
                if levels.is_none() {
                    self.watch.cancel.step(frontier.len() as u64);
                }
            }
        }
    }

    /// Expands the frontier; returns the vertices found and the number of their edges.
    fn top_down(&self, frontier: &[VertexId], edges: u64, level: u32) -> (Vec<VertexId>, u64) {
        let few = edges < SEQUENTIAL_EDGES && frontier.len() < SEQUENTIAL_EDGES as usize;
        if few || hedgerow_par::threads() == 1 {
            let mut next = Vec::with_capacity(frontier.len() * 2);
            // The frontier is read in parts, and each part begins with a poll.
            let parts = frontier.chunks(if few { frontier.len() } else { G::VISITED_TOGETHER });
            let next_edges = parts.map(|part| self.expand::<false>(part, level, &mut next)).sum();
            return (next, next_edges);
        }
        let parts: Vec<(Vec<VertexId>, u64)> = hedgerow_par::fold(
            frontier.par_chunks(G::VISITED_TOGETHER),
            Default::default,
            |(mut found, edges), chunk| {
                let more = self.expand::<true>(chunk, level, &mut found);
                (found, edges + more)
            },
        );
        let next_edges = parts.iter().map(|(_, edges)| edges).sum();
        (parts.into_iter().flat_map(|(found, _)| found).collect(), next_edges)
    }

    /// Expands vertices of the frontier into `found`; returns the number of their edges. `SHARED`: other
    /// threads expand the same frontier. If not, vertices are taken without locked instructions. In a graph
    /// of large diameter this is so for all levels, since they are small.
    fn expand<const SHARED: bool>(&self, chunk: &[VertexId], level: u32, found: &mut Vec<VertexId>) -> u64 {
        let mut edges = 0;
        let Some(mut meter) = self.watch.meter() else { return edges };
        let mut visit = |v: VertexId| {
            let slot = &self.depth[v.index()];
            // Relaxed is enough: the value itself is the whole message, and the join after the level orders
            // the levels. The plain load keeps the exchange away from the many vertices already reached.
            if slot.load(Relaxed) != UNREACHED {
                return;
            }
            let is_mine = if SHARED {
                slot.compare_exchange(UNREACHED, level, Relaxed, Relaxed).is_ok()
            } else {
                slot.store(level, Relaxed);
                true
            };
            if is_mine {
                // The sum decides only when to change direction: an estimate will do.
                edges += self.g.degree_estimate(v, self.forward) as u64;
                found.push(v);
            }
        };
        let visited = self.g.visit(ahead(self.g, chunk, self.forward), self.forward, |_, run| {
            if meter.takes(run.len()) {
                run.iter().for_each(|&v| visit(v));
            } else {
                expand_polling(run, &mut meter, &mut visit);
            }
        });
        self.watch.note(visited);
        edges
    }

    /// Runs bottom-up levels until the frontier is small again; returns the last level done. Afterwards
    /// `maps` has the frontier of that level.
    fn run_bottom_up(
        &mut self,
        maps: &mut Bitmaps,
        frontier: &[VertexId],
        first_level: u32,
        mut levels: Option<&mut Levels>,
    ) -> u32 {
        maps.set_frontier(frontier);
        let mut level = first_level;
        let mut awake = frontier.len();
        loop {
            let found = self.bottom_up(maps, level);
            if levels.is_none() {
                self.watch.cancel.step(found as u64);
            }
            maps.swap();
            let shrinks = found < awake;
            awake = found;
            if found == 0
                || level >= self.config.hops
                || self.watch.is_over()
                || (shrinks && found as u64 * u64::from(self.config.beta) <= self.depth.len() as u64)
            {
                return level;
            }
            if let Some(levels) = &mut levels {
                levels.add(&maps.frontier());
            }
            level += 1;
        }
    }

    fn bottom_up(&mut self, maps: &mut Bitmaps, level: u32) -> usize {
        let (g, backward, watch) = (self.g, self.backward, &self.watch);
        let search = Adoption { front: maps.front.as_slice(), level };
        let words = maps.next.par_chunks_mut(CHUNK_SUBGRAPHS).zip(maps.open.par_chunks_mut(CHUNK_SUBGRAPHS));
        let chunks = words.zip(self.depth.par_chunks_mut(CHUNK_VERTICES)).enumerate();
        let found = hedgerow_par::map(chunks, |(chunk, ((next, open), depth))| {
            let mut found = 0;
            let Some(mut meter) = watch.meter_of_subgraphs() else {
                return found;
            };
            let subgraphs = subgraphs_of(chunk, depth.len());
            let mut rows = next.iter_mut().zip(open).zip(depth.chunks_mut(SUBGRAPH_VERTICES));
            let scanned = g.scan(subgraphs, backward, |_, block| {
                let Some(((next, open), depth)) = rows.next().filter(|_| meter.next_subgraph()) else {
                    return ControlFlow::Break(());
                };
                *next = search.adopt(block, open, depth, &mut meter);
                found += next.count_ones() as usize;
                ControlFlow::Continue(())
            });
            watch.note(scanned);
            found
        });
        found.into_iter().sum()
    }
}

/// Reads a run with polls. Not inlined: the loop over a run that needs no poll must stay small.
#[cold]
fn expand_polling(run: &[VertexId], meter: &mut Meter<'_>, visit: &mut dyn FnMut(VertexId)) {
    meter.parts(run, |part| part.iter().for_each(|&v| visit(v)));
}
