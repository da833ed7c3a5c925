//! Properties as text: in files, on the command line, in results.

use hedgerow::{Property, PropertyType, Value, ValueRef};
use hedgerow_workload::read::parse_microseconds;

use crate::output::number;

/// The value of type `kind` that a field spells; else what is wrong with it.
pub(crate) fn parse(name: &str, kind: PropertyType, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let value = match kind {
        PropertyType::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        PropertyType::I64 => trimmed.parse().ok().map(Value::I64),
        PropertyType::F64 => trimmed.parse().ok().map(Value::F64),
        PropertyType::Utf8 => Some(Value::from(text)),
        PropertyType::Bytes => bytes(trimmed).map(|bytes| Value::from(&bytes[..])),
        PropertyType::Timestamp => parse_microseconds(trimmed).map(Value::Timestamp),
    };
    value.ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        format!("property {name} is not {} ({kind}): {shown:?}", what(kind))
    })
}

fn what(kind: PropertyType) -> &'static str {
    match kind {
        PropertyType::Bool => "true or false",
        PropertyType::I64 => "a whole number from -2^63 to 2^63 - 1",
        PropertyType::F64 => "a number",
        PropertyType::Utf8 => "text",
        PropertyType::Bytes => "bytes as pairs of hexadecimal digits",
        PropertyType::Timestamp => "a whole number of microseconds since 1970 or an ISO 8601 time",
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

/// A value as [`parse`] reads it; nothing for null.
pub(crate) fn to_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Bytes(bytes) => Some(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        other => Some(other.to_string()),
    }
}

/// A value as JSON: bytes in hexadecimal digits, times in microseconds since 1970.
pub(crate) fn to_json(value: ValueRef<'_>) -> serde_json::Value {
    match value {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Bool(yes) => yes.into(),
        ValueRef::I64(n) | ValueRef::Timestamp(n) => n.into(),
        ValueRef::F64(x) => number(x),
        other => to_text(other).into(),
    }
}

/// `NAME:TYPE`, as headers have it.
pub(crate) fn header(property: &Property) -> String {
    format!("{}:{}", property.name(), property.property_type())
}

/// A name with its type behind the last colon; else what is wrong with it.
pub(crate) fn parse_header(text: &str) -> Result<(String, PropertyType), String> {
    let (name, kind) =
        text.rsplit_once(':').ok_or_else(|| format!("{text:?} has no type: NAME:TYPE is needed"))?;
    let kind = PropertyType::from_name(kind.trim()).ok_or_else(|| {
        format!("{text:?} has no known type: bool, i64, f64, utf8, bytes or timestamp is needed")
    })?;
    if name.trim().is_empty() {
        return Err(format!("{text:?} has no name"));
    }
    Ok((name.trim().to_owned(), kind))
}
