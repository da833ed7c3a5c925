//! The vertices that a search has reached, in their order, and the reasons why a search stops early.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use hedgerow_core::VertexId;

/// The number of edges between two polls.
const EDGES_BETWEEN_POLLS: usize = 1 << 17;
/// A set of fewer ids than one in this many takes less memory than a bitmap of all ids.
const SPARSE: usize = 64;

/// The reason why a search ended before it had all vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The search found more vertices than the limit.
    Limit,
    /// The caller cancelled the search.
    Cancelled,
}

/// The vertices that a search has reached.
pub(super) struct Reached<'f> {
    ids: Vec<VertexId>,
    seen: Seen,
    limit: u64,
    until: Option<&'f dyn Fn() -> bool>,
    /// One more than the largest id.
    bound: usize,
    /// The number of edges until the next poll.
    left: usize,
    end: Option<End>,
}

enum Seen {
    Few(HashSet<VertexId, RandomState>),
    /// A bit for each id.
    Many(Vec<u64>),
}

impl<'f> Reached<'f> {
    /// Returns an empty set, for ids below `bound`.
    pub(super) fn new(bound: u32, limit: u64, until: Option<&'f dyn Fn() -> bool>) -> Reached<'f> {
        let seen = Seen::Few(HashSet::default());
        Reached {
            ids: Vec::new(),
            seen,
            limit,
            until,
            left: EDGES_BETWEEN_POLLS,
            end: None,
            bound: bound as usize,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns all vertices in the order in which the search reached them.
    pub(super) fn ids(&self) -> &[VertexId] {
        &self.ids
    }

    /// Returns the vertex at a place; `None` once the search has stopped.
    #[inline]
    pub(super) fn at(&self, place: usize) -> Option<VertexId> {
        self.ids.get(place).copied().filter(|_| self.end.is_none())
    }

    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// Adds the ends of edges; does nothing once the search has stopped.
    #[inline]
    pub(super) fn take(&mut self, run: &[VertexId]) {
        for part in run.chunks(EDGES_BETWEEN_POLLS) {
            if part.len() > self.left {
                self.poll();
            }
            self.left -= part.len();
            for &v in part {
                if self.end.is_some() {
                    return;
                }
                if self.seen.insert(v) {
                    self.push(v);
                }
            }
        }
    }

    fn push(&mut self, v: VertexId) {
        if self.ids.len() as u64 >= self.limit {
            self.end = Some(End::Limit);
            return;
        }
        self.ids.push(v);
        if let Seen::Few(few) = &self.seen
            && few.len() >= self.bound / SPARSE
        {
            let mut bits = Seen::Many(vec![0; self.bound.div_ceil(64)]);
            self.ids.iter().for_each(|&v| _ = bits.insert(v));
            self.seen = bits;
        }
    }

    /// Asks the caller if the search should stop.
    pub(super) fn poll(&mut self) {
        self.left = EDGES_BETWEEN_POLLS;
        if self.end.is_none() && self.until.is_some_and(|until| until()) {
            self.end = Some(End::Cancelled);
        }
    }
}

impl Seen {
    /// Adds `v`; true if it is new.
    #[inline]
    fn insert(&mut self, v: VertexId) -> bool {
        match self {
            Seen::Few(few) => few.insert(v),
            Seen::Many(bits) => {
                if bits.len() <= v.index() / 64 {
                    bits.resize(v.index() / 64 + 1, 0);
                }
                let word = &mut bits[v.index() / 64];
                let bit = 1 << (v.index() % 64);
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ids: impl IntoIterator<Item = u32>) -> Vec<VertexId> {
        ids.into_iter().map(VertexId).collect()
    }

    #[test]
    fn each_vertex_is_reached_once_as_a_set_and_as_bits() {
        let mut reached = Reached::new(640, u64::MAX, None);
        for n in 0..320 {
            reached.take(&all([n * 2, 0, n]));
            assert_eq!(matches!(reached.seen, Seen::Many(_)), reached.len() >= 10);
        }
        let mut ids = reached.ids().to_vec();
        ids.sort_unstable();
        let mut expected = all((0..320).chain((320..640).filter(|n| n % 2 == 0)));
        expected.sort_unstable();
        assert_eq!(ids, expected);
        // An id beyond the bound that `new` got.
        reached.take(&all([5_000, 5_000]));
        assert_eq!(reached.len(), expected.len() + 1);
    }

    #[test]
    fn the_limit_ends_the_search_at_the_first_vertex_beyond_it() {
        let mut reached = Reached::new(1 << 20, 3, None);
        reached.take(&all([5, 6, 7, 6, 5]));
        assert_eq!((reached.len(), reached.end()), (3, None));
        reached.take(&all([8, 9]));
        assert_eq!((reached.len(), reached.end()), (3, Some(End::Limit)));
        assert_eq!(reached.at(0), None);
    }

    #[test]
    fn a_long_list_is_polled_in_parts() {
        let polls = std::cell::Cell::new(0);
        let until = || {
            polls.set(polls.get() + 1);
            polls.get() == 3
        };
        let mut reached = Reached::new(1 << 20, u64::MAX, Some(&until));
        reached.take(&all(0..1 << 20));
        assert_eq!((polls.get(), reached.end()), (3, Some(End::Cancelled)));
        assert_eq!(reached.len(), 3 * EDGES_BETWEEN_POLLS);
    }
}
