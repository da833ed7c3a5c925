//! The schema: which labels and properties there are.
//!
//! Labels and properties are defined by name, explicitly or at first use, and get small ids that operations, log and
//! segments carry. A definition is a commit of its own: it draws a timestamp and stands in the log before every commit
//! that uses it. It cannot be undone; a transaction that is rolled back leaves the names it introduced behind.

use std::collections::HashMap;
use std::sync::Arc;

use hedgerow_core::property::{MAX_NAME_BYTES, MAX_PROPERTIES};
use hedgerow_core::sync::{ArcCell, ArcGuard, AtomicBool, Mutex, Ordering};
use hedgerow_core::{LabelId, Op, PropertyId, PropertyType, Timestamp};

use crate::error::{ArgumentError, Error, Result};

/// The labels and properties of a graph at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// By id; the first is the default label.
    labels: Vec<Label>,
    names: HashMap<Arc<str>, LabelId>,
    /// The properties of vertices, as a label that no user sees.
    vertices: Label,
    changed: Timestamp,
}

/// A label: edges of one kind, with adjacency and properties of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    id: LabelId,
    name: Arc<str>,
    multi: bool,
    properties: Vec<Property>,
    defined: Timestamp,
}

/// A property of the edges of a label, or of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    id: PropertyId,
    name: Arc<str>,
    kind: PropertyType,
    defined: Timestamp,
}

impl Property {
    /// The id, among the properties of the same label.
    pub fn id(&self) -> PropertyId {
        self.id
    }

    /// The name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The type of its values.
    pub fn property_type(&self) -> PropertyType {
        self.kind
    }
}

impl Label {
    fn new(id: LabelId, name: &str, multi: bool, defined: Timestamp) -> Label {
        Label { id, name: Arc::from(name), multi, properties: Vec::new(), defined }
    }

    /// The id. The default label has [`LabelId::DEFAULT`].
    pub fn id(&self) -> LabelId {
        self.id
    }

    /// The name; empty for the default label.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether edges have a rank: several may lead from one vertex to another.
    pub fn is_multi(&self) -> bool {
        self.multi
    }

    /// The properties of its edges, in the order of their definition.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|p| &*p.name == name)
    }

    pub(crate) fn property_by_id(&self, id: PropertyId) -> Option<&Property> {
        self.properties.get(usize::from(id.0))
    }
}

impl Default for Schema {
    fn default() -> Self {
        Schema {
            labels: vec![Label::new(LabelId::DEFAULT, "", false, Timestamp::ZERO)],
            names: HashMap::from([(Arc::from(""), LabelId::DEFAULT)]),
            vertices: Label::new(LabelId::VERTICES, "", false, Timestamp::ZERO),
            changed: Timestamp::ZERO,
        }
    }
}

impl Schema {
    /// The labels by id, the default label first.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The label of this name; the default label for the empty one.
    pub fn label(&self, name: &str) -> Option<&Label> {
        // The default label is named for almost every edge.
        if name.is_empty() {
            return self.labels.first();
        }
        self.names.get(name).and_then(|id| self.label_by_id(*id))
    }

    /// The label that `label` names.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`], which lists the labels there are.
    pub fn find_label<'a>(&self, label: impl Into<LabelRef<'a>>) -> Result<&Label> {
        let label = label.into();
        self.find(label).ok_or_else(|| label.missing(self))
    }

    /// The label with this id.
    pub fn label_by_id(&self, id: LabelId) -> Option<&Label> {
        if id == LabelId::VERTICES {
            return Some(&self.vertices);
        }
        self.labels.get(usize::from(id.0))
    }

    /// The properties of vertices, in the order of their definition.
    pub fn vertex_properties(&self) -> &[Property] {
        &self.vertices.properties
    }

    pub(crate) fn vertices(&self) -> &Label {
        &self.vertices
    }

    /// When a definition was last added.
    pub(crate) fn changed(&self) -> Timestamp {
        self.changed
    }

    /// The label that `label` means.
    pub(crate) fn find(&self, label: LabelRef<'_>) -> Option<&Label> {
        match label {
            LabelRef::Name(name) => self.label(name),
            LabelRef::Id(LabelId::VERTICES) => None,
            LabelRef::Id(id) => self.label_by_id(id),
        }
    }

    /// What of it was defined at or before `ts`.
    pub(crate) fn as_of(&self, ts: Timestamp) -> Schema {
        let mut seen = self.clone();
        seen.labels.retain(|label| label.defined <= ts);
        seen.names.retain(|_, id| self.label_by_id(*id).is_some_and(|label| label.defined <= ts));
        for label in seen.labels.iter_mut().chain([&mut seen.vertices]) {
            label.properties.retain(|property| property.defined <= ts);
        }
        seen
    }

    /// Adds a label, as the log says: ids are given in order. `Err` says what does not fit.
    pub(crate) fn add_label(
        &mut self,
        id: LabelId,
        name: &str,
        multi: bool,
        ts: Timestamp,
    ) -> std::result::Result<(), &'static str> {
        let next = usize::from(id.0) == self.labels.len() && id <= LabelId::MAX;
        // What was defined by some moment is the beginning of the list.
        let next = next && self.labels.last().is_none_or(|last| last.defined <= ts);
        if !next || name.is_empty() || name.len() > MAX_NAME_BYTES || self.names.contains_key(name) {
            return Err("a label that does not follow the ones before it");
        }
        let label = Label::new(id, name, multi, ts);
        self.names.insert(label.name.clone(), id);
        self.labels.push(label);
        self.changed = self.changed.max(ts);
        Ok(())
    }

    /// Adds a property of a label, or of vertices.
    pub(crate) fn add_property(
        &mut self,
        label: LabelId,
        id: PropertyId,
        name: &str,
        kind: PropertyType,
        ts: Timestamp,
    ) -> std::result::Result<(), &'static str> {
        let label = match label {
            LabelId::VERTICES => Some(&mut self.vertices),
            id => self.labels.get_mut(usize::from(id.0)),
        };
        let label = label.ok_or("a property of a label that is not defined")?;
        let next = usize::from(id.0) == label.properties.len() && label.properties.len() < MAX_PROPERTIES;
        let before = label.properties.last().map_or(label.defined, |last| last.defined);
        let next = next && before <= ts;
        if !next || name.is_empty() || name.len() > MAX_NAME_BYTES || label.property(name).is_some() {
            return Err("a property that does not follow the ones before it");
        }
        label.properties.push(Property { id, name: Arc::from(name), kind, defined: ts });
        self.changed = self.changed.max(ts);
        Ok(())
    }

    /// The definitions as operations with their timestamps, in an order in which they can be added again.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (Timestamp, Op<'_>)> {
        let labels = self.labels.iter().skip(1).map(|label| {
            (label.defined, Op::DefineLabel { label: label.id, multi: label.multi, name: &label.name })
        });
        let properties = self.labels.iter().chain([&self.vertices]).flat_map(|label| {
            label.properties.iter().map(|p| {
                (
                    p.defined,
                    Op::DefineProperty { label: label.id, property: p.id, kind: p.kind, name: &p.name },
                )
            })
        });
        labels.chain(properties)
    }

    /// Adds what an operation defines. `Err` says what does not fit.
    pub(crate) fn add(&mut self, ts: Timestamp, op: Op<'_>) -> std::result::Result<(), &'static str> {
        match op {
            Op::DefineLabel { label, multi, name } => self.add_label(label, name, multi, ts),
            Op::DefineProperty { label, property, kind, name } => {
                self.add_property(label, property, name, kind, ts)
            }
            _ => Ok(()),
        }
    }
}

