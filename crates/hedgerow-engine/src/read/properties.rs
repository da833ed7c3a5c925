//! Properties by name.

use std::sync::Arc;

use hedgerow_core::{LabelId, Row, Value};

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
