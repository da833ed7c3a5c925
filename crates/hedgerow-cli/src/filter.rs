//! Conditions for the properties of edges: `--where`.

use hedgerow::{Comparison, Condition, PropertyType, Schema, Value};

use hedgerow_load::property;

/// The name by which filters refer to the weight of a weighted graph.
const WEIGHT: &str = "weight";

/// The form of a condition.
const FORMS: &str = "PROPERTY, one of == != < <= > >=, and VALUE are needed, as in since>2020; or 'op in A,D', 'name prefix Ann', \
                     'op is null', 'op is not null'";

/// A condition that the property of an edge must meet.
#[derive(Clone)]
pub(crate) struct Filter {
    property: String,
    operator: Operator,
    /// The texts of the values: one for a comparison, several for a set, none for a test for null.
    values: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Compares(Comparison),
    In,
    Prefix,
    Null,
    NotNull,
}

/// The operators that are words, with the spaces around them.
const WORDS: [&str; 4] = [" in ", " prefix ", " is ", " between "];

/// Reads a condition. Double quotes around a name allow operators in it.
pub(crate) fn parse(text: &str) -> Result<Filter, String> {
    let quoted = text.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let searched = quoted.map_or(text, |(_, rest)| rest);
    let symbol = searched.find(['=', '!', '<', '>']);
    let word = WORDS.into_iter().filter_map(|word| Some((searched.find(word)?, word))).min();
    let word = word.filter(|(at, _)| symbol.is_none_or(|symbol| at < &symbol));
    let Some(at) = word.map(|(at, _)| at).or(symbol) else { return Err(FORMS.to_owned()) };
    let (before, rest) = searched.split_at(at);
    let property = match quoted {
        Some((name, _)) if before.trim().is_empty() => name,
        Some(_) => return Err(FORMS.to_owned()),
        None => before.trim(),
    };
    if property.is_empty() {
        return Err(FORMS.to_owned());
    }
    let (operator, values) = match word {
        Some((_, word)) => of_word(property, word.trim(), rest[word.len()..].trim())?,
        None => {
            let symbols = Comparison::ALL.into_iter().map(Comparison::symbol).chain(["="]);
            let found = symbols.into_iter().find(|symbol| rest.starts_with(symbol));
            let found = found.and_then(|symbol| Some((Comparison::from_symbol(symbol)?, symbol.len())));
            let (comparison, length) = found.ok_or_else(|| FORMS.to_owned())?;
            (Operator::Compares(comparison), vec![rest[length..].trim().to_owned()])
        }
    };
    Ok(Filter { property: property.to_owned(), operator, values })
}

fn of_word(property: &str, word: &str, rest: &str) -> Result<(Operator, Vec<String>), String> {
    match (word, rest) {
        ("between", _) => {
            Err(format!("a range is two conditions: --where '{property}>=LOW' --where '{property}<HIGH'"))
        }
        ("in", _) if property.ends_with(" not") => {
            let property = property.trim_end_matches(" not");
            Err(format!("write --where '{property}!=VALUE' for each value"))
        }
        ("in", "") => Err(format!("values are needed, as in '{property} in A,D'")),
        ("in", list) => Ok((Operator::In, values(list)?)),
        ("prefix", start) => Ok((Operator::Prefix, vec![start.to_owned()])),
        (_, "null") => Ok((Operator::Null, Vec::new())),
        (_, "not null") => Ok((Operator::NotNull, Vec::new())),
        _ => Err(format!(
            "'is' compares with null alone, found {rest:?}: '{property} is null', or '{property}==VALUE'"
        )),
    }
}

/// Splits values at commas, or reads them from a JSON array, in which texts may contain commas.
fn values(list: &str) -> Result<Vec<String>, String> {
    if !list.starts_with('[') {
        return Ok(list.split(',').map(|value| value.trim().to_owned()).collect());
    }
    let wrong = |why: String| format!("{list} is no list of values in JSON: {why}");
    let values: Vec<serde_json::Value> =
        serde_json::from_str(list).map_err(|error| wrong(error.to_string()))?;
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => Ok(text),
        serde_json::Value::Number(number) => Ok(number.to_string()),
        serde_json::Value::Bool(yes) => Ok(yes.to_string()),
        other => Err(wrong(format!("{other} is no value; 'PROPERTY is null' selects edges without a value"))),
    };
    values.into_iter().map(text).collect()
}

impl Filter {
    pub(crate) fn property(&self) -> &str {
        &self.property
    }

    /// Returns the condition, with its values in the property's type. The first of `labels` that has the
    /// property states the type; an empty `labels` means all labels. The error describes a value that does
    /// not fit.
    pub(crate) fn condition(
        &self,
        schema: &Schema,
        weighted: bool,
        labels: &[String],
    ) -> Result<Condition, String> {
        let named = |label: &str| labels.is_empty() || labels.iter().any(|name| name == label);
        let mut kinds = schema.labels().iter().filter(|label| named(label.name())).filter_map(|label| {
            let is_weight = weighted && label.name().is_empty() && self.property == WEIGHT;
            let kind = label.property(&self.property).map(|property| property.property_type());
            if is_weight { Some(PropertyType::F64) } else { kind }
        });
        // The store refuses a property that no label has, and a prefix for values of fixed width.
        let kind = kinds.next().unwrap_or(PropertyType::Utf8);
        let kind =
            if self.operator == Operator::Prefix && kind.is_fixed() { PropertyType::Utf8 } else { kind };
        let value = |text: &String| property::parse(&self.property, kind, text);
        let one = || self.values.first().map_or(Ok(Value::Null), value);
        Ok(match self.operator {
            Operator::Compares(comparison) => Condition::Compares(comparison, one()?),
            Operator::In => {
                Condition::one_of(self.values.iter().map(value).collect::<Result<Vec<Value>, _>>()?)
            }
            Operator::Prefix => Condition::Prefix(one()?),
            Operator::Null => Condition::Null,
            Operator::NotNull => Condition::NotNull,
        })
    }
}
