//! Vertices of one kind.

use hedgerow_core::{Direction, KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId};

use hedgerow_mem::version::Read;

use super::snapshot::Snapshot;
use crate::error::Result;

impl Snapshot {
    /// The number of vertices of one kind. O(vertices), and O(1) in a graph with one kind.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchKind`](crate::ArgumentError::NoSuchKind); a [`StateError`](crate::StateError) in a forked child; a
    /// [`StorageError`](crate::StorageError) where a part of the graph cannot be read.
    pub fn vertex_count_of(&self, kind: KindId) -> Result<u64> {
        let engine = self.engine();
        engine.check_owner()?;
        let schema = engine.schema.load_full();
        schema.check_kind(kind)?;
        if schema.kinds().is_empty() {
            return Ok(self.vertex_count());
        }
        engine.learn_all()?;
        let mut count = 0;
        for subgraph in (0..engine.subgraph_bound()).map(SubgraphId) {
            let mut look = |read: Read<'_>| {
                let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
                let of_kind = |local: &LocalVertex| {
                    read.contains_vertex(*local) && engine.ids.kind_of(subgraph.vertex(*local)) == kind
                };
                count += locals.filter(of_kind).count() as u64;
            };
            engine.read_subgraph((LabelId::DEFAULT, subgraph), self.timestamp(), |entry| {
                entry.read(Direction::Out, self.timestamp(), &mut look)
            })?;
        }
        Ok(count)
    }
}
