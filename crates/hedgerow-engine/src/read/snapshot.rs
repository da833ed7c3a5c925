//! Snapshots: read-only transactions.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{
    Direction, GraphConfig, InterpolationHint, LabelId, Timestamp, Topology, VertexId, VertexKey,
    VertexKeyRef,
};
use hedgerow_mem::version::Read;
use hedgerow_mem::{Hold, View};
use hedgerow_pager::pager::census::Census;
use hedgerow_pager::pager::pages::Wanted;
use hedgerow_txn::Counts;

use crate::read::held_registration::HeldRegistration;
use crate::read::kind_census::KindCensus;
use crate::read::view_demand::{ViewDemand, cost};
use crate::read::views::{self, Makers};
use crate::state::chosen_edges::SelectedViews;
use crate::state::pin::slot_hint;
use crate::state::store::Engine;

/// The graph as of one timestamp: exactly the commits up to it, while the snapshot lives.
///
/// A clone shares the snapshot. It never blocks a writer and no writer blocks it. It keeps in memory the
/// versions that it reads, and none of the later ones. A point read costs one walk to a subgraph. Whole-graph
/// kernels use a [`view`](Snapshot::view). Point reads use the view too if there is one, and make it after
/// many reads ([`Options::views_by_reads`](crate::Options::views_by_reads)).
///
/// Reads of edges take a choice of edges ([`EdgeSelectionRef`](crate::EdgeSelectionRef)): a direction, a
/// label, both, or an [`EdgeSelection`](crate::EdgeSelection). Without a label they read all labels.
/// [`default_label`](Snapshot::default_label) has the reads of the default label by vertex id, and of the
/// stored weights, which only edges of this label have.
///
/// Every read returns a [`Result`]: it fails if its data is neither in memory nor readable from disk. The
/// result of a read belongs to the caller, or is lent to a callback while that runs.
///
/// In a forked child, point reads that name no label work as in the parent and wait for no other thread.
/// These return [`StateError::Forked`](crate::StateError::Forked): reads that name a label or a condition, or
/// take both directions of a directed graph, reads of many vertices, and a view that was not made before the
/// fork.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Arc<Engine>,
    registration: HeldRegistration,
    ts: Timestamp,
    counts: Counts,
    view: OnceLock<Arc<View>>,
    /// True if reads may make the view.
    may_make_view: AtomicBool,
    demand: ViewDemand,
    selected: SelectedViews,
    /// The vertices that exist. The first read by the page that needs them fills it.
    census: OnceLock<Arc<Census>>,
    /// The kinds of the vertices. The first view of a label that states kinds fills it.
    kinds: OnceLock<Arc<KindCensus>>,
    /// The schema as of the snapshot. The first read of it after a later definition fills it.
    schema: OnceLock<Arc<Schema>>,
}

impl Snapshot {
    /// Opens a snapshot whose reads make no view.
    pub(crate) fn open(engine: &Arc<Engine>) -> Snapshot {
        let (registration, counts) = engine.order.readers.register(slot_hint(), || {
            let ts = engine.order.clock.published();
            Some((ts, engine.order.clock.counts(ts)?))
        });
        let ts = registration.ts();
        Snapshot::registered(engine, HeldRegistration::new(registration), (ts, counts))
    }

    /// Returns a snapshot of the same timestamp without the view of this one. A caller that later asks for
    /// differences needs it: a view without references can be updated in place to the next one. O(1). In a
    /// forked child returns this snapshot.
    pub(super) fn without_view(&self) -> Snapshot {
        let Inner { engine, registration, ts, counts, .. } = &*self.inner;
        if engine.is_forked() {
            return self.clone();
        }
        Snapshot::registered(engine, registration.share(engine), (*ts, *counts))
    }

    fn registered(
        engine: &Arc<Engine>,
        registration: HeldRegistration,
        (ts, counts): (Timestamp, Counts),
    ) -> Snapshot {
        let inner = Inner {
            engine: engine.clone(),
            registration,
            ts,
            counts,
            view: OnceLock::new(),
            may_make_view: AtomicBool::new(false),
            demand: ViewDemand::default(),
            selected: SelectedViews::default(),
            census: OnceLock::new(),
            kinds: OnceLock::new(),
            schema: OnceLock::new(),
        };
        Snapshot { inner: Arc::new(inner) }
    }

    /// Returns the cell of the schema that [`schema_seen`](Self::schema_seen) keeps.
    pub(super) fn kept_schema(&self) -> &OnceLock<Arc<Schema>> {
        &self.inner.schema
    }

