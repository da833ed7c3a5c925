//! The root of a snapshot.

use super::lists::Lists;
use super::options::Shape;

/// Everything that a snapshot holds. A clone copies the indirection tables and the lists of levels, and
/// shares all else.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The number of the snapshot, by which deletion vectors are read.
    pub(super) epoch: u32,
    /// The last transaction.
    pub(super) at: u64,
    pub(super) vertices: usize,
    pub(super) edges: u64,
    /// One more than the largest id there was.
    pub(super) bound: usize,
    /// By direction; those of incoming edges are empty in an undirected graph.
    pub(super) lists: [Lists; 2],
}

impl Root {
    pub(super) fn new(shape: &Shape) -> Root {
        let lists = [Lists::new(shape), Lists::new(shape)];
        Root { epoch: 0, at: 0, vertices: 0, edges: 0, bound: 0, lists }
    }

    /// The first epoch that does not see what is removed now.
    #[inline]
    pub(super) fn next_epoch(&self) -> u32 {
        self.epoch + 1
    }

    /// Whether a level has entries that this snapshot does not see.
    pub(super) fn has_garbage(&self) -> bool {
        self.lists.iter().flat_map(|lists| &lists.levels).any(|level| level.removed() > 0)
    }

    /// The bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Root>() + self.lists.iter().map(Lists::bytes).sum::<usize>()
    }
}
