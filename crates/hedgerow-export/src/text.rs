//! Keys, values and names as the text of files, and the paths of stores and exports.

use std::borrow::Cow;
use std::path::Path;

use hedgerow::{KeyKind, KindId, Property, Schema, ValueRef};
use hedgerow_workload::read::show_time;

/// Returns `text` as a field between `delimiter`s. It is quoted if it would otherwise be misread.
pub fn quoted(text: &str, delimiter: u8) -> Cow<'_, str> {
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r');
    let edge = text.starts_with(['#', '%']) || text.trim() != text || text.is_empty();
    if !edge && !text.bytes().any(special) {
        return text.into();
    }
    format!("\"{}\"", text.replace('"', "\"\"")).into()
}

/// Returns a value in the form that a load reads; `None` for null.
pub fn to_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Bytes(bytes) => Some(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        ValueRef::Timestamp(microseconds) => Some(time(microseconds)),
        other => Some(other.to_string()),
    }
}

/// Returns a time as a date. Outside the years of four digits it returns microseconds since 1970.
fn time(microseconds: i64) -> String {
    show_time(microseconds).unwrap_or_else(|| microseconds.to_string())
}

/// Returns `NAME:TYPE`, the form of headers.
pub fn header(property: &Property) -> String {
    format!("{}:{}", property.name(), property.property_type())
}

/// Returns the name of a type of keys as options and descriptions have it.
pub fn kind_name(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Dense => "dense",
        KeyKind::U64 => "u64",
        KeyKind::Str => "str",
    }
}

/// Returns all kinds of vertices with the types of their keys: the default kind, which has `keys`, and the
/// defined kinds.
pub fn kinds(schema: &Schema, keys: KeyKind) -> impl Iterator<Item = (KindId, KeyKind)> {
    let defined = schema.kinds().iter().map(|kind| (kind.id(), kind.keys()));
    std::iter::once((KindId::DEFAULT, keys)).chain(defined)
}

/// True if `path` does not exist or is an empty directory, so that a store can be created there.
pub fn is_vacant(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(_) => std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
    }
}
