//! Properties by name.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LabelId, PropertyId, Row, Value, ValueRef, VertexId, VertexKeyRef};
use hedgerow_mem::version::Read;
use hedgerow_pager::pager::pages::Wanted;

use super::snapshot::Snapshot;
use crate::state::edge_key::WEIGHT;

/// The properties of an edge or vertex that have a value, in the order of their definition.
pub type Properties = Vec<(Arc<str>, Value)>;

/// Returns the cells of `row` with their names; the weight of an edge, if it has one, comes first.
pub(crate) fn named(schema: &Schema, label: LabelId, weight: Option<f64>, row: Option<&Row>) -> Properties {
    let mut found: Properties = weight.map(|w| (Arc::from(WEIGHT), Value::F64(w))).into_iter().collect();
    let Some(label) = schema.label_by_id(label) else { return found };
    let cells = row.map_or(&[][..], Row::cells).iter();
    found.extend(cells.filter_map(|(id, value)| {
        label.property_by_id(*id).map(|property| (property.name().clone(), value.clone()))
    }));
    found
}

impl Snapshot {
    /// Returns the properties of a vertex that have a value, if the vertex exists. O(properties).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn vertex_properties<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<Option<Properties>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let row = self.item_by_id(LabelId::VERTICES, id, id, 0)?.and_then(|(_, row)| row);
        Ok(Some(named(&self.engine().catalog.schema.load(), LabelId::VERTICES, None, row.as_ref())))
    }

    /// Returns one property of a vertex, if the vertex exists; null if it has no such property. O(1).
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn vertex_property<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        property: &str,
    ) -> Result<Option<Value>> {
        let Some((id, property)) = self.vertex_and_property(key.into(), property)? else { return Ok(None) };
        let Some(property) = property else { return Ok(Some(Value::Null)) };
        let value = self.with_item(LabelId::VERTICES, id, id, 0, |item| item.row.get(property).to_owned())?;
        Ok(Some(value.unwrap_or(Value::Null)))
    }

    /// Calls `f` with one property of a vertex, lent from the memory of the store, and returns the result of
    /// `f` if the vertex exists. `f` gets null if the vertex has no such property. O(1), like
    /// [`vertex_property`](Self::vertex_property), but without a copy of text or bytes. While `f` runs the
    /// properties of 64 vertices stay in memory, and no writer waits for that.
    ///
    /// ```
    /// use hedgerow::{Graph, ValueRef};
    ///
    /// let graph = Graph::in_memory()?;
    /// let mut tx = graph.write()?;
    /// tx.put_vertex_with(1, [("name", "Ann")])?;
    /// tx.commit()?;
    /// let length = |name: ValueRef<'_>| if let ValueRef::Utf8(name) = name { name.len() } else { 0 };
    /// assert_eq!(graph.snapshot()?.with_vertex_property(1, "name", length)?, Some(3));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of every [read](Self).
    pub fn with_vertex_property<'a, R>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        property: &str,
        f: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Result<Option<R>> {
        let Some((id, property)) = self.vertex_and_property(key.into(), property)? else { return Ok(None) };
        let mut f = Some(f);
        let mut call = |value: ValueRef<'_>| f.take().map(|f| f(value));
        let found = match property {
            Some(property) => {
                let wanted = Wanted::edge(LabelId::VERTICES, id, Direction::Out, id).with_rows();
                let of_vertex = |read: Read<'_>| {
                    let item = read.item(id.local(), id, 0, self.hint())?;
                    call(item.row.get(property))
                };
                self.read_kept_of(wanted, of_vertex)?.flatten()
            }
            None => None,
        };
        let missed = faults::is_on(PlantedFault::LentNullMissed);
        Ok(if missed { found } else { found.or_else(|| call(ValueRef::Null)) })
    }

    /// Looks up the vertex, if it exists, and the property, if it is defined.
    fn vertex_and_property(
        &self,
        key: VertexKeyRef<'_>,
        property: &str,
    ) -> Result<Option<(VertexId, Option<PropertyId>)>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let schema = self.engine().catalog.schema.load();
        Ok(Some((id, schema.vertex_property(key.kind(), property).map(|found| found.id()))))
    }
}
