//! An export into a directory: a file of edges for each label, a file of vertices for each kind, and
//! `schema.json`, which names these files.
//!
//! `schema.json` is written last: a directory without it is no complete export.

use std::ops::Range;
use std::path::{Path, PathBuf};

use hedgerow::{GraphConfig, Kind, KindId, Label, Property, Schema, Snapshot, StateError, VertexId};
use hedgerow_arrow::TableOptions;
use hedgerow_arrow::files::FileFormat;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Error;
use crate::layout::{DELIMITER, FORMAT, KINDS_VERSION, PARTS_VERSION, SCHEMA_FILE, VERSION};
use crate::rows::{VertexFile, write_edge_rows, write_vertex_rows};
use crate::tables;
use crate::target::Target;
use crate::text::{is_vacant, kind_name, kinds};

/// The maximal number of characters that a file's name takes from the name of its label or kind.
const MOST_NAME_CHARS: usize = 40;

/// The form of the files of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportFormat {
    /// Lines with values separated by commas.
    #[default]
    Csv,
    /// Parquet, compressed with zstd.
    Parquet,
    /// Arrow's IPC format for files.
    Arrow,
}

impl ExportFormat {
    fn of_table(self) -> Option<FileFormat> {
        match self {
            ExportFormat::Csv => None,
            ExportFormat::Parquet => Some(FileFormat::Parquet),
            ExportFormat::Arrow => Some(FileFormat::Arrow),
        }
    }

    fn ending(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::Parquet => "parquet",
            ExportFormat::Arrow => "arrow",
        }
    }
}

/// Options of [`export`].
#[derive(Clone, Copy)]
#[must_use]
pub struct ExportOptions<'a> {
    format: ExportFormat,
    partitions: usize,
    store: Option<&'a Path>,
    until: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> ExportOptions<'a> {
    /// Returns options for one file a table, in this format.
    pub fn new(format: ExportFormat) -> ExportOptions<'a> {
        ExportOptions { format, partitions: 1, store: None, until: None }
    }

    /// Divides each table into at most this many files, by the [parts](Snapshot::partitions) of the graph,
    /// which are written in parallel. Only for tables of Parquet and Arrow.
    pub fn partitions(mut self, files: usize) -> ExportOptions<'a> {
        self.partitions = files;
        self
    }

    /// Names the directory of the store, into which an export is refused.
    pub fn store(mut self, store: Option<&'a Path>) -> ExportOptions<'a> {
        self.store = store;
        self
    }

    /// Calls `until` before each batch of a table, on any thread, and fails with [`StateError::Cancelled`]
    /// once `until` returns true. Lines are not cancelled.
    pub fn until(mut self, until: &'a (dyn Fn() -> bool + Sync)) -> ExportOptions<'a> {
        self.until = Some(until);
        self
    }
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// The number of vertices.
    pub vertices: u64,
    /// The number of edges.
    pub edges: u64,
    /// The number of labels, the default one included.
    pub labels: usize,
    /// The files, `schema.json` last.
    pub files: Vec<PathBuf>,
}

/// Writes all that a snapshot has into `dir`, which must not exist or be empty. After a failure the
/// directory is as before. Tables are written in parallel on the current rayon pool; each thread takes the
/// memory of a few batches.
///
/// # Errors
/// [`Error::Refused`]: `dir` has content or is inside the store, `partitions` is 0, or lines are asked for in
/// parts. [`Error::Store`], [`Error::Write`].
pub fn export(snapshot: &Snapshot, dir: &Path, options: &ExportOptions<'_>) -> Result<Exported, Error> {
    let (schema, config) = (snapshot.schema(), snapshot.config());
    let ranges = parts(snapshot, options)?;
    let mut files = Directory::create(options.store, dir)?;
    let mut written = match options.format.of_table() {
        None => write_lines(&mut files, snapshot, &schema)?,
        Some(format) => write_tables(&mut files, snapshot, &schema, (format, &ranges), options)?,
    };
    let of_labels = written.split_off(written.len() - schema.labels().len());
    let count = |tables: &[Written]| tables.iter().flatten().map(|(_, rows)| rows).sum();
    let (vertices, edges) = (count(&written), count(&of_labels));
    let description = describe(config, &schema, &written, &of_labels, ranges.len() > 1);
    files.write(SCHEMA_FILE, |to| to.write(|w| writeln!(w, "{description:#}")))?;
    files.done = true;
    let names = std::mem::take(&mut files.files);
    Ok(Exported { vertices, edges, labels: schema.labels().len(), files: names })
}

/// The files of a table, each with its number of rows.
type Written = Vec<(String, u64)>;

/// Returns the parts into which each table is divided; none if it is one file.
fn parts(snapshot: &Snapshot, options: &ExportOptions<'_>) -> Result<Vec<Range<VertexId>>, Error> {
    if options.partitions > 1 && options.format == ExportFormat::Csv {
        return Err(Error::Refused("parts are files of parquet or arrow, not of csv".to_owned()));
    }
    let ranges = snapshot.partitions(options.partitions)?;
    Ok(if ranges.len() > 1 { ranges } else { Vec::new() })
}

/// Writes the files of lines: those of the kinds, then those of the labels.
fn write_lines(files: &mut Directory, snapshot: &Snapshot, schema: &Schema) -> Result<Vec<Written>, Error> {
    let (mut open, mut names) = (Vec::new(), Vec::new());
    for (kind, _) in kinds(schema, snapshot.config().keys) {
        let name = format!("{}.csv", vertex_file_name(schema, kind));
        let properties = schema.vertex_properties_of(kind).collect();
        open.push(VertexFile::begin(kind, properties, DELIMITER, files.open(&name)?)?);
        names.push(name);
    }
    write_vertex_rows(snapshot, &mut open, DELIMITER)?;
    let mut written = Vec::new();
    for (file, name) in open.into_iter().zip(names) {
        let rows = file.finish()?;
        files.add(&name);
        written.push(vec![(name, rows)]);
    }
    for label in schema.labels() {
        let weighted = snapshot.config().weighted && label.name().is_empty();
        let name = format!("{}.csv", edge_file_name(label));
        let rows = files.write(&name, |to| {
            write_edge_rows(snapshot, label, label.properties(), weighted, DELIMITER, to)
        })?;
        written.push(vec![(name, rows)]);
    }
    Ok(written)
}

/// A file of a table that is written.
struct Job<'a> {
    name: String,
    /// The place of its table.
    table: usize,
    rows: Rows<'a>,
    within: Option<Range<VertexId>>,
}

