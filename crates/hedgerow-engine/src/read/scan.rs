//! Scans of all edges of a label, and of all vertices, with their properties.

use hedgerow_catalog::error::{Error, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Direction, KindId, LabelId, PropertyId, ValueRef, VertexId};
use hedgerow_mem::ItemRef;

use crate::read::snapshot::Snapshot;

/// An edge that [`Snapshot::for_each_edge_row`] passes to its callback.
#[derive(Clone, Copy)]
pub struct EdgeRow<'a> {
    src: VertexId,
    item: ItemRef<'a>,
}

impl<'a> EdgeRow<'a> {
    /// Returns the source; in an undirected graph the endpoint with the smaller id.
    pub fn src(&self) -> VertexId {
        self.src
    }

    /// Returns the destination.
    pub fn dst(&self) -> VertexId {
        self.item.dst
    }

    /// Returns the rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.item.rank
    }

    /// Returns the weight; 1 in a graph without weights, and for labels other than the default one.
    pub fn weight(&self) -> f64 {
        self.item.weight
    }

    /// Returns the value of a property; null if the edge has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.row.get(property)
    }
}

/// A vertex that [`Snapshot::for_each_vertex_row`] passes to its callback.
#[derive(Clone, Copy)]
pub struct VertexRow<'a> {
    id: VertexId,
    kind: KindId,
    item: Option<ItemRef<'a>>,
}

impl<'a> VertexRow<'a> {
    /// Returns the vertex id.
    pub fn id(&self) -> VertexId {
        self.id
    }

    /// Returns the kind of the vertex.
    pub fn kind(&self) -> KindId {
        self.kind
    }

    /// Returns the value of a property; null if the vertex has none.
    pub fn get(&self, property: PropertyId) -> ValueRef<'a> {
        self.item.map_or(ValueRef::Null, |item| item.row.get(property))
    }
}

impl Snapshot {
    /// Calls `f` with every vertex, by ascending id, until `f` fails. The scan reads properties together with
    /// the vertex: it looks up no key, and copies no value. Makes the view if the memory limit has room for
    /// it. O(vertices).
    ///
    /// # Errors
    /// The error of `f`; the errors of [`view`](Self::view) except the memory limit, and of every
    /// [read](Self), converted to the error type of `f`.
    pub fn for_each_vertex_row<E: From<Error>>(
        &self,
        mut f: impl FnMut(VertexRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for id in self.live_vertices()? {
            let (mut outcome, kind) = (None, self.engine().keys.kind_of(&self.engine().pager, id)?);
            self.for_each_item(LabelId::VERTICES, id, Direction::Out, |item| {
                outcome = Some(f(VertexRow { id, kind, item: Some(item) }));
            })?;
            outcome.unwrap_or_else(|| f(VertexRow { id, kind, item: None }))?;
        }
        Ok(())
    }

    /// Calls `f` with every edge of a label, by ascending source id; in an undirected graph once per edge.
    /// The scan reads properties together with the edge, without look-ups or copies. O(edges).
    ///
    /// # Errors
    /// `ArgumentError::NoSuchLabel`.
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

    /// Scans until `f` fails, and returns the error of `f`; otherwise like
    /// [`for_each_edge_row`](Self::for_each_edge_row). After an error the scan reads the edges of that source
    /// to the end, without more calls of `f`.
    ///
    /// # Errors
    /// The error of `f`; `ArgumentError::NoSuchLabel` and the errors of every [read](Self), converted to
    /// its type.
    pub fn try_for_each_edge_row<'a, E: From<Error>>(
        &self,
        label: impl Into<LabelRef<'a>>,
        mut f: impl FnMut(EdgeRow<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let label = self.label(label.into())?;
        let all = VertexId(0)..VertexId(self.engine().keys.ids.bound());
        self.for_each_item_of(label, all, |src, item| f(EdgeRow { src, item }))
    }
}
