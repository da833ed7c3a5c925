//! A vertex that others are compared with.

use std::ops::ControlFlow;

use hedgerow_core::{Direction, Topology, VertexId};

use super::measure::Measure;
use crate::KernelError;
use crate::cancel::Cancel;
use crate::lists::{for_each_list, for_each_list_of_all};
use crate::par::reverse;

/// Who is compared, and its neighbours.
pub(super) struct Source<'g, G> {
    pub(super) g: &'g G,
    pub(super) measure: Measure,
    pub(super) direction: Direction,
    pub(super) cancel: &'g Cancel,
    pub(super) vertex: VertexId,
    /// Its neighbours, ascending.
    pub(super) neighbors: Vec<VertexId>,
    /// What each of them counts for where it is shared.
    weights: Vec<u64>,
    /// For each id one more than its place among the neighbours, or 0.
    place: Vec<u32>,
}

/// The neighbours that the source shares with another vertex.
pub(super) struct Shared {
    /// How many.
    pub(super) count: usize,
    /// What they count for, both vertices themselves left out.
    pub(super) sum: u128,
}

impl<'g, G: Topology> Source<'g, G> {
    pub(super) fn new(g: &'g G, measure: Measure, direction: Direction, cancel: &'g Cancel) -> Self {
        let (neighbors, weights, place) = (Vec::new(), Vec::new(), vec![0; g.vertex_bound()]);
        Source { g, measure, direction, cancel, vertex: VertexId(0), neighbors, weights, place }
    }

    /// The direction in which a neighbour tells who it is shared by.
    pub(super) fn against(&self) -> Direction {
        reverse(self.direction)
    }

    /// Makes `vertex` the source.
    pub(super) fn choose(&mut self, vertex: VertexId) -> Result<(), KernelError<G::Error>> {
        self.neighbors.drain(..).for_each(|v| self.place[v.index()] = 0);
        self.vertex = vertex;
        let (g, direction, cancel) = (self.g, self.direction, self.cancel);
        let neighbors = &mut self.neighbors;
        if g.is_stored(direction) {
            for_each_list(g, [vertex], direction, cancel, |_, list| {
                neighbors.extend_from_slice(list);
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
        for (v, place) in self.neighbors.iter().zip(1..) {
            self.place[v.index()] = place;
        }
        self.weigh()
    }

    /// What the degrees of the neighbours make them count for.
    fn weigh(&mut self) -> Result<(), KernelError<G::Error>> {
        let mut degrees =
            vec![0usize; if self.measure == Measure::Jaccard { 0 } else { self.neighbors.len() }];
        if !degrees.is_empty() {
            let (g, against, undirected) = (self.g, self.against(), !self.g.is_directed());
            let place = &self.place;
            if g.is_stored(against) {
                for_each_list(g, self.neighbors.iter().copied(), against, self.cancel, |w, list| {
                    // Both ends of an undirected loop are here.
                    let loops = usize::from(undirected && list.binary_search(&w).is_ok());
                    degrees[place[w.index()] as usize - 1] = list.len() + loops;
                    ControlFlow::Continue(())
                })?;
            } else {
                for_each_list_of_all(g, self.direction, self.cancel, |_, list| {
                    let shared = list.iter().map(|w| place[w.index()] as usize).filter(|&place| place > 0);
                    shared.for_each(|place| degrees[place - 1] += 1);
                    ControlFlow::Continue(())
                })?;
            }
        }
        self.weights.clear();
        let measure = self.measure;
        self.weights.extend(degrees.into_iter().map(|degree| measure.weight(degree)));
        Ok(())
    }

    /// What a neighbour counts for; nothing if it is none.
    #[inline]
    pub(super) fn weight(&self, w: VertexId) -> Option<u64> {
        let place = (self.place[w.index()] as usize).checked_sub(1)?;
        Some(self.weights.get(place).copied().unwrap_or(1))
    }

    /// The neighbours that it shares with `other`, which has these.
    pub(super) fn shared(&self, other: VertexId, list: &[VertexId]) -> Shared {
        let mut shared = Shared { count: 0, sum: 0 };
        for &w in list {
            if let Some(weight) = self.weight(w) {
                shared.count += 1;
                shared.sum += if w == self.vertex || w == other { 0 } else { u128::from(weight) };
            }
        }
        shared
    }

    /// The score of `other`, which has these neighbours.
    pub(super) fn score(&self, other: VertexId, list: &[VertexId]) -> f64 {
        let shared = self.shared(other, list);
        self.measure.score(shared.sum, self.neighbors.len() + list.len() - shared.count)
    }

    /// Calls `f` with each of these vertices, which are sorted, and its score.
    pub(super) fn compare_with(
        &self,
        others: &[VertexId],
        mut f: impl FnMut(VertexId, f64),
    ) -> Result<(), KernelError<G::Error>> {
        if self.g.is_stored(self.direction) {
            return for_each_list(self.g, others.iter().copied(), self.direction, self.cancel, |v, list| {
                f(v, self.score(v, list));
                ControlFlow::Continue(())
            });
        }
        // What is not stored is found by looking who is in the lists of the other direction.
        let mut shared: Vec<(Shared, usize)> =
            others.iter().map(|_| (Shared { count: 0, sum: 0 }, 0)).collect();
        for_each_list_of_all(self.g, self.against(), self.cancel, |w, list| {
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
        for (&v, (shared, degree)) in others.iter().zip(shared) {
            f(v, self.measure.score(shared.sum, self.neighbors.len() + degree - shared.count));
        }
        Ok(())
    }
}
