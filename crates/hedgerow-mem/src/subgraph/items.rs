//! Writing and reading edges with ranks and rows under the latch.

use hedgerow_core::{Direction, InterpolationHint, LocalVertex, VertexId};

use super::{Latched, Subgraph};
use crate::grace::ReadGuard;
use crate::items::ItemRef;
use crate::version::{NotInMemory, Read};

impl Subgraph {
    /// Whether nothing was ever applied in this direction.
    pub fn is_untouched(&self, direction: Direction) -> bool {
        self.heads[direction as usize].is_none()
    }

    /// Reads everything applied, published or not, without the latch. It shows at least what was applied before the
    /// caller got a latch that its writer held too; whether there is more, only the holder of this latch knows.
    ///
    /// # Errors
    /// [`NotInMemory`].
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
    /// Weight and properties of the edge with this destination and rank, everything applied included.
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

    /// The number of edges of a vertex, everything applied included.
    pub fn degree(&self, direction: Direction, local: LocalVertex) -> usize {
        self.writer.heads[direction as usize].as_ref().map_or(0, |head| head.latest().degree(local))
    }

    /// Calls `f` with each edge, everything applied included, ascending by destination and rank.
    pub fn for_each_item(&self, direction: Direction, local: LocalVertex, f: impl FnMut(ItemRef<'_>)) {
        if let Some(version) = &self.writer.heads[direction as usize] {
            version.latest().for_each_item(local, f);
        }
    }
}
