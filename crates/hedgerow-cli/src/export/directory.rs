//! `hedgerow export STORE DIR`: a file of edges for each label, a file of vertices for each kind, and
//! `schema.json`, which names these files.
//!
//! `schema.json` is written last: a directory without it is no complete export.

use std::path::{Path, PathBuf};

use hedgerow::{GraphConfig, KeyKind, Kind, KindId, Label, Property, Schema, Snapshot};
use hedgerow_arrow::files::FileFormat;
use serde_json::{Value, json};

use super::rows::{VertexFile, write_edge_rows, write_vertex_rows};
use super::tables;
use crate::error::CliError;
use crate::keys::kind_name;
use crate::layout::{DELIMITER, FORMAT, KINDS_VERSION, SCHEMA_FILE, VERSION};
use crate::output::{Report, Style};
use crate::store::{is_vacant, kinds, open_read_only};
use crate::target::Target;

/// The maximal number of characters that a file's name takes from the name of its label or kind.
const MOST_NAME_CHARS: usize = 40;

/// Writes the whole store into `dir`, which must not exist or be empty.
pub(super) fn export_directory(
    store: &Path,
    dir: &Path,
    format: Option<FileFormat>,
    style: Style,
) -> Result<(), CliError> {
    let graph = open_read_only(store)?;
    let (config, snapshot) = (graph.config(), graph.snapshot()?);
    let schema = snapshot.schema();
    let mut files = Directory::create(store, dir)?;
    let vertices = match format {
        None => write_vertices(&mut files, &snapshot, &schema, config.keys)?,
        Some(format) => write_vertex_tables(&mut files, &snapshot, &schema, config.keys, format)?,
    };
    let (mut labels, mut edges) = (Vec::new(), 0);
    for label in schema.labels() {
        let weighted = config.weighted && label.name().is_empty();
        let name = file_name(label, format);
        let rows = match format {
            None => files.write(&name, |to| {
                write_edge_rows(&snapshot, label, label.properties(), weighted, DELIMITER, to)
            })?,
            Some(format) => {
                let (rows, to) = tables::write_edges(&snapshot, label, true, format, files.open(&name)?)?;
                to.finish()?;
                files.add(&name);
                rows
            }
        };
        let mut described = json!({
            "name": &**label.name(),
            "multi": label.is_multi(),
            "file": name,
            "rows": rows,
            "properties": described(label.properties()),
        });
        if !schema.kinds().is_empty() {
            described["ends"] = json!(label.ends().map(|ends| ends.map(|id| schema.kind_name(id))));
        }
        labels.push(described);
        edges += rows;
    }
    let count = labels.len();
    let description = describe(config, &schema, &vertices, labels, format);
    files.write(SCHEMA_FILE, |to| to.write(|w| writeln!(w, "{description:#}")))?;
    files.done = true;
    Report::default()
        .field("vertices", vertices.iter().sum::<u64>())
        .field("edges", edges)
        .field("labels", count as u64)
        .print(style)
}

/// Writes a file of vertices for each kind; returns the number of vertices of each.
fn write_vertices(
    files: &mut Directory,
    snapshot: &Snapshot,
    schema: &Schema,
    keys: KeyKind,
) -> Result<Vec<u64>, CliError> {
    let (mut open, mut names) = (Vec::new(), Vec::new());
    for (kind, _) in kinds(schema, keys) {
        let name = vertex_file_name(schema, kind, None);
        let properties = schema.vertex_properties_of(kind).collect();
        open.push(VertexFile::begin(kind, properties, DELIMITER, files.open(&name)?)?);
        names.push(name);
    }
    write_vertex_rows(snapshot, &mut open, DELIMITER)?;
    let finish = |(file, name): (VertexFile<'_>, String)| {
        let rows = file.finish()?;
        files.add(&name);
        Ok(rows)
    };
    open.into_iter().zip(names).map(finish).collect()
}

/// Writes a table of vertices for each kind; returns the number of vertices of each.
fn write_vertex_tables(
    files: &mut Directory,
    snapshot: &Snapshot,
    schema: &Schema,
    keys: KeyKind,
    format: FileFormat,
) -> Result<Vec<u64>, CliError> {
    let mut counts = Vec::new();
    for (kind, _) in kinds(schema, keys) {
        let name = vertex_file_name(schema, kind, Some(format));
        let (rows, to) = tables::write_vertices(snapshot, kind, true, format, files.open(&name)?)?;
        to.finish()?;
        counts.push(rows);
        files.add(&name);
    }
    Ok(counts)
}

