//! Reads of neighbor lists by vertex id: of one vertex, and of many one after another.

use std::ops::ControlFlow;

use hedgerow_catalog::error::Result;
use hedgerow_core::{Block, Direction, LabelId, Resident, SubgraphId, VertexId, WeightedTopology};
use hedgerow_mem::subgraph::Cursor;
use hedgerow_mem::view::ViewBlock;
use hedgerow_mem::{Hold, ItemRef, Subgraph, View};
use hedgerow_pager::pager::pages::Wanted;

use crate::read::snapshot::Snapshot;
use crate::read::view_demand::cost;

impl Snapshot {
    /// Does what [`DefaultLabel::for_each_neighbor`](crate::DefaultLabel::for_each_neighbor) says.
    pub(crate) fn for_each_neighbor(
        &self,
        id: VertexId,
        direction: Direction,
        mut f: impl FnMut(VertexId, f64),
    ) -> Result<()> {
        if let Some(view) = self.made_view() {
            view.for_each_weighted(id, direction, f);
            return Ok(());
        }
        if self.has_to_search(direction) {
            return self.for_each_source(LabelId::DEFAULT, id, |item| f(item.dst, item.weight));
        }
        let direction = self.stored(direction);
        let wanted = Wanted::list(LabelId::DEFAULT, id, direction);
        let found = self.engine().pager.read_list((wanted, self.timestamp()), |entry| {
            entry.for_each_neighbor(direction, self.timestamp(), id.local(), &mut f)
        })?;
        found.iter().for_each(|()| self.note_read(cost::LIST));
        Ok(())
    }

    /// Does what [`DefaultLabel::visit_neighbors`](crate::DefaultLabel::visit_neighbors) says.
    pub(crate) fn visit_neighbors(
        &self,
        id: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]),
    ) -> Result<()> {
        if let Some(view) = self.made_view() {
            match view.has_weights() {
                true => view.weighted_neighbors(id, direction).for_each_run(f),
                false => view.neighbors(id, direction).for_each_run(|run| f(run, &[])),
            }
            return Ok(());
        }
        if self.has_to_search(direction) {
            let weighted = usize::from(self.engine().catalog.is_weighted(LabelId::DEFAULT));
            let one = |item: ItemRef<'_>| f(&[item.dst], &[item.weight][..weighted]);
            return self.for_each_source(LabelId::DEFAULT, id, one);
        }
        let visit =
            |entry: &Subgraph| entry.visit(self.stored(direction), self.timestamp(), id.local(), &mut f);
        match self.engine().pager.subgraphs.get(id.subgraph(), Hold::none()).map(visit) {
            Some(Ok(())) => {}
            _ => self.list_out_of_memory(id, direction, &mut f)?,
        }
        self.note_read(cost::LIST);
        Ok(())
    }

    /// Calls `f` with a list that was not in memory, read from files or from data loaded since. A chain that
    /// is not in memory may be read twice, but `f` must see a list once, so the list is copied first. `f` is
    /// a trait object, so that its code is not compiled into the callers a second time: in the callers it
    /// stays in registers.
    #[cold]
    #[inline(never)]
    fn list_out_of_memory(
        &self,
        id: VertexId,
        direction: Direction,
        f: &mut dyn FnMut(&[VertexId], &[f64]),
    ) -> Result<()> {
        let direction = self.stored(direction);
        let (mut neighbors, mut of_edges) = (Vec::new(), Vec::new());
        let wanted = Wanted::list(LabelId::DEFAULT, id, direction);
        self.engine().pager.read_list((wanted, self.timestamp()), |entry| {
            entry.visit(direction, self.timestamp(), id.local(), |run, weights| {
                neighbors.extend_from_slice(run);
                of_edges.extend_from_slice(weights);
            })
        })?;
        if !neighbors.is_empty() {
            f(&neighbors, &of_edges);
        }
        Ok(())
    }

    /// Does what [`DefaultLabel::neighbor_cursor`](crate::DefaultLabel::neighbor_cursor) says.
    pub(crate) fn neighbor_cursor(&self, direction: Direction) -> NeighborCursor<'_> {
        let lists = match self.made_view() {
            Some(view) => Lists::in_view(view),
            None if self.has_to_search(direction) => Lists::Incoming,
            None => Lists::Chains(Box::new(Cursor::new(self.stored(direction), self.timestamp()))),
        };
        NeighborCursor { snapshot: self, direction, lists }
    }
}

