//! LSMGraph: Yu et al., "LSMGraph: a high-performance dynamic graph storage system with multi-level CSR"
//! (Proc. ACM Manag. Data 2(6), 2024).
//!
//! Updates go to a *memory buffer* (section 4.1). Vertices with few edges keep them in a large array;
//! vertices with many edges keep them in a skip list. A full buffer becomes a file in CSR form in the first
//! level. Compaction merges the files of a level into the next level, which is ten times as large. It merges
//! vertex by vertex, and cuts the result between vertices into segments (4.2.1).
//!
//! A *multi-level index* stores for each vertex where its edges are in each level (4.2.2). Compaction changes
//! the index vertex by vertex while it moves edges. So only buffers and the first level have versions as a
//! whole (4.3). Each edge has the timestamp of its transaction, and a marker if the transaction removed it.
//!
//! [`LsmGraph`] is the whole container; [`LsmGraphAlone`] is the same container for one user at a time.
//! Parameters and deviations: `docs/design/lab/lsmgraph.md`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::{DynamicGraph, Timestamp, Update, VertexId, Written};
use smallvec::SmallVec;

use crate::change;
use crate::clock::Clock;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod build;
mod compact;
mod cursor;
mod entry;
mod files;
mod filter;
mod graph;
mod memory;
mod merge;
mod options;
mod picks;
mod record;
mod segment;
mod service;
mod skip;
mod snapshot;
mod work;

pub use alone::{LsmGraphAlone, PlainLsmGraph, VersionedLsmGraph};
use graph::{Graph, Version};
pub use options::{LevelIndex, LsmGraphOptions, MemoryCache};
use record::MOST;
use service::Service;
pub use snapshot::LsmGraphSnapshot;
use work::{Locked, Records, Work};

/// A memory buffer and levels of CSR files.
pub struct LsmGraph {
    // Dropped before the graph, which the service thread uses.
    service: Service,
    graph: Arc<Graph>,
    clock: Arc<Clock>,
}

impl LsmGraph {
    /// Makes an empty graph with the paper's parameters. When the first buffer is full, the graph makes its
    /// files in a new directory among the system's temporary files.
    pub fn new(form: GraphForm) -> LsmGraph {
        LsmGraph::with_options(form, LsmGraphOptions::default())
    }

    /// Makes an empty graph.
    pub fn with_options(form: GraphForm, options: LsmGraphOptions) -> LsmGraph {
        let graph = Arc::new(Graph::new(form, options, true));
        LsmGraph { service: Service::default(), graph, clock: Arc::default() }
    }

    /// Makes an empty graph with its files in `fs`.
    #[cfg(test)]
    pub(crate) fn with_fs(
        form: GraphForm,
        options: LsmGraphOptions,
        fs: Arc<dyn hedgerow_io::Vfs>,
    ) -> LsmGraph {
        let graph = LsmGraph::with_options(form, options);
        graph.graph.files.set_fs(fs);
        graph
    }

    /// Returns the bytes of all files. This includes files to which only snapshots refer.
    pub fn disk_bytes(&self) -> u64 {
        self.graph.files.disk_bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of files or segments of each level, from the first level on, and the number of
    /// edges. The counts of a directed graph include both directions.
    pub fn levels(&self) -> Vec<(usize, usize)> {
        let version = self.graph.version();
        let mut levels = vec![(0, 0); options::LEVELS];
        for segment in version.segments() {
            levels[segment.level].0 += 1;
            levels[segment.level].1 += segment.entries;
        }
        levels
    }

    /// Locks the vertices that the updates touch, in ascending order: the named vertices, and the neighbours
    /// of removed vertices. The neighbours are known only under the lock. If some are not locked yet, the
    /// loop releases the locks, and takes them again together with these neighbours.
    fn lock(&self, version: &Version, updates: &[Update]) -> Result<Locked<'_>, LabError> {
        let mut vertices: SmallVec<[VertexId; 2]> = change::named(updates).collect();
        let removed = |update: &Update| match *update {
            Update::RemoveVertex(v) => Some(v),
            _ => None,
        };
        loop {
            vertices.sort_unstable();
            vertices.dedup();
            let locked = Locked(vertices.iter().map(|&v| (v, self.graph.record(v).write())).collect());
            let known = vertices.len();
            for v in updates.iter().filter_map(removed) {
                for &direction in self.graph.form.directions() {
                    let targets = |record: &record::Record| match record.side(direction) {
                        Some(side) => self.graph.newest_targets(version, side, (v, direction)),
                        None => Ok(Vec::new()),
                    };
                    let others = locked.read(v, targets).unwrap_or(Ok(Vec::new()))?;
                    vertices.extend(others.into_iter().filter(|&other| !locked.has(other)));
                }
            }
            if vertices.len() == known {
                return Ok(locked);
            }
        }
    }
}

impl DynamicGraph for LsmGraph {
    type Error = LabError;
    type Snapshot = LsmGraphSnapshot;

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        self.service.make_room(&self.graph, &self.clock)?;
        let _writing = self.graph.writing.read();
        let version = self.graph.version();
        let locked = self.lock(&version, updates)?;
        let at = self.clock.draw();
        let mut work = Work::new(&self.graph, &version, locked, at);
        let made = work.make(updates);
        // A failed transaction changed nothing. Its timestamp is published anyway, because other transactions
        // wait for it.
        let more = made.unwrap_or_default();
        self.clock.publish(at, more.vertices, more.edges);
        for (_, record) in work.records.0.iter_mut().filter(|(_, record)| record.itself.has_many()) {
            record.itself.prune(&self.clock.active());
        }
        made?;
        Ok(Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges })
    }

    fn snapshot(&self) -> Result<LsmGraphSnapshot, LabError> {
        let early = is_on(Planted::VersionBeforeTimestamp).then(|| {
            let version = self.graph.version();
            // Waits long enough for other transactions to write.
            (0..100).for_each(|_| std::thread::yield_now());
            version
        });
        let reader = self.clock.register()?;
        let version = early.unwrap_or_else(|| self.graph.version());
        Ok(LsmGraphSnapshot::registered(self.graph.clone(), version, reader))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.service.check()?;
        self.graph.collect(&|| self.clock.active())
    }

    fn memory_bytes(&self) -> usize {
        self.graph.memory_bytes()
    }
}
