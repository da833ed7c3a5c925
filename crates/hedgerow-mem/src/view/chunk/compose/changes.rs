//! The changes that patch and delta make to the taken edges of a main part.

use hedgerow_core::{EdgeTest, InterpolationHint, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId};

use super::take::{Part, Take};
use crate::change::Change;
use crate::items::ItemRef;
use crate::op::{EdgeOp, Entries};
use crate::version::Read;
use crate::view::corrections::Scratch;

/// Neighbours that are added to the lists of 64 vertices: by vertex, and ascending for each vertex.
pub(super) struct Added {
    offsets: [u32; SUBGRAPH_VERTICES + 1],
    from: Vec<LocalVertex>,
    to: Vec<VertexId>,
    /// The mask of the entries of the delta that are taken, and the words of their properties.
    marks: Vec<u64>,
    words: Vec<u64>,
}

impl Default for Added {
    fn default() -> Added {
        let (marks, words) = (Vec::new(), Vec::new());
        Added { offsets: [0; SUBGRAPH_VERTICES + 1], from: Vec::new(), to: Vec::new(), marks, words }
    }
}

impl Added {
    pub(super) fn clear(&mut self) {
        self.from.clear();
        self.to.clear();
    }

    #[inline]
    fn push(&mut self, local: LocalVertex, v: VertexId) {
        self.from.push(local);
        self.to.push(v);
    }

    fn finish(&mut self) {
        self.offsets = [0; SUBGRAPH_VERTICES + 1];
        self.from.iter().for_each(|local| self.offsets[local.index() + 1] += 1);
        (0..SUBGRAPH_VERTICES).for_each(|local| self.offsets[local + 1] += self.offsets[local]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    pub(super) fn part(&self) -> Part<'_> {
        Part { offsets: &self.offsets, lists: &self.to, weights: &[] }
    }

    /// Returns the vertex of each neighbour, and the neighbours.
    pub(super) fn entries(&self) -> (&[LocalVertex], &[VertexId]) {
        (&self.from, &self.to)
    }
}

impl Take<'_> {
    /// Clears the marks of main part edges that patch and delta replace or remove. Adds the taken edges that
    /// the main part lacks. O(changes log changes).
    pub(super) fn change(
        &self,
        id: SubgraphId,
        read: Read<'_>,
        scratch: &mut Scratch,
        marks: &mut [u64],
        added: &mut Added,
    ) {
        added.clear();
        let (version, n) = (read.version(), read.delta_len());
        let (main, delta) = (version.main(), version.delta());
        let mut mark = |at: Option<usize>, taken: bool| {
            if let Some(at) = at {
                marks[at / 64] = marks[at / 64] & !(1 << (at % 64)) | u64::from(taken) << (at % 64);
            }
        };
        if version.is_simple()
            && self.mark_entries(read, added)
            && scratch.sort_inserted(version, n, &added.marks)
        {
            added.from.extend(scratch.inserted().map(|(local, _)| local));
            added.to.extend(scratch.inserted().map(|(_, v)| v));
        } else if version.is_simple() {
            // The first entry about an edge shows whether the main part has it.
            scratch.for_each_edge(version, n, |edge| {
                let row = || ItemRef { dst: edge.dst, rank: 0, weight: 1.0, row: delta.row(edge.entry) };
                let exists = edge.last != EdgeOp::Remove;
                let taken = exists && (self.is_all() || self.takes(id.vertex(edge.local), &row()));
                if edge.first == EdgeOp::Insert {
                    if taken {
                        added.push(edge.local, edge.dst);
                    }
                } else if !(taken && self.is_all()) {
                    mark(main.find(edge.local, edge.dst, InterpolationHint::UNKNOWN), taken);
                }
            });
        } else {
            for Change { local, dst, rank, state } in version.changes(n, None, |_| true) {
                let item = state.map(|(weight, row)| ItemRef { dst, rank, weight, row });
                let taken = item.is_some_and(|item| self.takes(id.vertex(local), &item));
                match main.find_item(local, dst, rank, InterpolationHint::UNKNOWN) {
                    None if taken => added.push(local, dst),
                    at => mark(at, taken),
                }
            }
        }
        added.finish();
    }

    /// Marks the taken edges' entries in a delta without ranks and weights. Returns false if the words of
    /// entries are not enough for the tests.
    fn mark_entries(&self, read: Read<'_>, added: &mut Added) -> bool {
        let (n, Added { marks, words, .. }) = (read.delta_len(), added);
        marks.clear();
        if self.first_copies || self.ranks.is_some_and(|(first, _)| first > 0) {
            return false;
        }
        if self.tests.is_empty() {
            marks.resize(n.div_ceil(64), u64::MAX);
            return true;
        }
        let Some(of) = read.version().delta().words(n, words, marks) else { return false };
        self.tests.iter().all(|test| match test {
            EdgeTest::Property(test) => test.clear_marks_of_words(of, words, marks),
            EdgeTest::Weight(_) | EdgeTest::All(_) | EdgeTest::Any(_) => false,
        })
    }
}
