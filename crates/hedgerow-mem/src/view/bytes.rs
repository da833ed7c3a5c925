//! The bytes of views, and their charges.

use std::sync::Arc;

use super::chunk::ChunkMeta;
use super::{Chunk, DirectionView, View};

impl DirectionView {
    /// Charges the chunks like [`Chunk::charge_lists`].
    pub(super) fn charge_lists(&mut self) {
        let account = self.arena.account();
        self.chunks.iter_mut().for_each(|chunk| Chunk::charge_lists(chunk, account));
    }
}

impl View {
    /// Returns the bytes of the view without its lists, with the free memory of its arenas. Its lists belong
    /// to the store, or [`kept_bytes`](Self::kept_bytes) counts them.
    pub fn bytes(&self) -> usize {
        let slots = [&self.out, &self.into].map(|side| {
            let known = size_of_val(&*side.known) + side.known().count() * size_of::<ChunkMeta>();
            size_of_val(&*side.chunks) + known + side.arena.stats().free()
        });
        let chunks = distinct(self.out.chunks.iter().chain(&self.into.chunks));
        slots.iter().sum::<usize>() + chunks.map(Chunk::bytes).sum::<usize>()
    }

    /// Returns the bytes of lists that only this view keeps alive, because the store has newer ones. Lists of
    /// shared chunks are counted in each view.
    pub fn kept_bytes(&self) -> usize {
        distinct(self.out.chunks.iter().chain(&self.into.chunks)).map(Chunk::kept_bytes).sum()
    }
}

/// Returns each distinct chunk once: empty chunks are adjacent, and share one allocation.
fn distinct<'a>(chunks: impl Iterator<Item = &'a Arc<Chunk>>) -> impl Iterator<Item = &'a Chunk> {
    let mut before: Option<&Arc<Chunk>> = None;
    chunks.filter_map(move |chunk| {
        let repeats = before.replace(chunk).is_some_and(|before| Arc::ptr_eq(before, chunk));
        (!repeats).then_some(&**chunk)
    })
}
