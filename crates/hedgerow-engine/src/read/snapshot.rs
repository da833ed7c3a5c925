//! Snapshots: read-only transactions.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use hedgerow_core::{
    Direction, InterpolationHint, LabelId, PropertyId, Timestamp, Topology, VertexId, VertexKey, VertexKeyRef,
};
use hedgerow_mem::View;
use hedgerow_mem::version::Read;
use hedgerow_txn::Counts;

use crate::error::{Error, Result, StorageError};
use crate::read::held_registration::HeldRegistration;
use crate::read::kind_census::KindCensus;
use crate::read::pin::slot_hint;
use crate::read::tiered::Census;
use crate::read::view_demand::{ViewDemand, cost};
use crate::read::views::{self, Makers};
use crate::state::pages::Wanted;
use crate::state::schema::Schema;
use crate::state::selection::SelectedViews;
use crate::state::store::Engine;

/// The graph as of one timestamp: exactly the commits up to it, for as long as the snapshot lives.
///
/// Cloning shares it. It never blocks a writer and is never blocked by one; it keeps alive the versions it needs and
/// none of the later ones. Point reads cost one walk to a subgraph; whole-graph kernels ask for a
/// [`view`](Snapshot::view), which point reads use too where there is one, and make once they were many
/// ([`Options::views_by_reads`](crate::Options::views_by_reads)).
///
/// Methods that name no label mean the default one. Those of one label end in `_of` and take its name or id; those of all
/// labels are [`edge_count`](Snapshot::edge_count), [`contains_any_edge`](Snapshot::contains_any_edge),
/// [`degree_of_all`](Snapshot::degree_of_all), [`neighbors_of_all`](Snapshot::neighbors_of_all) and
/// [`edges_of_all`](Snapshot::edges_of_all). [`only_label`](Snapshot::only_label) tells whether the whole graph has the
/// edges of one label, as a kernel reads them.
///
/// Every read returns a [`Result`]: it fails where what it needs is neither in memory nor can be read from disk. What a read
/// returns belongs to the caller, or lies in memory for as long as the callback runs that gets it.
///
/// In a forked child, point reads that name no label answer as in the parent and wait for nobody. Those that name one,
/// [`contains_any_edge`](Snapshot::contains_any_edge), [`only_label`](Snapshot::only_label), and a view that was not made
/// before the fork are an [`StateError::Forked`](crate::StateError::Forked).
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
    /// Whether reads may make the view.
    may_make_view: AtomicBool,
    demand: ViewDemand,
    selected: SelectedViews,
    /// Which vertices exist, once something asked that reads by the page.
    census: OnceLock<Arc<Census>>,
    /// The kinds of the vertices. The first view of a label that states kinds fills it.
    kinds: OnceLock<Arc<KindCensus>>,
    /// The schema as of the snapshot. The first read of it after a later definition fills it.
    schema: OnceLock<Arc<Schema>>,
}

impl Snapshot {
    /// One whose reads make no view.
    pub(crate) fn open(engine: &Arc<Engine>) -> Snapshot {
        let (registration, counts) = engine.readers.register(slot_hint(), || {
            let ts = engine.clock.published();
            Some((ts, engine.clock.counts(ts)?))
        });
        let ts = registration.ts();
        Snapshot::registered(engine, HeldRegistration::new(registration), (ts, counts))
    }

    /// A snapshot of the same timestamp without the view of this one: for those that ask later what differs, since a view that nobody refers to becomes the next
    /// one in place. O(1). In a forked child this one.
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

    /// The schema that [`schema_seen`](Self::schema_seen) keeps.
    pub(super) fn kept_schema(&self) -> &OnceLock<Arc<Schema>> {
        &self.inner.schema
    }

    /// The timestamp of the last commit that is seen. O(1).
    pub fn timestamp(&self) -> Timestamp {
        self.inner.ts
    }

    /// The number of vertices. O(1), and always in memory.
    pub fn vertex_count(&self) -> u64 {
        self.inner.counts.vertices
    }

