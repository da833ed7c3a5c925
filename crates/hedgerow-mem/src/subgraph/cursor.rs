//! A reader of the lists of many vertices, one after another.

use hedgerow_core::{Direction, SubgraphId, Timestamp, VertexId};

use super::Subgraph;
use crate::version::{GroupedVersion, NotInMemory};

/// A reader of lists of a table of subgraphs, as a snapshot sees them. While consecutive reads stay in one
/// subgraph, its chain is looked up once, and the entries of its delta are grouped by vertex once. A subgraph
/// that is read only once is read by [`Subgraph::visit`].
pub struct Cursor {
    direction: Direction,
    t: Timestamp,
    /// The subgraph that was read last.
    at: Option<SubgraphId>,
    /// True if that subgraph was read at least twice, so that `version` is its version.
    is_kept: bool,
    /// The number of reads of that subgraph after the first.
    again: u32,
    version: GroupedVersion,
}

impl Cursor {
    /// Makes a cursor of a snapshot at `t`, which must stay registered.
    pub fn new(direction: Direction, t: Timestamp) -> Cursor {
        Cursor { direction, t, at: None, is_kept: false, again: 0, version: GroupedVersion::default() }
    }

    /// Notes a visit that is about to begin. If `id` is in another subgraph than the last visit, returns how
    /// often the last subgraph was read after its first read. O(1).
    #[inline]
    pub fn begins(&mut self, id: VertexId) -> Option<u32> {
        if self.at == Some(id.subgraph()) {
            self.again = self.again.saturating_add(1);
            return None;
        }
        Some(std::mem::take(&mut self.again))
    }

    /// Calls `f` with the neighbours of `id`, which is in `subgraph`, in stretches, like [`Subgraph::visit`].
    /// All subgraphs given to one cursor must be of one table. O(degree) for consecutive reads of one
    /// subgraph, but the second is also O(delta).
    ///
    /// # Errors
    /// Like [`Subgraph::read`].
    #[inline]
    pub fn visit(
        &mut self,
        subgraph: &Subgraph,
        id: VertexId,
        f: impl FnMut(&[VertexId], &[f64]),
    ) -> Result<(), NotInMemory> {
        if self.at != Some(id.subgraph()) {
            self.leave();
            self.at = Some(id.subgraph());
            return subgraph.visit(self.direction, self.t, id.local(), f);
        }
        if !self.is_kept {
            self.version.set(subgraph.version(self.direction, self.t)?, self.t);
            self.is_kept = true;
        }
        self.version.visit(id.local(), f);
        Ok(())
    }

    #[inline]
    fn leave(&mut self) {
        if self.is_kept {
            self.version.set(None, self.t);
            self.is_kept = false;
        }
    }
}
