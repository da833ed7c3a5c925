//! The root of a snapshot.

use super::lists::Lists;
use super::options::Shape;

/// Everything that a snapshot holds. A clone copies the indirection tables and the lists of levels, and
/// shares everything else.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The number of the snapshot; readers compare the marks in deletion vectors with it.
    pub(super) epoch: u32,
    /// The timestamp of the last transaction.
    pub(super) at: u64,
    pub(super) vertices: usize,
    pub(super) edges: u64,
    /// One more than the largest id that ever existed.
    pub(super) bound: usize,
    /// The lists by direction; the incoming lists are empty in an undirected graph.
    pub(super) lists: [Lists; 2],
}

impl Root {
    pub(super) fn new(shape: &Shape) -> Root {
        let lists = [Lists::new(shape), Lists::new(shape)];
        Root { epoch: 0, at: 0, vertices: 0, edges: 0, bound: 0, lists }
    }

    /// Returns the first epoch that does not see the entries that are removed now.
    #[inline]
    pub(super) fn next_epoch(&self) -> u32 {
        self.epoch + 1
    }

    /// True if a level has entries that this snapshot does not see.
    pub(super) fn has_garbage(&self) -> bool {
        self.lists.iter().flat_map(|lists| &lists.levels).any(|level| level.removed() > 0)
    }

    /// Returns the number of bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Root>() + self.lists.iter().map(Lists::bytes).sum::<usize>()
    }
}
