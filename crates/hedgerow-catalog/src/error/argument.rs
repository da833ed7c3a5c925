//! Errors of arguments that do not fit the graph.

use hedgerow_core::{KeyKind, PropertyType, VertexKey};

/// Reasons why an argument, or the thing that it names, does not fit this graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// An argument is out of range, or of the wrong kind.
    #[error("{0}")]
    Invalid(String),
    /// A limit was exceeded.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// The thing that is too large.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// A key names no vertex, in a read of many.
    #[error("no vertex {key}, at row {row} of the keys")]
    NoSuchVertex {
        /// The key.
        key: String,
        /// Its place among the keys of the call, from 0.
        row: usize,
    },
    /// The call names a label that is not defined.
    #[error("no label {label}: the labels are {}", listed(known))]
    NoSuchLabel {
        /// The label.
        label: String,
        /// The names of the labels that are defined; the default label's is empty.
        known: Vec<String>,
    },
    /// The call names a kind of vertices that is not defined.
    #[error("no kind {kind}: the kinds are {}", listed(known))]
    NoSuchKind {
        /// The kind.
        kind: String,
        /// The names of the kinds that are defined; the default kind needs none.
        known: Vec<String>,
    },
    /// A key has another type than those of its kind.
    #[error("kind {kind} is defined {}, but the key {found} has another type", with_keys(*expected))]
    KeyOfKind {
        /// The kind.
        kind: String,
        /// The type of its keys.
        expected: KeyKind,
        /// The key.
        found: VertexKey,
    },
    /// An edge has an end of another kind than its label prescribes.
    #[error(
        "vertex {key} cannot be at this end of an edge: label {label} requires a vertex of {expected} there"
    )]
    EndOfKind {
        /// The label.
        label: Box<str>,
        /// The kind that the label prescribes.
        expected: Box<str>,
        /// The given key, with the name of its kind.
        key: Box<str>,
    },
    /// The edges have different labels, and the call reads the edges of one.
    #[error("the edges have {} labels, {}: name one of them", labels.len(), listed(labels))]
    SeveralLabels {
        /// The names of the labels; the default label's is empty.
        labels: Vec<String>,
    },
    /// A label, or a kind of vertices, is defined otherwise.
    #[error("{name} is defined {found}, not {wanted}")]
    SchemaConflict {
        /// The label, or the kind of vertices.
        name: String,
        /// The requested definition.
        wanted: String,
        /// The present definition.
        found: String,
    },
    /// A property has another type.
    #[error("property {property} has type {expected}, but the value has type {found}")]
    PropertyType {
        /// The name of the property.
        property: String,
        /// Its type.
        expected: PropertyType,
        /// The type of the given value.
        found: PropertyType,
    },
    /// A filter compares a property with a value of another type.
    #[error(
        "property {property} of label {label:?} has type {expected}, but the value of the filter has type {found}: compare the \
         property with a value of type {expected}, or name labels whose property has type {found}"
    )]
    FilterType {
        /// The label; the default label's name is empty.
        label: String,
        /// The name of the property.
        property: String,
        /// Its type.
        expected: PropertyType,
        /// The type of the value.
        found: PropertyType,
    },
    /// None of the labels that are read has the property.
    #[error("{}", without_property(property, labels, known))]
    NoSuchProperty {
        /// The property.
        property: String,
        /// The labels; the default label's name is empty.
        labels: Vec<String>,
        /// The properties that these labels have.
        known: Box<[String]>,
    },
}

/// The most names that a message lists.
const MOST_LISTED: usize = 32;

fn without_property(property: &str, labels: &[String], known: &[String]) -> String {
    let without = match labels {
        [label] => format!("label {label:?} has no property {property}"),
        labels => format!("none of the labels {} has a property {property}", listed(labels)),
    };
    match known {
        [] => format!("{without}, and there are no other properties"),
        known => format!("{without}: the properties are {}", listed(known)),
    }
}

/// Lists names for a message, quoted: the default label's is empty.
fn listed(names: &[String]) -> String {
    let mut text =
        names.iter().take(MOST_LISTED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST_LISTED {
        text += &format!(" and {} more", names.len() - MOST_LISTED);
    }
    text
}

/// Returns the words for a graph, or a kind of vertices, with such keys.
pub fn with_keys(keys: KeyKind) -> &'static str {
    match keys {
        KeyKind::Dense => "with dense keys",
        KeyKind::U64 => "with u64 keys",
        KeyKind::Str => "with str keys",
    }
}
