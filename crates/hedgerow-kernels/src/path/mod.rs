//! A shortest path between two vertices, by hops.
//!
//! **Result.** The vertices of one of the paths from source to target with the fewest edges, and their
//! number; no path if none leads there. From a vertex to itself it is that vertex alone. The choice among
//! several paths depends on the order in which lists are stored, never on threads.
//!
//! **Input.** Any graph; weights are not read (use
//! [`shortest_weighted_path()`](crate::shortest_weighted_path()) for them). Edges are followed along or
//! against their direction.
//!
//! **Trick.** Two searches, one from each end, meet in the middle. Each search goes half as far. If degrees
//! are large, it meets about the square root of the number of vertices that one search from one end would
//! meet. The side whose frontier has fewer edges continues, by a whole level at a time. So the first vertex
//! that both sides have reached closes a shortest path: after `a` and `b` levels there is no path of `a + b`
//! edges, and one more level finds all paths of `a + b + 1` edges. One thread does all this, since a frontier
//! seldom grows so large that another thread would help. A graph that is stored in only one direction is
//! searched from one end.
//!
//! **Cited.** I. Pohl, *Bi-directional Search*, Machine Intelligence 6, 1971.
//!
//! **Cost.** O(vertices + edges) at worst, usually about the square root of that; 8 bytes per id of the
//! domain and 4 per vertex of a frontier.

use hedgerow_core::{Direction, Topology, VertexId};

use crate::cancel::Meter;
use crate::error::{check_ends, checked_bound};
use crate::par::{ahead, reverse, sort_if_read_together};
use crate::paths::{Paths, joined, path_to_root};
use crate::registry::prelude::*;

pub mod verify;
pub mod weighted;

/// The mark of no vertex.
const NONE: u32 = u32::MAX;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "A path with the fewest edges from one vertex to another",
    input: "any graph; weights are not looked at",
    parameters: &[Parameter::SOURCE, Parameter::TARGET, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "vertices",
    cost: "O(vertices + edges) at worst, usually far less",
    // The vertex before each vertex, for both ends; two frontiers in lists that grow, each of which may exist
    // twice; the path.
    memory: Memory { per_thread: 0, ..Memory::per_id(32) },
    cited: "I. Pohl, *Bi-directional Search*, Machine Intelligence 6, 1971",
    ..Kernel::named("path", "shortest_path")
};

functions!(
    Outcome::Paths,
    Arguments::ends,
    |g, (source, target, direction), cancel| shortest_path_until(g, source, target, direction, cancel),
    verify::shortest_path(g, source, target, direction)
);

kernel! {
    /// Returns a path with the fewest edges from `source` to `target`, along the edges or against them.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`], [`KernelError::TargetNotLive`]; [`KernelError::TooManyVertices`];
    /// [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); runs in the calling thread.
    pub fn shortest_path, shortest_path_until<G: Topology>(
        g, source: VertexId, target: VertexId, direction: Direction; cancel
    ) -> Paths {
        path(g, source, target, direction, cancel)
    }
}

fn path<G: Topology>(
    g: &G,
    source: VertexId,
    target: VertexId,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Paths, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    check_ends(g, source, target)?;
    cancel.check()?;
    cancel.begin(g.vertex_count() as u64);
    cancel.step(1);
    let mut paths = Paths::new();
    let mut sides =
        [Side::new(source, direction, vertex_bound), Side::new(target, reverse(direction), vertex_bound)];
    let met = meet(g, &mut sides, cancel)?;
    cancel.check()?;
    if let Some(middle) = met {
        let [forth, back] = &sides;
        let path = joined(forth.way_to(middle), back.way_to(middle));
        paths.push(&path, (path.len() - 1) as f64);
    }
    Ok(paths)
}

/// A search from one of the ends.
struct Side {
    direction: Direction,
    /// The vertex before each vertex reached; the end is before itself; [`NONE`] for others.
    before: Vec<u32>,
    frontier: Vec<VertexId>,
    /// About the number of edges of the frontier.
    edges: usize,
}

impl Side {
    fn new(end: VertexId, direction: Direction, vertex_bound: usize) -> Side {
        let mut before = vec![NONE; vertex_bound];
        before[end.index()] = end.0;
        Side { direction, before, frontier: vec![end], edges: 0 }
    }

    fn knows(&self, v: VertexId) -> bool {
        self.before[v.index()] != NONE
    }

    /// Finds the next level. At the first vertex that the other side has reached, stops and returns this
    /// vertex.
    fn advance<G: Topology>(
        &mut self,
        g: &G,
        other: &Side,
        meter: &mut Meter<'_>,
    ) -> Result<Option<VertexId>, G::Error> {
        let mut frontier = std::mem::take(&mut self.frontier);
        sort_if_read_together::<G, _>(&mut frontier);
        let (mut met, mut edges) = (None, 0);
        for part in frontier.chunks(G::VISITED_TOGETHER) {
            let (before, next) = (&mut self.before, &mut self.frontier);
            g.visit(ahead(g, part, self.direction), self.direction, |u, run| {
                meter.parts(run, |part| {
                    if met.is_some() {
                        return;
                    }
                    for &v in part {
                        let slot = &mut before[v.index()];
                        if *slot != NONE {
                            continue;
                        }
                        *slot = u.0;
                        if other.knows(v) {
                            met = Some(v);
                            return;
                        }
                        edges += g.degree_estimate(v, self.direction);
                        next.push(v);
                    }
                });
            })?;
            if met.is_some() || meter.is_over() {
                break;
            }
        }
        self.edges = edges;
        Ok(met)
    }

    /// Returns the vertices from `v` back to the end.
    fn way_to(&self, v: VertexId) -> Vec<VertexId> {
        path_to_root(&self.before, v)
    }
}

/// Searches from both ends until they meet.
fn meet<G: Topology>(
    g: &G,
    sides: &mut [Side; 2],
    cancel: &Cancel,
) -> Result<Option<VertexId>, KernelError<G::Error>> {
    let [forth, back] = sides;
    if forth.frontier == back.frontier {
        return Ok(forth.frontier.first().copied());
    }
    let both = g.is_stored(back.direction);
    while !forth.frontier.is_empty() && !back.frontier.is_empty() {
        let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
        let (met, found) = match both && back.edges < forth.edges {
            true => (back.advance(g, forth, &mut meter), back.frontier.len()),
            false => (forth.advance(g, back, &mut meter), forth.frontier.len()),
        };
        if let Some(middle) = met.map_err(KernelError::Topology)? {
            return Ok(Some(middle));
        }
        cancel.step(found as u64);
    }
    Ok(None)
}
