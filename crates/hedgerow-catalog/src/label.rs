//! Labels and their properties.

use std::sync::Arc;

use hedgerow_core::{KindId, LabelId, PropertyId, PropertyType, Timestamp};

/// A label: a class of edges, with its own adjacency and properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub(crate) id: LabelId,
    pub(crate) name: Arc<str>,
    pub(crate) multi: bool,
    pub(crate) ends: Option<[KindId; 2]>,
    pub(crate) properties: Vec<Property>,
    pub(crate) defined: Timestamp,
}

/// A property of the edges of a label, or of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub(crate) id: PropertyId,
    pub(crate) of: KindId,
    pub(crate) name: Arc<str>,
    pub(crate) kind: PropertyType,
    pub(crate) defined: Timestamp,
}

impl Property {
    /// Returns the id, among the properties of the same label.
    pub fn id(&self) -> PropertyId {
        self.id
    }

    /// Returns the name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the kind of the vertices that have the property; the default one for a property of edges.
    pub fn vertex_kind(&self) -> KindId {
        self.of
    }

    /// Returns the type of its values.
    pub fn property_type(&self) -> PropertyType {
        self.kind
    }
}

impl Label {
    pub(crate) fn new(id: LabelId, name: &str, multi: bool, defined: Timestamp) -> Label {
        Label { id, name: Arc::from(name), multi, ends: None, properties: Vec::new(), defined }
    }

    /// Returns the id. The default label has [`LabelId::DEFAULT`].
    pub fn id(&self) -> LabelId {
        self.id
    }

    /// Returns the name; empty for the default label.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the label's name for use in messages.
    #[doc(hidden)]
    pub fn shown(&self) -> String {
        match self.id {
            LabelId::DEFAULT => "the default label".into(),
            LabelId::VERTICES => "the properties of vertices".into(),
            _ => format!("label {:?}", self.name),
        }
    }

    /// True if edges have a rank, so that several may lead from one vertex to another.
    pub fn is_multi(&self) -> bool {
        self.multi
    }

    /// Returns the kinds of source and destination of its edges, if the label prescribes them.
    pub fn ends(&self) -> Option<[KindId; 2]> {
        self.ends
    }

    /// Returns the timestamp of the definition.
    #[doc(hidden)]
    pub fn defined(&self) -> Timestamp {
        self.defined
    }

    /// Returns the properties of its edges, in the order of their definition.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Returns the property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.property_of(KindId::DEFAULT, name)
    }

    /// Returns the property of this name, of the vertices of a kind.
    #[doc(hidden)]
    pub fn property_of(&self, kind: KindId, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| p.of == kind && &*p.name == name)
    }

    /// Returns the property with this id.
    #[doc(hidden)]
    pub fn property_by_id(&self, id: PropertyId) -> Option<&Property> {
        self.properties.get(usize::from(id.0))
    }
}
