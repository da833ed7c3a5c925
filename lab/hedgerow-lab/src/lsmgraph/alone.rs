//! The same graph for one user at a time. A write also flushes and compacts.

use std::sync::Arc;

use hedgerow_core::{Capability, DynamicGraph, Timestamp, Update, Written};
use parking_lot::Mutex;

use super::graph::Graph;
use super::options::LsmGraphOptions;
use super::record::MOST;
use super::snapshot::{LsmGraphSnapshot, Seen};
use super::work::{Unlocked, Work};
use crate::change;
use crate::clock::Active;
use crate::{GraphForm, LabError};

/// The same buffers and levels for one user at a time. With `VERSIONED` they show the cost of the structure
/// with its timestamps; without it, the cost of the structure alone. No thread locks several vertices, draws
/// timestamps, or flushes in the background. The locks of single lists and records remain, but no other
/// thread holds them.
pub struct LsmGraphAlone<const VERSIONED: bool> {
    inner: Mutex<Inner>,
}

/// The graph without versions.
pub type PlainLsmGraph = LsmGraphAlone<false>;
/// The graph with versions, which readers check.
pub type VersionedLsmGraph = LsmGraphAlone<true>;

struct Inner {
    graph: Arc<Graph>,
    /// The timestamp of the last transaction.
    at: u64,
    vertices: i64,
    edges: i64,
    /// A counter of snapshots: each snapshot holds a reference.
    snapshots: Arc<()>,
    /// An error that left a transaction made in part: without timestamps, the graph cannot undo it.
    failed: Option<LabError>,
}

impl<const VERSIONED: bool> LsmGraphAlone<VERSIONED> {
    /// Makes an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, LsmGraphOptions::default())
    }

    /// Makes an empty graph.
    pub fn with_options(form: GraphForm, options: LsmGraphOptions) -> Self {
        let graph = Arc::new(Graph::new(form, options, VERSIONED));
        let inner = Inner { graph, at: 0, vertices: 0, edges: 0, snapshots: Arc::default(), failed: None };
        LsmGraphAlone { inner: Mutex::new(inner) }
    }

    /// Waits until no snapshot is left, and returns the result of `f` for the graph.
    fn change<T>(&self, f: impl FnOnce(&mut Inner) -> Result<T, LabError>) -> Result<T, LabError> {
        let mut inner = self.inner.lock();
        while Arc::strong_count(&inner.snapshots) > 1 {
            std::thread::yield_now();
        }
        match inner.failed {
            Some(error) => Err(error),
            None => f(&mut inner),
        }
    }
}

impl Inner {
    /// Flushes a full buffer, and compacts levels.
    fn make_room(&self) -> Result<(), LabError> {
        if self.graph.is_full() {
            self.graph.rotate(false);
            while self.graph.step(&Active::default)? {}
        }
        Ok(())
    }
}

impl<const VERSIONED: bool> DynamicGraph for LsmGraphAlone<VERSIONED> {
    type Error = LabError;
    type Snapshot = LsmGraphSnapshot;

    const LACKS: &'static [Capability] = &[Capability::Versions, Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        self.change(|inner| {
            inner.make_room()?;
            let (graph, version) = (inner.graph.clone(), inner.graph.version());
            let at = if VERSIONED { inner.at + 1 } else { 0 };
            let made = Work::new(&graph, &version, Unlocked(&graph), at).make(updates);
            if !VERSIONED {
                inner.failed = made.err();
            }
            let more = made?;
            inner.at += 1;
            inner.vertices += more.vertices;
            inner.edges += more.edges;
            Ok(Written { timestamp: Timestamp(inner.at), vertices: more.vertices, edges: more.edges })
        })
    }

    fn snapshot(&self) -> Result<LsmGraphSnapshot, LabError> {
        let inner = self.inner.lock();
        if let Some(error) = inner.failed {
            return Err(error);
        }
        let at = if VERSIONED { inner.at } else { super::entry::NEWEST };
        let seen = Seen { timestamp: inner.at, at, vertices: inner.vertices, edges: inner.edges };
        Ok(LsmGraphSnapshot::alone(inner.graph.clone(), &seen, inner.snapshots.clone()))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.change(|inner| inner.graph.collect(&Active::default))
    }

    fn memory_bytes(&self) -> usize {
        self.inner.lock().graph.memory_bytes()
    }
}
