//! The schema: the labels, properties and kinds of a graph.
//!
//! Labels and properties are defined by name, explicitly or at first use, and get small ids for use in
//! operations, log and segments. A definition is a commit of its own: it draws a timestamp and is in the log
//! before every commit that uses it. It cannot be undone: if a transaction is rolled back, the names that it
//! defined stay.

use std::collections::HashMap;
use std::sync::Arc;

use hedgerow_core::property::{MAX_NAME_BYTES, MAX_PROPERTIES};
use hedgerow_core::{KeyKind, KindId, LabelId, Op, PropertyId, PropertyType, Timestamp};

use crate::error::{ArgumentError, Error, Result};
use crate::kinds::{Kind, Kinds};
use crate::label::{Label, Property};

/// The labels and properties of a graph at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The labels in the order of their ids; the first is the default label.
    labels: Vec<Label>,
    names: HashMap<Arc<str>, LabelId>,
    /// The properties of vertices of all kinds, as a label that is hidden from users.
    vertices: Label,
    kinds: Kinds,
    changed: Timestamp,
}

impl Default for Schema {
    fn default() -> Self {
        Schema {
            labels: vec![Label::new(LabelId::DEFAULT, "", false, Timestamp::ZERO)],
            names: HashMap::from([(Arc::from(""), LabelId::DEFAULT)]),
            vertices: Label::new(LabelId::VERTICES, "", false, Timestamp::ZERO),
            kinds: Kinds::default(),
            changed: Timestamp::ZERO,
        }
    }
}

impl Schema {
    /// Returns the labels by id, the default label first.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the label of this name; the default label for the empty one.
    pub fn label(&self, name: &str) -> Option<&Label> {
        // Almost every edge names the default label.
        if name.is_empty() {
            return self.labels.first();
        }
        self.names.get(name).and_then(|id| self.label_by_id(*id))
    }

