//! Breadth-first search that returns paths: for each vertex the next vertex on a shortest path back to the
//! source.
//!
//! **Result.** The parent of every vertex that the source reaches: the least of its neighbours that are one
//! hop nearer to the source. The source is its own parent, like in the GAP benchmark. Vertices that no path
//! reaches, and holes, have [`NO_VERTEX`]. The least neighbour is unique, so the result is the same for any
//! number of threads. From a vertex, parents lead to the source in as many steps as the number of hops in
//! [`bfs()`](crate::bfs()).
//!
//! **Input.** Any graph; self-loops and repeated neighbours do no harm.
//!
//! **Trick.** If threads recorded parents during the search, these would depend on which thread is first. So
//! the search finds only depths, which are unique. Then each vertex looks for its first neighbour one level
//! nearer. Lists are in order, so the first such neighbour is the least, and most searches end within the
//! first few neighbours.
//!
//! **Cited.** S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012, for
//! the search; S. Beamer, K. Asanović, D. Patterson, *The GAP Benchmark Suite*, 2015, for the convention and
//! the verifier.
//!
//! **Cost.** O(vertices + edges) at worst; 29 bytes per id of the domain at most.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Block, LocalVertex, SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use super::config::{BfsConfig, NO_VERTEX, UNREACHED};
use super::{depths, read, verify};
use crate::cancel::Meter;
use crate::error::{check_source, checked_bound};
use crate::par::{CHUNK_VERTICES, ids_of, into_plain, reverse, subgraphs_of};
use crate::registry::prelude::*;
use crate::watch::Watch;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The next vertex on a shortest path from each vertex back to a source",
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION],
    result: ResultColumn { name: "parent", kind: ResultKind::Vertices },
    steps: "vertices",
    cost: "O(vertices + edges), usually far fewer edges",
    // The memory of the search; the parents are allocated after its lists are freed.
    memory: Memory::per_id(25),
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012; S. Beamer, K. Asanović, D. \
            Patterson, *The GAP Benchmark Suite*, 2015",
    ..Kernel::named("bfs_parents", "bfs_parents")
};

functions!(
    Outcome::Vertices,
    read,
    |g, (source, config), cancel| bfs_parents_until(g, source, &config, cancel),
    verify::bfs_parents(g, source, config.direction)
);

kernel! {
    /// Returns the parent of every vertex in a search from `source`, indexed by vertex id; [`NO_VERTEX`]
    /// where there is no path.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the
    /// graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges); blocks the caller until all tasks are done.
    pub fn bfs_parents, bfs_parents_until<G: Topology>(
        g, source: VertexId, config: &BfsConfig; cancel
    ) -> Vec<u32> {
        parents(g, source, config, cancel)
    }
}

fn parents<G: Topology>(
    g: &G,
    source: VertexId,
    config: &BfsConfig,
    cancel: &Cancel,
) -> Result<Vec<u32>, KernelError<G::Error>> {
    let bound = checked_bound::<G::Error>(g.vertex_bound())?;
    check_source(g, source)?;
    // Steps: the search finds each vertex, then each id chooses a parent.
    cancel.begin((g.vertex_count() + bound) as u64);
    let depth = depths(g, source, config, cancel)?;
    hedgerow_par::run(|| {
        let parents = (0..depth.len()).map(|_| AtomicU32::new(NO_VERTEX)).collect();
        let mut choice = Choice { g, config, depth: &depth, parents, watch: Watch::new(cancel) };
        choice.choose();
        choice.watch.check()?;
        choice.parents[source.index()].store(source.0, Relaxed);
        Ok(into_plain(choice.parents))
    })
}

/// The choice of parents by depths.
struct Choice<'a, G: Topology> {
    g: &'a G,
    config: &'a BfsConfig,
    depth: &'a [u32],
    /// The parents. Accesses are relaxed: either one thread writes each parent, or threads only lower it.
    parents: Vec<AtomicU32>,
    watch: Watch<'a, G::Error>,
}

impl<G: Topology> Choice<'_, G> {
    fn choose(&self) {
        let backward = reverse(self.config.direction);
        let can_ask = self.g.is_stored(backward);
        let chunks = (0..self.depth.len().div_ceil(CHUNK_VERTICES)).into_par_iter();
        hedgerow_par::for_each(chunks, |chunk| {
            let Some(mut meter) = self.watch.meter() else { return };
            let vertices = ids_of(chunk, self.depth.len()).len();
            let direction = if can_ask { backward } else { self.config.direction };
            let scanned = self.g.scan(subgraphs_of(chunk, vertices), direction, |subgraph, block| {
                for v in (0..SUBGRAPH_VERTICES as u8).map(|local| subgraph.vertex(LocalVertex(local))) {
                    match self.depth.get(v.index()) {
                        None | Some(&UNREACHED) => {}
                        Some(&depth) if can_ask => self.ask(&block, v, depth, &mut meter),
                        Some(&depth) => self.tell(&block, v, depth, &mut meter),
                    }
                }
                if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            self.watch.note(scanned);
            self.watch.cancel.step(vertices as u64);
        });
    }

    /// Searches for the least neighbour of a vertex that is one hop nearer.
    fn ask<B: Block>(&self, block: &B, v: VertexId, depth: u32, meter: &mut Meter<'_>) {
        let Some(nearer) = depth.checked_sub(1) else { return };
        let mut least = NO_VERTEX;
        let _goes_on = block.for_each_run(v.local(), |run| {
            // Each run is in order, but the runs of a list are not in order among each other.
            let mut is_found = false;
            meter.parts(run, |part| {
                let first = part.iter().find(|u| self.depth[u.index()] == nearer).filter(|_| !is_found);
                is_found |= first.is_some();
                least = first.map_or(least, |u| least.min(u.0));
            });
            ControlFlow::Continue(())
        });
        self.parents[v.index()].store(least, Relaxed);
    }

    /// Offers the vertex to its neighbours one hop farther, if neighbours against the search cannot be read.
    fn tell<B: Block>(&self, block: &B, u: VertexId, depth: u32, meter: &mut Meter<'_>) {
        let _goes_on = block.for_each_run(u.local(), |run| {
            meter.parts(run, |part| {
                for v in part.iter().filter(|v| self.depth[v.index()] == depth + 1) {
                    self.parents[v.index()].fetch_min(u.0, Relaxed);
                }
            });
            ControlFlow::Continue(())
        });
    }
}