    /// The number of edges of all labels; an undirected edge counts once. O(1).
    ///
    /// # Errors
    /// None today. A count that depends on edges that are not in memory would read them; see
    /// [`edge_count_bounds`](Self::edge_count_bounds).
    pub fn edge_count(&self) -> Result<u64> {
        Ok(self.inner.counts.edges)
    }

    /// What [`edge_count`](Self::edge_count) lies between, both ends included, as far as memory tells: never reads, never
    /// fails. Today both ends are the count. O(1).
    pub fn edge_count_bounds(&self) -> RangeInclusive<u64> {
        self.inner.counts.edges..=self.inner.counts.edges
    }

    /// The vertex id of `key`, if the vertex exists. Ids are dense, and stable for as long as the vertex lives. O(1); where memory does not
    /// know a key, at most one read of a block from each segment file.
    ///
    /// # Errors
    /// As of every [read](Self).
    pub fn vertex_id<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<Option<VertexId>> {
        let engine = &self.inner.engine;
        let Some(id) = engine.vertex_to_read(key.into(), self.inner.ts)? else { return Ok(None) };
        // A key names a vertex for as long as the vertex exists, so only a dense graph's number says nothing of it. Not asked of the
        // vertex itself: where that is not in memory, a directory would have to be read.
        if !engine.ids.is_dense() {
            return Ok(Some(id));
        }
        Ok(self.contains_id(id)?.then_some(id))
    }

    /// The key of a vertex id, if the vertex exists. O(1), and O(bytes of the key).
    ///
    /// # Errors
    /// As of every [read](Self).
    pub fn vertex_key(&self, id: VertexId) -> Result<Option<VertexKey>> {
        if self.contains_id(id)? { self.inner.engine.key_of(id).map(Some) } else { Ok(None) }
    }

    pub(crate) fn contains_id(&self, id: VertexId) -> Result<bool> {
        if let Some(view) = self.made_view() {
            return Ok(view.contains(id));
        }
        let exists = |read: Read<'_>| read.contains_vertex(id.local());
        // Apart from what may have to be loaded: few reads are shorter.
        let subgraph = self.inner.engine.subgraphs.get(id.subgraph());
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
        let read = self.inner.engine.read_list((Wanted::vertex(id), self.inner.ts), |entry| {
            entry.read(Direction::Out, self.inner.ts, exists)
        });
        Ok(read?.flatten())
    }

