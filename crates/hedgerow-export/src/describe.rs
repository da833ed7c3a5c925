//! The content of `schema.json`, and the names of files.

use hedgerow::{GraphConfig, Kind, KindId, Label, Property, Schema};
use serde_json::{Value, json};

use crate::layout::{FORMAT, KINDS_VERSION, PARTS_VERSION, VERSION};
use crate::text::kind_name;

/// The maximal number of characters that a file's name takes from the name of its label or kind.
const MOST_NAME_CHARS: usize = 40;

/// The files of a table, each with its number of rows.
pub(crate) type Written = Vec<(String, u64)>;

/// Returns the content of `schema.json`. `of_kinds` and `of_labels` have the files of each.
pub(crate) fn describe(
    config: GraphConfig,
    schema: &Schema,
    of_kinds: &[Written],
    of_labels: &[Written],
    in_parts: bool,
) -> Value {
    let labels = schema.labels().iter().zip(of_labels).map(|(label, files)| {
        let mut described = json!({
            "name": &**label.name(),
            "multi": label.is_multi(),
            "properties": described(label.properties()),
        });
        describe_files(&mut described, files, in_parts);
        if !schema.kinds().is_empty() {
            described["ends"] = json!(label.ends().map(|ends| ends.map(|id| schema.kind_name(id))));
        }
        described
    });
    let mut files = of_kinds.iter();
    let version = match in_parts {
        true => PARTS_VERSION,
        false if schema.kinds().is_empty() => VERSION,
        false => KINDS_VERSION,
    };
    let mut vertices = json!({ "properties": described(schema.vertex_properties_of(KindId::DEFAULT)) });
    files.next().into_iter().for_each(|files| describe_files(&mut vertices, files, in_parts));
    let mut all = json!({
        "format": FORMAT,
        "version": version,
        "directed": config.directed,
        "keys": kind_name(config.keys),
        "weighted": config.weighted,
        "reverse": config.reverse,
        "vertices": vertices,
        "labels": labels.collect::<Vec<_>>(),
    });
    if !schema.kinds().is_empty() {
        let kind = |(kind, files): (&Kind, &Written)| {
            let mut described = json!({
                "name": &**kind.name(),
                "keys": kind_name(kind.keys()),
                "properties": self::described(schema.vertex_properties_of(kind.id())),
            });
            describe_files(&mut described, files, in_parts);
            described
        };
        all["kinds"] = schema.kinds().iter().zip(files).map(kind).collect();
    }
    all
}

/// Adds the files of a table, and their numbers of rows, to its description.
fn describe_files(described: &mut Value, files: &Written, in_parts: bool) {
    let file = |(name, rows): &(String, u64)| json!({"file": name, "rows": rows});
    match &files[..] {
        [(name, rows)] if !in_parts => {
            described["file"] = json!(name);
            described["rows"] = json!(rows);
        }
        parts => described["parts"] = parts.iter().map(file).collect(),
    }
}

fn described<'a>(properties: impl IntoIterator<Item = &'a Property>) -> Vec<Value> {
    let property = |p: &Property| json!({"name": &**p.name(), "type": p.property_type().name()});
    properties.into_iter().map(property).collect()
}

/// Returns the name of a kind's file of vertices, without its ending. It contains the kind's id, as a label's
/// file has the label's.
pub(crate) fn vertex_file_name(schema: &Schema, kind: KindId) -> String {
    match schema.kind_name(kind) {
        "" => "vertices".to_owned(),
        name => format!("vertices-{}-{}", kind.0, harmless(name)),
    }
}

/// Returns the name of a label's file, without its ending. The label's id distinguishes labels whose names
/// become equal in file names.
pub(crate) fn edge_file_name(label: &Label) -> String {
    match label.name().is_empty() {
        true => "edges".to_owned(),
        false => format!("edges-{}-{}", label.id().0, harmless(label.name())),
    }
}

/// Returns the name with only characters that all file systems accept.
fn harmless(name: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().take(MOST_NAME_CHARS).map(|c| if harmless(c) { c } else { '_' }).collect()
}
