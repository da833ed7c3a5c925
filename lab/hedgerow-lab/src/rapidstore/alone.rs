//! The same versions without locks and reader tracer, for one user at a time.

use std::sync::Arc;

use hedgerow_core::{Capability, DynamicGraph, SubgraphId, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;
use smallvec::SmallVec;

use super::draft::{self, Drafts, SubgraphDraft};
use super::shape::{RapidStoreOptions, Shape};
use super::snapshot::RapidStoreSnapshot;
use super::version::Version;
use crate::change;
use crate::{GraphForm, LabError};

/// The newest version of each subgraph, and the numbers of vertices and edges.
#[derive(Default)]
struct Table {
    newest: Vec<Option<Arc<Version>>>,
    at: u64,
    vertices: i64,
    edges: i64,
}

/// The same lists for one user at a time. With `COPIES`, each transaction makes new versions, as the whole
/// container does. Without it, a version changes in place, unless a snapshot holds it. This gives the cost of
/// the structure alone.
pub struct RapidStoreAlone<const COPIES: bool> {
    table: Mutex<Table>,
    form: GraphForm,
    shape: Shape,
}

/// A store whose versions change in place.
pub type PlainRapidStore = RapidStoreAlone<false>;
/// A store in which each transaction copies versions.
pub type CopyingRapidStore = RapidStoreAlone<true>;

impl<const COPIES: bool> RapidStoreAlone<COPIES> {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, RapidStoreOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: RapidStoreOptions) -> Self {
        RapidStoreAlone { table: Mutex::default(), form, shape: Shape::new(form, options) }
    }
}

impl Table {
    /// Takes the versions of these subgraphs for a transaction.
    fn take(&mut self, subgraphs: &[SubgraphId], shape: Shape, in_place: bool) -> Drafts {
        let bound = subgraphs.last().map_or(0, |last| last.index() + 1);
        if bound > self.newest.len() {
            self.newest.resize_with(bound, || None);
        }
        let mut draft = |&subgraph: &SubgraphId| {
            let base = self.newest[subgraph.index()].take();
            SubgraphDraft { subgraph, base, new: None }
        };
        Drafts { subgraphs: subgraphs.iter().map(&mut draft).collect(), shape, in_place }
    }

    /// Puts back the versions that a transaction leaves.
    fn put(&mut self, drafts: Drafts) {
        for draft in drafts.subgraphs {
            self.newest[draft.subgraph.index()] = draft.new.or(draft.base);
        }
    }
}

impl<const COPIES: bool> DynamicGraph for RapidStoreAlone<COPIES> {
    type Error = LabError;
    type Snapshot = RapidStoreSnapshot;

    const LACKS: &'static [Capability] = &[Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, VertexId::MAX)?;
        let mut table = self.table.lock();
        let mut subgraphs: SmallVec<[SubgraphId; 2]> = draft::named(updates);
        let mut drafts = table.take(&subgraphs, self.shape, !COPIES);
        while draft::add_neighbors(&drafts, updates, self.form, &mut subgraphs) {
            table.put(drafts);
            drafts = table.take(&subgraphs, self.shape, !COPIES);
        }
        let more = change::make(updates, self.form, &mut drafts);
        table.put(drafts);
        table.at += 1;
        table.vertices += more.vertices;
        table.edges += more.edges;
        Ok(Written { timestamp: Timestamp(table.at), vertices: more.vertices, edges: more.edges })
    }

    fn snapshot(&self) -> Result<RapidStoreSnapshot, LabError> {
        let table = self.table.lock();
        let totals = (table.vertices as usize, table.edges as u64);
        Ok(RapidStoreSnapshot::alone(table.newest.iter().cloned().collect(), self.form, table.at, totals))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let table = self.table.lock();
        let versions = table.newest.iter().flatten().map(|version| version.bytes()).sum::<usize>();
        table.newest.capacity() * size_of::<Option<Arc<Version>>>() + versions
    }
}
