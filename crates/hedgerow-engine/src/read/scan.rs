//! Scans of all edges of a label, and of all vertices, with their properties.

use std::ops::Range;
use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_core::{
    Direction, KeyColumn, KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, VertexId,
};
use hedgerow_mem::table::PAGE;
use hedgerow_pager::pager::census::Census;
use hedgerow_pager::pager::pages::{Copies, ListRun, Scan, places};

use crate::read::rows::{EdgeRow, VertexRow};
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::{ChosenLabel, EdgeDirection};

/// A scan of chosen edges of a label. The caller pulls one source at a time. While the scan exists, the store
/// keeps the versions of its snapshot. The scan holds the lists of at most 4,096 vertices. Lists from files
/// count towards the memory limit and take at most a 16th of it, or one subgraph (64 vertices) if that is
/// larger.
///
/// ```
/// use hedgerow::Graph;
///
/// let graph = Graph::in_memory()?;
/// graph.insert_edge((1, 2))?;
/// let (mut scan, mut edges) = (graph.snapshot()?.scan_edges("")?, 0);
/// while scan.next_source(|_| edges += 1)? {}
/// assert_eq!(edges, 1);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub struct EdgeScan {
    snapshot: Snapshot,
    label: LabelId,
    /// The choice of edges; `None` if no edge is chosen.
    chosen: Option<ChosenLabel>,
    lists: Scan,
    /// The lists that were read last, and the sources among them whose edges were not passed yet.
    run: Option<ListRun>,
    sources: Range<u32>,
    start: u32,
    end: u32,
}

impl EdgeScan {
    /// Restricts a scan that has not begun to sources in a range of vertex ids, such as a range of
    /// [`partitions`](Snapshot::partitions).
    #[must_use]
    pub fn within(self, sources: Range<VertexId>) -> EdgeScan {
        let EdgeScan { snapshot, label, chosen, lists, .. } = self;
        let bound = snapshot.engine().keys.ids.bound();
        let end = sources.end.0.min(bound);
        let start = sources.start.0.min(end);
        let subgraphs = VertexId(start).subgraph()..SubgraphId(end.div_ceil(SUBGRAPH_VERTICES as u32));
        let (lists, sources) = (lists.within(subgraphs), start..start);
        EdgeScan { snapshot, label, chosen, lists, run: None, sources, start, end }
    }

    /// Returns the label of the edges.
    pub fn label(&self) -> LabelId {
        self.label
    }

