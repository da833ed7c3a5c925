//! The argument `where`: conditions on an edge's properties, joined by and, or and not.

use std::fmt::Display;

use hedgerow::{Comparison, Condition, Predicate, PropertyType, Value};
use hedgerow_core::suggest::did_you_mean;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBytes, PyDate, PyDateTime, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple, PyTzInfo,
};

use crate::arrays::{exact, not_exact};
use crate::ending::calling;
use crate::error::{DataError, told};
use crate::key::{shown, type_name};
use crate::value;

/// The argument `where`: a condition, or a group of them.
pub(crate) struct Where(Group);

/// The deepest nesting of groups, far below what a thread's stack allows.
const DEEPEST: usize = 100;

enum Group {
    Is(Stated),
    All(Vec<Group>),
    Any(Vec<Group>),
    Not(Box<Group>),
}

/// A condition in the form of the caller's argument.
struct Stated {
    property: String,
    operator: Operator,
    /// The values: one for a comparison, several for a set, none for a test for null.
    values: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Compares(Comparison),
    In,
    NotIn,
    Prefix,
    Is,
    IsNot,
}

/// The operators that are words.
const WORDS: [(&str, Operator); 5] = [
    ("in", Operator::In),
    ("not in", Operator::NotIn),
    ("prefix", Operator::Prefix),
    ("is", Operator::Is),
    ("is not", Operator::IsNot),
];

impl<'py> FromPyObject<'_, 'py> for Where {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Where> {
        let _calling = calling(object.py());
        Group::read(&object, 0).map(Where)
    }
}

fn wrong(object: &Bound<'_, PyAny>) -> PyErr {
    let found = shown(object);
    PyTypeError::new_err(format!(
        "where must be a tuple (property, comparison, value), a sequence of conditions that must all be met, (\"or\", condition, ...), \
         (\"and\", condition, ...) or (\"not\", condition), found {found}"
    ))
}

impl Group {
    fn read(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Group> {
        let is_name = |object: &Bound<'_, PyAny>| object.is_instance_of::<PyString>();
        if depth > DEEPEST {
            return Err(DataError::new_err(format!("where: groups are nested deeper than {DEEPEST}")));
        }
        if let Ok(parts) = object.cast::<PyTuple>()
            && parts.get_borrowed_item(0).is_ok_and(|first| is_name(&first))
        {
            // The second part of a condition is a comparison, that of a group a condition.
            let is_group = parts.get_borrowed_item(1).is_ok_and(|second| !is_name(&second));
            return if is_group { Group::named(parts, depth) } else { Stated::read(parts).map(Group::Is) };
        }
        if is_name(object) {
            return Err(wrong(object));
        }
        let all = object.try_iter().map_err(|error| told(object.py(), error, |_| wrong(object)))?;
        all.map(|part| Group::read(&part?, depth + 1)).collect::<PyResult<_>>().map(Group::All)
    }

    /// Reads a tuple of a word and conditions.
    fn named(parts: &Bound<'_, PyTuple>, depth: usize) -> PyResult<Group> {
        let word: String = parts.get_item(0)?.extract()?;
        if matches!(word.as_str(), "and" | "or")
            && let Ok(only) = parts.get_item(1)
            && parts.len() == 2
            && !only.is_instance_of::<PyTuple>()
        {
            // A list means that all conditions must be met, so or would be and.
            return Err(DataError::new_err(format!(
                "where: \"{word}\" takes its conditions one after another: (\"{word}\", condition, condition), not a list of them"
            )));
        }
        let mut groups: Vec<Group> =
            parts.iter().skip(1).map(|part| Group::read(&part, depth + 1)).collect::<PyResult<_>>()?;
        match word.as_str() {
            "and" => Ok(Group::All(groups)),
            "or" => Ok(Group::Any(groups)),
            "not" => match groups.pop().filter(|_| groups.is_empty()) {
                Some(only) => Ok(Group::Not(Box::new(only))),
                None => Err(DataError::new_err(
                    "where: \"not\" takes one condition: put several into \"and\" or \"or\"",
                )),
            },
            _ => Err(wrong(parts)),
        }
    }

    fn predicate(self, kind_of: &impl Fn(&str) -> Option<PropertyType>) -> PyResult<Predicate> {
        let all = |groups: Vec<Group>| {
            groups.into_iter().map(|group| group.predicate(kind_of)).collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            Group::Is(stated) => stated.predicate(kind_of)?,
            Group::All(groups) => Predicate::All(all(groups)?),
            Group::Any(groups) => Predicate::Any(all(groups)?),
            Group::Not(group) => !group.predicate(kind_of)?,
        })
    }
}

