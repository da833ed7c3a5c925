//! The weights that a selection gives to edges.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{LabelId, PropertyType};

use crate::read::filter::no_such_property;
use crate::read::snapshot::Snapshot;
use crate::state::chosen_edges::ChosenWeight;
use crate::state::edge_key::WEIGHT;
use crate::state::store::Core;

/// Returns the weights of edges that their labels define. If the labels are not named, those without edges do
/// not matter.
pub(super) fn weights_of_labels(
    snapshot: &Snapshot,
    schema: &Schema,
    labels: &[LabelId],
    are_named: bool,
) -> Result<Vec<ChosenWeight>> {
    let own = |&id: &LabelId| {
        if snapshot.engine().catalog.is_weighted(id) {
            return Some(Ok(ChosenWeight::Stored));
        }
        let property = schema.label_by_id(id)?.property(WEIGHT)?;
        let kind = property.property_type();
        let is_number = matches!(kind, PropertyType::F64 | PropertyType::I64);
        Some(is_number.then_some(ChosenWeight::Property(Some(property.id()), None)).ok_or(kind))
    };
    let own: Vec<_> = labels.iter().map(own).collect();
    if own.iter().all(Option::is_none) || own.iter().all(|own| matches!(own, Some(Ok(_)))) {
        let stored = |own: Option<_>| own.and_then(std::result::Result::ok).unwrap_or(ChosenWeight::Stored);
        return Ok(own.into_iter().map(stored).collect());
    }
    // If no label is named, labels without edges are ignored.
    let used = match are_named {
        true => labels.to_vec(),
        false => snapshot.labels_with_edges()?,
    };
    let of_used = || labels.iter().zip(&own).filter(|(id, _)| used.contains(id));
    if let Some(kind) = of_used().find_map(|(_, own)| own.as_ref()?.as_ref().err()) {
        return Err(not_a_number(WEIGHT, *kind).into());
    }
    let name = |id: &LabelId| schema.label_by_id(*id).map_or("", |label| label.name());
    let with = |has: bool| of_used().find(|(_, own)| own.is_some() == has).map(|(id, _)| name(id));
    if let (Some(with), Some(without)) = (with(true), with(false)) {
        let message = format!(
            "edges of label {with:?} have weights, and those of label {without:?} have none: name labels that all have \
             weights or that all have none, or name the property that is the weight"
        );
        return Err(ArgumentError::Invalid(message).into());
    }
    let weight = |(id, own): (&LabelId, &Option<std::result::Result<ChosenWeight, PropertyType>>)| match own {
        Some(Ok(weight)) if used.contains(id) => *weight,
        _ => ChosenWeight::Stored,
    };
    Ok(labels.iter().zip(&own).map(weight).collect())
}

/// Returns the weights of edges that a property defines.
pub(super) fn weights_by(
    core: &Core,
    schema: &Schema,
    labels: &[LabelId],
    name: &str,
    missing: Option<f64>,
) -> Result<Vec<ChosenWeight>> {
    let mut any = false;
    let mut weight = |&id: &LabelId| {
        if core.catalog.is_weighted(id) && name == WEIGHT {
            any = true;
            return Ok(ChosenWeight::Stored);
        }
        let property = schema.label_by_id(id).and_then(|label| label.property(name));
        any |= property.is_some();
        if let Some(property) = property.filter(|property| !property.property_type().is_fixed()) {
            return Err(Error::from(not_a_number(name, property.property_type())));
        }
        Ok(ChosenWeight::Property(property.map(|property| property.id()), missing.map(f64::to_bits)))
    };
    let weights = labels.iter().map(&mut weight).collect::<Result<_>>()?;
    if any || missing.is_some() {
        Ok(weights)
    } else {
        Err(no_such_property(core, schema, labels, name).into())
    }
}

fn not_a_number(property: &str, kind: PropertyType) -> ArgumentError {
    ArgumentError::Invalid(format!("property {property} is of type {kind}: a weight must be a number"))
}
