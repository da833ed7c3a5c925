//! Lists of other labels beside those of a main part: what a view of several labels need not merge.

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId, simd};

use crate::arena::Counted;

/// Neighbours of 64 vertices, ascending for each.
pub(in crate::view) struct Beside {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    lists: Counted<VertexId>,
}

impl Beside {
    pub(in crate::view) fn new(offsets: [u32; SUBGRAPH_VERTICES + 1], lists: Counted<VertexId>) -> Beside {
        Beside { offsets, lists }
    }

    /// The neighbours of a vertex.
    #[inline]
    pub(super) fn list(&self, local: LocalVertex) -> &[VertexId] {
        let i = local.index();
        self.lists.get(self.offsets[i] as usize..self.offsets[i + 1] as usize).unwrap_or(&[])
    }

    /// Where the neighbours of each vertex begin, and the end of the last.
    pub(in crate::view) fn offsets(&self) -> &[u32; SUBGRAPH_VERTICES + 1] {
        &self.offsets
    }

    /// The neighbours of all vertices.
    pub(in crate::view) fn lists(&self) -> &[VertexId] {
        &self.lists
    }

    /// Calls `f` with the neighbours of each vertex that has some.
    #[inline]
    pub(super) fn for_each_list(&self, mut f: impl FnMut(LocalVertex, &[VertexId])) {
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let list = self.list(local);
            if !list.is_empty() {
                f(local, list);
            }
        }
    }

    /// The bytes, the lists aside.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Beside>()
    }

    /// The number of neighbours.
    pub(in crate::view) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The vertices that have some.
    pub(in crate::view) fn mask(&self) -> u64 {
        let mut mask = 0;
        self.for_each_list(|local, _| mask |= local.bit());
        mask
    }

    /// Starts loading where the neighbours of a vertex are.
    #[inline]
    pub(super) fn prefetch(&self, local: LocalVertex) {
        // Where the offset stands, whatever it is: nothing is read.
        simd::prefetch((&raw const self.offsets).cast::<u32>().wrapping_add(local.index()));
        simd::prefetch(&self.lists);
    }

    /// The bytes of the lists, if nothing else refers to them.
    pub(super) fn kept_bytes(&self) -> usize {
        if self.lists.is_shared() { 0 } else { self.lists.bytes() }
    }
}
