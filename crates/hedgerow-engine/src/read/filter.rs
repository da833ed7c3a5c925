//! The conditions of a read on the properties of edges, and the tests that follow from them for the edges of
//! each label.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{Condition, EdgeTest, LabelId, PropertyTest, PropertyType, Value};

use crate::state::edge_key::WEIGHT;
use crate::state::store::Core;

/// The most conditions of one read.
const MAX_CONDITIONS: usize = 1024;

/// The conditions that an edge must all meet, each with the name of its property.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter<'a>(Vec<(&'a str, Condition)>);

impl<'a> Filter<'a> {
    pub(super) fn push(&mut self, property: &'a str, condition: Condition) {
        self.0.push((property, condition));
    }

    /// Returns the tests of each label that an edge must all pass; `None` for a label without an edge that
    /// could pass.
    pub(super) fn tests(
        &self,
        core: &Core,
        schema: &Schema,
        labels: &[LabelId],
    ) -> Result<Vec<Option<Vec<EdgeTest>>>> {
        if self.0.len() > MAX_CONDITIONS {
            let what = "the number of conditions of a read".to_owned();
            return Err(ArgumentError::TooLarge { what, limit: MAX_CONDITIONS as u64 }.into());
        }
        let mut tests = vec![Some(Vec::new()); labels.len()];
        for (name, condition) in &self.0 {
            check_values(name, condition)?;
            let mut is_known = false;
            for (&id, tests) in labels.iter().zip(&mut tests) {
                let Some(test) = test_of(core, schema, id, (name, condition))? else {
                    // The label lacks the property, so its edges have no value.
                    if *condition != Condition::Null {
                        *tests = None;
                    }
                    continue;
                };
                is_known = true;
                tests.iter_mut().for_each(|tests| tests.push(test.clone()));
            }
            if !is_known {
                return Err(no_such_property(core, schema, labels, name).into());
            }
        }
        tests.iter_mut().flatten().for_each(EdgeTest::sort);
        Ok(tests)
    }
}

/// Returns the test for a label's edges; `None` if the label has no such property.
fn test_of(
    core: &Core,
    schema: &Schema,
    id: LabelId,
    (name, condition): (&str, &Condition),
) -> Result<Option<EdgeTest>> {
    let label = schema.label_by_id(id);
    let label_name = label.map_or("", |label| label.name());
    let condition = match (condition, condition.values()) {
        // A set of one value becomes a comparison, which uses vector instructions.
        (Condition::OneOf(_), [value]) => Condition::equal(value.clone()),
        _ => condition.clone(),
    };
    if core.catalog.is_weighted(id) && name == WEIGHT {
        check_types((name, label_name), PropertyType::F64, &condition)?;
        return Ok(Some(EdgeTest::Weight(condition)));
    }
    let Some(property) = label.and_then(|label| label.property(name)) else { return Ok(None) };
    let kind = property.property_type();
    check_types((name, label_name), kind, &condition)?;
    let test = PropertyTest { property: property.id(), kind, condition };
    Ok(Some(EdgeTest::Property(test)))
}

/// Refuses null and NaN, which no value equals, and sets that are empty or too large. O(1): a set is sorted
/// by type, so null is first, and NaN first or last.
fn check_values(name: &str, condition: &Condition) -> Result<()> {
    let values = condition.values();
    if values.len() > Condition::MAX_VALUES {
        let what = format!("the number of values with which property {name} is compared");
        return Err(ArgumentError::TooLarge { what, limit: Condition::MAX_VALUES as u64 }.into());
    }
    let ends = [values.first(), values.last()];
    let is_nan = |value: &&Value| matches!(value, Value::F64(number) if number.is_nan());
    let why = if matches!(condition, Condition::OneOf(_)) && values.is_empty() {
        "is compared with an empty list: name at least one value"
    } else if ends.iter().flatten().any(|value| value.is_null()) {
        "cannot be compared with null, which equals nothing: Condition::Null takes edges without a value, Condition::NotNull those with one"
    } else if ends.iter().flatten().any(is_nan) {
        "cannot be compared with NaN, which no number equals, precedes or follows: name a number"
    } else {
        return Ok(());
    };
    Err(ArgumentError::Invalid(format!("property {name} {why}")).into())
}

/// Refuses values whose type is not that of the property. O(1), since the values are sorted by type.
fn check_types((name, label): (&str, &str), kind: PropertyType, condition: &Condition) -> Result<()> {
    if matches!(condition, Condition::Prefix(_)) && kind.is_fixed() {
        let message = format!(
            "property {name} of label {label:?} is of type {kind}, and texts and bytes alone have a prefix: compare it with >= and <"
        );
        return Err(ArgumentError::Invalid(message).into());
    }
    let values = condition.values();
    let types = [values.first(), values.last()].into_iter().flatten().filter_map(Value::property_type);
    match types.into_iter().find(|&found| found != kind) {
        None => Ok(()),
        Some(found) => {
            let (label, property) = (label.to_owned(), name.to_owned());
            Err(ArgumentError::FilterType { label, property, expected: kind, found }.into())
        }
    }
}

/// Returns the error for a property that none of the labels has.
pub(super) fn no_such_property(
    core: &Core,
    schema: &Schema,
    labels: &[LabelId],
    property: &str,
) -> ArgumentError {
    let of = || labels.iter().filter_map(|&id| schema.label_by_id(id));
    let mut known: Vec<String> = Vec::new();
    for label in of() {
        let weight = core.catalog.is_weighted(label.id()).then_some(WEIGHT);
        let names =
            |label: &Label| label.properties().iter().map(|p| p.name().to_string()).collect::<Vec<_>>();
        for name in weight.map(str::to_owned).into_iter().chain(names(label)) {
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
    let labels = of().map(|label| label.name().to_string()).collect();
    ArgumentError::NoSuchProperty { property: property.to_owned(), labels, known: known.into() }
}
