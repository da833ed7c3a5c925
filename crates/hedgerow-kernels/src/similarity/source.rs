//! A vertex with which many others are compared.

use std::ops::ControlFlow;

use hedgerow_core::{Direction, Topology, VertexId};

use super::measure::Measure;
use super::weights::Weights;
use crate::KernelError;
use crate::cancel::Cancel;
use crate::lists::{Lists, for_each_list_of_all};
use crate::par::reverse;

/// The state that all comparisons of a call share.
pub(super) struct Comparison<'g, G> {
    pub(super) g: &'g G,
    pub(super) measure: Measure,
    pub(super) direction: Direction,
    pub(super) cancel: &'g Cancel,
    pub(super) lists: Lists<'g, G>,
    pub(super) weights: Weights,
}

impl<'g, G: Topology> Comparison<'g, G> {
    /// Makes the state. With `is_shared` threads share the lists of one source.
    pub(super) fn new(
        g: &'g G,
        (measure, direction): (Measure, Direction),
        cancel: &'g Cancel,
        is_shared: bool,
    ) -> Result<Self, KernelError<G::Error>> {
        let weights = Weights::new(g, measure, reverse(direction), cancel)?;
        Ok(Comparison { g, measure, direction, cancel, lists: Lists::new(g, cancel, is_shared), weights })
    }

    /// Returns the direction from a neighbour to the vertices that share it.
    pub(super) fn against(&self) -> Direction {
        reverse(self.direction)
    }
}

/// A vertex with its neighbours.
pub(super) struct Source<'c, 'g, G> {
    pub(super) with: &'c Comparison<'g, G>,
    pub(super) vertex: VertexId,
    /// Its neighbours, ascending. Their weights are known.
    pub(super) neighbors: Vec<VertexId>,
    /// True for each id that is a neighbour.
    is_neighbor: Vec<bool>,
}

/// The neighbours that the source shares with another vertex.
struct Shared {
    /// Their number.
    count: usize,
    /// The sum of their weights. If the source or the other vertex is among them, its weight is left out.
    sum: u128,
}

impl<'c, 'g, G: Topology> Source<'c, 'g, G> {
    pub(super) fn new(with: &'c Comparison<'g, G>) -> Self {
        let (neighbors, is_neighbor) = (Vec::new(), vec![false; with.g.vertex_bound()]);
        Source { with, vertex: VertexId(0), neighbors, is_neighbor }
    }

    /// Makes `vertex` the source.
    pub(super) fn choose(&mut self, vertex: VertexId) -> Result<(), KernelError<G::Error>> {
        self.neighbors.drain(..).for_each(|v| self.is_neighbor[v.index()] = false);
        self.vertex = vertex;
        let Comparison { g, direction, cancel, ref lists, ref weights, .. } = *self.with;
        let neighbors = &mut self.neighbors;
        if g.is_stored(direction) {
            lists.each(&mut Vec::new(), [vertex], direction, None, |_, list| {
                *neighbors = list.to_vec();
                ControlFlow::Continue(())
            })?;
        } else {
            for_each_list_of_all(g, reverse(direction), cancel, |u, list| {
                if list.binary_search(&vertex).is_ok() {
                    neighbors.push(u);
                }
                ControlFlow::Continue(())
            })?;
            neighbors.sort_unstable();
        }
        self.neighbors.iter().for_each(|v| self.is_neighbor[v.index()] = true);
        weights.find(self.neighbors.iter().copied(), lists)
    }

    /// Returns the weight of a neighbour; `None` for other vertices, and while it is not known.
    #[inline]
    pub(super) fn weight(&self, w: VertexId) -> Option<u64> {
        if self.is_neighbor[w.index()] { self.with.weights.get(w) } else { None }
    }

    /// Returns the neighbours that the source shares with `other`, which has the neighbours `list`.
    fn shared(&self, other: VertexId, list: &[VertexId]) -> Shared {
        let mut shared = Shared { count: 0, sum: 0 };
        for &w in list {
            if let Some(weight) = self.weight(w) {
                shared.count += 1;
                shared.sum += if w == self.vertex || w == other { 0 } else { u128::from(weight) };
            }
        }
        shared
    }

    /// Returns the score of `other`, which has the neighbours `list`.
    fn score(&self, other: VertexId, list: &[VertexId]) -> f64 {
        let shared = self.shared(other, list);
        self.with.measure.score(shared.sum, self.neighbors.len() + list.len() - shared.count)
    }

    /// Returns Jaccard's coefficient of `other`, another vertex with the neighbours `list`. It shares `sum`
    /// neighbours with the source, not counting both vertices themselves.
    pub(super) fn coefficient(&self, other: VertexId, sum: u128, list: &[VertexId]) -> f64 {
        let is_shared = |w: &VertexId| self.is_neighbor[w.index()] && list.binary_search(w).is_ok();
        let themselves = [self.vertex, other].iter().filter(|w| is_shared(w)).count();
        self.with.measure.score(sum, self.neighbors.len() + list.len() - sum as usize - themselves)
    }

    /// Returns the scores of `others`, which ascend without repetition.
    pub(super) fn compare_with(&self, others: &[VertexId]) -> Result<Vec<f64>, KernelError<G::Error>> {
        let with = self.with;
        if with.g.is_stored(with.direction) {
            return with.lists.map(others, with.direction, |v, list| self.score(v, list));
        }
        // The lists that are not stored are found by a scan of the lists of the other direction.
        let mut shared: Vec<(Shared, usize)> =
            others.iter().map(|_| (Shared { count: 0, sum: 0 }, 0)).collect();
        for_each_list_of_all(with.g, with.against(), with.cancel, |w, list| {
            let weight = self.weight(w);
            for v in list {
                let Ok(at) = others.binary_search(v) else { continue };
                let (shared, degree) = &mut shared[at];
                *degree += 1;
                if let Some(weight) = weight {
                    shared.count += 1;
                    shared.sum += if w == self.vertex || w == *v { 0 } else { u128::from(weight) };
                }
            }
            ControlFlow::Continue(())
        })?;
        let score = |(shared, degree): (Shared, usize)| {
            with.measure.score(shared.sum, self.neighbors.len() + degree - shared.count)
        };
        Ok(shared.into_iter().map(score).collect())
    }
}
