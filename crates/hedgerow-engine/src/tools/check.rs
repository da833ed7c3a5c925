//! The check of a store: data that one snapshot has in several places must agree.

use std::path::Path;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LocalVertex, Resident, SUBGRAPH_VERTICES, Topology, VertexId};
use hedgerow_io::Vfs;
use hedgerow_mem::SubgraphTable;
use hedgerow_tier::{Manifest, SegmentReader};

use crate::error::{Error, Result, StorageError};
use crate::graph::Graph;
use crate::options::Options;
use crate::read::snapshot::Snapshot;

mod by_page;
mod keys;
mod labels;
mod lists;
mod sides;

/// The most problems that a report describes.
const MAX_PROBLEMS: usize = 100;

/// The extent of a check, and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The number of checked vertices.
    pub vertices: u64,
    /// The number of checked edges; an undirected edge counts once.
    pub edges: u64,
    /// The number of segment files whose every byte was verified.
    pub segments: u64,
    /// Descriptions of problems, at most 100; empty for a sound store.
    pub problems: Vec<String>,
    /// True if `problems` leaves out further problems.
    pub more: bool,
}

impl CheckReport {
    /// True if nothing is wrong. O(1).
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn problem(&mut self, text: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(text);
        } else {
            self.more = true;
        }
    }
}

/// Opens the store at `path` for reading only, which verifies the checksum of each byte that is read, and
/// checks it. Changes nothing. O(edges log degree), with the whole store in memory.
///
/// # Errors
/// The errors of [`Options::open`], which include damage.
pub fn check_path(path: impl AsRef<Path>) -> Result<CheckReport> {
    check_opened(path.as_ref(), Options::new())
}

/// Checks a store like [`check_path`], but within a [memory limit](Options::memory_limit). Data for which the
/// limit has no room is read by the page, as in [`Graph::check`].
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
    /// Checks a snapshot: every edge has both endpoints, both directions agree, lists ascend, counters and
    /// the key table agree with the data. Then verifies the checksum of every segment file. O(edges log
    /// degree). Blocks no reader and no writer; checkpoints wait while it verifies files.
    ///
    /// If a [memory limit](Options::memory_limit) has no room for the whole graph, the check reads it by the
    /// page and keeps no data in memory: O(edges). It takes memory for one image at a time (for a hub, its
    /// whole list), and a 32nd of the limit. It compares the copies of edges by sums of 128-bit fingerprints
    /// with a random key, which miss a difference with a chance of one in 2^128. To name edges that differ it
    /// reads the edges of up to 100 sums again.
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
                let _no_checkpoint = self.engine.checkpointing.lock();
                let manifest = durable.manifest.lock().clone();
                verify_segments(&durable.fs, &manifest, report)
            }
            // Opened for reading only: the lock excludes writers, so the manifest has not changed since the
            // store was opened.
            (None, Some(fs)) => match Manifest::look(fs)? {
                Some(loaded) => verify_segments(fs, &loaded.manifest, report),
                None => Ok(()),
            },
            (None, None) => Ok(()),
        }
    }

    pub(crate) fn check_graph(&self, report: &mut CheckReport) -> Result<()> {
        if self.engine.has_room_for_all() {
            let mut found = CheckReport::default();
            match self.check_in_memory(&mut found) {
                // Another thread took the room in the meantime.
                Err(Error::Storage(StorageError::MemoryLimit { .. } | StorageError::NotInMemory(_))) => {}
                checked => {
                    *report = found;
                    return checked;
                }
            }
        }
        self.check_graph_by_page(report)
    }

    fn check_in_memory(&self, report: &mut CheckReport) -> Result<()> {
        self.engine.load_all()?;
        self.engine.learn_all()?;
        let snapshot = self.snapshot()?;
        // The check compares reads with a view, so the reads must not use a view.
        snapshot.set_views_by_reads(false);
        let view = &snapshot.fresh_view()?;
        let directed = self.engine.config.directed;
        let mut reversed = 0u64;
        let bound = view.vertex_bound() as u32;
        for v in self.possible_vertices(&self.engine.subgraphs).take_while(|v| v.0 < bound) {
            if !view.contains(v) {
                let edges = view.degree(v, Direction::Out) + view.degree(v, Direction::In);
                if edges > 0 {
                    report.problem(format!("vertex {} does not exist and has {edges} edges", v.0));
                }
                continue;
            }
            report.vertices += 1;
            let key = self.engine.key_of(v)?;
            if snapshot.vertex_id(&key)? != Some(v) {
                report.problem(format!("vertex {} has key {key}, which names another vertex or none", v.0));
            }
            self.check_lists(v, view, report);
            reversed += view.degree(v, Direction::In) as u64;
            let counted = view.neighbors(v, Direction::Out).iter().filter(|&u| directed || v <= u).count();
            report.edges += counted as u64;
        }
        if directed && reversed != report.edges {
            report.problem(format!("{} outgoing edges, but {reversed} incoming edges", report.edges));
        }
        self.check_labels(&snapshot, report)?;
        self.check_counts(&snapshot, report)
    }

    /// Compares the counts of the report with the counts of the snapshot.
    fn check_counts(&self, snapshot: &Snapshot, report: &mut CheckReport) -> Result<()> {
        let (v, e) = (snapshot.vertex_count(), snapshot.edge_count()?);
        if (report.vertices, report.edges) != (v, e) {
            let (vertices, edges) = (report.vertices, report.edges);
            report.problem(format!(
                "the counters state {v} vertices and {e} edges, but the check found {vertices} vertices and {edges} edges"
            ));
        }
        Ok(())
    }

    /// Returns the ids of all vertices that a table has room for, ascending, also beyond the largest id in
    /// use.
    fn possible_vertices(&self, table: &SubgraphTable) -> impl Iterator<Item = VertexId> {
        let locals = || (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
        table.existing().flat_map(move |id| locals().map(move |local| id.vertex(local)))
    }

    fn check_lists(&self, v: VertexId, view: &hedgerow_mem::View, report: &mut CheckReport) {
        let mut weights = Vec::new();
        view.for_each_weighted(v, Direction::Out, |u, w| weights.push((u, w)));
        let list: Vec<VertexId> = view.neighbors(v, Direction::Out).iter().collect();
        if !list.is_sorted_by(|a, b| a < b) || !list.iter().eq(weights.iter().map(|(u, _)| u)) {
            report.problem(format!("the neighbors of vertex {} are out of order", v.0));
        }
        for (u, weight) in weights {
            if !view.contains(u) {
                report.problem(format!("edge from {} to {}, which does not exist", v.0, u.0));
            }
            let back = view.weighted_neighbors(u, Direction::In).weight_of(v);
            let same = back.map(f64::to_bits) == Some(weight.to_bits());
            if !same && !faults::is_on(PlantedFault::SidesNotCompared) {
                report.problem(format!(
                    "edge from {} to {}: weight {weight} outgoing, {back:?} incoming",
                    v.0, u.0
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_whether_it_left_problems_out() {
        let mut report = CheckReport::default();
        (0..MAX_PROBLEMS).for_each(|at| report.problem(at.to_string()));
        assert_eq!((report.problems.len(), report.more), (MAX_PROBLEMS, false));
        report.problem("one more".to_owned());
        assert_eq!((report.problems.len(), report.more), (MAX_PROBLEMS, true));
    }
}
