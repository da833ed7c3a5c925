//! Definitions of labels and properties: each is a commit of its own.

use hedgerow_catalog::error::{ArgumentError, Result, with_keys};
use hedgerow_catalog::label::{Label, Property};
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::property::{MAX_NAME_BYTES, MAX_PROPERTIES, MAX_VALUE_BYTES};
use hedgerow_core::{
    Cells, KeyKind, KindId, LabelId, Op, PropertyId, PropertyType, Timestamp, Value, VertexKeyRef,
};

use super::order::{draw, must_apply};
use crate::files::log::Record;
use crate::state::edge_key::{EdgeKey, WEIGHT};
use crate::state::store::Engine;

/// Refuses a value that is too long.
pub(super) fn check_value(name: &str, value: &Value) -> Result<()> {
    let bytes = value.as_ref().variable_bytes();
    if bytes > MAX_VALUE_BYTES {
        let what = format!("a value of {bytes} bytes for property {name}");
        return Err(ArgumentError::TooLarge { what, limit: MAX_VALUE_BYTES as u64 }.into());
    }
    Ok(())
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(ArgumentError::Invalid(format!("the name of a {what} must not be empty")).into());
    }
    if name.len() > MAX_NAME_BYTES {
        let what = format!("the name of a {what} of {} bytes", name.len());
        return Err(ArgumentError::TooLarge { what, limit: MAX_NAME_BYTES as u64 }.into());
    }
    Ok(())
}

/// The owner of properties: the edges of a label, or the vertices of a kind.
#[derive(Clone, Copy)]
pub(crate) struct PropertyOwner {
    /// The label of the edges, or [`LabelId::VERTICES`] for vertices.
    label: LabelId,
    of: KindId,
}

impl From<LabelId> for PropertyOwner {
    fn from(label: LabelId) -> PropertyOwner {
        PropertyOwner { label, of: KindId::DEFAULT }
    }
}

impl From<KindId> for PropertyOwner {
    fn from(of: KindId) -> PropertyOwner {
        PropertyOwner { label: LabelId::VERTICES, of }
    }
}

impl Engine {
    /// Returns the id of a label for a read. Fails in a forked child, like the next two.
    pub(crate) fn label(&self, label: LabelRef<'_>) -> Result<LabelId> {
        self.check_owner()?;
        if label == LabelRef::Name("") {
            return Ok(LabelId::DEFAULT);
        }
        self.catalog.schema.load().find_label(label).map(Label::id)
    }

    /// Returns the id of a label for a write, and defines the label if it is new.
    pub(crate) fn label_for_writing(&self, label: LabelRef<'_>, rank: u64) -> Result<LabelId> {
        self.check_owner()?;
        if label == LabelRef::Name("") && rank == 0 {
            return Ok(LabelId::DEFAULT);
        }
        let found = self.catalog.schema.load().find(label).map(|l| (l.id(), l.is_multi()));
        let (id, multi) = match (found, label) {
            (Some(found), _) => found,
            (None, LabelRef::Name(name)) => (self.define_label(name, false, None)?, false),
            (None, LabelRef::Id(_)) => return Err(label.missing(&self.catalog.schema.load())),
        };
        if rank != 0 && !multi {
            let which = match label.shown().as_str() {
                "" => "the default label".to_owned(),
                name => format!("label {name}"),
            };
            return Err(
                ArgumentError::Invalid(format!("{which} is not multi: its edges have no rank")).into()
            );
        }
        Ok(id)
    }

