//! The logs without locks, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, DynamicGraph, Timestamp, Update, Written};
use parking_lot::Mutex;

use super::horizon::Horizon;
use super::layout::{LiveGraphOptions, Shape};
use super::records::{Graph, MOST};
use super::snapshot::LiveGraphSnapshot;
use super::waste::Waste;
use super::work::{Locking, Work};
use crate::{GraphForm, LabError, change};

/// The graph after the last transaction.
struct Table {
    graph: Arc<Graph>,
    waste: Waste,
    at: u64,
    vertices: i64,
    edges: i64,
}

/// The same logs for one user at a time, without locks, groups and readers' timestamps. With `VERSIONS`,
/// entries have timestamps, as in the whole container. Without it, the last entry takes the place of a
/// removed entry. This gives the cost of the structure alone.
pub struct LiveGraphAlone<const VERSIONS: bool> {
    table: Mutex<Table>,
    options: LiveGraphOptions,
}

/// Logs without timestamps.
pub type PlainLiveGraph = LiveGraphAlone<false>;
/// Logs with timestamps that are kept and checked.
pub type VersionedLiveGraph = LiveGraphAlone<true>;

impl<const VERSIONS: bool> LiveGraphAlone<VERSIONS> {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, LiveGraphOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: LiveGraphOptions) -> Self {
        let shape = Shape::new(form, VERSIONS, options.bloom_filters);
        let graph = Arc::new(Graph::new(form, shape));
        let table = Table { graph, waste: Waste::default(), at: 0, vertices: 0, edges: 0 };
        LiveGraphAlone { table: Mutex::new(table), options }
    }

    /// Waits until no snapshot holds the graph, and then calls `f` with the table. Returns the result of `f`.
    fn change<T>(&self, f: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.table.lock();
        while Arc::get_mut(&mut table.graph).is_none() {
            std::thread::yield_now();
        }
        f(&mut table)
    }
}

impl Table {
    fn write(&mut self, updates: &[Update]) -> Written {
        self.at += 1;
        let at = self.at;
        let horizon = || Horizon::without_readers(at - 1);
        let mut work = Work::new(&self.graph, at, Locking::Alone, &horizon);
        let more = work.make(updates).unwrap_or_default();
        let retired = work.commit(at, &self.waste);
        retired.into_iter().for_each(|block| self.graph.store.free(block));
        self.vertices += more.vertices;
        self.edges += more.edges;
        Written { timestamp: Timestamp(at), vertices: more.vertices, edges: more.edges }
    }

    fn compact(&mut self) {
        let retired = self.waste.compact(&self.graph, &Horizon::without_readers(self.at), false);
        retired.into_iter().for_each(|block| self.graph.store.free(block));
    }
}

impl<const VERSIONS: bool> DynamicGraph for LiveGraphAlone<VERSIONS> {
    type Error = LabError;
    type Snapshot = LiveGraphSnapshot;

    const LACKS: &'static [Capability] = &[Capability::Versions, Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        Ok(self.change(|table| {
            let written = table.write(updates);
            if table.at.is_multiple_of(self.options.compact_every.max(1)) {
                table.compact();
            }
            written
        }))
    }

    fn snapshot(&self) -> Result<LiveGraphSnapshot, LabError> {
        let table = self.table.lock();
        let seen = (table.at, table.vertices as usize, table.edges as u64);
        Ok(LiveGraphSnapshot::alone(table.graph.clone(), seen))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.change(|table| {
            table.compact();
            if let Some(graph) = Arc::get_mut(&mut table.graph) {
                graph.store.trim();
            }
        });
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let table = self.table.lock();
        table.graph.bytes() + table.waste.bytes()
    }
}
