//! Labels, ranks and properties: the content of a rich graph.

use std::collections::BTreeMap;

use hedgerow_core::{KeyKind, PropertyType, Value, VertexKey};

/// Properties by name. Nulls are not kept.
pub type Props = BTreeMap<String, Value>;

/// The labels of a rich graph: the default one, one whose edges are unique, one whose edges have ranks.
pub const LABELS: [(&str, bool); 3] = [("", false), ("knows", false), ("calls", true)];

/// The kinds of vertices of a rich graph that is not dense, after the default one: their names and types of
/// keys.
pub const KINDS: [(&str, KeyKind); 2] = [("page", KeyKind::U64), ("author", KeyKind::Str)];

/// The properties of a rich graph, of edges of each label and of vertices.
pub const PROPERTIES: [(&str, PropertyType); 6] = [
    ("flag", PropertyType::Bool),
    ("count", PropertyType::I64),
    ("ratio", PropertyType::F64),
    ("text", PropertyType::Utf8),
    ("blob", PropertyType::Bytes),
    ("when", PropertyType::Timestamp),
];

/// The property under which the weight of an edge of the default label is set, in a weighted graph.
pub const WEIGHT: &str = "weight";

/// An edge of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemKey {
    /// One of [`LABELS`].
    pub label: &'static str,
    /// The source.
    pub src: VertexKey,
    /// The destination.
    pub dst: VertexKey,
    /// The rank; 0 unless the label has ranks.
    pub rank: u64,
}

/// The content of a rich graph beside vertices and plain edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rich {
    /// Edges of named labels, and those edges of the default label that have properties.
    pub(super) items: BTreeMap<ItemKey, Props>,
    pub(super) vertices: BTreeMap<VertexKey, Props>,
}
