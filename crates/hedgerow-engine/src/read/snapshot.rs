//! Snapshots: read-only transactions.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hedgerow_core::{
    Direction, InterpolationHint, LabelId, PropertyId, Timestamp, Topology, VertexId, VertexKey, VertexKeyRef,
};
use hedgerow_mem::View;
use hedgerow_mem::version::Read;
use hedgerow_txn::{Counts, Registration};

use crate::error::Error;
use crate::read::views::{self, Weight};
use crate::state::store::{Core, Engine};

/// The graph as of one timestamp: exactly the commits up to it, for as long as the snapshot lives.
///
/// Cloning shares it. It never blocks a writer and is never blocked by one; it keeps alive the versions it needs and
/// none of the later ones. Point reads cost one walk to a subgraph; whole-graph kernels ask for a
/// [`view`](Snapshot::view).
///
/// Methods that name no label mean the default one. Those of one label end in `_of` and take its name or id; those of all
/// labels are [`edge_count`](Snapshot::edge_count), [`contains_any_edge`](Snapshot::contains_any_edge),
/// [`degree_of_all`](Snapshot::degree_of_all), [`neighbors_of_all`](Snapshot::neighbors_of_all) and
/// [`edges_of_all`](Snapshot::edges_of_all). [`only_label`](Snapshot::only_label) tells whether the whole graph has the
/// edges of one label, as a kernel reads them.
///
/// In a forked child, point reads answer as in the parent and wait for nobody; a view that was not made before the fork
/// cannot be had, and what returns a [`Result`](crate::Result) is an [`Error::Forked`](crate::Error::Forked).
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    registration: Option<Registration>,
    ts: Timestamp,
    counts: Counts,
    view: OnceLock<Arc<View>>,
}

/// Each thread has slots of its own in the registry, as long as there are not too many threads.
fn slot_hint() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static HINT: Cell<usize> = const { Cell::new(usize::MAX) });
    HINT.with(|hint| {
        if hint.get() == usize::MAX {
            hint.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        hint.get()
    })
}

/// A timestamp whose versions are kept, for work of the store itself that holds no handle of it.
pub(crate) struct Pinned<'a> {
    core: &'a Core,
    registration: Option<Registration>,
    ts: Timestamp,
}

impl Pinned<'_> {
    pub(crate) fn timestamp(&self) -> Timestamp {
        self.ts
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take() {
            self.core.close_reader(registration);
        }
    }
}

impl Core {
    /// Keeps what is published now readable.
    pub(crate) fn pin(&self) -> Pinned<'_> {
        let (registration, _) = self.readers.register(slot_hint(), || Some((self.clock.published(), ())));
        let ts = registration.ts();
        Pinned { core: self, registration: Some(registration), ts }
    }
}

impl Snapshot {
    pub(crate) fn open(engine: &Arc<Engine>) -> Snapshot {
        let (registration, counts) = engine.readers.register(slot_hint(), || {
            let ts = engine.clock.published();
            Some((ts, engine.clock.counts(ts)?))
        });
        let ts = registration.ts();
        let inner = Inner {
            engine: engine.clone(),
            registration: Some(registration),
            ts,
            counts,
            view: OnceLock::new(),
        };
        Snapshot { inner: Arc::new(inner) }
    }

    /// The timestamp of the last commit that is seen.
    pub fn timestamp(&self) -> Timestamp {
        self.inner.ts
    }

    /// The number of vertices. O(1).
    pub fn vertex_count(&self) -> u64 {
        self.inner.counts.vertices
    }

    /// The number of edges of all labels; an undirected edge counts once. O(1).
    pub fn edge_count(&self) -> u64 {
        self.inner.counts.edges
    }

    /// The vertex id of `key`, if the vertex exists. Ids are dense, and stable for as long as the vertex lives.
    pub fn vertex_id<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Option<VertexId> {
        let id = self.inner.engine.ids.lookup(key.into(), self.inner.ts)?;
        self.contains_id(id).then_some(id)
    }

    /// The key of a vertex id, if the vertex exists.
    pub fn vertex_key(&self, id: VertexId) -> Option<VertexKey> {
        self.contains_id(id).then(|| self.inner.engine.ids.key_of(id))
    }

