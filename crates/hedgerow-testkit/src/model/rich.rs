//! Labels, ranks and properties: the content of a rich graph.

use std::collections::BTreeMap;

use hedgerow_core::{KeyKind, PropertyType, Value, VertexKey};

/// Properties by name, without nulls.
pub type Props = BTreeMap<String, Value>;

/// The labels of a rich graph: the default label, a label with unique edges, and a label whose edges have
/// ranks.
pub const LABELS: [(&str, bool); 3] = [("", false), ("knows", false), ("calls", true)];

/// The vertex kinds of a rich graph without dense keys, after the default kind: their names and key types.
pub const KINDS: [(&str, KeyKind); 2] = [("page", KeyKind::U64), ("author", KeyKind::Str)];

/// The properties of a rich graph. Edges of each label and vertices have them.
pub const PROPERTIES: [(&str, PropertyType); 6] = [
    ("flag", PropertyType::Bool),
    ("count", PropertyType::I64),
    ("ratio", PropertyType::F64),
    ("text", PropertyType::Utf8),
    ("blob", PropertyType::Bytes),
    ("when", PropertyType::Timestamp),
];

/// The property that sets the weight of an edge of the default label, in a weighted graph.
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

/// The content of a rich graph in addition to vertices and plain edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rich {
    /// Edges of named labels, and edges of the default label with properties.
    pub(super) items: BTreeMap<ItemKey, Props>,
    pub(super) vertices: BTreeMap<VertexKey, Props>,
}
