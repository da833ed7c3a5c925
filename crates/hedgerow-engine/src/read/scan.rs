//! All edges of a label, and all vertices, with their properties.

use hedgerow_core::{Direction, KindId, LabelId, PropertyId, ValueRef, VertexId};
use hedgerow_mem::ItemRef;

use crate::error::{Error, Result};
use crate::read::snapshot::Snapshot;
use crate::state::schema::LabelRef;

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
}
