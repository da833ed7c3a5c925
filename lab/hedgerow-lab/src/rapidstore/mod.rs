//! RapidStore: Hao et al., "RapidStore: an efficient dynamic graph storage system for concurrent queries"
//! (PVLDB 18(10), 2025).
//!
//! Subgraphs of 64 vertices, each with a chain of versions (section 5). A writer locks the subgraphs that it
//! touches in ascending order, and makes new versions of them: it copies the parts that it changes. It draws
//! a timestamp, links the versions, and publishes them. Then it unlinks the versions that no reader in the
//! reader tracer sees. A reader enters the tracer and collects one version of each subgraph, under a lock
//! that is held only while a pointer is copied. After that, the reader takes no locks. In a version (section
//! 6), short lists are together in a clustered index, and each long list is a compressed radix tree.
//! [`RapidStore`] is the whole container; [`RapidStoreAlone`] is the same for one user at a time. Parameters
//! and deviations: `docs/design/lab/rapidstore.md`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_core::growing::Growing;
use hedgerow_core::sync::{Mutex, MutexGuard};
use hedgerow_core::{DynamicGraph, SubgraphId, Timestamp, Update, VertexId, Written};
use smallvec::SmallVec;

use crate::change;
use crate::clock::Clock;
use crate::planted::{Planted, is_on};
use crate::{GraphForm, LabError};

mod alone;
mod cell;
mod draft;
mod leaf;
mod shape;
mod side;
mod snapshot;
mod tree;
mod version;

pub use alone::{CopyingRapidStore, PlainRapidStore, RapidStoreAlone};
use cell::ArcLock;
use draft::{Drafts, SubgraphDraft};
use shape::Shape;
pub use shape::{RapidStoreOptions, ShortLists};
pub use snapshot::{RapidStoreBlock, RapidStoreSnapshot};
use version::Version;

/// The largest number of subgraphs.
const SUBGRAPHS: usize = 1 << 26;

/// A subgraph: its lock and its newest version.
#[derive(Default)]
struct Slot {
    writer: Mutex<()>,
    newest: ArcLock<Version>,
}

/// Subgraphs with copy-on-write versions, and locks for writers only.
pub struct RapidStore {
    slots: Growing<Slot, SUBGRAPHS>,
    /// One more than the last subgraph with a version.
    bound: AtomicUsize,
    clock: Arc<Clock>,
    form: GraphForm,
    shape: Shape,
}

/// A transaction that has locked its subgraphs, ascending.
struct Locked<'a> {
    drafts: Drafts,
    slots: SmallVec<[(&'a Slot, MutexGuard<'a, ()>); 2]>,
}

impl RapidStore {
    /// Returns an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> RapidStore {
        RapidStore::with_options(form, RapidStoreOptions::default())
    }

    /// Returns an empty graph.
    pub fn with_options(form: GraphForm, options: RapidStoreOptions) -> RapidStore {
        let shape = Shape::new(form, options);
        RapidStore {
            slots: Growing::default(),
            bound: AtomicUsize::new(0),
            clock: Arc::default(),
            form,
            shape,
        }
    }

    /// Locks the subgraphs that the updates touch: the subgraphs of the named vertices, and of the neighbours
    /// of removed vertices. Neighbours are known only under the lock. If some of them are in other subgraphs,
    /// it releases all locks and takes them again with the new ones.
    fn lock(&self, updates: &[Update]) -> Locked<'_> {
        let mut subgraphs = draft::named(updates);
        loop {
            let slots: SmallVec<_> = subgraphs
                .iter()
                .map(|subgraph| {
                    let slot = self.slots.get_or_create(subgraph.index(), |_| {});
                    (slot, slot.writer.lock())
                })
                .collect();
            let draft = |(subgraph, slot): (&SubgraphId, &(&Slot, _))| SubgraphDraft {
                subgraph: *subgraph,
                base: slot.0.newest.load(),
                new: None,
            };
            let drafts = subgraphs.iter().zip(&slots).map(draft).collect();
            let locked =
                Locked { drafts: Drafts { subgraphs: drafts, shape: self.shape, in_place: false }, slots };
            if !draft::add_neighbors(&locked.drafts, updates, self.form, &mut subgraphs) {
                return locked;
            }
        }
    }

    fn newest(&self) -> impl Iterator<Item = Arc<Version>> {
        self.slots.chunks().flat_map(|(_, slots)| slots).filter_map(|slot| slot.newest.load())
    }
}

impl Locked<'_> {
    /// Draws the timestamp, links the new versions, and publishes them.
    fn commit(&mut self, clock: &Clock, bound: &AtomicUsize, more: change::More) -> u64 {
        let timestamp = clock.draw();
        let is_early = is_on(Planted::PublishedEarly);
        if is_early {
            clock.publish(timestamp, more.vertices, more.edges);
            // Gives readers enough time to read.
            (0..20).for_each(|_| std::thread::yield_now());
        }
        for (draft, (slot, _)) in self.drafts.subgraphs.iter_mut().zip(&self.slots) {
            let Some(new) = &mut draft.new else { continue };
            let version = Arc::get_mut(new).expect("a version of this transaction alone");
            version.replaces(draft.base.take(), timestamp);
            slot.newest.store(Some(new.clone()));
            if draft.subgraph.index() >= bound.load(Ordering::Relaxed) {
                bound.fetch_max(draft.subgraph.index() + 1, Ordering::Relaxed);
            }
        }
        if !is_early {
            clock.publish(timestamp, more.vertices, more.edges);
        }
        timestamp
    }
}

impl DynamicGraph for RapidStore {
    type Error = LabError;
    type Snapshot = RapidStoreSnapshot;

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, VertexId::MAX)?;
        let mut locked = self.lock(updates);
        let more = change::make(updates, self.form, &mut locked.drafts);
        if !more.changed {
            // The data that this transaction has read is current: its locks keep other transactions from
            // changing it.
            return Ok(Written { timestamp: Timestamp(self.clock.published()), vertices: 0, edges: 0 });
        }
        let timestamp = locked.commit(&self.clock, &self.bound, more);
        let active = self.clock.active();
        locked
            .drafts
            .subgraphs
            .iter()
            .filter_map(|draft| draft.new.as_ref())
            .for_each(|new| new.prune(&active));
        Ok(Written { timestamp: Timestamp(timestamp), vertices: more.vertices, edges: more.edges })
    }

    fn snapshot(&self) -> Result<RapidStoreSnapshot, LabError> {
        let reader = self.clock.register()?;
        // Reads the bound after the registration: every version that the reader sees was linked, and so
        // counted, before it was published.
        let bound = self.bound.load(Ordering::Relaxed);
        let at = reader.timestamp().0;
        let version = |i: usize| self.slots.get(i)?.newest.load()?.at(at);
        Ok(RapidStoreSnapshot::registered((0..bound).map(version).collect(), self.form, reader))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        for slot in self.slots.chunks().flat_map(|(_, slots)| slots) {
            let _writer = slot.writer.lock();
            if let Some(newest) = slot.newest.load() {
                newest.prune(&self.clock.active());
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.slots.bytes()
            + self.newest().map(|version| version.bytes() + version.bytes_of_older()).sum::<usize>()
    }
}
