//! The parts of a file of GraphML.

use hedgerow::PropertyType;

/// The attributes of an element, with their values.
pub(crate) type Attributes = Vec<(String, String)>;

/// A declaration of data: `<key id= for= attr.name= attr.type=>`.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) of_nodes: bool,
    pub(crate) of_edges: bool,
    /// The type; `None` if the data have none, such as drawings of an editor.
    pub(crate) kind: Option<PropertyType>,
    pub(crate) default: Option<String>,
}

/// The facts before the first node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub(crate) keys: Vec<Key>,
    pub(crate) directed: bool,
}

/// A node or an edge. Its data are in the reader.
#[derive(Debug)]
pub(crate) enum Element {
    Node { line: u64, id: String },
    Edge { line: u64, ends: [String; 2] },
}

/// A fault: of one element, after which the next one can be read, or of the file.
#[derive(Debug)]
pub(crate) enum Fault {
    /// True if it is a node.
    Element {
        line: u64,
        is_node: bool,
        why: String,
    },
    File(u64, String),
}

/// Returns the value of an attribute.
pub(crate) fn of<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}
