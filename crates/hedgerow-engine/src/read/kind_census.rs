//! The kinds of the vertices of a snapshot.

use std::sync::Arc;

use hedgerow_core::account::{Account, Charge, Purpose};
use hedgerow_core::{KindId, SubgraphId, VertexId};
use hedgerow_mem::view::VertexMask;

/// The kinds of all vertices. Most subgraphs have vertices of one kind, so the census takes about 16 bytes
/// for 64 vertices.
pub(crate) struct KindCensus {
    /// The entries by subgraph. A subgraph with vertices of several kinds has an entry for each kind.
    of: Vec<OfKind>,
    /// One more than the last subgraph.
    bound: u32,
    charge: Charge,
}

/// The vertices of one kind in a subgraph.
pub(super) struct OfKind {
    subgraph: SubgraphId,
    kind: KindId,
    vertices: u64,
}

const _: () = assert!(size_of::<OfKind>() == 16);

impl OfKind {
    /// Returns an entry for the vertices of a kind in a subgraph.
    pub(super) fn new(subgraph: SubgraphId, kind: KindId, vertices: u64) -> OfKind {
        OfKind { subgraph, kind, vertices }
    }

    /// Adds a vertex to earlier ones, which are in the same subgraph or in lower ones. O(kinds of the
    /// subgraph).
    pub(super) fn add(found: &mut Vec<OfKind>, v: VertexId, kind: KindId) {
        let (subgraph, bit) = (v.subgraph(), v.local().bit());
        let mut same = found.iter_mut().rev().take_while(|of| of.subgraph == subgraph);
        match same.find(|of| of.kind == kind) {
            Some(of) => of.vertices |= bit,
            None => found.push(OfKind::new(subgraph, kind, bit)),
        }
    }
}

impl KindCensus {
    /// Joins the entries that threads found in consecutive ranges of a graph of `bound` subgraphs, and
    /// charges them to the views of `account`. O(subgraphs).
    pub(super) fn new(parts: Vec<Vec<OfKind>>, bound: u32, account: &Arc<Account>) -> KindCensus {
        let mut of = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        parts.into_iter().for_each(|part| of.extend(part));
        let charge = Charge::new(account, Purpose::Views, size_of_val(&of[..]));
        KindCensus { of, bound, charge }
    }

    /// Returns the vertices of these kinds. O(subgraphs).
    pub(super) fn mask(&self, kinds: &[KindId]) -> VertexMask {
        let mut words = vec![0; self.bound as usize];
        for of in self.of.iter().filter(|of| kinds.contains(&of.kind)) {
            if let Some(word) = words.get_mut(of.subgraph.index()) {
                *word |= of.vertices;
            }
        }
        VertexMask::new(words, self.charge.account())
    }
}