    /// Returns the settings of the graph, which never change. O(1).
    pub fn config(&self) -> GraphConfig {
        self.engine().catalog.config
    }

    /// Returns the timestamp of the last commit that the snapshot sees. O(1).
    pub fn timestamp(&self) -> Timestamp {
        self.inner.ts
    }

    /// Returns the number of vertices. O(1), and always in memory.
    pub fn vertex_count(&self) -> u64 {
        self.inner.counts.vertices
    }

    /// Returns the number of edges of all labels; an undirected edge counts once. O(1).
    ///
    /// # Errors
    /// None today. A count that depends on edges that are not in memory would read them; see
    /// [`edge_count_bounds`](Self::edge_count_bounds).
    pub fn edge_count(&self) -> Result<u64> {
        Ok(self.inner.counts.edges)
    }

    /// Returns bounds of [`edge_count`](Self::edge_count), both inclusive, from data in memory: never reads a
    /// file, never fails. Today both bounds are the count. O(1).
    pub fn edge_count_bounds(&self) -> RangeInclusive<u64> {
        self.inner.counts.edges..=self.inner.counts.edges
    }

    /// Returns the vertex id of `key`, if the vertex exists. Ids are dense, and stable while the vertex
    /// lives. O(1); if memory does not have the key, at most one read of a block from each segment file.
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn vertex_id<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<Option<VertexId>> {
        let engine = &self.inner.engine;
        let Some(id) = engine.keys.vertex_to_read(&engine.pager, key.into(), self.inner.ts)? else {
            return Ok(None);
        };
        // A bound key proves that its vertex exists; only in a dense graph a number proves nothing. The call
        // does not check the vertex: if the vertex is not in memory, that would read a directory.
        if !engine.keys.ids.is_dense() {
            return Ok(Some(id));
        }
        Ok(self.contains_id(id)?.then_some(id))
    }

    /// Returns the key of a vertex id, if the vertex exists. O(1), and O(bytes of the key).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn vertex_key(&self, id: VertexId) -> Result<Option<VertexKey>> {
        if self.contains_id(id)? {
            self.inner.engine.keys.key_of(&self.inner.engine.pager, id).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(crate) fn contains_id(&self, id: VertexId) -> Result<bool> {
        if let Some(view) = self.made_view() {
            return Ok(view.contains(id));
        }
        let exists = |read: Read<'_>| read.contains_vertex(id.local());
        // Loads are in a separate function, since few reads are shorter than this one.
        let subgraph = self.inner.engine.pager.subgraphs.get(id.subgraph(), Hold::none());
        let found = match subgraph.map(|entry| entry.read(Direction::Out, self.inner.ts, exists)) {
            Some(Ok(found)) => found,
            _ => self.exists_out_of_memory(id)?,
        };
        self.note_read(cost::EXISTENCE);
        Ok(found.unwrap_or(false))
    }

    #[cold]
    #[inline(never)]
    fn exists_out_of_memory(&self, id: VertexId) -> Result<Option<bool>> {
        let exists = |read: Read<'_>| read.contains_vertex(id.local());
        let read = self.inner.engine.pager.read_list((Wanted::vertex(id), self.inner.ts), |entry| {
            entry.read(Direction::Out, self.inner.ts, exists)
        });
        Ok(read?.flatten())
    }

    /// Returns the view of this snapshot, if it was made.
    #[inline]
    pub(super) fn made_view(&self) -> Option<&View> {
        self.inner.view.get().map(|view| &**view)
    }

    /// Returns the range of the ids of neighbours, for searches.
    #[inline]
    pub(super) fn hint(&self) -> InterpolationHint {
        InterpolationHint::over(self.inner.engine.keys.ids.bound())
    }

    /// Returns the direction in which the neighbours are stored: undirected graphs have one list for both.
    pub(crate) fn stored(&self, direction: Direction) -> Direction {
        if self.inner.engine.catalog.config.directed { direction } else { Direction::Out }
    }

    /// True if the vertex exists. O(1).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn contains_vertex<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<bool> {
        Ok(self.vertex_id(key)?.is_some())
    }

    /// Does what [`DefaultLabel::view`](crate::DefaultLabel::view) says.
    #[inline]
    pub(crate) fn default_view(&self) -> Result<&View> {
        self.kept_view().map(|view| &**view)
    }

    /// Returns the view that this snapshot keeps; makes it now if there is none.
    #[inline]
    pub(crate) fn kept_view(&self) -> Result<&Arc<View>> {
        self.inner.view.get().map_or_else(|| self.make_kept_view(), Ok)
    }

