//! Reads that lend values from the memory of the store to a callback.

use hedgerow_catalog::error::Result;
use hedgerow_catalog::label::Label;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LabelId, RowRef, ValueRef, VertexId, VertexKeyRef};
use hedgerow_mem::version::Read;
use hedgerow_pager::pager::pages::Wanted;

use crate::read::at_vertex::EdgeOf;
use crate::read::snapshot::Snapshot;
use crate::state::edge_key::WEIGHT;

/// Reads that lend what they read, from the memory of the store, to a function of the caller. They copy no
/// text and no bytes.
#[derive(Clone, Copy)]
pub struct Lent<'a>(pub(super) &'a Snapshot);

impl<'a> Lent<'a> {
    /// Returns the lending reads of a snapshot. O(1).
    pub fn new(snapshot: &'a Snapshot) -> Lent<'a> {
        Lent(snapshot)
    }
}

impl Lent<'_> {
    /// Calls `f` with one property of a vertex, and returns the result of `f` if the vertex exists. `f` gets
    /// null if the vertex has no such property. O(1), like [`Snapshot::vertex_property`], but without a copy
    /// of text or bytes. While `f` runs the properties of 64 vertices stay in memory, and no writer waits for
    /// that.
    ///
    /// ```
    /// use hedgerow::{Graph, Lent, ValueRef};
    ///
    /// let graph = Graph::in_memory()?;
    /// let mut tx = graph.write()?;
    /// tx.put_vertex_with(1, [("name", "Ann")])?;
    /// tx.commit()?;
    /// let length = |name: ValueRef<'_>| if let ValueRef::Utf8(name) = name { name.len() } else { 0 };
    /// let snapshot = graph.snapshot()?;
    /// assert_eq!(Lent::new(&snapshot).vertex_property(1, "name", length)?, Some(3));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of every [read](Snapshot).
    pub fn vertex_property<'k, R>(
        self,
        key: impl Into<VertexKeyRef<'k>>,
        property: &str,
        f: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let Some((id, property)) = self.0.vertex_and_property(key.into(), property)? else { return Ok(None) };
        let mut f = Some(f);
        let mut call = |value: ValueRef<'_>| f.take().map(|f| f(value));
        let found = match property {
            Some(property) => {
                let wanted = Wanted::edge(LabelId::VERTICES, id, Direction::Out, id).with_rows();
                let of_vertex = |read: Read<'_>| {
                    let item = read.item(id.local(), id, 0, self.0.hint())?;
                    call(item.row.get(property))
                };
                self.0.read_kept_of(wanted, of_vertex)?.flatten()
            }
            None => None,
        };
        let missed = faults::is_on(PlantedFault::LentNullMissed);
        Ok(if missed { found } else { found.or_else(|| call(ValueRef::Null)) })
    }
}

/// An edge at a vertex, lent by a read of the vertex's list. It refers to memory of the store.
#[derive(Clone, Copy, Debug)]
pub struct LentEdge<'a> {
    other: VertexId,
    rank: u64,
    weight: Option<f64>,
    properties: Source<'a>,
}

/// The source of an edge's properties.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// The list of the edge; the label has the names of the properties.
    Row(RowRef<'a>, Option<&'a Label>),
    /// A copy, with the weight among the properties.
    Copied(&'a EdgeOf),
}

impl<'a> LentEdge<'a> {
    /// Returns an edge that refers to its list.
    pub(crate) fn lent(
        (rank, other): (u64, VertexId),
        weight: Option<f64>,
        row: RowRef<'a>,
        label: Option<&'a Label>,
    ) -> LentEdge<'a> {
        LentEdge { other, rank, weight, properties: Source::Row(row, label) }
    }

    /// Returns an edge whose properties were copied.
    pub(crate) fn copied((rank, other): (u64, VertexId), edge: &'a EdgeOf) -> LentEdge<'a> {
        LentEdge { other, rank, weight: None, properties: Source::Copied(edge) }
    }

    /// Returns the id of the other endpoint; the number of its key if keys are
    /// [`Dense`](hedgerow_core::KeyKind::Dense).
    pub fn other(&self) -> VertexId {
        self.other
    }

    /// Returns the rank; 0 unless the label is `multi`.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// Returns the value of a property; null if the edge has no property of this name. In a weighted graph
    /// the weight is the property `weight`. O(properties of the label).
    pub fn property(&self, name: &str) -> ValueRef<'a> {
        match self.properties {
            Source::Row(..) if name == WEIGHT && self.weight.is_some() => {
                self.weight.map_or(ValueRef::Null, ValueRef::F64)
            }
            Source::Row(row, label) => label
                .and_then(|label| label.property(name))
                .map_or(ValueRef::Null, |found| row.get(found.id())),
            Source::Copied(edge) => {
                let found = edge.properties.iter().find(|(property, _)| &**property == name);
                found.map_or(ValueRef::Null, |(_, value)| value.as_ref())
            }
        }
    }
}
