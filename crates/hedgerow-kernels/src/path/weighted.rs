//! A shortest path between two vertices, by weights.
//!
//! **Result.** The vertices of one of the paths from source to target whose weights have the least sum, and
//! this sum, added up from the source on, in 64 bits; no path if none leads there. No vertex is repeated. The
//! sum may exceed the least one by rounding: [`sssp()`](crate::sssp()) may return a sum that differs in the
//! last bits.
//!
//! **Input.** Any graph. Every weight that the search meets is 0 or more. A weight that is negative or not a
//! number is refused, and an edge of infinite weight is never crossed. Without weights every edge weighs 1,
//! and [`shortest_path()`](crate::shortest_path()) gives the same length faster. Of repeated edges the
//! lightest counts. Edges are followed along or against their direction.
//!
//! **Trick.** Dijkstra's algorithm from both ends. Each step is on the side whose nearest open vertex is
//! nearer, so each side settles the vertices up to about half the distance. The best path so far is final
//! once the distances of the nearest open vertices of both sides add up to its length or more: no path found
//! later is shorter than this sum. A graph that is stored in only one direction is searched from one end.
//!
//! **Cited.** T. A. J. Nicholson, *Finding the shortest route between two points in a network*, The Computer
//! Journal 9(3), 1966; E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische
//! Mathematik 1, 1959.
//!
//! **Cost.** O((vertices + edges) · log vertices) at worst, usually far less; 24 bytes per id of the domain,
//! and 48 per vertex that waits. Runs in the calling thread.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use super::verify;
use crate::cancel::Meter;
use crate::error::{check_ends, checked_bound};
use crate::par::reverse;
use crate::paths::{Paths, joined, path_to_root};
use crate::registry::prelude::*;
use crate::sssp::visit_edges;

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "A path with the least sum of weights from one vertex to another",
    input: "any graph; weights that the search meets are 0 or more",
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::TARGET, Parameter::DIRECTION],
    result: ResultColumn { name: "paths", kind: ResultKind::Paths },
    steps: "vertices",
    cost: "O((vertices + edges) · log vertices) at worst, usually far less",
    // Two distances, and two vertices before each vertex; two heaps, copied when they grow; the path and the
    // places of its vertices.
    memory: Memory { per_thread: 0, fixed: 192 << 10, ..Memory::per_id(160) },
    cited: "T. A. J. Nicholson, *Finding the shortest route between two points in a network*, The Computer Journal 9(3), \
            1966; E. W. Dijkstra, *A note on two problems in connexion with graphs*, Numerische Mathematik 1, 1959",
    ..Kernel::named("wpath", "shortest_weighted_path")
};

functions!(
    Outcome::Paths,
    Arguments::ends,
    |g, (source, target, direction), cancel| shortest_weighted_path_until(
        g, source, target, direction, cancel
    ),
    verify::shortest_weighted_path(g, source, target, direction)
);

kernel! {
    /// Returns a path with the least sum of weights from `source` to `target`, along the edges or against
    /// them.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`], [`KernelError::TargetNotLive`]; [`KernelError::Weight`] if the search
    /// meets a weight below 0 or not a number; [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if
    /// the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); runs in the calling thread.
    pub fn shortest_weighted_path, shortest_weighted_path_until<G: WeightedTopology>(
        g, source: VertexId, target: VertexId, direction: Direction; cancel
    ) -> Paths {
        path(g, source, target, direction, cancel)
    }
}

fn path<G: WeightedTopology>(
    g: &G,
    source: VertexId,
    target: VertexId,
    direction: Direction,
    cancel: &Cancel,
) -> Result<Paths, KernelError<G::Error>> {
    let vertex_bound = checked_bound(g.vertex_bound())?;
    check_ends(g, source, target)?;
    let mut meter = cancel.meter().ok_or(KernelError::Cancelled)?;
    cancel.begin(g.vertex_count() as u64);
    cancel.step(1);
    let mut forth = Side::new(source, direction, vertex_bound);
    let mut back = Side::new(target, reverse(direction), vertex_bound);
    let middle = meet(g, &mut forth, &mut back, (&mut meter, cancel))?;
    cancel.check()?;
    let mut paths = Paths::new();
    if let Some(middle) = middle {
        let path = joined(forth.way_to(middle), back.way_to(middle));
        let path = without_loops(path);
        let mut length = 0.0;
        for pair in path.windows(2) {
            length += lightest(g, (pair[0], pair[1]), direction, &mut meter)?;
        }
        paths.push(&path, length);
    }
    cancel.check()?;
    Ok(paths)
}