/// A label by name or by id. Ids save looking the name up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelRef<'a> {
    /// By name; the empty one is the default label.
    Name(&'a str),
    /// By id.
    Id(LabelId),
}

impl<'a> From<&'a str> for LabelRef<'a> {
    fn from(name: &'a str) -> Self {
        LabelRef::Name(name)
    }
}

impl<'a> From<&'a String> for LabelRef<'a> {
    fn from(name: &'a String) -> Self {
        LabelRef::Name(name)
    }
}

impl From<LabelId> for LabelRef<'_> {
    fn from(id: LabelId) -> Self {
        LabelRef::Id(id)
    }
}

impl From<&Label> for LabelRef<'_> {
    fn from(label: &Label) -> Self {
        LabelRef::Id(label.id)
    }
}

impl LabelRef<'_> {
    pub(crate) fn shown(self) -> String {
        match self {
            LabelRef::Name(name) => name.to_owned(),
            LabelRef::Id(id) => format!("number {}", id.0),
        }
    }

    pub(crate) fn missing(self, schema: &Schema) -> Error {
        let known = schema.labels.iter().map(|label| label.name.to_string()).collect();
        Error::Argument(ArgumentError::NoSuchLabel { label: self.shown(), known })
    }
}

/// What a label is to be like. See [`Graph::define_label`](crate::Graph::define_label).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LabelOptions {
    pub(crate) multi: bool,
    pub(crate) properties: Vec<(String, PropertyType)>,
}

impl LabelOptions {
    /// One edge at most from a vertex to another, no properties yet.
    pub fn new() -> LabelOptions {
        LabelOptions::default()
    }

    /// Whether edges have a `u64` rank, so that several may lead from one vertex to another (default: no).
    pub fn multi(mut self, multi: bool) -> LabelOptions {
        self.multi = multi;
        self
    }

    /// Declares a property.
    pub fn property(mut self, name: impl Into<String>, kind: PropertyType) -> LabelOptions {
        self.properties.push((name.into(), kind));
        self
    }
}

/// The schema of an open store.
pub(crate) struct SchemaCell {
    current: ArcCell<Schema>,
    /// Held by whoever adds a definition.
    pub(crate) defining: Mutex<()>,
    /// Whether edges of the default label may have properties: set before the first one can get any, never unset.
    default_has_properties: AtomicBool,
}

impl SchemaCell {
    pub(crate) fn new(schema: Schema) -> SchemaCell {
        let has = !schema.labels[0].properties.is_empty();
        SchemaCell {
            current: ArcCell::new(Some(Arc::new(schema))),
            defining: Mutex::new(()),
            default_has_properties: AtomicBool::new(has),
        }
    }

    /// Makes a definition known. The caller holds the lock of definitions.
    pub(crate) fn replace(&self, schema: Schema) {
        self.current.store(Some(Arc::new(schema)));
    }

    /// Says that edges of the default label may have properties from now on.
    pub(crate) fn let_default_have_properties(&self) {
        self.default_has_properties.store(true, Ordering::Release);
    }

    pub(crate) fn load(&self) -> SchemaGuard {
        SchemaGuard(self.current.load())
    }

    pub(crate) fn load_full(&self) -> Arc<Schema> {
        self.current.load_full().unwrap_or_default()
    }

    /// Whether no edge of the default label has properties. Asked under the latch of a subgraph it holds for that
    /// subgraph while the latch is held: whoever gives an edge properties sets the mark before latching.
    pub(crate) fn default_is_plain(&self) -> bool {
        !self.default_has_properties.load(Ordering::Acquire)
    }
}

/// The schema, protected while the guard lives. Keep it short: one operation.
pub(crate) struct SchemaGuard(ArcGuard<Schema>);

impl std::ops::Deref for SchemaGuard {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        Option::as_ref(&*self.0).expect("a store always has a schema")
    }
}