/// Returns the content of `schema.json`; `vertices` has the number of vertices of each kind.
fn describe(
    config: GraphConfig,
    schema: &Schema,
    vertices: &[u64],
    labels: Vec<Value>,
    format: Option<FileFormat>,
) -> Value {
    let mut counts = vertices.iter();
    let mut described = json!({
        "format": FORMAT,
        "version": if schema.kinds().is_empty() { VERSION } else { KINDS_VERSION },
        "directed": config.directed,
        "keys": kind_name(config.keys),
        "weighted": config.weighted,
        "reverse": config.reverse,
        "vertices": {
            "file": vertex_file_name(schema, KindId::DEFAULT, format),
            "rows": counts.next(),
            "properties": described(schema.vertex_properties_of(KindId::DEFAULT)),
        },
        "labels": labels,
    });
    if !schema.kinds().is_empty() {
        let kind = |(kind, rows): (&Kind, &u64)| {
            json!({
                "name": &**kind.name(),
                "keys": kind_name(kind.keys()),
                "file": vertex_file_name(schema, kind.id(), format),
                "rows": rows,
                "properties": self::described(schema.vertex_properties_of(kind.id())),
            })
        };
        described["kinds"] = schema.kinds().iter().zip(counts).map(kind).collect();
    }
    described
}

fn described<'a>(properties: impl IntoIterator<Item = &'a Property>) -> Vec<Value> {
    let property = |p: &Property| json!({"name": &**p.name(), "type": p.property_type().name()});
    properties.into_iter().map(property).collect()
}

/// Returns the name of a kind's file of vertices. It contains the kind's id, as a label's file has the
/// label's.
fn vertex_file_name(schema: &Schema, kind: KindId, format: Option<FileFormat>) -> String {
    let ending = ending(format);
    match schema.kind_name(kind) {
        "" => format!("vertices.{ending}"),
        name => format!("vertices-{}-{}.{ending}", kind.0, harmless(name)),
    }
}

/// Returns the extension of the files; without a format of tables they have lines.
fn ending(format: Option<FileFormat>) -> &'static str {
    match format {
        None => "csv",
        Some(FileFormat::Parquet) => "parquet",
        Some(FileFormat::Arrow) => "arrow",
    }
}

/// Returns the name of a label's file. The label's id distinguishes labels whose names become equal in file
/// names.
fn file_name(label: &Label, format: Option<FileFormat>) -> String {
    let ending = ending(format);
    if label.name().is_empty() {
        return format!("edges.{ending}");
    }
    format!("edges-{}-{}.{ending}", label.id().0, harmless(label.name()))
}

/// Returns the name with only characters that all file systems accept.
fn harmless(name: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().take(MOST_NAME_CHARS).map(|c| if harmless(c) { c } else { '_' }).collect()
}

/// The directory of an export. If it is dropped before the export is complete, the files written are removed.
struct Directory {
    path: PathBuf,
    /// True if the command created the directory.
    made: bool,
    files: Vec<PathBuf>,
    done: bool,
}

impl Directory {
    fn create(store: &Path, path: &Path) -> Result<Directory, CliError> {
        let shown = path.display();
        let failed = |source| CliError::Write { to: shown.to_string(), source };
        let exists = path.symlink_metadata().is_ok();
        if !is_vacant(path) {
            let what = if path.is_dir() { "is not empty" } else { "is not a directory" };
            let message = format!("DIR: {shown} {what}: an export goes into a new directory or an empty one");
            return Err(CliError::Failed(message));
        }
        if !exists {
            std::fs::create_dir(path).map_err(failed)?;
        }
        let directory = Directory { path: path.to_owned(), made: !exists, files: Vec::new(), done: false };
        // The directory of a store contains only its own files.
        let inside = |store: PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(store));
        if store.canonicalize().is_ok_and(inside) {
            return Err(CliError::Failed(format!("DIR: {shown} is inside the store")));
        }
        Ok(directory)
    }

    /// Writes one file. The file gets its final name when it is complete.
    fn write<T>(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut Target) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let mut to = self.open(name)?;
        let written = content(&mut to)?;
        to.finish()?;
        self.add(name);
        Ok(written)
    }

    /// Begins a file. The export owns it from the call of [`add`](Self::add) on.
    fn open(&self, name: &str) -> Result<Target, CliError> {
        Target::open(Some(&self.path.join(name)))
    }

    fn add(&mut self, name: &str) {
        self.files.push(self.path.join(name));
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // A file that cannot be removed stays, but there is no `schema.json`; the export's own failure is
        // reported.
        for file in self.files.iter().rev() {
            let _ = std::fs::remove_file(file);
        }
        if self.made {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}
