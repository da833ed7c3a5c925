//! Salvage: a new store of what is left of a damaged one.
//!
//! What is used has passed its checksums. Of the images of a subgraph the newest that can be read is taken; the log is
//! read on behind every damage. The old store is only read. The rules, and what is doubtful, are in `docs/design/salvage.md`.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{GraphConfig, LabelId, SubgraphId, Timestamp};
use hedgerow_io::{
    Access, Dir, FileHeader, FileId, FileKind, HEADER_BYTES, LockHeld, Lsn, RealFs, StoreId, Vfs,
};
use hedgerow_log::{LogFinding, Witness, parse_segment_name};
use hedgerow_tier::manifest::segment_id;
use hedgerow_tier::segment::{SegmentInfo, SegmentLoss, read_damaged, segment_name};
use hedgerow_tier::{ImageId, ImageScope, Manifest, SubgraphImage};

use super::report::SalvageReport;
use super::salvaged::SalvagedGraph;
use super::{check_vacant, io_error, refuse_inside, vacant};
use crate::error::{Error, OpenError, Result};
use crate::open::LOCK;
use crate::state::schema::Schema;

/// Reads what can be read of the store in the directory `path`, whatever is damaged, and makes a new store of it in the
/// directory `into`, which must not exist or be empty. Changes nothing at `path`, which must not be open for writing.
///
/// The graph is rebuilt in memory: about 140 bytes for each edge, and what the graph itself takes. O(edges log edges).
///
/// # Errors
/// [`OpenError::Locked`]; [`OpenError::NotAStore`] where there is no file of a store at all; an
/// [`ArgumentError`](crate::ArgumentError) where there is something at `into`, or it is the directory of the store or below it;
/// those of [`Graph::backup`](crate::Graph::backup) for the new store. Damage is no error: the report tells of it.
pub fn salvage(path: impl AsRef<Path>, into: impl AsRef<Path>) -> Result<SalvageReport> {
    let fs = RealFs::open_dir(&path).map_err(io_error(path.as_ref(), "open"))?;
    let fs: Arc<dyn Vfs> = Arc::new(fs);
    // Looked at before anything is made at `into`.
    let source = Source::find(&fs)?;
    refuse_inside(&*fs, into.as_ref())?;
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
        let store = manifest.as_ref().map(|found| found.store).or_else(|| stated_store(fs, &names));
        let store = store.ok_or_else(|| OpenError::NotAStore {
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

    /// Reads all segments, newest first.
    fn read_segments(&mut self) -> Images {
        let mut images = Images {
            config: self.manifest.as_ref().map(|manifest| manifest.config),
            checkpoint: self.manifest.as_ref().map_or(Timestamp::ZERO, |m| m.checkpoint),
            found: Vec::new(),
            newest: KnownImages::default(),
            without_properties: BTreeSet::new(),
        };
        let (mut seen, mut missed): (KnownImages, KnownImages) = Default::default();
        // Once a segment is lost as a whole, any image in an older one may be outdated.
        let mut outdated = false;
        for (id, info) in &self.segments {
            let (mut losses, mut count) = (Vec::new(), 0);
            let mut take = |image: SubgraphImage| {
                images.checkpoint = images.checkpoint.max(image.as_of);
                count += 1;
                let id = image.image_id();
                let all_labels = image.scope == ImageScope::AllLabels;
                if !seen.contains(id) {
                    if !outdated && !missed.contains(id) {
                        images.newest.insert(id, all_labels);
                    }
                    images.found.push(image);
                }
                seen.insert(id, all_labels);
            };
            let read = read_damaged(
                &self.fs,
                (*id, self.store),
                info.as_ref(),
                images.config,
                &mut take,
                &mut |loss| losses.push(loss),
            );
            let whole = info.is_some_and(|info| info.subgraphs == count);
            let lost = tell_losses(&mut self.report, &segment_name(*id), losses, &seen, whole);
            lost.images.into_iter().for_each(|id| missed.insert(id, false));
            outdated |= lost.unknown;
            match read {
                Ok(stated) => images.config = images.config.or(stated),
                Err(error) => {
                    self.report.lose(format_args!("{}: {error}", segment_name(*id)));
                    outdated = true;
                }
            }
        }
        for id in missed.ids().filter(|id| seen.contains(*id)) {
            self.report.lose(format_args!("{id}: an older image had to do"));
        }
        let of_vertices = missed.ids().filter(|id| id.label == LabelId::VERTICES);
        images.without_properties = of_vertices.map(|id| id.subgraph).collect();
        self.report.lost_subgraphs = missed.subgraphs();
        self.report.subgraphs = seen.subgraphs();
        images
    }

    /// Gives each commit of the log that the segments do not hold to `salvaged`, on behind every damage.
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
            LogFinding::Damage(error) => report.lose(error),
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

/// What segments hold.
struct Images {
    config: Option<GraphConfig>,
    /// Up to where.
    checkpoint: Timestamp,
    /// Of each subgraph in each label the newest image that can be read.
    found: Vec<SubgraphImage>,
    /// Those of which that is the newest that there was.
    newest: KnownImages,
    /// The subgraphs whose newest image of the properties of vertices is lost.
    without_properties: BTreeSet<SubgraphId>,
}

/// Which subgraphs are known in which labels.
#[derive(Default)]
struct KnownImages {
    in_label: BTreeSet<ImageId>,
    /// Known by an image of format 1 to 4, which is of all labels.
    in_all: BTreeSet<SubgraphId>,
}

impl KnownImages {
    fn insert(&mut self, id: ImageId, all_labels: bool) {
        self.in_label.insert(id);
        if all_labels {
            self.in_all.insert(id.subgraph);
        }
    }

    fn contains(&self, id: ImageId) -> bool {
        self.in_label.contains(&id) || self.in_all.contains(&id.subgraph)
    }

    fn ids(&self) -> impl Iterator<Item = ImageId> {
        self.in_label.iter().copied()
    }

    /// How many subgraphs are known in some label.
    fn subgraphs(&self) -> u64 {
        self.ids().map(|id| id.subgraph).collect::<BTreeSet<SubgraphId>>().len() as u64
    }
}

/// What a segment cannot say.
struct LostImages {
    images: Vec<ImageId>,
    /// Whether there may be more of which nothing is known.
    unknown: bool,
}

/// Tells of what cannot be read of a segment, of the rest of which everything was read if it is `whole`. Images of what was
/// `seen` in it or in a newer one are not missed.
fn tell_losses(
    report: &mut SalvageReport,
    name: &str,
    losses: Vec<SegmentLoss>,
    seen: &KnownImages,
    whole: bool,
) -> LostImages {
    let mut lost = LostImages { images: Vec::new(), unknown: false };
    for SegmentLoss { image, error } in losses {
        match image {
            Some(_) if faults::is_on(PlantedFault::SalvageSilent) => {}
            Some(image) if !seen.contains(image) => {
                lost.images.push(image);
                report.lose(format_args!("{name}, {image}: {error}"));
            }
            Some(_) => {}
            None => {
                lost.unknown |= !whole;
                report.lose(format_args!("{name}: {error}"));
            }
        }
    }
    if lost.unknown {
        report.lose(format_args!(
            "{name}: what else it held is not known; images in older segments may be outdated"
        ));
    }
    lost
}

fn salvage_from(mut source: Source, into: Arc<dyn Vfs>) -> Result<SalvageReport> {
    let schema = match source.manifest.as_ref().map(crate::durable::sections::schema) {
        Some(Ok(schema)) => schema,
        Some(Err(what)) => {
            source.report.lose(format_args!("the schema: {what}"));
            Schema::default()
        }
        None => Schema::default(),
    };
    let images = source.read_segments();
    let Some(config) = images.config else {
        return Err(OpenError::NotAStore {
            path: source.fs.path().display().to_string(),
            reason: "neither a manifest nor a segment says what kind of graph it is".into(),
        }
        .into());
    };
    let mut salvaged = SalvagedGraph::new(config, &schema);
    // Each goes as soon as it is taken apart: the two are not to stand side by side.
    salvaged.without_properties = images.without_properties;
    let newest = images.newest;
    images.found.into_iter().for_each(|image| salvaged.add_image(&image, |id| newest.contains(id)));
    if !source.report.is_whole() {
        salvaged.distrust();
    }
    source.read_log(&mut salvaged, images.checkpoint);
    finish(source.report, salvaged, into)
}

/// Writes the new store, and the sums into the report.
fn finish(mut report: SalvageReport, salvaged: SalvagedGraph, into: Arc<dyn Vfs>) -> Result<SalvageReport> {
    let rebuilt = salvaged.rebuild()?;
    report.lost_edges = rebuilt.dangling;
    (report.doubtful_vertices, report.doubtful_edges) = rebuilt.doubtful;
    for name in &rebuilt.made_up {
        report.lose(format_args!("the name of what is called {name:?} now"));
    }
    report.sum_up(&[
        (rebuilt.dangling, "edges one end of which is lost"),
        (rebuilt.halves, "edges of which properties may be lost"),
        (rebuilt.bare, "vertices known only by their edges: their properties may be lost"),
        (rebuilt.stripped, "vertices of which properties may be lost"),
        (rebuilt.repeated, "vertices with the key of another one, which was written later"),
        (rebuilt.replaced, "vertices that lost commits removed, as later commits show"),
    ]);
    let snapshot = rebuilt.graph.snapshot()?;
    (report.vertices, report.edges) = (snapshot.vertex_count(), snapshot.edge_count()?);
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