/// A search from one of the ends.
struct Side {
    direction: Direction,
    distance: Vec<f64>,
    /// The vertex before each vertex reached; the end is before itself.
    before: Vec<u32>,
    /// Vertices by distance; the bits of distances have the same order. A vertex whose distance was lowered
    /// also has entries with its old distances.
    open: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Side {
    fn new(end: VertexId, direction: Direction, vertex_bound: usize) -> Side {
        let mut side = Side {
            direction,
            distance: vec![f64::INFINITY; vertex_bound],
            before: vec![u32::MAX; vertex_bound],
            open: BinaryHeap::new(),
        };
        side.offer(end, end, 0.0);
        side
    }

    /// Takes a distance if it is an improvement; true if it is.
    fn offer(&mut self, v: VertexId, before: VertexId, distance: f64) -> bool {
        let improves = distance < self.distance[v.index()];
        if improves {
            self.distance[v.index()] = distance;
            self.before[v.index()] = before.0;
            self.open.push(Reverse((distance.to_bits(), v.0)));
            if self.open.len() >= self.distance.len() * 3 / 2 + 1024 {
                self.drop_old();
            }
        }
        improves
    }

    /// Drops old distances of vertices that have improved. This bounds memory, at a constant cost for each
    /// entry dropped.
    #[cold]
    fn drop_old(&mut self) {
        let distance = &self.distance;
        self.open.retain(|&Reverse((bits, v))| distance[v as usize].to_bits() == bits);
    }

    /// Returns the nearest open vertex, and its distance.
    fn nearest(&mut self) -> Option<(VertexId, f64)> {
        while let Some(&Reverse((bits, v))) = self.open.peek() {
            let (v, distance) = (VertexId(v), f64::from_bits(bits));
            if distance == self.distance[v.index()] {
                return Some((v, distance));
            }
            self.open.pop();
        }
        None
    }

    /// Returns the vertices from `v` back to the end.
    fn way_to(&self, v: VertexId) -> Vec<VertexId> {
        path_to_root(&self.before, v)
    }
}

/// The best path so far that is joined from a way of each side.
struct Meeting {
    middle: Option<VertexId>,
    length: f64,
}

/// The number of vertices settled between two counts of steps.
const SETTLED_TOGETHER: u64 = 1024;

/// Searches from both ends until no path found later can be better than the best one.
fn meet<G: WeightedTopology>(
    g: &G,
    forth: &mut Side,
    back: &mut Side,
    (meter, cancel): (&mut Meter<'_>, &Cancel),
) -> Result<Option<VertexId>, KernelError<G::Error>> {
    let mut best = Meeting { middle: None, length: f64::INFINITY };
    let both = g.is_stored(back.direction);
    if forth.nearest() == back.nearest() {
        // Both ends are the same vertex.
        return Ok(forth.nearest().map(|(v, _)| v));
    }
    let mut settled = 0;
    while let (Some((u, near)), Some((v, far))) = (forth.nearest(), back.nearest()) {
        settled += 1;
        if settled % SETTLED_TOGETHER == 0 {
            cancel.step(SETTLED_TOGETHER);
        }
        if near + far >= best.length || meter.is_over() {
            break;
        }
        let refused = match both && far < near {
            true => advance(g, back, forth, v, &mut best, meter),
            false => advance(g, forth, back, u, &mut best, meter),
        };
        if let Some((from, to, weight)) = refused.map_err(KernelError::Topology)? {
            let is_back = both && far < near;
            let (from, to) = if is_back { (to, from) } else { (from, to) };
            return Err(KernelError::Weight { from, to, weight });
        }
    }
    Ok(best.middle)
}

/// Settles the nearest vertex of a side; returns an edge that is refused, if there is one.
fn advance<G: WeightedTopology>(
    g: &G,
    side: &mut Side,
    other: &Side,
    u: VertexId,
    best: &mut Meeting,
    meter: &mut Meter<'_>,
) -> Result<Option<(VertexId, VertexId, f64)>, G::Error> {
    side.open.pop();
    let (reached, mut refused) = (side.distance[u.index()], None);
    visit_edges(g, [u], side.direction, meter, |_, v, weight| {
        if weight.is_nan() || weight < 0.0 {
            refused = refused.or(Some((u, v, weight)));
            return;
        }
        let through_u = reached + weight;
        if side.offer(v, u, through_u) && through_u + other.distance[v.index()] < best.length {
            *best = Meeting { middle: Some(v), length: through_u + other.distance[v.index()] };
        }
    })?;
    Ok(refused)
}

/// Removes loops from a path: ways of both sides may cross at edges of weight 0. The part between two visits
/// of a vertex is left out.
fn without_loops(path: Vec<VertexId>) -> Vec<VertexId> {
    let mut places = HashMap::new();
    let mut simple: Vec<VertexId> = Vec::with_capacity(path.len());
    for v in path {
        if let Some(&at) = places.get(&v) {
            simple.drain(at..).for_each(|left_out| _ = places.remove(&left_out));
        }
        places.insert(v, simple.len());
        simple.push(v);
    }
    simple
}

/// Returns the least weight of the edges between two vertices.
pub(crate) fn lightest<G: WeightedTopology>(
    g: &G,
    (from, to): (VertexId, VertexId),
    direction: Direction,
    meter: &mut Meter<'_>,
) -> Result<f64, KernelError<G::Error>> {
    let mut least = f64::INFINITY;
    let visited = visit_edges(g, [from], direction, meter, |_, v, weight| {
        if v == to {
            least = least.min(weight);
        }
    });
    visited.map_err(KernelError::Topology)?;
    Ok(least)
}