/// A reader of the lists of many vertices of a snapshot. Made by
/// [`DefaultLabel::neighbor_cursor`](crate::DefaultLabel::neighbor_cursor).
///
/// It suits orders in which vertices with close ids follow each other, such as a scan by id or a sorted
/// frontier. It looks up the data that 64 vertices share once, and keeps that data in memory until the next
/// 64 or until it is dropped. So do not keep a cursor that is not in use. In other orders it reads like
/// [`DefaultLabel::visit_neighbors`](crate::DefaultLabel::visit_neighbors). It belongs to one thread at a
/// time.
///
/// ```
/// use hedgerow::{Direction, Graph, VertexId};
///
/// let graph = Graph::in_memory()?;
/// graph.insert_edges(&[(0, 1), (0, 2), (1, 2)])?;
/// let snapshot = graph.snapshot()?;
/// let (mut cursor, mut degrees) = (snapshot.default_label().neighbor_cursor(Direction::Out), Vec::new());
/// for id in (0..3).map(VertexId) {
///     let mut degree = 0;
///     cursor.visit(id, |neighbors, _weights| degree += neighbors.len())?;
///     degrees.push(degree);
/// }
/// assert_eq!(degrees, [2, 1, 0]);
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub struct NeighborCursor<'a> {
    snapshot: &'a Snapshot,
    direction: Direction,
    lists: Lists<'a>,
}

/// The source of a cursor's lists.
enum Lists<'a> {
    /// The view, with the subgraph that was read last.
    View(&'a View, Option<(SubgraphId, ViewBlock<'a>)>),
    WeightedView(&'a View),
    Chains(Box<Cursor>),
    /// Incoming edges, for which the graph has no lists.
    Incoming,
}

impl<'a> Lists<'a> {
    fn in_view(view: &'a View) -> Lists<'a> {
        if view.has_weights() { Lists::WeightedView(view) } else { Lists::View(view, None) }
    }
}

impl NeighborCursor<'_> {
    /// Calls `f` with the neighbors of `id` in stretches, like
    /// [`DefaultLabel::visit_neighbors`](crate::DefaultLabel::visit_neighbors). O(degree), and once for 64
    /// vertices O(their delta).
    ///
    /// # Errors
    /// The errors of every [read](Snapshot). `f` may have been called with some neighbors before an error.
    #[inline]
    pub fn visit(&mut self, id: VertexId, mut f: impl FnMut(&[VertexId], &[f64])) -> Result<()> {
        match &mut self.lists {
            Lists::View(view, last) => {
                let block = match last {
                    Some((at, block)) if *at == id.subgraph() => block,
                    _ => {
                        let block = view.side(self.direction).block_of_scan(id.subgraph());
                        &mut last.insert((id.subgraph(), block)).1
                    }
                };
                _ = block.for_each_run(id.local(), |run| {
                    f(run, &[]);
                    ControlFlow::Continue(())
                });
            }
            Lists::WeightedView(view) => view.weighted_neighbors(id, self.direction).for_each_run(f),
            Lists::Chains(lists) => {
                let read = lists.begins(id);
                let subgraph = self.snapshot.engine().pager.subgraphs.get(id.subgraph(), Hold::none());
                match subgraph.map(|subgraph| lists.visit(subgraph, id, &mut f)) {
                    Some(Ok(())) => {}
                    // Read separately and copied: the cursor must keep no data of this list for the next one.
                    _ => self.snapshot.list_out_of_memory(id, self.direction, &mut f)?,
                }
                if let Some(in_order) = read {
                    self.snapshot.note_read(cost::LIST.plus(cost::LIST_IN_ORDER, in_order));
                    if let Some(view) = self.snapshot.made_view() {
                        self.lists = Lists::in_view(view);
                    }
                }
            }
            Lists::Incoming => self.snapshot.visit_neighbors(id, self.direction, f)?,
        }
        Ok(())
    }
}
