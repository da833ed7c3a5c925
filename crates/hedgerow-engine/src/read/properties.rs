//! Properties by name.

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{LabelId, PropertyId, Row, Value, VertexId, VertexKeyRef};

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

    /// Looks up the vertex, if it exists, and the property, if it is defined.
    pub(super) fn vertex_and_property(
        &self,
        key: VertexKeyRef<'_>,
        property: &str,
    ) -> Result<Option<(VertexId, Option<PropertyId>)>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let schema = self.engine().catalog.schema.load();
        Ok(Some((id, schema.vertex_property(key.kind(), property).map(|found| found.id()))))
    }
}