    /// The view that this snapshot has, if it has one.
    #[inline]
    pub(super) fn made_view(&self) -> Option<&View> {
        self.inner.view.get().map(|view| &**view)
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

    /// Whether the vertex exists. O(1).
    ///
    /// # Errors
    /// As of every [read](Self).
    pub fn contains_vertex<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<bool> {
        Ok(self.vertex_id(key)?.is_some())
    }

    /// All vertices and the edges of the default label for kernels ([`view_of`](Self::view_of) has those of another), kept
    /// while the snapshot lives. Snapshots of one timestamp share it. It is made from the last view that was asked for,
    /// where there is one: O(subgraphs), and O(delta entries) of those that changed since; in parallel on the current rayon
    /// pool. Lists with a large share of unmerged entries are copied, which `stats` tells; settled ones never are.
    ///
    /// # Errors
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child, if the view was not made before the fork; and as of every
    /// [read](Self).
    #[inline]
    pub fn view(&self) -> Result<&View> {
        self.kept_view().map(|view| &**view)
    }

    /// The view that this snapshot keeps, made now if there is none.
    #[inline]
    pub(crate) fn kept_view(&self) -> Result<&Arc<View>> {
        self.inner.view.get().map_or_else(|| self.make_kept_view(), Ok)
    }

    /// Makes the view that this snapshot keeps. Out of line, so that the way to a view that is there can be inlined.
    #[cold]
    fn make_kept_view(&self) -> Result<&Arc<View>> {
        self.inner.engine.check_owner()?;
        // Made outside the cell: a worker that waits for its part may run another task that asks for this view, and
        // would wait for itself. Two threads that meet here make it twice, and one is kept.
        let view = self.cached_view_of(LabelId::DEFAULT, Makers::Pool)?;
        Ok(self.keep_view(view))
    }

    /// Keeps a view of the default label at this timestamp, unless there is one. Returns the one that is kept.
    pub(super) fn keep_view(&self, view: Arc<View>) -> &Arc<View> {
        self.inner.view.get_or_init(|| view)
    }

    /// A view that shares nothing with others, to check the store by.
    pub(crate) fn fresh_view(&self) -> Result<View> {
        let edges = self.view_edges(LabelId::DEFAULT)?;
        views::fresh(&self.inner.engine, LabelId::DEFAULT, self.inner.ts, edges)
    }

    /// The view of a label: its edges between the vertices of the graph.
    pub(crate) fn cached_view_of(&self, label: LabelId, makers: Makers) -> Result<Arc<View>> {
        let engine = &self.inner.engine;
        engine.views.get(label, self.inner.ts, |previous| {
            let edges = self.view_edges(label)?;
            views::make(engine, label, previous, self.inner.ts, edges, makers)
        })
    }

    /// The number of edges of a label; of the only label what the snapshot counts.
    fn view_edges(&self, label: LabelId) -> Result<u64> {
        let engine = &self.inner.engine;
        let alone = label == LabelId::DEFAULT && engine.labels.iter().all(|(l, _)| l == LabelId::VERTICES);
        if alone { self.edge_count() } else { self.count_edges(label) }
    }

    /// The views of chosen edges that this snapshot keeps.
    pub(super) fn selected(&self) -> &SelectedViews {
        &self.inner.selected
    }

    /// Where it keeps which vertices exist.
    pub(super) fn kept_census(&self) -> &OnceLock<Arc<Census>> {
        &self.inner.census
    }

    /// Where it keeps of which kinds they are.
    pub(super) fn kept_kinds(&self) -> &OnceLock<Arc<KindCensus>> {
        &self.inner.kinds
    }

    /// Whether reads may make the view.
    #[inline]
    pub(super) fn may_make_view(&self) -> &AtomicBool {
        &self.inner.may_make_view
    }

    /// What reads of this snapshot have cost.
    #[inline]
    pub(super) fn demand(&self) -> &ViewDemand {
        &self.inner.demand
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// All vertices with their ids, by ascending id. Builds the view, if the memory limit has room for it. O(vertices) in all.
    ///
    /// # Errors
    /// Where [`view`](Self::view) fails for another reason than the memory limit; each vertex as of every [read](Self).
    pub fn vertices(&self) -> Result<impl Iterator<Item = Result<(VertexId, VertexKey)>> + '_> {
        Ok(self.live_vertices()?.map(|id| Ok((id, self.inner.engine.key_of(id)?))))
    }

    /// Calls `f` with source, destination and weight of every edge of the default label; of an undirected graph once per
    /// edge. Builds the view, if the memory limit has room for it; else it reads the edges by the page, and keeps none. O(edges).
    ///
    /// # Errors
    /// Where [`view`](Self::view) fails for another reason than the memory limit.
    pub fn for_each_edge(&self, mut f: impl FnMut(VertexId, VertexId, f64)) -> Result<()> {
        let Some(view) = self.view_if_it_fits()? else {
            return self.tiered(LabelId::DEFAULT)?.try_for_each_edge(|src, dst, weight| {
                f(src, dst, weight);
                ControlFlow::Continue(())
            });
        };
        let placement = self.inner.engine.placement();
        for v in view.vertices() {
            view.for_each_weighted(v, Direction::Out, |u, w| {
                if placement.counts_at(Direction::Out, v, u) {
                    f(v, u, w);
                }
            });
        }
        Ok(())
    }

    /// The [`view`](Self::view), if the memory limit has room for it.
    pub(crate) fn view_if_it_fits(&self) -> Result<Option<&View>> {
        if self.made_view().is_none() && !self.engine().has_room_for_label(LabelId::DEFAULT) {
            return Ok(None);
        }
        match self.view() {
            Err(Error::Storage(StorageError::MemoryLimit { .. })) => Ok(None),
            view => view.map(Some),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.engine.is_forked() {
            // The registry and the lists of the view are the parent's: nothing is given back.
            std::mem::forget((self.view.take(), std::mem::take(&mut self.selected)));
        } else {
            self.registration.end(&self.engine);
        }
    }
}
