//! The lengths of edges in slow answers: 1 for each, or their weights.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

/// A rule for the length of an edge.
pub(crate) trait Lengths<G: Resident>: Copy {
    /// Calls `f` with the other end of each edge of a vertex, and its length.
    fn each(self, g: &G, v: VertexId, direction: Direction, f: impl FnMut(VertexId, f64));

    /// Returns the other ends of the edges of a vertex with their lengths, ascending by both.
    fn list(self, g: &G, v: VertexId, direction: Direction) -> Vec<(VertexId, f64)> {
        let mut list = Vec::new();
        self.each(g, v, direction, |u, length| list.push((u, length)));
        list.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        list
    }

    /// Returns distances by Dijkstra's algorithm, with the vertices that were reached in a set ordered by
    /// distance. Edges with a negative length are not crossed. All infinite if `source` is not live.
    fn distances(self, g: &G, source: VertexId, direction: Direction) -> Vec<f64> {
        let mut distance = vec![f64::INFINITY; g.vertex_bound()];
        // The bits of distances have the same order as the distances.
        let mut open = BTreeSet::new();
        if source.index() < distance.len() && g.contains(source) {
            distance[source.index()] = 0.0;
            open.insert((0u64, source));
        }
        while let Some((bits, u)) = open.pop_first() {
            self.each(g, u, direction, |v, length| {
                let through_u = f64::from_bits(bits) + length;
                let known = &mut distance[v.index()];
                if length >= 0.0 && through_u < *known {
                    open.remove(&(known.to_bits(), v));
                    *known = through_u;
                    open.insert((through_u.to_bits(), v));
                }
            });
        }
        distance
    }
}

/// The length 1 for each edge, so lengths of paths are hops.
#[derive(Clone, Copy)]
pub(crate) struct Hops;

impl<G: Resident> Lengths<G> for Hops {
    fn each(self, g: &G, v: VertexId, direction: Direction, mut f: impl FnMut(VertexId, f64)) {
        g.neighbors(v, direction).for_each(|u| f(u, 1.0));
    }
}

/// The weight of an edge as its length; 1 in a graph without weights.
#[derive(Clone, Copy)]
pub(crate) struct Weights;

impl<G: WeightedTopology + Resident> Lengths<G> for Weights {
    fn each(self, g: &G, v: VertexId, direction: Direction, mut f: impl FnMut(VertexId, f64)) {
        let Ok(()) = g.visit_weighted([v], direction, |_, run, weights| {
            let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
            run.iter().zip(weights).for_each(|(&u, weight)| f(u, weight));
        });
    }
}
