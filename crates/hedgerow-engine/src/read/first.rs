//! Reads with a limit, which report if there is more: the first edges of a vertex, and vertices with given
//! values of properties.

use std::collections::BinaryHeap;

use hedgerow_catalog::error::{ArgumentError, Error, Result, StateError};
use hedgerow_core::{
    Comparison, Direction, KindId, LabelId, PropertyId, Value, VertexId, VertexKey, VertexKeyRef,
};

use crate::read::at_vertex::EdgeOf;
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

/// Options of [`Snapshot::find_vertices`].
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
    more: bool,
}

impl Least {
    fn new(limit: usize) -> Least {
        Least { limit, places: BinaryHeap::new(), more: false }
    }

    fn offer(&mut self, place: Place) {
        if self.places.len() < self.limit {
            self.places.push(place);
            return;
        }
        self.more = true;
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
    /// Returns the first `limit` of the edges that [`edge_list`](Self::edge_list) returns, in the same order,
    /// and whether there are more; `None` if there is no such vertex.
    ///
    /// O(labels + degree log limit), and memory for `limit` edges: lists are sorted by vertex id, so the call
    /// compares the key of each neighbor. A selection by ranks or properties also takes memory for the list
    /// of one label.
    ///
    /// ```
    /// use hedgerow::{Direction, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(1, 9), (1, 5), (1, 7)])?;
    /// let first = graph.snapshot()?.first_neighbors(1, Direction::Out, 2)?.expect("there is a vertex 1");
    /// assert_eq!(first.found.iter().map(|(key, ..)| key.to_string()).collect::<Vec<_>>(), ["5", "7"]);
    /// assert!(first.more);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn first_neighbors<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        limit: usize,
    ) -> Result<Option<Limited<(VertexKey, LabelId, u64)>>> {
        let lists = self.lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let least = self.least(&lists, id, limit)?;
        let found = least.places.into_sorted_vec();
        let found = found.into_iter().map(|(key, label, rank, ..)| (key, label, rank)).collect();
        Ok(Some(Limited { found, more: least.more }))
    }

    /// Returns the edges of [`first_neighbors`](Self::first_neighbors) with their properties; does not read
    /// the properties of other edges. O(labels + degree log limit + bytes of the returned properties).
    ///
    /// # Errors
    /// The errors of [`view`](Self::view).
    pub fn first_edges<'a, 's>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        edges: impl Into<EdgeSelectionRef<'s>>,
        limit: usize,
    ) -> Result<Option<Limited<EdgeOf>>> {
        let lists = self.lists(edges.into())?;
        let Some(id) = self.end_of_lists(&lists, key.into())? else { return Ok(None) };
        let least = self.least(&lists, id, limit)?;
        let schema = self.engine().catalog.schema.load_full();
        let edge = |(key, label, rank, is_in, other)| {
            let direction = if is_in { Direction::In } else { Direction::Out };
            let properties = self.properties_between(&schema, label, id, other, direction, rank)?;
            Ok(EdgeOf { label, key, rank, properties })
        };
        let found = least.places.into_sorted_vec().into_iter().map(edge).collect::<Result<_>>()?;
        Ok(Some(Limited { found, more: least.more }))
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
    /// let found = graph.snapshot()?.find_vertices(KindId::DEFAULT, &ann, FindOptions::new().limit(1))?;
    /// assert_eq!((found.found, found.more), (vec![VertexKey::U64(1)], true));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::Invalid`] for a property that vertices of this kind do not have, or a value whose
    /// type is not that of the property; [`StateError::Cancelled`] if `until` returned true; and the errors
    /// of [`VertexScan::try_for_each`](crate::VertexScan::try_for_each).
    pub fn find_vertices(
        &self,
        kind: KindId,
        properties: &[(&str, Value)],
        options: FindOptions<'_>,
    ) -> Result<Limited<VertexKey>> {
        self.engine().check_owner()?;
        let wanted = self.wanted_values(kind, properties)?;
        let (mut ids, mut more, mut left) = (Vec::new(), false, VERTICES_BETWEEN_POLLS);
        let scanned = self.scan_vertices()?.try_for_each(|vertex| {
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
        let found = self.vertex_keys(&ids)?.iter().map(|key| key.to_owned()).collect();
        Ok(Limited { found, more })
    }

    fn wanted_values<'v>(
        &self,
        kind: KindId,
        properties: &'v [(&str, Value)],
    ) -> Result<Vec<(PropertyId, &'v Value)>> {
        let schema = self.schema_seen();
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
}
