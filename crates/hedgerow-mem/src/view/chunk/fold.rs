//! Copies of lists that a view makes, with patch and delta folded in, if patch and delta are large.
//!
//! Corrections cost a kernel some nanoseconds for each vertex that has some, in each pass over the graph. A
//! copy is made once, and a kernel reads it like a settled list. Later refreshes make corrections from newer
//! entries until these are a large share again. So a refresh sorts only new entries. `docs/design/views.md`
//! gives the model.

use super::folded::{Folded, Lacking};
use super::{CHUNK_SUBGRAPHS, Chunk};
use crate::arena::Arena;
use crate::version::{Read, Version};
use crate::view::corrections::{Corrected, Kind, ListsUnder, Masks, Pending, Scratch};

impl Chunk {
    /// Stores the state of `read`: the lists of the main part, or a copy, and corrections. Returns the mask
    /// of existing vertices. O(n log n) of the new entries, and O(edges) if it copies them.
    #[inline]
    pub(super) fn read_or_fold(
        &mut self,
        i: usize,
        read: Read<'_>,
        scratch: &mut Scratch,
        arena: &Arena,
    ) -> u64 {
        let (version, n) = (read.version(), read.delta_len());
        let known = self.folded_part(i, version, n);
        let (edges, lacking) = match known {
            Some(folded) => (self.lists[i].main.len(), Lacking::since(read, folded.entries)),
            None => (version.main().edges().len(), Lacking::in_main(read)),
        };
        match known {
            _ if lacking.is_worth_a_copy(edges) && !version.is_ranked() => {
                scratch.entries += lacking.entries;
                self.fold(i, version, n, arena)
            }
            Some(folded) => self.read_since(i, version, n, folded, scratch),
            None => self.read_lists(i, read, scratch),
        }
    }

    /// Returns the content of the subgraph's copy, if it has one of `version` with at most its first `n`
    /// entries.
    #[inline]
    fn folded_part(&self, i: usize, version: &Version, n: usize) -> Option<Folded> {
        let folded = self.folds.get(i).filter(|_| self.folded >> i & 1 != 0)?;
        // A new entry may have a rank: then its two ends do not identify an edge.
        let is_of = folded.version == version.number && folded.entries <= n && !version.is_ranked();
        is_of.then_some(*folded)
    }

    /// Returns the address of the lists of a subgraph, if they are a copy.
    #[cfg(test)]
    pub(in crate::view) fn copy(&self, i: usize) -> Option<*const hedgerow_core::VertexId> {
        (self.folded >> i & 1 != 0).then(|| self.lists[i].main.as_ptr())
    }

    /// Stores a copy of the lists of a version with the first `n` entries of its delta. Returns the mask of
    /// existing vertices. O(edges + n log n).
    fn fold(&mut self, i: usize, version: &Version, n: usize, arena: &Arena) -> u64 {
        let main = version.lists(n, arena);
        self.forget_corrections(i);
        self.offsets[i] = main.offsets();
        let lists = &mut self.lists[i];
        lists.masks = Masks::NONE;
        lists.edges = main.neighbors.len() as u64;
        lists.main = main.neighbors;
        if let Some(kept) = self.weights.get_mut(i) {
            *kept = main.weights.unwrap_or_default();
        }
        if self.folds.is_empty() {
            self.folds = vec![Folded::default(); CHUNK_SUBGRAPHS];
        }
        self.folds[i] = Folded { version: version.number, entries: n, present: main.present };
        self.folded |= 1 << i;
        main.present
    }

    /// Stores the corrections of a copy: the entries that it lacks.
    fn read_since(
        &mut self,
        i: usize,
        version: &Version,
        n: usize,
        folded: Folded,
        scratch: &mut Scratch,
    ) -> u64 {
        let entries = folded.entries..n;
        let edges = self.lists[i].main.len();
        scratch.entries += entries.len();
        let weighted = version.main().weights().is_some();
        let kind = Kind::of_entries(entries.len(), weighted);
        let lists = ListsUnder::Copy(&self.offsets[i], &self.lists[i].main);
        let pending = Pending::since(version, entries, lists, folded.present);
        let corrected = match kind {
            Kind::None => Corrected::unchanged(folded.present),
            Kind::One => Corrected::one(&pending),
            Kind::More => Corrected::entries(&pending, scratch),
        };
        self.correct(i, edges, corrected, scratch)
    }
}
