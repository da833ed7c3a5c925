//! Salvage: making a new store from the readable data of a damaged one.
//!
//! All used bytes have passed their checksums. The newest readable image of a subgraph is used, with the
//! newer deltas; the log is also read after damage. The old store is never changed. `docs/design/salvage.md`
//! has the rules.

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::{Error, OpenError, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{GraphConfig, Timestamp};
use hedgerow_io::{
    Access, Dir, FileError, FileHeader, FileId, FileKind, FormatError, HEADER_BYTES, LockHeld, Lsn, RealFs,
    StoreId, Vfs, machine,
};
use hedgerow_log::{LogFinding, Witness, parse_segment_name};
use hedgerow_pager::limits::LEAST_MEMORY_LIMIT;
use hedgerow_pager::sort_newest_first;
use hedgerow_tier::Manifest;
use hedgerow_tier::manifest::segment_id;
use hedgerow_tier::segment::{SegmentInfo, read_damaged};
use hedgerow_tier::sorter::Sorter;
use hedgerow_tier::temporary::TemporaryDirectory;

use super::backup::remove_files;
use super::new_store::NewStore;
use super::rebuild::Rebuilt;
use super::salvage_report::SalvageReport;
use super::salvaged::SalvagedGraph;
use super::{check_vacant, io_error, refuse_inside, vacant};
use crate::open::LOCK;

/// The divisor of the memory limit: one share for each of two sorters at work, one for vertices and keys.
const SHARE: u64 = 4;

/// Makes a new store in the directory `into` from the undamaged data of the store in the directory `path`.
/// `into` must be empty or not exist. Changes nothing at `path`, which must not be open for writing. Takes at
/// most half of the available memory, as [`salvage_within`] explains.
///
/// # Errors
/// The errors of [`salvage_within`].
pub fn salvage(path: impl AsRef<Path>, into: impl AsRef<Path>) -> Result<SalvageReport> {
    salvage_dirs(path.as_ref(), into.as_ref(), default_limit())
}

/// Salvages like [`salvage`], within `memory_limit` bytes: half of them sort edges, a quarter is for vertices
/// and their keys. All else goes to temporary files at `into`. For each end of an edge these take about 35
/// bytes when it is read, 30 when it is written, and its properties; twice as much while files are merged. A
/// vertex takes about 100 bytes and three times its key. In addition memory holds a byte for each vertex, a
/// page of images, a commit, and one image, which for a hub is its whole list. O(edges log edges).
///
/// # Errors
/// [`OpenError::Locked`]; [`OpenError::NotAStore`] if there is no file of a store;
/// [`OpenError::FutureVersion`] and [`OpenError::OldVersion`] if all files are of another format;
/// [`OpenError::MemoryLimit`] for a limit below [`LEAST_MEMORY_LIMIT`]; an
/// [`ArgumentError`](crate::ArgumentError) if `into` has content, or is the store's directory or below it;
/// those of [`Graph::backup`](crate::Graph::backup) for the new store, a full disk among them, after which
/// its files are removed as far as possible. Damage is no error: the report lists it.
pub fn salvage_within(
    path: impl AsRef<Path>,
    into: impl AsRef<Path>,
    memory_limit: u64,
) -> Result<SalvageReport> {
    if memory_limit < LEAST_MEMORY_LIMIT {
        return Err(OpenError::MemoryLimit { limit: memory_limit, least: LEAST_MEMORY_LIMIT }.into());
    }
    salvage_dirs(path.as_ref(), into.as_ref(), memory_limit)
}

fn salvage_dirs(path: &Path, into: &Path, memory_limit: u64) -> Result<SalvageReport> {
    let fs = RealFs::open_dir(path).map_err(io_error(path, "open"))?;
    let fs: Arc<dyn Vfs> = Arc::new(fs);
    // Looks for a store before it makes a file at `into`.
    let source = Source::find(&fs)?;
    refuse_inside(&*fs, into)?;
    salvage_from(source, vacant(into)?, memory_limit)
}

/// Salvages like [`salvage`], on directories behind the file-system trait.
///
/// # Errors
/// The errors of [`salvage`].
pub fn salvage_on(fs: Arc<dyn Vfs>, into: Arc<dyn Vfs>) -> Result<SalvageReport> {
    salvage_on_within(fs, into, default_limit())
}

/// Salvages like [`salvage_on`], within a memory limit, however low.
///
/// # Errors
/// The errors of [`salvage_on`].
#[doc(hidden)]
pub fn salvage_on_within(fs: Arc<dyn Vfs>, into: Arc<dyn Vfs>, memory_limit: u64) -> Result<SalvageReport> {
    check_vacant(&into)?;
    salvage_from(Source::find(&fs)?, into, memory_limit)
}

/// Returns half of the memory that is available to the process.
fn default_limit() -> u64 {
    machine::memory_bytes().map_or(u64::MAX, |bytes| bytes / 2)
}

/// The files to read.
pub(super) struct Source {
    pub(super) fs: Arc<dyn Vfs>,
    pub(super) store: StoreId,
    pub(super) manifest: Option<Manifest>,
    /// The segments, newest first.
    pub(super) segments: Vec<(FileId, Option<SegmentInfo>)>,
    logs: Vec<FileId>,
    pub(super) report: SalvageReport,
    _lock: Option<Box<dyn hedgerow_io::VfsLock>>,
}

impl Source {
    fn find(fs: &Arc<dyn Vfs>) -> Result<Source> {
        let names = fs.list().map_err(io_error(fs.path(), "list"))?;
        // Does not make a missing lock file, since salvage must change nothing in this directory.
        let lock = fs.lock_existing(LOCK).map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => Error::Open(OpenError::Locked {
                path: fs.path().display().to_string(),
                holder: LockHeld::holder_in(&error),
            }),
            _ => io_error(fs.path(), "lock")(error),
        })?;
        let mut report = SalvageReport::default();
        let mut manifest = None;
        for (name, read) in Manifest::all(fs)? {
            match read {
                Ok(found) => {
                    manifest = Some(found);
                    break;
                }
                Err(error) => report.lose(format_args!("{name}: {error}")),
            }
        }
        let named = manifest.as_ref().map(|manifest: &Manifest| manifest.store);
        let store = named.map_or_else(|| stated_store(fs, &names), Ok)?;
        let (segments, logs) = match &manifest {
            Some(found) if report.losses.is_empty() => {
                let named = found.segments.iter().map(|s| (s.info.file_id, Some(s.info)));
                (named.collect(), found.logs.iter().map(|log| log.id).collect())
            }
            // An older manifest does not name all files, and there may be none.
            _ => {
                let info = |id| {
                    let named = manifest.iter().flat_map(|m| &m.segments);
                    named.map(|s| s.info).find(|info| info.file_id == id)
                };
                let segments = names.iter().filter_map(|name| segment_id(name)).map(|id| (id, info(id)));
                (segments.collect(), names.iter().filter_map(|name| parse_segment_name(name)).collect())
            }
        };
        let mut source = Source { fs: fs.clone(), store, manifest, segments, logs, report, _lock: lock };
        sort_newest_first(&mut source.segments, |(id, _)| *id);
        source.logs.sort();
        Ok(source)
    }

    /// Returns the settings of the graph. If no manifest has them, reads segments to find them.
    fn find_config(&self) -> Option<GraphConfig> {
        let of_segment = |(id, info): &(FileId, Option<SegmentInfo>)| {
            let file = (*id, self.store);
            read_damaged(&self.fs, file, info.as_ref(), None, &mut |_| {}, &mut |_| {}).ok().flatten()
        };
        let named = self.manifest.as_ref().map(|manifest| manifest.config);
        named.or_else(|| self.segments.iter().find_map(of_segment))
    }

    /// Adds the commits that the segments lack to `salvaged`; continues reading the log after each damage.
    fn read_log(&mut self, salvaged: &mut SalvagedGraph, checkpoint: Timestamp) {
        let report = &mut self.report;
        report.timestamp = checkpoint;
        if self.logs.is_empty() {
            return;
        }
        let durable = self.manifest.as_ref().map_or(Lsn::ZERO, |manifest| manifest.durable_lsn);
        let witness = Witness { store: self.store, live: &self.logs, durable };
        let mut take = |finding: LogFinding<'_>| match finding {
            LogFinding::Commit(commit, ops) => {
                ops.for_each(|op| salvaged.apply(op));
                report.commits += 1;
                report.timestamp = commit.ts;
            }
            // Later findings report the loss that this damage caused, if any.
            LogFinding::Damage(error) => report.damage(error),
            LogFinding::Lost { first, last } => {
                let count = report.lose_commits(first, last);
                salvaged.lose_commits(count);
            }
            LogFinding::Tail { error, bytes } => report.lose_tail(&error, bytes),
            other => report.lose(format_args!("{other:?}")),
        };
        if let Err(error) = hedgerow_log::read_damaged(self.fs.clone(), witness, checkpoint, &mut take) {
            report.lose(format_args!("the log: {error}"));
        }
    }
}

