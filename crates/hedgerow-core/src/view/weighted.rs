//! Graphs whose edges have weights.

use super::{Direction, Neighbors, Topology};
use crate::{InterpolationHint, VertexId, lower_bound_soon};

/// A [`Topology`] that also gives the weights of its edges.
///
/// A graph without weights may implement it too; then every weight is 1.
pub trait WeightedTopology: Topology {
    /// True if edges have weights. If not, all weights are 1.
    fn has_weights(&self) -> bool;

    /// Like [`visit`](Topology::visit), but with the weights of each run's edges; the slice is empty if all
    /// weights are 1.
    ///
    /// # Errors
    /// The errors of [`visit`](Topology::visit).
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Self::Error>;

    /// Like [`prefetch_list`](Topology::prefetch_list), but loads the weights.
    #[inline]
    fn prefetch_weights(&self, _v: VertexId, _direction: Direction) {}
}

/// The neighbours of one vertex with the weights of the edges to them.
///
/// If parallel edges to one destination differ in weight and some of them are removed, `removed` cannot show
/// which. Implementations return such a list merged.
#[derive(Clone, Copy, Debug, Default)]
pub struct WeightedNeighbors<'a> {
    /// The neighbours.
    pub neighbors: Neighbors<'a>,
    /// The weights parallel to `neighbors.main`; empty if all weights are 1.
    pub main: &'a [f64],
    /// The weights parallel to `neighbors.added`; empty if all weights are 1.
    pub added: &'a [f64],
    /// Weights that replace weights in `main`: (position + `first`, weight), ascending.
    pub updated: &'a [(u32, f64)],
    /// The number to subtract from the positions of `updated`.
    pub first: u32,
}

impl<'a> WeightedNeighbors<'a> {
    /// Makes a list without corrections; `weights` has the length of `neighbors`, or is empty if all weights
    /// are 1.
    #[inline]
    pub fn from_slices(neighbors: &'a [VertexId], weights: &'a [f64]) -> Self {
        debug_assert!(weights.is_empty() || weights.len() == neighbors.len());
        let neighbors = Neighbors::from_slice(neighbors);
        WeightedNeighbors { neighbors, main: weights, ..WeightedNeighbors::default() }
    }

