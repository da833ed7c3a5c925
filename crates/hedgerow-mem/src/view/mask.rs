//! Sets of vertices.

use std::sync::Arc;

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_core::{SubgraphId, VertexId};

/// A set of vertices: a word for each subgraph.
#[derive(Debug)]
pub struct VertexMask {
    words: Vec<u64>,
    count: usize,
    _charge: Charge,
}

impl VertexMask {
    /// Makes a set from a word for each subgraph, with a bit for each of its vertices. Charges its memory to
    /// `account` as part of the views. O(subgraphs).
    pub fn new(words: Vec<u64>, account: &Arc<Account>) -> VertexMask {
        let charge = Charge::new(account, Purpose::Views, size_of_val(&words[..]));
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        VertexMask { words, count, _charge: charge }
    }

    /// Returns the vertices of a subgraph that are in the set. O(1).
    #[inline]
    pub fn of(&self, subgraph: SubgraphId) -> u64 {
        self.words.get(subgraph.index()).copied().unwrap_or(0)
    }

    /// True if a vertex is in the set. O(1).
    #[inline]
    pub fn contains(&self, v: VertexId) -> bool {
        self.of(v.subgraph()) & v.local().bit() != 0
    }

    /// Returns the number of vertices in the set. O(1).
    pub fn count(&self) -> usize {
        self.count
    }
}
