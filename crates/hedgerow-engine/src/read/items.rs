//! Reads of one label's edges at a vertex by their ids, with ranks and properties.

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, LabelId, LocalVertex, Row, SUBGRAPH_VERTICES, SubgraphId, VertexId};
use hedgerow_mem::ItemRef;
use hedgerow_mem::version::Read;
use hedgerow_pager::pager::pages::Wanted;

use crate::read::snapshot::Snapshot;

impl Snapshot {
    /// Calls `f` with the `wanted` list or vertices, and returns the result of `f`; `None` if nothing is
    /// stored for them.
    #[inline]
    pub(crate) fn read_of<R>(&self, wanted: Wanted, mut f: impl FnMut(Read<'_>) -> R) -> Result<Option<R>> {
        let (direction, t) = (wanted.direction(), self.timestamp());
        let found = self.engine().pager.read_list((wanted, t), |entry| entry.read(direction, t, &mut f))?;
        Ok(found.flatten())
    }

    /// Reads like [`read_of`](Self::read_of), but with a counted reference to the version, so that `f` may
    /// take long.
    pub(super) fn read_kept_of<R>(
        &self,
        wanted: Wanted,
        mut f: impl FnMut(Read<'_>) -> R,
    ) -> Result<Option<R>> {
        let (direction, t) = (wanted.direction(), self.timestamp());
        let found =
            self.engine().pager.read_list((wanted, t), |entry| entry.read_kept(direction, t, &mut f))?;
        Ok(found.flatten())
    }

    /// Returns weight and properties of an edge. In an undirected graph `src` is the smaller end.
    pub(crate) fn item_by_id(
        &self,
        label: LabelId,
        src: VertexId,
        dst: VertexId,
        rank: u64,
    ) -> Result<Option<(f64, Option<Row>)>> {
        self.with_item(label, src, dst, rank, |item| (item.weight, item.row.to_row()))
    }

    pub(super) fn with_item<R>(
        &self,
        label: LabelId,
        src: VertexId,
        dst: VertexId,
        rank: u64,
        f: impl Fn(ItemRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let item = |read: Read<'_>| read.item(src.local(), dst, rank, self.hint()).map(&f);
        let wanted = Wanted::edge(label, src, Direction::Out, dst).with_rows();
        Ok(self.read_of(wanted, item)?.flatten())
    }

    /// True if the edge exists. In an undirected graph `src` is the smaller end.
    pub(crate) fn contains_item(
        &self,
        label: LabelId,
        src: VertexId,
        dst: VertexId,
        rank: u64,
    ) -> Result<bool> {
        let item = |read: Read<'_>| read.item(src.local(), dst, rank, self.hint()).is_some();
        let found = self.read_of(Wanted::edge(label, src, Direction::Out, dst), item)?;
        Ok(found == Some(true))
    }

    /// Calls `f` with each edge of a label at a vertex, ascending by vertex id and rank. `f` also gets the
    /// properties of fixed width. Text and bytes of an undirected edge, and all properties of an incoming
    /// one, are stored with the other copy.
    pub(crate) fn for_each_item(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
        f: impl FnMut(ItemRef<'_>),
    ) -> Result<()> {
        if self.has_to_search(direction) {
            return self.for_each_source(label, id, f);
        }
        self.visit_items(Wanted::list(label, id, self.stored(direction)).with_rows(), id, f)
    }

    /// Calls `f` with the other endpoint and the rank of each edge, and reads no properties. Otherwise like
    /// [`for_each_item`](Self::for_each_item).
    pub(crate) fn for_each_end(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
        mut f: impl FnMut(VertexId, u64),
    ) -> Result<()> {
        let f = |item: ItemRef<'_>| f(item.dst, item.rank);
        if self.has_to_search(direction) {
            return self.for_each_source(label, id, f);
        }
        self.visit_items(Wanted::list(label, id, self.stored(direction)), id, f)
    }

    #[inline]
    fn visit_items(&self, wanted: Wanted, id: VertexId, f: impl FnMut(ItemRef<'_>)) -> Result<()> {
        let mut f = Some(f);
        let visit = |read: Read<'_>| {
            f.take().into_iter().for_each(|f| read.for_each_item(id.local(), f));
        };
        self.read_kept_of(wanted, visit).map(drop)
    }

    /// True if the store does not keep edges in `direction`, so that reads must search for them.
    pub(crate) fn has_to_search(&self, direction: Direction) -> bool {
        direction == Direction::In && self.engine().catalog.config.is_one_way()
    }

    /// Calls `f` with each edge to a vertex, with its source in place of its destination, in a graph without
    /// incoming lists. O(vertices log degree).
    pub(crate) fn for_each_source(
        &self,
        label: LabelId,
        id: VertexId,
        mut f: impl FnMut(ItemRef<'_>),
    ) -> Result<()> {
        self.engine().pager.load_label(label, true)?;
        for subgraph in (0..self.engine().keys.ids.bound.subgraphs()).map(SubgraphId) {
            let mut visit = |read: Read<'_>| {
                for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                    let src = subgraph.vertex(local);
                    read.for_each_item_to(local, id, |item| f(ItemRef { dst: src, ..item }));
                }
            };
            self.engine().pager.read_subgraph((label, subgraph), self.timestamp(), |entry| {
                entry.read_kept(Direction::Out, self.timestamp(), &mut visit)
            })?;
        }
        Ok(())
    }

    pub(crate) fn degree_by_label(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
    ) -> Result<usize> {
        if self.has_to_search(direction) {
            let mut degree = 0;
            self.for_each_source(label, id, |_| degree += 1)?;
            return Ok(degree);
        }
        let list = (label, id, self.stored(direction));
        Ok(self.engine().pager.read_degree(list, self.timestamp())?.0)
    }
}