    /// Returns the number of neighbours. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.neighbors.len()
    }

    /// True if there is no neighbour.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.neighbors.is_empty()
    }

    /// Returns neighbours and weights as slices if there is no correction; the weights are empty if all are
    /// 1.
    #[inline]
    pub fn as_slices(&self) -> Option<(&'a [VertexId], &'a [f64])> {
        let neighbors = self.neighbors.as_slice()?;
        self.updated.is_empty().then_some((neighbors, self.main))
    }

    /// Returns the weight of the edge to `v`, if it exists; of parallel edges, the weight of any one. O(log
    /// degree).
    pub fn weight_of(&self, v: VertexId) -> Option<f64> {
        let Neighbors { main, added, .. } = self.neighbors;
        if let Ok(at) = added.binary_search(&v) {
            return Some(self.added.get(at).copied().unwrap_or(1.0));
        }
        let at = InterpolationHint::UNKNOWN.find(main, v).filter(|&at| !self.neighbors.is_removed(v, at))?;
        let position = at as u32 + self.first;
        let new = self.updated.binary_search_by_key(&position, |&(position, _)| position);
        let new = new.ok().map(|i| self.updated[i].1);
        Some(new.or_else(|| self.main.get(at).copied()).unwrap_or(1.0))
    }

    /// Calls `f` with each neighbour and weight: first the neighbours in the main part, ascending, then the
    /// added ones, ascending.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(VertexId, f64)) {
        self.for_each_run(|run, weights| {
            for (i, &v) in run.iter().enumerate() {
                f(v, weights.get(i).copied().unwrap_or(1.0));
            }
        });
    }

    /// Calls `f` with stretches of neighbours that no correction interrupts, in the order of
    /// [`for_each`](Self::for_each), and with their weights (empty if all are 1). It calls `f` at least once.
    #[inline]
    pub fn for_each_run(self, mut f: impl FnMut(&'a [VertexId], &'a [f64])) {
        // One call in the code for all stretches, so that the closure is inlined at any size.
        let mut rest = self;
        loop {
            let (run, weights, others) = rest.next_run();
            f(run, weights);
            if others.neighbors.main.is_empty() && others.neighbors.added.is_empty() {
                return;
            }
            rest = others;
        }
    }

    /// Like [`Neighbors::take_run`], but with the weights of the stretch.
    #[inline(never)]
    pub fn take_run(&mut self) -> Option<(&'a [VertexId], &'a [f64])> {
        if self.neighbors.main.is_empty() && self.neighbors.added.is_empty() {
            return None;
        }
        let (run, weights, rest) = self.next_run();
        *self = rest;
        Some((run, weights))
    }

    /// Returns the first stretch that no correction interrupts, its weights, and the rest.
    #[inline]
    fn next_run(self) -> (&'a [VertexId], &'a [f64], WeightedNeighbors<'a>) {
        if self.neighbors.removed.is_empty() && self.updated.is_empty() {
            (self.neighbors.main, self.main, Self::from_slices(self.neighbors.added, self.added))
        } else {
            self.run_to_correction()
        }
    }

    // Takes `self` by value: a reference would force it from registers into memory, also without corrections.
    #[cold]
    fn run_to_correction(self) -> (&'a [VertexId], &'a [f64], WeightedNeighbors<'a>) {
        let list = self.neighbors.main;
        let removed = self.neighbors.removed.first();
        let removed = removed.map_or(list.len(), |&removed| lower_bound_soon(list, removed));
        let updated = self.updated.first().map_or(list.len(), |u| (u.0 - self.first) as usize);
        let mut rest = self;
        let at = removed.min(updated);
        if at > 0 {
            // The stretch before the first correction is a separate run.
            rest.skip_main(at);
            return (&list[..at], self.main.get(..at).unwrap_or(&[]), rest);
        }
        let weight =
            (updated == 0).then(|| self.updated.first().map(|u| std::slice::from_ref(&u.1))).flatten();
        let weights = weight.unwrap_or_else(|| self.main.get(..1).unwrap_or(&[]));
        if updated == 0 {
            rest.updated = &self.updated[1..];
        }
        rest.skip_main(1);
        if removed == 0 {
            rest.neighbors.removed = self.neighbors.removed.get(1..).unwrap_or(&[]);
            return (&[], &[], rest);
        }
        (list.get(..1).unwrap_or(&[]), weights, rest)
    }

    fn skip_main(&mut self, count: usize) {
        self.neighbors.main = self.neighbors.main.get(count..).unwrap_or(&[]);
        self.main = self.main.get(count..).unwrap_or(&[]);
        self.first += count as u32;
    }

    /// Calls `f` with each neighbour and weight, ascending.
    #[inline]
    pub fn for_each_sorted(self, mut f: impl FnMut(VertexId, f64)) {
        match self.as_slices() {
            Some((list, weights)) => with_weights(list, weights, &mut f),
            None => self.for_each_merged(f),
        }
    }

    fn for_each_merged(self, mut f: impl FnMut(VertexId, f64)) {
        let (mut list, mut weights) = (self.neighbors.added, self.added);
        self.for_each_of_main(&mut |v, weight| {
            let before = list.iter().take_while(|&&a| a < v).count();
            let of_before = weights.get(..before).unwrap_or(&[]);
            with_weights(&list[..before], of_before, &mut f);
            (list, weights) = (&list[before..], weights.get(before..).unwrap_or(&[]));
            f(v, weight);
        });
        with_weights(list, weights, &mut f);
    }

    fn for_each_of_main(&self, f: &mut impl FnMut(VertexId, f64)) {
        let (mut removed, mut updated) = (self.neighbors.removed, self.updated);
        for (at, &v) in self.neighbors.main.iter().enumerate() {
            let new = match updated.first() {
                Some(&(position, weight)) if (position - self.first) as usize == at => {
                    updated = &updated[1..];
                    Some(weight)
                }
                _ => None,
            };
            if removed.first() == Some(&v) {
                removed = &removed[1..];
            } else {
                f(v, new.or_else(|| self.main.get(at).copied()).unwrap_or(1.0));
            }
        }
    }
}

#[inline]
fn with_weights(list: &[VertexId], weights: &[f64], f: &mut impl FnMut(VertexId, f64)) {
    if weights.is_empty() {
        list.iter().for_each(|&v| f(v, 1.0));
    } else {
        list.iter().zip(weights).for_each(|(&v, &weight)| f(v, weight));
    }
}
