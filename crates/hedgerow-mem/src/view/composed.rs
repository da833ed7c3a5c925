//! Sides of views that are composed, not refreshed: whose chunks the caller fills.

use std::sync::Arc;

use hedgerow_core::SubgraphId;

use super::chunk::{ChunkMeta, GROUP};
use super::{CHUNK_SUBGRAPHS, Chunk, DirectionView};

impl DirectionView {
    /// The chunks, by position.
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// Counts what the chunks hold, after they were filled: the entries of all lists, and of them those that name their own
    /// vertex, if `loops` are asked for. O(64) a chunk, and O(vertices log degree) for the latter.
    pub fn recount(&mut self, loops: bool) -> (u64, u64) {
        let (mut entries, mut found) = (0, 0);
        let groups = self.chunks.chunks(GROUP).enumerate().map(|(group, chunks)| {
            let mut known: Box<[ChunkMeta; GROUP]> = Box::new(std::array::from_fn(|_| ChunkMeta::default()));
            for (at, (chunk, known)) in chunks.iter().zip(known.iter_mut()).enumerate() {
                let first = SubgraphId(((group * GROUP + at) * CHUNK_SUBGRAPHS) as u32);
                let (vertices, edges, loops) = chunk.counts(first, loops);
                *known = ChunkMeta::counted(vertices, edges);
                (entries, found) = (entries + edges, found + loops);
            }
            Some(known)
        });
        self.known = groups.collect();
        (entries, found)
    }
}