    /// Returns the label of an edge for a write, and defines the label if it is new. Checks the ends of the
    /// edge, and returns them with their kinds.
    pub(crate) fn edge_for_writing<'a>(
        &self,
        edge: &EdgeKey<'a>,
    ) -> Result<(LabelId, VertexKeyRef<'a>, VertexKeyRef<'a>)> {
        let known = match edge.label {
            LabelRef::Name("") => Some(LabelId::DEFAULT),
            label => self.catalog.schema.load().find(label).map(Label::id),
        };
        let (src, dst) = self.catalog.ends_of(known, edge.src, edge.dst)?;
        self.check_key(src)?;
        self.check_key(dst)?;
        Ok((self.label_for_writing(edge.label, edge.rank)?, src, dst))
    }

    /// Returns the id of a kind, and defines the kind if it is new.
    pub(crate) fn define_kind(&self, name: &str, keys: KeyKind) -> Result<KindId> {
        if self.catalog.config.keys == KeyKind::Dense {
            let what = "a graph with dense keys has one kind of vertices: create it with keys u64 or str";
            return Err(ArgumentError::Invalid(what.into()).into());
        }
        if keys == KeyKind::Dense {
            let what = format!("the keys of kind {name} cannot be dense: choose u64 or str");
            return Err(ArgumentError::Invalid(what).into());
        }
        check_name("kind", name)?;
        self.check_writable()?;
        let _defining = self.catalog.schema.defining.lock();
        let mut schema = (*self.catalog.schema.load_full()).clone();
        if let Some(found) = schema.kind(name) {
            if found.keys() == keys {
                return Ok(found.id());
            }
            let (wanted, found) = (with_keys(keys).to_owned(), with_keys(found.keys()).to_owned());
            return Err(ArgumentError::SchemaConflict { name: format!("kind {name}"), wanted, found }.into());
        }
        let text = keys == KeyKind::Str;
        let kind = u8::try_from(schema.kinds().len() + 1).map(KindId).ok().filter(|&id| id <= KindId::MAX);
        let kind = kind.ok_or_else(|| ArgumentError::TooLarge {
            what: "the number of kinds".into(),
            limit: u64::from(KindId::MAX.0),
        })?;
        self.install(&mut schema, Op::DefineKind { kind, text, name })?;
        Ok(kind)
    }

    pub(crate) fn define_label(&self, name: &str, multi: bool, ends: Option<[KindId; 2]>) -> Result<LabelId> {
        check_name("label", name)?;
        self.check_writable()?;
        let _defining = self.catalog.schema.defining.lock();
        let mut schema = (*self.catalog.schema.load_full()).clone();
        if let Some(found) = schema.label(name) {
            return if found.is_multi() == multi || !multi {
                Ok(found.id())
            } else {
                Err(ArgumentError::SchemaConflict {
                    name: format!("label {name}"),
                    wanted: "with multi=true".into(),
                    found: "with multi=false".into(),
                }
                .into())
            };
        }
        ends.iter().flatten().try_for_each(|&kind| schema.check_kind(kind))?;
        let id = u16::try_from(schema.labels().len()).map(LabelId).ok().filter(|&id| id <= LabelId::MAX);
        let id = id.ok_or_else(|| ArgumentError::TooLarge {
            what: "the number of labels".into(),
            limit: u64::from(LabelId::MAX.0),
        })?;
        self.install(&mut schema, Op::DefineLabel { label: id, multi, ends, name })?;
        Ok(id)
    }

    /// Returns the id of a property for a value of type `kind`, and defines the property if it is new.
    /// `owner` is a label, or [`LabelId::VERTICES`] and a kind.
    pub(crate) fn property_for_writing(
        &self,
        owner: impl Into<PropertyOwner>,
        name: &str,
        kind: PropertyType,
    ) -> Result<PropertyId> {
        self.check_owner()?;
        let PropertyOwner { label, of } = owner.into();
        let agree = |found: &Property| {
            if found.property_type() == kind {
                return Ok(found.id());
            }
            Err(ArgumentError::PropertyType {
                property: name.to_owned(),
                expected: found.property_type(),
                found: kind,
            }
            .into())
        };
        if let Some(found) =
            self.catalog.schema.load().label_by_id(label).and_then(|l| l.property_of(of, name))
        {
            return agree(found);
        }
        check_name("property", name)?;
        self.check_no_weight(label, name)?;
        self.check_writable()?;
        let _defining = self.catalog.schema.defining.lock();
        let mut schema = (*self.catalog.schema.load_full()).clone();
        let Some(owner) = schema.label_by_id(label) else { return Err(LabelRef::Id(label).missing(&schema)) };
        if let Some(found) = owner.property_of(of, name) {
            return agree(found);
        }
        if owner.properties().len() >= MAX_PROPERTIES {
            let what = "the number of properties of a label".to_owned();
            return Err(ArgumentError::TooLarge { what, limit: MAX_PROPERTIES as u64 }.into());
        }
        let property = PropertyId(owner.properties().len() as u16);
        if label == LabelId::DEFAULT {
            self.catalog.schema.let_default_have_properties();
        }
        self.install(&mut schema, Op::DefineProperty { label, of, property, kind, name })?;
        Ok(property)
    }

    /// Commits one definition and publishes it in the schema. The caller holds the lock of definitions.
    fn install(&self, schema: &mut Schema, op: Op<'_>) -> Result<()> {
        let record = match &self.durable {
            Some(_) => {
                let mut record = Record::default();
                record.push(op)?;
                record.finish();
                Some(record)
            }
            None => None,
        };
        let ts = draw(self, record, |_| self.check_open())?;
        let applied = must_apply(self);
        // Added after the commit succeeded: if it fails, the next kind gets the number, and may have keys of
        // the other type.
        if let Op::DefineKind { kind, text, .. } = op {
            self.keys.ids.add_kind(kind, text);
        }
        let added = schema.add(ts, op);
        debug_assert!(added.is_ok(), "{added:?}");
        // Added to the schema before the commit completes: any user of the definition commits later.
        self.catalog.schema.replace(schema.clone());
        if self.order.clock.complete(ts, 0, 0) {
            self.order.commits.wake(&self.order.clock);
        }
        applied.done();
        Ok(())
    }

    /// True if all commits drawn after `start`, up to `last_drawn`, are definitions: they change no graph,
    /// and a transaction that reads everything may itself have made them. Called in the ordering section. A
    /// definition that is drawn and not yet in the schema counts as another commit.
    pub(crate) fn only_definitions(&self, start: Timestamp, last_drawn: Timestamp) -> bool {
        let drawn = last_drawn.0.saturating_sub(start.0);
        if drawn == 0 {
            return true;
        }
        let schema = self.catalog.schema.load();
        // Timestamps are drawn one after another.
        schema.changed() > start && schema.definitions().filter(|(ts, _)| *ts > start).count() as u64 == drawn
    }

    /// Refuses the stored weight of an edge as a property: reads would show the weight in its place.
    fn check_no_weight(&self, label: LabelId, name: &str) -> Result<()> {
        if name != WEIGHT || !self.catalog.is_weighted(label) {
            return Ok(());
        }
        let what =
            "weight is the stored weight of an edge of the default label: put the edge again to set it";
        Err(ArgumentError::Invalid(what.to_owned()).into())
    }

    /// Returns the cells of a row or of a patch, by property id. Defines new properties. Keeps nulls, for
    /// patches.
    pub(crate) fn cells<N: AsRef<str>, V: Into<Value>>(
        &self,
        owner: impl Into<PropertyOwner>,
        properties: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Cells> {
        let owner = owner.into();
        let mut cells = Cells::new();
        let mut schema = self.catalog.schema.load();
        for (name, value) in properties {
            let (name, value) = (name.as_ref(), value.into());
            check_value(name, &value)?;
            self.check_no_weight(owner.label, name)?;
            let known = schema.label_by_id(owner.label).and_then(|l| l.property_of(owner.of, name));
            match (value.property_type(), known) {
                (Some(kind), Some(known)) if known.property_type() == kind => cells.push((known.id(), value)),
                (Some(kind), _) => {
                    cells.push((self.property_for_writing(owner, name, kind)?, value));
                    schema = self.catalog.schema.load();
                }
                (None, known) => cells.extend(known.map(|known| (known.id(), Value::Null))),
            }
        }
        Ok(cells)
    }
}
