//! The minimum spanning forest by the method of Jarník and Prim: a tree grows by the least edge from one of
//! its vertices to another vertex.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use hedgerow_core::{Direction, Resident, VertexId, WeightedTopology};

use crate::lengths::{Lengths, Weights};
use crate::pairs::Pairs;

/// An edge: its weight, its lesser end and its greater one.
#[derive(Clone, Copy, PartialEq)]
struct Candidate(f64, VertexId, VertexId);

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let weight = self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal);
        weight.then((self.1, self.2).cmp(&(other.1, other.2)))
    }
}

/// Returns the edges of the forest, sorted by weight and ends. No weight is NaN.
pub fn minimum_spanning_forest<G: WeightedTopology + Resident>(g: &G) -> Pairs {
    let mut joined = vec![false; g.vertex_bound()];
    let mut forest: Vec<Candidate> = Vec::new();
    for root in (0..g.vertex_bound() as u32).map(VertexId) {
        let (mut leaving, mut next) = (BTreeSet::new(), Some(root));
        while let Some(u) = next {
            if !std::mem::replace(&mut joined[u.index()], true) {
                for direction in [Direction::Out, Direction::In] {
                    Weights.each(g, u, direction, |v, weight| {
                        leaving.insert(Candidate(weight, u.min(v), u.max(v)));
                    });
                }
            }
            let open = |v: &VertexId| !joined[v.index()];
            let taken =
                std::iter::from_fn(|| leaving.pop_first()).find(|edge| open(&edge.1) || open(&edge.2));
            forest.extend(taken);
            next = taken.map(|edge| if open(&edge.1) { edge.1 } else { edge.2 });
        }
    }
    forest.sort_unstable();
    let mut pairs = Pairs::new();
    forest.iter().for_each(|&Candidate(weight, low, high)| pairs.push(low, high, weight));
    pairs
}
