//! Edges as JSON: one object per line.

use hedgerow::{Label, Snapshot, VertexId, VertexKey};
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
    let mut out = Rows::begin(Style::Json, None, columns.map(str::to_owned).collect())?;
    let key = |id: VertexId| -> hedgerow::Result<VertexKey> {
        // The ends of an edge exist in the snapshot.
        Ok(snapshot.vertex_key(id)?.unwrap_or(VertexKey::U64(id.0.into())))
    };
    snapshot.scan_edges(label.id())?.try_for_each(|edge| {
        let (src, dst) = (key(edge.src())?, key(edge.dst())?);
        let (src, dst) = if ends.are_turned(src.kind(), dst.kind()) { (dst, src) } else { (src, dst) };
        let mut row = vec![keys::to_json(&src), keys::to_json(&dst)];
        if ends.are_shown {
            row.extend([&src, &dst].map(|end| Value::from(schema.kind_name(end.kind()))));
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
        out.write(row.into_iter().map(Cell::Value).collect())
    })?;
    out.finish()
}
