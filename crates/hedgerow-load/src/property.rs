//! Property values as text in files and arguments.

use hedgerow::{PropertyType, Value};
use hedgerow_workload::read::{FieldKind, TimeError, TimeUnit, is_rounded, read_time};

/// The type of a column in a file: the property's type, and the unit of numeric times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type of the property.
    pub property: PropertyType,
    /// The unit of numeric times; `None` if the size of each number decides.
    unit: Option<TimeUnit>,
}

/// The names of all types of columns, for messages.
pub const TYPES: &str = "bool, i64, f64, utf8, bytes, timestamp or timestamp_s, _ms, _us, _ns";

impl ColumnType {
    /// Values of this type.
    pub(crate) fn of(property: PropertyType) -> ColumnType {
        ColumnType { property, unit: None }
    }

    /// Times as numbers of this unit, or as dates.
    pub(crate) fn time(unit: TimeUnit) -> ColumnType {
        ColumnType { property: PropertyType::Timestamp, unit: Some(unit) }
    }

    /// Returns the type of a column in an export, where numeric times are microseconds. O(1).
    pub fn exported(property: PropertyType) -> ColumnType {
        ColumnType { property, unit: Some(TimeUnit::Microseconds) }
    }

    /// True if the type states the unit of numeric times. O(1).
    pub fn states_unit(self) -> bool {
        self.unit.is_some()
    }

    /// Returns the name that a header has for the type. O(1).
    pub fn name(self) -> String {
        match self.unit {
            Some(unit) => format!("{}_{}", self.property, unit.symbol()),
            None => self.property.name().to_owned(),
        }
    }

    /// Returns the type of a column with fields of this kind. O(1).
    pub fn of_field(kind: FieldKind) -> ColumnType {
        let property = match kind {
            FieldKind::Truth => PropertyType::Bool,
            FieldKind::Integer => PropertyType::I64,
            FieldKind::Number => PropertyType::F64,
            FieldKind::Time => PropertyType::Timestamp,
            FieldKind::Null | FieldKind::Text => PropertyType::Utf8,
        };
        ColumnType { property, unit: None }
    }

    /// Returns the type that Neo4j's importer calls `name`, in lower case; `None` if no property has such a
    /// type. O(1).
    pub fn of_importer(name: &str) -> Option<ColumnType> {
        let property = match name {
            "" | "string" | "char" => PropertyType::Utf8,
            "int" | "long" | "short" | "byte" => PropertyType::I64,
            "float" | "double" => PropertyType::F64,
            "boolean" => PropertyType::Bool,
            "date" | "datetime" | "localdatetime" => PropertyType::Timestamp,
            other => return ColumnType::from_name(other),
        };
        Some(ColumnType { property, unit: None })
    }

    /// Returns the type with this name. O(1).
    pub fn from_name(name: &str) -> Option<ColumnType> {
        let timestamp = PropertyType::Timestamp;
        let with_unit = || {
            let symbol = name.strip_prefix(timestamp.name())?.strip_prefix('_')?;
            let unit = TimeUnit::ALL.into_iter().find(|unit| unit.symbol() == symbol)?;
            Some(ColumnType { property: timestamp, unit: Some(unit) })
        };
        PropertyType::from_name(name).map(|property| ColumnType { property, unit: None }).or_else(with_unit)
    }
}

/// A value that was read from a field.
#[derive(Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub value: Value,
    /// True if the value is a time that was finer than microseconds, the store's unit.
    pub is_cut: bool,
}

/// Reads a field of a column. O(length of the text).
///
/// # Errors
/// The fault in the text.
pub fn read(name: &str, column: ColumnType, text: &str) -> Result<Read, String> {
    let trimmed = text.trim();
    let whole = |value| Ok(Read { value, is_cut: false });
    if column.property != PropertyType::Timestamp {
        return parse(name, column.property, text).and_then(whole);
    }
    match read_time(trimmed, column.unit) {
        Ok(time) => Ok(Read { value: Value::Timestamp(time.microseconds), is_cut: time.is_cut }),
        Err(TimeError::NotATime) => Err(wrong(name, column.property, text)),
        Err(error) => Err(format!("{}; say its unit: {name}:{UNITS}", unlikely(name, trimmed, error))),
    }
}

const UNITS: &str = "timestamp_s, timestamp_ms, timestamp_us or timestamp_ns";

/// Returns the error for a numeric time whose unit is unknown.
fn unlikely(name: &str, text: &str, error: TimeError) -> String {
    let when =
        if error == TimeError::NearEpoch { "within a year of 1970" } else { "outside the years 0 to 9999" };
    format!("property {name}: {text} is {when} if it counts microseconds")
}

/// Parses a value of type `kind` from an argument or a field. O(length of the text).
///
/// # Errors
/// The fault in the text.
pub fn parse(name: &str, kind: PropertyType, text: &str) -> Result<Value, String> {
    let trimmed = text.trim();
    let value = match kind {
        PropertyType::Bool => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        PropertyType::I64 => trimmed.parse().ok().map(Value::I64),
        PropertyType::F64 => match trimmed.parse() {
            Ok(number) if is_rounded(trimmed, number) => {
                let shown: String = trimmed.chars().take(40).collect();
                let why = "does not fit a 64-bit float without rounding; as i64 or utf8 it is kept";
                return Err(format!("property {name}: {shown} {why}"));
            }
            number => number.ok().map(Value::F64),
        },
        PropertyType::Utf8 => Some(Value::from(text)),
        PropertyType::Bytes => bytes(trimmed).map(|bytes| Value::from(&bytes[..])),
        PropertyType::Timestamp => match read_time(trimmed, None) {
            Ok(time) => Some(Value::Timestamp(time.microseconds)),
            Err(TimeError::NotATime) => None,
            Err(error) => {
                return Err(format!("{}; write a date, as 2015-06-01", unlikely(name, trimmed, error)));
            }
        },
    };
    value.ok_or_else(|| wrong(name, kind, text))
}

fn wrong(name: &str, kind: PropertyType, text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    format!("property {name} is not {} ({kind}): {shown:?}", what(kind))
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

/// Parses a name, a colon and a type. The last colon separates them. O(length of the text).
///
/// # Errors
/// The fault in the text.
pub fn parse_header(text: &str) -> Result<(String, ColumnType), String> {
    let (name, kind) =
        text.rsplit_once(':').ok_or_else(|| format!("{text:?} has no type: NAME:TYPE is needed"))?;
    let kind = ColumnType::from_name(kind.trim())
        .ok_or_else(|| format!("{text:?} has no known type: {TYPES} is needed"))?;
    if name.trim().is_empty() {
        return Err(format!("{text:?} has no name"));
    }
    Ok((name.trim().to_owned(), kind))
}
