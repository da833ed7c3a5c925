//! Properties by name.

use std::sync::Arc;

use hedgerow_core::{LabelId, Row, Value, VertexKeyRef};

use super::snapshot::Snapshot;
use crate::error::Result;
use crate::state::edge_key::WEIGHT;
use crate::state::schema::Schema;

/// The properties of an edge or vertex that have a value, in the order of their definition.
pub type Properties = Vec<(Arc<str>, Value)>;

/// The cells of `row` under their names, after the weight of an edge that has one.
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
    /// The properties of a vertex that have a value, if the vertex exists. O(properties).
    ///
    /// # Errors
    /// As of every [read](Self).
    pub fn vertex_properties<'a>(&self, key: impl Into<VertexKeyRef<'a>>) -> Result<Option<Properties>> {
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let row = self.item_by_id(LabelId::VERTICES, id, id, 0)?.and_then(|(_, row)| row);
        Ok(Some(named(&self.engine().schema.load(), LabelId::VERTICES, None, row.as_ref())))
    }

    /// One property of a vertex, if the vertex exists; null if it has no such property. O(1).
    ///
    /// # Errors
    /// As of every [read](Self).
    pub fn vertex_property<'a>(
        &self,
        key: impl Into<VertexKeyRef<'a>>,
        property: &str,
    ) -> Result<Option<Value>> {
        let key = key.into();
        let Some(id) = self.vertex_id(key)? else { return Ok(None) };
        let property = self.engine().schema.load().vertex_property(key.kind(), property).map(|p| p.id());
        let Some(property) = property else { return Ok(Some(Value::Null)) };
        let value = self.with_item(LabelId::VERTICES, id, id, 0, |item| item.row.get(property).to_owned())?;
        Ok(Some(value.unwrap_or(Value::Null)))
    }
}
