//! Keys of many vertices as columns: the rows of the map of keys, read by the page.

use hedgerow_core::{KeyColumn, KeyKind, TextColumn, VertexId};
use rayon::prelude::*;

use crate::error::{ArgumentError, Result};
use crate::read::snapshot::Snapshot;

/// Ids whose keys one task reads: fewer are read by the thread that asks.
const PART: usize = 1 << 14;

impl Snapshot {
    /// The keys of vertices by their ids, as a column: what [`vertex_key`](Self::vertex_key) gives of each, without a look
    /// at the graph. Of a dense graph the key is the id, whether there is such a vertex or not. O(ids, and bytes of texts);
    /// in parallel on the current rayon pool where there are many.
    ///
    /// ```
    /// use hedgerow::{Graph, KeyColumn};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edge(7, 1 << 40)?;
    /// let snapshot = graph.snapshot()?;
    /// let ids = [snapshot.vertex_id(1 << 40)?, snapshot.vertex_id(7)?].map(|id| id.unwrap());
    /// assert_eq!(snapshot.vertex_keys(&ids)?, KeyColumn::U64(vec![1 << 40, 7]));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for an id that has no vertex, but of a dense graph.
    pub fn vertex_keys(&self, ids: &[VertexId]) -> Result<KeyColumn> {
        if ids.len() <= PART {
            return self.vertex_keys_alone(ids);
        }
        let (map, t) = (&self.engine().ids, self.timestamp());
        if self.engine().config.keys != KeyKind::Str {
            let mut numbers = vec![0; ids.len()];
            let parts = ids.par_chunks(PART).zip(numbers.par_chunks_mut(PART));
            let read = |(ids, numbers): (&[VertexId], &mut [u64])| map.numbers_of(ids, t, numbers);
            hedgerow_par::try_for_each(parts, read).map_err(unknown)?;
            return Ok(KeyColumn::U64(numbers));
        }
        let parts = hedgerow_par::map(ids.par_chunks(PART), |ids| self.texts_alone(ids));
        let mut all = TextColumn::default();
        let bytes = parts.iter().flatten().map(TextColumn::bytes).sum();
        all.reserve(ids.len(), bytes);
        for part in parts {
            all.append(&part?);
        }
        Ok(KeyColumn::Str(all))
    }

    /// As [`vertex_keys`](Self::vertex_keys), on the calling thread.
    pub(crate) fn vertex_keys_alone(&self, ids: &[VertexId]) -> Result<KeyColumn> {
        if self.engine().config.keys == KeyKind::Str {
            return self.texts_alone(ids).map(KeyColumn::Str);
        }
        let mut numbers = vec![0; ids.len()];
        self.engine().ids.numbers_of(ids, self.timestamp(), &mut numbers).map_err(unknown)?;
        Ok(KeyColumn::U64(numbers))
    }

    fn texts_alone(&self, ids: &[VertexId]) -> Result<TextColumn> {
        let mut texts = TextColumn::default();
        texts.reserve(ids.len(), 0);
        self.engine().ids.texts_of(ids, self.timestamp(), &mut texts).map_err(unknown)?;
        Ok(texts)
    }

    /// All vertices by ascending id, and their keys as a column: what [`vertices`](Self::vertices) gives one by one. Builds
    /// the view. O(vertices, and bytes of texts).
    ///
    /// # Errors
    /// Where [`view`](Self::view) fails.
    pub fn all_vertex_keys(&self) -> Result<(Vec<VertexId>, KeyColumn)> {
        let view = self.view()?;
        let mut ids = Vec::with_capacity(self.vertex_count() as usize);
        ids.extend(view.vertices());
        let keys = self.vertex_keys(&ids)?;
        Ok((ids, keys))
    }
}

fn unknown(id: VertexId) -> ArgumentError {
    ArgumentError::Invalid(format!("no vertex has the id {}", id.0))
}
