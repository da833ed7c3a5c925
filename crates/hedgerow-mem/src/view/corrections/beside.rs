//! Lists of other labels that extend the lists of a main part, so that a view of several labels need not
//! merge them.

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId, simd};

use crate::arena::Counted;

/// Neighbours of 64 vertices, ascending for each vertex.
pub(in crate::view) struct Beside {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    lists: Counted<VertexId>,
    /// The vertex of each neighbour, so that loops over all of them are the same as over other corrections. A
    /// loop over the vertices would be slower if lists are short.
    from: Vec<LocalVertex>,
}

/// Number of sources that are written at once, without a call: most lists are short.
const AT_ONCE: usize = 16;

impl Beside {
    pub(in crate::view) fn new(offsets: [u32; SUBGRAPH_VERTICES + 1], lists: Counted<VertexId>) -> Beside {
        let mut from = vec![LocalVertex(0); lists.len() + AT_ONCE];
        for (local, ends) in offsets.windows(2).enumerate() {
            let mut at = ends[0] as usize;
            // Elements written past the end of a list are overwritten for the next vertices, or cut off.
            while at < ends[1] as usize
                && let Some(some) = from.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<AT_ONCE>())
            {
                *some = [LocalVertex(local as u8); AT_ONCE];
                at += AT_ONCE;
            }
        }
        from.truncate(lists.len());
        Beside { offsets, lists, from }
    }

    /// Returns the neighbours of a vertex.
    #[inline]
    pub(super) fn list(&self, local: LocalVertex) -> &[VertexId] {
        let i = local.index();
        self.lists.get(self.offsets[i] as usize..self.offsets[i + 1] as usize).unwrap_or(&[])
    }

    /// Returns the index at which the neighbours of each vertex begin, and the end of the last ones.
    pub(in crate::view) fn offsets(&self) -> &[u32; SUBGRAPH_VERTICES + 1] {
        &self.offsets
    }

    /// Returns the neighbours of all vertices.
    pub(in crate::view) fn lists(&self) -> &[VertexId] {
        &self.lists
    }

    /// Returns the vertex of each neighbour, and the neighbours.
    #[inline]
    pub(super) fn added(&self) -> (&[LocalVertex], &[VertexId]) {
        (&self.from, &self.lists)
    }

    /// Returns the bytes, without the lists.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Beside>() + self.from.capacity()
    }

    /// Returns the number of neighbours.
    pub(in crate::view) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Returns the mask of the vertices with neighbours.
    pub(in crate::view) fn mask(&self) -> u64 {
        let has_some = |local: usize| self.offsets[local] < self.offsets[local + 1];
        (0..SUBGRAPH_VERTICES).fold(0, |mask, local| mask | u64::from(has_some(local)) << local)
    }

    /// Prefetches the offsets of the neighbours of a vertex.
    #[inline]
    pub(super) fn prefetch(&self, local: LocalVertex) {
        // The address may be out of bounds: it is only prefetched, not read.
        simd::prefetch((&raw const self.offsets).cast::<u32>().wrapping_add(local.index()));
        simd::prefetch(&self.lists);
    }

    /// Returns the bytes of the lists, if nothing else refers to them.
    pub(super) fn kept_bytes(&self) -> usize {
        if self.lists.is_shared() { 0 } else { self.lists.bytes() }
    }
}
