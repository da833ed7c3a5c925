//! Salvage: a new store of what is left of a damaged one.
//!
//! What is used has passed its checksums. Of the images of a subgraph the newest that can be read is taken; the log is
//! followed up to the first damage. The old store is only read.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{SubgraphId, Timestamp};
use hedgerow_io::{
    Access, Dir, FileHeader, FileId, FileKind, HEADER_BYTES, LockHeld, Lsn, RealFs, StoreId, Vfs,
};
use hedgerow_log::{Witness, parse_segment_name, recover_commits};
use hedgerow_tier::manifest::segment_id;
use hedgerow_tier::segment::{SegmentInfo, read_damaged, segment_name};
use hedgerow_tier::{Manifest, SubgraphImage};

use super::wreck::Wreck;
use super::{check_vacant, io_error, vacant};
use crate::error::{Error, Result};
use crate::open::{LOCK, from_tier};
use crate::schema::Schema;

/// At most so many losses are described.
const MAX_LOSSES: usize = 1000;

/// What was saved, and what was lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvageReport {
    /// Vertices in the new store.
    pub vertices: u64,
    /// Edges in the new store.
    pub edges: u64,
    /// Subgraphs read from segments.
    pub subgraphs: u64,
    /// Commits read from the log.
    pub commits: u64,
    /// The last commit that was read, or that a segment holds.
    pub timestamp: Timestamp,
    /// Subgraphs that are known to be lost, or of which an older image had to do.
    pub lost_subgraphs: u64,
    /// Edges left out because one of their ends is lost.
    pub lost_edges: u64,
    /// What was lost or uncertain, at most 1,000 items; empty if the store was sound.
    pub losses: Vec<String>,
}

impl SalvageReport {
    /// Whether nothing was lost.
    pub fn is_whole(&self) -> bool {
        self.losses.is_empty()
    }

    fn lose(&mut self, what: impl fmt::Display) {
        if self.losses.len() < MAX_LOSSES {
            self.losses.push(what.to_string());
        }
    }
}

impl fmt::Display for SalvageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} vertices and {} edges saved, up to commit {}",
            self.vertices, self.edges, self.timestamp
        )?;
        self.losses.iter().try_for_each(|loss| writeln!(f, "lost: {loss}"))
    }
}

/// Reads what can be read of the store in the directory `path`, whatever is damaged, and makes a new store of it in the
/// directory `into`, which must not exist or be empty. Changes nothing at `path`, which must not be open for writing.
///
/// The graph is rebuilt in memory: about 140 bytes for each edge, and what the graph itself takes. O(edges log edges).
///
/// # Errors
/// [`Error::Locked`]; [`Error::NotAStore`] where there is no file of a store at all; [`Error::InvalidArgument`] where
/// there is something at `into`; those of [`Graph::backup`](crate::Graph::backup) for the new store. Damage is no
/// error: the report tells of it.
pub fn salvage(path: impl AsRef<Path>, into: impl AsRef<Path>) -> Result<SalvageReport> {
    let fs = RealFs::open_dir(&path).map_err(io_error(path.as_ref(), "open"))?;
    let fs: Arc<dyn Vfs> = Arc::new(fs);
    // Looked at before anything is made at `into`.
    let source = Source::find(&fs)?;
    salvage_from(source, vacant(into.as_ref())?)
}

/// As [`salvage`], on directories behind the file-system trait.
///
/// # Errors
/// As of that.
pub fn salvage_on(fs: Arc<dyn Vfs>, into: Arc<dyn Vfs>) -> Result<SalvageReport> {
    check_vacant(&into)?;
    salvage_from(Source::find(&fs)?, into)
}

/// What there is to read.
struct Source {
    fs: Arc<dyn Vfs>,
    store: StoreId,
    manifest: Option<Manifest>,
    /// The segments, newest first.
    segments: Vec<(FileId, Option<SegmentInfo>)>,
    logs: Vec<FileId>,
    report: SalvageReport,
    _lock: Option<Box<dyn hedgerow_io::VfsLock>>,
}

