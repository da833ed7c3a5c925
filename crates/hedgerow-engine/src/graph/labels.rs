//! Defining labels and properties.

use std::sync::Arc;

use hedgerow_core::{LabelId, PropertyId, PropertyType};

use super::Graph;
use crate::error::{ArgumentError, Result};
use crate::state::schema::{Label, LabelOptions, LabelRef, Schema};

impl Graph {
    /// The labels and properties defined so far. O(1).
    pub fn schema(&self) -> Arc<Schema> {
        self.engine.schema.load_full()
    }

    /// Defines a label, or does nothing if one of this name and kind exists. Returns its id, which may be used in
    /// place of the name. Properties that are new are added to an existing label. The empty name is the default label.
    ///
    /// A definition is a commit of its own. It becomes durable with the next commit or [`flush`](Graph::flush). O(labels): the
    /// schema is copied. Blocks for other definitions and for the ordering section of commits, not for a sync.
    ///
    /// # Errors
    /// [`ArgumentError::SchemaConflict`] or [`ArgumentError::PropertyType`] if a definition exists that says otherwise;
    /// [`ArgumentError::Invalid`] and [`ArgumentError::TooLarge`] for names; those of a commit.
    pub fn define_label(&self, name: &str, options: LabelOptions) -> Result<LabelId> {
        self.engine.check_owner()?;
        let id = if name.is_empty() && !options.multi {
            LabelId::DEFAULT
        } else {
            let id = self.engine.define_label(name, options.multi)?;
            let multi = self.engine.schema.load().label_by_id(id).is_some_and(Label::is_multi);
            if multi != options.multi {
                return Err(ArgumentError::SchemaConflict {
                    name: name.to_owned(),
                    wanted: "not multi".into(),
                    found: "multi".into(),
                }
                .into());
            }
            id
        };
        for (name, kind) in &options.properties {
            self.engine.property_for_writing(id, name, *kind)?;
        }
        Ok(id)
    }

    /// Defines a property of the edges of a label, or does nothing if it exists with this type. Costs and blocks as
    /// [`define_label`](Graph::define_label).
    ///
    /// # Errors
    /// As of [`define_label`](Graph::define_label); [`ArgumentError::NoSuchLabel`].
    pub fn define_edge_property<'a>(
        &self,
        label: impl Into<LabelRef<'a>>,
        name: &str,
        kind: PropertyType,
    ) -> Result<PropertyId> {
        let label = self.engine.label(label.into())?;
        self.engine.property_for_writing(label, name, kind)
    }

    /// Defines a property of vertices, or does nothing if it exists with this type. Costs and blocks as
    /// [`define_label`](Graph::define_label).
    ///
    /// # Errors
    /// As of [`define_label`](Graph::define_label).
    pub fn define_vertex_property(&self, name: &str, kind: PropertyType) -> Result<PropertyId> {
        self.engine.property_for_writing(LabelId::VERTICES, name, kind)
    }
}
