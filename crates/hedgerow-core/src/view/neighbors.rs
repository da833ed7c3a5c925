//! The neighbours of one vertex, as storage keeps them: a main list and its corrections.

use std::ops::ControlFlow;

use crate::VertexId;

#[cfg(test)]
mod tests;

/// The neighbours of one vertex: a sorted main list, corrected by two short sorted lists.
///
/// The result is `(main \ removed) ∪ added`, where `removed` is part of `main`. For a settled vertex, and for a CSR,
/// both corrections are empty and `main` is the whole answer. In a graph with parallel edges all three are multisets: a
/// destination counts as often as it stands there. Otherwise `added` and `main \ removed` share nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbors<'a> {
    /// The neighbours in the main part, ascending.
    pub main: &'a [VertexId],
    /// Neighbours that the delta adds, ascending.
    pub added: &'a [VertexId],
    /// Neighbours of `main` that the delta takes away, ascending.
    pub removed: &'a [VertexId],
}

impl<'a> Neighbors<'a> {
    /// Neighbours without corrections.
    #[inline]
    pub fn from_slice(main: &'a [VertexId]) -> Self {
        Neighbors { main, added: &[], removed: &[] }
    }

    /// The number of neighbours. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.main.len() + self.added.len() - self.removed.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The neighbours as one slice where no correction applies.
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [VertexId]> {
        (self.added.is_empty() && self.removed.is_empty()).then_some(self.main)
    }

    /// Calls `f` for each neighbour: those of the main part ascending, then the added ones ascending.
    #[inline]
    pub fn for_each(self, mut f: impl FnMut(VertexId)) {
        if self.removed.is_empty() {
            self.main.iter().for_each(|&v| f(v));
        } else {
            for_each_except(self.main, self.removed, &mut f);
        }
        self.added.iter().for_each(|&v| f(v));
    }

    /// As [`for_each`](Self::for_each), until `f` breaks.
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

    /// Whether `v` is a neighbour. O(log degree).
    pub fn contains(&self, v: VertexId) -> bool {
        let in_main = || match self.removed.is_empty() {
            true => self.main.binary_search(&v).is_ok(),
            false => occurrences(self.main, v) > occurrences(self.removed, v),
        };
        in_main() || self.added.binary_search(&v).is_ok()
    }

    /// All neighbours, ascending, as one slice: the main list itself where no correction applies, otherwise merged
    /// into `buffer`. For set operations over sorted lists. O(1), or O(degree) with corrections.
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

    /// All neighbours, ascending.
    pub fn iter(self) -> SortedNeighbors<'a> {
        SortedNeighbors { rest: self }
    }
}

// Inlined although rarely taken: behind a call, what the closure captures would have to live in memory also in the
// loop over plain lists.
#[inline]
fn for_each_except(main: &[VertexId], mut removed: &[VertexId], f: &mut impl FnMut(VertexId)) {
    for &v in main {
        if removed.first() == Some(&v) {
            removed = &removed[1..];
        } else {
            f(v);
        }
    }
}

/// How often `v` stands in a sorted list.
fn occurrences(list: &[VertexId], v: VertexId) -> usize {
    let from = list.partition_point(|&x| x < v);
    list[from..].partition_point(|&x| x == v)
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
