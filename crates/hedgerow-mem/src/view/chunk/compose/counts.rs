//! The counts of composed chunks, and the setters of their subgraphs.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::super::{CHUNK_SUBGRAPHS, Chunk};
use crate::view::corrections::{Beside, Corrections, Masks, SmallPatch};

/// Number of entries that one test without a branch covers. The test finds whether one of them may be a loop.
const AT_ONCE: usize = 64;

impl Chunk {
    /// Adds the lists of other labels as corrections to a subgraph without corrections.
    pub(super) fn set_beside(&mut self, i: usize, beside: Beside) {
        let masks = Masks { touched: beside.mask(), reduced: 0 };
        let edges = beside.len();
        self.set_corrections(i, Corrections::Beside(Arc::new(beside)), masks, edges);
    }

    /// Adds a few neighbours to the lists of a subgraph that has no corrections, by ascending source. False
    /// if they are too many for a small patch.
    pub(super) fn set_few(
        &mut self,
        i: usize,
        (from, to): (&[LocalVertex], &[VertexId]),
        few: &mut SmallPatch,
    ) -> bool {
        let corrections = match (from, to) {
            (&[from], &[to]) => Corrections::One(from, to),
            added if few.fill(added, (&[], &[])) => self.keep_few(few),
            _ => return false,
        };
        let touched = from.iter().fold(0, |mask, local| mask | local.bit());
        self.set_corrections(i, corrections, Masks { touched, reduced: 0 }, to.len());
        true
    }

    fn set_corrections(&mut self, i: usize, corrections: Corrections, masks: Masks, added: usize) {
        self.outside += corrections.bytes();
        let lists = &mut self.lists[i];
        (lists.corrections, lists.masks) = (corrections, masks);
        lists.edges += added as u64;
        self.edges += added as u64;
    }

    /// Sets which vertices of a subgraph exist.
    pub(super) fn set_present(&mut self, i: usize, present: u64) {
        let before = std::mem::replace(&mut self.lists[i].present, present);
        self.vertices = self.vertices + present.count_ones() as usize - before.count_ones() as usize;
    }

    /// Copies from `of`, a chunk of the same subgraphs, which vertices exist. O(64), and a copy of a chunk
    /// that is shared.
    pub fn take_existence(chunk: &mut Arc<Chunk>, of: &Chunk) {
        if of.vertices > 0 {
            let chunk = Arc::make_mut(chunk);
            (0..CHUNK_SUBGRAPHS).for_each(|i| chunk.set_present(i, of.lists[i].present));
        }
    }

    /// Returns the number of existing vertices, and the number of entries in the lists.
    pub fn counts(&self) -> (usize, u64) {
        (self.vertices, self.edges)
    }

    /// Returns how many entries in the lists of a subgraph are self-loops. O(entries). It skips 64 entries at
    /// a time if none of them names a vertex of the subgraph.
    pub(super) fn loops(&self, i: usize, id: SubgraphId) -> u64 {
        let lists = &self.lists[i];
        if lists.edges == 0 {
            return 0;
        }
        if lists.masks.reduced != 0 {
            return self.loops_by_vertex(i, id);
        }
        let mut loops = loops_of(self.offsets(i), &lists.main, id);
        match &lists.corrections {
            Corrections::Beside(beside) => loops += loops_of(beside.offsets(), beside.lists(), id),
            corrections => corrections
                .get(&self.near)
                .for_each_added(|local, v| loops += u64::from(v == id.vertex(local))),
        }
        loops
    }

    /// Like [`loops`](Self::loops), but for lists with removed neighbours. O(vertices log degree).
    fn loops_by_vertex(&self, i: usize, id: SubgraphId) -> u64 {
        let of_list = |list: &[VertexId], v| {
            let from = list.partition_point(|&u| u < v);
            list[from..].partition_point(|&u| u == v)
        };
        let of = |local: LocalVertex| {
            let (neighbors, v) = (self.block(i).neighbors(local), id.vertex(local));
            of_list(neighbors.main, v) + of_list(neighbors.added, v) - of_list(neighbors.removed, v)
        };
        (0..SUBGRAPH_VERTICES as u8).map(|local| of(LocalVertex(local)) as u64).sum()
    }
}

/// Returns how many entries of the lists of the subgraph `id` are self-loops.
fn loops_of(offsets: &[u32; SUBGRAPH_VERTICES + 1], lists: &[VertexId], id: SubgraphId) -> u64 {
    let first = id.vertex(LocalVertex(0));
    let is_near = |v: VertexId| v.0.wrapping_sub(first.0) < SUBGRAPH_VERTICES as u32;
    let mut loops = 0;
    for (part, entries) in lists.chunks(AT_ONCE).enumerate() {
        // Has no branch per entry, so that the compiler vectorizes the loop.
        if !entries.iter().fold(false, |any, &v| any | is_near(v)) {
            continue;
        }
        for (at, &v) in entries.iter().enumerate().filter(|(_, v)| is_near(**v)) {
            let (at, local) = ((part * AT_ONCE + at) as u32, v.local().index());
            loops += u64::from(offsets[local] <= at && at < offsets[local + 1]);
        }
    }
    loops
}
