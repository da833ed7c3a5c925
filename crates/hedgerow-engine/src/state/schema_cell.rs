//! The schema of an open store, which definitions replace.

use std::sync::Arc;

use hedgerow_core::sync::{ArcCell, ArcGuard, AtomicBool, Mutex, Ordering};

use super::schema::Schema;

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
        let has = schema.labels().first().is_some_and(|label| !label.properties().is_empty());
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
