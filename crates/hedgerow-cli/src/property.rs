//! Property values in arguments and results.

use hedgerow::{PropertyType, Value, ValueRef};
use hedgerow_export::text::to_text;
use hedgerow_load::property::parse;
use hedgerow_workload::read::{read_time, show_time};

use crate::output::number;

/// Returns a value as JSON: bytes in hexadecimal digits, times as dates.
pub(crate) fn to_json(value: ValueRef<'_>) -> serde_json::Value {
    match value {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Bool(yes) => yes.into(),
        ValueRef::I64(n) => n.into(),
        ValueRef::F64(x) => number(x),
        other => to_text(other).into(),
    }
}

/// Parses a value like [`parse`], in each form in which a command prints one, and refuses a time that the
/// store would cut.
pub(crate) fn parse_exact(name: &str, kind: PropertyType, text: &str) -> Result<Value, String> {
    if kind != PropertyType::Timestamp {
        return parse(name, kind, text);
    }
    // A time outside the years of dates is printed as a number of microseconds.
    if let Some(microseconds) = text.trim().parse().ok().filter(|&number| show_time(number).is_none()) {
        return Ok(Value::Timestamp(microseconds));
    }
    match read_time(text.trim(), None) {
        Ok(time) if time.is_cut => {
            Err(format!("property {name}: {:?} is finer than microseconds, the unit of times", text.trim()))
        }
        _ => parse(name, kind, text),
    }
}
