//! What views hold, and charging it.

use std::sync::Arc;

use hedgerow_core::account::{Charge, Purpose};

use super::chunk::ChunkMeta;
use super::{Chunk, DirectionView, View};

impl DirectionView {
    /// Charges what no account was charged for yet: of a side that was filled by a [`Composer`] all that it
    /// holds alone. O(subgraphs).
    pub fn charge_lists(&mut self) {
        let bytes = distinct(self.chunks.iter()).map(Chunk::uncharged_bytes).sum();
        self.charge = Some(Charge::new(self.arena.account(), Purpose::Views, bytes));
    }
}

impl View {
    /// The bytes that the view itself holds, with what its arenas have free (the lists that it refers to are the store's, or
    /// counted by [`kept_bytes`](Self::kept_bytes)).
    pub fn bytes(&self) -> usize {
        let slots = [&self.out, &self.into].map(|side| {
            let known = size_of_val(&*side.known) + side.known().count() * size_of::<ChunkMeta>();
            size_of_val(&*side.chunks) + known + side.arena.stats().free()
        });
        let chunks = distinct(self.out.chunks.iter().chain(&self.into.chunks));
        slots.iter().sum::<usize>() + chunks.map(Chunk::bytes).sum::<usize>()
    }

    /// The bytes of lists that this view alone keeps: the store has newer ones. Views that share chunks count them all.
    pub fn kept_bytes(&self) -> usize {
        distinct(self.out.chunks.iter().chain(&self.into.chunks)).map(Chunk::kept_bytes).sum()
    }
}

/// The chunks, each once: empty ones are one after another, and share one allocation.
fn distinct<'a>(chunks: impl Iterator<Item = &'a Arc<Chunk>>) -> impl Iterator<Item = &'a Chunk> {
    let mut before: Option<&Arc<Chunk>> = None;
    chunks.filter_map(move |chunk| {
        let repeats = before.replace(chunk).is_some_and(|before| Arc::ptr_eq(before, chunk));
        (!repeats).then_some(&**chunk)
    })
}
