//! The `k` shortest paths between two vertices.
//!
//! **Result.** The `k` simple paths (no vertex twice) from source to target with the least sums of weights,
//! the shortest one first; fewer if there are no more. The result has a flag for further paths. Among the
//! paths found with equal sums, the one whose vertices have the lesser ids comes first. If several paths tie
//! for the last places, it is not specified which of them are returned. A path is identified by its vertices:
//! of repeated edges the lightest counts. Sums are added up from the source on, in 64 bits. Paths whose sums
//! differ only by rounding may be in either order.
//!
//! **Input.** Any graph. Weights of edges from which the target can be reached are 0 or more. A weight that
//! is negative or not a number is refused, and an edge of infinite weight is never crossed. Without weights
//! every edge weighs 1. Edges are followed along or against their direction.
//!
//! **Trick.** Each further path leaves a known path at some vertex, the *spur*. It leaves by another edge
//! than the known paths with the same beginning, and touches no vertex of that beginning again (Yen). Spurs
//! before the vertex at which the known path itself left another one give nothing new (Lawler). So there is
//! one search for each vertex of a path that is returned. The searches are cheap: one call of the
//! shortest-path kernel against the edges has found the distance of each vertex to the target. With this
//! distance as an estimate (A\*) a search walks nearly straight to the target. If no way leads on from a
//! spur, its search reads only the edges of the spur.
//!
//! **Cited.** J. Y. Yen, *Finding the K Shortest Loopless Paths in a Network*, Management Science 17(11),
//! 1971; E. L. Lawler, *A procedure for computing the K best solutions to discrete optimization problems and
//! its application to the shortest path problem*, Management Science 18(7), 1972; P. Hart, N. Nilsson, B.
//! Raphael, *A Formal Basis for the Heuristic Determination of Minimum Cost Paths*, 1968.
//!
//! **Cost.** One call of [`sssp()`](crate::sssp()), in parallel, and a search for each vertex of each path,
//! in the calling thread.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use crate::error::{check_ends, checked_bound};
use crate::par::reverse;
use crate::paths::Paths;
use crate::registry::prelude::*;
use crate::sssp::{SsspConfig, distances};

mod spur;
pub mod verify;

use spur::{Spurs, Start, Way};

/// The number of paths.
const K: Parameter = Parameter::count("k", "How many paths", CountRange::POSITIVE, 3);

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The simple paths with the least sums of weights from one vertex to another",
    input: "any graph; weights from which the target can be reached are 0 or more",
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::TARGET, K, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "paths",
    cost: "a run of `sssp` and a short search for each vertex of each path",
    // A call of `sssp`; then distances to the target and from the source, the vertex before each vertex, the
    // vertices reached, a heap that grows.
    memory: Memory {
        fixed: 128 << 10,
        provided: "the paths and what leaves them have no more vertices than the graph",
        ..Memory::per_id(120)
    },
    cited: "J. Y. Yen, *Finding the K Shortest Loopless Paths in a Network*, Management Science 17(11), 1971; E. L. \
            Lawler, *A procedure for computing the K best solutions to discrete optimization problems and its application \
            to the shortest path problem*, Management Science 18(7), 1972",
    ..Kernel::named("kpaths", "k_shortest_paths")
};

fn read(arguments: &Arguments) -> Result<(VertexId, VertexId, u32, Direction), KernelError> {
    let (source, target, direction) = arguments.ends()?;
    Ok((source, target, arguments.count(&K)?, direction))
}

functions!(
    Outcome::Paths,
    read,
    |g, (source, target, k, direction), cancel| k_shortest_paths_until(
        g, source, target, k, direction, cancel
    ),
    verify::k_shortest_paths(g, source, target, k as usize, direction)
);

kernel! {
    /// Returns the `k` shortest simple paths from `source` to `target`, along the edges or against them.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`], [`KernelError::TargetNotLive`]; [`KernelError::OutOfRange`] for a `k`
    /// of 0; [`KernelError::Weight`] for a weight below 0 or not a number; [`KernelError::TooManyVertices`];
    /// [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self). Blocks the caller until all tasks are done.
    pub fn k_shortest_paths, k_shortest_paths_until<G: WeightedTopology>(
        g, source: VertexId, target: VertexId, k: u32, direction: Direction; cancel
    ) -> Paths {
        paths(g, source, target, k, direction, cancel)
    }
}

fn paths<G: WeightedTopology>(
    g: &G,
    source: VertexId,
    target: VertexId,
    k: u32,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Paths, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    K.check_count(k)?;
    check_ends(g, source, target)?;
    let backwards = SsspConfig { direction: reverse(direction), ..SsspConfig::default() };
    let to_target = distances(g, target, &backwards, cancel)?;
    debug_assert_eq!(to_target.len(), vertex_bound);
    let mut spurs = Spurs::new(g, target, direction, &to_target, cancel);
    let (mut found, mut more): (Vec<Way>, bool) = (Vec::new(), false);
    cancel.begin(k.into());
    // Ordered by length: the bits of lengths are ordered like the lengths.
    let mut candidates: BTreeSet<(u64, Vec<VertexId>, usize)> = BTreeSet::new();
    if let Some(way) = spurs.search(Start { vertices: &[source], length: 0.0, closed: &[] })? {
        candidates.insert((way.length.to_bits(), way.vertices, 0));
    }
    while let Some((bits, vertices, left_at)) = candidates.pop_first() {
        let way = Way { vertices, length: f64::from_bits(bits) };
        found.push(way);
        cancel.step(1);
        if found.len() == k as usize && !candidates.is_empty() {
            more = true;
            break;
        }
        add_detours(&mut spurs, &found, left_at, &mut candidates)?;
        if found.len() == k as usize {
            more = !candidates.is_empty();
            break;
        }
    }
    cancel.check()?;
    let mut paths = Paths::new();
    found.iter().for_each(|way| paths.push(&way.vertices, way.length));
    if more {
        paths.stop();
    }
    Ok(paths)
}

/// Adds the best ways that leave the path found last, at each vertex from `left_at` on.
fn add_detours<G: WeightedTopology>(
    spurs: &mut Spurs<'_, G>,
    found: &[Way],
    left_at: usize,
    candidates: &mut BTreeSet<(u64, Vec<VertexId>, usize)>,
) -> Result<(), KernelError<G::Error>> {
    let Some(Way { vertices: last, .. }) = found.last() else { return Ok(()) };
    // The paths with the same beginning as the last one, up to the spur.
    let mut alike: Vec<&[VertexId]> = found.iter().map(|way| &way.vertices[..]).collect();
    let mut length = 0.0;
    for at in 0..last.len() - 1 {
        alike.retain(|path| path.get(at) == last.get(at));
        if at >= left_at {
            let closed: Vec<VertexId> = alike.iter().filter_map(|path| path.get(at + 1).copied()).collect();
            let start = Start { vertices: &last[..=at], length, closed: &closed };
            if let Some(way) = spurs.search(start)? {
                candidates.insert((way.length.to_bits(), way.vertices, at));
            }
        }
        spurs.block(last[at]);
        length += spurs.lightest(last[at], last[at + 1])?;
    }
    last.iter().for_each(|&v| spurs.unblock(v));
    Ok(())
}
