//! The schema of an open store, which each definition replaces.

use std::sync::{Arc, OnceLock};

use hedgerow_core::sync::{ArcCell, ArcGuard, AtomicBool, Mutex, Ordering};
use hedgerow_core::{PropertyId, PropertyType};

use crate::schema::Schema;

/// The schema of an open store.
pub struct SchemaCell {
    current: ArcCell<Schema>,
    /// Held by the thread that adds a definition.
    pub defining: Mutex<()>,
    /// True if edges of the default label may have properties. Set before the first such edge gets any; never
    /// reset.
    default_has_properties: AtomicBool,
    /// The first properties of the default label, by id. A definition is final, so a reader needs no guard of
    /// the schema for these.
    first_of_default: [OnceLock<(Arc<str>, PropertyType)>; FIRST],
}

/// The number of properties of the default label that are known without a guard.
const FIRST: usize = 4;

impl SchemaCell {
    /// Makes the cell of a store with this schema.
    pub fn new(schema: Schema) -> SchemaCell {
        let has = schema.labels().first().is_some_and(|label| !label.properties().is_empty());
        let cell = SchemaCell {
            current: ArcCell::new(None),
            defining: Mutex::new(()),
            default_has_properties: AtomicBool::new(has),
            first_of_default: Default::default(),
        };
        cell.replace(schema);
        cell
    }

    /// Replaces the schema by one with a new definition. The caller holds the lock of definitions.
    pub fn replace(&self, schema: Schema) {
        let of_default = schema.labels().first().map_or(&[][..], |label| label.properties());
        for (known, property) in self.first_of_default.iter().zip(of_default) {
            known.get_or_init(|| (property.name().clone(), property.property_type()));
        }
        self.current.store(Some(Arc::new(schema)));
    }

    /// Returns the property of the default label that has this name and type, if it is one of the first.
    #[inline]
    pub fn of_default(&self, name: &str, kind: PropertyType) -> Option<PropertyId> {
        let known = self.first_of_default.iter().map_while(OnceLock::get);
        let at = known.into_iter().position(|(of, of_kind)| *of_kind == kind && **of == *name)?;
        Some(PropertyId(at as u16))
    }

    /// Records that edges of the default label may have properties from now on.
    pub fn let_default_have_properties(&self) {
        self.default_has_properties.store(true, Ordering::Release);
    }

    /// Returns the schema, protected for one operation.
    pub fn load(&self) -> SchemaGuard {
        SchemaGuard(self.current.load())
    }

    /// Returns the schema, to be kept.
    pub fn load_full(&self) -> Arc<Schema> {
        self.current.load_full().unwrap_or_default()
    }

    /// True if no edge of the default label has properties. Under the latch of a subgraph, the result stays
    /// right for that subgraph until the latch is released: a commit that gives an edge properties sets the
    /// mark before it latches.
    pub fn default_is_plain(&self) -> bool {
        !self.default_has_properties.load(Ordering::Acquire)
    }
}

/// The schema, protected while the guard lives. Use it only for one operation.
pub struct SchemaGuard(ArcGuard<Schema>);

impl std::ops::Deref for SchemaGuard {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        Option::as_ref(&*self.0).expect("a store always has a schema")
    }
}
