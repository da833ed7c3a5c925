//! The keys of vertices by id, as files write them.

use hedgerow::{KindId, Snapshot, TextColumn, VertexId, VertexKeyRef};

use crate::text::quoted;

/// The keys of all vertices by id, as text, and their kinds if the store has kinds. An id without a vertex
/// has an empty key.
pub struct Names {
    texts: TextColumn,
    kinds: Vec<KindId>,
}

impl Names {
    /// Reads all keys. O(vertices, and bytes of texts), and as much memory.
    ///
    /// # Errors
    /// Those of a read of the snapshot.
    pub fn of(snapshot: &Snapshot, delimiter: u8) -> hedgerow::Result<Names> {
        let (ids, keys) = snapshot.scan_vertices()?.keys()?;
        let has_kinds = !snapshot.schema().kinds().is_empty();
        let (mut texts, mut kinds) = (TextColumn::default(), Vec::new());
        for (id, key) in ids.into_iter().zip(keys.iter()) {
            while texts.len() < id.index() {
                texts.push("");
            }
            let (kind, key) = key.split();
            if has_kinds {
                kinds.resize(id.index(), KindId::DEFAULT);
                kinds.push(kind);
            }
            match key {
                VertexKeyRef::U64(number) | VertexKeyRef::KindU64(_, number) => {
                    texts.push(&number.to_string())
                }
                VertexKeyRef::Str(text) | VertexKeyRef::KindStr(_, text) => {
                    texts.push(&quoted(text, delimiter))
                }
            }
        }
        Ok(Names { texts, kinds })
    }

    /// Returns the key of a vertex, without its kind.
    pub fn get(&self, id: VertexId) -> &str {
        self.texts.get(id.index()).unwrap_or("")
    }

    /// Returns the kind of a vertex.
    pub fn kind(&self, id: VertexId) -> KindId {
        self.kinds.get(id.index()).copied().unwrap_or_default()
    }
}