impl Stated {
    fn read(parts: &Bound<'_, PyTuple>) -> PyResult<Stated> {
        let py = parts.py();
        let (property, symbol, value): (String, String, Bound<'_, PyAny>) =
            parts.extract().map_err(|error| told(py, error, |_| wrong(parts)))?;
        let operator = operator(&property, &symbol)?;
        let name = format_args!("where: property {property}");
        let null = |what: &str| {
            DataError::new_err(format!(
                "{name}: {what}: write ({property:?}, \"is\", None) for edges without a value, ({property:?}, \"is not\", None) for \
                 those with one"
            ))
        };
        let one = |object: Bound<'_, PyAny>| value::read(&name, &in_utc(object)?, None);
        let values = match operator {
            Operator::Is | Operator::IsNot => {
                if !value.is_none() && !value::is_missing(&value) {
                    let found = shown(&value);
                    return Err(DataError::new_err(format!(
                        "{name}: \"{symbol}\" compares with None alone, found {found}: write == or !="
                    )));
                }
                Vec::new()
            }
            Operator::In | Operator::NotIn => {
                let values = several(&name, &value)?;
                let values = values.map(|value| one(value?)).take(Condition::MAX_VALUES + 1);
                let values = values.collect::<PyResult<Vec<Value>>>()?;
                if values.iter().any(Value::is_null) {
                    return Err(null("the values contain None, which equals nothing"));
                }
                values
            }
            Operator::Compares(_) | Operator::Prefix => {
                if is_collection(&value) {
                    let found = type_name(&value);
                    let instead = match operator {
                        Operator::Compares(Comparison::NotEqual) => {
                            format!("several follow \"not in\", as in ({property:?}, \"not in\", [...])")
                        }
                        _ => format!("several follow \"in\", as in ({property:?}, \"in\", [...])"),
                    };
                    return Err(PyTypeError::new_err(format!(
                        "{name}: {symbol} takes one value, found {found}: {instead}"
                    )));
                }
                let value = one(value)?;
                if value.is_null() {
                    return Err(null(&format!("a comparison of None with {symbol} is never true")));
                }
                vec![value]
            }
        };
        Ok(Stated { property, operator, values })
    }
}

fn operator(property: &str, symbol: &str) -> PyResult<Operator> {
    if let Some(comparison) = Comparison::from_symbol(symbol) {
        return Ok(Operator::Compares(comparison));
    }
    if let Some((_, operator)) = WORDS.iter().find(|(word, _)| *word == symbol) {
        return Ok(*operator);
    }
    let words = WORDS.map(|(word, _)| word);
    let lower = symbol.to_lowercase();
    let instead = match lower.as_str() {
        word if words.contains(&word) => format!(": did you mean {word:?}?"),
        "between" | "range" => {
            format!(": write two conditions, [({property:?}, \">=\", low), ({property:?}, \"<\", high)]")
        }
        "startswith" | "starts with" | "starts_with" => ": did you mean \"prefix\"?".to_owned(),
        "not_in" => ": did you mean \"not in\"?".to_owned(),
        _ => did_you_mean(symbol, &words),
    };
    let known: Vec<&str> =
        Comparison::ALL.iter().map(|comparison| comparison.symbol()).chain(words).collect();
    let known = known.join(", ");
    Err(DataError::new_err(format!("a comparison must be one of {known}, found {symbol:?}{instead}")))
}

/// Reads the values of a set.
fn several<'py>(
    name: &dyn Display,
    object: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>>> {
    let wrong = |instead: &str| {
        let found = type_name(object);
        PyTypeError::new_err(format!("{name}: \"in\" takes a sequence of values, found {found}{instead}"))
    };
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(wrong(": put it into a list"));
    }
    object.try_iter().map_err(|error| told(object.py(), error, |_| wrong("")))
}

