//! Reads with a limit, which report if there is more: the first edges of a vertex, and vertices with given
//! values of properties.

use std::collections::BinaryHeap;

use hedgerow_catalog::error::{ArgumentError, Error, Result, StateError};
use hedgerow_core::{
    Comparison, Direction, KindId, LabelId, PropertyId, Value, VertexId, VertexKey, VertexKeyRef,
};

use crate::read::at_vertex::{Copy, EdgeOf};
use crate::read::properties::Properties;
use crate::read::scan::VertexScan;
use crate::read::selection_ref::{EdgeSelectionRef, Lists};
use crate::read::snapshot::Snapshot;

/// The number of vertices that a scan passes between two polls of `until`.
const VERTICES_BETWEEN_POLLS: usize = 1 << 14;

/// The items that a read found up to its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited<T> {
    /// The first items, at most as many as the limit.
    pub found: Vec<T>,
    /// True if the limit left out other items.
    pub more: bool,
}

/// The edges of a vertex that [`Snapshot::first_edges`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct EdgeLimit {
    limit: usize,
    newest: bool,
    properties: bool,
}

impl EdgeLimit {
    /// Takes the first `limit` edges by the key of the other endpoint, the label and the rank: the order of
    /// [`edge_list`](Snapshot::edge_list).
    pub fn first(limit: usize) -> EdgeLimit {
        EdgeLimit { limit, newest: false, properties: true }
    }

    /// Takes the `limit` edges with the greatest ranks, by descending rank, and among equal ranks by
    /// descending [`VertexId`] of the other endpoint. If the ranks of a `multi` label are times, these are
    /// the newest edges.
    pub fn newest(limit: usize) -> EdgeLimit {
        EdgeLimit { limit, newest: true, properties: true }
    }

    /// Leaves the properties of the returned edges empty, and reads none.
    pub fn without_properties(mut self) -> EdgeLimit {
        self.properties = false;
        self
    }
}

/// Options of [`VertexScan::find`].
#[derive(Clone, Copy)]
#[must_use]
pub struct FindOptions<'f> {
    limit: usize,
    until: Option<&'f dyn Fn() -> bool>,
}

impl Default for FindOptions<'_> {
    fn default() -> Self {
        FindOptions { limit: usize::MAX, until: None }
    }
}

impl<'f> FindOptions<'f> {
    /// Returns options without a limit.
    pub fn new() -> FindOptions<'f> {
        FindOptions::default()
    }

    /// Sets the most vertices to return; the scan ends when it finds one more.
    pub fn limit(mut self, vertices: usize) -> FindOptions<'f> {
        self.limit = vertices;
        self
    }

    /// Calls `until` after every 16,000 vertices or so, and fails with [`StateError::Cancelled`] once `until`
    /// returns true.
    pub fn until(mut self, until: &'f dyn Fn() -> bool) -> FindOptions<'f> {
        self.until = Some(until);
        self
    }
}

/// The position of an edge in the list that a call returns: other end, label, rank, incoming after outgoing,
/// and the id of the other end.
type Place = (VertexKey, LabelId, u64, bool, VertexId);

/// The least `limit` of the offered places.
struct Least {
    limit: usize,
    places: BinaryHeap<Place>,
    /// The number of offered places.
    offered: usize,
}

impl Least {
    fn new(limit: usize) -> Least {
        Least { limit, places: BinaryHeap::new(), offered: 0 }
    }

    fn offer(&mut self, place: Place) {
        self.offered += 1;
        if self.places.len() < self.limit {
            self.places.push(place);
            return;
        }
        if let Some(mut greatest) = self.places.peek_mut()
            && place < *greatest
        {
            *greatest = place;
        }
    }
}

/// The reason why a scan ended.
enum End {
    Limit,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

impl Snapshot {
    /// Returns the first or the newest of the chosen edges at a vertex, up to a limit, and whether there are
    /// more; `None` if there is no such vertex. Reads the properties of the returned edges only.
    ///
    /// O(labels + degree log limit + bytes of the returned properties), and memory for `limit` edges: lists
    /// are sorted by vertex id, so the call compares the key or the rank of each neighbor. If the limit is at
    /// least a 16th of the degree, it reads the properties in one pass over the list. A selection by ranks or
    /// properties also takes memory for the list of one label.
    ///
    /// ```
    /// use hedgerow::{EdgeKey, EdgeLimit, Graph, LabelOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.define_label("calls", LabelOptions::new().multi(true))?;
    /// let mut tx = graph.write()?;
    /// for (to, time) in [(9, 50), (5, 90), (9, 70)] {
    ///     tx.put_edge(EdgeKey::new("calls", 1, to).rank(time))?;
    /// }
    /// tx.commit()?;
    /// let snapshot = graph.snapshot()?;
    /// let first = snapshot.first_edges(1, "calls", EdgeLimit::first(2))?.expect("there is a vertex 1");
    /// assert_eq!(first.found.iter().map(|edge| edge.rank).collect::<Vec<_>>(), [90, 50]);
    /// assert!(first.more);
    /// let newest = snapshot.first_edges(1, "calls", EdgeLimit::newest(2))?.expect("there is a vertex 1");
    /// assert_eq!(newest.found.iter().map(|edge| edge.rank).collect::<Vec<_>>(), [90, 70]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`view`](Self::view); [`ArgumentError::Invalid`] for the newest edges of a label that is
    /// not `multi`, since its edges have no ranks.
    pub fn first_edges<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        wanted: EdgeLimit,
    ) -> Result<Option<Limited<EdgeOf>>> {
        let lists = match wanted.newest {
            true => self.ranked_lists(edges.into())?,
            false => self.lists(edges.into())?,
        };
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let (copies, degree) = match wanted.newest {
            true => self.newest_of(&lists, id, wanted.limit)?,
            false => self.first_by_key(&lists, id, wanted.limit)?,
        };
        let more = degree > copies.len();
        let found = match wanted.properties {
            true => self.edges_of_copies(&lists, id, (&copies, degree))?,
            false => self.edges_without_properties(copies)?,
        };
        Ok(Some(Limited { found, more }))
    }

