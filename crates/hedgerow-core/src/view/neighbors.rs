//! The neighbours of one vertex, as they are stored: a main list and its corrections.

use std::ops::ControlFlow;

use crate::{InterpolationHint, VertexId, lower_bound_soon};

#[cfg(test)]
mod tests;

/// The neighbours of one vertex: a sorted main list, corrected by two short sorted lists.
///
/// The result is `(main \ removed) ∪ added`, where `removed` is part of `main`. For a settled vertex, and for
/// a CSR, both corrections are empty and `main` is the result. In a graph with parallel edges all three are
/// multisets: a destination counts as often as it occurs. Otherwise `added` and `main \ removed` have no
/// common element.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbors<'a> {
    /// The neighbours in the main part, ascending.
    pub main: &'a [VertexId],
    /// Neighbours that the delta adds, ascending.
    pub added: &'a [VertexId],
    /// Neighbours of `main` that the delta removes, ascending.
    pub removed: &'a [VertexId],
}

impl<'a> Neighbors<'a> {
    /// Makes a list without corrections.
    #[inline]
    pub fn from_slice(main: &'a [VertexId]) -> Self {
        Neighbors { main, added: &[], removed: &[] }
    }

    /// Returns the number of neighbours. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.main.len() + self.added.len() - self.removed.len()
    }

    /// True if there is no neighbour.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the neighbours as one slice if there is no correction.
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [VertexId]> {
        (self.added.is_empty() && self.removed.is_empty()).then_some(self.main)
    }

    /// Calls `f` for each neighbour: first the neighbours in the main part, ascending, then the added ones,
    /// ascending.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(VertexId)) {
        self.for_each_run(|run| run.iter().for_each(|&v| f(v)));
    }

    /// Calls `f` with stretches of the lists that no correction interrupts, in the order of
    /// [`for_each`](Self::for_each). It calls `f` at least once.
    #[inline]
    pub fn for_each_run(self, mut f: impl FnMut(&'a [VertexId])) {
        // One call in the code for all stretches, so that the closure is inlined at any size.
        let mut rest = self;
        loop {
            let (run, others) = rest.next_run();
            f(run);
            if others.main.is_empty() && others.added.is_empty() {
                return;
            }
            rest = others;
        }
    }

    /// Like [`for_each_run`](Self::for_each_run), but ends when `f` breaks.
    #[inline]
    pub fn try_for_each_run<B>(self, mut f: impl FnMut(&'a [VertexId]) -> ControlFlow<B>) -> ControlFlow<B> {
        let mut rest = self;
        loop {
            let (run, others) = rest.next_run();
            f(run)?;
            if others.main.is_empty() && others.added.is_empty() {
                return ControlFlow::Continue(());
            }
            rest = others;
        }
    }

    /// Returns the first stretch that no correction interrupts, and the rest: main neighbours first, then the
    /// added ones.
    #[inline]
    fn next_run(self) -> (&'a [VertexId], Neighbors<'a>) {
        if self.removed.is_empty() {
            (self.main, Neighbors::from_slice(self.added))
        } else {
            self.run_to_removed()
        }
    }

    // Takes `self` by value: a reference would force it from registers into memory, also without corrections.
    #[cold]
    fn run_to_removed(self) -> (&'a [VertexId], Neighbors<'a>) {
        let Some((&first, removed)) = self.removed.split_first() else { return (&[], self) };
        let (run, main) = self.main.split_at(lower_bound_soon(self.main, first));
        let main = main.get(1..).unwrap_or(&[]);
        (run, Neighbors { main, removed, added: self.added })
    }

    /// Removes and returns the first stretch that no correction interrupts, which may be empty; `None` at the
    /// end. For loops in which most lists have no corrections: they keep such a list in registers, and the
    /// code for stretches out of line.
    #[inline(never)]
    pub fn take_run(&mut self) -> Option<&'a [VertexId]> {
        if self.main.is_empty() && self.added.is_empty() {
            return None;
        }
        let (run, rest) = self.next_run();
        *self = rest;
        Some(run)
    }

    /// Like [`for_each`](Self::for_each), but ends when `f` breaks.
    #[inline]
    pub fn try_for_each<B>(self, mut f: impl FnMut(VertexId) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.removed.is_empty() {
            self.main.iter().try_for_each(|&v| f(v))?;
        } else {
            let mut removed = self.removed;
            for &v in self.main {
                if removed.first() == Some(&v) {
                    removed = &removed[1..];
                } else {
                    f(v)?;
                }
            }
        }
        self.added.iter().try_for_each(|&v| f(v))
    }

    /// True if `v` is a neighbour. O(log degree).
    pub fn contains(&self, v: VertexId) -> bool {
        self.contains_near(v, InterpolationHint::UNKNOWN)
    }

    /// Like [`contains`](Self::contains), but with a hint of how ids are spread: faster in long lists.
    #[inline]
    pub fn contains_near(&self, v: VertexId, hint: InterpolationHint) -> bool {
        let in_main = hint.find(self.main, v).is_some_and(|at| !self.is_removed(v, at));
        in_main || hint.find(self.added, v).is_some()
    }

    /// True if `removed` contains all edges to `v`; the first of them is at index `at` in the main list.
    /// O(log degree).
    #[inline]
    pub(super) fn is_removed(&self, v: VertexId, at: usize) -> bool {
        let from = self.removed.partition_point(|&x| x < v);
        self.removed.get(from) == Some(&v)
            && repetitions(&self.main[at..], v) <= repetitions(&self.removed[from..], v)
    }

    /// Starts loading the memory that [`contains_near`](Self::contains_near) reads first.
    #[inline]
    pub fn prefetch_near(&self, v: VertexId, hint: InterpolationHint) {
        hint.prefetch(self.main, v);
        if !self.added.is_empty() {
            hint.prefetch(self.added, v);
        }
    }

    /// Returns all neighbours, ascending, as one slice: the main list itself if there is no correction, else
    /// merged into `buffer`. For set operations over sorted lists. O(1), or O(degree) with corrections.
    #[inline]
    pub fn sorted<'b>(&self, buffer: &'b mut Vec<VertexId>) -> &'b [VertexId]
    where
        'a: 'b,
    {
        match self.as_slice() {
            Some(main) => main,
            None => {
                buffer.clear();
                buffer.extend(self.iter());
                buffer
            }
        }
    }

    /// Iterates over all neighbours, ascending.
    pub fn iter(self) -> SortedNeighbors<'a> {
        SortedNeighbors { rest: self }
    }
}

