//! Reads of edges with ranks and rows, and of uncommitted state, with or without the latch.

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId};

use super::{Latched, Subgraph};
use crate::grace::ReadGuard;
use crate::items::ItemRef;
use crate::version::{NotInMemory, Read};

impl Subgraph {
    /// True if no operation was ever applied in this direction.
    pub fn is_untouched(&self, direction: Direction) -> bool {
        self.heads[direction as usize].is_none()
    }

    /// Reads all applied operations, published or not, without the latch. If the caller holds a latch that a
    /// writer held before, it sees at least the operations of that writer. Only the holder of this subgraph's
    /// latch can rule out further operations.
    ///
    /// # Errors
    /// [`NotInMemory`] if the head is not in memory.
    pub fn read_latest<R>(
        &self,
        direction: Direction,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Result<Option<R>, NotInMemory> {
        let walk = ReadGuard::begin();
        Ok(self.heads[direction as usize].next(&walk)?.map(|head| f(head.latest())))
    }
}

impl Latched<'_> {
    /// Returns weight and properties of the edge with this destination and rank, after all applied
    /// operations.
    #[inline]
    pub fn item(
        &self,
        direction: Direction,
        local: LocalVertex,
        dst: VertexId,
        rank: u64,
        hint: InterpolationHint,
    ) -> Option<ItemRef<'_>> {
        self.writer.heads[direction as usize].as_ref()?.latest().item(local, dst, rank, hint)
    }

    /// Returns the number of edges of a vertex, after all applied operations.
    pub fn degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.latest().degree(local))
    }

    /// Calls `f` with each edge after all applied operations, ascending by destination and rank.
    pub fn for_each_item(&self, direction: Direction, local: LocalVertex, f: impl FnMut(ItemRef<'_>)) {
        if let Some(version) = &self.writer.heads[direction as usize] {
            version.latest().for_each_item(local, f);
        }
    }
}