impl Source {
    fn find(fs: &Arc<dyn Vfs>) -> Result<Source> {
        let names = fs.list().map_err(io_error(fs.path(), "list"))?;
        // The lock file is not made where there is none: nothing is changed here.
        let lock = fs.lock_existing(LOCK).map_err(|error| match error.kind() {
            std::io::ErrorKind::WouldBlock => {
                Error::Locked { path: fs.path().display().to_string(), holder: LockHeld::holder_in(&error) }
            }
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
        let store = manifest.as_ref().map(|found| found.store).or_else(|| stated_store(fs, &names));
        let store = store.ok_or_else(|| Error::NotAStore {
            path: fs.path().display().to_string(),
            reason: "no file in it is one of a store".into(),
        })?;
        let (segments, logs) = match &manifest {
            Some(found) if report.losses.is_empty() => {
                let named = found.segments.iter().map(|s| (s.info.file_id, Some(s.info)));
                (named.collect(), found.logs.iter().map(|log| log.id).collect())
            }
            // What an older manifest says, or none, is not all there is.
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
        source.segments.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        source.logs.sort();
        Ok(source)
    }

    /// Reads all segments, newest first; gives each image that is the newest of its subgraph to `found`. Returns the
    /// configuration of the graph, and up to where the segments hold it.
    fn read_segments(
        &mut self,
        found: &mut dyn FnMut(SubgraphImage),
    ) -> (Option<hedgerow_tier::GraphConfig>, Timestamp) {
        let mut config = self.manifest.as_ref().map(|manifest| manifest.config);
        let mut checkpoint = self.manifest.as_ref().map_or(Timestamp::ZERO, |m| m.checkpoint);
        let (mut seen, mut missed): (BTreeSet<SubgraphId>, BTreeSet<SubgraphId>) = Default::default();
        let report = &mut self.report;
        for (id, info) in &self.segments {
            let name = segment_name(*id);
            let mut losses = Vec::new();
            let mut take = |image: SubgraphImage| {
                checkpoint = checkpoint.max(image.as_of);
                if seen.insert(image.id) {
                    found(image);
                }
            };
            let read =
                read_damaged(&self.fs, (*id, self.store), info.as_ref(), config, &mut take, &mut |loss| {
                    losses.push(loss)
                });
            match read {
                Ok(stated) => config = config.or(stated),
                Err(error) => report.lose(format_args!("{name}: {error}")),
            }
            for loss in losses {
                match loss.subgraph {
                    Some(_) if faults::is_on(PlantedFault::SalvageSilent) => {}
                    Some(subgraph) if !seen.contains(&subgraph) => {
                        missed.insert(subgraph);
                        report.lose(format_args!("{name}, subgraph {}: {}", subgraph.0, loss.error));
                    }
                    Some(_) => {}
                    None => report.lose(format_args!("{name}: {}", loss.error)),
                }
            }
        }
        for subgraph in missed.intersection(&seen) {
            report.lose(format_args!("subgraph {}: an older image had to do", subgraph.0));
        }
        report.lost_subgraphs = missed.len() as u64;
        report.subgraphs = seen.len() as u64;
        (config, checkpoint)
    }

    /// Follows the log up to its end or the first damage; gives each commit that the segments do not hold to `wreck`.
    fn read_log(&mut self, wreck: &mut Wreck, checkpoint: Timestamp) {
        self.report.timestamp = checkpoint;
        if self.logs.is_empty() {
            return;
        }
        let durable = self.manifest.as_ref().map_or(Lsn::ZERO, |manifest| manifest.durable_lsn);
        let witness = Witness { store: self.store, live: &self.logs, durable };
        let report = &mut self.report;
        let read = recover_commits(self.fs.clone(), witness, |commit, ops| {
            if commit.ts > checkpoint {
                ops.for_each(|op| wreck.apply(op));
                report.commits += 1;
                report.timestamp = commit.ts;
            }
            Ok::<(), std::convert::Infallible>(())
        });
        let last = report.timestamp;
        if let Err(error) = read {
            report.lose(format_args!("the log after commit {last}: {error}"));
        }
    }
}

fn salvage_from(mut source: Source, into: Arc<dyn Vfs>) -> Result<SalvageReport> {
    let schema = match source.manifest.as_ref().map(crate::sections::schema) {
        Some(Ok(schema)) => schema,
        Some(Err(what)) => {
            source.report.lose(format_args!("the schema: {what}"));
            Schema::default()
        }
        None => Schema::default(),
    };
    let mut images = Vec::new();
    let (config, checkpoint) = source.read_segments(&mut |image| images.push(image));
    let Some(config) = config else {
        return Err(Error::NotAStore {
            path: source.fs.path().display().to_string(),
            reason: "neither a manifest nor a segment says what kind of graph it is".into(),
        });
    };
    let mut wreck = Wreck::new(from_tier(config), schema);
    // Each goes as soon as it is taken apart: the two are not to stand side by side.
    images.into_iter().for_each(|image| wreck.add_image(&image));
    source.read_log(&mut wreck, checkpoint);
    let rebuilt = wreck.rebuild()?;
    let mut report = source.report;
    report.lost_edges = rebuilt.dangling;
    for (count, what) in [
        (rebuilt.dangling, "edges one end of which is lost"),
        (rebuilt.halves, "edges of which properties of variable length may be lost"),
        (rebuilt.repeated, "vertices with the key of another one"),
    ] {
        if count > 0 {
            report.lose(format_args!("{count} {what}"));
        }
    }
    let snapshot = rebuilt.graph.snapshot()?;
    (report.vertices, report.edges) = (snapshot.vertex_count(), snapshot.edge_count());
    rebuilt.graph.backup_on(into)?;
    Ok(report)
}

/// The store that most files belong to.
fn stated_store(fs: &Arc<dyn Vfs>, names: &[String]) -> Option<StoreId> {
    let dir = Dir::new(fs.clone());
    let store_of = |name: &String| {
        let kind = match name.rsplit_once('.')?.1 {
            "csr" => FileKind::Segment,
            "wal" => FileKind::Log,
            "man" => FileKind::Manifest,
            _ => return None,
        };
        let mut raw = [0; HEADER_BYTES];
        dir.open(name, Access::Read).ok()?.read_exact_at(&mut raw, 0).ok()?;
        Some(FileHeader::decode(&raw, kind).ok()?.store)
    };
    let stores: Vec<StoreId> = names.iter().filter_map(store_of).collect();
    stores.iter().max_by_key(|store| stores.iter().filter(|other| other == store).count()).copied()
}
