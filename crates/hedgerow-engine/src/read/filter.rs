//! The predicates of a read on the properties of edges, and the tests that follow from them for the edges of
//! each label.

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{Condition, EdgeTest, LabelId, Predicate, PropertyId, PropertyTest, PropertyType, Value};

use crate::state::edge_key::WEIGHT;
use crate::state::store::Core;

/// The most conditions of one read.
const MAX_CONDITIONS: usize = 1024;

/// The predicates that must all be true for an edge.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter(Vec<Predicate>);

/// A predicate for the edges of one label.
enum OfLabel {
    /// True for every edge.
    Always,
    /// True for no edge.
    Never,
    Test(EdgeTest),
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, predicate: Predicate) {
        self.0.push(predicate);
    }

    /// Returns the tests of each label that an edge must all pass; `None` for a label without an edge that
    /// could pass.
    pub(super) fn tests(
        &self,
        core: &Core,
        schema: &Schema,
        labels: &[LabelId],
    ) -> Result<Vec<Option<Vec<EdgeTest>>>> {
        if self.0.is_empty() {
            return Ok(vec![Some(Vec::new()); labels.len()]);
        }
        if self.0.iter().map(Predicate::conditions).sum::<usize>() > MAX_CONDITIONS {
            let what = "the number of conditions of a read".to_owned();
            return Err(ArgumentError::TooLarge { what, limit: MAX_CONDITIONS as u64 }.into());
        }
        let check = Check { core, schema, labels };
        self.0.iter().try_for_each(|predicate| check.predicate(predicate))?;
        let of_label = |&id: &LabelId| {
            let mut tests = Vec::new();
            for predicate in &self.0 {
                match check.of_label(id, predicate)? {
                    OfLabel::Always => {}
                    OfLabel::Never => return Ok(None),
                    OfLabel::Test(EdgeTest::All(parts)) => tests.extend(parts),
                    OfLabel::Test(test) => tests.push(test),
                }
            }
            EdgeTest::sort(&mut tests);
            Ok(Some(tests))
        };
        labels.iter().map(of_label).collect()
    }
}

/// The check of predicates for some labels.
struct Check<'a> {
    core: &'a Core,
    schema: &'a Schema,
    labels: &'a [LabelId],
}

impl Check<'_> {
    /// Refuses values that nothing meets, and properties that none of the labels has.
    fn predicate(&self, predicate: &Predicate) -> Result<()> {
        match predicate {
            Predicate::Is(name, condition) => {
                check_values(name, condition)?;
                let has = |&id: &LabelId| property_of(self.core, self.schema, id, name).is_some();
                if self.labels.iter().any(has) {
                    return Ok(());
                }
                Err(no_such_property(self.core, self.schema, self.labels, name).into())
            }
            Predicate::All(parts) | Predicate::Any(parts) => {
                parts.iter().try_for_each(|part| self.predicate(part))
            }
        }
    }

    /// Returns the predicate for the edges of a label. If the label lacks a property, its edges have no value
    /// of it.
    fn of_label(&self, id: LabelId, predicate: &Predicate) -> Result<OfLabel> {
        let parts = |parts: &[Predicate]| {
            parts.iter().map(|part| self.of_label(id, part)).collect::<Result<Vec<OfLabel>>>()
        };
        Ok(match predicate {
            Predicate::Is(name, condition) => match test_of(self.core, self.schema, id, (name, condition))? {
                Some(test) => OfLabel::Test(test),
                None if *condition == Condition::Null => OfLabel::Always,
                None => OfLabel::Never,
            },
            Predicate::All(all) => {
                let mut tests = Vec::new();
                for part in parts(all)? {
                    match part {
                        OfLabel::Always => {}
                        OfLabel::Never => return Ok(OfLabel::Never),
                        OfLabel::Test(EdgeTest::All(parts)) => tests.extend(parts),
                        OfLabel::Test(test) => tests.push(test),
                    }
                }
                if tests.is_empty() { OfLabel::Always } else { OfLabel::Test(EdgeTest::All(tests)) }
            }
            Predicate::Any(any) => {
                let mut tests = Vec::new();
                for part in parts(any)? {
                    match part {
                        OfLabel::Always => return Ok(OfLabel::Always),
                        OfLabel::Never => {}
                        OfLabel::Test(EdgeTest::Any(parts)) => tests.extend(parts),
                        OfLabel::Test(test) => tests.push(test),
                    }
                }
                match tests.len() {
                    0 => OfLabel::Never,
                    1 => OfLabel::Test(tests.remove(0)),
                    _ => OfLabel::Test(EdgeTest::Any(tests)),
                }
            }
        })
    }
}

/// A property of edges, or their stored weight.
enum Tested {
    Weight,
    Property(PropertyId, PropertyType),
}

/// Returns what a name means for the edges of a label, if anything.
fn property_of(core: &Core, schema: &Schema, id: LabelId, name: &str) -> Option<Tested> {
    if core.catalog.is_weighted(id) && name == WEIGHT {
        return Some(Tested::Weight);
    }
    let property = schema.label_by_id(id)?.property(name)?;
    Some(Tested::Property(property.id(), property.property_type()))
}

/// Returns the test for a label's edges; `None` if the label has no such property.
fn test_of(
    core: &Core,
    schema: &Schema,
    id: LabelId,
    (name, condition): (&str, &Condition),
) -> Result<Option<EdgeTest>> {
    let Some(tested) = property_of(core, schema, id, name) else { return Ok(None) };
    let label_name = schema.label_by_id(id).map_or("", |label| label.name());
    let condition = match (condition, condition.values()) {
        // A set of one value becomes a comparison, which uses vector instructions.
        (Condition::OneOf(_), [value]) => Condition::equal(value.clone()),
        _ => condition.clone(),
    };
    let kind = if let Tested::Property(_, kind) = tested { kind } else { PropertyType::F64 };
    check_types((name, label_name), kind, &condition)?;
    Ok(Some(match tested {
        Tested::Weight => EdgeTest::Weight(condition),
        Tested::Property(property, kind) => EdgeTest::Property(PropertyTest { property, kind, condition }),
    }))
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
    let positive = if let Condition::Not(condition) = condition { condition } else { condition };
    let why = if matches!(positive, Condition::OneOf(_)) && values.is_empty() {
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
    let positive = if let Condition::Not(condition) = condition { condition } else { condition };
    if matches!(positive, Condition::Prefix(_)) && kind.is_fixed() {
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