fn is_collection(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PySet>()
        || object.is_instance_of::<PyFrozenSet>()
}

impl Where {
    /// Returns the predicate with values of the properties' types, which `kind_of` returns. For a float
    /// property an int becomes a float, as in writes; for a property of times a text becomes a time.
    pub(crate) fn predicate(self, kind_of: impl Fn(&str) -> Option<PropertyType>) -> PyResult<Predicate> {
        self.0.predicate(&kind_of)
    }
}

impl Stated {
    fn predicate(self, kind_of: &impl Fn(&str) -> Option<PropertyType>) -> PyResult<Predicate> {
        let Stated { property, operator, values } = self;
        let kind = kind_of(&property).filter(|_| operator != Operator::Prefix);
        let mut values = values.into_iter().map(|value| adapt(&property, value, kind));
        let condition = match operator {
            Operator::In | Operator::NotIn => {
                let set = Condition::one_of(values.collect::<PyResult<Vec<Value>>>()?);
                if operator == Operator::In { set } else { set.negated() }
            }
            Operator::Compares(comparison) => {
                Condition::Compares(comparison, values.next().transpose()?.unwrap_or(Value::Null))
            }
            Operator::Prefix => Condition::Prefix(values.next().transpose()?.unwrap_or(Value::Null)),
            Operator::Is => Condition::Null,
            Operator::IsNot => Condition::NotNull,
        };
        Ok(Predicate::new(property, condition))
    }
}

fn adapt(property: &str, value: Value, kind: Option<PropertyType>) -> PyResult<Value> {
    match (value, kind) {
        (Value::I64(number), Some(PropertyType::F64)) => {
            let name = format!("where: property {property}");
            Ok(Value::F64(exact(number).ok_or_else(|| not_exact(&name, number))?))
        }
        (Value::Utf8(text), Some(PropertyType::Timestamp)) => time_of(property, &text),
        (value, _) => Ok(value),
    }
}

/// Returns a time without a zone as a time in UTC, and a date as its midnight in UTC: a condition stores
/// nothing. Other objects are returned unchanged.
fn in_utc(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = object.py();
    if value::is_missing(&object) {
        return Ok(object);
    }
    if object.is_instance_of::<PyDateTime>() {
        if !object.call_method0("utcoffset")?.is_none() {
            return Ok(object);
        }
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", PyTzInfo::utc(py)?)?;
        return object.call_method("replace", (), Some(&zone));
    }
    if object.is_instance_of::<PyDate>() {
        let part = |name: &str| object.getattr(name);
        let class = py.get_type::<PyDateTime>();
        return in_utc(class.call1((part("year")?, part("month")?, part("day")?))?);
    }
    Ok(object)
}

/// Reads a time from a text in ISO 8601. Without a zone it is a time in UTC.
fn time_of(name: &str, text: &str) -> PyResult<Value> {
    Python::attach(|py| {
        let _calling = calling(py);
        // Python ignores digits after the sixth one, so a text with more digits is refused.
        let digits =
            text.split_once('.').map_or(0, |(_, after)| after.bytes().take_while(u8::is_ascii_digit).count());
        let time = py.get_type::<PyDateTime>().call_method1("fromisoformat", (text,));
        match time.ok().filter(|_| digits <= 6) {
            Some(time) => value::read(&format_args!("where: property {name}"), &in_utc(time)?, None),
            None => Err(DataError::new_err(format!(
                "where: property {name} holds times, but {text:?} is no ISO 8601 time with up to 6 decimals"
            ))),
        }
    })
}
