//! Reads of `multi` labels by rank: the newest edges of a vertex, if ranks are times, and the ranks between
//! two vertices.

use std::cell::RefCell;
use std::cmp::Reverse;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LabelId, Row, RowRef, VertexId, VertexKeyRef};
use hedgerow_mem::version::Read;
use hedgerow_pager::pager::pages::Wanted;

use crate::read::at_vertex::EdgeOf;
use crate::read::lent_edge::LentEdge;
use crate::read::properties::named;
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;

/// An edge of a list: its rank and the other endpoint.
type End = (u64, VertexId);
/// The weight and the properties of an edge, if its list has them.
type Copied = Option<(f64, Option<Row>)>;

/// The ends with the greatest ranks among the offered ends. Among equal ranks, the ends with the greatest
/// vertex ids.
struct Newest<T> {
    limit: usize,
    /// The best ends so far, at most twice `limit`. All of the greatest offered ends are among them.
    ends: Vec<(End, T)>,
    /// An end at or below this bound is not among the greatest.
    bar: Option<End>,
}

impl<T> Newest<T> {
    /// Returns an empty set for about `count` offers.
    fn new(limit: usize, count: usize) -> Newest<T> {
        Newest { limit, ends: Vec::with_capacity(count.min(limit.saturating_mul(2))), bar: None }
    }

    /// Offers an end with a value. O(1), amortized over `limit` calls.
    fn offer(&mut self, end: End, beside: T) {
        if self.limit == 0 || self.bar.is_some_and(|bar| end <= bar) {
            return;
        }
        self.ends.push((end, beside));
        if self.ends.len() >= self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.ends.len() > self.limit {
            let (_, least, _) =
                self.ends.select_nth_unstable_by_key(self.limit - 1, |(end, _)| Reverse(*end));
            self.bar = Some(least.0);
            self.ends.truncate(self.limit);
        }
    }

    /// Returns the ends from the greatest rank to the least.
    fn finish(mut self) -> Vec<(End, T)> {
        self.cut();
        self.ends.sort_unstable_by_key(|(end, _)| Reverse(*end));
        self.ends
    }
}