    /// Returns the label that `label` names.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`], which lists the existing labels.
    pub fn find_label<'a>(&self, label: impl Into<LabelRef<'a>>) -> Result<&Label> {
        let label = label.into();
        self.find(label).ok_or_else(|| label.missing(self))
    }

    /// Returns the label with this id.
    pub fn label_by_id(&self, id: LabelId) -> Option<&Label> {
        if id == LabelId::VERTICES {
            return Some(&self.vertices);
        }
        self.labels.get(usize::from(id.0))
    }

    /// Returns the properties of vertices of all kinds, in the order of their definition, each
    /// [with its kind](Property::vertex_kind).
    pub fn vertex_properties(&self) -> &[Property] {
        &self.vertices.properties
    }

    /// Returns the properties of the vertices of one kind, in the order of their definition.
    pub fn vertex_properties_of(&self, kind: KindId) -> impl Iterator<Item = &Property> {
        self.vertices.properties.iter().filter(move |property| property.of == kind)
    }

    /// Returns the property of this name of vertices of this kind.
    pub fn vertex_property(&self, kind: KindId, name: &str) -> Option<&Property> {
        self.vertices.property_of(kind, name)
    }

    /// Returns the defined kinds of vertices, by id. The default kind needs no definition and is not among
    /// them.
    pub fn kinds(&self) -> &[Kind] {
        self.kinds.all()
    }

    /// Returns the kind of this name.
    pub fn kind(&self, name: &str) -> Option<&Kind> {
        self.kinds.named(name)
    }

    /// Returns the kind of this name, or for an empty one the default kind.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchKind`], which lists the existing kinds.
    pub fn find_kind(&self, name: &str) -> Result<KindId> {
        let found = if name.is_empty() { Some(KindId::DEFAULT) } else { self.kind(name).map(Kind::id) };
        found.ok_or_else(|| self.kinds.missing(name.to_owned()))
    }

    /// Returns the kind with this id; `None` for the default one.
    pub fn kind_by_id(&self, id: KindId) -> Option<&Kind> {
        self.kinds.get(id)
    }

    /// Returns the name of a kind; empty for the default one, and for one that is not defined.
    pub fn kind_name(&self, id: KindId) -> &str {
        self.kinds.get(id).map_or("", |kind| kind.name())
    }

    /// Returns the name of a kind for use in messages.
    #[doc(hidden)]
    pub fn named_kind(&self, kind: KindId) -> String {
        match self.kind_name(kind) {
            "" => "the default kind".to_owned(),
            name => format!("kind {name}"),
        }
    }

    /// True if a kind is the default one, or defined.
    pub(crate) fn knows_kind(&self, id: KindId) -> bool {
        id == KindId::DEFAULT || self.kinds.get(id).is_some()
    }

    /// Checks that a kind is defined.
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchKind`].
    #[doc(hidden)]
    pub fn check_kind(&self, id: KindId) -> Result<()> {
        if self.knows_kind(id) { Ok(()) } else { Err(self.kinds.missing(format!("number {}", id.0))) }
    }

    /// Returns the timestamp of the newest definition.
    #[doc(hidden)]
    pub fn changed(&self) -> Timestamp {
        self.changed
    }

    /// Returns the label that `label` names; `None` for [`LabelId::VERTICES`].
    #[doc(hidden)]
    pub fn find(&self, label: LabelRef<'_>) -> Option<&Label> {
        match label {
            LabelRef::Name(name) => self.label(name),
            LabelRef::Id(LabelId::VERTICES) => None,
            LabelRef::Id(id) => self.label_by_id(id),
        }
    }

    /// Returns the schema of the definitions at or before `ts`.
    #[doc(hidden)]
    pub fn as_of(&self, ts: Timestamp) -> Schema {
        let mut seen = self.clone();
        seen.kinds.retain_until(ts);
        seen.labels.retain(|label| label.defined <= ts);
        seen.names.retain(|_, id| self.label_by_id(*id).is_some_and(|label| label.defined <= ts));
        for label in seen.labels.iter_mut().chain([&mut seen.vertices]) {
            label.properties.retain(|property| property.defined <= ts);
        }
        let last = seen.definitions().map(|(defined, _)| defined).max();
        seen.changed = last.unwrap_or(Timestamp::ZERO);
        seen
    }

    /// Adds a label from the log, whose ids ascend without gaps. `Err` names the mismatch.
    pub(crate) fn add_label(
        &mut self,
        id: LabelId,
        name: &str,
        multi: bool,
        ends: Option<[KindId; 2]>,
        ts: Timestamp,
    ) -> std::result::Result<(), &'static str> {
        let next = usize::from(id.0) == self.labels.len() && id <= LabelId::MAX;
        // All definitions up to a given moment must be at the beginning of the list.
        let next = next && self.labels.last().is_none_or(|last| last.defined <= ts);
        if !next || name.is_empty() || name.len() > MAX_NAME_BYTES || self.names.contains_key(name) {
            return Err("a label that does not follow the ones before it");
        }
        if !ends.iter().flatten().all(|&kind| self.knows_kind(kind)) {
            return Err("a label whose ends are of a kind that is not defined");
        }
        let label = Label { ends, ..Label::new(id, name, multi, ts) };
        self.names.insert(label.name.clone(), id);
        self.labels.push(label);
        self.changed = self.changed.max(ts);
        Ok(())
    }

    /// Adds a property of a label, or of vertices.
    pub(crate) fn add_property(
        &mut self,
        (label, of): (LabelId, KindId),
        id: PropertyId,
        name: &str,
        kind: PropertyType,
        ts: Timestamp,
    ) -> std::result::Result<(), &'static str> {
        if of != KindId::DEFAULT && (label != LabelId::VERTICES || !self.knows_kind(of)) {
            return Err("a property of a kind that is not defined");
        }
        let label = match label {
            LabelId::VERTICES => Some(&mut self.vertices),
            id => self.labels.get_mut(usize::from(id.0)),
        };
        let label = label.ok_or("a property of a label that is not defined")?;
        let next = usize::from(id.0) == label.properties.len() && label.properties.len() < MAX_PROPERTIES;
        let before = label.properties.last().map_or(label.defined, |last| last.defined);
        let next = next && before <= ts;
        if !next || name.is_empty() || name.len() > MAX_NAME_BYTES || label.property_of(of, name).is_some() {
            return Err("a property that does not follow the ones before it");
        }
        label.properties.push(Property { id, of, name: Arc::from(name), kind, defined: ts });
        self.changed = self.changed.max(ts);
        Ok(())
    }

    /// Returns the definitions as operations with their timestamps, in an order in which they can be added
    /// again.
    #[doc(hidden)]
    pub fn definitions(&self) -> impl Iterator<Item = (Timestamp, Op<'_>)> {
        let kinds = self.kinds.all().iter().map(|kind| {
            let text = kind.keys() == KeyKind::Str;
            (kind.defined(), Op::DefineKind { kind: kind.id(), text, name: kind.name() })
        });
        let labels = self.labels.iter().skip(1).map(|label| {
            let Label { id, multi, ends, ref name, .. } = *label;
            (label.defined, Op::DefineLabel { label: id, multi, ends, name })
        });
        let properties = self.labels.iter().chain([&self.vertices]).flat_map(|label| {
            label.properties.iter().map(|p| {
                let (label, property) = (label.id, p.id);
                (p.defined, Op::DefineProperty { label, of: p.of, property, kind: p.kind, name: &p.name })
            })
        });
        kinds.chain(labels).chain(properties)
    }

    /// Adds the definition of an operation.
    ///
    /// # Errors
    /// The mismatch, if the definition does not follow the ones before it.
    #[doc(hidden)]
    pub fn add(&mut self, ts: Timestamp, op: Op<'_>) -> std::result::Result<(), &'static str> {
        match op {
            Op::DefineKind { kind, text, name } => {
                self.kinds.add(kind, name, text, ts)?;
                self.changed = self.changed.max(ts);
                Ok(())
            }
            Op::DefineLabel { label, multi, ends, name } => self.add_label(label, name, multi, ends, ts),
            Op::DefineProperty { label, of, property, kind, name } => {
                self.add_property((label, of), property, name, kind, ts)
            }
            _ => Ok(()),
        }
    }
}

/// A label by name or by id. Ids save the look-up of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelRef<'a> {
    /// The name; the empty one is the default label.
    Name(&'a str),
    /// The id.
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
        LabelRef::Id(label.id())
    }
}

impl LabelRef<'_> {
    /// Returns the name or the number, for use in messages.
    #[doc(hidden)]
    pub fn shown(self) -> String {
        match self {
            LabelRef::Name(name) => name.to_owned(),
            LabelRef::Id(id) => format!("number {}", id.0),
        }
    }

    /// Returns the error of a call that names this label, which is not defined.
    #[doc(hidden)]
    pub fn missing(self, schema: &Schema) -> Error {
        let known = schema.labels().iter().map(|label| label.name().to_string()).collect();
        Error::Argument(ArgumentError::NoSuchLabel { label: self.shown(), known })
    }
}
