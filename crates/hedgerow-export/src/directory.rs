//! An export into a directory: a file of edges for each label, a file of vertices for each kind, and
//! `schema.json`, which names these files.
//!
//! `schema.json` is written last: a directory without it is no complete export.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow::{KindId, Label, Schema, Snapshot, StateError, VertexId};
use hedgerow_arrow::TableOptions;
use hedgerow_arrow::files::FileFormat;
use rayon::prelude::*;

use crate::Error;
use crate::describe::{Written, describe, edge_file_name, vertex_file_name};
use crate::layout::{DELIMITER, SCHEMA_FILE};
use crate::rows::{VertexFile, write_edge_rows, write_vertex_rows};
use crate::tables;
use crate::target::Target;
use crate::text::{is_vacant, kinds};

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
    progress: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl<'a> ExportOptions<'a> {
    /// Returns options for one file a table, in this format.
    pub fn new(format: ExportFormat) -> ExportOptions<'a> {
        ExportOptions { format, partitions: 1, store: None, until: None, progress: None }
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

    /// Passes on the number of rows written since the last call.
    fn poll(&self, rows: u64) -> Result<(), Error> {
        if let Some(progress) = self.progress {
            progress(rows);
        }
        match self.until {
            Some(until) if until() => Err(Error::Store(StateError::Cancelled.into())),
            _ => Ok(()),
        }
    }

    /// Calls `until` before each batch of a table or some thousand lines, on any thread, and fails with
    /// [`StateError::Cancelled`] once `until` returns true.
    pub fn until(mut self, until: &'a (dyn Fn() -> bool + Sync)) -> ExportOptions<'a> {
        self.until = Some(until);
        self
    }

    /// Calls `progress` after each batch of a table or some thousand lines, on any thread, with the number of
    /// rows written since its last call. The rows are all vertices and all edges.
    pub fn progress(mut self, progress: &'a (dyn Fn(u64) + Sync)) -> ExportOptions<'a> {
        self.progress = Some(progress);
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
/// [`Error::Refused`]: `dir` has content or is inside the store, or lines are asked for in parts.
/// [`Error::Store`]: `partitions` is 0, or a read of the snapshot fails. [`Error::Table`], [`Error::Write`].
pub fn export(snapshot: &Snapshot, dir: &Path, options: &ExportOptions<'_>) -> Result<Exported, Error> {
    let (schema, config) = (snapshot.schema(), snapshot.config());
    let ranges = parts(snapshot, options)?;
    let in_parts = ranges.is_some();
    let mut files = Directory::create(options.store, dir)?;
    let mut written = match options.format.of_table() {
        None => write_lines(&mut files, snapshot, &schema, options)?,
        Some(format) => {
            let ranges = ranges.unwrap_or_default();
            write_tables(&mut files, snapshot, &schema, (format, &ranges), options)?
        }
    };
    let of_labels = written.split_off(written.len() - schema.labels().len());
    let count = |tables: &[Written]| tables.iter().flatten().map(|(_, rows)| rows).sum();
    let (vertices, edges) = (count(&written), count(&of_labels));
    let description = describe(config, &schema, &written, &of_labels, in_parts);
    options.poll(0)?;
    files.write(SCHEMA_FILE, |to| to.write(|w| writeln!(w, "{description:#}")))?;
    files.done = true;
    let names = std::mem::take(&mut files.files);
    Ok(Exported { vertices, edges, labels: schema.labels().len(), files: names })
}

/// Returns the parts into which each table is divided; `None` if each table is one file.
fn parts(snapshot: &Snapshot, options: &ExportOptions<'_>) -> Result<Option<Vec<Range<VertexId>>>, Error> {
    if options.partitions == 1 {
        return Ok(None);
    }
    if options.format == ExportFormat::Csv {
        return Err(Error::Refused("parts are files of parquet or arrow, not of csv".to_owned()));
    }
    let ranges = snapshot.partitions(options.partitions)?;
    // Also a graph without vertices has a file for each table.
    let none = VertexId(0)..VertexId(0);
    Ok(Some(if ranges.is_empty() { vec![none] } else { ranges }))
}

/// Writes the files of lines: those of the kinds, then those of the labels.
fn write_lines(
    files: &mut Directory,
    snapshot: &Snapshot,
    schema: &Schema,
    options: &ExportOptions<'_>,
) -> Result<Vec<Written>, Error> {
    let next = |rows| options.poll(rows);
    let (mut open, mut names) = (Vec::new(), Vec::new());
    for (kind, _) in kinds(schema, snapshot.config().keys) {
        let name = format!("{}.csv", vertex_file_name(schema, kind));
        let properties = schema.vertex_properties_of(kind).collect();
        open.push(VertexFile::begin(kind, properties, DELIMITER, files.open(&name)?)?);
        names.push(name);
    }
    write_vertex_rows(snapshot, &mut open, DELIMITER, &next)?;
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
            write_edge_rows(snapshot, label, label.properties(), weighted, DELIMITER, to, &next)
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
    let next = |rows| options.poll(rows);
    let directory: &Directory = files;
    let write = |job: &Job<'_>| {
        next(0)?;
        let of_part = TableOptions::new();
        let of_part = job.within.clone().map_or(of_part.clone(), |range| of_part.within(range));
        let to = directory.open(&job.name)?;
        let (rows, to) = match job.rows {
            Rows::Vertices(kind) => tables::write_vertices(snapshot, kind, &of_part, format, to, &next)?,
            Rows::Edges(label) => tables::write_edges(snapshot, label, &of_part, format, to, &next)?,
        };
        to.finish().map(|()| rows)
    };
    // Each thread writes one table at a time: in a loop over the jobs, a thread that waits for keys would
    // begin another table meanwhile.
    let place = AtomicUsize::new(0);
    let work = |_: usize| {
        let mut done = Vec::new();
        loop {
            let at = place.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return Ok::<_, Error>(done) };
            done.push((at, write(job)?));
        }
    };
    let threads = hedgerow_par::threads().clamp(1, jobs.len().max(1));
    let mut counts = vec![0; jobs.len()];
    for done in hedgerow_par::map((0..threads).into_par_iter(), work) {
        done?.into_iter().for_each(|(at, rows)| counts[at] = rows);
    }
    let mut written = vec![Written::new(); tables];
    for (job, rows) in jobs.into_iter().zip(counts) {
        written[job.table].push((job.name, rows));
    }
    Ok(written)
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
