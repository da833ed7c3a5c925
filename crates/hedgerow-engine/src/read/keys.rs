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
        let (map, t) = (&self.engine().ids, self.timestamp());
        let unknown = |id: VertexId| ArgumentError::Invalid(format!("no vertex has the id {}", id.0));
        if self.engine().config.keys != KeyKind::Str {
            let mut numbers = vec![0; ids.len()];
            if ids.len() <= PART {
                map.numbers_of(ids, t, &mut numbers).map_err(unknown)?;
            } else {
                let parts = ids.par_chunks(PART).zip(numbers.par_chunks_mut(PART));
                hedgerow_par::try_for_each(parts, |(ids, numbers)| map.numbers_of(ids, t, numbers))
                    .map_err(unknown)?;
            }
            return Ok(KeyColumn::U64(numbers));
        }
        let texts_of = |ids: &[VertexId]| {
            let mut texts = TextColumn::default();
            texts.reserve(ids.len(), 0);
            map.texts_of(ids, t, &mut texts).map(|()| texts)
        };
        if ids.len() <= PART {
            return Ok(KeyColumn::Str(texts_of(ids).map_err(unknown)?));
        }
        let parts = hedgerow_par::map(ids.par_chunks(PART), texts_of);
        let mut all = TextColumn::default();
        let bytes = parts.iter().flatten().map(TextColumn::bytes).sum();
        all.reserve(ids.len(), bytes);
        for part in parts {
            all.append(&part.map_err(unknown)?);
        }
        Ok(KeyColumn::Str(all))
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
