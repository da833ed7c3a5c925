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

use crate::read::at_vertex::{Copy, EdgeOf};
use crate::read::lent::{Lent, LentEdge};
use crate::read::properties::named;
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;

/// An edge of a list: its rank and the other endpoint.
type End = (u64, VertexId);
/// About the number of entries that a pass over a list reads in the time of one look-up: an estimate.
const ENTRIES_OF_A_LOOK_UP: usize = 16;
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

impl Lent<'_> {
    /// Calls `f` with the edges that [`Snapshot::first_edges`] returns for
    /// [`EdgeLimit::newest`](crate::EdgeLimit::newest), in the same order. Returns true if there is such a
    /// vertex.
    ///
    /// O(degree + limit log limit), like [`Snapshot::first_edges`], but in one pass over the list instead of
    /// two, and without copies of properties, if the edges are the outgoing ones of one label of a directed
    /// graph. Else properties are copied. While `f` runs the list stays in memory, and no writer
    /// waits for that.
    ///
    /// ```
    /// use hedgerow::{EdgeKey, Graph, LabelOptions, Lent, ValueRef};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("calls", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// for (to, time) in [(2, 50), (3, 90), (2, 70)] {
    ///     tx.put_edge_with(EdgeKey::new("calls", 1, to).rank(time), [("seconds", 30)])?;
    /// }
    /// tx.commit()?;
    /// let mut seconds = 0;
    /// let snapshot = graph.snapshot()?;
    /// Lent::new(&snapshot).newest_edges(1, "calls", 2, |edge| {
    ///     if let ValueRef::I64(more) = edge.property("seconds") {
    ///         seconds += more;
    ///     }
    /// })?;
    /// assert_eq!(seconds, 60);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Snapshot::first_edges`].
    pub fn newest_edges<'k, 's>(
        self,
        key: impl Into<VertexKeyRef<'k>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        limit: usize,
        mut f: impl FnMut(LentEdge<'_>),
    ) -> Result<bool> {
        let lists = self.0.ranked_lists(edges.into())?;
        let Some(id) = self.0.end_of_lists(&lists, key.into())? else { return Ok(false) };
        if limit == 0 {
            return Ok(true);
        }
        if let Lists::OfLabel(label, Direction::Out) = lists
            && self.0.engine().catalog.config.directed
        {
            let schema = self.0.engine().catalog.schema.load_full();
            let of_label = schema.label_by_id(label);
            self.0.visit_newest_where_they_lie((label, of_label), id, limit, f)?;
            return Ok(true);
        }
        let (copies, degree) = self.0.newest_of(&lists, id, limit)?;
        let edges = self.0.edges_of_copies(&lists, id, (&copies, degree))?;
        for (edge, &(.., other, rank)) in edges.iter().zip(&copies) {
            f(LentEdge::copied((rank, other), edge));
        }
        Ok(true)
    }
}

impl Snapshot {
    /// Returns the copies of the newest edges, and the number of all edges in the lists.
    pub(super) fn newest_of(
        &self,
        lists: &Lists<'_>,
        id: VertexId,
        limit: usize,
    ) -> Result<(Vec<Copy>, usize)> {
        let (mut newest, mut degree) = (Newest::new(limit, 0), 0);
        self.for_each_of(lists, id, |label, direction, other, rank| {
            degree += 1;
            newest.offer((rank, other), (label, direction));
        })?;
        let copy = |((rank, other), (label, direction))| (label, direction, other, rank);
        Ok((newest.finish().into_iter().map(copy).collect(), degree))
    }

    /// Returns the lists of a choice of edges, and refuses labels whose edges have no ranks.
    pub(super) fn ranked_lists<'s>(&self, edges: EdgeSelectionRef<'s>) -> Result<Lists<'s>> {
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

    /// Returns these edges of a vertex with their properties, in the given order. `degree` is the number of
    /// edges in the lists. If many of a list that has properties are wanted, reads them in one pass over the
    /// list; else looks each one up.
    pub(super) fn edges_of_copies(
        &self,
        lists: &Lists<'_>,
        id: VertexId,
        (copies, degree): (&[Copy], usize),
    ) -> Result<Vec<EdgeOf>> {
        let directed = self.engine().catalog.config.directed;
        // Incoming lists have no properties, not even for a self-loop.
        let is_own = |&(_, direction, other, _): &Copy| {
            !(directed && direction == Direction::In)
                && self.engine().catalog.placement().ends(id, other).0 == id
        };
        let mut rows = match *lists {
            Lists::OfLabel(label, direction)
                if copies.len() >= degree / ENTRIES_OF_A_LOOK_UP && copies.iter().any(is_own) =>
            {
                let mut own: Vec<usize> = (0..copies.len()).filter(|&at| is_own(&copies[at])).collect();
                // The order of the list: by neighbor, then by rank.
                own.sort_unstable_by_key(|&at| (copies[at].2, copies[at].3));
                self.rows_of((label, id, direction), copies, own)?
            }
            _ => vec![None; copies.len()],
        };
        let schema = self.engine().catalog.schema.load_full();
        let edge = |(copy, row): (&Copy, &mut Copied)| {
            let &(label, direction, other, rank) = copy;
            let properties = match row.take() {
                Some((weight, row)) => {
                    let weighted = self.engine().catalog.is_weighted(label);
                    named(&schema, label, weighted.then_some(weight), row.as_ref())
                }
                // Another list has the properties.
                None => self.properties_between(&schema, label, id, other, direction, rank)?,
            };
            let key = self.engine().keys.key_of(&self.engine().pager, other)?;
            Ok(EdgeOf { label, key, rank, properties })
        };
        copies.iter().zip(&mut rows).map(edge).collect()
    }

    /// Returns weight and properties of some of these edges, given by their places in the order of the list,
    /// from the vertex's own list, in one pass over it.
    fn rows_of(
        &self,
        (label, id, direction): (LabelId, VertexId, Direction),
        copies: &[Copy],
        order: Vec<usize>,
    ) -> Result<Vec<Copied>> {
        let end = |at: usize| (copies[at].2, copies[at].3);
        let (mut next, mut rows) = (order.into_iter().peekable(), vec![None; copies.len()]);
        self.for_each_item(label, id, direction, |item| {
            if next.peek().is_some_and(|&at| end(at) == (item.dst, item.rank)) {
                next.next().into_iter().for_each(|at| rows[at] = Some((item.weight, item.row.to_row())));
            }
        })?;
        Ok(rows)
    }
}