    pub(crate) fn contains_id(&self, id: VertexId) -> bool {
        self.read(id, Direction::Out, |read| read.contains_vertex(id.local())).unwrap_or(false)
    }

    pub(crate) fn read<R>(
        &self,
        id: VertexId,
        direction: Direction,
        f: impl FnOnce(Read<'_>) -> R,
    ) -> Option<R> {
        self.inner.engine.subgraphs.get(id.subgraph())?.read(direction, self.inner.ts, f)
    }

    /// How the ids of neighbours are spread.
    #[inline]
    pub(super) fn hint(&self) -> InterpolationHint {
        InterpolationHint::over(self.inner.engine.ids.bound())
    }

    /// The direction in which the neighbours are stored: undirected graphs keep one list.
    pub(crate) fn stored(&self, direction: Direction) -> Direction {
        if self.inner.engine.config.directed { direction } else { Direction::Out }
    }

    /// Whether the vertex exists.
    pub fn contains_vertex<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> bool {
        self.vertex_id(key).is_some()
    }

    /// Whether the edge of the default label exists. O(log degree).
    pub fn contains_edge<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> bool {
        self.weight(src, dst).is_some()
    }

    /// The weight of the edge of the default label if it exists; 1 in a graph without weights. O(log degree).
    pub fn weight<'a>(
        &self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Option<f64> {
        let ids = &self.inner.engine.ids;
        let src = ids.lookup(src.into(), self.inner.ts)?;
        let dst = ids.lookup(dst.into(), self.inner.ts)?;
        self.weight_by_id(src, dst)
    }

    /// As [`weight`](Self::weight), by vertex ids.
    pub fn weight_by_id(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        let subgraph = self.inner.engine.subgraphs.get(src.subgraph())?;
        subgraph.edge(Direction::Out, self.inner.ts, src.local(), dst, self.hint())
    }

    /// As [`contains_edge`](Self::contains_edge), by vertex ids. Makes no view, but reads the one that this snapshot
    /// [has](Self::view), where it has one: reading a list there takes no atomic operation, so that searches one after
    /// another overlap.
    #[inline]
    pub fn contains_edge_by_id(&self, src: VertexId, dst: VertexId) -> bool {
        if let Some(view) = self.inner.view.get() {
            return view.neighbors(src, Direction::Out).contains_near(dst, self.hint());
        }
        self.weight_by_id(src, dst).is_some()
    }

    /// As [`degree`](Self::degree), by vertex id; 0 if there is no such vertex. From the view where there is one, as
    /// [`contains_edge_by_id`](Self::contains_edge_by_id).
    #[inline]
    pub fn degree_by_id(&self, id: VertexId, direction: Direction) -> usize {
        if let Some(view) = self.inner.view.get() {
            return view.degree(id, direction);
        }
        self.degree_by_label(LabelId::DEFAULT, id, direction)
    }

    /// The number of neighbours over the default label in `direction`, or `None` if there is no such vertex. A self-loop
    /// counts once.
    pub fn degree<'a>(&self, key: impl Into<VertexKeyRef<'a>>, direction: Direction) -> Option<usize> {
        let id = self.vertex_id(key)?;
        Some(self.degree_by_id(id, direction))
    }

    /// The neighbours over the default label in `direction`, sorted by key, or `None` if there is no such vertex.
    /// O(degree log degree).
    pub fn neighbors<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Option<Vec<VertexKey>> {
        let id = self.vertex_id(key)?;
        let mut keys = Vec::new();
        self.for_each_neighbor(id, direction, |v, _| keys.push(self.inner.engine.ids.key_of(v)));
        keys.sort_unstable();
        Some(keys)
    }

    /// The neighbours over the default label and weights in `direction`, sorted by key, or `None` if there is no such
    /// vertex.
    pub fn weighted_neighbors<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Option<Vec<(VertexKey, f64)>> {
        let id = self.vertex_id(key)?;
        let mut found = Vec::new();
        self.for_each_neighbor(id, direction, |v, w| found.push((self.inner.engine.ids.key_of(v), w)));
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Some(found)
    }