fn salvage_from(mut source: Source, into: Arc<dyn Vfs>, memory_limit: u64) -> Result<SalvageReport> {
    let schema = match source.manifest.as_ref().map(crate::durable::sections::schema) {
        Some(Ok(schema)) => schema,
        Some(Err(what)) => {
            source.report.lose(format_args!("the schema: {what}"));
            Schema::default()
        }
        None => Schema::default(),
    };
    let Some(config) = source.find_config() else {
        return Err(OpenError::NotAStore {
            path: source.fs.path().display().to_string(),
            reason: "neither a manifest nor a segment says what kind of graph it is".into(),
        }
        .into());
    };
    let _lock = Dir::new(into.clone()).lock(LOCK)?;
    let temporary = TemporaryDirectory::new(into.clone(), "salvage");
    let share = usize::try_from(memory_limit / SHARE).unwrap_or(usize::MAX);
    let [edges, copies] = [(); 2].map(|()| Sorter::new(&temporary, share));
    let salvaged = SalvagedGraph::new((config, &schema), edges, &temporary, share);
    let done =
        read_and_write((source, &schema), salvaged, copies, NewStore::new(into.clone(), config, share));
    if done.is_err() {
        remove_files(&into);
    }
    done
}

fn read_and_write(
    (mut source, schema): (Source, &Schema),
    mut salvaged: SalvagedGraph,
    copies: Sorter,
    into: NewStore,
) -> Result<SalvageReport> {
    let checkpoint = source.read_segments(schema, &mut salvaged);
    if !source.report.is_whole() {
        salvaged.distrust();
    }
    source.read_log(&mut salvaged, checkpoint);
    salvaged.end_log()?;
    finish(source.report, salvaged.rebuild(copies, into)?)
}