/// Returns how often `v` occurs at the beginning of a list whose other elements are greater. O(log length).
fn repetitions(list: &[VertexId], v: VertexId) -> usize {
    list.partition_point(|&x| x == v)
}

impl<'a> IntoIterator for Neighbors<'a> {
    type Item = VertexId;
    type IntoIter = SortedNeighbors<'a>;

    fn into_iter(self) -> SortedNeighbors<'a> {
        self.iter()
    }
}

/// Neighbours in ascending order, merged from main and corrections.
#[derive(Clone, Debug)]
pub struct SortedNeighbors<'a> {
    rest: Neighbors<'a>,
}

impl Iterator for SortedNeighbors<'_> {
    type Item = VertexId;

    fn next(&mut self) -> Option<VertexId> {
        let rest = &mut self.rest;
        while let (Some(m), Some(r)) = (rest.main.first(), rest.removed.first()) {
            if m != r {
                break;
            }
            rest.main = &rest.main[1..];
            rest.removed = &rest.removed[1..];
        }
        match (rest.main.first(), rest.added.first()) {
            (Some(&m), Some(&a)) if a < m => {
                rest.added = &rest.added[1..];
                Some(a)
            }
            (Some(&m), _) => {
                rest.main = &rest.main[1..];
                Some(m)
            }
            (None, Some(&a)) => {
                rest.added = &rest.added[1..];
                Some(a)
            }
            (None, None) => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.rest.len(), Some(self.rest.len()))
    }
}

impl ExactSizeIterator for SortedNeighbors<'_> {}
