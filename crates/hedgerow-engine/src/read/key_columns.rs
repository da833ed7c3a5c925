//! Keys of many vertices as columns: rows of the key table, or keys that are read by the page.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_core::{KeyColumn, KeyKind, TextColumn, VertexId};
use rayon::prelude::*;

use crate::read::snapshot::Snapshot;

/// The number of ids whose keys one task reads. The calling thread reads fewer alone.
const PART: usize = 1 << 14;

/// The form of a [`KeyColumn`] for the keys of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    Numbers,
    Texts,
    Kinds,
}

impl KeyForm {
    /// Returns a column without keys.
    pub(crate) fn column(self) -> KeyColumn {
        match self {
            KeyForm::Kinds => KeyColumn::Kinds(Vec::new()),
            KeyForm::Texts | KeyForm::Numbers => KeyColumn::new(self == KeyForm::Texts),
        }
    }
}

impl Snapshot {
    /// Returns the keys of vertices by their ids, as a column: the same as [`vertex_key`](Self::vertex_key)
    /// for each id, but without checking the graph. In a dense graph the key is the id, even if there is no
    /// such vertex. O(ids, and bytes of texts); in parallel on the current rayon pool if there are many ids.
    ///
    /// ```
    /// use hedgerow::{Graph, KeyColumn};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edge((7, 1 << 40))?;
    /// let snapshot = graph.snapshot()?;
    /// let ids = [snapshot.vertex_id(1 << 40)?, snapshot.vertex_id(7)?].map(|id| id.unwrap());
    /// assert_eq!(snapshot.vertex_keys(&ids)?, KeyColumn::U64(vec![1 << 40, 7]));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for an id without a vertex, except in a dense graph.
    pub fn vertex_keys(&self, ids: &[VertexId]) -> Result<KeyColumn> {
        let form = self.key_form();
        if ids.len() <= PART {
            return self.vertex_keys_alone(form, ids);
        }
        if !self.engine().keys.learn_keys_of(&self.engine().pager, ids)? {
            return self.unkept_keys(form, ids);
        }
        let (map, t) = (&self.engine().keys.ids, self.timestamp());
        if form == KeyForm::Kinds {
            let parts = hedgerow_par::map(ids.par_chunks(PART), |ids| self.vertex_keys_alone(form, ids));
            let mut all = form.column();
            for part in parts {
                all.append(part?);
            }
            return Ok(all);
        }
        if form == KeyForm::Numbers {
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

    /// Returns keys like [`vertex_keys`](Self::vertex_keys), but on the calling thread.
    pub(crate) fn vertex_keys_alone(&self, form: KeyForm, ids: &[VertexId]) -> Result<KeyColumn> {
        let map = &self.engine().keys.ids;
        if !self.engine().keys.learn_keys_of(&self.engine().pager, ids)? {
            return self.unkept_keys(form, ids);
        }
        match form {
            KeyForm::Kinds => Ok(KeyColumn::Kinds(map.keys_of(ids, self.timestamp()).map_err(unknown)?)),
            KeyForm::Texts => self.texts_alone(ids).map(KeyColumn::Str),
            KeyForm::Numbers => {
                let mut numbers = vec![0; ids.len()];
                map.numbers_of(ids, self.timestamp(), &mut numbers).map_err(unknown)?;
                Ok(KeyColumn::U64(numbers))
            }
        }
    }

    /// Returns keys like [`vertex_keys`](Self::vertex_keys) if memory does not have them: reads them from the
    /// pages of the vertices, some ids at a time.
    fn unkept_keys(&self, form: KeyForm, ids: &[VertexId]) -> Result<KeyColumn> {
        let mut all = form.column();
        for part in ids.chunks(PART) {
            let found = self.engine().keys.find_keys_of(&self.engine().pager, part)?;
            for id in part {
                match found.get(id) {
                    Some(key) => all.push(key.as_ref()),
                    None => {
                        let known =
                            self.engine().keys.ids.keys_of(&[*id], self.timestamp()).map_err(unknown)?;
                        known.iter().for_each(|key| all.push(key.as_ref()));
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the form of the columns of [`vertex_keys`](Self::vertex_keys). It depends on the kinds that
    /// were defined when the snapshot was taken.
    pub(crate) fn key_form(&self) -> KeyForm {
        match self.engine().catalog.config.keys {
            _ if self.has_kinds() => KeyForm::Kinds,
            KeyKind::Str => KeyForm::Texts,
            KeyKind::U64 | KeyKind::Dense => KeyForm::Numbers,
        }
    }

    fn texts_alone(&self, ids: &[VertexId]) -> Result<TextColumn> {
        let mut texts = TextColumn::default();
        texts.reserve(ids.len(), 0);
        self.engine().keys.ids.texts_of(ids, self.timestamp(), &mut texts).map_err(unknown)?;
        Ok(texts)
    }
}

fn unknown(id: VertexId) -> ArgumentError {
    ArgumentError::Invalid(format!("no vertex has the id {}", id.0))
}