    /// Calls `f` with the chosen edges of the next source that has some, ascending by destination and rank;
    /// sources ascend by id. An undirected edge is passed once, at its smaller end. False if no edge was
    /// left. What is not in memory is read from files by the page. O(degree and vertices without edges).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot), before the first call of `f`; then the call may be repeated.
    pub fn next_source(&mut self, mut f: impl FnMut(EdgeRow<'_>)) -> Result<bool> {
        self.snapshot.engine().check_owner()?;
        let placement = self.snapshot.engine().catalog.placement();
        loop {
            if self.chosen.is_none() || self.run.is_none() && !self.read()? {
                return Ok(false);
            }
            let (Some(run), Some(chosen)) = (&self.run, &self.chosen) else { return Ok(false) };
            let is_all = chosen.is_all();
            for src in self.sources.by_ref().map(VertexId) {
                let mut has_edges = false;
                run.for_each_item(src.subgraph(), src.local(), |item| {
                    // This copy of an undirected edge has all its properties.
                    if placement.counts_at(Direction::Out, src, item.dst)
                        && (is_all || chosen.has_rank(item.rank) && chosen.passes(&item))
                    {
                        has_edges = true;
                        f(EdgeRow::of(chosen, src, item));
                    }
                });
                if has_edges {
                    return Ok(true);
                }
            }
            self.run = None;
        }
    }

    /// Calls `f` with each edge that is left, until `f` fails. After an error of `f` it reads the edges of
    /// that source to the end, without more calls of `f`. O(edges).
    ///
    /// # Errors
    /// The error of `f`; the errors of every [read](Snapshot), converted to the error type of `f`.
    pub fn try_for_each<E: From<Error>>(
        mut self,
        mut f: impl FnMut(EdgeRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut outcome = Ok(());
        while outcome.is_ok()
            && self.next_source(|edge| {
                if outcome.is_ok() {
                    outcome = f(edge);
                }
            })?
        {}
        outcome
    }

    /// Reads the lists of the next sources; false if there are none.
    fn read(&mut self) -> Result<bool> {
        let core = self.snapshot.engine();
        let census = self.snapshot.kept_census().get().map(|census| &**census);
        self.run = self.lists.next_run(&core.pager, core.keys.ids.bound(), census)?;
        let Some(run) = &self.run else { return Ok(false) };
        let all = run.vertices();
        self.sources = all.start.max(self.start)..all.end.min(self.end);
        Ok(true)
    }
}

/// All vertex ids.
const EVERY: Range<VertexId> = VertexId(0)..VertexId(u32::MAX);

/// A scan of all vertices with their properties, one at a time, like an [`EdgeScan`].
pub struct VertexScan {
    snapshot: Snapshot,
    census: Arc<Census>,
    /// The first subgraph whose vertices were not read yet, and the end of all.
    next: SubgraphId,
    end: SubgraphId,
    loads: bool,
    /// The lists that were read last, and their vertices that were not passed yet.
    run: Option<ListRun>,
    vertices: std::vec::IntoIter<(VertexId, KindId)>,
}

impl VertexScan {
    /// Restricts a scan that has not begun to vertices in a range of ids: a range of
    /// [`partitions`](Snapshot::partitions). The range is extended to whole subgraphs of 64 vertices.
    #[must_use]
    pub fn within(mut self, vertices: Range<VertexId>) -> VertexScan {
        let end = SubgraphId(vertices.end.0.div_ceil(SUBGRAPH_VERTICES as u32));
        self.end = SubgraphId(self.end.0.min(end.0));
        self.next = vertices.start.subgraph();
        self
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Returns the vertices that are left, by ascending id, and their keys, as two columns. O(vertices, and
    /// bytes of texts); see [`Snapshot::vertex_keys`].
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    pub fn keys(self) -> Result<(Vec<VertexId>, KeyColumn)> {
        self.snapshot.engine().check_owner()?;
        let mut ids: Vec<VertexId> = self.vertices.as_slice().iter().map(|&(id, _)| id).collect();
        ids.extend(self.ids(self.next..self.end));
        let keys = self.snapshot.vertex_keys(&ids)?;
        Ok((ids, keys))
    }

    /// Returns how many of the vertices that are left are of one kind. O(vertices); O(subgraphs) in a graph
    /// with one kind.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchKind`](crate::ArgumentError::NoSuchKind); the errors of every [read](Snapshot).
    pub fn count_of(mut self, kind: KindId) -> Result<u64> {
        self.snapshot.engine().check_owner()?;
        self.snapshot.schema_seen().check_kind(kind)?;
        if !self.snapshot.has_kinds() {
            let left = (self.next.0..self.end.0).map(|id| self.census.present(SubgraphId(id)).count_ones());
            return Ok(self.vertices.len() as u64 + left.map(u64::from).sum::<u64>());
        }
        let count = |vertices: &[(VertexId, KindId)]| vertices.iter().filter(|(_, of)| *of == kind).count();
        let mut found = count(self.vertices.as_slice());
        while let Some(page) = self.next_page() {
            found += count(&self.with_kinds(page.clone())?);
            self.next = page.end;
        }
        Ok(found as u64)
    }

    /// Returns the vertices of some subgraphs.
    fn ids(&self, subgraphs: Range<SubgraphId>) -> impl Iterator<Item = VertexId> + '_ {
        (subgraphs.start.0..subgraphs.end.0).map(SubgraphId).flat_map(|subgraph| {
            let all = places(self.census.present(subgraph));
            all.map(move |local| subgraph.vertex(LocalVertex(local as u8)))
        })
    }

    /// Returns the vertices of some subgraphs with their kinds.
    fn with_kinds(&self, subgraphs: Range<SubgraphId>) -> Result<Vec<(VertexId, KindId)>> {
        if !self.snapshot.has_kinds() {
            return Ok(self.ids(subgraphs).map(|id| (id, KindId::DEFAULT)).collect());
        }
        let ids: Vec<VertexId> = self.ids(subgraphs).collect();
        let mut vertices = Vec::with_capacity(ids.len());
        self.snapshot.for_each_kind(&ids, |id, kind| vertices.push((id, kind)))?;
        Ok(vertices)
    }

    /// Returns the subgraphs on the next page with vertices.
    fn next_page(&mut self) -> Option<Range<SubgraphId>> {
        let page_after = |id: SubgraphId| SubgraphId((id.0 / PAGE as u32 + 1) * PAGE as u32);
        while self.next < self.end && !self.census.has_page(self.next.0 / PAGE as u32) {
            self.next = page_after(self.next);
        }
        (self.next < self.end).then(|| self.next..self.end.min(page_after(self.next)))
    }

    /// Calls `f` with every vertex that is left, by ascending id, until `f` fails. The scan reads properties
    /// together with the vertex: it looks up no key, and copies no value. If the memory limit has room for
    /// the properties of all vertices, it loads them, so that the next call finds them in memory.
    /// O(vertices).
    ///
    /// # Errors
    /// The error of `f`; the errors of every [read](Snapshot), converted to the error type of `f`.
    pub fn try_for_each<E: From<Error>>(
        mut self,
        mut f: impl FnMut(VertexRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.loads = self.snapshot.has_room_to_load(LabelId::VERTICES);
        let mut outcome = Ok(());
        while outcome.is_ok() && self.next_vertex(|vertex| outcome = f(vertex))? {}
        outcome
    }

    /// Calls `f` with the next vertex, ascending by id. False if no vertex was left. O(bytes of its
    /// properties).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot), before the call of `f`; then the call may be repeated.
    pub fn next_vertex(&mut self, f: impl FnOnce(VertexRow<'_>)) -> Result<bool> {
        self.snapshot.engine().check_owner()?;
        while self.vertices.len() == 0 {
            self.run = None;
            if !self.read()? {
                return Ok(false);
            }
        }
        if let Some((id, kind)) = self.vertices.next() {
            let mut f = Some(f);
            if let Some(run) = &self.run {
                run.for_each_item(id.subgraph(), id.local(), |item| {
                    f.take().into_iter().for_each(|f| f(VertexRow { id, kind, item: Some(item) }));
                });
            }
            f.into_iter().for_each(|f| f(VertexRow { id, kind, item: None }));
        }
        Ok(true)
    }

    /// Reads the next vertices on one page; false if there are none.
    fn read(&mut self) -> Result<bool> {
        let Some(of_page) = self.next_page() else { return Ok(false) };
        // Keys may have to be read, so this comes before the lists take memory.
        let mut vertices = self.with_kinds(of_page.clone())?;
        let core = self.snapshot.engine();
        let t = self.snapshot.timestamp();
        let mut lists = Scan::new(LabelId::VERTICES, Direction::Out, t, of_page, self.loads);
        let run = lists.next_run(&core.pager, core.keys.ids.bound(), Some(&self.census))?;
        vertices.retain(|(id, _)| id.subgraph() < lists.position());
        (self.run, self.vertices, self.next) = (run, vertices.into_iter(), lists.position());
        Ok(true)
    }
}

impl Snapshot {
    /// Begins a scan of all vertices. O(subgraphs) once for a snapshot, and a read of the directory of each
    /// page that is not in memory.
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn scan_vertices(&self) -> Result<VertexScan> {
        let census = self.census()?.clone();
        let end = SubgraphId(self.engine().keys.ids.bound.subgraphs());
        let (snapshot, vertices) = (self.clone(), Vec::new().into_iter());
        Ok(VertexScan { snapshot, census, next: SubgraphId(0), end, loads: false, run: None, vertices })
    }

    /// Begins a scan of chosen edges of one label. Reads nothing, unless the selection takes several labels:
    /// then it costs as [`EdgeSelection::only_label`](crate::EdgeSelection::only_label). The scan does not
    /// use the kinds of a selection.
    ///
    /// # Errors
    /// The errors of [`view`](Self::view) for an unknown label or property;
    /// [`ArgumentError::SeveralLabels`] if the selection takes several labels that have edges;
    /// [`ArgumentError::Invalid`] if it takes another direction than along the edges.
    pub fn scan_edges<'s>(&self, edges: impl Into<EdgeSelectionRef<'s>>) -> Result<EdgeScan> {
        let selection = edges.into().selection();
        let chosen = selection.resolve_lists(self)?;
        if chosen.direction != EdgeDirection::Out {
            let why = "a scan follows edges from source to destination: the selection has another direction";
            return Err(ArgumentError::Invalid(why.to_owned()).into());
        }
        let label = match selection.labels(&self.schema_seen())?[..] {
            [label] => label,
            _ => selection.only_label(self)?,
        };
        // Without an entry of the label, the conditions exclude all its edges, or it has none.
        let chosen = chosen.labels.into_iter().find(|chosen| chosen.label == label);
        self.scan_chosen(label, chosen, EVERY, false)
    }

    /// True if what is not in memory of a label fits, so that a scan loads it for later calls.
    fn has_room_to_load(&self, label: LabelId) -> bool {
        self.engine().pager.has_room_for_labels([label], (Copies::NoView, false))
    }

    /// Begins a scan of the edges of a label whose sources are in a range of vertex ids. With `loads`, chains
    /// that are not in memory are loaded, if there is room for all of them.
    pub(crate) fn scan_edges_of(
        &self,
        label: LabelId,
        sources: Range<VertexId>,
        loads: bool,
    ) -> Result<EdgeScan> {
        self.scan_chosen(label, Some(ChosenLabel::whole_of(label)), sources, loads)
    }

    fn scan_chosen(
        &self,
        label: LabelId,
        chosen: Option<ChosenLabel>,
        sources: Range<VertexId>,
        loads: bool,
    ) -> Result<EdgeScan> {
        self.engine().check_owner()?;
        let loads = loads && self.has_room_to_load(label);
        let lists = Scan::new(label, Direction::Out, self.timestamp(), SubgraphId(0)..SubgraphId(0), loads);
        let snapshot = self.clone();
        let scan = EdgeScan { snapshot, label, chosen, lists, run: None, sources: 0..0, start: 0, end: 0 };
        Ok(scan.within(sources))
    }
}

impl Snapshot {
    /// Calls `f` with every chosen edge, label after label, each by ascending source id. An undirected edge
    /// is passed once, a directed edge from source to destination, whatever the direction of the selection.
    /// The call reads properties together with the edge, without look-ups or copies. A scan that ends early
    /// is an [`EdgeScan`]. O(edges of the labels).
    ///
    /// ```
    /// use hedgerow::{Direction, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 2), (1, 3)])?;
    /// let mut weights = 0.0;
    /// graph.snapshot()?.for_each_edge(Direction::Out, |edge| weights += edge.weight())?;
    /// assert_eq!(weights, 2.0);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`view`](Self::view). `f` may have been called with some edges before an error.
    pub fn for_each_edge<'s>(
        &self,
        edges: impl Into<EdgeSelectionRef<'s>>,
        mut f: impl FnMut(EdgeRow<'_>),
    ) -> Result<()> {
        let chosen = match self.lists(edges.into())? {
            Lists::OfLabel(label, _) => vec![ChosenLabel::whole_of(label)],
            Lists::OfAll(_) => self.label_ids().map(ChosenLabel::whole_of).collect(),
            Lists::Chosen(chosen) => chosen.edges.labels,
        };
        for chosen in chosen {
            let mut scan = self.scan_chosen(chosen.label, Some(chosen), EVERY, true)?;
            while scan.next_source(&mut f)? {}
        }
        Ok(())
    }
}
