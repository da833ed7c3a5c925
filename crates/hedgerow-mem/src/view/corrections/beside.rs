//! Lists of other labels beside those of a main part: what a view of several labels need not merge.

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId, simd};

use crate::arena::Counted;

/// Neighbours of 64 vertices, ascending for each.
pub(in crate::view) struct Beside {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    lists: Counted<VertexId>,
    /// The vertex of each neighbour, so that loops over all of them are the same as over other corrections.
    from: Box<[LocalVertex]>,
}

impl Beside {
    pub(in crate::view) fn new(offsets: [u32; SUBGRAPH_VERTICES + 1], lists: Counted<VertexId>) -> Beside {
        let mut from = vec![LocalVertex(0); lists.len()];
        for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
            let i = local.index();
            if let Some(own) = from.get_mut(offsets[i] as usize..offsets[i + 1] as usize) {
                own.fill(local);
            }
        }
        Beside { offsets, lists, from: from.into_boxed_slice() }
    }

    /// The neighbours of a vertex.
    #[inline]
    pub(super) fn list(&self, local: LocalVertex) -> &[VertexId] {
        let i = local.index();
        self.lists.get(self.offsets[i] as usize..self.offsets[i + 1] as usize).unwrap_or(&[])
    }

    /// The vertex of each neighbour, and the neighbours.
    #[inline]
    pub(super) fn added(&self) -> (&[LocalVertex], &[VertexId]) {
        (&self.from, &self.lists)
    }

    /// The bytes, the lists aside.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Beside>() + size_of_val(&*self.from)
    }

    /// The number of neighbours.
    pub(in crate::view) fn len(&self) -> usize {
        self.lists.len()
    }

    /// The vertices that have some.
    pub(in crate::view) fn mask(&self) -> u64 {
        let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
        locals.filter(|local| !self.list(*local).is_empty()).fold(0, |mask, local| mask | local.bit())
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