    /// Calls `f` with each neighbour of `id` over the default label and the weight of the edge, by ascending vertex id.
    /// O(degree).
    pub fn for_each_neighbor(&self, id: VertexId, direction: Direction, mut f: impl FnMut(VertexId, f64)) {
        if self.has_to_search(direction) {
            return self.for_each_source(LabelId::DEFAULT, id, |item| f(item.dst, item.weight));
        }
        let direction = self.stored(direction);
        // Kept by a reference, for the caller's code may take its time.
        let entry = self.inner.engine.subgraphs.get(id.subgraph());
        entry.map(|entry| {
            entry.read_kept(direction, self.inner.ts, |read| read.for_each_neighbor(id.local(), f))
        });
    }

    /// All vertices and the edges of the default label for kernels ([`view_of`](Self::view_of) has those of another), kept
    /// while the snapshot lives. Snapshots of one timestamp share it. It is made from the last view that was asked for,
    /// where there is one: O(subgraphs), and O(delta entries) of those that changed since; in parallel on the current rayon
    /// pool. Copies no main part.
    ///
    /// # Panics
    /// In a forked child, if the view was not made before the fork.
    pub fn view(&self) -> &View {
        if let Some(view) = self.inner.view.get() {
            return view;
        }
        assert!(!self.inner.engine.is_forked(), "{}", Error::Forked);
        // Made outside the cell: a worker that waits for its part may run another task that asks for this view, and
        // would wait for itself. Two threads that meet here make it twice, and one is kept.
        let view = self.cached_view_of(LabelId::DEFAULT);
        self.inner.view.get_or_init(|| view)
    }

    /// A view that shares nothing with others, to check the store by.
    pub(crate) fn fresh_view(&self) -> View {
        let edges = self.view_edges(LabelId::DEFAULT);
        views::fresh(&self.inner.engine, LabelId::DEFAULT, self.inner.ts, edges)
    }

    /// The view of a label: its edges between the vertices of the graph.
    pub(crate) fn cached_view_of(&self, label: LabelId) -> Arc<View> {
        let engine = &self.inner.engine;
        engine.views.get(label, self.inner.ts, |previous| {
            views::make(engine, label, previous, self.inner.ts, self.view_edges(label))
        })
    }

    /// The view of a label, each edge with the number that a property holds as its weight. Shares nothing with others.
    pub(crate) fn build_weighted_view_of(
        &self,
        label: LabelId,
        property: Option<PropertyId>,
        missing: f64,
    ) -> View {
        let weight = Weight { property, missing };
        views::weighted(&self.inner.engine, label, weight, self.inner.ts, self.view_edges(label))
    }

    /// The number of edges of a label; of the only label what the snapshot counts.
    fn view_edges(&self, label: LabelId) -> u64 {
        let engine = &self.inner.engine;
        let alone = label == LabelId::DEFAULT && engine.labels.iter().all(|(l, _)| l == LabelId::VERTICES);
        if alone { self.inner.counts.edges } else { self.count_edges(label) }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// All vertices with their ids, by ascending id. Builds the view, and panics where [`view`](Self::view) does.
    pub fn vertices(&self) -> impl Iterator<Item = (VertexId, VertexKey)> + '_ {
        self.view().vertices().map(|id| (id, self.inner.engine.ids.key_of(id)))
    }

    /// Calls `f` with source, destination and weight of every edge of the default label; of an undirected graph once per
    /// edge. Builds the view, and panics where [`view`](Self::view) does. O(edges).
    pub fn for_each_edge(&self, mut f: impl FnMut(VertexId, VertexId, f64)) {
        let view = self.view();
        let placement = self.inner.engine.placement();
        for v in view.vertices() {
            view.for_each_weighted(v, Direction::Out, |u, w| {
                if placement.counts_at(Direction::Out, v, u) {
                    f(v, u, w);
                }
            });
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.engine.is_forked() {
            // The registry and the lists of the view are the parent's: nothing is given back.
            std::mem::forget(self.view.take());
        } else if let Some(registration) = self.registration.take() {
            self.engine.close_reader(registration);
        }
    }
}
