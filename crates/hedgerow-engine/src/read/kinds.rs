//! Vertices of one kind.

use std::collections::HashMap;
use std::ops::Range;

use hedgerow_core::{
    Direction, KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId, VertexKey,
};

use hedgerow_mem::version::Read;

use super::snapshot::Snapshot;
use crate::error::Result;

/// Subgraphs whose vertices are counted at a time: a page.
const TOGETHER: usize = 64;

impl Snapshot {
    /// The number of vertices of one kind. O(vertices), and O(1) in a graph with one kind.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchKind`](crate::ArgumentError::NoSuchKind); a [`StateError`](crate::StateError) in a forked child; a
    /// [`StorageError`](crate::StorageError) where a part of the graph cannot be read.
    pub fn vertex_count_of(&self, kind: KindId) -> Result<u64> {
        let engine = self.engine();
        engine.check_owner()?;
        self.schema_seen().check_kind(kind)?;
        if !self.has_kinds() {
            return Ok(self.vertex_count());
        }
        let (bound, mut count) = (engine.subgraph_bound(), 0);
        for first in (0..bound).step_by(TOGETHER) {
            let ids = self.vertices_of(first..bound.min(first + TOGETHER as u32))?;
            let found =
                if engine.learn_keys_of(&ids)? { HashMap::new() } else { engine.find_keys_of(&ids)? };
            let kind_of = |id| found.get(id).map_or_else(|| engine.ids.kind_of(*id), VertexKey::kind);
            count += ids.iter().filter(|id| kind_of(id) == kind).count() as u64;
        }
        Ok(count)
    }

    /// Whether other kinds than the default one were defined when the snapshot was taken. O(1).
    pub(crate) fn has_kinds(&self) -> bool {
        let schema = self.engine().schema.load();
        schema.kinds().first().is_some_and(|kind| kind.defined() <= self.timestamp())
    }

    /// The vertices of some subgraphs.
    fn vertices_of(&self, subgraphs: Range<u32>) -> Result<Vec<VertexId>> {
        let mut ids = Vec::new();
        for subgraph in subgraphs.map(SubgraphId) {
            let mut look = |read: Read<'_>| {
                let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
                let live = locals.filter(|local| read.contains_vertex(*local));
                ids.extend(live.map(|local| subgraph.vertex(local)));
            };
            self.engine().read_subgraph((LabelId::DEFAULT, subgraph), self.timestamp(), |entry| {
                entry.read(Direction::Out, self.timestamp(), &mut look)
            })?;
        }
        Ok(ids)
    }
}