#[derive(Clone, Copy)]
enum Rows<'a> {
    Vertices(KindId),
    Edges(&'a Label),
}

/// Writes the tables, those of the kinds and then those of the labels, in parallel.
fn write_tables(
    files: &mut Directory,
    snapshot: &Snapshot,
    schema: &Schema,
    (format, ranges): (FileFormat, &[Range<VertexId>]),
    options: &ExportOptions<'_>,
) -> Result<Vec<Written>, Error> {
    let of_kinds = kinds(schema, snapshot.config().keys)
        .map(|(kind, _)| (vertex_file_name(schema, kind), Rows::Vertices(kind)));
    let of_labels = schema.labels().iter().map(|label| (edge_file_name(label), Rows::Edges(label)));
    let (mut jobs, mut tables) = (Vec::new(), 0);
    let ending = options.format.ending();
    for (table, (name, rows)) in of_kinds.chain(of_labels).enumerate() {
        tables += 1;
        if ranges.is_empty() {
            jobs.push(Job { name: format!("{name}.{ending}"), table, rows, within: None });
        }
        for (part, range) in ranges.iter().enumerate() {
            let name = format!("{name}.{part}.{ending}");
            jobs.push(Job { name, table, rows, within: Some(range.clone()) });
        }
    }
    // From now on a failure removes them.
    jobs.iter().for_each(|job| files.add(&job.name));
    let next = || match options.until {
        Some(until) if until() => Err(Error::Store(StateError::Cancelled.into())),
        _ => Ok(()),
    };
    let directory: &Directory = files;
    let write = |job: &Job<'_>| {
        next()?;
        let of_part = TableOptions::new();
        let of_part = job.within.clone().map_or(of_part.clone(), |range| of_part.within(range));
        let to = directory.open(&job.name)?;
        let (rows, to) = match job.rows {
            Rows::Vertices(kind) => tables::write_vertices(snapshot, kind, &of_part, format, to, &next)?,
            Rows::Edges(label) => tables::write_edges(snapshot, label, &of_part, format, to, &next)?,
        };
        to.finish().map(|()| rows)
    };
    let counts = hedgerow_par::map(jobs.par_iter(), write);
    let mut written = vec![Written::new(); tables];
    for (job, rows) in jobs.into_iter().zip(counts) {
        written[job.table].push((job.name, rows?));
    }
    Ok(written)
}

/// Returns the content of `schema.json`. `of_kinds` and `of_labels` have the files of each.
fn describe(
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
fn vertex_file_name(schema: &Schema, kind: KindId) -> String {
    match schema.kind_name(kind) {
        "" => "vertices".to_owned(),
        name => format!("vertices-{}-{}", kind.0, harmless(name)),
    }
}

/// Returns the name of a label's file, without its ending. The label's id distinguishes labels whose names
/// become equal in file names.
fn edge_file_name(label: &Label) -> String {
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

/// The directory of an export. If it is dropped before the export is complete, the files written are removed.
struct Directory {
    path: PathBuf,
    /// True if the export made the directory.
    made: bool,
    files: Vec<PathBuf>,
    done: bool,
}

impl Directory {
    fn create(store: Option<&Path>, path: &Path) -> Result<Directory, Error> {
        let shown = path.display();
        let failed = |source| Error::Write { to: shown.to_string(), source };
        let exists = path.symlink_metadata().is_ok();
        if !is_vacant(path) {
            let what = if path.is_dir() { "is not empty" } else { "is not a directory" };
            let message = format!("{shown} {what}: an export goes into a new directory or an empty one");
            return Err(Error::Refused(message));
        }
        if !exists {
            std::fs::create_dir(path).map_err(failed)?;
        }
        let directory = Directory { path: path.to_owned(), made: !exists, files: Vec::new(), done: false };
        // The directory of a store contains only its own files.
        let inside = |store: PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(store));
        if store.is_some_and(|store| store.canonicalize().is_ok_and(inside)) {
            return Err(Error::Refused(format!("{shown} is inside the store")));
        }
        Ok(directory)
    }

    /// Writes one file. The file gets its final name when it is complete.
    fn write<T>(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut Target) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut to = self.open(name)?;
        let written = content(&mut to)?;
        to.finish()?;
        self.add(name);
        Ok(written)
    }

    /// Begins a file. The export owns it from the call of [`add`](Self::add) on.
    fn open(&self, name: &str) -> Result<Target, Error> {
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