impl Snapshot {
    /// Returns the chosen edges at a vertex with the greatest ranks, at most `limit`, with all their
    /// properties. They come by descending rank, and among equal ranks by descending [`VertexId`] of the
    /// other endpoint. `None` if there is no such vertex. If the ranks of a `multi` label are times, these
    /// are the newest edges of the vertex.
    ///
    /// O(degree + limit log limit): lists are sorted by neighbor, so the call compares each rank of the list.
    /// It reads only the properties of the returned edges. Takes no lock that a writer needs.
    ///
    /// ```
    /// use hedgerow::{EdgeKey, Graph, LabelOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("calls", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// for (to, time) in [(2, 50), (3, 90), (2, 70)] {
    ///     tx.put_edge_with(EdgeKey::new("calls", 1, to).rank(time), [("seconds", 30)])?;
    /// }
    /// tx.commit()?;
    /// let newest = graph.snapshot()?.newest_edges(1, "calls", 2)?.unwrap_or_default();
    /// assert_eq!(newest.iter().map(|edge| edge.rank).collect::<Vec<_>>(), [90, 70]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`view`](Self::view); [`ArgumentError::Invalid`] if a
    /// label is not `multi`: its edges have no ranks, and [`first_edges`](Self::first_edges) returns the
    /// first of them.
    pub fn newest_edges<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        limit: usize,
    ) -> Result<Option<Vec<EdgeOf>>> {
        let lists = self.ranked_lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        self.newest_of(&lists, id, limit).map(|found| Some(found.1))
    }

    /// Returns the newest edges, and rank and other endpoint of each.
    fn newest_of(&self, lists: &Lists<'_>, id: VertexId, limit: usize) -> Result<(Vec<End>, Vec<EdgeOf>)> {
        let mut newest = Newest::new(limit, 0);
        self.for_each_of(lists, id, |label, direction, other, rank| {
            newest.offer((rank, other), (label, direction));
        })?;
        let newest = newest.finish();
        let ends: Vec<End> = newest.iter().map(|&(end, _)| end).collect();
        let edges = match *lists {
            Lists::OfLabel(label, direction) => self.edges_at(label, id, direction, &ends)?,
            _ => {
                let copy = |((rank, other), (label, direction))| (label, direction, other, rank);
                self.edges_of_copies(id, newest.into_iter().map(copy))?
            }
        };
        Ok((ends, edges))
    }

    /// Calls `f` with the edges that [`newest_edges`](Self::newest_edges) returns, in the same order, lent
    /// from the memory of the store. Returns true if there is such a vertex.
    ///
    /// O(degree + limit log limit), like [`newest_edges`](Self::newest_edges), but in one pass over the list
    /// instead of two, and without copies of properties, if the edges are the outgoing ones of one label of a
    /// directed graph. Else properties are copied. While `f` runs the list stays in memory, and no writer
    /// waits for that.
    ///
    /// ```
    /// use hedgerow::{EdgeKey, Graph, LabelOptions, ValueRef};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("calls", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// for (to, time) in [(2, 50), (3, 90), (2, 70)] {
    ///     tx.put_edge_with(EdgeKey::new("calls", 1, to).rank(time), [("seconds", 30)])?;
    /// }
    /// tx.commit()?;
    /// let mut seconds = 0;
    /// graph.snapshot()?.visit_newest_edges(1, "calls", 2, |edge| {
    ///     if let ValueRef::I64(more) = edge.property("seconds") {
    ///         seconds += more;
    ///     }
    /// })?;
    /// assert_eq!(seconds, 60);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`newest_edges`](Self::newest_edges).
    pub fn visit_newest_edges<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        limit: usize,
        mut f: impl FnMut(LentEdge<'_>),
    ) -> Result<bool> {
        let lists = self.ranked_lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(false) };
        if limit == 0 {
            return Ok(true);
        }
        if let Lists::OfLabel(label, Direction::Out) = lists
            && self.engine().catalog.config.directed
        {
            let schema = self.engine().catalog.schema.load_full();
            let of_label = schema.label_by_id(label);
            self.visit_newest_where_they_lie((label, of_label), id, limit, f)?;
            return Ok(true);
        }
        let (ends, edges) = self.newest_of(&lists, id, limit)?;
        for (edge, &end) in edges.iter().zip(&ends) {
            f(LentEdge::copied(end, edge));
        }
        Ok(true)
    }

    /// Returns the lists of a choice of edges, and refuses labels whose edges have no ranks.
    fn ranked_lists<'s>(&self, edges: EdgeSelectionRef<'s>) -> Result<Lists<'s>> {
        let lists = self.lists(edges)?;
        let schema = self.engine().catalog.schema.load();
        let without_ranks = |label: LabelId| schema.label_by_id(label).filter(|label| !label.is_multi());
        let refused = match &lists {
            Lists::OfLabel(label, _) => without_ranks(*label),
            Lists::OfAll(_) => without_ranks(LabelId::DEFAULT),
            Lists::Chosen(chosen) => {
                chosen.selection.labels(&self.schema_seen())?.into_iter().find_map(without_ranks)
            }
        };
        let Some(label) = refused else { return Ok(lists) };
        let name = label.name();
        let message =
            format!("label {name:?} is not multi: its edges have no ranks, and none of them is the newest");
        Err(ArgumentError::Invalid(message).into())
    }

    /// Visits the newest edges in the list of outgoing edges of a directed graph. This list has all
    /// properties of its edges.
    fn visit_newest_where_they_lie(
        &self,
        (label, of_label): (LabelId, Option<&Label>),
        id: VertexId,
        limit: usize,
        f: impl FnMut(LentEdge<'_>),
    ) -> Result<()> {
        let wanted = Wanted::list(label, id, Direction::Out).with_rows();
        let weighted = self.engine().catalog.is_weighted(label);
        let mut f = Some(f);
        let visit = |read: Read<'_>| {
            let Some(mut f) = f.take() else { return };
            let mut newest = Newest::<(f64, RowRef<'_>)>::new(limit, read.degree(id.local()));
            read.for_each_item(id.local(), |item| {
                newest.offer((item.rank, item.dst), (item.weight, item.row))
            });
            let mut newest = newest.finish();
            if faults::is_on(PlantedFault::LentInListOrder) {
                newest.sort_by_key(|((rank, other), _)| (*other, *rank));
            }
            for ((rank, other), (weight, row)) in newest {
                f(LentEdge::lent((rank, other), weighted.then_some(weight), row, of_label));
            }
        };
        self.read_kept_of(wanted, visit).map(drop)
    }

    /// Returns the ranks of the edges of a label from one vertex to another, ascending; for an edge of a
    /// label that is not `multi`, only 0. Empty if there is no edge, or no such vertex. O(log degree +
    /// ranks).
    ///
    /// ```
    /// use hedgerow::{EdgeKey, Graph, LabelOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("calls", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(70), [("seconds", 3)])?;
    /// tx.put_edge_with(EdgeKey::new("calls", 1, 2).rank(50), [("seconds", 8)])?;
    /// tx.commit()?;
    /// assert_eq!(graph.snapshot()?.ranks_between("calls", 1, 2)?, [50, 70]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn ranks_between<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Vec<u64>> {
        let label = self.label(label.into())?;
        let (src, dst) = self.engine().catalog.ends_of(Some(label), src.into(), dst.into())?;
        match self.ends(src, dst)? {
            Some((src, dst)) => self.ranks_of(label, src, dst),
            None => Ok(Vec::new()),
        }
    }

    /// Returns ranks like [`ranks_between`](Self::ranks_between). In an undirected graph `src` is the smaller
    /// end.
    pub(crate) fn ranks_of(&self, label: LabelId, src: VertexId, dst: VertexId) -> Result<Vec<u64>> {
        let ranks = RefCell::new(Vec::new());
        self.has_edge_with_rank(label, src, dst, |rank| {
            ranks.borrow_mut().push(rank);
            false
        })?;
        let mut ranks = ranks.into_inner();
        ranks.sort_unstable();
        Ok(ranks)
    }

    /// Returns these edges of a vertex with their properties, in the given order.
    fn edges_at(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
        ends: &[End],
    ) -> Result<Vec<EdgeOf>> {
        // Incoming lists have no properties, not even for a self-loop.
        let incoming = direction == Direction::In && self.engine().catalog.config.directed;
        let is_own = |other| !incoming && self.engine().catalog.placement().ends(id, other).0 == id;
        let mut rows = match ends.iter().any(|&(_, other)| is_own(other)) {
            true => self.rows_of(label, id, direction, ends)?,
            false => vec![None; ends.len()],
        };
        let schema = self.engine().catalog.schema.load_full();
        let is_weighted = self.engine().catalog.is_weighted(label);
        let edge = |(&(rank, other), row): (&End, &mut Copied)| {
            let properties = match row.take().filter(|_| is_own(other)) {
                Some((weight, row)) => named(&schema, label, is_weighted.then_some(weight), row.as_ref()),
                // The other copy has the properties.
                None => self.properties_between(&schema, label, id, other, direction, rank)?,
            };
            let key = self.engine().keys.key_of(&self.engine().pager, other)?;
            Ok(EdgeOf { label, key, rank, properties })
        };
        ends.iter().zip(&mut rows).map(edge).collect()
    }

    /// Returns weight and properties of these edges from the vertex's own list, in one pass over the list.
    fn rows_of(
        &self,
        label: LabelId,
        id: VertexId,
        direction: Direction,
        ends: &[End],
    ) -> Result<Vec<Copied>> {
        let mut order: Vec<usize> = (0..ends.len()).collect();
        // The order of the list: by neighbor, then by rank.
        order.sort_unstable_by_key(|&at| (ends[at].1, ends[at].0));
        let (mut next, mut rows) = (order.into_iter().peekable(), vec![None; ends.len()]);
        self.for_each_item(label, id, direction, |item| {
            if next.peek().is_some_and(|&at| ends[at] == (item.rank, item.dst)) {
                next.next().into_iter().for_each(|at| rows[at] = Some((item.weight, item.row.to_row())));
            }
        })?;
        Ok(rows)
    }
}
