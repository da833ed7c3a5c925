//! Sides of views that are composed, not refreshed: the caller fills their chunks.

use std::sync::Arc;

use super::chunk::{ChunkMeta, GROUP};
use super::{Chunk, DirectionView};

impl DirectionView {
    /// Returns the chunks, by position.
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// Counts the content of the chunks, after they were filled. Returns the number of entries in all lists.
    /// O(chunks).
    pub fn recount(&mut self) -> u64 {
        let mut entries = 0;
        let groups = self.chunks.chunks(GROUP).map(|chunks| {
            let mut known: Box<[ChunkMeta; GROUP]> = Box::new(std::array::from_fn(|_| ChunkMeta::default()));
            for (chunk, known) in chunks.iter().zip(known.iter_mut()) {
                let (vertices, edges) = chunk.counts();
                *known = ChunkMeta::counted(vertices, edges);
                entries += edges;
            }
            Some(known)
        });
        self.known = groups.collect();
        entries
    }
}
