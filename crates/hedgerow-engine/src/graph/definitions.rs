//! Definitions of labels, kinds and properties.

use std::sync::Arc;

use hedgerow_catalog::error::{ArgumentError, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::{LabelRef, Schema};
use hedgerow_core::{KeyKind, KindId, LabelId, PropertyId, PropertyType};

use super::Graph;
use crate::state::label_options::LabelOptions;

impl Graph {
    /// Returns the labels and properties defined so far. O(1).
    pub fn schema(&self) -> Arc<Schema> {
        self.engine.catalog.schema.load_full()
    }

    /// Defines a label, or does nothing if one of this name and kind exists. Returns its id, which may be
    /// used in place of the name. Properties that are new are added to an existing label. The empty name is
    /// the default label.
    ///
    /// A definition is a commit of its own. When the call returns, the definition is as durable as a commit
    /// that returned, and snapshots see it. O(labels): the schema is copied. Blocks as a commit does, and for
    /// other definitions.
    ///
    /// # Errors
    /// [`ArgumentError::SchemaConflict`] or [`ArgumentError::PropertyType`] if a different definition exists;
    /// [`ArgumentError::Invalid`] and [`ArgumentError::TooLarge`] for names; those of a commit.
    pub fn define_label(&self, name: &str, options: LabelOptions) -> Result<LabelId> {
        self.engine.check_owner()?;
        let id = if name.is_empty() && !options.multi {
            LabelId::DEFAULT
        } else {
            let id = self.engine.define_label(name, options.multi, options.ends)?;
            let schema = self.engine.catalog.schema.load();
            let multi = schema.label_by_id(id).is_some_and(Label::is_multi);
            if multi != options.multi {
                return Err(ArgumentError::SchemaConflict {
                    name: format!("label {name}"),
                    wanted: "with multi=false".into(),
                    found: "with multi=true".into(),
                }
                .into());
            }
            let ends = schema.label_by_id(id).and_then(Label::ends);
            if options.ends.is_some() && options.ends != ends {
                let shown = |ends: Option<[KindId; 2]>| match ends {
                    None => "without kinds of its ends".to_owned(),
                    Some(ends) => format!("from and to kinds {:?}", ends.map(|kind| schema.kind_name(kind))),
                };
                let (wanted, found) = (shown(options.ends), shown(ends));
                return Err(
                    ArgumentError::SchemaConflict { name: format!("label {name}"), wanted, found }.into()
                );
            }
            id
        };
        for (name, kind) in &options.properties {
            self.engine.property_for_writing(id, name, *kind)?;
        }
        self.published(id)
    }

    /// Defines a property of the edges of a label, or does nothing if it exists with this type. Costs and
    /// blocks as [`define_label`](Graph::define_label).
    ///
    /// # Errors
    /// Those of [`define_label`](Graph::define_label), and [`ArgumentError::NoSuchLabel`].
    pub fn define_edge_property<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        name: &str,
        kind: PropertyType,
    ) -> Result<PropertyId> {
        let label = self.engine.label(label.into())?;
        self.published(self.engine.property_for_writing(label, name, kind)?)
    }

    /// Defines a property of the vertices of one kind, or does nothing if it exists with this type. Costs and
    /// blocks as [`define_label`](Graph::define_label).
    ///
    /// # Errors
    /// Those of [`define_label`](Graph::define_label), and [`ArgumentError::NoSuchKind`].
    pub fn define_vertex_property(&self, of: KindId, name: &str, kind: PropertyType) -> Result<PropertyId> {
        self.engine.check_owner()?;
        self.engine.catalog.schema.load().check_kind(of)?;
        self.published(self.engine.property_for_writing(of, name, kind)?)
    }

    /// Defines a kind of vertices, or does nothing if one of this name exists with this type of keys,
    /// [`KeyKind::U64`] or [`KeyKind::Str`]. Returns its id, whose `key` makes keys of this kind. Each kind
    /// has its own keys: `user.key(7)` and `page.key(7)` name two vertices. The kind of a vertex never
    /// changes. A graph has at most 254 kinds; with dense keys, none.
    ///
    /// Costs and blocks as [`define_label`](Graph::define_label).
    ///
    /// ```
    /// use hedgerow::{Direction, EdgeKey, Graph, KeyKind, LabelOptions};
    ///
    /// let graph = Graph::in_memory()?;
    /// let user = graph.define_kind("user", KeyKind::Str)?;
    /// let page = graph.define_kind("page", KeyKind::U64)?;
    /// graph.define_label("edited", LabelOptions::new().ends(user, page))?;
    /// let mut tx = graph.write()?;
    /// tx.put_edge_with(EdgeKey::new("edited", "ann", 7), [("minor", true)])?; // the label says the kinds
    /// tx.insert_vertex(page.key(8))?;
    /// tx.commit()?;
    ///
    /// let now = graph.snapshot()?;
    /// let edited = now.neighbors("ann", ("edited", Direction::Out))?;
    /// assert_eq!(edited, Some(vec![page.key(7).to_owned()]));
    /// assert_eq!(now.scan_vertices()?.count_of(page)?, 2);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::SchemaConflict`] if the kind has keys of the other type; [`ArgumentError::Invalid`]
    /// and [`ArgumentError::TooLarge`] for names, dense keys and too many kinds; those of a commit.
    pub fn define_kind(&self, name: &str, keys: KeyKind) -> Result<KindId> {
        self.engine.check_owner()?;
        self.published(self.engine.define_kind(name, keys)?)
    }

    /// Returns `defined` once all definitions are published, including those of other callers: one of them
    /// may be the definition that this call found.
    fn published<T>(&self, defined: T) -> Result<T> {
        let last = self.engine.catalog.schema.load().changed();
        self.engine.wait_published(last)?;
        Ok(defined)
    }
}