    /// Returns the copies of the first edges, and the number of all edges in the lists.
    fn first_by_key(&self, lists: &Lists<'_>, id: VertexId, limit: usize) -> Result<(Vec<Copy>, usize)> {
        let least = self.least(lists, id, limit)?;
        let copy = |(_, label, rank, is_in, other)| {
            (label, if is_in { Direction::In } else { Direction::Out }, other, rank)
        };
        Ok((least.places.into_sorted_vec().into_iter().map(copy).collect(), least.offered))
    }

    fn edges_without_properties(&self, copies: Vec<Copy>) -> Result<Vec<EdgeOf>> {
        let edge = |(label, _, other, rank)| {
            let key = self.engine().keys.key_of(&self.engine().pager, other)?;
            Ok(EdgeOf { label, key, rank, properties: Properties::new() })
        };
        copies.into_iter().map(edge).collect()
    }

    fn least(&self, lists: &Lists<'_>, id: VertexId, limit: usize) -> Result<Least> {
        self.engine().keys.telling_keys(&self.engine().pager, |told| {
            let mut least = Least::new(limit);
            self.for_each_of(lists, id, |label, direction, other, rank| {
                least.offer((told.of(other), label, rank, direction == Direction::In, other));
            })?;
            Ok(least)
        })
    }
}

impl VertexScan {
    /// Returns the keys of the vertices of a kind whose properties have all the given values, by ascending
    /// vertex id, and whether the limit left out others. A null selects vertices without a value; a NaN
    /// equals no value.
    ///
    /// Scans without an index: O(vertices of all kinds).
    ///
    /// ```
    /// use hedgerow::{FindOptions, Graph, KindId, Value, VertexKey};
    ///
    /// let graph = Graph::in_memory()?;
    /// let mut tx = graph.write()?;
    /// tx.put_vertex_with(1, [("name", "Ann")])?;
    /// tx.put_vertex_with(2, [("name", "Bob")])?;
    /// tx.put_vertex_with(3, [("name", "Ann")])?;
    /// tx.commit()?;
    /// let ann = [("name", Value::from("Ann"))];
    /// let scan = graph.snapshot()?.scan_vertices()?;
    /// let found = scan.find(KindId::DEFAULT, &ann, FindOptions::new().limit(1))?;
    /// assert_eq!((found.found, found.more), (vec![VertexKey::U64(1)], true));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for a property that vertices of this kind do not have, or a value whose
    /// type is not that of the property; [`StateError::Cancelled`] if `until` returned true; and the errors
    /// of [`try_for_each`](Self::try_for_each).
    pub fn find(
        self,
        kind: KindId,
        properties: &[(&str, Value)],
        options: FindOptions<'_>,
    ) -> Result<Limited<VertexKey>> {
        let snapshot = self.snapshot().clone();
        let wanted = wanted_values(&snapshot, kind, properties)?;
        let (mut ids, mut more, mut left) = (Vec::new(), false, VERTICES_BETWEEN_POLLS);
        let scanned = self.try_for_each(|vertex| {
            left -= 1;
            if left == 0 {
                left = VERTICES_BETWEEN_POLLS;
                if options.until.is_some_and(|until| until()) {
                    return Err(End::Failed(StateError::Cancelled.into()));
                }
            }
            let is_equal = |&(property, value): &(PropertyId, &Value)| match value {
                Value::Null => vertex.get(property).is_null(),
                value => Comparison::Equal.holds(vertex.get(property), value.as_ref()),
            };
            if vertex.kind() != kind || !wanted.iter().all(is_equal) {
                return Ok(());
            }
            if ids.len() == options.limit {
                more = true;
                return Err(End::Limit);
            }
            ids.push(vertex.id());
            Ok(())
        });
        if let Err(End::Failed(error)) = scanned {
            return Err(error);
        }
        let found = snapshot.vertex_keys(&ids)?.iter().map(|key| key.to_owned()).collect();
        Ok(Limited { found, more })
    }
}

fn wanted_values<'v>(
    snapshot: &Snapshot,
    kind: KindId,
    properties: &'v [(&str, Value)],
) -> Result<Vec<(PropertyId, &'v Value)>> {
    let schema = snapshot.schema_seen();
    let of = match schema.kind_name(kind) {
        "" => "vertices".to_owned(),
        name => format!("vertices of kind {name}"),
    };
    let wanted = |(name, value): &'v (&str, Value)| {
        let mut defined = schema.vertex_properties_of(kind);
        let Some(property) = defined.find(|property| &**property.name() == *name) else {
            return Err(ArgumentError::Invalid(format!("{of} have no property {name}")).into());
        };
        let expected = property.property_type();
        match value.property_type() {
            Some(found) if found != expected => {
                let message =
                    format!("property {name} of {of} has the type {expected}, and the value is {found}");
                Err(ArgumentError::Invalid(message).into())
            }
            _ => Ok((property.id(), value)),
        }
    };
    properties.iter().map(wanted).collect()
}
