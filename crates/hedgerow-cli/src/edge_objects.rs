//! Edges as JSON: one object per line.

use hedgerow::{KeyColumn, KindId, Label, Snapshot, VertexId};
use hedgerow_export::rows::Ends;
use serde_json::{Map, Value};

use crate::error::CliError;
use crate::keys;
use crate::output::{Cell, Rows, Style, number};
use crate::property;

/// Writes the edges of one label to standard output, one object per line: the members are the columns of an
/// export, and with `properties` an object of the values. Each edge of an undirected graph is written once.
pub(crate) fn write(
    snapshot: &Snapshot,
    label: &Label,
    weighted: bool,
    properties: bool,
) -> Result<(), CliError> {
    let schema = snapshot.schema();
    let ends = Ends::new(&schema, label);
    let kinds: &[&str] = if ends.are_shown { &["src_kind", "dst_kind"] } else { &[] };
    let others = [(label.is_multi(), "rank"), (weighted, "weight"), (properties, "properties")];
    let others = others.into_iter().filter_map(|(is_shown, name)| is_shown.then_some(name));
    let columns = ["src", "dst"].into_iter().chain(kinds.iter().copied()).chain(others);
    let mut out = Rows::begin(Style::Json, None, &columns.map(str::to_owned).collect::<Vec<_>>())?;
    let keys = Keys::of(snapshot)?;
    snapshot.scan_edges(label.id())?.try_for_each(|edge| {
        let (src, dst) = (keys.get(edge.src()), keys.get(edge.dst()));
        let (src, dst) = if ends.are_turned(src.0, dst.0) { (dst, src) } else { (src, dst) };
        let mut row = vec![src.1, dst.1];
        if ends.are_shown {
            row.extend([src.0, dst.0].map(|kind| Value::from(schema.kind_name(kind))));
        }
        row.extend(label.is_multi().then(|| edge.rank().into()));
        row.extend(weighted.then(|| number(edge.weight())));
        row.extend(properties.then(|| {
            let values = label
                .properties()
                .iter()
                .map(|property| (property.name().to_string(), property::to_json(edge.get(property.id()))));
            Value::Object(values.filter(|(_, value)| !value.is_null()).collect::<Map<String, Value>>())
        }));
        out.write(&row.into_iter().map(Cell::Value).collect::<Vec<_>>())
    })?;
    out.finish()
}

/// The keys of all vertices.
struct Keys {
    /// Ascending.
    ids: Vec<VertexId>,
    keys: KeyColumn,
}

impl Keys {
    /// Reads all keys. O(vertices, and bytes of texts), and as much memory.
    fn of(snapshot: &Snapshot) -> Result<Keys, CliError> {
        let (ids, keys) = snapshot.scan_vertices()?.keys()?;
        Ok(Keys { ids, keys })
    }

    /// Returns the kind and the key of a vertex. An end of an edge always exists.
    fn get(&self, id: VertexId) -> (KindId, Value) {
        let key = self.ids.binary_search(&id).ok().and_then(|row| self.keys.get(row));
        key.map_or((KindId::DEFAULT, Value::Null), |key| (key.kind(), keys::to_json(&key.to_owned())))
    }
}
