//! The check of a store: data that one snapshot has in several places must agree.

use std::path::Path;
use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::Schema;
use hedgerow_io::Vfs;
use hedgerow_tier::{Manifest, SegmentReader};

use self::label::LabelCheck;
use self::list_walk::{Lists, Met};
use crate::graph::Graph;
use crate::options::Options;

mod key_names;
mod label;
mod list_walk;
mod report;
mod sides;

pub use report::CheckReport;

/// Opens the store at `path` for reading only and [checks](Graph::check) it. Verifies the checksum of each
/// byte that is read. Changes nothing. O(edges).
///
/// # Errors
/// The errors of [`Options::open`], which include damage, and those of [`Graph::check`].
pub fn check_path(path: impl AsRef<Path>) -> Result<CheckReport> {
    check_opened(path.as_ref(), Options::new())
}

/// Checks a store like [`check_path`], but within a [memory limit](Options::memory_limit).
///
/// # Errors
/// The errors of [`check_path`]; [`OpenError::MemoryLimit`](crate::OpenError::MemoryLimit) for a limit that
/// is too low to open the store.
pub fn check_path_within(path: impl AsRef<Path>, memory_limit: u64) -> Result<CheckReport> {
    check_opened(path.as_ref(), Options::new().memory_limit(memory_limit))
}

fn check_opened(path: &Path, options: Options) -> Result<CheckReport> {
    options.create(false).read_only(true).open(path)?.check()
}

/// Reads every segment whole and compares it with the hash in the manifest.
fn verify_segments(fs: &Arc<dyn Vfs>, manifest: &Manifest, report: &mut CheckReport) -> Result<()> {
    for segment in &manifest.segments {
        let reader = SegmentReader::open(fs.clone(), &segment.info, manifest.store)?;
        reader.verify_whole()?;
        reader.verify_keys()?;
        report.segments += 1;
    }
    Ok(())
}

impl Graph {
    /// Checks a snapshot: both ends of every edge exist, the two copies of an edge agree, lists ascend,
    /// properties fit the schema, counters and the key table agree with the data. Then verifies the checksum
    /// of every segment file. O(edges). Blocks no reader and no writer; checkpoints wait while the check
    /// verifies files.
    ///
    /// Reads each list once, from memory or else from files, and loads no list. Takes memory for one image at
    /// a time (for a hub, its whole list), and up to a 32nd of the [memory limit](Options::memory_limit).
    /// Compares the copies of edges by sums of 128-bit fingerprints with a random key. These sums miss a
    /// difference with a chance of one in 2^128. To name edges that differ, reads the lists again.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked; a [`StorageError`](crate::StorageError) for a
    /// segment that is damaged or cannot be read. A problem of the graph is no error: the report describes
    /// it.
    pub fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        self.check_graph(&mut report)?;
        self.verify_files(&mut report)?;
        Ok(report)
    }

    /// Verifies every byte of the segments of the newest manifest, and that their key indexes agree with
    /// their images.
    fn verify_files(&self, report: &mut CheckReport) -> Result<()> {
        match (&self.engine.durable, &self.engine.directory) {
            (Some(durable), _) => {
                let _no_checkpoint = self.engine.work.checkpointing.lock();
                let manifest = durable.manifest.lock().clone();
                verify_segments(&durable.fs, &manifest, report)
            }
            // The store is open for reading only. Its lock excludes writers, so the manifest has not changed
            // since the store was opened.
            (None, Some(fs)) => match Manifest::look(fs)? {
                Some(loaded) => verify_segments(fs, &loaded.manifest, report),
                None => Ok(()),
            },
            (None, None) => Ok(()),
        }
    }

    /// Checks the graph as of one snapshot, in one pass over the lists of each label.
    fn check_graph(&self, report: &mut CheckReport) -> Result<()> {
        let snapshot = self.snapshot()?;
        let (schema, census) = (snapshot.schema(), snapshot.census()?);
        let lists = Lists { core: &self.engine, ts: snapshot.timestamp(), census };
        report.vertices = census.vertices().count() as u64;
        self.check_keys(census, &snapshot, report)?;
        for (label, _) in self.engine.pager.tables() {
            let Some(label) = schema.label_by_id(label) else {
                // The label was defined after the snapshot, so the snapshot must not see an edge of it.
                let mut has_edges = false;
                lists.of_label(label, &mut |_, _, met| has_edges |= matches!(met, Met::Edge(_)))?;
                if has_edges {
                    report.problem(format!("edges of label {}, which is not defined", label.0));
                }
                continue;
            };
            LabelCheck::new(&snapshot, lists, label)?.run(report)?;
        }
        let mut again = Schema::default();
        for (ts, op) in schema.definitions() {
            if let Err(what) = again.add(ts, op) {
                report.problem(format!("schema: {what}"));
            }
        }
        let (counted, found) =
            ((snapshot.vertex_count(), snapshot.edge_count()?), (report.vertices, report.edges));
        if counted != found {
            report.problem(format!(
                "the counters state {} vertices and {} edges, but the check found {} vertices and {} edges",
                counted.0, counted.1, found.0, found.1
            ));
        }
        Ok(())
    }
}
