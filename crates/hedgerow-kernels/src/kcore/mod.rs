//! Core numbers: the level of peeling at which each vertex is taken away.
//!
//! **Result.** For every vertex the largest `k` for which it is in the `k`-core; 0 for holes. The `k`-core is
//! the largest part of the graph in which every vertex has `k` or more neighbours within the part.
//!
//! **Input.** Any graph; directions are ignored. Each edge from or to a vertex counts once: an edge from `u`
//! to `v` and one from `v` to `u` both count. Repeated edges count too. Self-loops do not count. NetworkX and
//! igraph have the same rule. A directed graph must be stored in both directions.
//!
//! **Trick.** Vertices of least degree are taken away, round by round, and the degrees of their neighbours
//! fall. Threads share a round, and a decrement of a degree is one atomic subtraction. The thread whose
//! subtraction brings a degree down to the level takes the vertex, so none is taken twice. Between levels the
//! vertices that are left are scanned once, and the next level is the least degree among them, so no level is
//! empty. A vertex is scanned at most once for each level up to its core number, so all scans together visit
//! no more vertices than there are edges.
//!
//! **Cited.** S. Seidman, *Network structure and minimum degree*, Social Networks 5(3), 1983; N. Dasari, D.
//! Ranjan, M. Zubair, *ParK: An efficient algorithm for k-core decomposition on multicore processors*, IEEE
//! Big Data 2014; L. Dhulipala, G. Blelloch, J. Shun, *Julienne: A Framework for Parallel Graph Algorithms
//! using Work-efficient Bucketing*, SPAA 2017, for skipping empty levels.
//!
//! **Cost.** O(vertices + edges); 24 bytes per id of the domain.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, Topology, VertexId};
use rayon::prelude::*;

use crate::error::checked_bound;
use crate::frontier::{Rounds, all_ways};
use crate::par::{CHUNK_VERTICES, subgraphs_of};
use crate::registry::prelude::*;
use crate::watch::Watch;

pub mod verify;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The core number of each vertex: the largest k for which it is in the k-core",
    input: "any graph; directions are ignored, edges that lead both ways count twice, repeated ones as often as they are there, loops do not count",
    result: ResultColumn { name: "core", kind: ResultKind::Numbers },
    steps: "vertices",
    cost: "O(vertices + edges)",
    // A degree, a core number, the vertices that are left, the vertices of a round and, in parts, the
    // vertices of the next round.
    memory: Memory::per_id(24),
    cited: "S. Seidman, *Network structure and minimum degree*, Social Networks 5(3), 1983; N. Dasari, D. Ranjan, M. Zubair, \
            *ParK: An efficient algorithm for k-core decomposition on multicore processors*, IEEE Big Data 2014; L. Dhulipala, \
            G. Blelloch, J. Shun, *Julienne: A Framework for Parallel Graph Algorithms using Work-efficient Bucketing*, SPAA 2017",
    ..Kernel::named("kcore", "core_numbers")
};

functions!(
    Outcome::Numbers,
    Arguments::none,
    |g, (), cancel| core_numbers_until(g, cancel),
    verify::core_numbers(g)
);

kernel! {
    /// Returns the core number of every vertex, indexed by vertex id; 0 for holes.
    ///
    /// # Errors
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// O(vertices + edges); blocks the caller until all tasks are done.
    pub fn core_numbers, core_numbers_until<G: Topology>(g; cancel) -> Vec<u32> {
        let vertex_bound = checked_bound(g.vertex_bound())?;
        hedgerow_par::run(|| {
            let mut rounds = Rounds { g, watch: Watch::new(cancel) };
            let degrees: Vec<AtomicU32> = (0..vertex_bound).map(|_| AtomicU32::new(0)).collect();
            for &direction in all_ways(g) {
                add_degrees(&rounds, &degrees, direction);
            }
            rounds.watch.check()?;
            peel(&mut rounds, &degrees)
        })
    }
}

/// Adds the number of neighbours of each vertex other than itself.
fn add_degrees<G: Topology>(rounds: &Rounds<'_, G>, degrees: &[AtomicU32], direction: Direction) {
    let chunks = degrees.par_chunks(CHUNK_VERTICES).enumerate();
    hedgerow_par::for_each(chunks, |(chunk, degrees)| {
        let Some(mut meter) = rounds.watch.meter() else { return };
        let mut parts = degrees.chunks(SUBGRAPH_VERTICES);
        let scanned = rounds.g.scan(subgraphs_of(chunk, degrees.len()), direction, |subgraph, block| {
            for (local, degree) in (0..).map(LocalVertex).zip(parts.next().unwrap_or_default()) {
                let (v, mut others) = (subgraph.vertex(local), 0);
                let _goes_on = block.for_each_run(local, |run| {
                    meter.parts(run, |part| others += part.iter().filter(|&&u| u != v).count());
                    ControlFlow::Continue(())
                });
                degree.fetch_add(others.min(u32::MAX as usize) as u32, Relaxed);
            }
            if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        rounds.watch.note(scanned);
    });
}

/// The vertices of least degree, which are taken away next, and that degree.
struct Level {
    going: Vec<VertexId>,
    degree: u32,
}

/// Removes from `left` the vertices that were taken away, whose degree is at most `level`, and finds the next
/// level.
fn next_level<E>(
    left: &mut Vec<VertexId>,
    degrees: &[AtomicU32],
    level: u32,
    cancel: &Cancel,
) -> Result<Level, KernelError<E>> {
    let (mut next, mut kept) = (Level { going: Vec::new(), degree: u32::MAX }, 0);
    for from in (0..left.len()).step_by(Cancel::EDGES_BETWEEN_POLLS) {
        cancel.check()?;
        for at in from..(from + Cancel::EDGES_BETWEEN_POLLS).min(left.len()) {
            let v = left[at];
            let degree = degrees[v.index()].load(Relaxed);
            if degree <= level {
                continue;
            }
            if degree < next.degree {
                next.going.clear();
                next.degree = degree;
            }
            if degree == next.degree {
                next.going.push(v);
            }
            left[kept] = v;
            kept += 1;
        }
    }
    left.truncate(kept);
    Ok(next)
}

fn peel<G: Topology>(
    rounds: &mut Rounds<'_, G>,
    degrees: &[AtomicU32],
) -> Result<Vec<u32>, KernelError<G::Error>> {
    let (cancel, ways) = (rounds.watch.cancel, all_ways(rounds.g));
    let mut cores = vec![0; degrees.len()];
    let mut left: Vec<VertexId> = (0..degrees.len() as u32).map(VertexId).collect();
    // Vertices without edges, and holes, are taken away with level 0.
    cancel.begin(left.len() as u64);
    let mut level = 0;
    loop {
        let before = left.len();
        let Level { mut going, degree } = next_level(&mut left, degrees, level, cancel)?;
        cancel.step((before - left.len()) as u64);
        if going.is_empty() {
            return Ok(cores);
        }
        level = degree;
        while !going.is_empty() {
            going.iter().for_each(|v| cores[v.index()] = level);
            rounds.next(&mut going, ways, |v, run, found| {
                for &u in run {
                    let degree = &degrees[u.index()];
                    // A vertex whose degree is at or below the level was taken away, or is in this round.
                    if u != v && degree.load(Relaxed) > level && degree.fetch_sub(1, Relaxed) == level + 1 {
                        found.push(u);
                    }
                }
            });
            rounds.watch.check()?;
        }
    }
}