fn finish(mut report: SalvageReport, rebuilt: Rebuilt) -> Result<SalvageReport> {
    report.lost_edges = rebuilt.dangling;
    (report.doubtful_vertices, report.doubtful_edges) = rebuilt.doubtful;
    for name in &rebuilt.made_up {
        report.lose(format_args!("the lost name that {name:?} now replaces"));
    }
    report.sum_up(&[
        (rebuilt.dangling, "edges one end of which is lost"),
        (rebuilt.halves, "edges of which properties may be lost"),
        (rebuilt.bare, "vertices known only by their edges: their properties may be lost"),
        (rebuilt.stripped, "vertices of which properties may be lost"),
        (rebuilt.repeated, "vertices with the key of another one, which was written later"),
        (rebuilt.replaced, "vertices that lost commits removed, as later commits show"),
    ]);
    (report.vertices, report.edges) = (rebuilt.vertices, rebuilt.edges);
    Ok(report)
}

/// Returns the identity of the store that most files belong to.
///
/// # Errors
/// [`OpenError::NotAStore`] if no header has one; if a header names another format, the error that names it.
fn stated_store(fs: &Arc<dyn Vfs>, names: &[String]) -> Result<StoreId> {
    let dir = Dir::new(fs.clone());
    let header_of = |name: &String| {
        let kind = match name.rsplit_once('.')?.1 {
            "csr" => FileKind::Segment,
            "wal" => FileKind::Log,
            "man" => FileKind::Manifest,
            _ => return None,
        };
        let mut raw = [0; HEADER_BYTES];
        dir.open(name, Access::Read).ok()?.read_exact_at(&mut raw, 0).ok()?;
        Some(FileHeader::decode(&raw, kind))
    };
    let (mut stores, mut other_format) = (Vec::new(), None);
    for name in names {
        match header_of(name) {
            Some(Ok(header)) => stores.push(header.store),
            Some(Err(error @ (FormatError::FutureVersion { .. } | FormatError::OldVersion { .. }))) => {
                other_format = Some(FileError::Format { file: name.clone(), error });
            }
            _ => {}
        }
    }
    let most = stores.iter().max_by_key(|store| stores.iter().filter(|other| other == store).count());
    match (most, other_format) {
        (Some(store), _) => Ok(*store),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(OpenError::NotAStore {
            path: fs.path().display().to_string(),
            reason: "no file in it is one of a store".into(),
        }
        .into()),
    }
}