    /// Makes the view that this snapshot keeps. A separate function, so that the access to an existing view
    /// can be inlined.
    #[cold]
    fn make_kept_view(&self) -> Result<&Arc<View>> {
        self.inner.engine.check_owner()?;
        // Made outside the cell: a worker that waits for its share may run another task that asks for this
        // view, and would wait for its own result. If two threads make the view at once, one of the two views
        // is kept.
        let view = self.cached_view_of(LabelId::DEFAULT, Makers::Pool)?;
        Ok(self.keep_view(view))
    }

    /// Keeps a view of the default label at this timestamp, unless one is kept already. Returns the kept one.
    pub(super) fn keep_view(&self, view: Arc<View>) -> &Arc<View> {
        self.inner.view.get_or_init(|| view)
    }

    /// Returns the view of a label: its edges between the vertices of the graph.
    pub(crate) fn cached_view_of(&self, label: LabelId, makers: Makers) -> Result<Arc<View>> {
        let engine = &self.inner.engine;
        engine.views.get(label, self.inner.ts, |previous| {
            let edges = self.view_edges(label)?;
            views::make(engine, label, previous, self.inner.ts, edges, makers)
        })
    }

    /// Returns the number of edges of a label; if it is the only label, this is the snapshot's count of
    /// edges.
    fn view_edges(&self, label: LabelId) -> Result<u64> {
        let engine = &self.inner.engine;
        let alone =
            label == LabelId::DEFAULT && engine.pager.labels.iter().all(|(l, _)| l == LabelId::VERTICES);
        if alone { self.edge_count() } else { self.count_edges(label) }
    }

    /// Returns the views of chosen edges that this snapshot keeps.
    pub(super) fn selected(&self) -> &SelectedViews {
        &self.inner.selected
    }

    /// Returns the cell of the census of existing vertices.
    pub(super) fn kept_census(&self) -> &OnceLock<Arc<Census>> {
        &self.inner.census
    }

    /// Returns the cell of the census of kinds.
    pub(super) fn kept_kinds(&self) -> &OnceLock<Arc<KindCensus>> {
        &self.inner.kinds
    }

    /// Returns the flag that allows reads to make the view.
    #[inline]
    pub(super) fn may_make_view(&self) -> &AtomicBool {
        &self.inner.may_make_view
    }

    /// Returns the costs of this snapshot's reads.
    #[inline]
    pub(super) fn demand(&self) -> &ViewDemand {
        &self.inner.demand
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Returns all vertices with their ids, by ascending id. Builds the view if the memory limit has room for
    /// it. O(vertices) in all.
    ///
    /// # Errors
    /// The errors of [`DefaultLabel::view`](crate::DefaultLabel::view), except the memory limit; for each
    /// vertex the errors of every [read](Self).
    pub fn vertices(&self) -> Result<impl Iterator<Item = Result<(VertexId, VertexKey)>> + '_> {
        Ok(self
            .live_vertices()?
            .map(|id| Ok((id, self.inner.engine.keys.key_of(&self.inner.engine.pager, id)?))))
    }

    /// Does what [`DefaultLabel::for_each_edge`](crate::DefaultLabel::for_each_edge) says.
    pub(crate) fn for_each_default_edge(&self, mut f: impl FnMut(VertexId, VertexId, f64)) -> Result<()> {
        let Some(view) = self.view_if_it_fits()? else {
            return self.tiered(LabelId::DEFAULT)?.try_for_each_edge(|src, dst, weight| {
                f(src, dst, weight);
                ControlFlow::Continue(())
            });
        };
        let placement = self.inner.engine.catalog.placement();
        for v in view.vertices() {
            view.for_each_weighted(v, Direction::Out, |u, w| {
                if placement.counts_at(Direction::Out, v, u) {
                    f(v, u, w);
                }
            });
        }
        Ok(())
    }

    /// Returns the [`DefaultLabel::view`](crate::DefaultLabel::view), if the memory limit has room for it.
    pub(crate) fn view_if_it_fits(&self) -> Result<Option<&View>> {
        if self.made_view().is_none() && !self.engine().pager.has_room_for_label(LabelId::DEFAULT) {
            return Ok(None);
        }
        match self.default_view() {
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => Ok(None),
            view => view.map(Some),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.engine.is_forked() {
            // The registry and the lists of the view belong to the parent: the child frees nothing.
            std::mem::forget((self.view.take(), std::mem::take(&mut self.selected)));
        } else {
            self.registration.end(&self.engine);
        }
    }
}
