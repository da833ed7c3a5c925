//! The edges of two chunks in both directions.

use std::sync::Arc;

use hedgerow_core::SubgraphId;
use smallvec::SmallVec;

use super::super::{CHUNK_SUBGRAPHS, Chunk};
use super::Composer;
use super::gather::Gathered;
use super::take::{ComposeError, Part};
use crate::arena::Counted;

impl Composer<'_> {
    /// Fills an empty chunk, whose first subgraph is `first`, with the edges of two others in both
    /// directions. These are all edges of `one`, and the edges of `other` without self-loops, because `one`
    /// also has the self-loops. The vertices are the vertices of `one`. O(edges).
    ///
    /// # Errors
    /// [`ComposeError::TooManyEdges`].
    pub fn join(
        &mut self,
        chunk: &mut Arc<Chunk>,
        first: SubgraphId,
        one: &Chunk,
        other: Option<&Chunk>,
    ) -> Result<(), ComposeError> {
        let chunk = Arc::make_mut(chunk);
        if self.weighted && chunk.weights.is_empty() {
            chunk.weights = vec![Counted::default(); CHUNK_SUBGRAPHS];
        }
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.resize_with(gathered.len().max(2), Gathered::default);
        let mut outcome = Ok(());
        for i in 0..CHUNK_SUBGRAPHS {
            chunk.set_present(i, one.lists[i].present);
            let id = SubgraphId(first.0 + i as u32);
            gathered[0].resolve(one, i, self.weighted, |_, _| true);
            gathered[1].resolve(other.unwrap_or(one), i, self.weighted, |local, v| {
                other.is_some() && v != id.vertex(local)
            });
            let parts: SmallVec<[Part<'_>; 2]> =
                gathered[..2].iter().filter(|g| g.len() > 0).map(Gathered::own_part).collect();
            if !parts.is_empty() && outcome.is_ok() {
                outcome = self.set_merged(chunk, i, &parts);
            }
            if let Some(loops) = &mut self.loops {
                *loops += chunk.loops(i, id);
            }
        }
        self.gathered = gathered;
        outcome
    }
}
