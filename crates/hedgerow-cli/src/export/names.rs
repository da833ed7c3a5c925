//! Keys by vertex id, as files have them.

use hedgerow::{Snapshot, TextColumn, VertexId, VertexKeyRef};

use crate::output::quoted;

/// The keys of all vertices by id, ready to be written; of ids without a vertex nothing.
pub(super) fn names(snapshot: &Snapshot, delimiter: u8) -> hedgerow::Result<TextColumn> {
    let (ids, keys) = snapshot.all_vertex_keys()?;
    let mut names = TextColumn::default();
    for (id, key) in ids.into_iter().zip(keys.iter()) {
        while names.len() < id.index() {
            names.push("");
        }
        match key {
            VertexKeyRef::U64(number) => names.push(&number.to_string()),
            VertexKeyRef::Str(text) => names.push(&quoted(text, delimiter)),
            key => names.push(&quoted(&key.to_string(), delimiter)),
        }
    }
    Ok(names)
}

/// The key of a vertex.
pub(super) fn name(names: &TextColumn, id: VertexId) -> &str {
    names.get(id.index()).unwrap_or("")
}
