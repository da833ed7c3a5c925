//! All edges of a label with their properties, and a property as the weights of edges.

use hedgerow_core::{Direction, KindId, LabelId, PropertyId, ValueRef, VertexId};
use hedgerow_mem::{ItemRef, View};

use crate::error::{ArgumentError, Error, Result};
use crate::read::snapshot::Snapshot;
use crate::read::views::Makers;
use crate::state::edge_key::WEIGHT;
use crate::state::schema::{Label, LabelRef};

/// An edge met by [`Snapshot::for_each_edge_row`].
#[derive(Clone, Copy)]
pub struct EdgeRow<'a> {
    src: VertexId,
    item: ItemRef<'a>,
}

impl<'a> EdgeRow<'a> {
    /// The source; of an undirected edge the endpoint with the smaller id.
    pub fn src(&self) -> VertexId {
        self.src
    }

    /// The destination.
    pub fn dst(&self) -> VertexId {
        self.item.dst
    }

    /// The rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.item.rank
    }

    /// The weight; 1 in a graph without weights, and of labels other than the default one.
    pub fn weight(&self) -> f64 {
        self.item.weight
    }

    /// The value of a property; null if it has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.row.get(property)
    }
}

/// A vertex met by [`Snapshot::for_each_vertex_row`].
#[derive(Clone, Copy)]
pub struct VertexRow<'a> {
    id: VertexId,
    kind: KindId,
    item: Option<ItemRef<'a>>,
}

impl<'a> VertexRow<'a> {
    /// The vertex.
    pub fn id(&self) -> VertexId {
        self.id
    }

    /// Its kind.
    pub fn kind(&self) -> KindId {
        self.kind
    }

    /// The value of a property; null if it has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.map_or(ValueRef::Null, |item| item.row.get(property))
    }
}

impl Snapshot {
    /// Calls `f` with every vertex, by ascending id, until `f` fails. Properties are found where the vertex is found: nothing
    /// is looked up by key, or copied. Builds the view, if the memory limit has room for it. O(vertices).
    ///
    /// # Errors
    /// That of `f`; where [`view`](Self::view) fails for another reason than the memory limit, and those of every [read](Self), as errors of
    /// its type.
    pub fn for_each_vertex_row<E: From<Error>>(
        &self,
        mut f: impl FnMut(VertexRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for id in self.live_vertices()? {
            let (mut outcome, kind) = (None, self.engine().kind_of(id)?);
            self.for_each_item(LabelId::VERTICES, id, Direction::Out, |item| {
                outcome = Some(f(VertexRow { id, kind, item: Some(item) }));
            })?;
            outcome.unwrap_or_else(|| f(VertexRow { id, kind, item: None }))?;
        }
        Ok(())
    }

    /// Calls `f` with every edge of a label, by ascending source id; of an undirected graph once per edge. Properties
    /// are found where the edge is found: nothing is looked up or copied. O(edges).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`].
    pub fn for_each_edge_row<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        mut f: impl FnMut(EdgeRow<'_>),
    ) -> Result<()> {
        self.try_for_each_edge_row(label, |edge| {
            f(edge);
            Ok(())
        })
    }

    /// As [`for_each_edge_row`](Self::for_each_edge_row), until `f` fails: its error is returned, and the scan ends with the
    /// edges of that source, with which `f` is not called any more.
    ///
    /// # Errors
    /// That of `f`; [`ArgumentError::NoSuchLabel`] and those of every [read](Self), as errors of its type.
    pub fn try_for_each_edge_row<'a, E: From<Error>>(
        &self,
        label: impl Into<LabelRef<'a>>,
        mut f: impl FnMut(EdgeRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let label = self.label(label.into())?;
        let all = VertexId(0)..VertexId(self.engine().ids.bound());
        self.for_each_item_of(label, all, |src, item| f(EdgeRow { src, item }))
    }

    /// The graph of one label for kernels that use weights, with the vertices of its [view](Self::view_of): each edge weighs the number
    /// that its property holds (`bool` as 0 or 1, `timestamp` in microseconds; of a weighted graph's default label also `weight`), and `missing` where it has
    /// none. Built at each call: O(edges), 8 bytes an edge; in a directed graph O(log degree) more for each incoming edge.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`]; [`ArgumentError::Invalid`] for a property of text or bytes, and without `missing` if the label
    /// has no such property, or an edge has no value of it.
    pub fn view_weighted_by<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        property: &str,
        missing: Option<f64>,
    ) -> Result<View> {
        let label = self.label(label.into())?;
        if property == WEIGHT && self.engine().is_weighted(label) {
            return Ok(View::clone(&*self.cached_view_of(label, Makers::Pool)?));
        }
        let column = self.weight_column(label, property)?;
        if missing.is_none() {
            self.check_all_have(label, column, property)?;
        }
        let view = self.build_weighted_view_of(label, column, missing.unwrap_or(f64::NAN))?;
        self.in_kinds(view, self.kinds_of_label(label).as_deref())
    }

    /// The property that holds the weights, if it is defined.
    fn weight_column(&self, label: LabelId, property: &str) -> Result<Option<PropertyId>> {
        let schema = self.schema_seen();
        let found = schema.label_by_id(label).and_then(|label| label.property(property));
        let Some(found) = found else { return Ok(None) };
        let kind = found.property_type();
        if !kind.is_fixed() {
            let message = format!("property {property} is of type {kind}: a weight must be a number");
            return Err(ArgumentError::Invalid(message).into());
        }
        Ok(Some(found.id()))
    }

    /// Checks that every edge of the label has a value of the property. O(edges).
    fn check_all_have(&self, label: LabelId, column: Option<PropertyId>, property: &str) -> Result<()> {
        let Some(column) = column else {
            let schema = self.schema_seen();
            let name = schema.label_by_id(label).map_or("", |label: &Label| label.name());
            return Err(ArgumentError::Invalid(format!("label {name:?} has no property {property}")).into());
        };
        let all = VertexId(0)..VertexId(self.engine().ids.bound());
        let mut without = None;
        let looked = self.for_each_item_of(label, all, |src, item| {
            if item.row.get(column).as_number().is_some() {
                return Ok(());
            }
            without = Some((src, item.dst));
            Err(ArgumentError::Invalid(String::new()).into())
        });
        // No key is read within the scan.
        let Some((src, dst)) = without else { return looked };
        let (src, dst) = (self.engine().key_of(src)?, self.engine().key_of(dst)?);
        let message = format!("the edge from {src} to {dst} has no value of property {property}");
        Err(ArgumentError::Invalid(message).into())
    }
}
